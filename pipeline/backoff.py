"""Backoff: how long to wait before the next attempt; bounded, and the same for the same attempt."""

from ..contracts.base import Count, Inbound, Length, Millis


class Backoff(Inbound, frozen=True, kw_only=True):
    """Waits ``first`` × 2, 4, 8 … up to ``most``; gives up after ``attempts`` in all."""

    first: Length = Millis(500)
    most: Length = Millis(30_000)
    attempts: Count = 8

    def wait(self, failed: int) -> Millis | None:
        """The wait after so many failed attempts (from 1); None: there is no further one."""
        if failed >= self.attempts:
            return None
        # Past 2**40 the product is beyond any cap; a larger exponent would only cost memory.
        return Millis(min(self.most, self.first << min(failed - 1, 40)))
