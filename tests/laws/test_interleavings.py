"""Whatever is fed, signalled and awaited in whatever order: nothing is lost, nothing overtakes, nobody is disturbed."""

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.actors.messages import Look
from tocsin.actors.tree import Tree
from tocsin.contracts import signals as s
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.pipeline.outage import Mode, Outage, Timing
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

START = 1_700_000_000_000
CAP, NOTICES = 6, 3
LANES = {"typed": True, "shelf": False, "slow": False}
"""Lane → whether it types. ``slow`` has a sink that takes its time and answers when the story says so."""


class Told(NamedTuple):
    """One entry that a lane was told, and when it was offered to the sink for the first time."""

    at: int
    number: int
    traffic: str
    source: str
    scope: str
    urgent: bool
    text: str
    count: int
    severity: str
    overdue: bool
    suppressed: tuple[tuple[str, int], ...]


class Recipient:
    """What the test knows of a recipient, in the plainest words."""

    def __init__(self) -> None:
        self.flags = dict.fromkeys(("turn", "draft", "dialog", "screen", "tool", "wait", "pause", "dead"), False)
        self.turns, self.written, self.wrote_at = False, 0, START - 10**6

    def observe(self, fact: Any, now: int) -> None:
        name = type(fact).__name__
        if isinstance(fact, s.Output):
            self.written = fact.size + (0 if now - self.wrote_at >= 2_000 else self.written)
            self.wrote_at = now
            return
        begins = {"TurnStarted": "turn", "DraftStarted": "draft", "DialogOpened": "dialog", "ScreenTaken": "screen"}
        ends = {"TurnEnded": "turn", "DraftEnded": "draft", "DialogClosed": "dialog", "ScreenReleased": "screen"}
        begins |= {"ToolOpened": "tool", "WaitStarted": "wait", "Paused": "pause", "RecipientDied": "dead"}
        ends |= {"ToolClosed": "tool", "WaitEnded": "wait", "Resumed": "pause"}
        if name in begins:
            self.flags[begins[name]] = True
        elif name in ends:
            self.flags[ends[name]] = False
        elif name == "RecipientRevived":
            self.flags |= dict.fromkeys(("turn", "draft", "dialog", "screen", "tool", "wait", "dead"), False)
        if name in ("TurnStarted", "TurnEnded"):
            self.turns = True
        if name == "TurnEnded":
            self.written = 0

    def active(self, now: int) -> bool:
        return self.flags["turn"] if self.turns else self.written >= 10 and now - self.wrote_at < 2_000


