"""The door: bounded, events shed by severity and counted, everybody else's words never shed and first in line."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.actors.intake import Door
from tocsin.contracts.errors import Backpressure, NotRunning
from tocsin.contracts.events import Event
from tocsin.contracts.severity import LEVELS
from tocsin.contracts.signals import TransportFailed, TurnStarted

PROTECTED = ("user", "notice", "mail", "return")


def events(*severities: str, start: int = 0) -> list[Event]:
    return [Event(text=f"{severity} {start + nth}", severity=severity) for nth, severity in enumerate(severities)]


def word(text: str, traffic: str = "user") -> Event:
    return Event(text=text, traffic=traffic)


def flat(chunk) -> list:
    return [one for item in chunk for one in (item if isinstance(item, list) else [item])]


def emptied(door: Door, most: int = 64) -> tuple[list, list]:
    taken, shed = [], []
    while not door.empty():
        chunk, gone = door.take(most)
        taken += flat(chunk)
        shed += gone
    return taken, shed


def test_up_to_its_limit_everything_is_kept_in_order() -> None:
    door = Door(6)
    first, second = events("error", "info", "warning"), events("info", "info", "critical", start=3)
    assert door.put(first, wait=False) is True, "it was empty: the intake has to be told"
    assert door.put(second, wait=False) is False
    assert door.depth() == 6
    assert emptied(door) == ([*first, *second], [])


def test_over_the_limit_the_oldest_of_the_lowest_severity_go_and_no_other() -> None:
    door = Door(10)
    fed = events(*["info"] * 6, *["warning"] * 6, *["error"] * 6)
    door.put(fed, wait=False)
    assert door.depth() == 10
    taken, shed = emptied(door)
    assert shed == fed[:8], "all six infos and the two oldest warnings"
    assert taken == fed[8:]


def test_an_error_that_came_first_survives_a_flood_of_warnings() -> None:
    door = Door(100)
    door.put(events("error"), wait=False)
    for start in range(0, 10_000, 50):
        door.put(events(*["warning"] * 50, start=start), wait=False)
    taken, shed = emptied(door)
    assert taken[0].text == "error 0"
    assert taken[-1].text == "warning 9999"
    assert len(taken) + len(shed) == 10_001
    assert door.high_water <= 100


@given(
    limit=st.integers(1, 60),
    steps=st.lists(
        st.one_of(st.integers(1, 20), st.lists(st.sampled_from(list(LEVELS)), min_size=1, max_size=40)), max_size=25
    ),
)
def test_what_is_fed_is_taken_or_shed_once_and_shedding_spares_the_severe(limit: int, steps: list) -> None:
    door, fed, standing, taken, shed = Door(limit), [], [], [], []
    for step in steps:
        if isinstance(step, int):
            chunk, _ = door.take(step)
            taken += flat(chunk)
            assert flat(chunk) == standing[:step]
            del standing[:step]
            continue
        put = events(*step, start=len(fed))
        fed += put
        door.put(put, wait=False)
        _, gone = door.take(0)
        shed += gone
        standing = [event for event in (*standing, *put) if event not in gone]
        assert door.depth() == len(standing) <= limit
        if gone:
            assert len(standing) >= limit - limit // 16, "no more than it takes, and a sixteenth"
            assert max(LEVELS[e.severity] for e in gone) <= min((LEVELS[e.severity] for e in standing), default=3)
    rest, gone = emptied(door)
    assert gone == []
    assert Counter(map(id, taken + rest + shed)) == Counter(map(id, fed))


def test_each_severity_sheds_its_oldest_first() -> None:
    door = Door(4)
    door.put(events("warning", "info", "warning", "info"), wait=False)
    door.put(events("warning", "warning", "warning", start=4), wait=False)
    taken, shed = emptied(door)
    assert sorted(event.text for event in shed) == ["info 1", "info 3", "warning 0"]
    assert [event.text for event in taken] == ["warning 2", "warning 4", "warning 5", "warning 6"]


@pytest.mark.parametrize("traffic", PROTECTED)
def test_words_are_never_shed_and_are_taken_before_the_flood(traffic: str) -> None:
    door = Door(50)
    door.put(events(*["critical"] * 500), wait=False)
    words = [word(f"word {number}", traffic) for number in range(50)]
    for one in words:
        door.put([one], wait=False)
    chunk, _ = door.take(50)
    assert chunk == words


@pytest.mark.parametrize("traffic", PROTECTED)
def test_a_full_door_raises_backpressure_for_who_does_not_wait_and_takes_nothing_of_what_was_fed(traffic: str) -> None:
    door = Door(2)
    door.put([word("a", traffic), word("b", traffic)], wait=False)
    with pytest.raises(Backpressure, match="2 messages wait already") as caught:
        door.put([*events("error"), word("c", traffic)], wait=False)
    assert caught.value.retryable
    assert [event.text for event in emptied(door)[0]] == ["a", "b"]


def test_who_waits_is_let_in_when_there_is_room() -> None:
    door = Door(1)
    door.put([word("a")], wait=False)
    waiting = threading.Thread(target=lambda: door.put([word("b")], wait=True))
    waiting.start()
    assert door.take(1)[0] == [word("a")]
    waiting.join()
    assert door.take(1)[0] == [word("b")]


def test_a_timeout_counts_from_the_call_however_often_others_move() -> None:
    door, stop = Door(2), threading.Event()
    door.put([word("a"), word("b")], wait=False)

    def stir() -> None:
        while not stop.wait(0.01):
            door.put_from_within([word("again")])
            door.take(1)

    stirring = threading.Thread(target=stir)
    stirring.start()
    with pytest.raises(Backpressure):
        door.put([word("c")], wait=True, timeout=0.05)
    stop.set()
    stirring.join()


def test_more_words_at_once_than_it_holds_are_let_in_when_no_others_wait() -> None:
    door = Door(10)
    many = [word(str(number)) for number in range(25)]
    door.put(many, wait=True)
    assert emptied(door)[0] == many


def test_closed_it_refuses_with_the_reason_and_wakes_who_waits() -> None:
    door, raised = Door(1), []
    door.put([word("a")], wait=False)

    def wait() -> None:
        try:
            door.put([word("b")], wait=True)
        except NotRunning as error:
            raised.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    door.close("the line has been stopped")
    waiting.join()
    assert raised == ["the line has been stopped"]
    with pytest.raises(NotRunning, match="the line has been stopped"):
        door.put(events("error"), wait=False)
    assert emptied(door)[0] == [word("a")], "what was in can still be taken"


def test_what_the_line_makes_itself_is_let_in_always() -> None:
    door = Door(1)
    door.put([word("a", "mail")], wait=False)
    door.close("stopped")
    door.put_from_within([word("bounced", "mail")])
    assert [event.text for event in emptied(door)[0]] == ["a", "bounced"]


def test_a_scope_signal_keeps_its_place_among_events_and_is_never_shed() -> None:
    door = Door(4)
    before, signal, after = events("info", "info"), TransportFailed(scope="api"), events("info", "error", "error", start=2)
    door.put([*before, signal, *after], wait=False)
    taken, shed = emptied(door, most=1)
    assert shed == before[:1]
    assert taken == [before[1], signal, *after]


def test_a_lane_signal_stands_among_the_words() -> None:
    door = Door(4)
    signal = TurnStarted(lane="dev")
    door.put([*events("error"), word("a"), signal, word("b")], wait=False)
    assert flat(door.take(10)[0]) == [word("a"), signal, word("b"), *events("error")]


def test_a_word_that_is_no_severity_is_shed_first_and_breaks_nothing() -> None:
    door = Door(2)
    odd = Event(text="odd", severity="catastrophe")
    door.put([odd, *events("info", "warning")], wait=False)
    assert emptied(door) == (events("info", "warning"), [odd])


def test_many_feeders_and_one_taker_lose_nothing() -> None:
    door, got, running = Door(500), [], 4

    def feed(name: int) -> None:
        for number in range(300):
            door.put([word(f"{name}:{number}")], wait=True)

    feeders = [threading.Thread(target=feed, args=(name,)) for name in range(running)]
    for feeder in feeders:
        feeder.start()
    while len(got) < 1_200:
        got += [event.text for event in door.take(7)[0]]
    for feeder in feeders:
        feeder.join()
    assert all([t for t in got if t.startswith(f"{name}:")] == [f"{name}:{n}" for n in range(300)] for name in range(running))
