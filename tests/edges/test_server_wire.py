"""The wire: strict on the way in, in words on the way out, and no bytes at all that can hurt a server."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import BadInput, Event
from tocsin.contracts import wire
from tocsin.contracts.signals import Cleared, Paused, ProcessExited

EVENT = b'{"op":"feed","items":[{"text":"a"}]}'


def items_of(line: bytes) -> list[object]:
    request = wire.read_request(line)
    assert isinstance(request, wire.Feed)
    found: list[object] = []
    for raw in request.items:
        try:
            found.append(wire.read_item(raw))
        except BadInput as error:
            found.append(str(error))
    return found


def test_every_request_comes_back_as_it_was_sent() -> None:
    requests = [
        wire.Hello(token="t"),
        wire.AskStatus(),
        wire.Explain(what="x-1"),
        wire.AskDecisions(after=7),
        wire.AskLetters(),
        wire.Retry(id="x-1"),
        wire.Pause(),
        wire.Resume(),
    ]
    for request in requests:
        line = wire.line_of(request)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        assert wire.read_request(line[:-1]) == request


def test_events_and_signals_keep_their_order_and_their_kind() -> None:
    sent = [
        Event(text="a"),
        ProcessExited(scope="web", code=1),
        Event(text="signal"),
        Cleared(lane="dev", key="k"),
        Paused(lane="d"),
    ]
    line = wire.line_of(wire.Feed(items=tuple(map(wire.raw, sent))))
    assert items_of(line[:-1]) == sent


def test_a_request_of_another_protocol_is_refused_by_its_number() -> None:
    with pytest.raises(BadInput, match="speaks protocol 1, not 2"):
        wire.read_request(b'{"op":"status","v":2}')


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(BadInput, match="unknown field `aftre`"):
        wire.read_request(b'{"op":"decisions","aftre":1}')


def test_an_unknown_request_is_named() -> None:
    with pytest.raises(BadInput, match="Invalid value 'shutdown'"):
        wire.read_request(b'{"op":"shutdown"}')


def test_one_bad_item_does_not_keep_the_others_out() -> None:
    line = b'{"op":"feed","items":[{"text":"a"},{"txt":"b"},{"signal":"no_such"},7,{"text":"c","severity":"bad"},{"text":"d"}]}'
    first, unknown, signal, number, severity, last = items_of(line)
    assert (first, last) == (Event(text="a"), Event(text="d"))
    assert "unknown field `txt`" in str(unknown)
    assert "no signal: Invalid value 'no_such'" in str(signal)
    assert "Expected `object`, got `int`" in str(number)
    assert "Invalid enum value 'bad'" in str(severity)


def test_half_characters_become_replacement_characters() -> None:
    assert items_of(rb'{"op":"feed","items":[{"text":"a\ud800b"},{"text":"c"}]}') == [Event(text="a\ufffdb"), Event(text="c")]


def test_whole_characters_written_as_two_halves_stay_whole() -> None:
    assert items_of(rb'{"op":"feed","items":[{"text":"\ud83d\ude00"},{"text":"\udc00"}]}') == [
        Event(text="😀"),
        Event(text="\ufffd"),
    ]


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert items_of(b'{"op":"feed","items":[{"text":"a\xffb"}]}') == [Event(text="a\ufffdb")]


def test_what_is_no_number_costs_only_its_own_item() -> None:
    first, second = items_of(b'{"op":"feed","items":[{"text":NaN},{"text":"b"}]}')
    assert "no event" in str(first)
    assert second == Event(text="b")


def test_deep_nesting_is_refused_in_words() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    with pytest.raises(BadInput, match="nested too deeply"):
        wire.read_request(b'{"op":"feed","items":[' + deep + b"]}")
    with pytest.raises(BadInput):
        wire.read_answer(deep)


def test_an_event_with_half_characters_can_be_sent() -> None:
    raw = wire.raw(Event(text="x\ud800", scope="\udfff"))
    assert wire.read_item(raw) == Event(text="x\ufffd", scope="\ufffd")
    answer = wire.Failed(code="bad_input", text="\ud800")
    assert wire.read_answer(wire.line_of(answer)) == wire.Failed(code="bad_input", text="\ufffd")


def test_an_answer_of_a_newer_version_with_more_fields_is_still_read() -> None:
    assert wire.read_answer(b'{"answer":"accepted","v":1,"count":3,"newer":true}') == wire.Accepted(count=3)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_bad_input(data: bytes) -> None:
    for line in (data, b'{"op":"feed","items":[' + data + b"]}", b'{"op":"explain","what":"' + data + b'"}'):
        try:
            request = wire.read_request(line)
        except BadInput:
            continue
        for raw in getattr(request, "items", ()):
            try:
                wire.read_item(raw)
            except BadInput:
                continue


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(JSON, max_size=5))
def test_any_json_among_the_items_costs_no_other_item(values: list[object]) -> None:
    good = {"text": "good"}
    line = json.dumps({"op": "feed", "items": [good, *values, good]}).encode()
    found = items_of(line)
    assert len(found) == len(values) + 2
    assert (found[0], found[-1]) == (Event(text="good"), Event(text="good"))


@given(st.text(st.characters()))
def test_every_text_goes_through_but_for_half_characters(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    item = wire.read_item(wire.raw(Event(text=text)))
    assert item == Event(text=whole)
    assert msgspec.json.encode(item)
