"""Telling: signals about the life of a process, what a failed proxy is about, and bounds on what is told."""

from functools import cache

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.contracts.signals import (
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RestartRequested,
    TransportFailed,
)
from tocsin.edges.sources.blocks import FIRST_LINES, LAST_LINES
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue
from tocsin.edges.sources.telling import LONGEST_DETAIL, LONGEST_TEXT

START = Instant(10_000)


@cache
def catalogue() -> Catalogue:
    return Catalogue.load()


def reader(proxied: str | None = None) -> Reader:
    return Reader(catalogue(), scope="api", to="dev", proxied=proxied)


def told(text: str) -> list[object]:
    reading = reader()
    return [*reading.read("stderr", text.encode(), START), *reading.close(START)]


def events(text: str) -> list[Event]:
    return [finding for finding in told(text) if isinstance(finding, Event)]


def signals(text: str) -> list[object]:
    return [finding for finding in told(text) if not isinstance(finding, Event)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("webpack 5.9.0 compiled successfully in 28 ms", [RebuildFinished(scope="api", at=START, ok=True)]),
        ("Found 2 errors. Watching for file changes.", [RebuildFinished(scope="api", at=START, ok=False)]),
        (" ○ Compiling /cart ...", [RebuildStarted(scope="api", at=START)]),
        ("[nodemon] restarting due to changes...", [RestartRequested(scope="api", at=START)]),
        ("[nodemon] starting `node server.js`", [ProcessStarted(scope="api", at=START)]),
        ("[nodemon] app crashed - waiting for file changes before starting...", [ProcessExited(scope="api", at=START, code=1)]),
        ("dotnet watch 🔥 Hot reload of changes succeeded.", [RebuildFinished(scope="api", at=START, ok=True)]),
        ("building...", [RebuildStarted(scope="api", at=START)]),
        ("[vite] hmr update /src/error.tsx", []),
        ("[HMR] Waiting for update signal from WDS...", []),
    ],
)
def test_a_line_about_the_life_of_the_process_is_a_signal(text: str, expected: list[object]) -> None:
    assert signals(f"{text}\n") == expected


def test_a_good_build_after_the_errors_of_the_same_build_is_not_good() -> None:
    """esbuild says that a build is finished whatever came of it."""
    build = "[watch] build started\n{}[watch] build finished\n"
    text = build.format('✘ [ERROR] Could not resolve "x"\n\n') + build.format("")
    assert [finished.ok for finished in signals(text) if isinstance(finished, RebuildFinished)] == [False, True]


def test_a_failed_proxy_is_a_signal_first_and_then_an_event() -> None:
    reading = reader(proxied="backend")
    cause = "Error: connect ECONNREFUSED 127.0.0.1:8000\n    at x (node:net:1:1)\n"
    text = f"9:41:07 AM [vite] http proxy error: /api/me (x3)\n{cause}"
    signal, event = reading.read("stdout", text.encode(), START) + reading.close(START)
    assert signal == TransportFailed(scope="backend", at=START)
    assert isinstance(event, Event)
    assert event.text == "[vite] http proxy error: /api/me: connect ECONNREFUSED 127.0.0.1:8000"
    assert (event.scope, event.category) == ("backend", "transport")


def test_a_failed_proxy_is_about_the_own_scope_if_no_other_is_known() -> None:
    assert signals("[vite] ws proxy error:\n") == [TransportFailed(scope="api", at=START)]


def test_a_detail_keeps_both_ends_of_a_long_block() -> None:
    stack = "".join(f"    at f{number} (/srv/app/a.js:{number}:1)\n" for number in range(500))
    [event] = events(f"Error: deep\n{stack}")
    lines = event.detail.split("\n")
    assert len(lines) == FIRST_LINES + LAST_LINES + 1
    assert lines[FIRST_LINES] == f"… {501 - FIRST_LINES - LAST_LINES} lines left out …"
    assert (lines[0], lines[-1]) == ("Error: deep", "    at f499 (/srv/app/a.js:499:1)")


def test_texts_and_details_have_bounds() -> None:
    [event] = events("ERROR " + "x" * 60_000 + "\n" + "".join("    at " + "y" * 900 + "\n" for _ in range(40)))
    assert len(event.text) == LONGEST_TEXT
    assert len(event.detail) <= LONGEST_DETAIL


def test_a_block_that_never_ends_is_bounded() -> None:
    reading = reader()
    reading.read("out", b"Error: first\n", START)
    for _ in range(20):
        reading.read("out", b"    at x (/srv/app/a.js:1:1)\n" * 5_000, START)
    [event] = reading.close(START)
    assert isinstance(event, Event)
    assert len(event.detail) <= LONGEST_DETAIL
