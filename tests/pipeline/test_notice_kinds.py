"""Notice kinds: every row of the table has its signature, its ctx, its urgency and its evidence."""

from hashlib import sha1

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.events import Event
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import Severity
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.identity import fingerprint
from tocsin.pipeline.notice_kinds import KINDS, actionable_key, reason_class

WHO = {"to": "god", "text": "said"}
IDS = actionable_key(["m2", "m1"])


@pytest.mark.parametrize(
    ("event", "signature", "ctx", "urgent", "cleared_when"),
    [
        (kinds.heartbeat(**WHO), "heartbeat:quiet", (), False, "drained"),
        (kinds.heartbeat(unread=["m2", "m1", "m2"], **WHO), f"heartbeat:{IDS}", ("m2", "m1"), False, "read"),
        (kinds.breaker("steer", reason="Looping: 7x", **WHO), "breaker:steer:looping", (), False, ""),
        (kinds.breaker("constrain", finding="cost cap", **WHO), "breaker:constrain:cost cap", (), True, ""),
        (kinds.worker("preserved", "w1", **WHO), "worker:preserved:w1", ("w1",), False, "started"),
        (kinds.worker("reclaimed", "w1", **WHO), "worker:reclaimed:w1", ("w1",), False, "started"),
        (kinds.worker("reaped-token-cap", "w1", **WHO), "worker:reaped-token-cap:w1", ("w1",), False, "started"),
        (kinds.worker("reaped-idle", "w1", **WHO), "worker:reaped-idle:w1", ("w1",), False, "started"),
        (kinds.worker("released-mail", "w1", **WHO), "worker:released-mail:w1", ("w1",), False, "started"),
        (kinds.spawn_rejected("/q/r.json", 1700.6, **WHO), "spawn-rejected:r.json@1701:unparseable", (), False, ""),
        (
            kinds.spawn_rejected("r.json", 17, reason="cwd missing", **WHO),
            "spawn-rejected:r.json@17:cwd missing", (), False, "",
        ),
        (kinds.condense("a7", reason="too short", **WHO), "condense:a7:too short", (), False, ""),
        (kinds.evaluation(["stall", "breach", "stall"], **WHO), "evaluation:breach,stall", (), False, ""),
    ],
)  # fmt: skip
def test_a_row_of_the_table(event: Event, signature: str, ctx: tuple[str, ...], urgent: bool, cleared_when: str) -> None:
    assert event == Event(
        text="said", to="god", source="harness", traffic="notice", key=signature, ctx=ctx, urgent=urgent,
        cleared_when=cleared_when,
    )  # fmt: skip


def test_only_the_constraint_of_a_breaker_is_urgent_by_itself() -> None:
    urgent = [(kind, case) for kind, row in KINDS.items() for case, how in row.cases.items() if how.urgent]
    assert urgent == [("breaker", "constrain")]
    assert kinds.plain("breaker", "constrain:looping", **WHO).urgent
    assert not kinds.plain("breaker", "steer:looping", **WHO).urgent
    assert not kinds.plain("mine", "constrain:looping", **WHO).urgent


def test_a_kind_that_is_not_in_the_table_is_told_by_its_plain_key() -> None:
    assert kinds.plain("mine", "a:b", ctx=["x"], **WHO) == Event(
        text="said", to="god", source="harness", traffic="notice", key="mine:a:b", ctx=("x",)
    )
    assert kinds.plain("mine", "a", urgent=True, cleared_when="read", **WHO).urgent


def test_a_notice_sent_by_its_plain_key_is_what_the_builder_makes() -> None:
    assert kinds.plain("heartbeat", "quiet", **WHO) == kinds.heartbeat(**WHO)
    assert kinds.plain("heartbeat", IDS, ctx=["m2", "m1"], **WHO) == kinds.heartbeat(unread=["m2", "m1"], **WHO)
    assert kinds.plain("worker", "preserved:w1", ctx=["w1"], **WHO) == kinds.worker("preserved", "w1", **WHO)


def test_the_actionable_key_is_the_hash_of_the_sorted_ids() -> None:
    assert actionable_key(["b", "a"]) == "actionable:" + sha1(b"a\nb").hexdigest()[:16]
    assert actionable_key(["b", "a"]) == actionable_key(["a", "b", "a"]) != actionable_key(["ab"])


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("looping: 7x", "looping"),
        ("looping: 9x", "looping"),
        ("error storm: 7 in a row", "error storm"),
        ("token limit: 60,000", "token limit"),
        ("token velocity 61,234/min > 60,000/min", "token velocity /min > /min"),
        ("  Cost   CAP $12.50 ", "cost cap"),
        ("no-progress", "no-progress"),
        ("نفاد الحصة ٦٠٬٠٠٠", "نفاد الحصة"),
        ("सीमा १२३", "सीमा"),
        ("limit １２，３４５．６ ＄", "limit"),
        ("squared² and ½", "squared and"),
        ("", "unspecified"),
        ("7: looping", "unspecified"),
        (" 1,5 $", "unspecified"),
        (":", "unspecified"),
    ],
)
def test_the_class_of_a_reason_has_no_figures_whatever_the_script(prose: str, expected: str) -> None:
    assert reason_class(prose) == expected