class World:
    """A line under a clock of its own that checks every delivery against what it knows of recipients and scopes."""

    def __init__(self, *lanes: str) -> None:
        self.t, self.fed = START, 0
        self.tree = Tree(Settings(throttle=ThrottlePolicy(max_pending=CAP, max_notices=NOTICES)), self, self)
        self.told: dict[str, list[Told]] = {lane: [] for lane in lanes}
        self.recipients = {lane: Recipient() for lane in lanes}
        self.scopes = {scope: Outage(Timing()) for scope in ("web", "api")}
        self.fed_at: dict[int, tuple[int, bool]] = {}
        self.carried: list[tuple[Delivery, Callable[[Any], None]]] = []
        self.accepted: list[Delivery] = []
        self.wrong: list[Any] = []
        """What should not have been: a fault raised in a sink would only be taken for the sink's."""
        for lane in lanes:
            self.tree.open_lane(LaneSpec(name=lane, typing=LANES[lane]), Slow() if lane == "slow" else self)

    def now(self) -> int:
        return self.t

    # The two kinds of sink

    def put(self, delivery: Delivery) -> Receipt:
        self.look_at(delivery)
        self.accepted.append(delivery)
        return Receipt(proof=Proof.RECORDED)

    def carry(self, sink: Any, delivery: Delivery, done: Callable[[Any], None]) -> None:
        self.never("two under way", any(other.lane == delivery.lane for other, _ in self.carried), delivery)
        if delivery.attempt == 1:
            self.look_at(delivery)
        self.carried.append((delivery, done))

    def look_at(self, delivery: Delivery) -> None:
        suppressed = tuple(sorted(delivery.suppressed.items()))
        for entry in delivery.entries:
            number = int(entry.detail or 0)
            fed_at, urgent = self.fed_at.get(number, (self.t, False))
            one = Told(
                self.t, number, entry.traffic, entry.source, entry.scope, urgent, entry.text, entry.count, entry.severity,
                delivery.overdue, suppressed,
            )  # fmt: skip
            self.told[delivery.lane].append(one)
            self.check_recipient(delivery.lane, one)
            in_outage = entry.traffic == "event" and bool(number) and self.mode(entry) is Mode.FULL
            self.never("told in an outage", in_outage and self.t - fed_at < 3_000, one)

    def mode(self, entry: Any) -> Mode:
        outage = self.scopes.get(entry.scope)
        return Mode.OFF if outage is None else outage.mode

    def check_recipient(self, lane: str, one: Told) -> None:
        recipient, flags = self.recipients[lane], self.recipients[lane].flags
        typing, passes_by = LANES[lane], one.traffic == "mail" or (one.traffic == "notice" and one.urgent)
        closed = typing and any(flags[name] for name in ("draft", "dialog", "screen", "tool", "wait"))
        urgent = one.urgent and not typing
        self.never("the dead was told", flags["dead"], one)
        self.never("typed into something", closed, one)
        self.never("told while waiting", flags["wait"] and not passes_by, one)
        self.never("told in a pause", flags["pause"] and one.traffic not in ("user", "return") and not urgent, one)
        self.never("told while active", recipient.active(self.t) and not one.overdue and (typing or not passes_by), one)

    def never(self, what: str, happened: bool, where: Any) -> None:
        if happened:
            self.wrong.append((what, where))

    # The story

    def play(self, story: list[Any], check: Callable[["World"], None] = lambda _: None) -> "World":
        for number, what in enumerate(spelled_out(story), start=1):
            if isinstance(what, int):
                self.after(what, check)
            elif isinstance(what, Receipt | Exception):
                self.answer(what)
            else:
                self.take(what, number)
            self.tree.dispatcher.run_until_idle()
            check(self)
        assert not self.wrong
        assert not self.tree.supervisor.restarts, self.tree.supervisor.last_trace
        return self

    def take(self, what: Any, number: int) -> None:
        if isinstance(what, tuple):
            lane, fields = what
            if lane in self.told:
                self.fed_at[number] = (self.t, fields["urgent"])
                self.tree.feed([Event(to=lane, detail=str(number), **fields)])
        elif isinstance(what, s.ScopeSignal):
            self.scopes[what.scope].observe(what, self.t)
            self.tree.feed([what])
        elif what.lane in self.recipients:
            self.recipients[what.lane].observe(what, self.t)
            self.tree.feed([what])

    def answer(self, outcome: Any) -> None:
        if self.carried:
            delivery, done = self.carried.pop(0)
            self.accepted += [delivery] if isinstance(outcome, Receipt) else []
            done(outcome)

    def after(self, by: int, check: Callable[["World"], None]) -> None:
        until = self.t + by
        while (due := self.next_due()) is not None and due <= until:
            self.t = max(self.t, due)
            for outage in self.scopes.values():
                outage.tick(self.t)
            self.tree.dispatcher.run_until_idle()
            check(self)
        self.t = until

    def next_due(self) -> int | None:
        dues = [self.tree.dispatcher.next_due(), *(outage.due() for outage in self.scopes.values())]
        return min((due for due in dues if due is not None), default=None)


class Slow:
    """A sink that takes its time."""

    async def deliver(self, delivery: Delivery) -> Receipt:
        raise AssertionError("the courier of this world never calls it")


def spelled_out(story: list[Any]) -> list[Any]:
    """The story with its chapters written out."""
    return [what for chapter in story for what in (chapter if isinstance(chapter, list) else [chapter])]


NOISE = "connect ECONNREFUSED 10.0.0.1:80"
SCOPES = {"boom": "web", "bang": "web", "crash": "api", "slow": "", NOISE: "web"}
"""Text → its scope. Few, so that they repeat."""
SAID = {"boom": "heartbeat:quiet", "bang": "heartbeat:mail", "crash": "heartbeat:mail two", "slow": "breaker:steer:looping"}
IDS = {"bang": ("m1", "m2"), "crash": ("m2", "m3")}
"""As a harness notice, a text has this key and these ids: two heartbeats overlap."""
WORDS = ["lost", "late", "odd", "gone", "torn", "mad", "bad", "sad"]


def item(lane: str, text: str, traffic: str, severity: str = "error", **more: Any) -> tuple[str, dict[str, Any]]:
    if traffic == "notice":
        more = {**more, "key": SAID.get(text, text), "ctx": IDS.get(text, ()), "cleared_when": "read" if text in IDS else ""}
    key = {"key": text} if traffic == "return" else {}
    urgent = more.pop("urgent", False) and traffic == "notice"
    scope = SCOPES.get(text, "api")
    return lane, {"text": text, "traffic": traffic, "severity": severity, "scope": scope, "urgent": urgent, **key, **more}


