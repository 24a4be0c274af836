"""Field cases A05, A06, A08 and A09 at the gate of the harness's notices."""

import runpy
from pathlib import Path
from typing import Any

from tocsin.actors.messages import Look, Rearmer, Seed
from tocsin.contracts.events import Event
from tocsin.contracts.signals import Cleared, WaitEnded, WaitStarted
from tocsin.pipeline import notice_kinds as kinds

Line = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))["Line"]


def told(box: Any) -> list[tuple[str, int]]:
    return [(entry.text, entry.count) for delivery in box.got for entry in delivery.entries]


def test_a05_raised_cleared_and_raised_while_its_recipient_waits_is_told_once_as_raised() -> None:
    with Line() as line:
        box = line.open("dev")
        raised = kinds.breaker("steer", to="dev", text="looping: 7x")
        line.feed(WaitStarted(lane="dev"), raised, Cleared(lane="dev", key=raised.key), raised)
        line.after(60_000)
        line.feed(WaitEnded(lane="dev"))
        assert told(box) == [("looping: 7x", 2)]
        assert line.balance() == (2, 1, 1, 0, 0)
        line.feed(raised)
        line.after(1_000)
        assert told(box) == [("looping: 7x", 2)]


def test_a06_after_a_restart_the_same_signature_is_a_duplicate_on_record() -> None:
    looping = Event(text="looping", to="a7", traffic="notice", source="harness", key="breaker:looping", id="second")
    with Line() as line, Line() as restarted:
        box = line.open("a7")
        line.feed(looping)
        line.after(1_000)
        assert told(box) == [("looping", 1)]
        restarted.tree.ask(restarted.tree._dedup, Seed("a7", line.tree.ask(line.tree._dedup, Look("a7"))))
        box = restarted.open("a7")
        restarted.feed(looping)
        restarted.after(1_000)
        assert told(box) == []
        verdict = restarted.tree.explain("second")[-1]
        assert (verdict.verdict, verdict.reason) == ("fold", "told_and_not_rearmed")


def test_a08_a_reminder_without_a_new_item_is_not_told_and_one_with_it_names_only_that() -> None:
    with Line() as line:
        box = line.open("god")

        def reminder(*ids: str, age: int) -> Event:
            return kinds.heartbeat(to="god", text=f"{len(ids)} unread, the oldest for {age} s", unread=ids)

        for age in range(0, 301, 30):
            line.feed(reminder("i2", "i1", age=age))
            line.after(30_000)
        assert told(box) == [("2 unread, the oldest for 0 s", 1)]
        line.feed(reminder("i1", "i2", "i3", age=330))
        line.after(30_000)
        assert told(box)[1:] == [("3 unread, the oldest for 330 s", 1)]
        assert box.got[1].entries[0].detail == "new: i3"
        line.feed(reminder("i3", age=360))
        line.after(30_000)
        assert len(box.got) == 2
        line.tree.ask(line.tree._dedup, Rearmer("god", "heartbeat", lambda _, ctx: not {*ctx} & {"i3"}))
        line.feed(reminder("i3", age=390), reminder("i1", "i3", age=400))
        line.after(30_000)
        assert [d.entries[0].detail for d in box.got[2:]] == ["new: i1"], "it was read, and is unread again"


def test_a09_each_retry_of_one_repair_is_the_same_finding_until_it_clears_or_becomes_another() -> None:
    with Line() as line:
        box = line.open("god")

        def failed(attempt: int, what: str = "worker w3 rearm failed") -> Event:
            text = f"{what}: attempt={attempt}, next in {600 * attempt} s"
            return kinds.breaker("steer", to="god", text=text)

        line.feed(WaitStarted(lane="god"))
        for attempt in range(1, 10):
            line.feed(failed(attempt))
            line.after(600_000)
        line.feed(WaitEnded(lane="god"))
        assert told(box) == [("worker w3 rearm failed: attempt=1, next in 600 s", 9)]
        assert box.got[0].entries[0].last_at - box.got[0].entries[0].first_at == 8 * 600_000
        line.feed(failed(10), failed(11, "error storm"))
        line.after(1_000)
        assert told(box)[1:] == [("error storm: attempt=11, next in 6600 s", 1)]
        line.feed(Cleared(lane="god", key=failed(1).key), failed(12))
        line.after(1_000)
        assert told(box)[2:] == [("worker w3 rearm failed: attempt=12, next in 7200 s", 1)]
