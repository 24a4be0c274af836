"""The harness's notices on the whole line: what the store is told, what a restart knows, what a recipient gets that waits."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from tocsin.actors.messages import Look, Moves, Rearmer, Seed
from tocsin.contracts.durable import Announced, Rearmed
from tocsin.contracts.errors import SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.moves import Announce, Disarm
from tocsin.contracts.signals import Cleared, RecipientDied, RecipientRevived, WaitEnded, WaitStarted
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

stepping = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))
Line, START = stepping["Line"], stepping["START"]

WHO = {"to": "god", "text": "said"}
STEER = kinds.breaker("steer", finding="looping", **WHO)
CONSTRAIN = kinds.breaker("constrain", finding="looping", **WHO)


def mail(*ids: str) -> Event:
    return kinds.heartbeat(unread=ids, to="god", text=f"{len(ids)} unread")


class Journal:
    """Stands where the store's actor stands."""

    def __init__(self, line: Any) -> None:
        self.moves: list[Any] = []
        line.tree._dedup.journal = self

    def tell(self, message: Any) -> None:
        assert isinstance(message, Moves)
        self.moves += message.items


def announced(line: Any, lane: str = "god") -> list[Announced]:
    found: list[Announced] = line.tree.ask(line.tree._dedup, Look(lane))
    return found


def rearm(line: Any, kind: str, *gone: str) -> Rearmed:
    found: Rearmed = line.tree.ask(line.tree._dedup, Rearmer("god", kind, lambda name, ctx: name in gone or {*ctx} == {*gone}))
    line.settle()
    return found


def told(box: Any) -> list[tuple[str, int]]:
    return [(entry.text, entry.count) for delivery in box.got for entry in delivery.entries]


def test_the_store_is_told_what_was_told_and_what_is_so_no_more() -> None:
    with Line() as line:
        line.open("god")
        journal = Journal(line)
        line.feed(STEER, mail("m1"))
        assert journal.moves == []
        line.after(150)
        of_steer = Announced(recipient="god", signature=STEER.key, at=START + 150)
        of_mail = Announced(
            recipient="god", signature=mail("m1").key, at=START + 150, ctx=("m1",), cleared_when="read"
        )  # fmt: skip
        assert journal.moves == [Announce("god", of_steer), Announce("god", of_mail)]
        assert announced(line) == [of_steer, of_mail]
        assert rearm(line, "heartbeat", "m1") == Rearmed(delivered=1, held=0)
        line.feed(Cleared(lane="god", key=STEER.key))
        assert journal.moves[2:] == [Disarm("god", (of_mail.signature,)), Disarm("god", (STEER.key,))]
        assert announced(line) == []


def test_without_a_store_the_ledger_works_from_memory() -> None:
    with Line() as line:
        box = line.open("god")
        for _ in range(3):
            line.feed(STEER)
            line.after(1_000)
        assert told(box) == [("said", 1)]


def test_what_is_seeded_when_the_lane_opens_is_not_told_again() -> None:
    with Line() as before, Line() as after:
        before.open("god")
        before.feed(STEER, mail("m1", "m2"))
        before.after(1_000)
        box = after.open("god")
        after.tree.ask(after.tree._dedup, Seed("god", announced(before)))
        after.feed(STEER, mail("m1"), mail("m1", "m3"))
        after.after(1_000)
        assert told(box) == [("2 unread", 1)]
        assert box.got[0].entries[0].detail == "new: m3"
        assert after.balance() == (3, 1, 2, 0, 0)


def test_a_predicate_that_raises_is_its_askers_trouble() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(STEER)
        line.after(1_000)
        with pytest.raises(ZeroDivisionError):
            line.tree.ask(line.tree._dedup, Rearmer("god", "", lambda *_: 1 / 0 > 1))
        line.feed(STEER)
        line.after(1_000)
        assert told(box) == [("said", 1)]
        assert line.tree.status().restarts == 0


# A recipient that waits on a human


