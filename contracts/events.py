"""Events: what a producer feeds. Strict on the way in, because a typo in a field name is lost meaning."""

from typing import Annotated, Final

from msgspec import Meta

from .base import Inbound, Instant, Traffic
from .severity import SeverityName

SOURCES: Final = (
    "process_output",
    "process_alert",
    "browser_js",
    "http_4xx",
    "http_5xx",
    "transport_err",
    "diagnostic",
    "hook",
    "user_action",
    "harness",
    "mail",
    "attention_return",
)
"""The source tags that tocsin itself uses. An embedder may use any other; the tag is part of a fingerprint."""


class Event(Inbound, frozen=True, kw_only=True, gc=False):
    """One raw input, as its producer saw it.

    ``text`` is the message (not empty) and, with ``source`` and ``scope``, the identity of the event unless ``key`` gives one.
    """

    text: str
    to: str | None = None
    """The recipient's name. Without one the routes decide, then the only live lane."""
    source: str = "process_output"
    scope: str = ""
    """What it is about: the name of a dev server, a proxy, a test run."""
    severity: SeverityName = "warning"
    traffic: Traffic = "event"
    at: Annotated[Instant, Meta(ge=0, lt=253_402_300_800_000)] | None = None
    """When it happened; when it was fed, if absent."""
    detail: str = ""
    """More lines that belong to it (a stack, a code frame). Shown to the recipient, not part of the identity."""
    frame: str = ""
    """The top application frame, such as ``cart.py in total``. Part of the identity."""
    category: str = ""
    """``build``, ``test``, ``runtime``, ``transport`` …: a good build clears pending entries of category ``build``."""
    key: str = ""
    """The producer's own identity; wins over ``text`` in the fingerprint. For ``return``: its stable coordinate."""
    id: str = ""
    """The producer's id. For ``mail`` it is idempotent: the same id is delivered once."""
    urgent: bool = False
    """Only for ``notice``: goes to a recipient that waits on a human, where the sink is passive."""
    ctx: tuple[str, ...] = ()
    """Only for ``notice``: the ids that its condition depends on."""
    cleared_when: str = ""
    """Only for ``notice``: ``read``, ``drained`` or ``started``, the evidence on which it is re-armed; else by ``rearm``."""
    session: str = ""
    """Only for durable classes: the one session of the recipient that may be told; empty: whichever is here."""
