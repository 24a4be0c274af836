"""Attention answers: the receipt of what was done, the refusal of what was not, and the one table of their numbers."""

from enum import StrEnum
from typing import Final, NamedTuple

from .attention import SCHEMA_VERSION
from .attention_commands import Action
from .attention_items import Item, Phase, Route, State
from .base import Record
from .errors import TocsinError


class Result(StrEnum):
    """What a command came to."""

    CREATED = "created"
    EXISTING = "existing"
    """The same round was asked for before; nothing changed, whatever its state is by now."""
    EXISTING_AMENDED = "existing_amended"
    """As before, and its packet has been amended since it was asked for in these words."""
    STARTED = "started"
    AMENDED = "amended"
    UNCHANGED = "unchanged"
    """The amendment says what the packet says already."""
    WITHDRAWN = "withdrawn"
    CLAIMED = "claimed"
    ALREADY_ACTIVE = "already_active"
    EMPTY = "empty"
    RESOLVED = "resolved"
    DEFERRED = "deferred"
    REQUEUED = "requeued"
    CANCELLED = "cancelled"
    RETURN_RETRIED = "return_retried"
    RETURN_ACTIVE = "return_active"
    """The answer is under way already; nothing was sent a second time."""
    RETURN_REROUTED = "return_rerouted"
    BOUND = "bound"
    REVOKED = "revoked"
    ALREADY_REVOKED = "already_revoked"


class Code(StrEnum):
    """Why not."""

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    INVALID = "invalid"
    NOT_IN_FUTURE = "not_in_future"
    UNAUTHENTICATED = "unauthenticated"
    WRONG_BROKER = "wrong_broker"
    FORBIDDEN = "forbidden"
    NOT_YOURS = "not_yours"
    OUT_OF_SCOPE = "out_of_scope"
    SOURCE_REVOKED = "source_revoked"
    UNVERIFIED_SESSION = "unverified_session"
    UNKNOWN_HUMAN = "unknown_human"
    UNKNOWN_ITEM = "unknown_item"
    UNKNOWN_SOURCE = "unknown_source"
    UNKNOWN_COMMAND = "unknown_command"
    NO_RETURN = "no_return"
    DISABLED = "disabled"
    STALE_REVISION = "stale_revision"
    WRONG_STATE = "wrong_state"
    NOT_ELIGIBLE = "not_eligible"
    ANOTHER_ACTIVE = "another_active"
    ITEM_EXISTS = "item_exists_use_amend"
    COMMAND_ID_CONFLICT = "command_id_conflict"
    SOURCE_EXISTS = "source_exists"
    STALE_GENERATION = "stale_generation"
    RETURN_UNDER_WAY = "return_under_way"
    RETURN_PROCESSED = "return_processed"
    NO_ROUTE = "no_route"
    SAME_ROUTE = "same_route"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class Numbers(NamedTuple):
    """What a program is told."""

    http: int
    exit: int


DONE: Final = Numbers(200, 0)
MADE: Final = Numbers(201, 0)
_FORM, _SIZE, _SENSE = Numbers(400, 2), Numbers(413, 2), Numbers(422, 2)
_WHO, _RIGHT = Numbers(401, 3), Numbers(403, 3)
_ABSENT, _CONFLICT = Numbers(404, 4), Numbers(409, 5)
_LATER, _BROKEN = Numbers(503, 6), Numbers(500, 7)

