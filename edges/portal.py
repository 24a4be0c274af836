"""Portal: the only place where threads meet anyio. Deliveries are carried to sinks as tasks of one event loop."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager

from anyio.from_thread import BlockingPortal, start_blocking_portal

from ..contracts.deliveries import Delivery, Receipt
from ..contracts.errors import SinkBusy, SinkGone, TocsinError
from ..contracts.ports import Sink

Done = Callable[[Receipt | TocsinError], None]


class Portal:
    """A courier over an event loop: its own, started when the first delivery needs it, or one that is lent to it."""

    def __init__(self, lent: BlockingPortal | None = None) -> None:
        self._portal = lent
        self._own: AbstractContextManager[BlockingPortal] | None = None

    def carry(self, sink: Sink, delivery: Delivery, done: Done) -> None:
        """Start ``sink.deliver`` in the loop; its answer, or what it raised, comes back through ``done``."""
        try:
            future = self._open().start_task_soon(sink.deliver, delivery)
        except RuntimeError as error:  # the loop has ended
            done(SinkGone(f"nothing can be delivered any more: {error}"))
            return
        future.add_done_callback(lambda ended: done(_outcome(ended)))

    def close(self) -> None:
        """End the loop that was started here, and what still runs in it."""
        if self._own is not None and self._portal is not None:
            self._portal.start_task_soon(self._portal.stop, True)
            self._own.__exit__(None, None, None)
            self._own = self._portal = None

    def _open(self) -> BlockingPortal:
        if self._portal is None:
            self._own = start_blocking_portal()
            self._portal = self._own.__enter__()
        return self._portal


def _outcome(ended: Future[Receipt]) -> Receipt | TocsinError:
    """A sink may raise anything: what is not ours is a fault to try again."""
    if ended.cancelled():
        return SinkGone("the delivery was cancelled")
    error = ended.exception()
    if error is None:
        return ended.result()
    return error if isinstance(error, TocsinError) else SinkBusy(f"the sink raised {error!r}")