def test_what_is_not_urgent_waits_and_is_told_as_it_was_built() -> None:
    with Line() as line:
        box = line.open("god")
        built = Event(text="said\nso", traffic="notice", to="god", key="mine:k", source="harness", detail=" a\tb ", id="n1")
        line.feed(WaitStarted(lane="god"), built)
        line.after(60_000)
        assert (told(box), announced(line)) == ([], [])
        line.feed(WaitEnded(lane="god"))
        [entry] = box.got[0].entries
        assert (entry.id, entry.text, entry.detail) == ("n1", built.text, built.detail)
        assert [one.signature for one in announced(line)] == ["mine:k"]


def test_only_what_is_urgent_goes_anyway() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(WaitStarted(lane="god"), STEER, CONSTRAIN)
        line.after(1_000)
        assert [one.signature for one in announced(line)] == [CONSTRAIN.key]
        line.feed(WaitEnded(lane="god"))
        assert told(box) == [("said", 1), ("said", 1)]


def test_an_urgent_one_releases_what_is_held_under_its_signature() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(WaitStarted(lane="god"), kinds.plain("mine", "k", to="god", text="slow"))
        line.after(1_000)
        line.feed(kinds.plain("mine", "k", to="god", text="fast", urgent=True))
        line.after(1_000)
        assert told(box) == [("fast", 2)]
        line.feed(WaitEnded(lane="god"), kinds.plain("mine", "k", to="god", text="slow"))
        line.after(1_000)
        assert told(box) == [("fast", 2)]
        assert line.balance() == (3, 1, 2, 0, 0)


def test_of_many_heartbeats_a_waiting_recipient_holds_the_latest_only() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(WaitStarted(lane="god"))
        for number in range(1, 11):
            line.feed(mail(*(f"m{n}" for n in range(number))))
            line.after(300_000)
        assert line.tree.status().lanes[0].depth == 1
        line.feed(WaitEnded(lane="god"))
        assert told(box) == [("10 unread", 1)]
        assert line.balance() == (10, 1, 9, 0, 0)


def test_a_held_one_whose_condition_is_gone_is_dropped_and_counted_apart() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(kinds.breaker("steer", finding="cost cap", **WHO))
        line.after(1_000)
        line.feed(WaitStarted(lane="god"), STEER)
        line.after(1_000)
        found = rearm(line, "breaker", STEER.key, "breaker:steer:cost cap")
        assert found == Rearmed(delivered=1, held=1)
        assert line.tree.status().lanes[0].depth == 0
        assert line.tree.status().dropped == {"clear": 1}
        line.feed(WaitEnded(lane="god"))
        line.after(1_000)
        assert told(box) == [("said", 1)]
        assert rearm(line, "breaker", STEER.key) == Rearmed(delivered=0, held=0)


def test_held_then_gone_then_raised_again_is_told() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(WaitStarted(lane="god"), STEER)
        line.after(1_000)
        line.feed(Cleared(lane="god", key=STEER.key), STEER)
        line.after(1_000)
        line.feed(WaitEnded(lane="god"))
        line.after(1_000)
        assert told(box) == [("said", 1)]
        assert line.balance() == (2, 1, 0, 1, 0)


def test_what_is_held_twice_is_queued_once() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(WaitStarted(lane="god"), STEER)
        line.after(1_000)
        line.feed(STEER)
        line.after(1_000)
        line.feed(WaitEnded(lane="god"))
        assert told(box) == [("said", 2)]


def test_of_more_than_the_cap_the_oldest_is_evicted_and_may_be_raised_again() -> None:
    with Line(Settings(throttle=ThrottlePolicy(max_notices=2))) as line:
        box = line.open("god")
        named = [kinds.plain("mine", name, to="god", text=name) for name in ("one", "two", "three")]
        line.feed(WaitStarted(lane="god"), *named)
        line.after(1_000)
        line.feed(WaitEnded(lane="god"))
        assert told(box) == [("two", 1), ("three", 1)]
        line.feed(*named)
        line.after(1_000)
        assert told(box)[2:] == [("one", 1)]


