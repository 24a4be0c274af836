"""Two kinds of Struct, and the units that every contract counts in."""

from typing import Annotated, Literal, NewType

import msgspec

Instant = NewType("Instant", int)
"""A moment: milliseconds since 1970-01-01 UTC. Fields that hold one end in ``_at`` or ``until``."""

Millis = NewType("Millis", int)
"""A length of time in milliseconds. Fields that hold one are called ``window`` or ``period``, or say ``after``."""

Length = Annotated[Millis, msgspec.Meta(ge=0)]
"""A length of time in settings, in milliseconds: never negative."""

Count = Annotated[int, msgspec.Meta(ge=0)]
"""A number of things in settings: never negative."""

Traffic = Literal["event", "user", "notice", "mail", "return"]
"""Whose words these are: a machine's, a person's, the harness's, an agent's, or a person's answer."""

Level = Literal["strict", "standard", "loose"]
"""How much is taken for noise.

``strict``: control codes, case, white space, a time stamp in front, ``:line:column`` at the end. ``standard`` (the
default) also what is certainly volatile, such as ids, addresses, times and durations. ``loose`` also numbers, quoted
strings, URLs, paths and names.
"""


class Inbound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What comes in from outside: strict, an unknown field is an error that names it."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What we write for ourselves and for readers: tolerant, so that an old reader survives a newer writer."""
