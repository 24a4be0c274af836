"""Fan-out: one block, one delivery under way a lane, patience with a sink, and a word on what became of it."""

import pytest

from tocsin.contracts.deliveries import Proof, Receipt
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone, TocsinError
from tocsin.contracts.events import Event
from tocsin.contracts.moves import Dropped, Kept, Settled
from tocsin.contracts.notices import Notice, Proposal, Proposed
from tocsin.contracts.severity import LEVELS, Severity
from tocsin.contracts.verdicts import Stage, Verdict
from tocsin.pipeline.backoff import Backoff
from tocsin.pipeline.fanout import Delivered, FanOut, Policy, Send
from tocsin.pipeline.render import Policy as Layout
from tocsin.pipeline.step import Step


def entry(serial: int, text: str = "boom", **fields: object) -> Proposed:
    event = Event(**{"text": text, "severity": "error", **fields})
    notice = Notice(serial, event, "dev", LEVELS[event.severity], 1_000, "f" * 40)
    return Proposed(notice, 3, 1_000, 2_000, Severity.ERROR, (text,), True, False, None, None, "batch_window")


class Desk:
    """A fan-out with a clock; ``send`` proposes and answers with the delivery that goes to the sink."""

    def __init__(self, **policy: object) -> None:
        self.stage, self.step, self.now, self.number = FanOut(Policy(**policy), "7f", "/var/spill"), Step[object](), 5_000, 0

    def send(self, *entries: Proposed, lane: str = "dev", **proposal: object):
        self.step, self.number = Step(), self.number + 1
        made = Proposal(**{"lane": lane, "number": self.number, "entries": entries, "suppressed": (0, 0, 0, 0), **proposal})
        self.stage.offer([made], self.now, self.step)
        [send] = self.sent()
        return send

    def sent(self) -> list[object]:
        return [move.delivery for move in self.step.out if isinstance(move, Send)]

    def says(self, delivery: object, outcome: Receipt | TocsinError) -> list[object]:
        self.step = Step()
        if isinstance(outcome, Exception):
            self.stage.failed(delivery.lane, delivery.id, outcome, self.now, self.step)
        else:
            self.stage.accepted(delivery.lane, delivery.id, outcome, self.now, self.step)
        return self.step.out

    def tick(self, now: int) -> list[object]:
        self.now, self.step = now, Step()
        self.stage.tick(now, self.step)
        return self.sent()

    def rulings(self) -> list[tuple[str, str, list[int], int | None, str]]:
        return [(r.verdict, r.reason, [n.serial for n in r.notices], r.until, r.note) for r in self.step.rulings]


TAKEN = Receipt(proof=Proof.RECORDED)


def test_a_delivery_carries_everything_that_its_entries_say() -> None:
    desk = Desk()
    event = {"scope": "web", "source": "browser_js", "detail": "at cart.py", "frame": "cart.py in total", "category": "runtime"}
    delivery = desk.send(entry(12, **event), suppressed=(4, 0, 1, 0), overdue=True)
    assert (delivery.id, delivery.lane, delivery.at, delivery.attempt) == ("7f-d1", "dev", 5_000, 1)
    assert (delivery.suppressed, delivery.overdue, delivery.spill) == ({"info": 4, "error": 1}, True, "")
    [told] = delivery.entries
    assert (told.id, told.fingerprint, told.traffic, told.severity, told.text) == ("7f-12", "f" * 40, "event", "error", "boom")
    assert (told.count, told.first_at, told.last_at, told.reminder) == (3, 1_000, 2_000, False)
    assert {name: getattr(told, name) for name in event} == event
    assert "[tocsin 7f-d1] web: 1 error" in delivery.text


def test_entries_are_as_harmless_as_the_block() -> None:
    told = Desk().send(entry(1, "\x1b[31mboom\x1b[0m", detail="password=hun\u200bter22", frame="a\x07b")).entries[0]
    assert (told.text, told.detail, told.frame) == ("boom", "password=[masked]", "ab")


def test_every_delivery_has_an_id_of_its_own() -> None:
    desk = Desk()
    ids = []
    for lane in ("dev", "ops", "dev"):
        delivery = desk.send(entry(1), lane=lane)
        desk.says(delivery, TAKEN)
        ids.append(delivery.id)
    assert ids == ["7f-d1", "7f-d2", "7f-d3"]


def test_what_the_sink_took_is_settled_and_shown_with_its_proof() -> None:
    desk = Desk()
    delivery = desk.send(entry(1), entry(2))
    receipt = Receipt(proof=Proof.SUBMITTED, note="typed")
    assert desk.says(delivery, receipt) == [Settled("dev", 1, [1, 2]), Delivered(delivery, receipt)]
    assert desk.rulings() == [("deliver", "sink_accepted", [1, 2], None, "7f-d1 submitted: typed")]


def test_a_sinks_answer_counts_once() -> None:
    desk = Desk()
    delivery = desk.send(entry(1))
    desk.says(delivery, TAKEN)
    assert desk.says(delivery, TAKEN) == []
    assert desk.says(delivery, SinkBusy("again")) == []


