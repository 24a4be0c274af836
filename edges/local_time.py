"""Local time: blocks show the time of day of this machine, unless the settings name another."""

import msgspec

from ..contracts.base import Instant
from ..pipeline.roster import Settings
from .clock import utc_offset


def with_local_time(settings: Settings, now: Instant) -> Settings:
    """The settings, with this machine's distance from UTC at that moment where they name none."""
    layout = settings.fanout.layout
    if layout.utc_offset is not None:
        return settings
    layout = msgspec.structs.replace(layout, utc_offset=utc_offset(now))
    return msgspec.structs.replace(settings, fanout=msgspec.structs.replace(settings.fanout, layout=layout))
