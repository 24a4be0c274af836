"""Listener: logs the bytes of every read, and answers as told. Usage: listener.py LOG silent|echo|deaf|busy|sleepy

``silent`` prints nothing; ``echo`` prints what it reads, and its prompt after Enter; ``deaf`` does not hear the first Enter
after a text; ``busy`` ignores Enter and only goes on painting its clock; ``sleepy`` rests after every read.
"""

import select
import sys
import time

from composing import PASTE_ON, Log, raw, read, say

log, how = Log(sys.argv[1]), sys.argv[2]
enters = tick = 0
with raw():
    say(PASTE_ON + "> ")
    while True:
        if how == "busy" and not select.select([0], [], [], 0.1)[0]:
            tick += 1
            say(f"\x1b7\x1b[10;1Hup {tick} s\x1b8")
            continue
        data = read()
        log.write(read=data.decode(errors="replace"))
        if how == "sleepy":
            time.sleep(0.4)  # it is slow: that is what it is for
        if how == "echo":
            say(data.decode(errors="replace").replace("\r", "\r\n> ").replace("\x1b[200~", "").replace("\x1b[201~", ""))
        enters += data == b"\r"
        if how == "deaf" and data == b"\r" and enters == 2:
            say("\r\n* at last\r\n> ")
