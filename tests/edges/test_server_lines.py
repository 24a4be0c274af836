"""Lines over a stream: the same whatever the cuts between reads, never longer than agreed, never waited for for ever."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.errors import TooLong
from tocsin.edges.server.lines import Lines


class Pieces:
    """A stream that gives what it is told to, piece by piece, and then ends, or is silent for ever."""

    def __init__(self, pieces: list[bytes], *, silent: bool = False) -> None:
        self._pieces = list(pieces)
        self._silent = silent

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        await anyio.lowlevel.checkpoint()
        if self._pieces:
            return self._pieces.pop(0)
        if self._silent:
            await anyio.sleep_forever()
        raise anyio.EndOfStream


def read(pieces: list[bytes], limit: int = 100, *, silent: bool = False) -> list[bytes]:
    async def main() -> list[bytes]:
        lines, found = Lines(Pieces(pieces, silent=silent), limit), []
        while line := await lines.next(idle=0.05, whole_within=0.05):
            found.append(line)
        return found

    return anyio.run(main)


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_are_the_same_whatever_the_cuts(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read([piece for piece in pieces if piece]) == [line for line in lines if line.strip()]


def test_half_a_line_before_the_end_is_no_line() -> None:
    assert read([b"one\ntw", b"o"]) == [b"one"]


@pytest.mark.parametrize(("line", "fits"), [(b"x" * 99 + b"\n", True), (b"x" * 100 + b"\n", False), (b"x" * 99, False)])
def test_a_line_has_at_most_its_limit_with_its_line_feed(line: bytes, fits: bool) -> None:
    if line.endswith(b"\n") and fits:
        assert read([line]) == [line[:-1]]
    elif line.endswith(b"\n"):
        with pytest.raises(TooLong):
            read([line])
    else:
        assert read([line]) == []


def test_a_line_without_an_end_is_given_up_as_soon_as_it_is_too_long() -> None:
    with pytest.raises(TooLong):
        read([b"x" * 50, b"x" * 50, b"x" * 50], silent=True)


def test_silence_and_half_a_line_are_waited_for_only_so_long() -> None:
    with pytest.raises(TimeoutError):
        read([], silent=True)
    with pytest.raises(TimeoutError):
        read([b"half"], silent=True)
