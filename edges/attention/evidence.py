"""Evidence: who a work context is, as the machine itself sees it. What can't be checked is refused, and nothing is guessed."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from ...contracts.attention_answers import Code, Refusal
from ...contracts.attention_items import Provenance
from ...contracts.base import Record
from ...contracts.errors import BadInput, NoRecipient, NotRunning
from ...contracts.recipients import Recipient
from ...store import recipients
from ...store.engine import View
from .claims import ByHand, Dispatch, Evidence, Live

if TYPE_CHECKING:
    from ...contracts.wire import Welcome

LONGEST_EDGE: Final = 80
PATIENCE: Final = 5.0
"""Seconds that a recipient has to say who it is."""


class Seen(Record, frozen=True, kw_only=True):
    """What was verified."""

    actor: str
    provenance: Provenance
    session_id: str | None = None
    cwd: str = ""


def edge_name() -> str:
    """This machine, as it is named in sources. It stays the same over a restart."""
    return "-".join(socket.gethostname().split())[:LONGEST_EDGE] or "localhost"


def verify(evidence: Evidence) -> Seen | Refusal:
    """Ask the world. Raises ``NotRunning`` and other ``TocsinError`` where nobody answers who could know."""
    match evidence:
        case Dispatch():
            return _dispatched(evidence)
        case Live():
            welcome = _of_session(evidence.actor, evidence.session, evidence.environ, token=token_in(evidence))
            if isinstance(welcome, Refusal):
                return welcome
            return Seen(actor=welcome.recipient, provenance="live_registration", session_id=welcome.session, cwd=welcome.cwd)
        case ByHand():
            return _by_hand(evidence)
        case _:
            assert_never(evidence)


def _dispatched(evidence: Dispatch) -> Seen | Refusal:
    path, token = (evidence.environ.get(name, "") for name in ("TOCSIN_SOCKET", "TOCSIN_DELIVERY_TOKEN"))
    if not path or not token:
        raise BadInput("nothing here says who asks: run it inside `tocsin run`, name a live session, or let the person bind it")
    welcome = _hello(Path(path), token)
    if not welcome.dispatched:
        return Refusal(code=Code.UNAUTHENTICATED, message=f"{welcome.recipient} did not give out the token that is shown")
    return Seen(actor=welcome.recipient, provenance="dispatch", session_id=welcome.session, cwd=welcome.cwd)


def _by_hand(evidence: ByHand) -> Seen | Refusal:
    if evidence.session is None:
        return Seen(actor=evidence.actor, provenance="operator_binding", cwd=evidence.cwd)
    welcome = _of_session(evidence.actor, evidence.session, evidence.environ)
    if isinstance(welcome, Refusal):
        return welcome
    cwd = evidence.cwd or welcome.cwd
    return Seen(actor=welcome.recipient, provenance="operator_binding", session_id=welcome.session, cwd=cwd)


def token_in(evidence: Live) -> str:
    """What the environment shows as proof that it was started by that session; empty where the person has to vouch."""
    return (evidence.environ or os.environ).get("TOCSIN_DELIVERY_TOKEN", "")


def impersonated(evidence: Evidence) -> Refusal | None:
    """That a session of ``tocsin run`` names somebody else than itself: names that can be looked up prove nothing."""
    inside = {} if isinstance(evidence, Dispatch) else evidence.environ or os.environ
    name = inside.get("TOCSIN_RECIPIENT", "")
    if isinstance(evidence, Dispatch) or name in ("", evidence.actor):
        return None
    text = f"this is {name}'s session, which binds its own work only: leave --actor and --session out"
    return Refusal(code=Code.UNAUTHENTICATED, message=text)


def _of_session(actor: str, session: str, environ: Mapping[str, str], token: str = "") -> "Welcome | Refusal":
    from ..server.runtime import runtime_directory, socket_path

    path = socket_path(runtime_directory(environ) if environ else runtime_directory(), actor)
    try:
        welcome = _hello(path, token)
    except NotRunning:
        text = f"no session of {actor!r} runs here: an exact session can be bound only while it does"
        return Refusal(code=Code.UNVERIFIED_SESSION, message=text)
    if (welcome.recipient, welcome.session) != (actor, session):
        text = f"{actor!r} runs, but not session {session!r}: look up which one with `tocsin recipients show {actor}`"
        return Refusal(code=Code.UNVERIFIED_SESSION, message=text)
    if token and not welcome.dispatched:
        return Refusal(code=Code.UNAUTHENTICATED, message=f"{actor} did not give out the token that is shown")
    return welcome


def _hello(path: Path, token: str = "") -> "Welcome":
    from ...contracts.wire import Hello, Welcome  # only who asks a socket pays for its language
    from ..server.client import Client

    with Client(path, patience=PATIENCE) as client:
        answer = client.ask(Hello(token=token))
    if not isinstance(answer, Welcome):
        raise NotRunning(f"{path} answered something else than who it is")
    return answer


def registered(view: View, seen: Seen) -> Recipient:
    """The recipient, which has to be known to this database, with its session: an answer comes back through it, or never.

    Raises ``NoRecipient`` where it is not.
    """
    known = recipients.find(view, seen.actor)
    if known is None or known.life != "live":
        raise NoRecipient(
            f"{seen.actor!r} is not registered in this database, or archived: `tocsin recipients register` does it"
        )
    if seen.session_id is None:
        return known
    here = {one.id for one in recipients.sessions(view, seen.actor) if one.ended_at is None}
    if seen.session_id not in here:
        raise NoRecipient(f"the session of {seen.actor!r} that runs here keeps its messages in another database: name that one")
    return known