def test_what_is_held_for_one_who_dies_is_dropped_and_never_bounced() -> None:
    with Line() as line:
        god, box = line.open("god"), line.open("a7")
        line.feed(WaitStarted(lane="a7"), kinds.breaker("steer", finding="looping", to="a7", text="said"))
        line.after(1_000)
        line.feed(RecipientDied(lane="a7"))
        line.after(1_000)
        assert (told(box), told(god), line.tree.status().dropped) == ([], [], {"drop_dead": 1})
        line.feed(RecipientRevived(lane="a7"), kinds.breaker("steer", finding="looping", to="a7", text="again"))
        line.after(1_000)
        assert told(box) == [("again", 1)]


def test_one_that_the_sink_refused_for_good_may_be_raised_again() -> None:
    with Line() as line:
        box = line.open("god")
        box.answers.append(SinkGone("closed"))
        line.feed(STEER)
        line.after(1_000)
        assert (told(box), announced(line)) == ([], [])
        line.feed(STEER)
        line.after(1_000)
        assert told(box) == [("said", 1)]


# What an agent or a person wrote


def test_mail_passes_a_recipient_that_waits_while_its_heartbeat_is_held() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(WaitStarted(lane="god"), mail("m1"))
        letters = [Event(text="report\n\nbody", traffic="mail", to="god", source="mail", key="report", id=n) for n in "ab"]
        line.feed(*letters, *letters)
        line.after(60_000)
        assert [(e.id, e.text) for d in box.got for e in d.entries] == [("a", "report\n\nbody"), ("b", "report\n\nbody")]
        assert line.tree.status().lanes[0].depth == 1


def test_words_with_the_key_of_a_notice_are_no_notice() -> None:
    with Line() as line:
        box = line.open("god")
        line.feed(STEER)
        line.after(1_000)
        for traffic in ("user", "mail", "event"):
            line.feed(Event(text=traffic, traffic=traffic, to="god", key=STEER.key, source="harness", severity="error"))
        line.after(10_000)
        line.feed(Event(text="user", traffic="user", to="god", key=STEER.key, source="harness"))
        line.after(1_000)
        assert sorted(text for text, _ in told(box)) == ["event", "mail", "said", "user", "user"]


# Under way


def test_while_the_sink_writes_a_newer_set_waits_and_tells_only_the_rest() -> None:
    with Line() as line:
        line.open("god", sink=object())
        line.feed(mail("m1", "m2"))
        line.after(200)
        line.feed(mail("m1", "m2", "m3"))
        line.after(10_000)
        assert [entry.text for _, d, _ in line.courier.under_way for entry in d.entries] == ["2 unread"]
        line.courier.answer()
        line.settle()
        [(_, delivery, _)] = line.courier.under_way
        assert [(entry.text, entry.detail) for entry in delivery.entries] == [("3 unread", "new: m3")]
        line.courier.answer()
        line.settle()
        assert [one.ctx for one in announced(line)] == [("m1", "m2"), ("m3",)]
        assert line.balance() == (2, 2, 0, 0, 0)


def test_if_the_sink_fails_instead_the_newer_set_tells_all() -> None:
    with Line() as line:
        line.open("god", sink=object())
        line.feed(mail("m1", "m2"))
        line.after(200)
        line.feed(mail("m1", "m2", "m3"))
        line.courier.answer(SinkGone("closed"))
        line.after(1_000)
        [(_, delivery, _)] = line.courier.under_way
        assert [(entry.text, entry.detail) for entry in delivery.entries] == [("3 unread", "")]
        line.courier.answer()
        line.settle()
        assert [one.ctx for one in announced(line)] == [("m1", "m2", "m3")]


def test_what_a_closed_lane_had_under_way_still_counts_as_told() -> None:
    with Line() as line:
        line.open("god", sink=object())
        journal = Journal(line)
        line.feed(STEER)
        line.after(200)
        line.tree.close_lane("god")
        line.courier.answer()
        line.settle()
        assert [move.announced.signature for move in journal.moves] == [STEER.key]
