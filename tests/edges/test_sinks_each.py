"""Each sink's own word besides: cursors, exit codes, threads, file modes."""

import gc
import os
import stat
import sys
import threading
import time
from pathlib import Path

import anyio
import msgspec
import pytest

from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import SinkBusy, SinkGone
from tocsin.edges.sinks.call import CallSink
from tocsin.edges.sinks.check import TEXTS, check_sink, delivery_of
from tocsin.edges.sinks.command import CommandSink
from tocsin.edges.sinks.inbox import InboxSink
from tocsin.edges.sinks.spill import KEPT, SpillSink
from tocsin.edges.sinks.stream import StreamSink

OK = Receipt(proof=Proof.OFFERED)


def given(text: str = "hello", number: int = 1, lane: str = "dev", **fields: object) -> Delivery:
    return msgspec.structs.replace(delivery_of(text, number, lane), **fields)


def deliver(sink, delivery: Delivery) -> Receipt:
    return anyio.run(sink.deliver, delivery)


# The inbox


def test_the_inbox_is_read_by_a_cursor_and_reading_takes_nothing_away() -> None:
    inbox = InboxSink()
    for number in range(5):
        assert inbox.put(given(f"text {number}", number)) == Receipt(proof=Proof.RECORDED)
    assert [cursor for cursor, _ in inbox.pull()] == [1, 2, 3, 4, 5]
    assert [(cursor, one.text) for cursor, one in inbox.pull(after=2, most=2)] == [(3, "text 2"), (4, "text 3")]
    assert (inbox.ack(3), len(inbox), inbox.ack(3)) == (3, 2, 0)
    assert [cursor for cursor, _ in inbox.pull()] == [4, 5], "a cursor is never used again"
    inbox.put(given("text 5", 5))
    assert inbox.pull(after=5)[0][0] == 6


def test_a_full_inbox_refuses_and_pushes_nothing_unread_out() -> None:
    inbox = InboxSink(limit=2)
    inbox.put(given("a", 1))
    inbox.put(given("b", 2))
    with pytest.raises(SinkBusy, match="holds 2 deliveries that nobody has acknowledged"):
        inbox.put(given("c", 3))
    assert inbox.put(given("b", 2)).note == "had it already"
    assert [one.text for _, one in inbox.pull()] == ["a", "b"]


# The stream


def test_a_line_of_the_stream_is_the_whole_delivery(tmp_path: Path) -> None:
    path, sent = tmp_path / "out.jsonl", given("a\nb 🛒", suppressed={"info": 3}, overdue=True)
    with path.open("wb") as out:
        assert deliver(StreamSink(out), sent).proof is Proof.OFFERED
        assert path.read_bytes().count(b"\n") == 1, "it is flushed before it is acknowledged"
    assert msgspec.json.decode(path.read_bytes(), type=Delivery) == sent


def test_a_reader_that_went_away_is_gone_for_good() -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb", buffering=0) as out, pytest.raises(SinkGone, match="nobody reads"):  # noqa: PTH123
        deliver(StreamSink(out), given())


def test_a_stream_that_was_closed_is_tried_again_until_the_attempts_are_used_up(tmp_path: Path) -> None:
    out = (tmp_path / "out").open("wb")
    out.close()
    with pytest.raises(SinkBusy, match="can't be written"):
        deliver(StreamSink(out), given())


