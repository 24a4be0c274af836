"""View and activity: which output is work, and how often that is told."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tocsin.edges.terminal.activity import PERIOD, Activity, plain
from tocsin.edges.terminal.view import View


def looks(*frames: str) -> list[bool]:
    view = View(24, 80)
    changes = []
    for frame in frames:
        view.show(frame.encode())
        changes.append(view.look())
    return changes


def frame(*rows: str) -> str:
    return "\x1b[H" + "\x1b[K\r\n".join(rows)


def test_a_clock_and_a_counter_in_place_are_no_change() -> None:
    shown = [frame("> ", f"  ready · 12:00:{second:02} · {second} tokens") for second in range(5, 15)]
    assert looks(*shown) == [True] + [False] * 9


def test_numbers_that_get_longer_are_no_change() -> None:
    assert looks(frame("  9s", "9 %"), frame(" 10s", "100 %")) == [True, False]


def test_one_spinning_cell_is_a_change_round_after_round() -> None:
    assert looks(frame("  thinking"), *[f"\x1b[1;1H{sign}" for sign in "⠋⠙⠹⠸⠋⠙⠹⠸"]) == [True] * 9


def test_two_status_parts_in_turn_are_no_change() -> None:
    parts = [part for n in range(6) for part in (f"\x1b[1;1H12:00:0{n}", f"\x1b[2;1Hcpu {n} %")]
    assert looks(*parts) == [True, True] + [False] * 10


def test_a_repaint_of_the_same_is_no_change_however_it_is_cut() -> None:
    whole = frame("one", "two", "three")
    view = View(24, 80)
    view.show(whole.encode())
    assert view.look()
    for byte in whole.encode():
        view.show(bytes([byte]))
    assert not view.look()
    assert not view.look()


def test_lines_that_run_on_are_a_change_even_if_all_alike() -> None:
    assert looks(*["y\r\n" * 30] * 3) == [True] * 3


def test_a_moved_cursor_and_new_colours_are_no_change() -> None:
    assert looks("text", "\x1b[5;5H\x1b[?25l\x1b[31m", "\x1b]0;title\x07") == [True, False, False]


def test_a_flood_costs_no_more_than_a_screenful() -> None:
    view = View(4, 40)
    for n in range(20_000):
        view.show(b"line %06d of a long output\r\n" % n)
    assert sum(map(len, view._fresh)) < 20_000
    assert view.look()
    assert view.screen.text() == [*(f"line {n:06} of a long output" for n in range(19_997, 20_000)), ""]


def test_a_dialog_is_seen_and_gone_again() -> None:
    view = View(24, 80)
    view.show(b"Do you want to proceed?\r\n\xe2\x9d\xaf 1. Yes\r\n  2. No\r\n")
    view.look()
    assert view.dialog
    view.show(b"\x1b[3A\x1b[J> ")
    view.look()
    assert not view.dialog


def test_plain_text_runs_on() -> None:
    assert plain(b"one\ntwo\r\nthree")
    assert not plain(b"\r 50 %")
    assert not plain(b"50 %\r")
    assert not plain(b"\x1b[A")
    assert not plain(b"\b\b|")


def test_the_first_output_is_told_at_once_and_the_rest_ten_times_a_second() -> None:
    told: list[int] = []
    activity = Activity(told.append)
    activity.output(b"hello", 10.0)
    assert told == [5]
    activity.output(b"1234567", 10.05)
    activity.output(b"8", 10.09)
    assert told == [5]
    activity.settle(10.1)
    assert told == [5, 8]


def test_output_that_changed_nothing_is_never_told() -> None:
    told: list[int] = []
    activity = Activity(told.append)
    activity.output(b"\x1b[H" + b"x" * 497, 1.0)
    activity.looked(False, 1.02)
    activity.output(b"\x1b[H" + b"x" * 17, 9.0)
    activity.looked(True, 9.02)
    activity.settle(20.0)
    assert told == [20]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.3]), st.integers(1, 99)), max_size=40))
def test_no_two_reports_are_closer_than_the_period_and_no_byte_is_lost(steps: list[tuple[float, int]]) -> None:
    now, told = 0.0, []
    activity = Activity(lambda size: told.append((now, size)))
    for pause, size in steps:
        now += pause
        activity.output(b"x" * size, now)
    now += PERIOD
    activity.settle(now)
    assert sum(size for _, size in told) == sum(size for _, size in steps)
    assert all(later - earlier >= PERIOD - 1e-9 for (earlier, _), (later, _) in pairwise(told))


def test_what_came_just_before_a_new_size_is_looked_at_all_the_same() -> None:
    view = View(10, 60)
    view.show(b"Do you want to proceed?\r\n\xe2\x9d\xaf 1. Yes\r\n  2. No\r\n")
    view.look()
    assert view.dialog
    view.show(b"\x1b[2J\x1b[H* went on\r\n> ")
    view.resize(12, 50)
    assert view.fresh
    view.look()
    assert not view.dialog
    assert not view.fresh
