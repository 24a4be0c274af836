"""tocsin: the one ordered line between everything that wants an agent's attention and the agent."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app import Tocsin
    from .contracts.deliveries import Delivery, Entry, Proof, Receipt
    from .contracts.errors import Backpressure, BadInput, NoRecipient, NotNow, SinkBusy, SinkGone, TocsinError
    from .contracts.events import Event
    from .contracts.verdicts import Decision
    from .pipeline.roster import Settings

__all__ = [
    "Backpressure",
    "BadInput",
    "Decision",
    "Delivery",
    "Entry",
    "Event",
    "NoRecipient",
    "NotNow",
    "Proof",
    "Receipt",
    "Settings",
    "SinkBusy",
    "SinkGone",
    "Tocsin",
    "TocsinError",
]
__version__ = "0.1.0"

# A name is imported when it is first used: `tocsin --help` must not wait for a whole line to be loaded.
_HOMES = {
    "app": ("Tocsin",),
    "contracts.deliveries": ("Delivery", "Entry", "Proof", "Receipt"),
    "contracts.errors": ("Backpressure", "BadInput", "NoRecipient", "NotNow", "SinkBusy", "SinkGone", "TocsinError"),
    "contracts.events": ("Event",),
    "contracts.verdicts": ("Decision",),
    "pipeline.roster": ("Settings",),
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = found = getattr(import_module(f".{home}", __name__), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
