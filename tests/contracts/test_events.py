"""Events are strict on the way in and have the defaults that the rest of the line counts on."""

import msgspec
import pytest

from tocsin.contracts.events import SOURCES, Event


def decoded(**fields: object) -> Event:
    return msgspec.json.decode(msgspec.json.encode(fields), type=Event)


def test_a_text_alone_is_an_event_of_process_output() -> None:
    event = decoded(text="boom")
    assert (event.to, event.source, event.scope, event.severity, event.traffic) == (
        None,
        "process_output",
        "",
        "warning",
        "event",
    )
    assert (event.at, event.detail, event.frame, event.category, event.key, event.id, event.urgent) == (
        None, "", "", "", "", "", False,
    )  # fmt: skip


def test_an_event_without_a_text_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="text"):
        decoded(severity="error")


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(msgspec.ValidationError, match="severty"):
        decoded(text="boom", severty="error")


@pytest.mark.parametrize("severity", ["info", "warning", "error", "critical"])
def test_each_severity_is_taken(severity: str) -> None:
    assert decoded(text="boom", severity=severity).severity == severity


@pytest.mark.parametrize("severity", ["", "warn", "ERROR", "fatal", 2])
def test_any_other_severity_is_refused(severity: object) -> None:
    with pytest.raises(msgspec.ValidationError, match="severity"):
        decoded(text="boom", severity=severity)


@pytest.mark.parametrize("traffic", ["event", "user", "notice", "mail", "return"])
def test_each_traffic_class_is_taken(traffic: str) -> None:
    assert decoded(text="boom", traffic=traffic).traffic == traffic


def test_any_other_traffic_class_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="traffic"):
        decoded(text="boom", traffic="alert")


def test_a_text_that_is_no_string_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="text"):
        decoded(text=7)


def test_a_source_of_an_embedder_is_taken_as_it_is() -> None:
    assert decoded(text="boom", source="kernel_log").source == "kernel_log"


def test_the_sources_of_the_specification_are_named() -> None:
    assert SOURCES == (
        "process_output", "process_alert", "browser_js", "http_4xx", "http_5xx", "transport_err", "diagnostic", "hook",
        "user_action", "harness", "mail", "attention_return",
    )  # fmt: skip


def test_an_event_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Event(text="boom").text = "bang"  # type: ignore[misc]


def test_fields_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        Event("boom")  # type: ignore[misc]
