"""Composing: what the stand-in agents share: a raw terminal, a composer with bracketed paste, and a log of JSON lines."""

import json
import os
import re
import select
import sys
import termios
import time
import tty
from contextlib import contextmanager
from pathlib import Path

PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
KEY = re.compile(rb"\x1b\[200~|\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.?|[\x20-\x7e\x80-\xff]+|[\x00-\x1f\x7f]", re.DOTALL)


class Log:
    """Writes one JSON line for each thing that came to be, at once."""

    last = None

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        Log.last = self

    def write(self, **fields: object) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields) + "\n")


class Work:
    """A message ``work N`` keeps an agent at work for N ms: it prints steps, and logs what it is given meanwhile."""

    until = 0.0

    @staticmethod
    def goes_on() -> bool:
        return time.monotonic() < Work.until

    @staticmethod
    def step() -> None:
        """Print until something comes, or the work is done."""
        while Work.goes_on():
            if select.select([0], [], [], 0.02)[0]:
                return
            say("* step\r\n")
        say("* done\r\n> ")
        Work.until = 0.0


class Composer:
    """A line of input as agents have it: Enter sends, a paste is content, Ctrl-C and Ctrl-U clear."""

    def __init__(self) -> None:
        self.text = ""
        self._pasting = False
        self._half = b""

    def feed(self, data: bytes) -> list[str]:
        """Take what was read; the texts that were sent by it."""
        data, self._half = self._half + data, b""
        sent = []
        while data:
            if self._pasting:
                inside, mark, data = data.partition(b"\x1b[201~")
                if not mark:
                    keep = next((n for n in range(5, 0, -1) if inside.endswith(b"\x1b[201~"[:n])), 0)
                    inside, self._half = inside[: len(inside) - keep], inside[len(inside) - keep :]
                self.text += inside.decode(errors="surrogateescape")
                self._pasting = not mark
                continue
            key = KEY.match(data).group()
            data = data[len(key) :]
            if key == b"\x1b[200~":
                self._pasting = True
            elif key[0] == 0x1B and not data and key[-1:] not in b"~ABCDHFIORc":
                self._half = key
            else:
                sent += self.key(key)
        return sent

    def key(self, key: bytes) -> list[str]:
        if key == b"\r":
            sent, self.text = self.text, ""
            if sent.startswith("work "):
                Work.until = time.monotonic() + int(sent[5:]) / 1000
            return [sent]
        if key in (b"\x03", b"\x15"):
            self.text = ""
        elif key == b"\x7f":
            self.text = self.text[:-1]
        elif key[0] >= 0x20 and key[0] != 0x7F:
            self.text += key.decode(errors="surrogateescape")
        return []


@contextmanager
def raw():
    """The terminal behind stdin in raw mode."""
    before = termios.tcgetattr(0)
    tty.setraw(0, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)


def say(text: str) -> None:
    """Write all of it to the terminal."""
    data = text.encode(errors="surrogateescape")
    while data:
        data = data[os.write(1, data) :]


def read(size: int = 65_536) -> bytes:
    """What there is; ends the program when the terminal is gone."""
    if Work.until:
        Work.step()
    try:
        data = os.read(0, size)
    except OSError:
        data = b""
    if Work.until:
        Log.last.write(read_at_work=data.decode(errors="replace"))
    if not data:
        sys.exit(0)
    return data
