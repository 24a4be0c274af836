"""A sink is opened by the name under which it is registered, or a clear error says what there is."""

import json
from pathlib import Path

import anyio
import pytest

from tocsin import BadInput
from tocsin.contracts.deliveries import Delivery, Proof
from tocsin.edges.sinks.command import CommandSink
from tocsin.edges.sinks.inbox import InboxSink
from tocsin.edges.sinks.named import open_sink
from tocsin.edges.sinks.stream import StreamSink

BLOCK = Delivery(id="k-d1", lane="dev", at=1_700_000_000_000, text="one block\nof two lines 🔔", entries=())


def test_a_stream_appends_to_its_file_which_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "deliveries.jsonl"
    for _ in range(2):
        sink = open_sink(f"stream:{path}")
        assert isinstance(sink, StreamSink)
        assert anyio.run(sink.deliver, BLOCK).proof is Proof.OFFERED
        sink.close()
    assert [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()] == [BLOCK.text] * 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_command_is_taken_apart_as_a_shell_does_it(tmp_path: Path) -> None:
    sink = open_sink(f"command:sh -c 'cat > \"{tmp_path}/got it.txt\"'")
    assert isinstance(sink, CommandSink)
    anyio.run(sink.deliver, BLOCK)
    assert (tmp_path / "got it.txt").read_text(encoding="utf-8") == BLOCK.text + "\n"


def test_an_inbox_is_opened_with_its_limit() -> None:
    inbox = open_sink("inbox:1")
    assert isinstance(inbox, InboxSink)
    inbox.put(BLOCK)
    assert len(inbox) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("smoke:signal", "no sink called 'smoke'; there are: command, inbox, pty, stream"),
        ("stream:/nowhere/at/all.jsonl", "can't be written"),
        ("command:", "which command"),
        ("command:'open", "is no command"),
        ("command:no-such-program-here --now", "there is no program 'no-such-program-here'"),
        ("inbox:many", "how many deliveries"),
        ("inbox:0", "how many deliveries"),
        ("pty:", "can't be opened by name"),
    ],
)
def test_what_can_t_be_opened_is_said_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        open_sink(text)
