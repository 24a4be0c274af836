"""Whereabouts: what our terminal answers to our own question is not typed into the program; all else is, to the byte."""

import re
import runpy
import sys
from itertools import pairwise
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from tocsin.edges.terminal.whereabouts import Whereabouts

_outer = runpy.run_path(str(Path(__file__).parents[1] / "agents" / "outer_terminal.py"))
OuterTerminal = _outer["OuterTerminal"]

KEYS = st.sampled_from(
    [b"a", b"R", b"\x1b", b"\x1b[A", b"\x1b[15~", b"\x1bx", b"\x1b[", b"7;3R", "ä".encode(), b"\x1b[200~x\x1b[201~"]
)
"""What a person may type, and what begins like an answer, but is none."""


@given(before=st.lists(KEYS), after=st.lists(KEYS), theirs=st.integers(0, 3), data=st.data())
def test_only_the_answer_to_our_question_is_taken_out_wherever_the_reads_are_cut(before, after, theirs, data) -> None:
    rows: list[int] = []
    whereabouts = Whereabouts(rows.append)
    assert whereabouts.ask() == b"\x1b[6n"
    assert whereabouts.ask() == b"", "one at a time"
    whereabouts.overheard(theirs)
    # Nobody types what looks like an answer.
    assume(not re.search(rb"\x1b\[\d+;\d+R", b"".join(before)))
    first, then = b"".join(before), b"".join(after) + b"\x1b[9;9R" * theirs
    stream = first + b"\x1b[12;34R" + then
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=6)) | {0, len(stream)})
    got = b"".join(whereabouts.take(stream[a:b]) for a, b in pairwise(cuts)) + whereabouts.rest()
    assert got == first + then
    assert rows == [11]
    assert not whereabouts.awaited
    assert whereabouts.ask() == b"\x1b[6n", "everybody was answered"


def test_nothing_is_asked_while_the_program_waits_for_an_answer_of_its_own() -> None:
    whereabouts = Whereabouts(lambda row: None)
    whereabouts.overheard(1)
    assert whereabouts.ask() == b""
    assert whereabouts.take(b"x\x1b[1;1R") == b"x\x1b[1;1R"
    assert whereabouts.ask() != b""


PROGRAM = r"""
import os, tty
tty.setraw(0)
os.write(1, b"> ")
while (key := os.read(0, 100)) != b"q":
    os.write(1, b"\x1b[6n" if key == b"?" else repr(key).encode())
"""


def test_the_program_gets_its_own_answers_and_the_keys_around_ours(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, [sys.executable, "-c", PROGRAM], options="status") as outer:
        at = outer.sees(b"\x1b[6n")
        outer.keys(b"a\x1b[7;")
        outer.keys(b"3Rb")
        at = outer.sees(b"b", at)
        assert b"3R" not in outer.shown
        outer.keys(b"?")
        at = outer.sees(b"\x1b[6n", at)
        outer.keys(b"\x1b[7;9R")
        outer.sees(rb"b'\x1b[7;9R'", at)
        outer.keys(b"q")
        assert outer.wait() == 0


def test_a_terminal_that_answers_nothing_delays_no_key_and_no_end(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, [sys.executable, "-c", PROGRAM], options="status") as outer:
        at = outer.sees(b"\x1b[6n")
        outer.keys(b"\x1b")
        outer.sees(rb"b'\x1b'", at)
        outer.keys(b"\x1b[15")
        outer.sees(rb"b'\x1b[15'", at)
        outer.keys(b"q")
        assert outer.wait() == 0
