"""Attention: the table of transitions, the choice of the next item, and when two commands are the same."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.attention import Packet
from tocsin.contracts.attention_answers import Code, Refusal
from tocsin.contracts.attention_commands import Defer, Summon
from tocsin.contracts.attention_facts import Request
from tocsin.contracts.attention_items import TERMINAL, State
from tocsin.pipeline.attention import TRANSITIONS, Candidate, after, select_next
from tocsin.pipeline.attention_requests import bare, content_of, read_command, request_of

ID = "8ba99410-c894-4632-aea6-b33a06a6b015"
PACKET: dict[str, Any] = {
    "human_id": "hakon",
    "project_id": "film",
    "work_id": "caf\u00e9",
    "intervention_key": "k",
    "kind": "review",
    "title": "Title \u00e9",
    "requested_action": "a",
    "context": "c",
    "unblocks": "u",
}


def test_the_whole_table_of_transitions() -> None:
    lines = {f"{state} -{act}-> {to}" for act, moves in TRANSITIONS.items() for state, to in moves.items()}
    assert lines == {
        "queued -claim-> active",
        "active -resolve-> resolved",
        "queued -defer-> deferred",
        "active -defer-> deferred",
        "deferred -promote-> queued",
        "deferred -requeue-> queued",
        "queued -cancel-> cancelled",
        "deferred -cancel-> cancelled",
        "active -cancel-> cancelled",
        "queued -withdraw-> cancelled",
        "deferred -withdraw-> cancelled",
        "queued -amend-> queued",
        "deferred -amend-> deferred",
        "active -amend-> active",
        "resolved -retry_return-> resolved",
        "resolved -reroute_return-> resolved",
    }


def test_an_end_is_an_end() -> None:
    for act in TRANSITIONS:
        assert all(after(act, state) in (None, state) for state in TERMINAL)
    assert after("resolve", State.QUEUED) is None


CANDIDATES = st.lists(st.builds(Candidate, st.integers(1, 50), st.integers(1, 50)), unique_by=lambda one: one.item_id)


@given(CANDIDATES, st.none() | st.integers(1, 50), st.randoms())
def test_the_one_that_is_ready_longest_comes_first_unless_one_is_picked(line: Any, pick: int | None, chance: Any) -> None:
    chosen = select_next(line, pick)
    chance.shuffle(line)
    assert select_next(line, pick) == chosen, "the order in which they are given is none"
    if pick is not None:
        assert chosen == ((pick, "explicit_pick") if pick in {one.item_id for one in line} else None)
    else:
        assert chosen == ((sorted(line)[0].item_id, "fifo") if line else None)


def test_of_two_with_the_same_place_the_older_item_comes_first() -> None:
    assert select_next([Candidate(1, 9), Candidate(1, 3)]).item_id == 3


# Requests


def encoded(payload: dict[str, Any], action: str = "summon", **options: Any) -> bytes:
    envelope = {"schema_version": 1, "command_id": ID, "action": action, "payload": payload}
    return json.dumps(envelope, **options).encode()


def taken(data: bytes) -> Request:
    request = read_command(data)
    assert isinstance(request, Request), request
    return request


def test_the_same_content_is_the_same_however_it_is_spelt() -> None:
    """H06: other order of keys, white space, escapes; composed and decomposed letters; another offset of the same moment."""
    first = taken(encoded({**PACKET, "deadline_at": "2026-10-13T09:00:00Z"}))
    backwards = dict(reversed({**PACKET, "deadline_at": "2026-10-13T09:00:00Z"}.items()))
    others = [
        encoded(backwards),
        encoded({**PACKET, "deadline_at": "2026-10-13T09:00:00Z"}, indent=4),
        encoded({**PACKET, "deadline_at": "2026-10-13T09:00:00Z"}, ensure_ascii=False),
        encoded({**PACKET, "deadline_at": "2026-10-13T11:00:00.000+02:00"}),
        encoded({**PACKET, "deadline_at": "2026-10-13T09:00:00Z", "artifacts": [], "estimate_minutes": None}),
        encoded({**PACKET, "deadline_at": "2026-10-13T09:00:00Z", "work_id": "cafe\u0301", "title": "Title e\u0301"}),
        encoded({**PACKET, "deadline_at": "2026-10-13T09:00:00Z"}).replace(ID.encode(), ID.upper().encode()),
    ]
    for other in others:
        again = taken(other)
        assert (again.digest, again.content) == (first.digest, first.content)
        assert (again.command.command_id, again.command.payload.work_id) == (ID, "caf\u00e9")
        assert again.command.payload.deadline_at == "2026-10-13T09:00:00.000Z"


@given(st.sampled_from(sorted(PACKET)), st.text("abc", min_size=1, max_size=3))
def test_one_changed_character_is_another_content(field: str, more: str) -> None:
    changed = {**PACKET, field: {"kind": "decision"}.get(field, PACKET[field] + more)}
    first, other = taken(encoded(PACKET)), taken(encoded(changed))
    assert first.digest != other.digest
    assert first.content != other.content


def test_what_is_asked_of_whom_is_part_of_the_command_and_not_of_the_packet() -> None:
    summon, add, start = (taken(encoded(PACKET, action)) for action in ("summon", "add", "start"))
    assert len({summon.digest, add.digest, start.digest}) == 3
    assert summon.content == add.content == start.content
    with_source = taken(encoded({**PACKET, "source_id": "s1"}, "add"))
    assert with_source.content not in (add.content, "")
    assert content_of(bare(with_source.command.payload), "s1") == with_source.content


def test_a_text_is_kept_as_it_was_written() -> None:
    said = "a\x1b[31m\u202e e\u0301 <b>"
    assert taken(encoded({**PACKET, "context": said})).command.payload.context == said


def test_an_amendment_to_null_is_not_one_that_says_nothing() -> None:
    null = {"item_id": 1, "expected_revision": 1, "title": "t", "estimate_minutes": None}
    absent = {name: value for name, value in null.items() if name != "estimate_minutes"}
    assert taken(encoded(null, "amend")).digest != taken(encoded(absent, "amend")).digest


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "malformed"),
        (b"{", "malformed"),
        (b"nonsense", "malformed"),
        (encoded(PACKET).replace(b"film", b"f\xff"), "malformed"),
        (b'{"a":' * 10_000, "malformed"),
        (b"[]", "invalid"),
        (b"{}", "invalid"),
        (b'{"action": "next"}', "invalid"),
        (encoded({**PACKET, "more": 1}), "invalid"),
        (encoded({**PACKET, "title": "x" * 161}), "invalid"),
        (encoded({**PACKET, "deadline_at": "2026-02-30T00:00:00Z"}), "invalid"),
        (encoded({"item_id": 1, "expected_revision": 1, "reason": "r", "until": "1969-01-01T00:00:00Z"}, "defer"), "invalid"),
        (encoded({**PACKET, "context": "x" * 65_536}), "too_large"),
    ],
)
def test_what_is_no_command_is_refused_with_its_reason(data: bytes, code: str) -> None:
    refusal = read_command(data)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code
    assert refusal.message


def test_a_command_may_have_64_kib_and_not_a_byte_more() -> None:
    exact = encoded(PACKET)
    assert isinstance(read_command(exact + b" " * (65_536 - len(exact))), Request)
    refusal = read_command(exact + b" " * (65_537 - len(exact)))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.numbers) == (Code.TOO_LARGE, (413, 2))


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_answered_and_never_a_crash(data: bytes) -> None:
    assert isinstance(read_command(data), Refusal)


def test_a_command_that_was_built_here_is_checked_as_one_from_outside() -> None:
    good = Summon(schema_version=1, command_id=ID, payload=Packet(**PACKET))
    assert request_of(good) == read_command(encoded(PACKET))
    bad = msgspec.structs.replace(good, payload=Packet(**{**PACKET, "title": ""}))
    assert request_of(bad).code == "invalid"
    half = msgspec.structs.replace(good, payload=Packet(**{**PACKET, "title": "\ud800"}))
    assert request_of(half).code == "invalid"


def test_the_moment_of_a_deferral_is_in_utc() -> None:
    payload = {"item_id": 1, "expected_revision": 1, "reason": "r", "until": "2026-10-13T09:00:00.1239-04:30"}
    command = taken(encoded(payload, "defer")).command
    assert isinstance(command, Defer)
    assert command.payload.until == "2026-10-13T13:30:00.123Z"
