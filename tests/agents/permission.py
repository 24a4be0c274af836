"""Permission: asks by a menu before it goes on. Usage: permission.py LOG [menu|question|trust]

A message ``ask`` opens the menu, as a tool call would; every key that reaches it is an answer and is logged as one.
"""

import sys

from composing import PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
kind = sys.argv[2] if len(sys.argv) > 2 else "menu"
DIALOGS = {
    "menu": "rm -rf build\n\nDo you want to proceed?\n❯ 1. Yes\n  2. Yes, and don't ask again\n  3. No\n",
    "question": "\nOverwrite notes.txt? [y/N] ",
    "trust": "Do you trust the files?\n\n  No, exit\n› Yes, proceed\n\nEnter to confirm · Esc to cancel\n",
}
asking = False
with raw():
    say(PASTE_ON + "\r\n> ")
    while True:
        data = read()
        if asking:
            log.write(answered=data.decode(errors="replace"))
            asking = False
            say("\x1b[2J\x1b[H* went on\r\n> ")
            continue
        for message in composer.feed(data):
            log.write(submitted=message)
            asking = message == "ask"
            say("\r\n" + DIALOGS[kind].replace("\n", "\r\n") if asking else "\r\n* done\r\n> ")
