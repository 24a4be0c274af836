"""Roster: the stages in their one order, and a section of settings for each, with the numbers of the specification."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import tocsin
from tocsin.contracts.verdicts import Stage
from tocsin.pipeline.roster import ROSTER, Settings


def settings(text: bytes) -> Settings:
    return msgspec.json.decode(text, type=Settings)


def test_the_stages_stand_in_the_one_order_of_the_line() -> None:
    assert list(ROSTER) == [stage for stage in Stage if stage is not Stage.INTAKE]


@pytest.mark.parametrize("stage", ROSTER, ids=str)
def test_every_stage_has_a_section_of_settings_that_it_can_be_made_of(stage: Stage) -> None:
    policy = getattr(Settings(), stage)
    assert ROSTER[stage](policy).policy is policy


def test_sections_stand_in_the_order_of_the_line() -> None:
    assert [field.name for field in msgspec.structs.fields(Settings)] == ["intake", *ROSTER, "record", "store", "attention"]


def test_the_defaults_are_those_of_the_specification() -> None:
    made = Settings()
    assert made.intake.limit == 100_000
    assert made.fingerprint.level == "standard"
    assert (made.dedup.window, made.dedup.reminders, made.dedup.max_episodes) == (60_000, (1, 5, 30), 100_000)
    assert (made.throttle.window, made.throttle.error_window, made.throttle.prompt_window) == (3_000, 250, 150)
    assert (made.throttle.max_pending, made.throttle.max_notices) == (50, 50)
    assert (made.throttle.batches_per_minute, made.throttle.burst) == (6, 3)
    assert (made.hold.window, made.hold.timing.long_after, made.hold.timing.expired_after) == (3_000, 15_000, 30_000)
    assert (made.defer.timing.active_bytes, made.defer.timing.idle_after, made.defer.timing.retries) == (10, 2_000, 5)
    assert made.defer.timing.turn_limit == 30 * 60_000
    assert made.fanout.layout.cap == 10_000


def every_setting(section: type[msgspec.Struct]) -> Iterator[str]:
    for field in msgspec.structs.fields(section):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from every_setting(field.type)
        yield field.name


@pytest.mark.parametrize("name", sorted(set(every_setting(Settings))))
def test_no_setting_is_taken_and_ignored(name: str) -> None:
    root = Path(tocsin.__file__).parent
    sources = [
        path.read_text(encoding="utf-8")
        for room in ("pipeline", "actors", "cli", "edges")
        for path in (root / room).rglob("*.py")
    ]
    sources.append((root / "app.py").read_text(encoding="utf-8"))
    pattern = rf"(policy|timing|settings|intake|layout|self|backoff)\.{name}\b"
    assert any(re.search(pattern, source) for source in sources)


def test_no_settings_are_the_defaults() -> None:
    assert settings(b"{}") == Settings()


def test_one_setting_leaves_the_others_as_they_are() -> None:
    made = settings(b'{"throttle": {"window": 500}}')
    assert (made.throttle.window, made.throttle.error_window, made.dedup) == (500, 250, Settings().dedup)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b'{"throtle": {}}', "throtle"),
        (b'{"throttle": {"windw": 1}}', "windw"),
        (b'{"hold": {"timing": {"debunce": 1}}}', "debunce"),
        (b'{"classify": {"routes": [{"to": ["dev"], "sorce": "x"}]}}', "sorce"),
        (b'{"fingerprint": {"level": "fuzzy"}}', "fuzzy"),
        (b'{"dedup": {"window": "long"}}', "window"),
        (b'{"hold": {"cascade": ["("]}}', "no regular expression"),
        (b'{"fanout": {"layout": {"cap": 100}}}', "cap must be"),
    ],
)
def test_a_mistake_in_the_settings_is_named(text: bytes, word: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=word):
        settings(text)


def test_settings_come_back_from_json_as_themselves() -> None:
    made = settings(b'{"classify": {"routes": [{"to": ["dev", "ops"], "source": "http_*"}]}, "dedup": {"reminders": []}}')
    assert settings(msgspec.json.encode(made)) == made
