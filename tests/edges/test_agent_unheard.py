"""Unheard: what hooks said is kept in its order until it is taken note of, whoever else writes and whatever is cut off."""

import threading
from pathlib import Path

import pytest

from tocsin.edges.agent_hooks.unheard import LARGEST, Unheard


def event(nth: object) -> dict[str, str]:
    return {"hook_event_name": "PreToolUse", "tool_use_id": str(nth)}


@pytest.fixture
def unheard(tmp_path: Path) -> Unheard:
    return Unheard(tmp_path / "tocsin.db", "dev")


def test_what_was_kept_is_read_in_its_order_and_is_gone_once_it_is_dropped(unheard: Unheard) -> None:
    assert (bool(unheard), unheard.read()) == (False, ([], 0))
    unheard.add(event(1))
    unheard.add(event(2))
    said, upto = unheard.read()
    assert (bool(unheard), said) == (True, [event(1), event(2)])
    unheard.add(event(3))
    unheard.drop(upto)
    assert unheard.read()[0] == [event(3)]
    unheard.drop(unheard.read()[1])
    assert (bool(unheard), list(unheard.path.parent.iterdir())) == (False, [])


def test_each_recipient_has_a_file_of_its_own_beside_the_database(unheard: Unheard) -> None:
    other = Unheard(unheard.path.with_name("tocsin.db"), "b/ü\udcff")
    other.add(event(1))
    assert (unheard.read()[0], other.path.parent) == ([], unheard.path.parent)
    assert other.path.name.startswith("tocsin.db.hooks-")


def test_a_line_that_was_cut_off_or_is_none_hides_no_other(unheard: Unheard) -> None:
    unheard.path.write_bytes(b'{"hook_ev\n[]\n{"hook_event_name": 1}\n')
    unheard.add(event(1))
    with unheard.path.open("ab") as file:
        file.write(b'{"hook_event_name": "Sto')
    assert unheard.read()[0] == [event(1)]
    unheard.add(event(2))
    assert unheard.read()[0] == [event(1), event(2)]


def test_it_does_not_grow_for_ever(unheard: Unheard) -> None:
    for nth in range(200):
        unheard.add({**event(nth), "message": "x" * 1_000})
    assert unheard.path.stat().st_size < LARGEST + 2_000
    assert unheard.read()[0][-1]["tool_use_id"] == "199"


def test_nothing_is_lost_while_one_drops_and_others_add(unheard: Unheard) -> None:
    seen: list[str] = []
    writers = [
        threading.Thread(target=lambda who=who: [unheard.add(event(f"{who}-{nth}")) for nth in range(50)]) for who in range(4)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers) or unheard:
        said, upto = unheard.read()
        unheard.drop(upto)
        seen += [one["tool_use_id"] for one in said]
    assert sorted(seen) == sorted(f"{who}-{nth}" for who in range(4) for nth in range(50))
