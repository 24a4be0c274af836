"""Our hooks in agents' settings: put in once, taken out to the byte, everything else untouched, and no file half written."""

import json
import os
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import BadInput
from tocsin.edges.agent_hooks import json_hooks, toml_hooks
from tocsin.edges.agent_hooks.agents import AGENTS, command_for, entry_for, is_ours, settings_file
from tocsin.edges.agent_hooks.json_text import Malformed, scan
from tocsin.edges.agent_hooks.settings import Refused, commands, installed, uninstalled, write

CLAUDE, KIMI = AGENTS["claude"], AGENTS["kimi"]
COMMAND = "command -v tocsin >/dev/null 2>&1 || exit 0; exec tocsin hook --agent claude"
WANTED = {event: entry_for(CLAUDE, COMMAND) for event in CLAUDE.events}
THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "tocsin hooks show; notify 'tocsin'"}]}

# Every shape of settings, in every layout

leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False)
json_value = st.recursive(
    leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
groups = st.lists(st.just(THEIRS) | st.just({"hooks": []}) | json_value, max_size=2)
events = st.sampled_from([*CLAUDE.events, "PostCompact", "x"])
hook_tables = st.dictionaries(events, groups, max_size=4)


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    content = draw(st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), json_value, max_size=3))
    if draw(st.booleans()):
        items = [*content.items(), ("hooks", draw(hook_tables))]
        content = dict(draw(st.permutations(items)))
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
    text = json.dumps(content, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = (
        draw(st.sampled_from(["", "\ufeff", "\n", "// mine\n"])) + text + draw(st.sampled_from(["", "\n", "\n\n", " // end"]))
    )
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(settings_texts())
def test_installed_and_taken_out_again_the_settings_are_the_same_to_the_byte(text: str) -> None:
    made = json_hooks.merged(text, WANTED)
    assert json_hooks.without(made) == text
    assert json_hooks.without(text) == text


@given(settings_texts())
def test_installed_twice_is_as_good_as_once(text: str) -> None:
    made = json_hooks.merged(text, WANTED)
    assert json_hooks.merged(made, WANTED) == made
    assert json_hooks.found(made) == {event: [entry] for event, entry in WANTED.items()}


@given(settings_texts())
def test_nothing_but_our_entries_is_added(text: str) -> None:
    before, after = scan(text).value, scan(json_hooks.merged(text, WANTED)).value
    ours = after["hooks"]
    theirs = {event: [entry for entry in entries if entry not in WANTED.values()] for event, entries in ours.items()}
    there = before.get("hooks", {})
    assert {**after, "hooks": None} == {**before, "hooks": None}
    assert {event: entries for event, entries in theirs.items() if entries or event in there} == there


@given(settings_texts())
def test_another_command_replaces_ours_and_leaves_no_other_trace(text: str) -> None:
    other = {event: entry_for(CLAUDE, "exec /opt/tocsin hook --agent claude --as dev") for event in ("Stop", "SessionStart")}
    made = json_hooks.merged(json_hooks.merged(text, WANTED), other)
    assert json_hooks.found(made) == {event: [entry] for event, entry in other.items()}
    assert json_hooks.without(made) == text


@given(st.text(alphabet='{}[]:,"\\ \n/*ab01.e-', max_size=20) | json_value.map(json.dumps))
def test_no_text_at_all_raises_anything_but_malformed(text: str) -> None:
    try:
        json_hooks.merged(text, WANTED)
    except Malformed as error:
        assert 1 <= error.line <= text.count("\n") + 1


@given(json_value, st.sampled_from([None, 2]))
def test_the_scanner_reads_what_json_reads(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert json.dumps(scan(text).value) == json.dumps(json.loads(text))


def test_it_reads_as_if_the_agent_itself_had_written_it() -> None:
    before = json.dumps({"model": "opus", "hooks": {"Stop": [{"hooks": [], "matcher": ""}]}}, indent=4) + "\n"
    made = json_hooks.merged(before, {"Stop": {"hooks": [{"type": "command", "command": "tocsin hook"}]}})
    assert made == json.dumps(json.loads(made), indent=4) + "\n"
    assert json_hooks.merged("", {"Stop": {"hooks": []}}) == json.dumps({"hooks": {"Stop": [{"hooks": []}]}}, indent=2) + "\n"


def test_comments_and_a_last_comma_stay() -> None:
    before = '{\n  // mine\n  "a": 1, /* two */\n  "hooks": {"Stop": [], },\n}\n'
    made = json_hooks.merged(before, WANTED)
    assert "// mine" in made
    assert json_hooks.without(made) == before


def test_a_hook_of_ours_beside_anothers_in_one_entry_is_taken_out_alone() -> None:
    before = '{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "tocsin hook"}, {"command": "b"}]}]}}'
    assert json_hooks.without(before) == '{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "b"}]}]}}'


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (COMMAND, True),
        ("tocsin hook", True),
        ("'/opt/my tools/tocsin' hook --agent gemini", True),
        ("/usr/bin/python3 -m tocsin hook", True),
        ("tocsin hooks show", False),
        ("tocsin feed hook", False),
        ("mytocsin-hook", False),
        ("tocsin hook-lint", False),
        (7, False),
    ],
)
def test_ours_is_what_calls_tocsin_hook(command: object, ours: bool) -> None:
    assert is_ours(command) is ours


# TOML


