"""The agent of the demo: thinks aloud for a while after each message, then waits for the next. A plain program."""

import os
import select
import sys
import termios
import time
import tty

THOUGHTS = "looking at the cart page and what it asks the back end for; reading models.py; writing the missing test first; "


def _write(text: str) -> None:
    os.write(1, text.encode())


def think(seconds: float) -> None:
    """Print, as agents do while they work."""
    until = time.monotonic() + seconds
    nth = 0
    while time.monotonic() < until:
        at = nth * 9 % len(THOUGHTS)
        _write((THOUGHTS + THOUGHTS)[at : at + 9])
        nth += 1
        time.sleep(0.12)
    _write("\r\n")


def read_message() -> str:
    """One message: a bracketed paste and Enter, or keys and Enter. Empty at the end of input."""
    typed = b""
    while True:
        select.select([0], [], [])
        keys = os.read(0, 65536)
        if not keys or keys == b"\x04":
            return ""
        typed += keys
        _write(
            keys.replace(b"\x1b[200~", b"")
            .replace(b"\x1b[201~", b"")
            .replace(b"\n", b"\r\n")
            .rstrip(b"\r")
            .decode(errors="replace")
        )
        if typed.endswith(b"\r"):
            return typed[:-1].replace(b"\x1b[200~", b"").replace(b"\x1b[201~", b"").decode(errors="replace")


def main() -> None:
    """Think, wait for a message, think about it, until input ends."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        _write("\x1b[?2004h")
        think(float(sys.argv[1]) if len(sys.argv) > 1 else 6.0)
        while True:
            _write("> ")
            message = read_message()
            if not message:
                return
            _write(f"\r\n* read {len(message.splitlines())} lines\r\n")
            think(2.0)
    finally:
        _write("\x1b[?2004l")
        termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    main()
