"""Guesses paste: has no bracketed paste (or, with ``bracketed``, has it) and takes any large read as one.

A read of 1000 bytes or more is a paste, and so is any read of more than one byte that ends in Enter; Enter inside a paste
sends nothing. Usage: guesses_paste.py LOG [bracketed]
"""

import sys

from composing import PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
bracketed = len(sys.argv) > 2
with raw():
    say((PASTE_ON if bracketed else "") + "> ")
    while True:
        data = read()
        if len(data) >= 1000 and not bracketed:
            # It shows the paste apart and loses it: only what is typed after it is sent.
            composer.text = ""
            say("[Pasted]")
        elif len(data) > 1 and data.endswith(b"\r"):
            composer.feed(data[:-1])
            composer.text += "\n"
            say(f"\r\x1b[2K> {composer.text[-30:].replace(chr(10), '⏎')}")
        else:
            for message in composer.feed(data):
                log.write(submitted=message)
                say("\r\n* taken\r\n> ")
            say(f"\r\x1b[2K> {composer.text[-30:].replace(chr(10), '⏎')}")
