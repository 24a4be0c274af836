"""`tocsin demo`: the whole thing in a minute, with real processes and no agent installed."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from ...contracts import wire
from ...contracts.errors import NotRunning, TocsinError
from ...edges.server.client import Client
from ...edges.server.runtime import runtime_directory, socket_path
from .programs import AGENT, Programs, tocsin
from .story import Story

MESSAGE_AT = 24.0
"""Seconds after the start at which the person writes to the agent."""
QUIET_END = 5.0
"""Seconds without news, after the server has ended, after which the story is told."""
LONGEST = 75.0
INTRODUCTION = """\
A scripted agent runs in a wrapped terminal; it thinks for eight seconds, then waits for messages.
A dev server runs beside it under `tocsin watch`; it makes one mistake forty times, restarts, floods, and crashes.
Between them is the line. Both are real processes, typed into and read from as yours would be.
"""


@click.command()
def demo() -> None:
    """Show the line at work: a scripted agent, a dev server that breaks, floods and recovers. Takes about 50 seconds.

    On a terminal it is told in colours as it happens; on a pipe as plain text. Nothing outside of a temporary
    directory is touched.
    """
    click.echo(INTRODUCTION)
    # A short path: a socket's may have at most 104 bytes on macOS, where the default temporary directory is long.
    with tempfile.TemporaryDirectory(prefix="tocsin-", dir="/tmp" if Path("/tmp").is_dir() else None) as place:
        environment = {**os.environ, "XDG_RUNTIME_DIR": place, "XDG_STATE_HOME": place}
        for inherited in ("TOCSIN_SOCKET", "TOCSIN_RECIPIENT", "TOCSIN_SESSION", "TOCSIN_DELIVERY_TOKEN"):
            environment.pop(inherited, None)
        story = Story(colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
        with Programs(environment) as programs:
            Show(programs, story, environment).run()
    click.echo("\nTo do the same with your own: tocsin run --as dev -- YOUR-AGENT, and tocsin watch --to dev -- YOUR-SERVER")


class Show:
    """Listens to the three voices until the story has ended."""

    def __init__(self, programs: Programs, story: Story, environment: dict[str, str]) -> None:
        self._programs, self._story, self._environment = programs, story, environment
        self._began = time.monotonic()
        self._cursor = 0
        self._heard_at = 0.0
        self._lines = 0
        self._message: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """From the first word to the summary."""
        with self._connected() as client:
            self._programs.start_server()
            while not self._is_over():
                if not self._programs.hear(self._heard, 0.1):
                    for voice in ("server", "agent"):
                        self._story.pause(self._now(), voice)
                self._look(client)
                self._write_message()
            status = client.ask(wire.AskStatus())
        self._programs.say_goodbye()
        if self._message is not None:
            self._message.wait()
        self._sum_up(status)

    def _connected(self) -> Client:
        """The agent's line, once it is there."""
        path = socket_path(runtime_directory(self._environment), AGENT)
        while True:
            try:
                return Client(path, name=AGENT)
            except NotRunning:
                if self._now() > 15 or self._programs.agent.poll() is not None:
                    raise
                self._programs.hear(self._heard, 0.1)

    def _look(self, client: Client) -> None:
        for answer in client.ask_for(wire.AskDecisions(after=self._cursor)):
            if isinstance(answer, wire.Decisions):
                self._cursor = answer.next or self._cursor
                if self._story.decided(self._now(), answer.decisions):
                    self._heard_at = self._now()

    def _heard(self, voice: str, text: str) -> None:
        self._heard_at = self._now()
        self._lines += text.count("\n") if voice == "server" else 0
        self._story.printed(self._now(), voice, text)

    def _write_message(self) -> None:
        if self._message is None and self._now() >= MESSAGE_AT:
            self._story.tell(self._now(), "person", 'tocsin feed --to demo-agent --user "the cart page first, please"')
            said = tocsin("feed", "--to", AGENT, "--user", "the cart page first, please")
            self._message = subprocess.Popen(
                said, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def _is_over(self) -> bool:
        server = self._programs.server
        if self._programs.agent.poll() is not None:
            raise TocsinError(f"the demo's agent ended early, with {self._programs.agent.returncode}")
        ended = server is not None and server.poll() is not None
        return (ended and self._now() - self._heard_at > QUIET_END) or self._now() > LONGEST

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _sum_up(self, status: wire.Answer) -> None:
        click.echo()
        click.echo(self._story.summary(self._lines))
        if isinstance(status, wire.StatusIs):
            line = status.status
            dropped = sum(line.dropped.values())
            click.echo(
                f"The line's own balance: {line.fed} fed = {line.delivered} delivered + {line.folded} folded "
                f"+ {dropped} dropped + {line.pending} pending."
            )
