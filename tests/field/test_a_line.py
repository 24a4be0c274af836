"""Field cases A01, A02, A05, A10, A12, A13 and A15: the window, the batch, the cap and re-arming."""

import runpy
import time
from pathlib import Path

import msgspec
import pytest

from tocsin import BadInput, Event, Settings, Tocsin
from tocsin.contracts.signals import Cleared, TurnEnded, TurnStarted
from tocsin.pipeline.dedup import Policy as DedupPolicy
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.simulate import word
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

stepping = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))
Line, START = stepping["Line"], stepping["START"]


def told(box) -> list[tuple[int, str, int, bool]]:
    """When, what, how often, and whether it was a reminder."""
    return [(d.at - START, e.text, e.count, e.reminder) for d in box.got for e in d.entries]


def test_a01_a_continuous_error_is_told_at_once_and_then_on_the_reminders_schedule() -> None:
    with Line(Settings(dedup=DedupPolicy(window=10_000))) as line:
        box = line.open("dev")
        line.play((at, Event(text="disk full", to="dev", severity="error")) for at in range(0, 65_001, 200))
        assert told(box) == [
            (250, "disk full", 2, False),  # with the one that came while the first was gathered
            (10_650, "disk full", 52, True),  # one window after it was told
            (61_050, "disk full", 252, True),  # five windows later
        ]
        assert "×252" in box.got[2].text
        assert "still going on" in box.got[2].text
        assert line.balance() == (326, 3, 323, 0, 0)


def test_a02_an_event_without_a_message_is_refused_with_a_reason_and_shares_no_fingerprint() -> None:
    for raw in (b'{"source":"browser_js"}', b'{"source":"browser_js","text":null}'):
        with pytest.raises(msgspec.ValidationError, match="text"):
            msgspec.json.decode(raw, type=Event)
    got = []
    with Tocsin() as line:
        line.open_lane("dev", got.append)
        for text in (None, ""):
            with pytest.raises(BadInput, match="no message|that is no event"):
                line.feed(text, source="browser_js", scope="p1")
        line.feed("boom", source="browser_js", scope="p1", severity="error")
    assert [entry.text for delivery in got for entry in delivery.entries] == ["boom"]


def test_a02_on_the_line_itself_it_is_refused_on_record() -> None:
    with Line() as line:
        box = line.open("dev")
        line.feed(Event(text="", to="dev", source="browser_js", scope="p1", id="empty"))
        line.feed(Event(text="boom", to="dev", source="browser_js", scope="p1", id="boom"))
        line.after(3_000)
        assert box.texts() == ["boom"]
        (refused,) = line.tree.explain("empty")
        assert (refused.verdict, refused.reason, refused.fingerprint) == ("refuse", "no_message", "")
        assert refused.note.startswith("the event has no message")
        assert line.balance() == (2, 1, 0, 1, 0)


def test_a05_raised_cleared_and_raised_again_in_one_batch_is_told_once_as_raised() -> None:
    with Line() as line:
        box = line.open("dev")
        raised = Event(text="breaker is looping", to="dev", traffic="notice", source="harness", key="breaker:looping", id="n")
        line.feed(raised, Cleared(lane="dev", key="breaker:looping"), raised)
        line.after(150)
        assert told(box) == [(150, "breaker is looping", 2, False)]
        assert "clear" not in box.got[0].text
        assert line.verdicts("n").count("fold") == 1, "the collapse is on record"
        assert line.balance() == (2, 1, 1, 0, 0)


