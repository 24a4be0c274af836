"""Errors of reaching each other: what can go wrong between two processes, each with its code."""

from ...contracts.errors import NotRunning, TocsinError


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


class TimeLimit(TocsinError):
    """The answer did not come within the time that was given for it."""

    code = "time_limit"
    retryable = True


class Lost(NotRunning):
    """The connection ended before the answer: whether the request was carried out is not known."""
