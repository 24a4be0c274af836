"""Permission: asks by a menu before it goes on. Usage: permission.py LOG [menu|question|trust]

A message ``ask`` opens the menu, as a tool call would; every key that reaches it is an answer and is logged as one.
"""

import sys

from composing import PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
kind = sys.argv[2] if len(sys.argv) > 2 else "menu"
DIALOGS = {
    "menu": "Bash command\r\n\r\n  rm -rf build\r\n\r\nDo you want to proceed?\r\n❯ 1. Yes\r\n  2. Yes, and don't ask again\r\n  3. No\r\n",
    "question": "\r\nOverwrite notes.txt? [y/N] ",
    "trust": "Do you trust the files in this folder?\r\n\r\n  No, exit\r\n› Yes, proceed\r\n\r\nEnter to confirm · Esc to cancel\r\n",
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
            say(f"\r\n{DIALOGS[kind]}" if asking else "\r\n* done\r\n> ")
