"""Tools: real compilers, test runners and servers, run on a copy of a small project, and what tocsin reads out of them."""

import os
import pty
import re
import runpy
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import threading
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue
from tocsin.edges.sources.telling import Finding

PROJECTS = Path(__file__).parent / "projects"
PATIENCE = 100.0
"""Seconds after which a tool is given up; nothing is said about time by it."""
_processes = runpy.run_path(str(Path(__file__).parents[1] / "cli" / "processes.py"))
world, argv, until = (_processes[name] for name in ("world", "argv", "until"))
catalogue = cache(Catalogue.load)


_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\].*?(?:\x07|\x1b\\))")
_CONTROLLED = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
"""Makes the terminal the program's own, so that Ctrl-C reaches it."""
Shown = Callable[[], str]
"""What a program has shown so far."""
During = Callable[[Shown], None]
"""What is done while it runs."""


class Says(NamedTuple):
    """What a finding is, by value: its severity and category, its text, its frame, and lines that its detail holds."""

    kind: str
    text: str
    frame: str = ""
    shows: tuple[str, ...] = ()


def project(place: Path, name: str) -> Path:
    """A copy of a project, for the tool to write into."""
    return Path(shutil.copytree(PROJECTS / name, place / name.replace("/", "-")))


def needs(command: str, path: str) -> None:
    """Without the tool there is nothing to see; where CI is set that is a fault."""
    if shutil.which(command, path=path) is None:
        without(f"{command} is not installed")


def without(reason: str) -> None:
    """Skip the test, or fail it where CI is set."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def environment(**more: str) -> dict[str, str]:
    """What a person has: none of what test runs and CI set, which changes how tools print."""
    ours = re.compile(
        r"CI$|NO_COLOR$|FORCE_COLOR$|COLUMNS$|PYTEST_|COVERAGE_|TOCSIN_|NODE_OPTIONS$|RUST_BACKTRACE$|MAKE|MFLAGS$"
    )
    clean = {name: value for name, value in os.environ.items() if not ours.match(name)}
    apart = {"PYTHONDONTWRITEBYTECODE": "1", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off", "LC_ALL": "C"}
    return {**clean, **apart, "TERM": "xterm-256color", "npm_config_update_notifier": "false", **more}


def printed(cwd: Path, *command: str, code: int | None = None, **more: str) -> bytes:
    """What the tool prints, on both of its streams, in the order in which it does."""
    environ = environment(**more)
    needs(command[0], environ["PATH"])
    done = subprocess.run(
        command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert code is None or done.returncode == code, done.stdout.decode(errors="replace")
    return done.stdout


def findings(output: bytes) -> list[Finding]:
    """What a reader makes of it."""
    reader = Reader(catalogue(), scope="app", to=None)
    return reader.read("stdout", output, Instant(0)) + reader.close(Instant(0))


def events(output: bytes) -> list[Event]:
    """The same without signals."""
    return [one for one in findings(output) if isinstance(one, Event)]


def told(output: bytes) -> list[tuple[str, str, str]]:
    """What each event is."""
    return [(f"{one.severity} {one.category}", one.text, one.frame) for one in events(output)]


def check(output: bytes, *expected: Says) -> None:
    """These are the findings, one by one and no other, and their details hold the lines that say where."""
    assert told(output) == [(each.kind, each.text, each.frame) for each in expected]
    for found, each in zip(events(output), expected, strict=True):
        for line in each.shows:
            assert line in found.detail, found.detail


def quiet(output: bytes, *, lines: int, says: tuple[str, ...] = ("error",)) -> None:
    """It was a long output with trouble in its words, and nothing in it is news; whatever was rebuilt went well."""
    text = plain(output)
    assert text.count("\n") >= lines
    assert all(each in text for each in says), text[-2_000:]
    assert told(output) == []
    assert all(getattr(finding, "ok", True) for finding in findings(output))


class Watched(NamedTuple):
    """What came of ``tocsin watch``: exit code, what the terminal showed, the lines the agent was told, how many findings."""

    code: int
    shown: str
    told: list[str]
    fed: int


def watch(cwd: Path, *command: str, during: During | None = None, **more: str) -> Watched:
    """A person types ``tocsin watch -- TOOL …`` in a terminal, and an agent is there to be told."""
    environ = environment(**more)
    needs(command[0], environ["PATH"])
    with world() as here, here.agent("composer") as agent:
        agent.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        ours = {name: value for name, value in here.environ.items() if name.startswith(("TOCSIN_", "XDG_"))}
        words = argv("watch", "--to", "dev", "--scope", "shop", "--", *command)
        code, shown = in_terminal(cwd, words, {**environ, **ours}, during)
        until(lambda: here.status()["pending"] == 0, "the agent to be told")
        lines = [line for block in agent.submitted() for line in block.split("\n")]
        return Watched(code, shown, lines, here.status()["fed"])


def in_terminal(cwd: Path, words: list[str], environ: dict[str, str], during: During | None = None) -> tuple[int, str]:
    """Run it in a terminal of 100 columns, and end it with Ctrl-C after ``during``: exit code, and what the terminal shows."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 100))
    begin = [sys.executable, "-c", _CONTROLLED, *words]
    process = subprocess.Popen(begin, cwd=cwd, env=environ, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    seen, over = bytearray(), threading.Event()
    reading = threading.Thread(target=_read, args=(master, seen, over))
    reading.start()
    try:
        if during is not None:
            during(lambda: plain(bytes(seen)))
            os.write(master, b"\x03")
        code = process.wait(PATIENCE)
    finally:
        process.terminate()  # if it still runs: it ends what it watches
        process.wait(PATIENCE)
        over.set()
        reading.join()
        os.close(master)
    return code, plain(bytes(seen))


def _read(master: int, seen: bytearray, over: threading.Event) -> None:
    """To the end of what is shown; that the program is over does not say yet that all of it was read."""
    with suppress(OSError):  # Linux says so that no program is left on the other side
        while select.select([master], [], [], 0.05)[0] or not over.is_set():
            if select.select([master], [], [], 0)[0]:
                if not (data := os.read(master, 65_536)):
                    return
                seen += data


def plain(output: bytes) -> str:
    """Without colours, titles and the CR that terminals put before line feeds."""
    return _CONTROLS.sub("", output.decode(errors="replace")).replace("\r\n", "\n")


def served(cwd: Path, *command: str, during: During, **more: str) -> bytes:
    """What a server prints from its start, through ``during``, to SIGTERM and its end."""
    environ = environment(**more)
    needs(command[0], environ["PATH"])
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            during(lambda: plain(os.pread(log.fileno(), 10_000_000, 0)))
            process.terminate()
            process.wait(PATIENCE)
        finally:
            process.kill()
        return os.pread(log.fileno(), 10_000_000, 0)


def load(path: str = "", count: int = 300) -> During:
    """Some hundred requests on loopback, eight at a time, to the first address that is printed; each is answered with 200."""

    def requests(shown: Shown) -> None:
        found = until(lambda: re.search(r"http://(?:127\.0\.0\.1|localhost):\d+/", shown()), lambda: f"an address in {shown()}")
        addresses = [f"{found[0]}{path}?error={number}" for number in range(count)]
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(status, addresses)) == {200}

    return requests


def status(address: str) -> int:
    """The status of the answer."""
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        answer.read()
        return int(answer.status)
