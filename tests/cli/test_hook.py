"""The hook command tells a running line what its agent does, and is never in the agent's way."""

import json
import os
import pty
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HOOK = [sys.executable, "-m", "tocsin", "hook"]
AGENT = [sys.executable, "-m", "tocsin", "run", "--as", "dev", "--", sys.executable, "-m", "tocsin.cli.demo.agent", "0.3"]


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="tocsin-", dir="/tmp") as place:
        yield {**os.environ, "XDG_RUNTIME_DIR": place, "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}


def call(env: dict[str, str], said: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(HOOK, input=said, env=env, capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.parametrize("said", ["", "{", "[]", '{"hook_event_name": 7}', '{"hook_event_name": "Stop"}', "\udcff"])
def test_without_a_line_it_is_silent_and_ends_well_whatever_it_is_given(env: dict[str, str], said: str) -> None:
    nowhere = {**env, "TOCSIN_SOCKET": str(Path(env["XDG_RUNTIME_DIR"]) / "nobody.sock")}
    for environment in (env, nowhere):
        done = subprocess.run(
            HOOK, input=said.encode("utf-8", "surrogateescape"), env=environment, capture_output=True, timeout=30, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def recipient(env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tocsin", "status", "--json"], env=env, capture_output=True, text=True, timeout=30, check=True
    )
    return json.loads(done.stdout)["recipients"][0]["lanes"][0]["recipient"]


def test_a_running_line_learns_of_turns_tool_calls_and_waits(env: dict[str, str]) -> None:
    master, slave = pty.openpty()
    agent = subprocess.Popen(AGENT, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
    os.close(slave)
    try:
        while b"> " not in os.read(master, 65536):
            pass
        [socket] = Path(env["XDG_RUNTIME_DIR"], "tocsin").glob("*.sock")
        inside = {**env, "TOCSIN_SOCKET": str(socket), "TOCSIN_RECIPIENT": "dev"}
        steps = [
            ({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "an unknown field"}, "turn"),
            ({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "1"}, "tool"),
            ({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "1"}, "turn"),
            ({"hook_event_name": "PermissionRequest", "tool_name": "Bash"}, "waiting"),
            ({"hook_event_name": "Stop"}, "idle"),
        ]
        for said, known in steps:
            done = call(inside, json.dumps(said))
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
            until = time.monotonic() + 10
            while (state := recipient(inside)) != known and time.monotonic() < until:
                pass
            assert state == known
    finally:
        agent.terminate()
        agent.wait(10)
        os.close(master)


def test_a_call_imports_nothing_that_an_agent_would_have_to_wait_for(env: dict[str, str]) -> None:
    program = (
        "import sys; sys.argv = ['tocsin', 'hook', '--agent', 'claude']\n"
        "from tocsin.cli.entry import main\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0\n"
        "heavy = {'click', 'msgspec', 'anyio', 'asyncio', 'tocsin.contracts'} & set(sys.modules)\n"
        "sys.exit(' '.join(heavy) or 0)"
    )
    said = json.dumps({"hook_event_name": "Stop"})
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=said, env={**env, "TOCSIN_SOCKET": "/nowhere"}, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("arguments", [["--agent"], ["--agent", "claude", "more"], ["--agents", "x"]])
def test_no_call_that_is_spelt_in_another_way_is_a_no_to_the_agent(env: dict[str, str], arguments: list[str]) -> None:
    done = subprocess.run([*HOOK, *arguments], input="", env=env, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_mistake_in_the_settings_is_no_no_to_the_agent_either(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".tocsin.toml").write_text('[throttle]\nmax_pending = "many"\n')
    said = json.dumps({"hook_event_name": "PreToolUse"})
    done = subprocess.run(
        [*HOOK, "--as", "dev"], input=said, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_help_is_shown_as_by_every_command(env: dict[str, str]) -> None:
    done = subprocess.run([*HOOK, "--help"], input="", env=env, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0
    assert "--agent" in done.stdout


def test_it_says_what_went_wrong_only_when_asked(env: dict[str, str]) -> None:
    done = call({**env, "TOCSIN_DEBUG": "1"}, json.dumps({"hook_event_name": "Stop"}))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "tocsin hook: this agent was not started by `tocsin run`, so nobody is told\n"


def test_an_agent_that_tocsin_did_not_start_tells_whom_its_command_names(env: dict[str, str]) -> None:
    done = subprocess.run(
        [*HOOK, "--agent", "claude", "--as", "dev"], input=json.dumps({"hook_event_name": "Stop"}), capture_output=True,
        env={**env, "TOCSIN_DEBUG": "1"}, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert "nobody called 'dev' is here or registered; `tocsin recipients register dev`" in done.stderr
