"""The status row leaves programs as they are: with it and without, the same output makes the same screen."""

import random
import runpy
from pathlib import Path

import pytest

from tocsin.edges.terminal.modes import Modes
from tocsin.edges.terminal.status import StatusRow

Terminal = runpy.run_path(str(Path(__file__).parent / "one_slot.py"))["Terminal"]

ROWS, COLUMNS = 7, 12


class Both:
    """A program's output on a bare terminal, and on one with a row more that is the status row."""

    def __init__(self, first=b""):
        self.bare, self.real = Terminal(COLUMNS, ROWS), Terminal(COLUMNS, ROWS + 1)
        self.status = StatusRow(lambda: "2 pending")
        self.status.resized(ROWS + 1, COLUMNS)
        for write in (self.bare.write, self.status.hear, self.real.write):
            write(first)
        self.real.write(self.status.claim(ROWS + 1, COLUMNS))
        self.modes = Modes()
        self.painted = 0

    @property
    def alternate(self):
        return self.modes.alternate

    def print(self, data):
        self.bare.write(data)
        self.modes.feed(data)
        for piece in self.status.pieces(data):
            self.status.hear(piece)
            self.real.write(piece)
            self.look_after()

    def look_after(self):
        """As the session does after each piece of output."""
        if self.status.fits_screen or self.status.half:
            return
        if self.status.taken:
            self.real.write(self.status.release() if self.status.alternate else self.status.mend())
        else:
            self.real.write(self.status.claim(ROWS + 1, COLUMNS))

    def rest(self):
        drawn = self.status.paint(again=True)
        self.painted += bool(drawn)
        self.real.write(drawn)

    def alike(self):
        assert self.real.text(ROWS) == self.bare.text(ROWS)
        assert self.real.shown(ROWS) == self.bare.shown(ROWS)
        assert self.real.pen() == self.bare.pen()


PARTS = {
    "text": lambda r: "".join(r.choices("abc def", k=r.randint(1, 2 * COLUMNS))),
    "wide": lambda r: r.choice(["é", "日本", "─│", "日" * 7]),
    "edge": lambda r: f"\x1b[{r.randint(1, ROWS)};1H" + "x" * COLUMNS,
    "line": lambda r: r.choice(["\r\n", "\n", "\r", "\b", "\t", "\x1bD", "\x1bE", "\x1bM", "\r\n\r\n\r\n"]),
    "place": lambda r: f"\x1b[{r.randint(1, ROWS)};{r.randint(1, COLUMNS)}{r.choice('Hf')}",
    "far": lambda r: r.choice(["\x1b[99;3H", "\x1b[99d", "\x1b[99B", "\x1b[99;99f"]),
    "move": lambda r: f"\x1b[{r.choice(['', 2, 4])}{r.choice('ABCDEFGde')}",
    "save": lambda r: r.choice(["\x1b7", "\x1b[s"]),
    "restore": lambda r: r.choice(["\x1b8", "\x1b[u"]),
    "region": lambda r: f"\x1b[{(top := r.randint(1, ROWS - 1))};{r.randint(top + 1, ROWS)}r",
    "whole": lambda r: r.choice(["\x1b[r", "\x1b[1r", "\x1b[;99r", "\x1b[3r"]),
    "origin": lambda r: r.choice(["\x1b[?6h", "\x1b[?6l"]),
    "style": lambda r: f"\x1b[{r.choice(['', 0, 1, '4;31', '38;5;9', '38;2;1;2;3;1', 7, 22, 24, 27, 39, '48;5;3', 103])}m",
    "sets": lambda r: r.choice(["\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B", "\x0e", "\x0f"]),
    "lines": lambda r: f"\x1b[{r.choice(['', 1, 2])}{r.choice('LMST')}",
    "erase": lambda r: f"\x1b[{r.choice(['', 0, 1, 2])}{r.choice('JKX')}",
    "cells": lambda r: f"\x1b[{r.choice(['', 2])}{r.choice('P@')}",
    "screen": lambda r: f"\x1b[?1049h|\x1b[H{r.choice(['menu', 'a'])}\x1b[3;2H\x1b[2J|\x1b[?1049l",
    "silent": lambda r: r.choice(["\x1b]0;a title\x07", "\x1b[?25l", "\x1b[?2004h", "\x1b[2 q", "\x07"]),
}


def runs_out(bare, part):
    """From below its region the program would go on below its last row, where the other terminal has one more."""
    margins = bare.margins
    if margins is None or bare.cursor.y <= margins.bottom:
        return False
    return not part.startswith("\x1b") or part[-1] in "BDEe" or "x" in part


def script(chance):
    """Pieces of output, each whole in itself."""
    yield from (["\x1b[H"] if chance.random() < 0.5 else [])
    saved = False
    for name in chance.choices(list(PARTS), k=40):
        saved = (saved or name == "save") and name != "screen"
        if name == "restore" and not saved:
            # What was saved before, by whomever, is not the program's.
            continue
        yield from PARTS[name](chance).split("|")


@pytest.mark.parametrize("hundred", range(6))
def test_whatever_a_program_prints_the_screen_is_the_one_without_the_row(hundred) -> None:
    painted = 0
    for seed in range(100 * hundred, 100 * hundred + 100):
        chance, both, printed, begun = random.Random(seed), Both(), [], b""
        ahead = Terminal(COLUMNS, ROWS)
        for part in script(chance):
            if runs_out(ahead, part):
                continue
            ahead.write(part.encode())
            printed.append(part)
            data = part.encode()
            cut = chance.randint(0, len(data)) if chance.random() < 0.5 else 0
            if cut == 0 and chance.random() < 0.5:
                # What comes next is read together with it.
                begun += data
                continue
            data, begun = begun + data, b""
            cut += len(data) - len(part.encode())
            for piece in (data[:cut], data[cut:]):
                both.print(piece)
                if chance.random() < 0.5:
                    both.rest()
            try:
                if not both.alternate:
                    both.alike()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {printed}") from error
        painted += both.painted
    assert painted > 500


def test_what_was_saved_before_the_row_was_there_is_kept_too() -> None:
    both = Both(first=b"one\r\nabc\x1b7\x1b[31mdef")
    both.print(b"\x1b8X")
    both.alike()


def test_a_saved_cursor_is_as_it_was_saved_after_the_row_was_drawn() -> None:
    both = Both()
    for part in (b"abc\x1b[1;4m\x1b)0\x0e\x1b7\x1b[0m\x0fdef", b"\r\nnext", b"\x1b8X", b"\x1b[5;3Hthere", b"\x1b8Y"):
        both.print(part)
        both.rest()
        both.alike()


def test_a_region_is_as_it_was_set_after_the_row_was_drawn() -> None:
    both = Both()
    for part in (b"\x1b[2;4r", b"\x1b[4;1Ha\r\nb\r\nc\r\nd", b"\x1b[r", b"\x1b[7;1Hx\r\ny\r\nz"):
        both.print(part)
        both.rest()
        both.alike()


def test_nothing_is_drawn_inside_a_sequence_or_a_character() -> None:
    for half in (b"\x1b", b"\x1b[3", b"\x1b[3;", b"\x1b]0;a title", b"\x1b(", "日".encode()[:2], b"\x1bPq#0"):
        both = Both()
        both.print(b"text" + half)
        both.rest()
        assert not both.painted, half
