"""Attention, simulated: any commands in any order, from two connections, with crashes, reopening, sessions that come and go and
a clock that jumps, keep every invariant of the queue and agree with a model of a few lines."""

import runpy
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from tocsin.contracts.attention_answers import Code

HERE = Path(__file__).parent
PARTS = {"world": "World", "questions": "Questions", "comings": "Comings", "back": "WayBack", "laws": "Laws"}
World, Questions, Comings, WayBack, Laws = (
    runpy.run_path(str(HERE / f"attending_{file}.py"))[name] for file, name in PARTS.items()
)


class Attending(World, Questions, Comings, WayBack, Laws):
    """All that may happen, and all that must stay true."""

    @initialize(sent=st.booleans())
    def begin(self, sent: bool) -> None:
        self.open_the_way()
        for key, nth in zip("abcdef", (0, 1, 1, None, 0, 2), strict=True):
            self.something_is_asked(0, False, key, nth, False, "x")
        # Three answers are due at once, two of them for the session that runs.
        for _ in "abc":
            self.the_person_decides(0, False, 1, 0, "resolve", None, False)
        if sent:
            self.the_publisher_passes(0, False)

    @precondition(lambda self: self.answered)
    @rule(which=st.integers(0, 1), data=st.data())
    def an_answer_was_lost_and_is_asked_for_again(self, which: int, data: st.DataObject) -> None:
        """I03: the same again is answered as the first time, whatever has become of the asker since."""
        request, principal, told, enrolment = self.answered[data.draw(st.sampled_from(sorted(self.answered)))]
        desk = self.desks[which]
        before = desk.dump()
        again, twice, other = (
            self.change(which, lambda tx, asked=asked: desk.run(tx, asked, principal, enrolment))
            for asked in (request, request, msgspec.structs.replace(request, digest="another"))
        )
        assert msgspec.json.encode(again) == told.replace(b'"replayed":false', b'"replayed":true')
        assert msgspec.json.encode(twice) == msgspec.json.encode(again)
        assert other.code is Code.COMMAND_ID_CONFLICT
        assert desk.dump() == before


TestAttending = Attending.TestCase
TestAttending.settings = settings(
    max_examples=150, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)