def test_an_answer_to_another_delivery_counts_for_nothing() -> None:
    desk = Desk()
    old = desk.send(entry(1))
    desk.says(old, TAKEN)
    new = desk.send(entry(2))
    assert desk.says(old, TAKEN) == []
    assert desk.says(old, SinkGone("late")) == []
    assert desk.says(new, TAKEN) == [Settled("dev", 2, [2]), Delivered(new, TAKEN)]


# A busy sink


def test_a_busy_sink_is_tried_again_after_longer_and_longer_waits_with_the_same_id() -> None:
    desk = Desk()
    delivery, waits = desk.send(entry(1)), []
    for attempt in range(1, 8):
        assert (delivery.id, delivery.attempt) == ("7f-d1", attempt)
        assert desk.says(delivery, SinkBusy("locked")) == []
        waits.append(desk.stage.due() - desk.now)
        assert desk.tick(desk.stage.due() - 1) == []
        [delivery] = desk.tick(desk.stage.due())
    assert waits == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
    assert desk.says(delivery, TAKEN)[0] == Settled("dev", 1, [1])


def test_each_further_attempt_is_on_record_with_its_moment_and_its_reason() -> None:
    desk = Desk()
    desk.says(desk.send(entry(1)), SinkBusy("locked"))
    assert desk.rulings() == [("retry", "sink_failed", [1], 5_500, "locked")]


def test_an_attempt_is_sent_once() -> None:
    desk = Desk()
    desk.says(desk.send(entry(1)), SinkBusy("locked"))
    assert len(desk.tick(5_500)) == 1
    assert desk.tick(5_500) == []
    assert desk.stage.due() is None


def test_after_the_last_attempt_it_is_put_aside_visibly() -> None:
    desk = Desk(backoff=Backoff(attempts=2))
    desk.says(desk.send(entry(1), entry(2)), SinkBusy("locked"))
    [second] = desk.tick(5_500)
    assert desk.says(second, SinkBusy("still locked")) == [Dropped("dev", 1, [1, 2], Verdict.DEAD_LETTER)]
    assert desk.rulings() == [("dead_letter", "attempts_used_up", [1, 2], None, "still locked")]
    assert desk.stage.due() is None


def test_a_sink_that_is_gone_is_not_tried_again() -> None:
    desk = Desk()
    assert desk.says(desk.send(entry(1)), SinkGone("closed")) == [Dropped("dev", 1, [1], Verdict.DEAD_LETTER)]
    assert desk.rulings() == [("dead_letter", "sink_gone", [1], None, "closed")]


def test_a_sink_that_says_not_now_gives_the_batch_back_to_both_gates() -> None:
    desk = Desk()
    assert desk.says(desk.send(entry(1)), NotNow("a draft")) == [Kept("dev", 1, [1], Stage.FANOUT, "sink_not_now", 6_000)]
    assert desk.rulings() == [("defer", "sink_not_now", [1], 6_000, "a draft")]
    assert (desk.stage.due(), desk.stage.flying()) == (None, {})


def test_not_now_uses_up_no_attempt() -> None:
    desk = Desk(backoff=Backoff(attempts=1))
    for _ in range(20):
        assert isinstance(desk.says(desk.send(entry(1)), NotNow("a draft"))[0], Kept)


def test_a_lanes_trouble_is_its_own() -> None:
    desk = Desk()
    slow, quick = desk.send(entry(1), lane="dev"), desk.send(entry(2), lane="ops")
    desk.says(slow, SinkBusy("locked"))
    assert desk.says(quick, TAKEN)[0] == Settled("ops", 2, [2])
    assert list(desk.stage.flying()) == ["dev"]


def test_it_is_due_when_the_first_attempt_is() -> None:
    desk = Desk()
    first, second = desk.send(entry(1), lane="dev"), desk.send(entry(2), lane="ops")
    desk.says(first, SinkBusy("locked"))
    desk.now = 5_100
    desk.says(second, SinkBusy("locked"))
    assert desk.stage.due() == 5_500
    assert [delivery.lane for delivery in desk.tick(5_500)] == ["dev"]
    assert desk.stage.due() == 5_600


# A block over its cap


def test_a_cut_block_names_the_file_that_holds_all_of_it() -> None:
    desk = Desk()
    delivery = desk.send(entry(1, "x" * 30_000))
    assert len(delivery.text) <= 10_000
    assert "the whole text is in /var/spill/7f-d1.txt" in delivery.text
    assert "x" * 30_000 in delivery.spill
    assert desk.rulings() == [("spill", "block_over_cap", [1], None, "7f-d1")]


def test_without_a_directory_a_cut_block_says_that_there_is_no_file() -> None:
    stage, step = FanOut(Policy(), "7f"), Step[object]()
    stage.offer([Proposal("dev", 1, (entry(1, "x" * 30_000),), (0, 0, 0, 0))], 0, step)
    [send] = step.out
    assert "no file" in send.delivery.text


@pytest.mark.parametrize("cap", [2_047, 10_001])
def test_a_cap_out_of_bounds_is_refused(cap: int) -> None:
    with pytest.raises(ValueError, match="2048 to 10000"):
        Layout(cap=cap)
