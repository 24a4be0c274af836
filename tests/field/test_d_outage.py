"""Field cases D01, D02, D04, D06 and D08: outages, their echoes, and what is no echo."""

import runpy
from pathlib import Path

import pytest

from tocsin import Event, Settings
from tocsin.contracts.signals import (
    GoodResponse,
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RestartRequested,
    TransportFailed,
    TurnEnded,
    TurnStarted,
)
from tocsin.pipeline.hold import Policy as HoldPolicy
from tocsin.pipeline.simulate import word

stepping = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))
Line, START = stepping["Line"], stepping["START"]


def told(box) -> list[tuple[int, str]]:
    return [(delivery.at - START, entry.text) for delivery in box.got for entry in delivery.entries]


def error(text: str, **fields: object) -> Event:
    return Event(**{"text": text, "to": "dev", "severity": "error", **fields})


@pytest.mark.parametrize("scope", ["api", "models"])
def test_d01_the_flood_of_a_proxy_is_dropped_and_the_one_useful_line_is_told(scope: str) -> None:
    cause = "SyntaxError: unexpected EOF in models.py"
    with Line(Settings(hold=HoldPolicy(window=5_000))) as line:
        box = line.open("dev")
        world = [(0, TransportFailed(scope="api")), (100, error(cause, scope=scope, source="process_output"))]
        for nth in range(30):
            at = nth * 130
            text = f"http proxy error: /api/{word(nth)} connect ECONNREFUSED 127.0.0.1:8000"
            world += [(at, TransportFailed(scope="api")), (at, error(text, scope="api", source="transport_err"))]
        world += [(200 + nth * 300, error("TypeError: Failed to fetch", scope="api", source="browser_js")) for nth in range(10)]
        world += [(4_000, GoodResponse(scope="api"))]
        line.play(sorted(world, key=lambda timed: timed[0]))
        line.after(20_000)
        # A good response ends an outage once no failure has followed for half a second.
        assert told(box) == [(4_500 if scope == "api" else 250, cause)]
        assert line.tree.status().dropped == {"drop_cascade": 31}
        assert line.balance() == (41, 1, 9, 31, 0)


CHATTER = (
    "[vite] server connection lost. polling for restart…",
    "Error: send was called before connect",
    "[HMR] Waiting for update signal from WDS…",
    "[WDS] Disconnected!",
    "WebSocket: Still in CONNECTING state",
)


@pytest.mark.parametrize("outage", ["restart", "rebuild", "transport"])
def test_d02_the_chatter_of_a_reconnect_is_dropped_on_recovery(outage: str) -> None:
    begins, ends = {
        "restart": ([RestartRequested(scope="web"), ProcessExited(scope="web", code=143)], ProcessStarted(scope="web")),
        "rebuild": ([RebuildStarted(scope="web")], RebuildFinished(scope="web", ok=True)),
        "transport": ([TransportFailed(scope="web")], GoodResponse(scope="web")),
    }[outage]
    with Line() as line:
        box = line.open("dev")
        line.feed(*begins)
        for nth, text in enumerate(CHATTER):
            line.feed(error(text, scope="web", source="browser_js", id=f"chatter {nth}"))
            line.after(100)
        line.after(500)
        line.feed(ends)
        line.after(20_000)
        assert box.got == []
        assert [line.verdicts(f"chatter {nth}")[-1] for nth in range(5)] == ["drop_cascade"] * 5
        assert line.balance() == (5, 0, 0, 5, 0)


def test_d02_the_start_up_line_alone_is_told_as_what_it_is_and_never_as_an_error() -> None:
    with Line() as line:
        box = line.open("dev")
        line.feed(Event(text=CHATTER[2], to="dev", scope="web", source="browser_js", severity="info"))
        line.after(3_000)
        assert [(entry.text, entry.severity) for entry in box.got[0].entries] == [(CHATTER[2], "info")]
        assert "error" not in box.got[0].text


def test_d04_real_errors_of_the_outage_are_told_on_recovery_in_order_and_once() -> None:
    with Line() as line:
        box = line.open("dev")
        line.feed(RestartRequested(scope="web"), ProcessExited(scope="web", code=143, died_of="SIGTERM"))
        line.after(500)
        line.feed(error("TypeError: cart.items is not iterable", scope="web", source="browser_js"))
        line.after(500)
        line.feed(error("ReferenceError: foo", scope="web", source="browser_js"))
        line.until(2_999)
        assert box.got == []
        line.until(3_000)
        line.feed(ProcessStarted(scope="web"))
        line.after(20_000)
        assert told(box) == [(3_000, "TypeError: cart.items is not iterable"), (3_000, "ReferenceError: foo")]
        assert line.balance() == (2, 2, 0, 0, 0)


def test_d06_what_waited_for_an_outage_waits_for_the_busy_recipient_too() -> None:
    with Line(Settings(hold=HoldPolicy(window=10_000))) as line:
        box = line.open("dev", typing=True)
        line.play([
            (0, RebuildStarted(scope="web")),
            (0, error("TypeError: x is undefined", scope="web", source="browser_js", id="e")),
            (4_000, TurnStarted(lane="dev")),
            (5_000, RebuildFinished(scope="web", ok=False)),
        ])  # fmt: skip
        line.until(8_999)
        assert box.got == []
        assert line.tree.status().lanes[0].waits_for == "turn_running"
        line.until(9_000)
        line.feed(TurnEnded(lane="dev"))
        assert told(box) == [(9_000, "TypeError: x is undefined")]
        assert [delivery.attempt for delivery in box.tried] == [1], "neither gate counts against the other, or the sink"
        story = [(d.at - START, str(d.stage), str(d.verdict)) for d in line.tree.explain("e")]
        assert story == [
            (0, "classify", "pass"),
            (0, "fingerprint", "pass"),
            (0, "dedup", "pass"),
            (250, "hold", "hold"),
            (5_000, "hold", "release"),
            (5_000, "defer", "defer"),
            (9_000, "hold", "release"),
            (9_000, "defer", "pass"),
            (9_000, "fanout", "deliver"),
        ]


@pytest.mark.parametrize("scope", ["shop", "api"])
def test_d08_an_application_error_that_uses_the_words_of_an_outage_is_told(scope: str) -> None:
    texts = ["Error: player disconnected before save", "Failed to fetch invoice 77: 422"]
    with Line() as line:
        box = line.open("dev")
        line.feed(TransportFailed(scope="api"))
        line.feed(*(error(text, scope=scope, source="browser_js") for text in texts))
        line.after(1_000)
        assert told(box) == ([(250, text) for text in texts] if scope == "shop" else [])
        line.feed(GoodResponse(scope="api"))
        line.after(20_000)
        assert [text for _, text in told(box)] == texts
