"""A terminal is typed into only when its program is there, and not while it takes a person's line."""

import anyio
import pytest

from tocsin import NotNow
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.signals import DraftEnded, DraftStarted, LaneFact, Output
from tocsin.edges.sinks import ready
from tocsin.edges.sinks.check import delivery_of
from tocsin.edges.sinks.ready import ReadySink

BLOCK = delivery_of("a block", 1, "dev")
OUTPUT = Output(lane="dev", size=2)


class Terminal:
    async def deliver(self, delivery: Delivery) -> Receipt:
        return Receipt(proof=Proof.SUBMITTED)


async def tried(*facts: LaneFact) -> str:
    """What becomes of a delivery after these facts."""
    sink = ReadySink(Terminal())
    for fact in facts:
        sink.hear(fact)
    try:
        return (await sink.deliver(BLOCK)).proof
    except NotNow as refusal:
        return str(refusal)


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        ((), "the program has not printed anything yet"),
        ((OUTPUT,), Proof.SUBMITTED),
        ((OUTPUT, DraftStarted(lane="dev")), Proof.SUBMITTED),
        ((OUTPUT, DraftEnded(lane="dev")), "a line was sent just now, and what comes of it is not known yet"),
    ],
)
def test_what_comes_at_a_bad_time_is_not_passed_on(facts: tuple[LaneFact, ...], outcome: str) -> None:
    assert anyio.run(tried, *facts) == outcome


def test_a_program_that_never_prints_is_typed_into_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "SILENT_START", 0.0)
    assert anyio.run(tried) == Proof.SUBMITTED


def test_a_while_after_a_line_it_is_typed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "JUST_SENT", 0.0)
    assert anyio.run(tried, DraftEnded(lane="dev")) == Proof.SUBMITTED
