"""Makes docs/images/demo.cast and demo.svg: a real run in tmux, a wrapped agent beside a failing dev server.

It needs tmux and pyte (`pip install '.[dev]'`); `asciinema play docs/images/demo.cast` plays the cast.
"""

import fcntl
import html
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pyte

IMAGES = Path(__file__).parent / "images"
COLUMNS, ROWS = 132, 30
TITLE = "tocsin: a wrapped agent and a failing dev server"
LABEL = "A wrapped agent is told of a failing dev server, once and when it is idle"
SECONDS = 36.0
FRAME = 0.4
"""Seconds between two frames of the picture; the cast itself holds every byte."""
CELL, LINE, MARGIN = 7.25, 16, 14
COLOURS = {
    "default": "#d0d4dc", "black": "#1c1f26", "red": "#f07178", "green": "#a5d6a7", "brown": "#ffd580", "yellow": "#ffd580",
    "blue": "#82aaff", "magenta": "#c792ea", "cyan": "#80cbc4", "white": "#eceff4",
}  # fmt: skip

Event = tuple[float, bytes]


def record() -> list[Event]:
    """Run it for real, and note every byte that tmux draws."""
    with tempfile.TemporaryDirectory(prefix="tocsin-", dir="/tmp") as place:
        environment = {**os.environ, "XDG_RUNTIME_DIR": place, "XDG_STATE_HOME": place, "TERM": "xterm-256color", "PS1": "$ "}
        tmux = ["tmux", "-L", f"tocsin-recording-{os.getpid()}", "-f", "/dev/null"]
        python = sys.executable
        run = f"{python} -m tocsin run --as dev -- {python} -m tocsin.cli.demo.agent 8"
        agent = f"echo '$ tocsin run --as dev -- agent'; exec {run}"
        watch = f"{python} -m tocsin watch --scope shop --to dev --quiet -- {python} -m tocsin.cli.demo.server"
        server = f"sleep 1; echo '$ tocsin watch --to dev -- server'; {watch}; sleep 9"
        start = [*tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), agent]
        options = ["set", "-g", "status", "off", ";", "set", "-g", "pane-border-style", "fg=brightblack"]
        subprocess.run([*start, ";", *options, ";", "split-window", "-h", "-l", "44%", server], env=environment, check=True)
        try:
            return list(watch([*tmux, "attach", "-r"], environment, SECONDS))
        finally:
            subprocess.run([*tmux, "kill-server"], env=environment, check=False)


def watch(argv: list[str], environment: dict[str, str], seconds: float) -> Iterator[Event]:
    """What a program shows in a terminal of its own, and when."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(argv[0], argv, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began = time.monotonic()
    while (now := time.monotonic() - began) < seconds:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                yield now, os.read(terminal, 65536)
            except OSError:
                break
    os.close(terminal)
    os.waitpid(child, 0)


def cast(events: list[Event], title: str) -> str:
    """The recording in the format of asciinema, version 2."""
    lines = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": title})]
    lines += [json.dumps([round(at, 3), "o", data.decode("utf-8", "replace")]) for at, data in events]
    return "\n".join(lines) + "\n"


def frames(events: list[Event], seconds: float) -> list[tuple[float, tuple[str, ...]]]:
    """What the screen showed, a few times a second, each time as one line of markup a row."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    found: list[tuple[float, tuple[str, ...]]] = []
    due = 0.0
    for at, data in [*events, (seconds, b"")]:
        while at >= due:
            rows = tuple(_row(screen, row) for row in range(ROWS))
            if not found or found[-1][1] != rows:
                found.append((due, rows))
            due += FRAME
        stream.feed(data)
    return found


def _row(screen: pyte.Screen, row: int) -> str:
    """Runs of one colour as spans."""
    spans: list[tuple[str, str]] = []
    for column in range(COLUMNS):
        cell = screen.buffer[row][column]
        colour = COLOURS.get(cell.fg, f"#{cell.fg}" if len(cell.fg) == 6 else COLOURS["default"])
        if spans and spans[-1][0] == colour:
            spans[-1] = (colour, spans[-1][1] + cell.data)
        else:
            spans.append((colour, cell.data))
    return "".join(f'<tspan fill="{c}">{html.escape(text)}</tspan>' for c, text in spans if text.strip() or len(spans) > 1)


def picture(shown: list[tuple[float, tuple[str, ...]]], seconds: float, label: str) -> str:
    """An SVG that plays in a browser: each row of text stands in it once, and frames refer to rows."""
    rows: dict[str, str] = {}
    for _, frame in shown:
        for row in frame:
            if row:
                rows.setdefault(row, f"r{len(rows)}")
    defs = "".join(f'<text id="{name}" xml:space="preserve">{row}</text>' for row, name in rows.items())
    parts = []
    for nth, (at, frame) in enumerate(shown):
        until = shown[nth + 1][0] if nth + 1 < len(shown) else seconds
        uses = "".join(f'<use href="#{rows[row]}" y="{LINE * (place + 1)}"/>' for place, row in enumerate(frame) if row)
        begin, end = at / seconds, min(until / seconds, 1.0)
        keys = ";".join(f"{key:.5f}".rstrip("0").rstrip(".") for key in (0.0, begin, end) if key or begin)
        values = "hidden;visible;hidden" if begin else "visible;hidden"
        keys = keys if begin else f"0;{end:.5f}"
        animate = (
            f'<animate attributeName="visibility" values="{values}" keyTimes="{keys}" dur="{seconds:g}s" '
            'calcMode="discrete" repeatCount="indefinite"/>'
        )
        parts.append(f'<g visibility="{"visible" if nth == len(shown) - 1 else "hidden"}">{uses}{animate}</g>')
    width, height = COLUMNS * CELL + 2 * MARGIN, ROWS * LINE + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{label}">'
        f'<rect width="100%" height="100%" rx="8" fill="#14171d"/><defs>{defs}</defs>'
        f'<g transform="translate({MARGIN} {MARGIN - 4})" font-size="12" '
        f'font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace">{"".join(parts)}</g></svg>\n'
    )


def main() -> None:
    """Record, then draw."""
    IMAGES.mkdir(exist_ok=True)
    events = record()
    (IMAGES / "demo.cast").write_text(cast(events, TITLE), encoding="utf-8")
    (IMAGES / "demo.svg").write_text(picture(frames(events, SECONDS), SECONDS, LABEL), encoding="utf-8")


if __name__ == "__main__":
    main()
