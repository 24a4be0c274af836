"""Running: the queue beside a line: answers are sent every second, on a connection and a thread of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...actors.attention import Attending
from ...actors.publisher import Publisher
from ...actors.tables import Direct
from ...contracts.attention_facts import Policy
from ...contracts.ports import Clock
from ...store.engine import Store
from ..ids import RandomIds
from ..liveness import is_alive
from ..store_place import state_directory
from .bells import ring_for

if TYPE_CHECKING:
    from .desk import AttentionDesk


class RunningAttention:
    """The queue of a line, from its start to its stop."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        policy: Policy,
        state: Path,
        warn: Callable[[str], None],
        look: Callable[[], None],
    ) -> None:
        """``look`` tells the line that something may wait for its recipients; ``warn`` is told of a fault of ours."""
        self._clock, self._policy, self._state, self._look = clock, policy, state, look
        tables = Direct(lambda: Store.open(path, now=clock.now()))

        def arrived(names: frozenset[str]) -> None:
            look()
            ring_for(tables, names)

        publisher = Publisher(clock, RandomIds(clock).new, is_alive(clock.now), arrived) if policy.enabled else None
        self._attending = Attending(clock, tables, publisher, path=str(path), warn=warn)
        self._attending.start()

    def desk(self) -> "AttentionDesk":
        """For commands and questions, from any thread."""
        from .desk import AttentionDesk  # a line that only sends answers does without it

        return AttentionDesk.over(self._attending, state=self._state, clock=self._clock, policy=self._policy, look=self._look)

    def stop(self, grace: float) -> None:
        """Send nothing more, within ``grace`` seconds."""
        self._attending.stop(grace)


def attend(
    policy: Policy, path: Path, state: Path | None, clock: Clock, warn: Callable[[str], None], look: Callable[[], None]
) -> RunningAttention:
    """Begin, for a line whose store is at ``path``. ``state`` is the user's own state directory, if it is none."""
    where = state or state_directory()
    return RunningAttention(path, clock=clock, policy=policy, state=where, warn=warn, look=look)
