"""Classify: every event gets its recipients and its place in the line, or a reason why not."""

import pytest

from tocsin.contracts.events import SOURCES, Event
from tocsin.contracts.lanes import LaneSpec, Route
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import Severity
from tocsin.contracts.signals import RecipientDied, RecipientRevived
from tocsin.contracts.verdicts import Stage
from tocsin.pipeline.classify import Classify, Policy, Recipients, Refusal
from tocsin.pipeline.step import Step

NOW = 1_000


class Desk:
    """A classifier with open lanes, and one call to feed it."""

    def __init__(self, *lanes: str, routes: tuple[Route, ...] = (), coordinator: str = "god") -> None:
        self.stage = Classify(Policy(routes=routes, coordinator=coordinator))
        for name in lanes:
            self.stage.open(LaneSpec(name=name))

    def dies(self, *names: str) -> "Desk":
        for name in names:
            self.stage.observe(RecipientDied(lane=name))
        return self

    def feed(self, *events: Event) -> Step[Notice]:
        step: Step[Notice] = Step()
        self.stage.offer(events, NOW, step)
        return step

    def lanes(self, event: Event) -> list[str]:
        return [notice.lane for notice in self.feed(event).out]


def ruled(step: Step[Notice]) -> list[tuple[str, str, list[str]]]:
    assert all(ruling.stage is Stage.CLASSIFY and ruling.at == NOW for ruling in step.rulings)
    return [(ruling.verdict, ruling.reason, [notice.event.text for notice in ruling.notices]) for ruling in step.rulings]


def test_a_named_recipient_gets_it() -> None:
    assert Desk("dev", "ops").lanes(Event(text="boom", to="ops")) == ["ops"]


def test_a_named_recipient_wins_over_every_route() -> None:
    assert Desk("dev", "ops", routes=(Route(to=("ops",)),)).lanes(Event(text="boom", to="dev")) == ["dev"]


def test_routes_decide_by_source() -> None:
    desk = Desk("dev", "ops", routes=(Route(to=("ops",), source="http_*"), Route(to=("dev",), source="browser_js")))
    assert desk.lanes(Event(text="boom", source="http_5xx")) == ["ops"]
    assert desk.lanes(Event(text="boom", source="browser_js")) == ["dev"]


def test_routes_decide_by_scope() -> None:
    desk = Desk("dev", "ops", routes=(Route(to=("dev",), scope="web"), Route(to=("ops",), scope="api-?")))
    assert desk.lanes(Event(text="boom", scope="web")) == ["dev"]
    assert desk.lanes(Event(text="boom", scope="api-1")) == ["ops"]


def test_a_route_must_match_in_source_and_in_scope() -> None:
    desk = Desk("dev", "ops", routes=(Route(to=("dev",), source="hook", scope="web"),))
    assert desk.lanes(Event(text="boom", source="hook", scope="api")) == []
    assert desk.lanes(Event(text="boom", source="diagnostic", scope="web")) == []


def test_patterns_of_routes_know_upper_and_lower_case() -> None:
    assert Desk("dev", "ops", routes=(Route(to=("dev",), scope="Web"),)).lanes(Event(text="boom", scope="web")) == []


def test_several_recipients_get_one_notice_each_in_the_order_of_the_routes() -> None:
    desk = Desk("dev", "ops", "qa", routes=(Route(to=("qa", "dev")), Route(to=("dev", "ops"))))
    step = desk.feed(Event(text="boom"))
    assert [(notice.lane, notice.serial) for notice in step.out] == [("qa", 1), ("dev", 2), ("ops", 3)]


def test_a_route_to_a_lane_that_is_not_open_is_no_route() -> None:
    assert Desk("dev", routes=(Route(to=("ghost",)),)).lanes(Event(text="boom")) == ["dev"]


def test_without_a_route_the_only_live_lane_gets_it() -> None:
    step = Desk("dev").feed(Event(text="boom"))
    assert [notice.lane for notice in step.out] == ["dev"]
    assert ruled(step) == [("pass", "only_live_lane", ["boom"])]


