"""The text of the status row: what is pending, what of it is held and deferred, why each is, and what was suppressed."""

import runpy
from pathlib import Path

from tocsin import Event, Settings
from tocsin.cli.run import row_text
from tocsin.contracts.base import Instant
from tocsin.contracts.signals import Paused, RebuildFinished, RebuildStarted, Resumed, TurnStarted
from tocsin.contracts.status import LaneStatus, Status
from tocsin.pipeline.hold import Policy as HoldPolicy

Line = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))["Line"]


def error(text: str, **fields: object) -> Event:
    return Event(**{"text": text, "to": "dev", "severity": "error", **fields})


def row(**fields: object) -> str:
    lane = LaneStatus(name="dev", **fields)
    status = Status(
        at=Instant(1_000), fed=0, delivered=0, folded=0, dropped={}, pending=0, at_the_door=0, lanes=(lane,), scopes={},
        tallies=(), untold={}, dead_letters=0, restarts=0,
    )  # fmt: skip
    return row_text("dev", status)


def test_what_is_held_and_what_is_deferred_stand_apart_each_with_its_reason() -> None:
    with Line(Settings(hold=HoldPolicy(window=10_000))) as line:
        line.open("dev", typing=True)
        line.feed(RebuildStarted(scope="web"), TurnStarted(lane="dev"))
        line.feed(error("TypeError: x", scope="web"), error("disk full"), error("port taken"))
        line.after(1_000)
        shown = row_text("dev", line.tree.status())
        assert shown.startswith("tocsin dev: 3 pending, ")
        assert shown.endswith(" · 1 held: scope in outage · 2 deferred: turn running · 0 delivered")


def test_what_an_outage_held_and_a_busy_recipient_now_keeps_is_deferred() -> None:
    with Line(Settings(hold=HoldPolicy(window=10_000))) as line:
        line.open("dev", typing=True)
        line.feed(RebuildStarted(scope="web"), error("TypeError: x", scope="web"))
        line.after(1_000)
        assert "1 held: scope in outage" in row_text("dev", line.tree.status())
        line.feed(Paused(lane="dev"), RebuildFinished(scope="web", ok=False))
        line.after(1_000)
        assert row_text("dev", line.tree.status()) == "tocsin dev: 1 pending · 1 deferred: lane paused · 0 delivered"
        line.feed(Resumed(lane="dev"))
        line.after(1_000)
        assert row_text("dev", line.tree.status()) == "tocsin dev: 0 pending · 1 delivered"


def test_what_only_gathers_or_is_under_way_says_so_itself() -> None:
    gathers = row(depth=2, waits_for="batch_window", until=Instant(2_400), delivered=12, suppressed={"info": 3, "error": 1})
    assert gathers == "tocsin dev: 2 pending: batch window, 1.4 s · 4 suppressed · 12 delivered"
    assert row(depth=1, waits_for="sink") == "tocsin dev: 1 pending: sink · 0 delivered"


def test_without_its_lane_the_row_is_the_name() -> None:
    assert row_text("other", Status(
        at=Instant(0), fed=0, delivered=0, folded=0, dropped={}, pending=0, at_the_door=0, lanes=(), scopes={}, tallies=(),
        untold={}, dead_letters=0, restarts=0,
    )) == "tocsin other"  # fmt: skip
