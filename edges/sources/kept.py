"""Kept: what a call raised is kept and told instead of ending the command whose output is passed through."""

from contextlib import AbstractContextManager
from types import TracebackType


class Kept(AbstractContextManager["Kept"]):
    """Ends its block at an error, which it keeps. What is no error of ours (an interrupt, a cancellation) goes on."""

    error: Exception | None = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None

    @property
    def words(self) -> str:
        """``KeyError: 'what'``; empty if nothing was raised."""
        return f"{type(self.error).__name__}: {self.error}".rstrip(": ") if self.error is not None else ""
