"""Reader: the bytes of one process become events and signals, whatever the cuts between reads; it is told the time.

A text without a candidate line and without an open block costs one search; only candidate lines are looked at one by one.
"""

from ...contracts.base import Instant
from .gathering import Gathering
from .lines import Lines
from .rules import Catalogue
from .telling import Finding, Teller
from .trace import Trace


class Reader:
    """Reads the streams of one process. Streams never mix: each has its own decoder and its own open blocks.

    :param scope: what the findings are about
    :param to: the recipient of the events; None leaves it to the routes
    :param source: the source tag of the events
    :param proxied: the scope that this process forwards requests to, for failed connections; its own scope if None
    :param trace: is told what becomes of each line
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        scope: str,
        to: str | None,
        source: str = "process_output",
        proxied: str | None = None,
        trace: Trace | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._scope = scope
        self._to = to
        self._trace = trace
        self._teller = Teller(catalogue, scope=scope, to=to, source=source, proxied=scope if proxied is None else proxied)
        self._streams: dict[str, tuple[Lines, Gathering]] = {}

    @property
    def scope(self) -> str:
        """What the findings are about."""
        return self._scope

    @property
    def to(self) -> str | None:
        """The recipient of the events."""
        return self._to

    def read(self, stream: str, data: bytes, now: Instant) -> list[Finding]:
        """What the bytes complete. Blocks that may go on stay open until ``due``."""
        known = self._streams.get(stream)
        if known is None:
            known = self._streams[stream] = (Lines(), Gathering(self._catalogue, self._teller, self._trace))
        lines, gathering = known
        text = lines.take(data)
        return gathering.text(text, now) if text else []

    def due(self) -> Instant | None:
        """When ``tick`` has something to do: the earliest open block has then been quiet for long enough."""
        return min((at for _, gathering in self._streams.values() for at in gathering.due()), default=None)

    def tick(self, now: Instant) -> list[Finding]:
        """Tell the blocks to which nothing was added for their quiet time."""
        return [finding for _, gathering in self._streams.values() for finding in gathering.tick(now)]

    def close(self, now: Instant) -> list[Finding]:
        """Tell everything that is open, the last line of each stream included, even without its line feed."""
        found: list[Finding] = []
        for lines, gathering in self._streams.values():
            for line in lines.close():
                found += gathering.text(f"{line}\n", now)
            found += gathering.close(now)
        return found + self._teller.kept_back()
