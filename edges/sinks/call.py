"""Call: a plain function as a sink, so that an embedder needs no class."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable, iscoroutinefunction

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import BadInput
from ...contracts.ports import Shelf, Sink
from ..portal import in_thread


class CallSink:
    """Calls ``function(delivery)``: a coroutine function in the loop, any other in a thread, since it may block."""

    def __init__(self, function: Callable[[Delivery], object] | Callable[[Delivery], Awaitable[object]]) -> None:
        self._function = function
        self._in_loop = iscoroutinefunction(function)

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Accepted when the function returns; what it raises is tried again. It may return a ``Receipt`` of its own."""
        answer = self._function(delivery) if self._in_loop else await in_thread(self._function, delivery, abandon=True)
        if isawaitable(answer):
            answer = await answer
        return answer if isinstance(answer, Receipt) else Receipt(proof=Proof.OFFERED)


def as_sink(sink: Sink | Shelf | Callable[[Delivery], object]) -> Sink | Shelf:
    """What a program gave as a sink, as one. Raises ``BadInput`` if it is none."""
    if not isinstance(sink, Sink | Shelf) and not callable(sink):
        raise BadInput(f"{sink!r} is no sink: give a function, or an object with deliver() or put()")
    return sink if isinstance(sink, Sink | Shelf) else CallSink(sink)
