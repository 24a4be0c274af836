"""Makes docs/images/day.cast and day.svg: a day at the attention queue in tmux, a person's shell beside three agents that ask.

It needs tmux and pyte (`pip install '.[dev]'`). The person's keys are typed by this script; everything else is what happens.
"""

import os
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty
from pathlib import Path

from make_recording import COLUMNS, IMAGES, ROWS, Event, cast, frames, picture, watch

from tocsin.cli.demo.agent import read_message

TITLE = "tocsin: three agents ask, nothing interrupts, and each answer goes back"
SECONDS = 42.0
KEY = 0.035
"""Seconds between two keys."""

SCENES = (
    (0.6, 'tocsin attention start --project site --title "Design block"'),
    (10.5, "tocsin attention queue"),
    (13.0, 'tocsin attention resolve --response "It is drawn." --next'),
    (18.0, 'tocsin attention resolve --outcome approved --response "Merge it." --next'),
    (24.0, 'tocsin attention resolve --outcome selected --response "Take C." --next'),
    (30.5, 'tocsin attention defer --until "tomorrow 9:00" --reason "by daylight" --next'),
    (35.5, "tocsin attention queue"),
)
"""At which second the person types what."""

AGENTS = {
    "parser": (
        3.5,
        "review",
        "Review the parser",
        "Read the change and say whether it may be merged.",
        "Two files, 80 lines; all tests pass; the grammar is the same.",
        "The release.",
    ),
    "render": (
        5.0,
        "selection",
        "Choose the next render",
        "Select candidate A, B, C or D for the video batch.",
        "Round 2: same light, same pose; compare the likeness.",
        "The next batch.",
    ),
    "site": (
        6.5,
        "decision",
        "Name the colour",
        "Say which of the two blues, on a screen by daylight.",
        "Both pass the contrast check; the first is the logo's.",
        "The style sheet.",
    ),
}
"""What each agent asks: after how long, the kind, the title, what to do, the context, and what goes on then."""


def act(name: str) -> None:
    """An agent: works, binds its work, asks, goes on, and reads what it is told. Run by `tocsin run`."""
    wait, kind, title, action, context, unblocks = AGENTS[name]
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        _write("\x1b[?2004h")
        _think(name, wait)
        where = ("--project", name, "--work", f"{name}-1")
        _run("bind", *where, "--return", "pinned-session")
        ask = ("--kind", kind, "--title", title, "--action", action, "--context", context, "--unblocks", unblocks)
        _run("summon", *where, "--key", "round-1", *ask, "--minutes", "5")
        while True:
            _write("> ")
            if not read_message():
                return
            _write("\r\n")
            _think(name, 3.0)
    finally:
        _write("\x1b[?2004l")
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _run(*words: str) -> None:
    """One command of the agent's, and what it said."""
    _write(f"\r\n$ tocsin attention {' '.join(words[:5])} …\r\n")
    command = ["tocsin", "attention", *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    _write((done.stdout or done.stderr).replace("\n", "\r\n"))


def _think(about: str, seconds: float) -> None:
    """Print, as agents do while they work."""
    _write(f"* works on the {about} ")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _write(".")
        time.sleep(0.25)
    _write("\r\n")


def _write(text: str) -> None:
    os.write(1, text.encode())


def record() -> list[Event]:
    """Run it for real, and note every byte that tmux draws."""
    with tempfile.TemporaryDirectory(prefix="tocsin-", dir="/tmp", ignore_cleanup_errors=True) as place:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        (Path(place) / "prompt").write_text("PS1='$ '\n")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")},
            "XDG_RUNTIME_DIR": place,
            "XDG_STATE_HOME": place,
            "XDG_CONFIG_HOME": place,
            "PATH": path,
            "TERM": "xterm-256color",
            "ENV": f"{place}/prompt",
            "HOME": place,
        }
        tmux = ["tmux", "-L", f"tocsin-day-{os.getpid()}", "-f", "/dev/null"]
        agents = [f"echo '$ tocsin run --as {name} -- agent'; sleep 0.5; exec {_agent(name)}" for name in AGENTS]
        start = [*tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "sh -i"]
        options = ["set", "-g", "status", "off", ";", "set", "-g", "pane-border-style", "fg=brightblack"]
        right = [
            "split-window",
            "-h",
            "-l",
            "48",
            agents[0],
            ";",
            "split-window",
            "-v",
            "-l",
            "67%",
            agents[1],
            ";",
            "split-window",
            "-v",
            "-l",
            "50%",
            agents[2],
        ]
        subprocess.run([*start, ";", *options, ";", *right, ";", "select-pane", "-t", "0"], env=environment, check=True)
        try:
            threading.Thread(target=_type, args=(tmux, environment, time.monotonic()), daemon=True).start()
            return list(watch([*tmux, "attach", "-r"], environment, SECONDS))
        finally:
            subprocess.run([*tmux, "kill-server"], env=environment, check=False)


def _agent(name: str) -> str:
    return f"tocsin run --as {name} -- {sys.executable} {Path(__file__).absolute()} {name}"


def _type(tmux: list[str], environment: dict[str, str], began: float) -> None:
    """The person at their keys."""
    for at, text in SCENES:
        time.sleep(max(0.0, began + at - time.monotonic()))
        for key in text:
            subprocess.run([*tmux, "send-keys", "-t", "0", "-l", key], env=environment, check=False)
            time.sleep(KEY)
        subprocess.run([*tmux, "send-keys", "-t", "0", "Enter"], env=environment, check=False)


def main() -> None:
    """Record, then draw."""
    events = record()
    (IMAGES / "day.cast").write_text(cast(events, TITLE), encoding="utf-8")
    (IMAGES / "day.svg").write_text(picture(frames(events, SECONDS), SECONDS, TITLE), encoding="utf-8")


if __name__ == "__main__":
    act(sys.argv[1]) if sys.argv[1:] else main()
