"""The hooks command: an agent's own settings are changed by what is asked, and people and programs are told."""

import json
import os
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
THEIRS = '{\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}\n'


@pytest.fixture
def world() -> Iterator[object]:
    with _processes["world"]() as made:
        made.environ["HOME"] = str(made.place)
        yield made


def settings(world, text: str = THEIRS) -> Path:
    path = world.place / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_install_and_uninstall_give_back_the_same_bytes(world) -> None:
    path = settings(world)
    code, out, err = world.tocsin("hooks", "install", "claude")
    assert (code, err) == (0, "")
    assert out == f"wrote 16 hooks for Claude Code into {path}; sessions that run already may have to be started again\n"
    made = json.loads(path.read_text())
    assert made["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert all("hook --agent claude" in groups[-1]["hooks"][0]["command"] for groups in made["hooks"].values())
    assert world.tocsin("hooks", "install", "claude")[1] == f"16 hooks for Claude Code are in {path} already\n"
    assert world.tocsin("hooks", "uninstall", "claude")[1] == f"took our hooks out of {path}\n"
    assert path.read_text() == THEIRS
    assert world.tocsin("hooks", "uninstall", "claude")[1] == f"there are no hooks of ours in {path}\n"


def test_print_shows_the_result_and_writes_nothing(world) -> None:
    path = settings(world)
    code, out, _ = world.tocsin("hooks", "install", "claude", "--print", "--as", "dev")
    assert code == 0
    assert out.count("hook --agent claude --as dev") == 16
    assert path.read_text() == THEIRS
    assert world.tocsin("hooks", "uninstall", "claude", "--print")[1] == THEIRS
    assert world.tocsin("hooks", "install", "codex", "--print")[0] == 0
    assert not (world.place / ".codex").exists()


def test_with_project_it_is_this_directorys_settings(world) -> None:
    assert world.tocsin("hooks", "install", "gemini", "--project")[0] == 0
    made = json.loads((world.place / ".gemini" / "settings.json").read_text())
    assert set(made["hooks"]) >= {"BeforeAgent", "AfterTool", "AfterAgent"}
    code, _, err = world.tocsin("hooks", "install", "kimi", "--project")
    assert (code, err) == (2, "tocsin: Kimi Code reads no hooks from a project; leave out --project\n")


def test_malformed_settings_are_left_alone_and_named(world) -> None:
    path = settings(world, '{\n  "model": opus\n}\n')
    code, out, err = world.tocsin("hooks", "install", "claude")
    assert (code, out) == (2, "")
    assert err == f"tocsin: {path}:2: a value was expected, not 'opus\\n}}\\n'; nothing was changed\n"
    assert path.read_text() == '{\n  "model": opus\n}\n'


def test_what_can_only_be_added_by_hand_is_shown(world) -> None:
    path = world.place / ".kimi-code" / "config.toml"
    path.parent.mkdir()
    path.write_text("hooks = []\n")
    code, out, err = world.tocsin("hooks", "install", "kimi")
    assert code == 2
    assert out.count("[[hooks]]") == 11
    assert "nothing was changed, add by hand what is shown" in err
    assert path.read_text() == "hooks = []\n"


def test_show_says_where_they_are_and_what_is_missing(world) -> None:
    path = settings(world)
    world.tocsin("hooks", "install", "claude")
    made = json.loads(path.read_text())
    del made["hooks"]["PermissionRequest"]
    path.write_text(json.dumps(made))
    (world.place / ".codex").mkdir()
    (world.place / ".codex" / "hooks.json").write_text("{")
    code, out, _ = world.tocsin("hooks", "show", "--json", cwd=os.sep)
    assert code == 0
    places = {(one["agent"], one["file"]): one for one in json.loads(out)["hooks"]}
    claude = places["claude", str(path)]
    assert claude["missing"] == ["PermissionRequest"]
    assert "hook --agent claude" in claude["command"]
    assert places["codex", str(world.place / ".codex" / "hooks.json")]["error"].endswith("; nothing was changed")
    rows = world.tocsin("hooks", "show", cwd=os.sep)[1].splitlines()
    assert rows[1].split("  ")[1] == "all but PermissionRequest"