class Dribbles:
    """Takes a hundred bytes at a time, and lets other threads go in between."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> int:
        time.sleep(0)  # no wait: it only gives the turn to another thread
        self.data += data[:100]
        return min(100, len(data))

    def flush(self) -> None: ...

    def texts(self) -> list[str]:
        return [msgspec.json.decode(line)["text"] for line in self.data.splitlines()]


def test_a_stream_that_takes_a_line_in_parts_gets_all_of_it() -> None:
    sink = StreamSink(out := Dribbles())
    for number, text in enumerate(TEXTS):
        deliver(sink, given(text, number))
    assert out.texts() == list(TEXTS)


def test_lanes_that_share_such_a_stream_do_not_mix() -> None:
    made: list[tuple[StreamSink, Dribbles]] = []

    def make() -> StreamSink:
        made.append((StreamSink(out := Dribbles()), out))
        return made[-1][0]

    check_sink(make, read=lambda sink: next(out.texts() for one, out in made if one is sink))


# The command


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_program_is_told_which_delivery_it_is_and_for_whom(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = f"import os; open({str(out)!r}, 'w').write(os.environ['TOCSIN_DELIVERY'] + ' ' + os.environ['TOCSIN_LANE'])"
    assert deliver(CommandSink(python(code)), given("x", 7, "my lane")) == OK
    assert out.read_text() == "my lane-d7 my lane"


def test_the_block_is_the_programs_whole_input(tmp_path: Path) -> None:
    out = tmp_path / "out"
    deliver(CommandSink(["sh", "-c", f"cat > '{out}'"]), given("a\n\nb"))
    assert out.read_bytes() == b"a\n\nb\n"


@pytest.mark.parametrize("code", [1, 75])
def test_a_program_that_fails_is_tried_again(code: int) -> None:
    with pytest.raises(SinkBusy, match=f"ended with {code}"):
        deliver(CommandSink(["sh", "-c", f"exit {code}"]), given())


def test_what_a_program_complained_of_last_says_why_it_failed_and_the_screen_is_left_alone(capfd) -> None:
    with pytest.raises(SinkBusy, match="ended with 1: no display$"):
        deliver(CommandSink(["sh", "-c", "echo shown; echo first >&2; echo no display >&2; exit 1"]), given())
    assert capfd.readouterr() == ("", "")


def test_a_program_that_reads_nothing_and_is_content_accepts() -> None:
    assert deliver(CommandSink(["true"]), given("€" * 10_000)) == OK


def test_a_program_that_is_not_there_is_gone_and_one_that_may_not_run_is_tried_again(tmp_path: Path) -> None:
    with pytest.raises(SinkGone, match="there is no program 'no-such-program-here'"):
        deliver(CommandSink(["no-such-program-here"]), given())
    (tmp_path / "plain").write_text("echo")
    with pytest.raises(SinkBusy, match="could not be started"):
        deliver(CommandSink([str(tmp_path / "plain")]), given())


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    sink = CommandSink(["sh", "-c", f"echo $$ > '{pid}'; exec sleep 600"], timeout=0.3)
    with pytest.raises(SinkBusy, match=r"did not end within 0\.3 s"):
        deliver(sink, given())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_cancelled_delivery_ends_its_program(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    sink = CommandSink(["sh", "-c", f"echo $$ > '{pid}'; exec sleep 600"])

    async def cancel() -> int:
        async with anyio.create_task_group() as group:
            group.start_soon(sink.deliver, given())
            process = int(await anyio.Path(pid).read_text())
            group.cancel_scope.cancel()
        return process

    with pytest.raises(ProcessLookupError):
        os.kill(anyio.run(cancel), 0)


def test_a_delivery_that_is_cancelled_at_any_moment_leaves_no_program_and_no_open_pipe() -> None:
    async def cancel(turns: int) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(CommandSink(["sleep", "600"]).deliver, given("€" * 9_000))
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    anyio.run(cancel, 0)
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - open descriptors are no files
    for turns in range(30):
        anyio.run(cancel, turns)
        gc.collect()  # what was left open would be complained of here, which fails the test
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


# A function


def test_a_function_may_answer_with_a_receipt_of_its_own() -> None:
    own = Receipt(proof=Proof.SEEN, note="the recipient said so")
    assert deliver(CallSink(lambda delivery: own), given()) is own
    assert deliver(CallSink(lambda delivery: "anything else"), given()) == OK


def test_a_plain_function_runs_in_a_thread_and_a_coroutine_function_in_the_loop() -> None:
    ran: list[threading.Thread] = []

    async def in_the_loop(delivery: Delivery) -> None:
        ran.append(threading.current_thread())

    deliver(CallSink(lambda delivery: ran.append(threading.current_thread())), given())
    deliver(CallSink(in_the_loop), given())
    assert ran[0] is not threading.current_thread()
    assert ran[1] is threading.current_thread()


def test_a_function_that_answers_with_a_coroutine_is_awaited() -> None:
    got = []

    async def later(delivery: Delivery) -> None:
        got.append(delivery.text)

    class Starts:
        def __call__(self, delivery: Delivery):
            return later(delivery)

    deliver(CallSink(Starts()), given("hello"))
    assert got == ["hello"]


def test_what_a_function_raises_comes_out_as_it_is() -> None:
    def raises(delivery: Delivery) -> None:
        raise LookupError("odd")

    with pytest.raises(LookupError, match="odd"):
        deliver(CallSink(raises), given())


# The spill


def test_spilled_files_are_for_their_owner_alone_and_no_part_is_left(tmp_path: Path) -> None:
    directory = tmp_path / "state" / "spill"
    deliver(SpillSink(directory), given(spill="the whole text"))
    (file,) = directory.iterdir()
    assert (file.name, file.read_text()) == ("dev-d1.txt", "the whole text")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_the_newest_spilled_files_are_kept_and_older_ones_removed(tmp_path: Path) -> None:
    directory = tmp_path / "spill"
    sink = SpillSink(directory)
    for number in range(KEPT + 5):
        deliver(sink, given(number=number, spill=f"text {number}"))
        os.utime(directory / f"dev-d{number}.txt", ns=(number, number))
    deliver(sink, given(number=KEPT + 5, spill="the last"))
    assert sorted(int(path.stem.removeprefix("dev-d")) for path in directory.iterdir()) == list(range(6, KEPT + 6))


def test_a_directory_that_can_not_be_made_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SinkBusy, match="file"):
        deliver(SpillSink(tmp_path / "file" / "spill"), given(spill="x"))