def test_a_lane_whose_recipient_is_dead_is_not_a_live_one() -> None:
    assert Desk("dev", "ops").dies("ops").lanes(Event(text="boom")) == ["dev"]
    assert Desk("dev", "ops").dies("ops").lanes(Event(text="stop", traffic="user")) == ["dev"]


def test_with_two_live_lanes_and_no_route_the_producer_gets_an_error_that_lists_them() -> None:
    answer = Desk("ops", "dev").stage.recipients(Event(text="boom"))
    assert answer == Refusal(
        "no_recipient_and_no_route", "the event names no recipient and no route matches it; recipients here: dev, ops"
    )


def test_an_unknown_name_gets_an_error_that_lists_the_lanes() -> None:
    answer = Desk("ops", "dev").stage.recipients(Event(text="boom", to="qa"))
    assert answer == Refusal("unknown_recipient", "nobody is called 'qa' here; recipients here: dev, ops")


def test_with_no_lane_at_all_the_error_says_how_to_open_one() -> None:
    answer = Desk().stage.recipients(Event(text="boom"))
    assert isinstance(answer, Refusal) and "no recipient is open" in answer.text and "tocsin run" in answer.text


def test_a_refused_event_is_on_record_with_the_words_for_its_producer() -> None:
    step = Desk("dev", "ops").feed(Event(text="boom", to="qa"))
    assert step.out == []
    assert ruled(step) == [("refuse", "unknown_recipient", ["boom"])]
    assert step.rulings[0].note == "nobody is called 'qa' here; recipients here: dev, ops"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_event_without_a_message_is_refused_and_says_why(text: str) -> None:
    step = Desk("dev").feed(Event(text=text, to="dev"))
    assert (step.out, [ruling.verdict for ruling in step.rulings]) == ([], ["refuse"])
    assert step.rulings[0].reason == "no_message"


def test_a_key_is_message_enough() -> None:
    assert Desk("dev").lanes(Event(text="", key="quiet")) == ["dev"]


@pytest.mark.parametrize(("word", "level"), [("info", 0), ("warning", 1), ("error", 2), ("critical", 3)])
def test_the_severity_becomes_its_rank(word: str, level: int) -> None:
    [notice] = Desk("dev").feed(Event(text="boom", severity=word)).out
    assert notice.severity is Severity(level)


@pytest.mark.parametrize("source", [*SOURCES, "kernel_log"])
def test_the_source_tag_stays_with_the_notice(source: str) -> None:
    [notice] = Desk("dev").feed(Event(text="boom", source=source)).out
    assert notice.event.source == source


def test_serials_rise_by_one_over_classes_lanes_and_calls() -> None:
    desk = Desk("dev", "ops")
    first = desk.feed(Event(text="a", to="dev"), Event(text="b", to="ops", traffic="user"), Event(text="c", to="dev"))
    second = desk.feed(Event(text="d", to="ops"))
    assert [notice.serial for notice in first.out] == [1, 2, 3]
    assert [notice.serial for notice in second.out] == [4]


def test_a_refused_event_has_a_serial_of_its_own() -> None:
    step = Desk("dev", "ops").feed(Event(text="a", to="dev"), Event(text="b", to="qa"), Event(text="c", to="dev"))
    assert [notice.serial for notice in step.out] == [1, 3]
    assert [notice.serial for ruling in step.rulings for notice in ruling.notices] == [1, 2, 3]


def test_the_line_stamps_when_it_took_an_event_whenever_it_happened() -> None:
    [notice] = Desk("dev").feed(Event(text="boom", at=5)).out
    assert (notice.at, notice.event.at) == (NOW, 5)


def test_every_event_is_ruled_once() -> None:
    step = Desk("dev", "ops").feed(
        Event(text="a", to="dev"), Event(text="b"), Event(text="c", to="ops", traffic="mail"), Event(text=" ", to="dev")
    )
    assert ruled(step) == [
        ("pass", "recipient_named", ["a"]),
        ("refuse", "no_recipient_and_no_route", ["b"]),
        ("pass", "recipient_named", ["c"]),
        ("refuse", "no_message", [" "]),
    ]


