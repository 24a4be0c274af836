"""Hooked: an agent with hooks, as Claude Code has them. Usage: hooked.py LOG [SEED] [deaf]

At each event it runs ``tocsin hook`` with JSON on stdin, and takes in the context that it is answered with; both what was
typed and what was handed over is logged. SEED makes it call tools and ask before some of them, run a hook twice at once and, if
"kills" is in it, kill one that takes its time. ``deaf`` calls hooks at the start and never again; A message ``quit``
ends it.
"""

import itertools
import json
import random
import select
import subprocess
import sys
import time

from composing import PASTE_ON, Composer, Log, raw, read, say

log, composer = Log(sys.argv[1]), Composer()
seed = sys.argv[2] if len(sys.argv) > 2 else ""
manner = sys.argv[3] if len(sys.argv) > 3 else ""
chance = random.Random(seed) if seed else None
HOOK = [sys.executable, "-m", "tocsin", "hook", "--agent", "claude"]
MENU = "\r\n$ make\r\n\r\nDo you want to proceed?\r\n❯ 1. Yes\r\n  2. No\r\n"
calls = itertools.count()


def hook(event: str, **fields: str) -> None:
    """Run it as often as it is registered, and take in what it prints."""
    if manner == "deaf" and event != "SessionStart":
        return
    payload = json.dumps({"session_id": "s1", "hook_event_name": event, "nth": next(calls), **fields}).encode()
    times = 2 if chance and chance.random() < 0.3 else 1
    running = [subprocess.Popen(HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(times)]
    for one in running:
        one.stdin.write(payload)
        one.stdin.close()
    for one in running:
        take_in(event, one)


def take_in(event: str, process) -> None:
    # Of what ends a turn it takes care: only its own reminder, a minute later, would tell that it is idle.
    kills = chance is not None and "kills" in seed and event in ("UserPromptSubmit", "PostToolUse") and chance.random() < 0.3
    if kills and not select.select([process.stdout], [], [], chance.random() * 0.1)[0]:
        process.kill()
    printed = process.stdout.read()
    process.wait()
    if kills and process.returncode:
        log.write(killed=event)
    elif process.returncode:
        log.write(failed=process.returncode)
    if printed:
        output = json.loads(printed)["hookSpecificOutput"]
        log.write(handed=output["additionalContext"], by=output["hookEventName"])


def use_tool(number: int) -> None:
    hook("PreToolUse", tool_name="Bash", tool_use_id=f"t{number}")
    if chance and chance.random() < 0.3:
        say(MENU)
        log.write(menu=True)
        time.sleep(chance.random() * 0.3)  # a person reads the menu
        while select.select([0], [], [], 0)[0]:
            log.write(answered=read().decode(errors="replace"))
        say("\x1b[2J\x1b[H* allowed\r\n")
    hook("PostToolUse", tool_name="Bash", tool_use_id=f"t{number}")


def work(message: str) -> None:
    hook("UserPromptSubmit", prompt=message)
    say(f"\r\n* thinking about {len(message)} characters\r\n")
    for number in range(chance.randrange(3) if chance else 0):
        use_tool(number)
        say(f"* step {number}\r\n")
    hook("Stop")


def compose() -> None:
    say("\r\n> ")
    while True:
        for message in composer.feed(read()):
            if message == "quit":
                hook("SessionEnd")
                sys.exit(0)
            log.write(submitted=message)
            work(message)
            say("\r\n> ")


with raw():
    say(PASTE_ON)
    hook("SessionStart", source="startup")
    compose()
