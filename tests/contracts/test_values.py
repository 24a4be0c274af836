"""Values: severities have one order, verdicts one meaning, errors a code, and records survive a newer writer."""

import msgspec
import pytest

from tocsin.contracts import errors
from tocsin.contracts.deliveries import Delivery, Entry, Proof, Receipt
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec, Route
from tocsin.contracts.notices import Notice, notice_id
from tocsin.contracts.ports import Shelf, Sink
from tocsin.contracts.severity import LEVELS, NAMES, Severity
from tocsin.contracts.verdicts import DROPS, ENDS, Stage, Verdict


def test_severities_have_one_order() -> None:
    assert Severity.INFO < Severity.WARNING < Severity.ERROR < Severity.CRITICAL
    assert NAMES == ("info", "warning", "error", "critical")


def test_a_severity_and_its_word_are_each_others() -> None:
    assert [LEVELS[name] for name in NAMES] == list(Severity)
    assert [NAMES[level] for level in Severity] == list(NAMES)


def test_verdicts_are_those_of_the_specification() -> None:
    words = "pass fold remind evict shed hold release drop_cascade clear defer overdue drop_dead refuse deliver retry"
    assert [str(verdict) for verdict in Verdict] == [*words.split(), "dead_letter", "spill"]


def test_a_notice_ends_by_being_folded_delivered_or_dropped_and_by_nothing_else() -> None:
    goes_on = {
        Verdict.PASS,
        Verdict.REMIND,
        Verdict.HOLD,
        Verdict.RELEASE,
        Verdict.DEFER,
        Verdict.OVERDUE,
        Verdict.RETRY,
        Verdict.SPILL,
    }
    assert set(ENDS) == {Verdict.FOLD, Verdict.DELIVER, *DROPS}
    assert set(Verdict) - set(ENDS) == goes_on


def test_no_drop_is_an_end_by_success() -> None:
    assert not {Verdict.DELIVER, Verdict.FOLD} & set(DROPS)


def test_stages_stand_in_the_order_of_the_line() -> None:
    assert [str(stage) for stage in Stage] == [
        "intake", "classify", "fingerprint", "dedup", "throttle", "hold", "defer", "fanout",
    ]  # fmt: skip


ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.TocsinError)]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_code_that_only_its_own_kind_shares_and_says_whose_fault_it_is(
    kind: type[errors.TocsinError],
) -> None:
    alike = [other for other in ERRORS if other.code == kind.code]
    assert all(issubclass(kind, other) or issubclass(other, kind) for other in alike)
    assert kind.fault in ("caller", "recipient", "system")


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_what_is_worth_another_try_is_no_mistake_of_the_caller(kind: type[errors.TocsinError]) -> None:
    assert not (kind.retryable and kind.fault == "caller")


def test_a_busy_sink_and_a_full_line_may_be_tried_again_and_a_sink_that_is_gone_may_not() -> None:
    assert errors.SinkBusy.retryable and errors.NotNow.retryable and errors.Backpressure.retryable
    assert not errors.SinkGone.retryable


def test_a_notice_is_known_by_its_producers_id_or_by_run_and_serial() -> None:
    own = Notice(7, Event(text="boom", id="mail-1"), "dev", Severity.ERROR, 1000)
    assert notice_id("7f", own) == "mail-1"
    assert notice_id("7f", Notice(7, Event(text="boom"), "dev", Severity.ERROR, 1000)) == "7f-7"


def test_a_record_is_read_though_a_newer_writer_added_to_it() -> None:
    assert msgspec.json.decode(b'{"proof": "seen", "note": "ok", "weight": 3}', type=Receipt) == Receipt(
        proof=Proof.SEEN, note="ok"
    )


def test_a_route_from_outside_is_strict() -> None:
    assert msgspec.convert({"to": ["dev"]}, Route) == Route(to=("dev",), source="*", scope="*")
    with pytest.raises(msgspec.ValidationError, match="sources"):
        msgspec.convert({"to": ["dev"], "sources": "http_*"}, Route)


def test_a_lane_is_passive_unless_it_says_that_it_types() -> None:
    assert LaneSpec(name="dev").typing is False


def test_proofs_grow_from_recorded_to_seen() -> None:
    assert [str(proof) for proof in Proof] == ["recorded", "offered", "submitted", "seen"]


def test_a_first_attempt_is_number_one_and_nothing_was_cut() -> None:
    delivery = Delivery(id="d1", lane="dev", at=1, text="x", entries=())
    assert (delivery.attempt, delivery.suppressed, delivery.overdue, delivery.spill) == (1, {}, False, "")


def test_a_delivery_comes_back_from_json_as_itself() -> None:
    entry = Entry(
        id="t-1", fingerprint="f" * 40, traffic="event", severity="error", source="process_output", scope="web", text="boom",
        count=37, first_at=1000, last_at=2000,
    )  # fmt: skip
    delivery = Delivery(id="t-d1", lane="dev", at=3000, text="block", entries=(entry,), suppressed={"info": 4}, overdue=True)
    assert msgspec.json.decode(msgspec.json.encode(delivery), type=Delivery) == delivery


def test_a_sink_and_a_shelf_are_told_apart_by_what_they_can_do() -> None:
    class Slow:
        async def deliver(self, delivery: Delivery) -> Receipt:
            return Receipt(proof=Proof.OFFERED)

    class Quick:
        def put(self, delivery: Delivery) -> Receipt:
            return Receipt(proof=Proof.RECORDED)

    assert isinstance(Slow(), Sink) and not isinstance(Slow(), Shelf)
    assert isinstance(Quick(), Shelf) and not isinstance(Quick(), Sink)