LANE = st.sampled_from([*LANES])
SEVERITY = st.sampled_from(["info", "warning", "warning", "error", "critical"])
EVENTS = st.builds(
    item,
    LANE,
    st.sampled_from([*SCOPES]),
    st.sampled_from(["event"] * 6 + ["user", "notice", "mail", "return"]),
    severity=SEVERITY,
    source=st.sampled_from(["process_output", "process_output", "process_output", "diagnostic"]),
    category=st.sampled_from(["", "build"]),
    urgent=st.booleans(),
)
FLOODS = st.builds(lambda lane, severity: [item(lane, word, "event", severity) for word in WORDS], LANE, SEVERITY)
CRASH = s.ProcessExited(scope="web", code=1)
OUTAGES = st.builds(
    lambda lane, events, wait, end: [s.TransportFailed(scope="web"), item(lane, NOISE, "event"), *events, wait, *end],
    LANE,
    st.lists(EVENTS, max_size=3),
    st.sampled_from([0, 300, 2_000, 3_100]),
    st.sampled_from([[s.GoodResponse(scope="web"), 500], [s.ProcessStarted(scope="web")], [CRASH], []]),
)
TAKEN = Receipt(proof=Proof.OFFERED)
WRITES = st.builds(
    lambda words, wait, newcomer, outcome: [
        *(item("slow", word, "event", "warning") for word in words), wait, item("slow", *newcomer), outcome, 3_000, TAKEN,
    ],
    st.lists(st.sampled_from(WORDS), min_size=1, unique=True),
    st.sampled_from([3_000, 10_000]),
    st.sampled_from([("boom", "event"), ("crash", "event", "warning"), ("late", "event", "critical"), ("slow", "user")]),
    st.sampled_from([TAKEN, NotNow("a draft"), SinkBusy("locked"), SinkGone("closed")]),
)  # fmt: skip
PLAIN = [
    s.TurnStarted, s.TurnEnded, s.TurnEnded, s.DraftStarted, s.DraftEnded, s.DialogOpened, s.DialogClosed, s.ScreenTaken,
    s.ScreenReleased, s.ToolOpened, s.ToolClosed, s.WaitStarted, s.WaitEnded, s.Paused, s.Resumed, s.RecipientDied,
    s.RecipientRevived,
]  # fmt: skip


STATES = st.builds(
    lambda begins, lane, events, waits, ends: [
        begins(lane=lane), *((lane, fields) for _, fields in events), waits, *(kind(lane=lane) for kind in ends),
    ],
    st.sampled_from([s.TurnStarted, s.DraftStarted, s.DialogOpened, s.ScreenTaken, s.ToolOpened, s.WaitStarted, s.Paused]),
    LANE,
    st.lists(EVENTS, min_size=1, max_size=3),
    st.sampled_from([250, 3_000, 3_500]),
    st.lists(st.sampled_from([s.TurnEnded, s.DraftEnded, s.DialogClosed, s.ToolClosed, s.WaitEnded, s.Resumed]), max_size=2),
)  # fmt: skip


def cleared(lane: str, text: str) -> s.Cleared:
    return s.Cleared(lane=lane, key=SAID.get(text, text), source="process_output", scope=SCOPES[text])


FACTS = st.one_of(
    st.builds(lambda kind, lane: kind(lane=lane), st.sampled_from(PLAIN), LANE),
    st.builds(s.Output, lane=LANE, size=st.sampled_from([4, 50])),
    st.builds(cleared, LANE, st.sampled_from([*SCOPES])),
    st.builds(
        lambda kind, scope: kind(scope=scope),
        st.sampled_from([s.ProcessStarted, s.RestartRequested, s.RebuildStarted, s.TransportFailed, s.GoodResponse]),
        st.sampled_from(["web", "api"]),
    ),
    st.builds(s.ProcessExited, scope=st.just("web"), code=st.sampled_from([0, 1])),
    st.builds(s.RebuildFinished, scope=st.just("web"), ok=st.booleans()),
)
ANSWERS = st.sampled_from([TAKEN] * 4 + [SinkBusy("locked"), NotNow("a draft"), SinkGone("closed")])
TIMES = st.sampled_from([0, 1, 100, 250, 250, 500, 500, 1_000, 2_000, 3_000, 3_000, 10_000, 31_000, 61_000, 400_000, 1_900_000])
CHAPTERS = st.one_of(EVENTS, EVENTS, FLOODS, OUTAGES, WRITES, STATES, FACTS, FACTS, TIMES, TIMES, ANSWERS)
STORIES = st.lists(CHAPTERS, min_size=15, max_size=50)


