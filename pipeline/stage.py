"""Stage: what every layer of the line has in common — a policy, a state that can be copied, and an honest ``due``."""

import pickle
from typing import Any, Generic, Self, TypeVar

from ..contracts.base import Inbound, Instant
from .step import Step

P = TypeVar("P", bound=Inbound)

NEVER = Instant(1 << 62)
"""Later than any moment the line will see."""


class StageBase(Generic[P]):
    """A pure object: driven by ``(input, now)``, it puts what it decided into the caller's ``Step``.

    A stage does what may fail first and changes its state last, one input at a time. So when an input makes it raise,
    everything before that input stands in the Step, the state is whole, and the rest can be offered again.
    """

    def __init__(self, policy: P) -> None:
        self.policy = policy

    def due(self) -> Instant | None:
        """When it wants to be woken (``tick``), or None. Nothing happens before it, something does at it."""
        return None

    def decided(self, consumed: int, step: Step[Any]) -> int:
        """After ``offer`` raised: how many inputs of its batch were decided for good, ``consumed`` having been looked at."""
        return max(0, consumed - 1)

    def snapshot(self) -> bytes:
        """Its whole state, for ``restore``; of use only within one version and one process."""
        return pickle.dumps(self.__dict__)

    @classmethod
    def restore(cls, snapshot: bytes) -> Self:
        """A stage that answers alike from here on."""
        stage = cls.__new__(cls)
        stage.__dict__.update(pickle.loads(snapshot))
        return stage