@given(st.text())
def test_a_class_is_the_class_of_itself_and_holds_no_figure(prose: str) -> None:
    found = reason_class(prose)
    assert found == " ".join(found.split())
    assert found
    assert not any(character.isdecimal() or character.isdigit() or character.isnumeric() for character in found)
    assert reason_class(found) == found


def test_two_findings_of_the_breaker_differ_and_two_counts_of_one_do_not() -> None:
    keys = [kinds.breaker("steer", reason=reason, **WHO).key for reason in ("looping: 7x", "looping: 9x", "error storm: 7x")]
    assert keys == ["breaker:steer:looping", "breaker:steer:looping", "breaker:steer:error storm"]
    assert kinds.breaker("steer", to="a7", text="looping: 7x").key == "breaker:steer:looping"


# What the gate asks


def noticed(event: Event) -> Notice:
    return Notice(1, event, "god", Severity.WARNING, 0, "print")


@pytest.mark.parametrize(
    ("signature", "kind"), [("heartbeat:quiet", "heartbeat"), ("breaker:steer:x", "breaker"), ("plain", ""), ("", "")]
)
def test_the_kind_stands_before_the_first_colon(signature: str, kind: str) -> None:
    assert kinds.kind_of(signature) == kind


def test_without_a_key_the_fingerprint_is_the_signature() -> None:
    assert kinds.signature_of(noticed(Event(text="x", traffic="notice"))) == "print"
    assert kinds.signature_of(noticed(kinds.heartbeat(**WHO))) == "heartbeat:quiet"


def test_heartbeats_stand_for_the_same_and_so_does_nothing_else() -> None:
    beats = [kinds.heartbeat(**WHO), kinds.heartbeat(unread=["m1"], **WHO)]
    others = [
        kinds.breaker("steer", finding="a", **WHO), kinds.breaker("steer", finding="b", **WHO),
        kinds.worker("preserved", "w1", **WHO), kinds.worker("reclaimed", "w1", **WHO), kinds.evaluation(["a"], **WHO),
        kinds.evaluation(["a", "b"], **WHO),
    ]  # fmt: skip
    assert len({kinds.slot_of(noticed(event)) for event in beats}) == 1
    assert len({kinds.slot_of(noticed(event)) for event in [*beats, *others]}) == 1 + len(others)


def test_of_a_set_of_ids_what_is_left_says_so_in_its_key_its_print_and_its_detail() -> None:
    whole = noticed(kinds.heartbeat(unread=["m3", "m1", "m2"], **WHO))
    left = kinds.without(whole, {"m1"})
    assert left is not None
    assert (left.event.ctx, left.event.key) == (("m3", "m2"), f"heartbeat:{actionable_key(['m2', 'm3'])}")
    assert (left.event.text, left.event.detail) == ("said", "new: m3, m2")
    assert (left.serial, left.lane, left.event.cleared_when) == (1, "god", "read")
    assert left.fingerprint == fingerprint("harness", "", "", key=left.event.key)
    less = kinds.without(left, {"m2"})
    assert less is not None
    assert (less.event.ctx, less.event.detail) == (("m3",), "new: m3")
    assert kinds.without(less, {"m3", "m9"}) is None


def test_a_detail_that_the_harness_wrote_is_left_alone() -> None:
    event = Event(text="mail", traffic="notice", key="heartbeat:x", ctx=("m1", "m2"), detail="two of them")
    left = kinds.without(noticed(event), {"m1"})
    assert left is not None
    assert left.event.detail == "two of them"


def test_only_a_set_of_ids_can_be_news_in_part() -> None:
    for event in (kinds.worker("preserved", "w1", **WHO), kinds.heartbeat(**WHO), kinds.plain("mine", "k", ctx=["w1"], **WHO)):
        notice = noticed(event)
        assert kinds.without(notice, {"w1", "m1"}) is notice
    whole = noticed(kinds.heartbeat(unread=["m1"], **WHO))
    assert kinds.without(whole, {"m2"}) is whole


def test_nothing_is_left_of_what_was_told_word_for_word() -> None:
    one = noticed(kinds.worker("preserved", "w1", **WHO))
    assert kinds.rest_of(one, one) is None
    assert kinds.rest_of(one, noticed(kinds.worker("reclaimed", "w1", **WHO))) is one
