"""Ink: repaints its lowest rows again and again, as agents built on Ink do.

Usage: ink.py LOG SCENE. Scenes: ``idle`` (a clock ticks in the status line), ``thinking`` (one cell spins),
``streaming`` (text runs).
"""

import select
import sys
import time

from composing import PASTE_ON, Composer, Log, Work, raw, read, say

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "writes", "it", "all", "down"]
log, scene, composer = Log(sys.argv[1]), sys.argv[2], Composer()
drawn, tick = [0], 0


def frame() -> str:
    rows = ["╭" + "─" * 50 + "╮", f"│ > {composer.text[-40:]:<46} │", "╰" + "─" * 50 + "╯"]
    if scene == "idle":
        rows.append(f"  ready · {time.strftime('%H:%M:%S')} · up {tick} ticks")
    if scene == "thinking":
        rows.insert(0, f"{SPINNER[tick % len(SPINNER)]} thinking")
    return "\r\n".join(rows)


def repaint(above: str = "") -> None:
    text = frame()
    erase = "\x1b[2K" + "\x1b[1A\x1b[2K" * (drawn[0] - 1) + "\x1b[G" if drawn[0] else ""
    say(erase + above + text)
    drawn[0] = text.count("\n") + 1


with raw():
    say(PASTE_ON + "\x1b[?25l")
    repaint()
    while True:
        waited = select.select([0], [], [], 0.02 if Work.goes_on() else 0.4 if scene == "idle" else 0.1)[0]
        Work.until = Work.until if Work.goes_on() else 0.0
        tick += 1
        for message in composer.feed(read()) if waited else []:
            log.write(submitted=message)
            repaint(f"> {message[:40]}\r\n* on it\r\n")
        repaint(
            f"{WORDS[tick % len(WORDS)]} {WORDS[tick // 7 % len(WORDS)]}\r\n" if scene == "streaming" or Work.goes_on() else ""
        )