def test_asking_ahead_changes_nothing() -> None:
    desk = Desk("dev")
    assert desk.stage.recipients(Event(text="boom")) == Recipients("only_live_lane", ("dev",))
    assert [notice.serial for notice in desk.feed(Event(text="boom")).out] == [1]


def test_a_closed_lane_is_nobody() -> None:
    desk = Desk("dev", "ops")
    desk.stage.close("ops")
    assert desk.lanes(Event(text="boom", to="ops")) == []
    assert desk.lanes(Event(text="boom")) == ["dev"]


# A dead recipient


def test_a_persons_words_to_the_dead_are_refused_loudly() -> None:
    answer = Desk("dev", "ops").dies("dev").stage.recipients(Event(text="stop", to="dev", traffic="user"))
    assert answer == Refusal("recipient_dead", "'dev' is gone and will not read this; recipients here: dev, ops")


@pytest.mark.parametrize("routes", [(), (Route(to=("dev",)),)], ids=["only lane", "route"])
def test_a_persons_words_are_refused_too_if_they_come_to_the_dead_unnamed(routes: tuple[Route, ...]) -> None:
    answer = Desk("dev", routes=routes).dies("dev").stage.recipients(Event(text="stop", traffic="user"))
    assert isinstance(answer, Refusal) and answer.reason == "recipient_dead"


def test_of_routed_recipients_a_persons_words_go_to_the_living() -> None:
    desk = Desk("dev", "ops", routes=(Route(to=("dev", "ops")),)).dies("dev")
    assert desk.lanes(Event(text="stop", traffic="user")) == ["ops"]


def test_mail_to_the_dead_goes_to_the_coordinator() -> None:
    desk = Desk("dev", "god").dies("dev")
    step = desk.feed(Event(text="report", to="dev", traffic="mail"))
    assert [notice.lane for notice in step.out] == ["god"]
    assert ruled(step) == [("pass", "bounced_to_coordinator", ["report"])]


def test_mail_to_the_dead_is_refused_if_there_is_no_coordinator_to_bounce_it_to() -> None:
    assert Desk("dev").dies("dev").lanes(Event(text="report", to="dev", traffic="mail")) == []
    assert Desk("dev", "god").dies("dev", "god").lanes(Event(text="report", to="dev", traffic="mail")) == []


def test_mail_to_a_dead_coordinator_does_not_bounce_to_itself() -> None:
    step = Desk("god", "dev").dies("god").feed(Event(text="report", to="god", traffic="mail"))
    assert ruled(step) == [("refuse", "recipient_dead", ["report"])]


def test_the_coordinator_may_have_another_name() -> None:
    assert Desk("dev", "lead", coordinator="lead").dies("dev").lanes(Event(text="report", to="dev", traffic="mail")) == ["lead"]


@pytest.mark.parametrize("traffic", ["event", "notice", "return"])
def test_findings_notices_and_answers_to_the_dead_go_on_to_be_dropped_or_kept_on_record(traffic: str) -> None:
    assert Desk("dev", "ops").dies("dev").lanes(Event(text="boom", to="dev", traffic=traffic)) == ["dev"]


def test_a_revived_recipient_is_told_again() -> None:
    desk = Desk("dev").dies("dev")
    desk.stage.observe(RecipientRevived(lane="dev"))
    assert desk.lanes(Event(text="stop", to="dev", traffic="user")) == ["dev"]


def test_a_lane_that_is_opened_again_is_alive() -> None:
    desk = Desk("dev").dies("dev")
    desk.stage.close("dev")
    desk.stage.open(LaneSpec(name="dev"))
    assert desk.lanes(Event(text="stop", to="dev", traffic="user")) == ["dev"]


def test_what_was_decided_before_a_fault_stands_in_the_step() -> None:
    def broken() -> object:
        yield Event(text="a", to="dev", traffic="user")
        yield Event(text="b", to="dev", traffic="user")
        raise ValueError("the producer broke")

    desk, step = Desk("dev"), Step[Notice]()
    with pytest.raises(ValueError, match="the producer broke"):
        desk.stage.offer(broken(), NOW, step)
    assert [notice.event.text for notice in step.out] == ["a", "b"]
    assert [notice.serial for notice in desk.feed(Event(text="c", to="dev")).out] == [3]
