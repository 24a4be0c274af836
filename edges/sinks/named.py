"""Named: sinks by the scheme they are registered under, as ``stream:out.jsonl`` or ``command:notify-send tocsin``."""

from importlib.metadata import entry_points

from ...contracts.errors import BadInput
from ...contracts.ports import Shelf, Sink

GROUP = "tocsin.sinks"
"""The entry point group: the name is the scheme, the object a class with ``open(argument) -> Sink | Shelf``."""


def open_sink(text: str) -> Sink | Shelf:
    """The sink that ``SCHEME:ARGUMENT`` means. Raises ``BadInput`` for a scheme that is unknown or can't be opened by text."""
    scheme, _, argument = text.partition(":")
    registered = entry_points(group=GROUP)
    if scheme not in registered.names:
        raise BadInput(f"there is no sink called {scheme!r}; there are: {', '.join(sorted(registered.names))}")
    kind = registered[scheme].load()
    if not hasattr(kind, "open"):
        raise BadInput(f"a {scheme!r} sink belongs to the program that makes it and can't be opened by name")
    sink = kind.open(argument)
    if not isinstance(sink, Sink | Shelf):
        raise BadInput(f"{registered[scheme].value} opened a {type(sink).__name__}, which is no sink")
    return sink
