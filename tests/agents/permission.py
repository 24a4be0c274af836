"""Permission: asks by a menu before it goes on. Usage: permission.py LOG [menu|question|trust|clack|inquirer|prompts|aider]

A message ``ask`` opens the menu, as a tool call would; every key that reaches it is an answer and is logged as one.
"""

import sys

from composing import PASTE_ON, Composer, Log, Work, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
kind = sys.argv[2] if len(sys.argv) > 2 else "menu"
DIALOGS = {
    "menu": "rm -rf build\n\nDo you want to proceed?\n❯ 1. Yes\n  2. Yes, and don't ask again\n  3. No\n",
    "question": "\nOverwrite notes.txt? [y/N] ",
    "clack": "│\n◆  Select a framework:\n│  ● Vanilla\n│  ○ Vue\n└\n",
    "inquirer": "? Pick a template (Use arrow keys)\n❯ react\n  vue\n  svelte\n  solid\n  qwik\n",
    "prompts": "? Pick a color › - Use arrow-keys. Return to submit.\n❯   Red\n    Green\n    Blue\n",
    "aider": "npm test\nRun shell command? (Y)es/(N)o/(D)on't ask again [Yes]: ",
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
            if asking:
                # Who asks waits for the answer.
                Work.until = 0.0
            say("\r\n" + DIALOGS[kind].replace("\n", "\r\n") if asking else "\r\n* done\r\n> ")