@given(st.sampled_from(["", "a = 1", "a = 1\n", "[[hooks]]\nevent = 'Stop'\ncommand = 'x'\n", "# end\r\n", "[t]\nb = 2\n\n\n"]))
def test_in_toml_too_it_is_put_in_once_and_taken_out_to_the_byte(text: str) -> None:
    wanted = {event: entry_for(KIMI, 'x "q" \\ tocsin hook') for event in KIMI.events}
    made = toml_hooks.merged(text, wanted)
    assert toml_hooks.merged(made, wanted) == made
    assert toml_hooks.found(made) == {event: [entry] for event, entry in wanted.items()}
    assert toml_hooks.without(made) == text
    assert {**tomllib.loads(made), "hooks": 0} == {**tomllib.loads(text), "hooks": 0}


@pytest.mark.parametrize("text", ["hooks = []\n", "[hooks]\na = 1\n", '[[hooks]]\nevent = "Stop"\ncommand = "tocsin hook"\n'])
def test_where_toml_allows_no_addition_it_is_refused_with_what_to_add(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(Refused, match="nothing was changed") as refused:
        installed(KIMI, path, "tocsin hook")
    assert tomllib.loads(refused.value.addition)["hooks"][0]["event"] == "SessionStart"
    assert path.read_text() == text


# Files


def test_a_file_is_written_whole_with_its_mode_through_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "settings.json"
    real.write_text('{"a": 1}')
    real.chmod(0o640)
    link.symlink_to(real)
    write(installed(CLAUDE, link, COMMAND))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert set(commands(CLAUDE, link)) == set(CLAUDE.events)
    write(uninstalled(CLAUDE, link))
    assert real.read_text() == '{"a": 1}'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.json", "settings.json"]


def test_a_file_that_is_not_there_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.json"
    write(installed(CLAUDE, path, COMMAND))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write(uninstalled(CLAUDE, path))
    assert path.read_text() == "{}\n"


def test_what_another_program_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    change = installed(CLAUDE, path, COMMAND)
    path.write_text('{"theirs": 1}')
    with pytest.raises(BadInput, match="changed by another program"):
        write(change)
    assert path.read_text() == '{"theirs": 1}'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1,\n "b" 2}', r"settings\.json:2: a colon was expected, not '2}'"),
        (b'{"a": [1, 2', r":1: a comma or \] was expected, not the end"),
        (b"[1]", ":1: an object was expected"),
        (b'{"hooks": 7}', ":1: an object was expected, not '7}'"),
        (b'{\n"hooks": {\n"Stop": {}}}', ":3: an array was expected"),
        (b'{"a": tru}', ":1: a value was expected"),
        (b"\xff", "byte 0 is no UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_malformed_settings_are_refused_with_their_line_and_left_alone(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    for attempt in (
        lambda: installed(CLAUDE, path, COMMAND),
        lambda: uninstalled(CLAUDE, path),
        lambda: commands(CLAUDE, path),
    ):
        with pytest.raises(BadInput, match=said):
            attempt()
    assert path.read_bytes() == content


# The command


def test_settings_are_where_each_agent_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    places = {name: settings_file(agent, project=None, environ={}) for name, agent in AGENTS.items()}
    assert {name: str(path.relative_to(tmp_path)) for name, path in places.items()} == {
        "claude": ".claude/settings.json",
        "codex": ".codex/hooks.json",
        "gemini": ".gemini/settings.json",
        "qwen": ".qwen/settings.json",
        "kimi": ".kimi-code/config.toml",
    }
    (tmp_path / ".kimi").mkdir()
    assert settings_file(KIMI, project=None, environ={}) == tmp_path / ".kimi/config.toml"
    assert settings_file(AGENTS["codex"], project=None, environ={"CODEX_HOME": "/c"}) == Path("/c/hooks.json")
    assert settings_file(CLAUDE, project=Path("/p"), environ={}) == Path("/p/.claude/settings.json")
    with pytest.raises(BadInput, match="no hooks from a project"):
        settings_file(KIMI, project=Path("/p"), environ={})


def ran(command: str, path: str) -> subprocess.CompletedProcess[bytes]:
    environ = {"PATH": path, "HOME": os.environ["HOME"]}
    return subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, env=environ, timeout=30, check=False)


@pytest.mark.parametrize("name", list(AGENTS))
def test_the_command_runs_where_tocsin_is_and_ends_well_where_it_is_gone(tmp_path: Path, name: str) -> None:
    tools = tmp_path / "my tools"
    tools.mkdir()
    fake = tools / "tocsin"
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    command = command_for(AGENTS[name], "my dev", {"PATH": str(tools)})
    assert is_ours(command)
    done = ran(command, f"{tools}:/usr/bin:/bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hook --agent {name} --as my dev\n".encode(), b"")
    done = ran(command, "/nowhere")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_outside_of_path_the_whole_place_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "my tools"
    tools.mkdir()
    (tools / "python").touch()
    monkeypatch.setattr("sys.executable", str(tools / "python"))
    by_module = command_for(CLAUDE, None, {"PATH": "/nowhere"})
    assert "-m tocsin hook --agent claude" in by_module
    assert is_ours(by_module)
    (tools / "tocsin").write_text("#!/bin/sh\necho ran\n")
    (tools / "tocsin").chmod(0o755)
    command = command_for(CLAUDE, None, {"PATH": "/nowhere"})
    assert is_ours(command)
    assert ran(command, "/usr/bin:/bin").stdout == b"ran\n"
    (tools / "tocsin").unlink()
    for gone in (command, by_module):
        done = ran(gone, "/usr/bin:/bin")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
