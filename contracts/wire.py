"""Wire: what processes say to each other over a recipient's socket, one JSON object a line, strict on the way in."""

import json
import re
from typing import Any, Final

import msgspec

from .base import Inbound, Record
from .errors import BadInput
from .events import Event
from .hooks import HookEvent
from .signals import Cleared, Signal
from .status import Status
from .verdicts import Decision

PROTOCOL: Final = 1
"""The version that both sides speak. It moves when an old reader would misunderstand, not when a field is added."""

LONGEST_LINE: Final = 1_048_576
"""Bytes of a request, its line feed included; a longer one is refused and the connection closed."""

LONGEST_ANSWER: Final = 16 * LONGEST_LINE
"""Bytes of an answer's line: many lanes make a long status."""

Item = Event | Signal | Cleared


class _Request(Inbound, frozen=True, kw_only=True, tag_field="op"):
    v: int = PROTOCOL
    """The protocol that the asker speaks."""


class Hello(_Request, frozen=True, kw_only=True, tag="hello"):
    """Who is there, and do we understand each other?"""

    token: str = ""
    """``TOCSIN_DELIVERY_TOKEN``, if the asker was started by that recipient."""


class Feed(_Request, frozen=True, kw_only=True, tag="feed"):
    """Events and signals, in their order."""

    items: tuple[msgspec.Raw, ...]
    batch: str = ""
    """The sender's id for these items: sent again with the same id, they are not taken again."""


class AskStatus(_Request, frozen=True, kw_only=True, tag="status"):
    """The whole line at this moment."""


class Explain(_Request, frozen=True, kw_only=True, tag="explain"):
    """The story of a notice, by its id, or of a fingerprint, by its first eight or more characters."""

    what: str


class AskDecisions(_Request, frozen=True, kw_only=True, tag="decisions"):
    """The decisions after a cursor."""

    after: int = 0


class AskLetters(_Request, frozen=True, kw_only=True, tag="letters"):
    """What could not be told to anybody."""


class Retry(_Request, frozen=True, kw_only=True, tag="retry"):
    """Feed a dead letter's event again."""

    id: str


class Pause(_Request, frozen=True, kw_only=True, tag="pause"):
    """Keep everything but a person's words and answers until ``Resume``."""


class Resume(_Request, frozen=True, kw_only=True, tag="resume"):
    """The pause is over."""


class Hook(_Request, frozen=True, kw_only=True, tag="hook"):
    """What the recipient's own hook says."""

    event: HookEvent
    carries: bool = False
    """True if the agent reads a context in the answer to this call."""
    digest: str = ""
    """Of the payload as the agent wrote it: a hook that is registered twice calls twice with the same one."""


class Handed(_Request, frozen=True, kw_only=True, tag="handed"):
    """The context of this delivery has been given to the agent: the hook that was answered with it says so."""

    delivery: str


class Rearm(_Request, frozen=True, kw_only=True, tag="rearm"):
    """The conditions behind harness notices are gone: of this kind (any, if empty), with these signatures or these ids in ctx.

    Without signatures and ids, all of the kind.
    """

    kind: str = ""
    signatures: tuple[str, ...] = ()
    ctx: tuple[str, ...] = ()


class Look(_Request, frozen=True, kw_only=True, tag="look"):
    """Something was committed for that recipient by another process."""


Request = Hello | Feed | AskStatus | Explain | AskDecisions | AskLetters | Retry | Pause | Resume | Hook | Handed | Rearm | Look


class _Answer(Record, frozen=True, kw_only=True, tag_field="answer"):
    v: int = PROTOCOL


class Welcome(_Answer, frozen=True, kw_only=True, tag="welcome"):
    """Who answers."""

    recipient: str
    pid: int
    session: str
    version: str
    dispatched: bool = False
    """True if the token is the one that this recipient gave to its program."""
    cwd: str = ""
    """The directory that its program was started in, where the answerer knows it."""


class Unfit(Record, frozen=True, kw_only=True):
    """One item of a batch that was not taken, and why."""

    index: int
    text: str


class Accepted(_Answer, frozen=True, kw_only=True, tag="accepted"):
    """So many items are in the line; the others are named."""

    count: int
    refused: tuple[Unfit, ...] = ()


class StatusIs(_Answer, frozen=True, kw_only=True, tag="status"):
    """The line as it stands."""

    recipient: str
    status: Status


