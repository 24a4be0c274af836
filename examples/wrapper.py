"""A terminal wrapper of your own with the line inside: `python examples/wrapper.py bash`, then `kill -USR1` it for a notice."""

import os
import pty
import select
import signal
import sys
import termios
import tty
from collections import deque

from tocsin import Delivery, NotNow, Tocsin
from tocsin.contracts.signals import Output, RecipientDied

to_type: deque[bytes] = deque()


def type_later(delivery: Delivery) -> None:
    """The lane's sink: text and Enter are queued as one, and written by the loop that owns the terminal."""
    if to_type:
        raise NotNow("the last block is still being typed")
    to_type.append(delivery.text.replace("\n", " ").encode() + b"\r")


def main(argv: list[str]) -> int:
    """Pass every byte through both ways; tell the line when the program writes; type what the line releases."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(argv[0], argv)
    with Tocsin() as line:
        line.open_lane("agent", type_later, typing=True)
        signal.signal(signal.SIGUSR1, lambda *_: line.feed("somebody sent SIGUSR1", severity="error", scope="demo"))
        before = termios.tcgetattr(0) if sys.stdin.isatty() else None
        try:
            if before:
                tty.setraw(0)
            pump(line, terminal)
        finally:
            if before:
                termios.tcsetattr(0, termios.TCSAFLUSH, before)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def pump(line: Tocsin, terminal: int) -> None:
    """Until the program has closed its terminal."""
    watched = [0, terminal]
    while True:
        ready, _, _ = select.select(watched, [], [], 0.05)
        if terminal in ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            os.write(1, data)
            line.signal(Output(lane="agent", size=len(data)))
        if 0 in ready:
            keys = os.read(0, 65536)
            watched = watched if keys else [terminal]
            os.write(terminal, keys or b"\x04")
        if to_type:
            os.write(terminal, to_type.popleft())
    line.signal(RecipientDied(lane="agent"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["bash"]))
