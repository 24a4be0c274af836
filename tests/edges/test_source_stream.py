"""Pipes, files that grow and JSON lines: the same findings as of a process, and one bad line harms no other."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.base import Millis
from tocsin.contracts.events import Event
from tocsin.edges.clock import SteadyClock
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue
from tocsin.edges.sources.stream import LONGEST_LINE, BadLine, EventLines, Followed, follow_file, read_events, read_pipe

CATALOGUE = Catalogue.load()


def reader() -> Reader:
    return Reader(CATALOGUE, scope="web", to="dev")


def texts_of_pipe(data: bytes) -> list[str]:
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return anyio.run(_texts_of, reading)


async def _texts_of(descriptor: int) -> list[str]:
    texts: list[str] = []

    async def emit(found: list[object]) -> None:
        texts.extend(finding.text for finding in found if isinstance(finding, Event))

    with os.fdopen(descriptor, "rb") as source:
        await read_pipe(source, reader(), emit, SteadyClock())
    return texts


def test_a_pipe_is_read_to_its_end() -> None:
    assert texts_of_pipe(b"fine\nError: one\nfine\npanic: two") == ["Error: one", "panic: two"]


def test_a_plain_file_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_bytes(b"x\n" * 100_000 + b"Error: at the end\n")
    assert anyio.run(_texts_of, os.open(tmp_path / "build.log", os.O_RDONLY)) == ["Error: at the end"]


def test_a_finding_of_a_quiet_pipe_is_told_while_it_stays_open() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"Error: first\n")
    told: list[str] = []

    async def main() -> None:
        async def emit(found: list[object]) -> None:
            told.extend(finding.text for finding in found if isinstance(finding, Event))
            os.close(writing)

        with os.fdopen(reading, "rb") as source:
            await read_pipe(source, reader(), emit, SteadyClock())

    anyio.run(main)
    assert told == ["Error: first"]


class Follow:
    """A followed file, and the texts that came of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.texts: list[str] = []
        self.came = anyio.Event()

    async def emit(self, found: list[object]) -> None:
        self.texts += [finding.text for finding in found if isinstance(finding, Event)]
        self.came.set()

    async def wait_for(self, number: int) -> None:
        while len(self.texts) < number:
            await self.came.wait()
            self.came = anyio.Event()

    async def run(self) -> None:
        await follow_file(self.path, reader(), self.emit, SteadyClock(), from_start=True, period=Millis(5))


def test_a_file_is_followed_over_its_birth_growth_rotation_and_truncation(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    follow = Follow(log)

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow.run)
            log.write_text("Error: born\n")
            await follow.wait_for(1)
            with log.open("a") as more:
                more.write("Error: grown\n")
            await follow.wait_for(2)
            with log.open("a") as more:
                more.write("Error: last of the old\n")
            log.rename(tmp_path / "web.log.1")
            log.write_text("Error: first of the new\n")
            await follow.wait_for(4)
            log.write_text("Error: cut\n")
            await follow.wait_for(5)
            tasks.cancel_scope.cancel()

    with anyio.from_thread.start_blocking_portal() as portal:
        portal.call(main)
    assert follow.texts == ["Error: born", "Error: grown", "Error: last of the old", "Error: first of the new", "Error: cut"]


def test_only_what_is_added_is_read_unless_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("old\n")
    followed = Followed(log, from_start=False)
    assert followed.read() == b""
    with log.open("a") as more:
        more.write("new\n")
    assert followed.read() == b"new\n"
    followed.close()


def test_a_file_rewritten_in_place_to_the_same_length_or_more_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("one two\n")
    followed = Followed(log, from_start=True)
    assert followed.read() == b"one two\n"
    with log.open("r+") as file:
        file.write("ONE TWO\nthree\n")
    assert followed.read() == b"ONE TWO\nthree\n"
    followed.close()


def test_a_file_that_vanishes_and_comes_back_is_read_from_its_first_byte(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("one\n")
    followed = Followed(log, from_start=True)
    assert followed.read() == b"one\n"
    log.unlink()
    assert followed.read() == b""
    log.write_text("two\n")
    assert followed.read() == b"two\n"
    followed.close()


GOOD = b'{"text":"boom","scope":"web","severity":"error"}'


def test_each_good_line_is_an_event_and_each_bad_one_is_told_with_its_number() -> None:
    lines = EventLines()
    items = lines.feed(GOOD + b'\n\n{"text":3}\n{"txt":"typo"}\nx\n{"text":"  "}\n' + GOOD)
    items += lines.close()
    assert items == [
        Event(text="boom", scope="web", severity="error"),
        BadLine(number=3, problem="Expected `str`, got `int` - at `$.text`"),
        BadLine(number=4, problem="Object contains unknown field `txt`"),
        BadLine(number=5, problem="JSON is malformed: invalid character (byte 0)"),
        BadLine(number=6, problem="text is empty - at `$.text`"),
        Event(text="boom", scope="web", severity="error"),
    ]


@pytest.mark.parametrize("bad", [b"[" * 100_000, b'{"text":"\xff"}', b'{"text":"x","severity":"awful"}', b"null", b"\x00"])
def test_whatever_a_line_holds_the_next_one_is_read(bad: bytes) -> None:
    first, second = EventLines().feed(bad + b"\n" + GOOD + b"\n")
    assert isinstance(first, BadLine)
    assert isinstance(second, Event)


def test_a_line_beyond_the_bound_is_bad_and_bounded() -> None:
    lines = EventLines()
    for _ in range(40):
        assert lines.feed(b"x" * 65_536) == []
    assert lines.feed(b"\n" + GOOD + b"\n") == [
        BadLine(number=1, problem=f"longer than {LONGEST_LINE} bytes"),
        Event(text="boom", scope="web", severity="error"),
    ]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_events_do_not_depend_on_the_cuts_between_reads(cuts: list[int]) -> None:
    data = (GOOD + b"\n\nbad\n") * 3 + GOOD
    whole = EventLines()
    expected = whole.feed(data) + whole.close()

    async def pieces() -> AsyncIterator[bytes]:
        place = 0
        for cut in cuts:
            yield data[place : place + cut]
            place += cut
        yield data[place:]

    async def main() -> list[Event | BadLine]:
        return [item async for item in read_events(pieces())]

    assert anyio.run(main) == expected
