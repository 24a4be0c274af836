"""Switcher: turns bracketed paste on and off after each message, in odd ways, and logs the raw bytes it was given.

Usage: switcher.py LOG. It begins without bracketed paste.
"""

import sys
import time

from composing import Log, raw, read, say

SWITCHES = (("\x1b[?10", "49;2004h"), ("\x1b[?2004", "l\x1b[?1049l"), ("\x1b", "[?2004h"), ("\x1b[?25l\x1b[?2004l\x1b[?25h",))
log, state, taken = Log(sys.argv[1]), 0, b""
with raw():
    say("> ")
    while True:
        taken += read()
        if not taken.endswith(b"\r"):
            continue
        log.write(raw=taken.decode(errors="replace"))
        taken = b""
        say("\r\n* noted\r\n> ")
        for part in SWITCHES[state % len(SWITCHES)]:
            say(part)
            time.sleep(0.03)
        state += 1