def test_a10_what_was_suppressed_is_said_and_counted_and_the_count_starts_again() -> None:
    with Line(Settings(throttle=ThrottlePolicy(max_pending=5))) as line:
        box = line.open("dev")
        line.feed(TurnStarted(lane="dev"))
        for number in range(3):
            line.feed(Event(text=f"error {word(number)}", to="dev", severity="error", source="process_output"))
        for number in range(40):
            line.feed(Event(text=f"warning {word(number)}", to="dev", source="browser_js", id=f"w{number}"))
        line.after(10_000)
        (lane,) = line.tree.status().lanes
        assert (lane.depth, lane.suppressed) == (5, {"warning": 38})
        line.feed(TurnEnded(lane="dev"))
        (delivery,) = box.got
        assert [e.text for e in delivery.entries if e.severity == "error"] == [f"error {word(n)}" for n in range(3)]
        assert [e.text for e in delivery.entries if e.severity == "warning"] == [f"warning {word(n)}" for n in (38, 39)]
        assert "+38 more suppressed: 38 warnings" in delivery.text.splitlines()
        evicted = line.tree.explain("w0")[-1]
        assert (evicted.verdict, evicted.reason) == ("evict", "pending_cap")
        by_print = [str(decision.verdict) for decision in line.tree.explain(evicted.fingerprint)]
        assert by_print == line.verdicts("w0")[1:], "by its fingerprint as well, from where it got one"
        assert line.tree.status().dropped == {"evict": 38}
        assert line.tree.status().untold == {"browser_js": 38}
        line.feed(Event(text="one more", to="dev", severity="critical"))
        line.after(250)
        assert "suppressed" not in box.got[1].text
        assert line.tree.status().lanes[0].suppressed == {}


def test_a12_a_hundred_thousand_duplicates_leave_a_bounded_record(capsys: pytest.CaptureFixture[str]) -> None:
    def run(remembered: int) -> tuple[float, list[int]]:
        duplicate, sizes = Event(text="again and again", to="dev", severity="warning"), []
        with Line(Settings(record=RecordPolicy(decisions=remembered))) as line:
            box, took = line.open("dev"), 0.0
            for _ in range(2):
                began = time.perf_counter()
                for _ in range(100):
                    line.feed(*[duplicate] * 500)
                    line.after(25)
                took += time.perf_counter() - began
                sizes.append(len(line.tree.decisions()[0]))
            assert [entry.count for entry in box.got[0].entries] == [60_000]
            assert line.balance() == (100_000, 1, 99_999, 0, 0)
        return took, sizes

    run(0)  # the first run of a process is slower than any other
    off, _ = run(0)
    on, (half, full) = run(10_000)
    with capsys.disabled():
        print(f"\n  A12: 100,000 duplicates with every verdict on record take {on / off:.2f} x the time without")
    assert half <= full <= 10_000 + 512, "no more than asked for and one ruling over a chunk"


def test_a13_different_errors_do_not_hide_each_other() -> None:
    with Line() as line:
        box = line.open("dev")
        e1, e2 = (Event(text=f"{name} failed", to="dev", severity="error") for name in ("checkout", "login"))
        line.play([(0, e1), (1_000, e2), *((at, e1) for at in range(11_000, 121_001, 11_000))])
        line.after(1_000)
        assert told(box) == [
            (250, "checkout failed", 1, False),
            (1_250, "login failed", 1, False),
            (66_250, "checkout failed", 6, True),  # the first occurrence after the reminder is due
        ]
        assert line.balance() == (13, 3, 10, 0, 0)


def test_a15_the_oldest_of_the_lowest_severity_is_evicted_first() -> None:
    with Line(Settings(throttle=ThrottlePolicy(max_pending=3, error_window=3_000))) as line:
        box = line.open("dev")
        for name, severity in (("e1", "error"), ("i1", "info"), ("i2", "info"), ("w1", "warning"), ("w2", "warning")):
            line.feed(Event(text=f"{word(ord(name[0]))} {name}", to="dev", severity=severity, id=name))
        assert [name for name in ("e1", "i1", "i2", "w1", "w2") if "evict" in line.verdicts(name)] == ["i1", "i2"]
        assert line.tree.status().lanes[0].suppressed == {"info": 2}
        line.after(3_000)
        assert [entry.id for delivery in box.got for entry in delivery.entries] == ["e1", "w1", "w2"]


def test_a15_of_one_severity_the_older_goes_first() -> None:
    with Line(Settings(throttle=ThrottlePolicy(max_pending=3))) as line:
        box = line.open("dev")
        line.feed(*(Event(text=f"warning {word(number)}", to="dev", id=f"w{number}") for number in range(5)))
        line.after(3_000)
        assert [entry.id for delivery in box.got for entry in delivery.entries] == ["w2", "w3", "w4"]