class Decisions(_Answer, frozen=True, kw_only=True, tag="decisions"):
    """Some decisions, oldest first; ``more`` if the next line goes on."""

    decisions: tuple[Decision, ...]
    next: int = 0
    more: bool = False


class Letter(Record, frozen=True, kw_only=True):
    """A notice that nobody could be told of, why, and what it said."""

    decision: Decision
    event: Event


class Letters(_Answer, frozen=True, kw_only=True, tag="letters"):
    """Some dead letters, oldest first; ``more`` if the next line goes on."""

    letters: tuple[Letter, ...]
    more: bool = False


class Done(_Answer, frozen=True, kw_only=True, tag="done"):
    """It is done."""


class RearmedIs(_Answer, frozen=True, kw_only=True, tag="rearmed"):
    """What the re-arm found: told and no longer on the list, and held and never told."""

    delivered: int
    held: int


class HookAnswer(_Answer, frozen=True, kw_only=True, tag="hook"):
    """What the hook gives to its agent as context; both are empty if there is nothing."""

    context: str = ""
    delivery: str = ""


class Failed(_Answer, frozen=True, kw_only=True, tag="failed"):
    """It is not: the code, the words and the kind of a ``TocsinError``."""

    code: str
    text: str
    retryable: bool = False


Answer = Welcome | Accepted | StatusIs | Decisions | Letters | Done | HookAnswer | RearmedIs | Failed

_requests: Final = msgspec.json.Decoder(Request)
_answers: Final = msgspec.json.Decoder(Answer)
_events: Final = msgspec.json.Decoder(Event)
_signals: Final[msgspec.json.Decoder[Signal | Cleared]] = msgspec.json.Decoder(Signal | Cleared)
_SAYS_SIGNAL: Final = re.compile(rb'"signal"\s*:')
_encode: Final = msgspec.json.Encoder().encode


def line_of(message: Request | Answer) -> bytes:
    """A message as its line. Half characters, which are not text, become U+FFFD."""
    try:
        return _encode(message) + b"\n"
    except UnicodeEncodeError:
        return _encode(_whole(msgspec.to_builtins(message))) + b"\n"


def raw(item: Item) -> msgspec.Raw:
    """An event or a signal as it stands in a ``Feed``."""
    try:
        return msgspec.Raw(_encode(item))
    except UnicodeEncodeError:
        return msgspec.Raw(_encode(_whole(msgspec.to_builtins(item))))


def read_request(line: bytes) -> Request:
    """A line as a request. Raises ``BadInput`` with what is wrong; other protocols are named."""
    try:
        request = _requests.decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        request = _mended_request(line, error)
    if request.v != PROTOCOL:
        raise BadInput(f"this tocsin speaks protocol {PROTOCOL}, not {request.v}: use the same version on both sides")
    return request


def read_answer(line: bytes) -> Answer:
    """A line as an answer. Raises ``BadInput`` if it is none that this version knows."""
    try:
        return _answers.decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadInput(f"the answer can't be understood ({error}): use the same version of tocsin on both sides") from error


def read_item(item: msgspec.Raw) -> Item:
    """One item of a ``Feed``. Raises ``BadInput`` with what is wrong."""
    try:
        return _events.decode(item)
    except (msgspec.MsgspecError, RecursionError) as error:
        return _other_item(bytes(item), error)


def _other_item(item: bytes, error: Exception) -> Item:
    """A signal, or what a laxer parser makes of it."""
    kind = "signal" if _SAYS_SIGNAL.search(item) else "event"
    try:
        return _signals.decode(_mended(item)) if kind == "signal" else _events.decode(_mended(item))
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as still:
        better = still if isinstance(still, msgspec.ValidationError) else error
        raise BadInput(f"that is no {kind}: {_in_short(better)}") from error


def _mended_request(line: bytes, error: Exception) -> Request:
    try:
        return _requests.decode(_mended(line))
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as still:
        better = still if isinstance(still, msgspec.ValidationError) else error
        raise BadInput(f"that is no request: {_in_short(better)}") from error


def _mended(line: bytes) -> bytes:
    """The same JSON after a laxer parser: half characters and numbers that are none must not cost a whole batch."""
    return _encode(_whole(json.loads(line.decode("utf-8", "replace"))))


def _in_short(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _whole(value: Any) -> Any:
    """The same value without half characters."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_whole(key): _whole(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_whole(inner) for inner in value]
        case _:
            return value
