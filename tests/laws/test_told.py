"""Dedup remembers what was told, not what was seen; and the same event has the same print whichever way it came."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.actors.tree import Tree
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import LEVELS, Severity
from tocsin.contracts.signals import RecipientDied, RecipientRevived, TurnEnded, TurnStarted
from tocsin.pipeline.fingerprint import Fingerprint
from tocsin.pipeline.fingerprint import Policy as FingerprintPolicy
from tocsin.pipeline.identity import fingerprint
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.step import Step
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

START = 1_700_000_000_000


class World:
    """One lane, ``dev``, whose shelf takes a delivery or raises what ``answers`` says next."""

    def __init__(self, most: int = 4) -> None:
        self.t, self.answers = START, list[Exception]()
        self.heard: list[tuple[int, str]] = []
        self.tree = Tree(Settings(throttle=ThrottlePolicy(max_pending=most, batches_per_minute=0)), self, self)
        self.tree.open_lane(LaneSpec(name="dev"), self)

    def now(self) -> int:
        return self.t

    def carry(self, *_: object) -> None:
        raise AssertionError("a shelf needs no courier")

    def put(self, delivery: Delivery) -> Receipt:
        if self.answers:
            raise self.answers.pop(0)
        self.heard += [(self.t, entry.text) for entry in delivery.entries]
        return Receipt(proof=Proof.RECORDED)

    def feed(self, *items: object) -> "World":
        self.tree.feed(items)
        self.tree.dispatcher.run_until_idle()
        return self

    def after(self, by: int) -> "World":
        until = self.t + by
        while (due := self.tree.dispatcher.next_due()) is not None and due <= until:
            self.t = max(self.t, due)
            self.tree.dispatcher.run_until_idle()
        self.t = until
        return self

    @property
    def told(self) -> list[str]:
        return [text for _, text in self.heard]

    def pending(self) -> int:
        return self.tree.status().pending


WORDS = ["boom", "bang", "crash", "slow", "lost", "late", "odd", "gone", "torn", "mad"]
MOVES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from([TurnStarted(lane="dev"), TurnEnded(lane="dev"), RecipientDied(lane="dev"), RecipientRevived(lane="dev")]),
    st.sampled_from([SinkGone("closed"), SinkBusy("locked"), NotNow("a draft")]),
    st.sampled_from([0, 100, 3_000, 20_000]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(MOVES, max_size=50))
def test_what_was_never_told_passes_at_its_next_occurrence(moves: list[object]) -> None:
    world = World()
    for move in moves:
        if isinstance(move, str):
            world.feed(Event(text=move, severity="error", at=world.t))
        elif isinstance(move, int):
            world.after(move)
        elif isinstance(move, Exception):
            world.answers.append(move)
        else:
            world.feed(move)
    # Whatever happened: once the way is free, one more occurrence of what was never told is told.
    world.answers.clear()
    world.feed(RecipientRevived(lane="dev"), TurnEnded(lane="dev")).after(100_000)
    assert world.pending() == 0
    for text in WORDS:
        if text not in world.told:
            world.feed(Event(text=text, severity="error")).after(1_000)
            assert world.told[-1] == text


class Memory:
    """What one text should be remembered by, in the plainest words: the same rule, written a second time."""

    def __init__(self) -> None:
        self.pending, self.seen_at, self.remind_at, self.reminders = False, -(10**9), 10**18, 0

    def verdict(self, now: int) -> str:
        quiet, self.seen_at = now - self.seen_at >= 60_000, now
        if self.pending or not (quiet or now >= self.remind_at):
            return "fold"
        self.pending, self.reminders = True, 0 if quiet else self.reminders
        return "pass" if quiet else "remind"

    def told(self, now: int) -> None:
        self.pending, self.remind_at = False, now + (1, 5, 30)[min(self.reminders, 2)] * 60_000
        self.reminders += 1


TWO_WORDS = st.sampled_from(WORDS[:2])
TURNS = st.sampled_from([TurnStarted(lane="dev"), TurnEnded(lane="dev")])
WAITS = st.sampled_from([0, 100, 3_000, 20_000, 50_000, 50_000, 59_999, 60_000, 400_000])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(WORDS[:2]), st.sampled_from(WORDS[:2]), TURNS, WAITS, WAITS), min_size=15, max_size=60)
)
def test_an_occurrence_passes_reminds_or_is_folded_exactly_as_the_rule_says(moves: list[object]) -> None:
    world, memories = World(most=50), {text: Memory() for text in WORDS}
    cursor, heard = 0, 0

    def now_told() -> None:
        nonlocal heard
        for moment, text in world.heard[heard:]:
            memories[text].told(moment)
        heard = len(world.heard)

    for move in moves:
        if isinstance(move, int):
            world.after(move)
        else:
            world.feed(Event(text=move, severity="error") if isinstance(move, str) else move)
        decisions, cursor = world.tree.decisions(cursor)
        if isinstance(move, str):
            [verdict] = [decision.verdict for decision in decisions if decision.stage == "dedup"]
            assert verdict == memories[move].verdict(world.t)
        now_told()


# One print


def printed(level: str, *events: Event) -> list[str]:
    step: Step[Notice] = Step()
    notices = [Notice(n, event, "dev", LEVELS[event.severity], START) for n, event in enumerate(events)]
    Fingerprint(FingerprintPolicy(level=level)).offer(notices, START, step)
    assert [notice.serial for notice in step.out] == list(range(len(events)))
    return [notice.fingerprint for notice in step.out]


EVENTS = st.builds(
    Event,
    text=st.one_of(st.text(min_size=1, max_size=60), st.sampled_from(["boom at 0x7f2a", "took 31 ms", "GET /a/17 500"])),
    source=st.sampled_from(["process_output", "browser_js"]),
    scope=st.sampled_from(["web", "api", ""]),
    frame=st.sampled_from(["", "", "cart.py in total"]),
    key=st.sampled_from(["", "", "k1"]),
    id=st.sampled_from(["", "m1"]),
    traffic=st.sampled_from(["event", "event", "user", "notice", "mail", "return"]),
)


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=30), st.sampled_from(["strict", "standard", "loose"]))
def test_a_print_does_not_depend_on_the_company_it_comes_in(events: list[Event], level: str) -> None:
    assert printed(level, *events) == [alone for event in events for alone in printed(level, event)]


@settings(deadline=None)
@given(EVENTS, st.sampled_from(["strict", "standard", "loose"]))
def test_the_stage_prints_what_the_one_function_prints(event: Event, level: str) -> None:
    key = event.key
    if event.traffic == "mail":
        key = event.id or event.key
    elif event.traffic == "return":
        key = event.key or event.id
    expected = fingerprint(event.source, event.scope, event.text, level, frame=event.frame, key=key)
    assert printed(level, event) == [expected]


def test_mail_is_itself_by_its_id_whatever_its_key() -> None:
    def mail(number: str) -> Event:
        return Event(text="report", traffic="mail", id=number, key="topic")

    first, second, again = printed("standard", mail("m1"), mail("m2"), mail("m1"))
    assert first == again != second


def test_severity_recipient_and_detail_are_no_part_of_a_print() -> None:
    base = Event(text="boom", scope="web")
    others = [
        Event(text="boom", scope="web", severity="critical"),
        Event(text="boom", scope="web", to="ops"),
        Event(text="boom", scope="web", detail="at main", category="build", at=5),
    ]
    assert len(set(printed("standard", base, *others))) == 1


def test_source_scope_frame_and_key_are_part_of_a_print() -> None:
    kinds = [{}, {"source": "browser_js"}, {"scope": "api"}, {"frame": "a.py in f"}, {"key": "k"}]
    assert len(set(printed("standard", *(Event(text="boom", **kind) for kind in kinds)))) == len(kinds)


def test_a_notice_comes_out_as_it_went_in_but_for_its_print() -> None:
    step: Step[Notice] = Step()
    went_in = Notice(7, Event(text="boom", frame="a.py"), "dev", Severity.ERROR, START)
    Fingerprint(FingerprintPolicy()).offer([went_in], START, step)
    [came_out] = step.out
    assert (came_out.serial, came_out.event, came_out.lane, came_out.severity, came_out.at) == (
        went_in.serial, went_in.event, went_in.lane, went_in.severity, went_in.at,
    )  # fmt: skip
    assert [(r.verdict, r.reason) for r in step.rulings] == [("pass", "message_and_frame")]
