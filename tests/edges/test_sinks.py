"""Sinks: every kind keeps the promises of a sink, with real files and programs."""

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import msgspec
import pytest

from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import SinkBusy
from tocsin.edges.sinks.call import CallSink
from tocsin.edges.sinks.check import check_sink, delivery_of
from tocsin.edges.sinks.command import CommandSink
from tocsin.edges.sinks.inbox import InboxSink
from tocsin.edges.sinks.spill import SpillSink
from tocsin.edges.sinks.stream import StreamSink

OK = Receipt(proof=Proof.OFFERED)


def given(text: str = "hello", number: int = 1, lane: str = "dev", **fields: object) -> Delivery:
    return msgspec.structs.replace(delivery_of(text, number, lane), **fields)


def deliver(sink, delivery: Delivery) -> Receipt:
    return anyio.run(sink.deliver, delivery)


def test_the_inbox_keeps_the_promises_of_a_sink() -> None:
    def jam(sink: InboxSink) -> Callable[[], object]:
        for number in range(100, 149):
            sink.put(given("fills it", number, "filler"))
        return lambda: sink.ack(50)

    check_sink(
        lambda: InboxSink(limit=50),
        read=lambda sink: [delivery.text for _, delivery in sink.pull()],
        repeats_are_harmless=True,
        jam=jam,
    )


@pytest.mark.parametrize("buffering", [-1, 0])
def test_the_stream_keeps_the_promises_of_a_sink(tmp_path: Path, buffering: int) -> None:
    made: list[tuple[StreamSink, Path]] = []

    class Fills:
        """A file on a disk that is full as long as ``full`` says so."""

        def __init__(self, path: Path) -> None:
            self._file = path.open("wb", buffering=buffering)
            self.full = False

        def write(self, data: bytes) -> int:
            if self.full:
                raise OSError(28, "No space left on device")
            return self._file.write(data)

        def flush(self) -> None:
            self._file.flush()

    def make() -> StreamSink:
        path = tmp_path / f"{len(made)}.jsonl"
        sink = StreamSink(out := Fills(path))
        made.append((sink, path))
        sink.out = out
        return sink

    def read(sink: StreamSink) -> list[str]:
        path = next(path for one, path in made if one is sink)
        return [msgspec.json.decode(line, type=Delivery).text for line in path.read_bytes().splitlines()]

    def jam(sink: StreamSink) -> Callable[[], object]:
        sink.out.full = True
        return lambda: setattr(sink.out, "full", False)

    check_sink(make, read=read, jam=jam)
    for sink, _ in made:
        sink.out._file.close()


RECEIVER = """
test -e busy && exit 75
cat > ".$TOCSIN_DELIVERY" && mv ".$TOCSIN_DELIVERY" "$TOCSIN_DELIVERY" && echo "$TOCSIN_DELIVERY" >> order
"""


def test_the_command_keeps_the_promises_of_a_sink(tmp_path: Path) -> None:
    made: list[tuple[CommandSink, Path]] = []

    def make() -> CommandSink:
        directory = tmp_path / str(len(made))
        directory.mkdir()
        sink = CommandSink(["sh", "-c", f"cd '{directory}' && {RECEIVER}"])
        made.append((sink, directory))
        return sink

    def place(sink: CommandSink) -> Path:
        return next(directory for one, directory in made if one is sink)

    def read(sink: CommandSink) -> list[str]:
        order = place(sink) / "order"
        names = order.read_text().split() if order.exists() else []
        return [(place(sink) / name).read_bytes().decode().removesuffix("\n") for name in names]

    def jam(sink: CommandSink) -> Callable[[], object]:
        (place(sink) / "busy").touch()
        return (place(sink) / "busy").unlink

    check_sink(make, read=read, jam=jam)


@pytest.mark.parametrize("kind", ["function", "coroutine function", "method"])
def test_a_called_function_keeps_the_promises_of_a_sink(kind: str) -> None:
    made: list[tuple[CallSink, SimpleNamespace]] = []

    def make() -> CallSink:
        kept = SimpleNamespace(texts=[], busy=False)

        def take(delivery: Delivery) -> None:
            if kept.busy:
                raise SinkBusy("later")
            kept.texts.append(delivery.text)

        async def take_in_the_loop(delivery: Delivery) -> None:
            await anyio.lowlevel.checkpoint()
            take(delivery)

        class Taker:
            def take(self, delivery: Delivery) -> None:
                take(delivery)

        sink = CallSink({"function": take, "coroutine function": take_in_the_loop, "method": Taker().take}[kind])
        made.append((sink, kept))
        return sink

    def kept(sink: CallSink) -> SimpleNamespace:
        return next(kept for one, kept in made if one is sink)

    def jam(sink: CallSink) -> Callable[[], object]:
        kept(sink).busy = True
        return lambda: setattr(kept(sink), "busy", False)

    check_sink(make, read=lambda sink: kept(sink).texts, jam=jam)


def test_the_spill_keeps_the_promises_of_a_sink(tmp_path: Path) -> None:
    made: list[tuple[SpillSink, Path]] = []

    def make() -> SpillSink:
        directory = tmp_path / str(len(made)) / "spill"
        made.append((SpillSink(directory), directory))
        return made[-1][0]

    def place(sink: SpillSink) -> Path:
        return next(directory for one, directory in made if one is sink)

    def read(sink: SpillSink) -> list[str]:
        files = sorted(place(sink).glob("*.txt"), key=lambda path: path.stat().st_mtime_ns)
        return [path.read_bytes().decode() for path in files]

    def jam(sink: SpillSink) -> Callable[[], object]:
        here, aside = place(sink), place(sink).with_name("aside")
        here.rename(aside)
        here.write_text("no directory")

        def free() -> None:
            here.unlink()
            aside.rename(here)

        return free

    def whole(text: str, number: int, lane: str) -> Delivery:
        return given("what was shown of it", number, lane, spill=text)

    check_sink(make, read=read, repeats_are_harmless=True, jam=jam, deliver=whole)


def test_every_registered_sink_that_needs_no_argument_keeps_the_promises_of_a_sink() -> None:
    checked = []
    for entry in importlib.metadata.entry_points(group="tocsin.sinks"):
        kind = entry.load()
        try:
            kind()
        except TypeError:
            continue  # it has to be told where to write to
        check_sink(kind)
        checked.append(entry.name)
    assert "inbox" in checked
