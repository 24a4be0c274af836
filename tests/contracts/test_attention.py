"""Attention contract: every limit holds at its edge, nothing unknown comes in, and one table says what a program is told."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin.contracts.attention import MUTABLE, Addition, Amendment, Artifact, Packet
from tocsin.contracts.attention_answers import DONE, MADE, NUMBERS, Code, Receipt, Refusal, Result, code_of, numbers
from tocsin.contracts.attention_commands import ACTIONS_OF_SEATS, ACTIONS_OF_THE_PERSON, Action, Command, Next, action_of
from tocsin.contracts.attention_facts import Edge, Nobody, Operator, Policy, Seat, issuer_of
from tocsin.contracts.attention_schema import FILE, schema, text
from tocsin.contracts.attention_time import instant, iso, iso_or_none
from tocsin.contracts.errors import (
    BadInput,
    Lost,
    NotFound,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreTooNew,
    TimeLimit,
    TocsinError,
    TooLong,
)

PACKET: dict[str, Any] = {
    "human_id": "hakon",
    "project_id": "film",
    "work_id": "w",
    "intervention_key": "k",
    "kind": "review",
    "title": "t",
    "requested_action": "a",
    "context": "c",
    "unblocks": "u",
}
ARTIFACT = {"label": "l", "uri": "https://a.example/x"}
ID = "8ba99410-c894-4632-aea6-b33a06a6b015"


def accepts(kind: type[Any], value: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


TEXTS = {
    "human_id": 80,
    "project_id": 80,
    "work_id": 200,
    "intervention_key": 160,
    "title": 160,
    "requested_action": 1_500,
    "context": 3_000,
    "unblocks": 800,
}


@pytest.mark.parametrize("field", TEXTS)
def test_a_text_has_one_character_to_its_limit(field: str) -> None:
    assert accepts(Packet, {**PACKET, field: "x"})
    assert accepts(Packet, {**PACKET, field: "x" * TEXTS[field]})
    for wrong in ("", " ", "x" * (TEXTS[field] + 1), None, 1):
        assert not accepts(Packet, {**PACKET, field: wrong})
    assert not accepts(Packet, {name: value for name, value in PACKET.items() if name != field})


def test_characters_are_counted_not_bytes() -> None:
    assert accepts(Packet, {**PACKET, "title": "\U0001f3ac" * 160})


@pytest.mark.parametrize("field", ["human_id", "project_id"])
@pytest.mark.parametrize("wrong", ["Film", "a b", "-a", "a/b", "a\n", "ä", "a\x00"])
def test_a_slug_is_lower_case_without_blanks(field: str, wrong: str) -> None:
    assert not accepts(Packet, {**PACKET, field: wrong})
    assert accepts(Packet, {**PACKET, field: "a1-b_c.d"})


@pytest.mark.parametrize("wrong", [" a", "a ", "a\nb", "a\n", "\x1b[31m", "a\tb"])
def test_a_key_is_one_line_without_blanks_around_it(wrong: str) -> None:
    assert not accepts(Packet, {**PACKET, "work_id": wrong})
    assert accepts(Packet, {**PACKET, "work_id": "owner/repo#12 · part β"})


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        ("kind", ["review", "decision", "selection", "unblock", "human_work"], ["Review", "task", ""]),
        ("estimate_minutes", [1, 240, None], [0, 241, 1.5, "8", True]),
        ("deadline_at", ["2026-10-13T09:00:00Z", None], ["2026-10-13", "2026-10-13T09:00:00", "tomorrow", 5]),
        ("predecessor_item_id", [1, None], [0, -1, "1", 2**63]),
        ("schema_version", [1], [2, "1", None]),
        ("artifacts", [[], [ARTIFACT] * 12], [[ARTIFACT] * 13, None, [{}], [{**ARTIFACT, "more": 1}]]),
    ],
)
def test_the_other_fields_of_a_packet_take_what_the_contract_says(field: str, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if not accepts(Packet, {**PACKET, field: value})] == []
    assert [value for value in wrong if accepts(Packet, {**PACKET, field: value})] == []


@pytest.mark.parametrize(
    ("artifact", "right"),
    [
        (ARTIFACT, True),
        ({**ARTIFACT, "version": "v" * 200, "edge_id": "e" * 80}, True),
        ({**ARTIFACT, "label": "l" * 121}, False),
        ({**ARTIFACT, "label": ""}, False),
        ({**ARTIFACT, "version": "v" * 201}, False),
        ({**ARTIFACT, "edge_id": "e" * 81}, False),
        ({**ARTIFACT, "uri": "https://" + "x" * 2_040}, True),
        ({**ARTIFACT, "uri": "https://" + "x" * 2_041}, False),
        ({**ARTIFACT, "uri": "http://a.example"}, False),
        ({**ARTIFACT, "uri": "javascript:alert(1)"}, False),
        ({**ARTIFACT, "uri": "/etc/passwd"}, False),
        ({**ARTIFACT, "uri": "https://a b"}, False),
        ({**ARTIFACT, "uri": "https://a\n"}, False),
        ({**ARTIFACT, "uri": "file:///a/b"}, False),
        ({**ARTIFACT, "uri": "file:///a/b", "edge_id": "mac"}, True),
        ({**ARTIFACT, "uri": "file://host/a", "edge_id": "mac"}, False),
        ({**ARTIFACT, "uri": "file:a/b", "edge_id": "mac"}, False),
        ({**ARTIFACT, "uri": "tocsin:notice/01k2x"}, True),
        ({**ARTIFACT, "uri": "tocsin:attention/42"}, True),
        ({**ARTIFACT, "uri": "tocsin:secret/42"}, False),
        ({**ARTIFACT, "uri": "tocsin:notice/"}, False),
    ],
)
def test_an_artifact_is_a_link_a_handle_or_a_file_of_a_named_machine(artifact: dict[str, Any], right: bool) -> None:
    assert accepts(Artifact, artifact) == right


OF_ITEM = {"item_id": 1, "expected_revision": 1}
ADDED = {**PACKET, "source_id": "s"}
PAYLOADS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "summon": (PACKET, set()),
    "add": (ADDED, {"source_id"}),
    "start": (ADDED, {"source_id"}),
    "amend": ({**OF_ITEM, "title": "t"}, set()),
    "withdraw": ({**OF_ITEM, "reason": "r"}, set()),
    "next": ({"human_id": "hakon", "item_id": 1}, {"item_id"}),
    "resolve": ({**OF_ITEM, "outcome": "approved", "response": "r", "select_next": True}, {"select_next"}),
    "defer": ({**OF_ITEM, "reason": "r", "until": None, "select_next": True}, {"select_next"}),
    "requeue": ({**OF_ITEM, "reason": "r"}, set()),
    "cancel": ({**OF_ITEM, "reason": "r", "select_next": True}, {"select_next"}),
    "retry_return": ({**OF_ITEM, "return_generation": 1}, set()),
    "reroute_return": ({**OF_ITEM, "return_generation": 1, "source_id": "s", "reason": "r"}, set()),
    "source_bind": ({"project_id": "film", "work_id": "w", "return_mode": "none"}, set()),
    "source_revoke": ({"source_id": "s", "reason": "r"}, set()),
}


def envelope(action: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": 1, "command_id": ID, "action": action, "payload": payload}


@pytest.mark.parametrize("action", PAYLOADS)
def test_an_action_takes_its_fields_all_of_them_and_no_other(action: str) -> None:
    payload, optional = PAYLOADS[action]
    command = msgspec.convert(envelope(action, payload), Command)
    assert action_of(command) == action
    assert not accepts(Command, envelope(action, {**payload, "actor": "ariadne"}))
    for field in payload:
        rest = {name: value for name, value in payload.items() if name != field}
        assert accepts(Command, envelope(action, rest)) == (field in optional), field


def test_the_actions_are_named_in_one_list_and_each_has_somebody_who_may_ask_it() -> None:
    assert set(PAYLOADS) == set(Action.__args__)
    assert set(PAYLOADS) == ACTIONS_OF_SEATS | ACTIONS_OF_THE_PERSON
    assert ACTIONS_OF_SEATS.intersection(ACTIONS_OF_THE_PERSON) == {"amend"}


@pytest.mark.parametrize(
    "spoilt",
    [
        {"action": "reopen"},
        {"action": None},
        {"command_id": "1"},
        {"command_id": ID + "\n"},
        {"command_id": ID.replace("-", "")},
        {"schema_version": 2},
        {"schema_version": None},
        {"principal": "operator"},
        {"source_id": "s"},
    ],
)
def test_an_envelope_takes_nothing_else(spoilt: dict[str, Any]) -> None:
    assert accepts(Command, envelope("next", {"human_id": "hakon"}))
    assert not accepts(Command, {**envelope("next", {"human_id": "hakon"}), **spoilt})
    for field in ("schema_version", "command_id", "action", "payload"):
        assert not accepts(Command, {k: v for k, v in envelope("next", {"human_id": "hakon"}).items() if k != field})


def test_an_amendment_changes_the_seven_fields_that_may_change_and_at_least_one() -> None:
    assert MUTABLE == ("title", "requested_action", "context", "unblocks", "artifacts", "estimate_minutes", "deadline_at")
    assert not accepts(Amendment, OF_ITEM)
    for fixed in ("kind", "project_id", "work_id", "intervention_key", "human_id", "predecessor_item_id", "source_id"):
        assert not accepts(Amendment, {**OF_ITEM, "title": "t", fixed: ADDED.get(fixed, 1)})


@pytest.mark.parametrize(
    "outcome", ["approved", "changes_requested", "answered", "selected", "delegated", "completed", "merged"]
)
def test_an_outcome_is_one_of_six_words(outcome: str) -> None:
    payload = {**PAYLOADS["resolve"][0], "outcome": outcome}
    assert accepts(Command, envelope("resolve", payload)) == (outcome != "merged")


def test_an_answer_has_four_thousand_characters_at_most() -> None:
    payload = PAYLOADS["resolve"][0]
    assert accepts(Command, envelope("resolve", {**payload, "response": "x" * 4_000}))
    assert not accepts(Command, envelope("resolve", {**payload, "response": "x" * 4_001}))
    assert not accepts(Command, envelope("resolve", {**payload, "response": " \n"}))


# Time


@given(st.integers(0, 253_402_300_799_999))
def test_a_moment_is_written_as_the_calendar_says_and_read_back(at: int) -> None:
    written = iso(at)
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    assert written == expected.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert instant(written) == at
    assert iso_or_none(at) == written


@given(
    st.datetimes(datetime(1970, 1, 3), datetime(9999, 12, 29)),
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
    st.sampled_from(["seconds", "milliseconds", "microseconds"]),
)
def test_a_time_with_any_offset_is_the_same_moment(local: datetime, ahead: int, precision: str) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=ahead)))
    shown = moment.isoformat(timespec=precision)
    since = datetime.fromisoformat(shown) - datetime(1970, 1, 1, tzinfo=UTC)
    assert instant(shown) == since // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    "wrong",
    [
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00+0200", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z\n", "1970-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00", "٢٠٢٦-01-01T00:00:00Z", "", "now",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"no time|outside"):
        instant(wrong)


def test_the_edges_of_time() -> None:
    assert (instant("1970-01-01T00:00:00Z"), instant("2000-02-29t12:00:00.9999z")) == (0, 951_825_600_999)
    assert iso(253_402_300_799_999) == "9999-12-31T23:59:59.999Z"
    assert iso_or_none(None) is None


# Answers

STATUS_AND_EXIT = {
    400: 2, 413: 2, 422: 2,
    401: 3, 403: 3,
    404: 4,
    409: 5,
    429: 6, 503: 6,
    500: 7,
}  # fmt: skip


@pytest.mark.parametrize("code", Code)
def test_every_reason_has_its_status_and_the_exit_that_belongs_to_it(code: Code) -> None:
    http, exit = NUMBERS[code]
    assert STATUS_AND_EXIT[http] == exit
    assert Refusal(code=code, message="m").retryable == (exit == 6)


def test_what_was_made_is_201_and_a_replay_of_it_200() -> None:
    receipt = Receipt(broker_uuid="b", command_id=ID, action="add", result=Result.CREATED, as_of="t")
    assert numbers(receipt) == MADE == (201, 0)
    assert numbers(msgspec.structs.replace(receipt, replayed=True)) == DONE == (200, 0)
    assert numbers(msgspec.structs.replace(receipt, result=Result.EMPTY)) == (200, 0)
    assert numbers(Refusal(code=Code.STALE_REVISION, message="m")) == (409, 5)


@pytest.mark.parametrize(
    ("error", "exit"),
    [
        (StoreBusy("x"), 6), (StoreFull("x"), 6), (TimeLimit("x"), 6), (Lost("x"), 6), (BadInput("x"), 2), (TooLong("x"), 2),
        (NotFound("x"), 4), (StoreCorrupt("x"), 7), (StoreTooNew("x"), 7), (TocsinError("x"), 7),
    ],
)  # fmt: skip
def test_a_failure_has_its_exit_too(error: TocsinError, exit: int) -> None:
    assert NUMBERS[code_of(error)].exit == exit


def test_a_receipt_has_every_field_that_the_contract_names() -> None:
    named = {
        "schema_version", "broker_uuid", "command_id", "action", "result", "replayed", "as_of", "item_id", "revision", "active",
        "return_effect", "selection_reason", "next_deferred_at",
    }  # fmt: skip
    assert named <= set(Receipt.__struct_fields__)


def test_principals_have_names_of_their_own_on_record() -> None:
    known = [Operator(), Seat(source_id="s", broker_uuid="b"), Edge(edge_id="e"), Nobody()]
    assert [issuer_of(principal) for principal in known] == ["operator", "source:s", "edge:e", "nobody"]


def test_a_policy_has_sane_defaults_and_is_strict() -> None:
    assert msgspec.convert({}, Policy) == Policy(enabled=True, human_id="human")
    assert not accepts(Policy, {"human": "hakon"})


REPOSITORY = Path(__file__).parents[2]
"""Where these tests are: the documentation is beside them, also if the package that is tested was installed elsewhere."""
DOCS, DESIGN = (REPOSITORY / "docs" / name for name in ("attention.md", "attention-design.md"))


def test_the_documentation_names_every_action_and_every_reason_with_its_numbers() -> None:
    text = DOCS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d, ]+) \| (.+) \| (\d) \|$", text, re.MULTILINE)
    said = {(code, int(exit)) for _, reasons, exit in rows for code in re.findall(r"`(\w+)`", reasons)}
    assert said == {(str(code), NUMBERS[code].exit) for code in Code}
    statuses = {int(http) for https, _, _ in rows for http in https.split(", ")}
    assert statuses == {http for http, _ in (DONE, MADE, *NUMBERS.values())}
    commands = DESIGN.read_text(encoding="utf-8").partition("\n## Commands\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", commands, re.MULTILINE)) == set(PAYLOADS)


def test_the_packet_in_the_documentation_is_one_and_every_field_is_explained() -> None:
    text = DOCS.read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    said = json.loads(block)
    assert msgspec.convert({"human_id": "human", **said}, Packet).artifacts[1].edge_id == "studio"
    table = text.partition("| field | option |")[2].partition("\n\n")[0]
    explained = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert explained == set(Packet.__struct_fields__) - {"schema_version"} == set(said) | {"human_id"}


def test_every_scenario_is_named_in_the_documentation_and_its_test_is_there() -> None:
    text = DESIGN.read_text(encoding="utf-8")
    assert {f"A{nth:02}" for nth in range(1, 37)} <= set(re.findall(r"A\d\d", text))
    for path, name in re.findall(r"`(\w+/test_attention\w*\.py)(?:::(test_A\d\d_)…)?`", text):
        tests = (REPOSITORY / "tests" / path).read_text(encoding="utf-8")
        assert not name or f"def {name}" in tests, (path, name)


# Schema


def test_the_schema_file_says_what_the_structs_say() -> None:
    kept = (Path(tocsin.__file__).parent / FILE).read_text(encoding="utf-8")
    assert kept == text(), f"stale: run `python -m tocsin.contracts.attention_schema > {FILE}`"


def test_the_schema_is_closed_and_every_reference_leads_somewhere() -> None:
    whole = json.loads(text())
    definitions = whole["$defs"]
    assert set(re.findall(r'"#/\$defs/(\w+)"', text())) <= set(definitions)
    assert {case["$ref"].rpartition("/")[2] for case in whole["anyOf"]} == {type_.__name__ for type_ in Command.__args__}
    assert whole["discriminator"]["propertyName"] == "action"
    assert all(definitions[name]["additionalProperties"] is False for name in ("Packet", "Artifact", "Amendment", "Next"))
    assert definitions["Packet"]["properties"]["context"]["maxLength"] == 3_000
    assert definitions["Artifact"]["then"]["required"] == ["edge_id"]
    assert schema()["$id"] == "urn:tocsin:attention:1"


def test_every_definition_stands_once() -> None:
    names = [type_.__name__ for type_ in (Packet, Addition, Artifact, Next)]
    assert [text().count(f'\n    "{name}": {{') for name in names] == [1, 1, 1, 1]