NUMBERS: Final[dict[Code, Numbers]] = {
    Code.MALFORMED: _FORM,
    Code.TOO_LARGE: _SIZE,
    Code.INVALID: _SENSE,
    Code.NOT_IN_FUTURE: _SENSE,
    Code.UNAUTHENTICATED: _WHO,
    Code.WRONG_BROKER: _RIGHT,
    Code.FORBIDDEN: _RIGHT,
    Code.NOT_YOURS: _RIGHT,
    Code.OUT_OF_SCOPE: _RIGHT,
    Code.SOURCE_REVOKED: _RIGHT,
    Code.UNVERIFIED_SESSION: _RIGHT,
    Code.UNKNOWN_HUMAN: _ABSENT,
    Code.UNKNOWN_ITEM: _ABSENT,
    Code.UNKNOWN_SOURCE: _ABSENT,
    Code.UNKNOWN_COMMAND: _ABSENT,
    Code.NO_RETURN: _ABSENT,
    Code.DISABLED: _ABSENT,
    Code.STALE_REVISION: _CONFLICT,
    Code.WRONG_STATE: _CONFLICT,
    Code.NOT_ELIGIBLE: _CONFLICT,
    Code.ANOTHER_ACTIVE: _CONFLICT,
    Code.ITEM_EXISTS: _CONFLICT,
    Code.COMMAND_ID_CONFLICT: _CONFLICT,
    Code.SOURCE_EXISTS: _CONFLICT,
    Code.STALE_GENERATION: _CONFLICT,
    Code.RETURN_UNDER_WAY: _CONFLICT,
    Code.RETURN_PROCESSED: _CONFLICT,
    Code.NO_ROUTE: _CONFLICT,
    Code.SAME_ROUTE: _CONFLICT,
    Code.UNAVAILABLE: _LATER,
    Code.INTERNAL: _BROKEN,
}
"""The one table: the status of the HTTP answer and the exit of the command line for each reason."""


class ReturnRef(Record, frozen=True, kw_only=True):
    """The answer's way back, in a receipt."""

    return_id: int
    generation: int
    phase: Phase


class Receipt(Record, frozen=True, kw_only=True):
    """What a command did, committed together with it and kept with its id."""

    schema_version: int = SCHEMA_VERSION
    broker_uuid: str
    command_id: str
    action: Action
    result: Result
    replayed: bool = False
    """True if this command was carried out before: everything else is then the answer of that time."""
    as_of: str
    item_id: int | None = None
    revision: int | None = None
    state: State | None = None
    active: Item | None = None
    """The item that the person has now, if the command was about that."""
    selection: Result | None = None
    """``claimed``, ``already_active`` or ``empty``, if the next item was asked for."""
    selection_reason: str | None = None
    """``fifo`` or ``explicit_pick``, if an item was claimed."""
    next_deferred_at: str | None = None
    """The first moment at which a deferred item is due, if the next item was asked for."""
    deferred: int | None = None
    """How many are deferred, if nothing could be selected."""
    return_effect: ReturnRef | None = None
    source_id: str | None = None
    belongs_elsewhere: Route | None = None
    """If a round was asked for again by another source than the one it belongs to, which is ``source_id``: where its answer
    goes. It does not come to the one that asked now."""


class Refusal(Record, frozen=True, kw_only=True):
    """An expected no: nothing changed, and the command's id is free to be tried again."""

    schema_version: int = SCHEMA_VERSION
    broker_uuid: str = ""
    command_id: str = ""
    action: str = ""
    code: Code
    message: str
    """For a person: what is wrong, and what to do."""
    as_of: str = ""
    item_id: int | None = None
    revision: int | None = None
    """As it is now."""
    state: State | None = None
    return_generation: int | None = None

    @property
    def numbers(self) -> Numbers:
        """Its HTTP status and its exit."""
        return NUMBERS[self.code]

    @property
    def retryable(self) -> bool:
        """True if the same command may be sent again as it is."""
        return self.numbers == _LATER


def numbers(answer: Receipt | Refusal) -> Numbers:
    """The HTTP status and the exit of the command line for an answer."""
    if isinstance(answer, Refusal):
        return answer.numbers
    made = answer.result in (Result.CREATED, Result.STARTED, Result.BOUND) and not answer.replayed
    return MADE if made else DONE


_CODES_OF_ERRORS: Final = {
    "too_long": Code.TOO_LARGE,
    "bad_input": Code.INVALID,
    "not_found": Code.UNKNOWN_ITEM,
    "unknown_item": Code.UNKNOWN_ITEM,
    "unknown_human": Code.UNKNOWN_HUMAN,
    "unknown_command": Code.UNKNOWN_COMMAND,
}


def code_of(error: TocsinError) -> Code:
    """The reason that stands for a failure. One that may pass says nothing about whether a command was carried out."""
    if error.retryable or error.code == "lost":
        return Code.UNAVAILABLE
    return _CODES_OF_ERRORS.get(error.code, Code.INTERNAL)
