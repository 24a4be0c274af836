"""Cascade: what only says that something else was away, told apart from what an application did wrong."""

import pickle

import pytest

from tocsin.pipeline.cascade import DEFAULT_PATTERNS, Cascade

BUILT_IN = Cascade(DEFAULT_PATTERNS)

NOISE = [
    # Vite
    "[vite] server connection lost. Polling for restart...",
    "[vite] connecting...",
    "[vite] WebSocket disconnected, reconnecting",
    "[vite] http proxy error: /api/users",
    "[vite] ws proxy error:",
    "[vite] ws proxy socket error:",
    "Error: send was called before connect",
    "at ViteHotContext.send (client.ts:42)",
    "@vite/client: connection lost",
    # webpack and Next
    "[HMR] Waiting for update signal from WDS...",
    "[WDS] Disconnected!",
    "[webpack-dev-server] Disconnected!",
    "[webpack-dev-server] Trying to reconnect...",
    "GET http://localhost:3000/__webpack_hmr net::ERR_ABORTED",
    "WebSocket connection to 'ws://localhost:3000/_next/webpack-hmr' failed",
    "[Fast Refresh] rebuilding",
    # Browsers and runtimes
    "Uncaught (in promise) TypeError: Failed to fetch",
    "TypeError: fetch failed",
    "TypeError: Load failed",
    "TypeError: NetworkError when attempting to fetch resource.",
    "GET http://localhost:5173/api net::ERR_CONNECTION_REFUSED",
    "net::ERR_NETWORK_CHANGED",
    "net::ERR_INTERNET_DISCONNECTED",
    "net::ERR_EMPTY_RESPONSE",
    "WebSocket connection to 'ws://localhost:5173/' failed: Error during WebSocket handshake",
    "WebSocket is already in CLOSING or CLOSED state.",
    "connect ECONNREFUSED 127.0.0.1:3000",
    "read ECONNRESET",
    "Error: socket hang up",
    "dial tcp 127.0.0.1:8080: connection refused",
]

GENUINE = [
    "TypeError: Cannot read properties of undefined (reading 'map')",
    "WebSocketService.handle is not a function",
    "ReferenceError: NetworkErrorBanner is not defined",
    "Cart total is wrong: failed to fetch the discount of item 7",
    "error TS2322: Type 'string' is not assignable to type 'number'.",
    "Uncaught Error: useWebSocket must be used within a provider",
    "[vite] Internal server error: Failed to resolve import './cart'",
    "src/load.ts: Load failed because of a bad checksum",
    "Failed to compile",
    "",
]


@pytest.mark.parametrize("text", NOISE)
def test_what_only_tells_of_an_outage_is_noise(text: str) -> None:
    assert BUILT_IN.matches_all([text])


@pytest.mark.parametrize("text", NOISE)
def test_case_and_space_around_it_make_no_difference(text: str) -> None:
    assert BUILT_IN.matches_all([f"  {text.upper()}\n"])


@pytest.mark.parametrize("text", GENUINE)
def test_an_error_of_the_application_is_not_noise(text: str) -> None:
    assert not BUILT_IN.matches_all([text])


def test_one_genuine_text_among_many_makes_the_whole_genuine() -> None:
    assert BUILT_IN.matches_all([NOISE[0], NOISE[5], NOISE[9]])
    assert not BUILT_IN.matches_all([NOISE[0], GENUINE[0], NOISE[9]])


def test_without_patterns_nothing_is_noise() -> None:
    assert not any(Cascade(()).matches_all([text]) for text in NOISE)


def test_a_pattern_stays_its_own_beside_others() -> None:
    cascade = Cascade(("^a|b$", "c"))
    assert cascade.matches_all(["ax"]) and cascade.matches_all(["xb"]) and cascade.matches_all(["xcx"])
    assert not cascade.matches_all(["xax"])


@pytest.mark.parametrize("patterns", [DEFAULT_PATTERNS, (), ("only this",)], ids=["built in", "none", "one"])
def test_a_copy_knows_the_same_noise(patterns: tuple[str, ...]) -> None:
    original = Cascade(patterns)
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(original))))
    for text in (*NOISE, *GENUINE, "only this"):
        assert copy.matches_all([text]) == original.matches_all([text])
