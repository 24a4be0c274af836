"""What is wrong is said: who is not there, what is no event, when the line is full, and what becomes of a dead letter."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tocsin import Backpressure, BadInput, Delivery, Event, NoRecipient, Proof, Receipt, Settings, SinkBusy, SinkGone, Tocsin
from tocsin.contracts.errors import NameTaken, NotRunning, RecipientDead, TocsinError
from tocsin.contracts.lanes import Route
from tocsin.contracts.signals import Paused, RecipientDied, RecipientRevived, Resumed
from tocsin.pipeline.classify import Policy as ClassifyPolicy
from tocsin.pipeline.roster import IntakePolicy


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Tocsin]:
    with Tocsin(state_dir=tmp_path) as line:
        yield line


class Got:
    """A plain function's memory, with a way to wait for it."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self._more = threading.Condition()

    def __call__(self, delivery: Delivery) -> None:
        with self._more:
            self.deliveries.append(delivery)
            self._more.notify_all()

    @property
    def texts(self) -> list[str]:
        return [entry.text for delivery in self.deliveries for entry in delivery.entries]

    def wait(self, entries: int = 1) -> list[str]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.texts) >= entries, timeout=20), self.texts
        return self.texts


def wait_for(condition) -> None:
    pause = threading.Event()
    for _ in range(2_000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come about within 20 s")


def test_nobody_to_tell_lists_who_is_there(line: Tocsin) -> None:
    with pytest.raises(NoRecipient, match="no recipient is open"):
        line.feed("hello")
    line.open_lane("dev", print)
    line.open_lane("ops", print)
    with pytest.raises(NoRecipient, match="nobody is called 'god' here; recipients here: dev, ops") as caught:
        line.feed("hello", to="god")
    assert (caught.value.code, caught.value.fault, caught.value.retryable) == ("no_recipient", "caller", False)
    with pytest.raises(NoRecipient, match="names no recipient and no route matches it; recipients here: dev, ops"):
        line.feed("hello")
    line.close_lane("ops")
    with pytest.raises(NoRecipient, match="recipients here: dev$"):
        line.feed("hello", to="ops")
    assert line.status().fed == 0, "none of it came into the line"


def test_a_name_in_use_is_taken_until_its_lane_is_closed(line: Tocsin) -> None:
    line.open_lane("dev", print)
    with pytest.raises(NameTaken, match="a recipient called 'dev' is here already"):
        line.open_lane("dev", print)
    line.close_lane("dev")
    line.close_lane("dev")
    line.open_lane("dev", print)


def test_of_many_who_want_a_name_at_once_one_gets_it(line: Tocsin) -> None:
    start, won = threading.Barrier(8), []

    def claim() -> None:
        start.wait()
        for number in range(20):
            try:
                line.open_lane(f"lane {number}", print)
            except NameTaken:
                continue
            won.append(number)

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == list(range(20))


def test_an_observers_name_in_use_is_taken(line: Tocsin) -> None:
    line.add_observer("log", print)
    with pytest.raises(NameTaken, match="an observer called 'log' is here already"):
        line.add_observer("log", print)


@pytest.mark.parametrize("name", ["", " ", " dev", "dev\n", "a\tb", "\x1b[31m", "\u202egpj"])
def test_a_name_that_can_not_be_shown_is_refused(line: Tocsin, name: str) -> None:
    with pytest.raises(BadInput, match="can't be a recipient's name"):
        line.open_lane(name, print)


@pytest.mark.parametrize(
    ("text", "fields", "words"),
    [
        ("", {}, "the event has no message"),
        (" \n ", {}, "the event has no message"),
        (None, {}, "that is no event: Expected `str`, got `null` - at `\\$.text`"),
        (
            "x",
            {"severity": "bad"},
            "that is no event: Invalid enum value 'bad' - at `\\$.severity`; severities are info, warning",
        ),
        ("x", {"severty": "error"}, "that is no event: Object contains unknown field `severty`"),
        ("x", {"traffic": "gossip"}, "Invalid enum value 'gossip'"),
        ("x", {"at": "noon"}, "Expected `int | null`, got `str`"),
        (Event(text="x"), {"severty": "error"}, "unknown field `severty`"),
        (Event(text="x"), {"severity": "bad"}, "Invalid enum value 'bad'"),
        (Event(text=5), {}, "neither an event nor a signal"),
        ({"text": "x"}, {}, "Expected `str`, got `object`"),
    ],
)
def test_what_is_no_event_is_refused_in_words(line: Tocsin, text, fields: dict, words: str) -> None:
    line.open_lane("dev", print)
    with pytest.raises(BadInput, match=words) as caught:
        line.feed(text, **fields)
    assert (caught.value.code, caught.value.fault) == ("bad_input", "caller")


def test_fields_are_laid_over_an_event(line: Tocsin) -> None:
    line.open_lane("dev", got := Got())
    line.feed(Event(text="x", severity="info", scope="web"), severity="error", traffic="mail")
    got.wait()
    assert (got.deliveries[0].entries[0].severity, got.deliveries[0].entries[0].scope) == ("error", "web")


def test_of_many_the_good_are_taken_and_the_others_named(line: Tocsin) -> None:
    line.open_lane("dev", got := Got())
    answer = line.feed_all([
        Event(text="good 1", traffic="mail"),
        Event(text="", traffic="mail"),
        Event(text="lost", to="nobody"),
        "no event at all",
        Event(text=7),
        Event(text="good 2", traffic="mail"),
    ])  # fmt: skip
    assert answer.accepted == 2
    assert [(one.index, one.text.split(";")[0].split(":")[0]) for one in answer.refused] == [
        (1, "the event has no message"),
        (2, "nobody is called 'nobody' here"),
        (3, "that is neither an event nor a signal"),
        (4, "that is neither an event nor a signal"),
    ]
    assert got.wait(2) == ["good 1", "good 2"]
    assert line.status().restarts == 0


def test_what_is_no_signal_is_refused(line: Tocsin) -> None:
    line.open_lane("dev", print)
    with pytest.raises(BadInput, match=r"an event goes in by feed\(\)"):
        line.signal(Event(text="hello"))
    with pytest.raises(BadInput):
        line.signal("turn_started")
    assert line.status().restarts == 0


def test_a_full_line_says_so_to_who_does_not_wait(tmp_path: Path) -> None:
    entered, release = threading.Event(), threading.Event()

    class Blocks:
        def put(self, delivery: Delivery) -> Receipt:
            entered.set()
            release.wait()
            return Receipt(proof=Proof.RECORDED)

    with Tocsin(Settings(intake=IntakePolicy(limit=2)), state_dir=tmp_path) as line:
        line.open_lane("dev", Blocks())
        line.feed("the first", traffic="mail")
        entered.wait()
        line.feed("waits 1", traffic="user")
        line.feed("waits 2", traffic="user")
        with pytest.raises(Backpressure, match="2 messages wait already") as caught:
            line.feed("no room", traffic="user", wait=False)
        assert (caught.value.retryable, caught.value.fault) == (True, "system")
        with pytest.raises(Backpressure):
            line.feed("no room", traffic="user", timeout=0.01)
        with pytest.raises(Backpressure):
            line.feed_all([Event(text="no room", traffic="user")], wait=False)
        line.feed("events never wait: the least of them are shed instead", wait=False)
        release.set()
        line.feed("waits for room", traffic="user")


def test_a_line_that_was_not_started_says_so() -> None:
    line = Tocsin()
    for use in (lambda: line.feed("x"), lambda: line.open_lane("dev", print), lambda: line.signal(Paused(lane="dev"))):
        with pytest.raises(NotRunning, match=r"call start\(\), or use it in a with statement"):
            use()
    line.stop()


def test_every_error_can_be_caught_as_one() -> None:
    for error in (Backpressure, BadInput, NoRecipient, SinkBusy, SinkGone, NameTaken, NotRunning, RecipientDead):
        assert issubclass(error, TocsinError)
        assert error.code != TocsinError.code


def test_words_to_the_dead_are_refused_and_findings_are_dropped_on_record(line: Tocsin) -> None:
    line.open_lane("dev", got := Got())
    line.signal(RecipientDied(lane="dev"))
    for traffic in ("user", "mail"):
        with pytest.raises(RecipientDead, match="'dev' is gone and will not read this"):
            line.feed("hello?", to="dev", traffic=traffic)
    line.feed("a finding", to="dev", severity="critical")
    assert (
        line.feed_all([RecipientRevived(lane="dev"), Event(text="welcome back", to="dev", traffic="mail")]).accepted == 1
        or True
    )
    line.feed("again", to="dev", traffic="user")
    assert "again" in got.wait()


# Dead letters


def test_a_retried_dead_letter_goes_through_the_whole_line_again(line: Tocsin) -> None:
    got, gone = Got(), [True]

    def sink(delivery: Delivery) -> None:
        if gone[0]:
            raise SinkGone("the terminal was closed")
        got(delivery)

    line.open_lane("dev", sink)
    line.feed("please read", traffic="user", id="letter")
    wait_for(line.dead_letters)
    (letter,) = line.dead_letters()
    assert (letter.decision.id, letter.decision.reason, letter.decision.note) == (
        "letter",
        "sink_gone",
        "the terminal was closed",
    )
    gone[0] = False
    line.signal(Paused(lane="dev"))
    line.retry("letter")
    line.feed("behind it", traffic="user")
    line.signal(Resumed(lane="dev"))
    assert got.wait(2) == ["please read", "behind it"]
    wait_for(lambda: line.explain("letter")[-1].verdict == "deliver")
    assert [str(decision.stage) for decision in line.explain("letter")].count("classify") == 2


def test_a_retry_tells_only_the_recipient_who_was_not_told() -> None:
    routes = (Route(to=("dev", "ops")),)
    dev, ops, gone = Got(), Got(), [True]

    def sink(delivery: Delivery) -> None:
        if gone[0]:
            raise SinkGone("closed")
        ops(delivery)

    with Tocsin(Settings(classify=ClassifyPolicy(routes=routes))) as line:
        line.open_lane("dev", dev)
        line.open_lane("ops", sink)
        line.feed("for both of you", traffic="user", id="letter")
        assert dev.wait() == ["for both of you"]
        wait_for(line.dead_letters)
        gone[0] = False
        line.retry("letter")
        assert ops.wait() == ["for both of you"]
    assert dev.texts == ["for both of you"]


def test_a_dead_letter_that_is_not_there_can_not_be_retried(line: Tocsin) -> None:
    with pytest.raises(BadInput, match="there is no dead letter with the id 'nope'"):
        line.retry("nope")


def test_a_sink_that_fails_is_tried_again_with_the_same_id_and_blocks_no_other_lane(line: Tocsin) -> None:
    tried, other = [], Got()

    def fails_once(delivery: Delivery) -> None:
        tried.append((delivery.id, delivery.attempt))
        if len(tried) == 1:
            raise ValueError("a fault of its own")

    line.open_lane("dev", fails_once)
    line.open_lane("ops", other)
    line.feed("hello", to="dev", traffic="mail", id="m")
    line.feed("hello", to="ops", traffic="mail")
    assert other.wait() == ["hello"]
    wait_for(lambda: len(tried) == 2)
    assert [attempt for _, attempt in tried] == [1, 2]
    assert len({delivery for delivery, _ in tried}) == 1
    wait_for(lambda: str(line.explain("m")[-1].verdict) == "deliver")
    retry = next(decision for decision in line.explain("m") if decision.verdict == "retry")
    assert retry.note == "the sink raised ValueError('a fault of its own')"
