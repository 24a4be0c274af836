"""Portal: the only place where threads meet anyio. Deliveries are carried to sinks as tasks of one event loop."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from inspect import isawaitable
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal

from ..contracts.deliveries import Delivery, Receipt
from ..contracts.errors import SinkBusy, SinkGone, TocsinError
from ..contracts.ports import Sink

Done = Callable[[Receipt | TocsinError], None]
T = TypeVar("T")

SLOW_AFTER = 1.0
"""Seconds after which a call in a thread no longer counts among those that may run at once."""


class Portal:
    """A courier over an event loop: its own, started when the first delivery needs it, or one that is lent to it."""

    def __init__(self, lent: BlockingPortal | None = None) -> None:
        self._portal = lent
        self._own: AbstractContextManager[BlockingPortal] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def carry(self, sink: Sink, delivery: Delivery, done: Done) -> None:
        """Start ``sink.deliver`` in the loop; its answer, or what it raised, comes back through ``done``."""
        try:
            future = self._open().start_task_soon(_deliver, sink, delivery)
        except RuntimeError as error:  # the loop has ended
            done(SinkGone(f"nothing can be delivered any more: {error}"))
            return
        future.add_done_callback(lambda ended: done(_outcome(ended)))

    def close(self, grace: float = 5.0) -> bool:
        """End the loop that was started here, and what still runs in it; nothing is carried from now on.

        True if it ended within ``grace`` seconds. What refuses to end is left to end with the process.
        """
        with self._lock:
            own, portal = self._own, self._portal
            self._own, self._portal, self._closed = None, None, True
        if own is None or portal is None:
            return True
        portal.start_task_soon(portal.stop, True)
        end = threading.Thread(target=own.__exit__, args=(None, None, None), name="tocsin-portal-end", daemon=True)
        end.start()
        end.join(grace)
        return not end.is_alive()

    def _open(self) -> BlockingPortal:
        with self._lock:
            if self._closed:
                raise RuntimeError("the line has been stopped")
            if self._portal is None:
                self._own = start_blocking_portal()
                self._portal = self._own.__enter__()
            return self._portal


async def in_thread(call: Callable[..., T], *args: Any, abandon: bool = False) -> T:
    """Run what may block in a thread; one that blocks for long keeps no other call from its turn.

    ``abandon``: when cancelled, leave the thread to end by itself instead of waiting for it.
    """
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_lend_a_turn, anyio.to_thread.current_default_thread_limiter())
            answer = await anyio.to_thread.run_sync(lambda: call(*args), abandon_on_cancel=abandon)
            group.cancel_scope.cancel()
    except BaseExceptionGroup as group_of_one:
        raise group_of_one.exceptions[0] from None
    return answer


async def _lend_a_turn(limiter: anyio.CapacityLimiter) -> None:
    await anyio.sleep(SLOW_AFTER)
    limiter.total_tokens += 1
    try:
        await anyio.sleep_forever()
    finally:
        limiter.total_tokens -= 1


async def _deliver(sink: Sink, delivery: Delivery) -> Receipt:
    """A sink that calls ``sys.exit`` would end the loop of all of them, so that counts as a fault of its own."""
    try:
        answer = sink.deliver(delivery)
        if not isawaitable(answer):
            raise SinkGone(f"{type(sink).__name__}.deliver must be a coroutine function; a sink that answers at once has put()")
        return await answer
    except (SystemExit, KeyboardInterrupt) as error:
        raise SinkBusy(f"the sink raised {error!r}") from error


def _outcome(ended: Future[Receipt]) -> Receipt | TocsinError:
    """A sink may raise anything: what is not ours is a fault to try again."""
    if ended.cancelled():
        return SinkGone("the delivery was cancelled")
    error = ended.exception()
    if error is None:
        return ended.result()
    return error if isinstance(error, TocsinError) else SinkBusy(f"the sink raised {error!r}")
