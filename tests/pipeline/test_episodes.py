"""Episodes: a bounded memory in which a lane within its fair share loses nothing to another lane's flood."""

from tocsin.contracts.events import Event
from tocsin.contracts.notices import TEXTS_KEPT, Notice
from tocsin.contracts.severity import Severity
from tocsin.pipeline.episodes import Episode, Episodes
from tocsin.pipeline.stage import NEVER


def episode(fingerprint: str, now: int = 0) -> Episode:
    return Episode(fingerprint, Severity.WARNING, now, now, now, text="boom")


def filled(most: int, **lanes: int) -> Episodes:
    """A memory of at most ``most`` episodes, each lane with so many of them, one a millisecond."""
    episodes = Episodes(most)
    for lane, count in lanes.items():
        for nth in range(count):
            episodes.add(episodes.table(lane), episode(f"{lane}-{nth}", nth))
    return episodes


def test_the_memory_never_holds_more_than_its_bound() -> None:
    assert len(filled(100, dev=1_000)) == 100


def test_the_first_in_are_the_first_out() -> None:
    assert list(filled(3, dev=5).known("dev")) == ["dev-2", "dev-3", "dev-4"]


def test_one_that_was_seen_again_gets_a_second_chance() -> None:
    episodes = filled(3, dev=3)
    episodes.known("dev")["dev-0"].last_at = 50
    episodes.add(episodes.table("dev"), episode("new", 60))
    assert list(episodes.known("dev")) == ["dev-0", "dev-2", "new"]


def test_a_second_chance_is_one_chance() -> None:
    episodes = filled(2, dev=2)
    episodes.known("dev")["dev-0"].last_at = 50
    episodes.add(episodes.table("dev"), episode("x", 60))
    episodes.add(episodes.table("dev"), episode("y", 61))
    assert list(episodes.known("dev")) == ["x", "y"]


def test_if_all_were_seen_again_the_oldest_still_goes() -> None:
    episodes = filled(3, dev=3)
    for one in episodes.known("dev").values():
        one.last_at = 50
    episodes.add(episodes.table("dev"), episode("new", 60))
    assert list(episodes.known("dev")) == ["dev-1", "dev-2", "new"]


def test_a_lane_within_its_fair_share_takes_room_from_the_fullest() -> None:
    episodes = filled(10, dev=9, ops=1)
    for nth in range(3):
        episodes.add(episodes.table("ops"), episode(f"ops-new-{nth}", 100 + nth))
    assert len(episodes.known("ops")) == 4
    assert len(episodes.known("dev")) == 6
    assert "ops-0" in episodes.known("ops")


def test_a_flood_beyond_its_fair_share_pays_for_itself() -> None:
    episodes = filled(10, ops=4, dev=6)
    for nth in range(1_000):
        episodes.add(episodes.table("dev"), episode(f"flood-{nth}", 100 + nth))
    assert list(episodes.known("ops")) == ["ops-0", "ops-1", "ops-2", "ops-3"]
    assert len(episodes) == 10


def test_forgetting_makes_room() -> None:
    episodes = filled(2, dev=2)
    assert episodes.forget("dev", "dev-1") is True
    assert episodes.forget("dev", "dev-1") is False
    episodes.add(episodes.table("dev"), episode("new", 60))
    assert list(episodes.known("dev")) == ["dev-0", "new"]


def test_one_that_was_forgotten_and_came_again_is_not_evicted_by_its_old_place() -> None:
    episodes = filled(2, dev=2)
    episodes.forget("dev", "dev-0")
    episodes.add(episodes.table("dev"), episode("dev-0", 60))
    episodes.add(episodes.table("dev"), episode("new", 61))
    assert list(episodes.known("dev")) == ["dev-0", "new"]


def test_closing_a_lane_makes_room_for_the_others() -> None:
    episodes = filled(10, dev=5, ops=5)
    episodes.close("dev")
    assert len(episodes) == 5
    assert episodes.known("dev") == {}


def test_looking_into_a_lane_that_is_not_there_makes_none() -> None:
    episodes = filled(4, dev=2)
    assert episodes.known("ghost") == {}
    assert episodes.forget("ghost", "x") is False
    # With a table for the ghost the fair share would be 2 instead of 4, and the lane would no longer take what is free.
    episodes.add(episodes.table("dev"), episode("new", 60))
    assert len(episodes) == 3


def test_what_is_lost_is_forgotten_and_its_place_in_the_ring_is_cleared_in_time() -> None:
    episodes = Episodes(10_000)
    for nth in range(5_000):
        episodes.add(episodes.table("dev"), episode(f"e{nth}", nth))
        episodes.lose("dev", [f"e{nth}", "unknown"])
    assert len(episodes) == 0
    assert episodes.known("dev") == {}
    assert len(episodes.table("dev").ring) <= 257
    episodes.lose("ghost", ["e1"])  # a lane that is not there has lost nothing


def test_an_opened_episode_knows_nothing_of_its_past() -> None:
    one = episode("boom", 0)
    one.pending, one.since, one.reminders, one.remind_at = False, 7, 3, 60_000
    one.open(Notice(9, Event(text="bang"), "dev", Severity.ERROR, 5_000, "boom"), 5_000)
    assert (one.first_at, one.last_at, one.severity, one.text) == (5_000, 5_000, Severity.ERROR, "bang")
    assert (one.pending, one.since, one.reminders, one.remind_at) == (True, 0, 0, NEVER)


def test_a_reopened_episode_keeps_when_it_began_and_how_bad_it_was() -> None:
    one = Episode("boom", Severity.ERROR, 1_000, 2_000, 1_000, text="boom")
    one.since, one.reminders = 7, 2
    one.reopen(Notice(9, Event(text="bang"), "dev", Severity.WARNING, 5_000, "boom"), 5_000)
    assert (one.first_at, one.last_at, one.severity, one.since, one.reminders) == (1_000, 5_000, Severity.ERROR, 0, 2)


def test_texts_are_kept_up_to_one_more_than_are_shown() -> None:
    one = episode("boom")
    for number in range(40):
        one.note(f"boom {number % 20}")
    assert one.texts == tuple(f"boom {number}" for number in range(TEXTS_KEPT + 1))


def test_gathering_empties_what_it_gathered() -> None:
    one = episode("boom")
    one.fresh, one.last_at = 3, 700
    one.note("boom 2")
    fold = one.gather()
    assert (fold.count, fold.last_at, fold.severity, fold.texts) == (3, 700, Severity.WARNING, ("boom 2",))
    assert (one.fresh, one.texts) == (0, ())
