"""Cascade: texts that only say that something else was away — noise once it is back, and never outside of an outage."""

import re
from collections.abc import Sequence

DEFAULT_PATTERNS = (
    # Vite's client and its proxy
    r"\[vite\] (?:server )?connect(?:ion lost|ing)",
    r"\[vite\] .*disconnected",
    r"(?:http|ws|websocket) proxy (?:socket )?error",
    r"send was called before connect",
    r"vitehotcontext",
    r"@vite/client.*(?:failed|lost|refused|disconnect)",
    # webpack and Next
    r"\[hmr\] waiting for update signal",
    r"\[wds\] disconnected",
    r"\[webpack-dev-server\] (?:disconnected|trying to reconnect|event)",
    r"__webpack_hmr|_next/webpack-hmr",
    r"\[fast refresh\] (?:rebuilding|performing full reload)",
    # Browsers and runtimes telling of a connection, in whole phrases: an application error that names one stays
    r"^(?:uncaught )?(?:\(in promise\) )?(?:typeerror: )?failed to fetch\.?$",
    r"^(?:typeerror: )?(?:fetch failed|load failed)\.?$",
    r"^(?:typeerror: )?networkerror when attempting to fetch resource\.?$",
    r"net::err_(?:connection_|network_|internet_|empty_response|address_unreachable|socket_)",
    r"websocket connection to .* failed",
    r"websocket is (?:already in closing|closed before)",
    r"still in connecting state",
    r"connect econnrefused|read econnreset|socket hang up|connect etimedout",
    r"connection refused",
)
"""Case is ignored. Each is read against one whole text; ``^`` and ``$`` are its ends."""


class Cascade:
    """A list of patterns, compiled once."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._pattern = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE) if patterns else None

    def matches_all(self, texts: Sequence[str]) -> bool:
        """True if every text is cascade noise."""
        return self._pattern is not None and all(map(self._pattern.search, (text.strip() for text in texts)))

    def __reduce__(self) -> tuple[type["Cascade"], tuple[tuple[str, ...]]]:
        return Cascade, ((self._pattern.pattern,) if self._pattern else (),)
