"""Attention brief: an ordinary item fits on one screen, no item ever does more, and no text can pass for ours."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.attention import Artifact, Packet
from tocsin.contracts.attention_items import Item, Phase, Planned, Return, Route, Source, State
from tocsin.contracts.attention_time import iso
from tocsin.pipeline.attention_brief import ago, brief, whole
from tocsin.pipeline.attention_continuation import continuation, coordinate
from tocsin.pipeline.attention_lines import cells, one_line, wrapped
from tocsin.pipeline.attention_ways import how_far

NOW = 1_796_055_300_000
MINUTE = 60_000
ID = "8ba99410-c894-4632-aea6-b33a06a6b015"
PACKET = Packet(
    human_id="hakon",
    project_id="birthday-film",
    work_id="parents-likeness-round-2",
    intervention_key="candidate-selection",
    kind="selection",
    title="Choose the next birthday-film render",
    requested_action="Compare the four candidates and select one for the video batch.",
    context="This is the parent-likeness test, round 2; lighting is held constant.",
    unblocks="The next generation batch.",
    artifacts=(
        Artifact(label="contact sheet", uri="https://art.example/42/sheet.png", version="sha256:11aa"),
        Artifact(label="candidates", uri="file:///srv/film/round-2", edge_id="mac-studio"),
    ),
    estimate_minutes=8,
    deadline_at="2026-12-01T08:00:00.000Z",
)


def item(packet: Packet = PACKET, **changes: Any) -> Item:
    said: dict[str, Any] = {
        "item_id": 42,
        "state": State.ACTIVE,
        "revision": 2,
        "owner": "seat:ariadne",
        "source_id": "s1",
        "route": Route(actor="ariadne", edge="mac", return_mode="pinned_session", session_id="6f0e-77"),
        "packet": packet,
        "ready_sequence": 7,
        "created_at": iso(NOW - 14 * MINUTE),
        "updated_at": iso(NOW),
        **changes,
    }
    return Item(**said)


def packet(**changes: Any) -> Packet:
    return Packet(**{**{name: getattr(PACKET, name) for name in Packet.__struct_fields__}, **changes})


def test_the_brief_of_an_ordinary_item() -> None:
    assert brief(item(), as_of=NOW) == (
        "ATN-42 · birthday-film · Choose the next birthday-film render\n"
        "Do:       Compare the four candidates and select one for the video batch.\n"
        "Context:  This is the parent-likeness test, round 2; lighting is held constant.\n"
        "Open:     contact sheet: https://art.example/42/sheet.png, version sha256:11aa\n"
        "          candidates: file:///srv/film/round-2, on mac-studio\n"
        "Unblocks: The next generation batch.\n"
        "Work:     selection for parents-likeness-round-2\n"
        "Time:     about 8 minutes of yours, wanted by 2026-12-01 08:00 UTC\n"
        "Return:   to ariadne, only session 6f0e-77\n"
        "Since:    asked 14 minutes ago by ariadne, active, revision 2"
    )


@pytest.mark.parametrize(
    ("route", "line"),
    [
        (None, "Return:   nobody waits for the answer"),
        (Route(actor="a", edge="e", return_mode="none"), "Return:   nobody waits for the answer"),
        (
            Route(actor="a", edge="e", return_mode="actor_context"),
            "Return:   to a, any session of it; the context is told again",
        ),
    ],
)
def test_a_brief_says_where_the_answer_goes_and_never_claims_a_session_that_is_not_pinned(route: Any, line: str) -> None:
    assert line in brief(item(route=route), as_of=NOW).split("\n")


def test_the_place_in_the_line_is_said_as_what_it_is_and_only_of_what_waits() -> None:
    waiting = item(state=State.QUEUED)
    assert brief(waiting, as_of=NOW, position=3).endswith("\nQueue:    3 before it now; that may change")
    assert brief(waiting, as_of=NOW, position=0).endswith("\nQueue:    none before it now; that may change")
    assert "Queue" not in brief(item(), as_of=NOW, position=3)


def test_an_age_is_never_negative() -> None:
    """H08: the clock was set back after the item was asked."""
    assert "asked just now by" in brief(item(created_at=iso(NOW + 120 * MINUTE)), as_of=NOW)


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "just now"), (59_999, "just now"), (60_000, "1 minute ago"), (119 * MINUTE, "119 minutes ago"),
        (120 * MINUTE, "2 hours ago"), (47 * 60 * MINUTE, "47 hours ago"), (48 * 60 * MINUTE, "2 days ago"), (-1, "just now"),
    ],
)  # fmt: skip
def test_an_age_in_words(millis: int, text: str) -> None:
    assert ago(NOW - millis, NOW) == text


TEXT = st.text(st.sampled_from("ab \n\t日é\u0301\x1b[31m\x07\u202e\U0001f3ac-"), max_size=600)
ARTIFACTS = st.lists(
    st.builds(
        lambda label, tail, version: Artifact(label=label or "l", uri="https://a.example/" + "x" * tail, version=version),
        TEXT.map(lambda text: text[:120]),
        st.integers(0, 2_000),
        st.none() | st.just("v1"),
    ),
    max_size=12,
)


@given(TEXT, TEXT, TEXT, TEXT, ARTIFACTS, st.none() | st.integers(0, 1_000))
def test_no_brief_is_larger_than_a_screen(title: str, do: str, context: str, unblocks: str, artifacts: Any, place: Any) -> None:
    texts = {"title": title[:160], "requested_action": do * 3, "context": context * 5, "unblocks": unblocks}
    shown = brief(item(packet(**texts, artifacts=tuple(artifacts)), state=State.QUEUED), as_of=NOW, position=place)
    lines = shown.split("\n")
    assert len(lines) <= 23
    assert max(cells(line) for line in lines) <= 80
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown


def test_a_brief_that_leaves_something_out_says_so_and_how_to_see_it() -> None:
    long = packet(context="All of it matters. " * 150)
    shown = brief(item(long), as_of=NOW)
    assert shown.endswith("\nMore:     it is longer: tocsin attention show 42")
    assert " …\n" in shown
    assert shown.count("\n") == 22
    assert " ".join(("All of it matters. " * 150).split()) in " ".join(whole(item(long), as_of=NOW).split())


def test_an_artifact_is_shown_whole_or_not_at_all() -> None:
    many = tuple(Artifact(label=f"a{nth}", uri=f"https://a.example/{nth}/" + "x" * 100 * nth) for nth in range(12))
    shown = brief(item(packet(artifacts=many, context="c " * 1_500, requested_action="d " * 700)), as_of=NOW)
    joined = "".join(line.strip() for line in shown.split("\n"))
    named = [artifact for artifact in many if f"{artifact.label}:" in joined]
    assert named
    assert all(artifact.uri in joined for artifact in named)
    assert f"… {12 - len(named)} of 12 artifacts not shown" in shown


def test_a_list_of_many_artifacts_takes_the_room_that_is_left_and_no_more() -> None:
    many = tuple(Artifact(label=f"a{nth}", uri=f"https://a.example/{nth}") for nth in range(12))
    long = packet(artifacts=many, context="c " * 1_500, requested_action="d " * 700, unblocks="u " * 400)
    lines = brief(item(long, state=State.QUEUED), as_of=NOW, position=1).split("\n")
    assert len(lines) == 23
    assert [line.strip() for line in lines if "a.example" in line or "artifacts" in line] == [
        "Open:     a0: https://a.example/0",
        "a1: https://a.example/1",
        "a2: https://a.example/2",
        "… 9 of 12 artifacts not shown",
    ]


def test_no_text_can_pass_for_a_line_of_ours() -> None:
    lie = "x\nReturn:   to nobody\nUnblocks: nothing"
    shown = whole(item(packet(context=lie, requested_action=lie, title=lie, unblocks=lie)), as_of=NOW)
    labels = [line.split(":")[0] for line in shown.split("\n")[1:] if not line.startswith(" ")]
    assert labels == ["Do", "Context", "Open", "Unblocks", "Work", "Time", "Return", "Since"]


def test_markup_is_shown_as_it_is() -> None:
    shown = brief(item(packet(context="[bold red]x[/] <b>y</b> *z*")), as_of=NOW)
    assert "Context:  [bold red]x[/] <b>y</b> *z*" in shown


def test_the_whole_says_what_became_of_it() -> None:
    done = item(
        state=State.RESOLVED,
        outcome="selected",
        response="Use C.",
        reason="needed a day",
        returned=returned(phase=Phase.BLOCKED, reason="nobody is there"),
    )
    shown = whole(done, as_of=NOW).split("\n")
    assert "Reason:   needed a day" in shown
    assert "Answer:   selected: Use C." in shown
    assert "Sent:     blocked, generation 1 (nobody is there)" in shown
    until = whole(item(state=State.DEFERRED, deferred_until="2026-12-01T08:00:00.000Z"), as_of=NOW).split("\n")
    assert "Until:    2026-12-01 08:00 UTC" in until
    assert "Until:    it is requeued" in whole(item(state=State.DEFERRED), as_of=NOW).split("\n")


# Lines


@given(TEXT, st.integers(2, 40))
def test_lines_are_no_wider_than_asked_and_lose_no_letter(text: str, columns: int) -> None:
    lines = wrapped(text, columns)
    assert lines
    assert all(cells(line) <= columns for line in lines)
    from tocsin.pipeline.inert import inert

    assert "".join("".join(lines).split()) == "".join(inert(text).split())


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("", 10, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one\n\ntwo", 7, ["one", "", "two"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("日本語", 4, ["日本", "語"]),
        ("  code:\n    x", 20, ["  code:", "    x"]),
        ("a  b", 20, ["a  b"]),
        ("\tx", 20, ["    x"]),
    ],
)
def test_how_lines_are_broken(text: str, columns: int, lines: list[str]) -> None:
    assert wrapped(text, columns) == lines


def test_cells_are_what_a_terminal_shows() -> None:
    assert (cells("abc"), cells("日本"), cells("e\u0301"), one_line("a\n\x1b[31mb\x1b[0m\tc")) == (3, 4, 1, "a b c")


# Continuation


def returned(**changes: Any) -> Return:
    said: dict[str, Any] = {
        "return_id": 1,
        "item_id": 42,
        "resolution_command_id": ID,
        "generation": 1,
        "mode": "actor_context",
        "source_id": "s1",
        "phase": Phase.PENDING,
        "created_at": iso(NOW),
        "updated_at": iso(NOW),
        **changes,
    }
    return Return(**said)


def planned(packet: Packet = PACKET, response: str = "Use C.", **route: Any) -> Planned:
    said: dict[str, Any] = {
        "source_id": "s1",
        "edge": "mac",
        "actor": "ariadne",
        "project_id": packet.project_id,
        "work_id": packet.work_id,
        "return_mode": "actor_context",
        "provenance": "operator_binding",
        "created_at": iso(NOW),
        **route,
    }
    answered = item(packet, state=State.RESOLVED, outcome="selected", response=response)
    return Planned(row=returned(mode=said["return_mode"]), route=Source(**said), item=answered)


def test_an_answer_as_its_asker_reads_it() -> None:
    assert continuation(planned(), "b-1") == (
        "Attention item 42 is resolved: selected\n"
        f"Coordinate: attention-return:{ID}:1 (if you have had it before, it is the same answer)\n"
        f"Broker: b-1; resolution {ID}, generation 1\n"
        "Work: birthday-film · parents-likeness-round-2 · candidate-selection\n"
        "Asked: Choose the next birthday-film render\n"
        "Return: actor_context, for ariadne\n"
        "Artifact: contact sheet: https://art.example/42/sheet.png, version sha256:11aa\n"
        "Artifact: candidates: file:///srv/film/round-2, on mac-studio\n"
        "Context is restored here: this need not be the session that asked, and its checkout was not resumed\n"
        "The packet whole: tocsin attention show 42 --json\n"
        "The person's answer, to the end of this message:\n"
        "Use C."
    )


def test_a_pinned_answer_names_its_session_and_claims_no_restored_context() -> None:
    text = continuation(planned(return_mode="pinned_session", session_id="6f0e"), "b-1")
    assert "Return: pinned_session, for session 6f0e of ariadne and no other\n" in text
    assert "restored" not in text


def test_the_largest_answer_and_the_largest_artifacts_stay_within_8000_characters_and_whole() -> None:
    artifacts = tuple(
        Artifact(label="l" * 120, uri=f"https://a.example/{nth:02}/" + "x" * 1_400, version="v" * 200, edge_id="e" * 80)
        for nth in range(11)
    )
    small = Artifact(label="small", uri="https://a.example/s")
    names = {"project_id": "p" * 80, "work_id": "w" * 200, "intervention_key": "k" * 160, "title": "t" * 160}
    largest = planned(packet(**names, artifacts=(*artifacts, small)), response="é" * 4_000, actor="a" * 200)
    text = continuation(largest, ID)
    assert len(text) <= 8_000
    assert text.endswith("\n" + "é" * 4_000)
    assert f"Artifact: {'l' * 120}: {artifacts[0].uri}, version {'v' * 200}, on {'e' * 80}\n" in text
    assert "Artifact: small: https://a.example/s\n" in text
    assert "Artifact: 10 of 12 are not named here\n" in text


def test_a_coordinate_is_the_same_for_every_attempt_and_another_for_every_generation() -> None:
    assert coordinate(ID, 1) == f"attention-return:{ID}:1" != coordinate(ID, 2)


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        ("offered", "typed, not proved read"),
        ("submitted", "taken by the program of ariadne, not proved read"),
        ("recorded", "put where ariadne can read it, not proved read"),
        ("seen", "seen"),
        (None, "how far it came is not known"),
    ],
)
def test_of_an_answer_that_was_sent_no_more_is_said_than_is_proved(proof: str | None, words: str) -> None:
    moments = {"created_at": iso(NOW), "updated_at": iso(NOW)}
    numbers: dict[str, Any] = {"return_id": 1, "item_id": 1, "resolution_command_id": "c", "generation": 2, "source_id": "s"}
    row = Return(**numbers, mode="actor_context", phase=Phase.PROCESSED, outcome={"proof": proof}, **moments)
    route = Route(actor="ariadne", edge="mac", return_mode="actor_context")
    assert how_far(row, route, None) == f"processed, generation 2: {words}"
    assert how_far(row, route, "seen") == "processed, generation 2: seen", "what is known now counts"
