"""``tocsin config`` and ``completion``: what is in force, from where, and what is wrong, with file and line."""

import json
import runpy
import tomllib
from pathlib import Path

import msgspec
import pytest

from tocsin import Settings

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world = _processes["world"]


@pytest.fixture
def here():
    with world() as one:
        yield one


def test_what_is_shown_is_a_file_that_says_the_same(here) -> None:
    code, out, err = here.tocsin("config", "show")
    assert (code, err) == (0, "")
    assert msgspec.convert(tomllib.loads(out), Settings) == Settings()
    (here.place / ".tocsin.toml").write_text(out)
    assert here.tocsin("config", "show") == (0, out, "")


def test_the_origin_of_every_value_is_named(here) -> None:
    path = here.place / ".tocsin.toml"
    path.write_text('[hold]\ncascade = ["a\\"b", "ä"]\n')
    code, out, _ = here.tocsin(
        "config", "show", "--origin", "--changed", "--set", "dedup.window=5", env={"TOCSIN_THROTTLE__BURST": "9"}
    )
    assert code == 0
    rows = [line.split("  ") for line in out.splitlines()]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["SETTING", "VALUE", "FROM"],
        ["dedup.window", "5", "flag"],
        ["throttle.burst", "9", "TOCSIN_THROTTLE__BURST"],
        ["hold.cascade", '["a\\"b", "ä"]', f"{path}:2"],
    ]


def test_settings_are_told_as_json(here) -> None:
    code, out, _ = here.tocsin("config", "show", "--json", "--changed", "--set", "dedup.reminders=[2]")
    assert code == 0
    assert json.loads(out) == {"schema_version": 1, "settings": {"dedup.reminders": {"value": [2], "origin": "flag"}}}


def test_a_check_names_file_and_line_and_is_2(here) -> None:
    path = here.place / ".tocsin.toml"
    path.write_text("[dedup]\nwindo = 1\n")
    code, out, err = here.tocsin("config", "check")
    assert (code, out, err) == (2, "", f"tocsin: {path}:2: there is no setting 'dedup.windo'; did you mean dedup.window?\n")
    code, out, _ = here.tocsin("config", "check", "--json")
    assert code == 2
    assert json.loads(out)["error"]["code"] == "bad_input"


def test_a_good_check_says_what_was_read(here) -> None:
    path = here.place / ".tocsin.toml"
    path.write_text("[dedup]\nwindow = 1\n")
    assert here.tocsin("config", "check") == (0, f"{path}: good; 1 setting set, the others have their defaults\n", "")
    path.unlink()
    code, out, _ = here.tocsin("config", "check")
    assert code == 0
    assert out.startswith("no configuration file (")


def test_a_mistake_in_the_settings_stops_a_run_before_its_program(here) -> None:
    (here.place / ".tocsin.toml").write_text("[dedup]\nwindo = 1\n")
    code, out, err = here.tocsin("run", "--", "touch", "started")
    assert (code, out) == (2, "")
    assert ".tocsin.toml:2" in err
    assert not (here.place / "started").exists()
    code, _, err = here.tocsin("run", "--set", "dedup", "--", "true")
    assert code == 2
    assert "'dedup' is no KEY=VALUE" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(here, shell: str) -> None:
    code, out, _ = here.tocsin("completion", shell)
    assert code == 0
    assert "_TOCSIN_COMPLETE" in out


def test_completion_knows_the_commands(here) -> None:
    env = {"_TOCSIN_COMPLETE": "bash_complete", "COMP_WORDS": "tocsin st", "COMP_CWORD": "1"}
    assert here.tocsin(env=env)[1] == "plain,status\n"
