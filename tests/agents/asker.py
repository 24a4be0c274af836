"""Asker: a composer that asks its person first, with nothing but its environment. Usage: asker.py LOG MODE WORK KEY TITLE [GO]

It binds WORK, waits for the file GO if one is named, summons, and then reads what is submitted to it. It logs what the
commands answered, and every message.
"""

import subprocess
import sys
import time
from pathlib import Path

from composing import PASTE_OFF, PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
mode, work, key, title = sys.argv[2:6]
where = ["--project", "film", "--work", work]
ask = ["--key", key, "--kind", "selection", "--title", title, "--action", "Select A, B or C.", "--context", "Round 2."]


def attention(*arguments: str) -> None:
    command = [sys.executable, "-m", "tocsin", "attention", *arguments, "--json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    log.write(ran=arguments[0], code=done.returncode, out=done.stdout, err=done.stderr)


with raw():
    say(PASTE_ON + "> ")
    attention("bind", *where, "--return", mode)
    while len(sys.argv) > 6 and not Path(sys.argv[6]).exists():
        time.sleep(0.02)  # the file is another process's
    attention("summon", *where, *ask, "--unblocks", "The next batch.", "--minutes", "8")
    while True:
        for message in composer.feed(read()):
            log.write(submitted=message)
            say(f"\r\x1b[2K* read {len(message)} characters\r\n")
            if message == "quit":
                say(PASTE_OFF)
                sys.exit(0)
        say(f"\r\x1b[2K> {composer.text[:60].replace(chr(10), '⏎')}")
