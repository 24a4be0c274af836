"""tocsin: the one ordered line between everything that wants an agent's attention and the agent."""

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
