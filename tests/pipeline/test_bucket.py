"""Bucket: so many at once, one more every period; so a lane hears of mere events only so often, and of the rest at once."""

from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.events import Event
from tocsin.contracts.moves import Settled
from tocsin.contracts.notices import Admission, Notice, Proposal
from tocsin.contracts.severity import LEVELS
from tocsin.pipeline.bucket import Bucket
from tocsin.pipeline.step import Step
from tocsin.pipeline.throttle import Policy, Throttle


def bucket(burst: int = 3, period: int = 10_000) -> Bucket:
    return Bucket(burst, period)


def taken(one: Bucket, now: int, most: int = 100) -> int:
    """So many tokens can be taken at this moment."""
    count = 0
    while count < most and one.next_at(now) == now:
        one.take(now)
        count += 1
    return count


def test_a_full_bucket_gives_its_burst_at_once() -> None:
    assert taken(bucket(), 1_000_000) == 3


def test_then_one_token_comes_every_period() -> None:
    one = bucket()
    taken(one, 1_000_000)
    assert one.next_at(1_000_000) == 1_010_000
    assert taken(one, 1_009_999) == 0
    assert taken(one, 1_010_000) == 1
    assert one.next_at(1_010_000) == 1_020_000


def test_it_fills_no_higher_than_its_burst() -> None:
    one = bucket()
    taken(one, 1_000_000)
    assert taken(one, 9_000_000) == 3


def test_asking_takes_nothing() -> None:
    one = bucket()
    assert [one.next_at(5) for _ in range(10)] == [5] * 10
    assert taken(one, 5) == 3


def test_it_is_full_again_after_burst_times_period() -> None:
    one = bucket()
    taken(one, 1_000_000)
    assert taken(one, 1_029_999) == 2
    one = bucket()
    taken(one, 1_000_000)
    assert taken(one, 1_030_000) == 3


def test_spending_beyond_its_means_is_paid_back() -> None:
    one = bucket()
    for _ in range(5):
        one.take(1_000_000)
    assert one.next_at(1_000_000) == 1_030_000


@given(burst=st.integers(1, 10), period=st.integers(1, 20_000), waits=st.lists(st.integers(0, 50_000), min_size=1, max_size=60))
def test_in_no_stretch_of_time_is_more_given_than_burst_and_one_a_period(burst: int, period: int, waits: list[int]) -> None:
    one, now, given_at = bucket(burst, period), 1_000_000, []
    for wait in waits:
        now += wait
        given_at += [now] * taken(one, now, 20)
    for start in range(len(given_at)):
        for end in range(start, len(given_at)):
            assert end - start + 1 <= burst + (given_at[end] - given_at[start]) // period


# The budget of a lane


class Line:
    """A throttle whose batches are settled at once; ``told`` has each with its moment."""

    def __init__(self, **policy: int) -> None:
        self.stage, self.step = Throttle(Policy(**policy)), Step[object]()
        self.now, self.serial = 1_000_000, 0
        self.told: list[tuple[int, list[str]]] = []

    def feed(self, text: str, severity: str = "warning", lane: str = "dev", **fields: object) -> None:
        self.serial += 1
        event = Event(text=text, severity=severity, **fields)
        notice = Notice(self.serial, event, lane, LEVELS[severity], self.now, f"{text}{self.serial}")
        self.stage.offer([Admission(lane, [notice], [], {})], self.now, self.step)
        self.settle()

    def settle(self) -> None:
        while made := next((move for move in self.step.out if isinstance(move, Proposal)), None):
            self.step.out.remove(made)
            self.told.append((self.now - 1_000_000, [entry.notice.event.text for entry in made.entries]))
            serials = [entry.notice.serial for entry in made.entries]
            self.stage.settled(Settled(made.lane, made.number, serials), self.now, self.step)

    def run(self, by: int) -> None:
        until = self.now + by
        while (due := self.stage.due()) is not None and due <= until:
            self.now = max(self.now, due)
            self.stage.tick(self.now, self.step)
            self.settle()
        self.now = until

    def moments(self) -> list[int]:
        return [at for at, _ in self.told]


def test_three_batches_of_events_may_come_at_once_and_then_six_a_minute() -> None:
    line = Line(error_window=100)
    for _ in range(600):  # an error every 100 ms for a minute
        line.feed("boom", "error")
        line.run(100)
    assert line.moments() == [100, 200, 300, 10_100, 20_100, 30_100, 40_100, 50_100]


def test_what_is_over_budget_waits_and_merges() -> None:
    line = Line()
    for number in range(5):
        line.feed(f"boom {number}", "error")
        line.run(250)
    assert [texts for _, texts in line.told] == [["boom 0"], ["boom 1"], ["boom 2"]]
    line.run(20_000)
    assert line.told[3:] == [(10_250, ["boom 3", "boom 4"])]


def test_waiting_for_the_budget_is_on_record_once() -> None:
    line = Line()
    for number in range(5):
        line.feed(f"boom {number}", "error")
        line.run(250)
    line.run(5_000)
    deferred = [(r.reason, [n.event.text for n in r.notices], r.until) for r in line.step.rulings if r.verdict == "defer"]
    assert deferred == [("over_budget", ["boom 3"], 1_010_250), ("over_budget", ["boom 4"], 1_010_250)]
    assert line.stage.view()["dev"].waits_for == "over_budget"


def spent() -> Line:
    """A lane that has spent its budget and has a warning waiting."""
    line = Line()
    for number in range(3):
        line.feed(f"boom {number}", "error")
        line.run(250)
    line.feed("warned")
    line.run(3_000)
    line.told.clear()
    return line


def test_a_critical_event_passes_the_budget_and_takes_along_what_waits() -> None:
    line = spent()
    line.feed("on fire", "critical")
    line.run(250)
    assert [texts for _, texts in line.told] == [["warned", "on fire"]]


def test_every_other_class_passes_the_budget() -> None:
    line = spent()
    line.feed("m1", traffic="mail")
    line.feed("r1", traffic="return")
    assert [texts for _, texts in line.told] == [["m1"], ["r1"]]
    line.feed("stop", traffic="user")
    line.run(150)
    assert [texts for _, texts in line.told][2:] == [["warned", "stop"]]


def test_a_harness_notice_passes_the_budget() -> None:
    line = spent()
    line.feed("quiet", traffic="notice")
    line.run(150)
    assert [texts for _, texts in line.told] == [["warned", "quiet"]]


def test_batches_that_hold_more_than_events_cost_nothing() -> None:
    line = Line()
    for _ in range(10):
        line.feed("stop", traffic="user")
        line.run(150)
    for number in range(3):
        line.feed(f"boom {number}", "error")
        line.run(250)
    assert len(line.told) == 13


def test_a_lane_spends_only_its_own_budget() -> None:
    line = spent()
    line.feed("elsewhere", lane="ops")
    line.run(3_000)
    assert [texts for _, texts in line.told] == [["elsewhere"]]


def test_a_flush_at_the_end_is_not_counted_against_the_budget() -> None:
    line = spent()
    line.stage.flush(line.now, line.step)
    line.settle()
    assert [texts for _, texts in line.told] == [["warned"]]


def test_without_a_limit_every_batch_goes() -> None:
    line = Line(batches_per_minute=0)
    for number in range(20):
        line.feed(f"boom {number}", "error")
        line.run(250)
    assert len(line.told) == 20
