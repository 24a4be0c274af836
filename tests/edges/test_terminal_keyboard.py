"""Keyboard: what a program does not read is not told, Ctrl-C never waits, and keys that had to wait keep their rhythm."""

import runpy
import sys
import time
from pathlib import Path
from typing import Any

import pytest

AGENTS = Path(__file__).parents[1] / "agents"
_outer = runpy.run_path(str(AGENTS / "outer_terminal.py"))
OuterTerminal, until = _outer["OuterTerminal"], _outer["until"]

DEAF = r"""
import os, select, signal, sys, termios, time, tty
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from composing import PASTE_ON, Composer, Log, say
log, go, mode, at_first = Log(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[5])
signal.signal(signal.SIGINT, lambda *_: log.write(interrupted=True))
if mode == "raw": tty.setraw(0)
if mode == "signals":
    tty.setraw(0)
    attributes = termios.tcgetattr(0)
    attributes[3] |= termios.ISIG
    termios.tcsetattr(0, termios.TCSANOW, attributes)
composer = Composer()
say(PASTE_ON * (mode != "lines") + "> ")
if at_first:
    composer.feed(os.read(0, at_first))
    log.write(part=True)
while not go.exists(): time.sleep(0.01)
say("* reads now\r\n> ")
while True:
    data = os.read(0, 9999)
    log.write(read=data.decode(errors="replace"))
    for message in composer.feed(data.replace(b"\n", b"\r") if mode == "lines" else data):
        log.write(submitted=message)
        say("\r\n* taken\r\n> ")
"""


class Deaf(OuterTerminal):  # type: ignore[misc, valid-type]
    """Around a program that reads nothing, or ``at_first`` bytes and then nothing, until it is told to go."""

    def __init__(self, folder: Path, mode: str, at_first: int = 0) -> None:
        self.may_read = folder / "go"
        log = str(folder / "agent.jsonl")
        super().__init__(folder, [sys.executable, "-c", DEAF, log, str(self.may_read), mode, str(AGENTS), str(at_first)])
        self.sees(b"> ")

    def go(self) -> None:
        self.may_read.touch()
        self.sees(b"* reads now")


def test_what_is_not_read_is_taken_back_and_given_back(tmp_path: Path) -> None:
    with Deaf(tmp_path, "raw") as outer:
        assert outer.submit("the schema has changed\nsee docs") == "not_now"
        outer.go()
        assert outer.submit_when_free("the schema has changed\nsee docs") == "submitted"
        assert outer.submitted(1) == ["the schema has changed\nsee docs"]
        assert "draft_started" not in outer.facts()


def test_what_is_read_in_part_is_not_sent_and_comes_whole_once_that_is_cleared(tmp_path: Path) -> None:
    text = "word " * 4000 + "end"
    with Deaf(tmp_path, "raw", at_first=3000) as outer:
        assert outer.submit(text) == "sink_busy"
        outer.fact("draft_started")
        outer.go()
        assert outer.submit(text) == "not_now"
        outer.keys(b"\x03mine\r")
        assert outer.submitted(1) == ["mine"]
        assert outer.submit_when_free(text) == "submitted"
        assert outer.submitted(2) == ["mine", text]


@pytest.mark.parametrize("keys", [b"\x03", b"ab\x03"])
def test_an_interrupt_goes_out_at_once_however_much_is_being_typed(tmp_path: Path, keys: bytes) -> None:
    text = "word " * 12_000 + "end"
    with Deaf(tmp_path, "signals") as outer:
        order = outer.order(text)
        time.sleep(0.3)  # the typing is to be under way
        outer.keys(keys)
        assert outer.logged("interrupted", 1) == [True]
        assert outer.answer(order) == "not_now"
        outer.go()
        outer.keys(b"mine\r")
        assert outer.submitted(1) == ["mine"]
        assert outer.submit_when_free(text) == "submitted"
        assert outer.submitted(2) == ["mine", text]


@pytest.mark.parametrize("key", [b"\x03", b"\x1b[99;5u"])
def test_a_program_that_reads_interrupts_as_keys_gets_them_behind_a_paste_that_is_closed(tmp_path: Path, key: bytes) -> None:
    with OuterTerminal(tmp_path, agent=["slow_reader"]) as outer:
        outer.sees(b"> ")
        order = outer.order("x" * 150_000)
        time.sleep(0.4)  # the typing is to be under way
        outer.keys(b"half ")
        outer.keys(key)
        assert outer.answer(order) == "sink_busy"
        outer.keys(b"\x03mine\r")
        assert outer.submitted(1) == ["mine"]
        assert outer.submit_when_free("next") == "submitted"
        assert outer.submitted(2) == ["mine", "next"]


def test_a_line_that_is_not_read_yet_is_not_told_yet(tmp_path: Path) -> None:
    with Deaf(tmp_path, "lines") as outer:
        order = outer.order("hello")
        outer.sees(b"hello")
        outer.keys(b"and mine\r")
        outer.go()
        assert outer.answer(order) == "submitted"
        assert outer.submitted(2) == ["hello", "and mine"]


def test_a_line_that_an_interrupt_threw_away_unread_is_given_back(tmp_path: Path) -> None:
    with Deaf(tmp_path, "lines") as outer:
        order = outer.order("hello")
        outer.sees(b"hello")
        time.sleep(0.2)  # its Enter follows; how long that takes nobody tells
        outer.keys(b"\x03")
        outer.logged("interrupted", 1)
        assert outer.answer(order) == "not_now"
        outer.go()
        assert outer.submit_when_free("hello") == "submitted"
        assert outer.submitted(1) == ["hello"]


def test_nothing_is_typed_behind_keys_that_are_not_read(tmp_path: Path) -> None:
    with Deaf(tmp_path, "raw") as outer:
        outer.keys(b"mine")
        outer.fact("draft_started")
        outer.keys(b"\r")
        outer.fact("draft_ended")
        answer = outer.answer_line(outer.order("hello"))
        assert answer["text"] == "not typed: the program has not read what it was given before"
        outer.go()
        assert outer.submitted(1) == ["mine"]
        assert outer.submit_when_free("hello") == "submitted"
        assert outer.submitted(2) == ["mine", "hello"]


def keys_one_by_one(outer: Any, *keys: bytes) -> None:
    for key in keys:
        outer.keys(key)
        time.sleep(0.05)  # a person's presses, not one read


def test_an_enter_that_had_to_wait_is_a_write_of_its_own(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, agent=["listener", "sleepy"]) as outer:
        outer.sees(b"> ")
        order = outer.order("x" * 6000)
        until(lambda: outer.logged("read"))
        keys_one_by_one(outer, b"o", b"k", b"\r", b"n", b"o", b"\r")
        outer.answer(order)
        until(lambda: "".join(outer.logged("read")).count("\r") >= 3)
        reads = [read for read in outer.logged("read") if "x" not in read]
        assert reads == ["\r", "ok", "\r", "no", "\r"]


def test_a_paste_that_had_to_wait_stays_one(tmp_path: Path) -> None:
    paste = "\x1b[200~two\rlines\x1b[201~"
    with OuterTerminal(tmp_path, agent=["listener", "sleepy"]) as outer:
        outer.sees(b"> ")
        order = outer.order("x" * 6000)
        until(lambda: outer.logged("read"))
        keys_one_by_one(outer, paste.encode(), b"\r")
        outer.answer(order)
        until(lambda: "".join(outer.logged("read")).count("\r") >= 3)
        assert [read for read in outer.logged("read") if "x" not in read] == ["\r", paste, "\r"]
