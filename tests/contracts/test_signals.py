"""Signals travel as one word and a few fields, and nothing that is not a signal passes for one."""

from typing import get_args

import msgspec
import pytest

from tocsin.contracts.signals import Cleared, LaneFact, LaneSignal, Output, ProcessExited, ScopeFact, ScopeSignal, Signal

KINDS = [*get_args(ScopeFact), *get_args(LaneFact), Cleared]


def example(kind: type) -> object:
    needed = {"size": 10, "ok": True, "key": "quiet"}
    fields = {field.name: needed[field.name] for field in msgspec.structs.fields(kind) if field.name in needed}
    where = {"scope": "web"} if issubclass(kind, ScopeSignal) else {"lane": "dev"}
    return kind(**where, **fields)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_signal_comes_back_from_json_as_itself(kind: type) -> None:
    signal = example(kind)
    assert msgspec.json.decode(msgspec.json.encode(signal), type=Signal) == signal


def test_no_two_signals_share_a_word() -> None:
    words = [kind.__struct_config__.tag for kind in KINDS]
    assert len(set(words)) == len(words) == 25


def test_a_signal_tells_itself_by_the_field_signal() -> None:
    assert msgspec.json.decode(msgspec.json.encode(Output(lane="dev", size=12))) == {
        "signal": "output", "at": None, "lane": "dev", "size": 12,
    }  # fmt: skip


def test_an_unknown_signal_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="signal"):
        msgspec.json.decode(b'{"signal": "reboot", "lane": "dev"}', type=Signal)


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(msgspec.ValidationError, match="lanes"):
        msgspec.json.decode(b'{"signal": "paused", "lane": "dev", "lanes": []}', type=Signal)


def test_facts_about_scopes_and_about_lanes_are_two_families() -> None:
    assert all(issubclass(kind, ScopeSignal) and not issubclass(kind, LaneSignal) for kind in get_args(ScopeFact))
    assert all(issubclass(kind, LaneSignal) and not issubclass(kind, ScopeSignal) for kind in get_args(LaneFact))


def test_an_exit_without_more_is_a_clean_one() -> None:
    assert ProcessExited(scope="web") == ProcessExited(scope="web", code=0, died_of="")
