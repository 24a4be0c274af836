"""Slow reader: takes 1 kB every 20 ms, whatever comes. Usage: slow_reader.py LOG"""

import sys
import time

from composing import PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
with raw():
    say(PASTE_ON + "> ")
    while True:
        for message in composer.feed(read(1024)):
            log.write(submitted=message)
            say(f"\r\n* took {len(message)}\r\n> ")
        time.sleep(0.02)
