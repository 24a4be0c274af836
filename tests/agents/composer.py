"""Composer: a line editor with bracketed paste that answers each message with a line. Usage: composer.py LOG"""

import sys

from composing import PASTE_OFF, PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()


def prompt() -> None:
    shown = composer.text if len(composer.text) < 200 and "\n" not in composer.text else f"[Pasted {len(composer.text)}]"
    say(f"\r\x1b[2K> {shown}")


with raw():
    say(PASTE_ON)
    prompt()
    while True:
        for message in composer.feed(read()):
            log.write(submitted=message)
            say(f"\r\x1b[2K> {message[:20]!r}\r\n* Reading your message of {len(message)} characters\r\n")
            if message == "quit":
                say(PASTE_OFF)
                sys.exit(0)
            if message == "crash":
                sys.exit(7)
        prompt()