def conserved(world: World) -> None:
    """Everything that was fed is delivered, folded, dropped by a named verdict, or stands in a table: counted there."""
    status = world.tree.status()
    standing = sum(lane.depth for lane in world.tree.ask(world.tree._throttle, Look()).values())
    assert status.fed == status.delivered + status.folded + sum(status.dropped.values()) + standing
    assert status.pending == standing
    assert status.delivered == sum(len(delivery.entries) for delivery in world.accepted)
    assert status.at_the_door == 0


def within_its_cap(world: World) -> None:
    """What may be evicted never exceeds the cap; the whole table exceeds it only by what may not be."""
    for lane in world.tree._throttle.stage._lanes.values():
        evictable = sum(len(band) for band in lane.bands._bands)
        assert evictable <= CAP
        assert len(lane.notices) <= NOTICES
        under_way = sum(entry.notice.event.traffic == "event" for entry in lane.flying.values())
        assert evictable + under_way <= CAP or all_more_severe(lane) or protected(lane)


def all_more_severe(lane: Any) -> bool:
    lowest = min(entry.severity for band in lane.bands._bands for entry in band.values())
    return any(entry.severity < lowest for entry in lane.flying.values())


def protected(lane: Any) -> bool:
    return any(entry.notice.event.traffic in ("user", "mail", "return") for entry in lane.entries())


@settings(max_examples=100, deadline=None)
@given(STORIES)
def test_what_is_fed_is_delivered_folded_dropped_or_pending_at_every_instant(story: list[Any]) -> None:
    world = World(*LANES).play(story, conserved)
    events = sum(isinstance(what, tuple) for what in spelled_out(story))
    # What the line itself feeds (a warning, a bounced mail) comes on top of what was fed from outside.
    assert world.tree.status().fed >= events


@settings(max_examples=100, deadline=None)
@given(STORIES)
def test_no_table_outgrows_its_cap(story: list[Any]) -> None:
    World(*LANES).play(story, within_its_cap)


@settings(max_examples=120, deadline=None)
@given(STORIES)
def test_nobody_is_told_while_busy_waiting_or_held_and_one_delivery_is_under_way_at_a_time(story: list[Any]) -> None:
    World(*LANES).play(story)  # the world itself looks at every delivery


@settings(max_examples=100, deadline=None)
@given(STORIES)
def test_nothing_overtakes_within_a_lane_a_class_and_a_scope(story: list[Any]) -> None:
    world = World(*LANES).play([*story, *(TAKEN, 61_000) * 6])
    last: dict[tuple[Any, ...], int] = {}
    for delivery in world.accepted:
        for one in (entry for entry in delivery.entries if entry.detail):
            # In a long rebuild diagnostics pass, and an urgent notice passes a wait: these two are meant to overtake.
            urgent = world.fed_at[int(one.detail)][1]
            key = (delivery.lane, one.traffic, one.scope, one.source == "diagnostic", urgent)
            assert int(one.detail) > last.get(key, 0), one
            last[key] = int(one.detail)


@settings(max_examples=60, deadline=None)
@given(STORIES)
def test_no_lane_is_affected_by_another(story: list[Any]) -> None:
    together = World(*LANES).play(story)
    for lane in LANES:
        alone = World(lane).play(story)
        assert alone.told[lane] == together.told[lane]


@settings(max_examples=60, deadline=None)
@given(STORIES)
def test_the_same_story_told_twice_is_the_same_to_the_letter(story: list[Any]) -> None:
    first, second = World(*LANES).play(story), World(*LANES).play(story)
    assert first.told == second.told
    assert repr(first.tree.decisions()) == repr(second.tree.decisions())
    assert first.tree.status() == second.tree.status()


@settings(max_examples=60, deadline=None)
@given(STORIES)
def test_once_nothing_is_in_the_way_everything_ends(story: list[Any]) -> None:
    world = World(*LANES).play(story)
    free = [
        s.RecipientRevived,
        s.TurnEnded,
        s.DraftEnded,
        s.DialogClosed,
        s.ScreenReleased,
        s.ToolClosed,
        s.WaitEnded,
        s.Resumed,
    ]
    world.play([kind(lane=lane) for lane in LANES for kind in free])
    world.play([TAKEN, 100_000] * 90, conserved)
    assert world.tree.status().pending == 0
