"""Errors that cross a doorway: each has a code, says whose fault it is and whether to try again."""

from typing import ClassVar, Literal

Fault = Literal["caller", "recipient", "system"]


class TocsinError(Exception):
    """A failure that somebody outside a room has to know of. ``str(error)`` says what to do."""

    code: ClassVar[str] = "tocsin_error"
    retryable: ClassVar[bool] = False
    fault: ClassVar[Fault] = "system"


class BadInput(TocsinError):
    """What was given can't be understood; nothing of it was taken."""

    code = "bad_input"
    fault = "caller"


class NoRecipient(TocsinError):
    """Nobody of that name is here, or it is not clear who is meant. The text lists the lanes there are."""

    code = "no_recipient"
    fault = "caller"


class RecipientDead(TocsinError):
    """The recipient is gone; a person's message is refused, not lost in silence."""

    code = "recipient_dead"
    fault = "recipient"


class NameTaken(TocsinError):
    """A live recipient already has that name."""

    code = "name_taken"
    fault = "caller"


class Backpressure(TocsinError):
    """The line is full and the caller asked not to wait."""

    code = "backpressure"
    retryable = True


class NotRunning(TocsinError):
    """The line was not started, or has been stopped."""

    code = "not_running"
    fault = "caller"


class SinkBusy(TocsinError):
    """The sink could not take a delivery now; the line tries again."""

    code = "sink_busy"
    retryable = True
    fault = "recipient"


class NotNow(SinkBusy):
    """Nothing is wrong with the sink and nothing was written: a draft, a dialog. Both gates look again before the next try."""

    code = "not_now"


class SinkGone(TocsinError):
    """The sink will never take a delivery again."""

    code = "sink_gone"
    fault = "recipient"


class NotYours(TocsinError):
    """Something belongs to another user, so it is not trusted."""

    code = "not_yours"
    fault = "caller"


class TooLong(TocsinError):
    """A line is longer than both sides agreed on."""

    code = "too_long"
    fault = "caller"


class Busy(TocsinError):
    """So many clients are connected that one more is not listened to."""

    code = "busy"
    retryable = True


class NotFound(TocsinError):
    """Nothing of that name is remembered."""

    code = "not_found"
    fault = "caller"


class UnknownItem(NotFound):
    """The person's queue has no such item."""

    code = "unknown_item"


class UnknownHuman(NotFound):
    """Nobody of that name has a queue here."""

    code = "unknown_human"


class UnknownCommand(NotFound):
    """No command of that id was kept or carried out."""

    code = "unknown_command"


class UnknownSource(NotFound):
    """Nobody of that name may ask, or what shows that they may is not there."""

    code = "unknown_source"


class TimeLimit(TocsinError):
    """The answer did not come within the time that was given for it."""

    code = "time_limit"
    retryable = True


class Stopped(TocsinError):
    """The recipient's process is stopped, as by Ctrl-Z, and can't answer; nothing was sent."""

    code = "stopped"
    retryable = True
    fault = "recipient"


class Lost(NotRunning):
    """The connection ended before the answer: whether the request was carried out is not known."""

    code = "lost"


class StoreUnusable(TocsinError):
    """The database can't be opened, read or written. The text names the file, the reason and what to do."""

    code = "store_unusable"


class StoreCorrupt(StoreUnusable):
    """The file is no database, or a damaged one. It is set aside, never deleted."""

    code = "store_corrupt"


class StoreTooNew(StoreUnusable):
    """A newer tocsin wrote it: this one leaves it alone."""

    code = "store_too_new"
    fault = "caller"


class StoreBusy(StoreUnusable):
    """Other processes kept the database locked for longer than the time allowed; nothing was changed."""

    code = "store_busy"
    retryable = True


class StoreFull(StoreUnusable):
    """There is no room, or the file may not be written; nothing was changed. It works again as soon as it can."""

    code = "store_full"
    retryable = True


class Forked(TocsinError):
    """The database was opened before a fork; a child process must open it itself."""

    code = "forked"
    fault = "caller"


class SameId(BadInput):
    """That id was accepted with another text before."""

    code = "same_id"


class NotOwner(TocsinError):
    """Another process delivers to that recipient now; what this one still had goes with it."""

    code = "not_owner"
    fault = "recipient"
