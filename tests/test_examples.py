"""The examples do what their first lines say, as real programs in real terminals."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PATIENCE = 30.0


@contextmanager
def in_terminal(*argv: str, env: dict[str, str] | None = None) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    master, slave = pty.openpty()
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
    os.close(slave)
    try:
        yield process, master
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(master)


def read_until(master: int, wanted: str) -> str:
    """What was printed, up to and including what is waited for."""
    text, until = "", time.monotonic() + PATIENCE
    while not re.search(wanted, text):
        assert time.monotonic() < until, f"{wanted!r} did not come; there was {text!r}"
        if select.select([master], [], [], 0.2)[0]:
            text += os.read(master, 65536).decode(errors="replace")
    return text


def test_the_wrapper_passes_keys_through_and_types_a_notice_once() -> None:
    with in_terminal(sys.executable, str(EXAMPLES / "wrapper.py"), "sh", "-c", "echo ready; exec cat") as (process, master):
        read_until(master, "ready")
        os.write(master, b"hello\r")
        assert "hello" in read_until(master, r"hello\r\nhello")
        process.send_signal(signal.SIGUSR1)
        shown = read_until(master, r"\(id \S+\) .*somebody sent SIGUSR1(?s:.*)somebody sent SIGUSR1")
        assert shown.count("[tocsin ") == 2  # the terminal's echo, then what cat makes of it
        os.write(master, b"\x04")
        assert process.wait(PATIENCE) == 0


def test_the_asyncio_program_is_told_after_its_turn_in_one_block() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "async_app.py"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    first, head, *entries = done.stdout.splitlines()
    assert first == "while the turn runs: 0 blocks"
    assert "mailer, indexer: 2 errors" in head
    assert sum("×20" in line for line in entries) == 2


def test_the_queue_in_a_program_brings_the_answer_to_who_asked(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "attention.py"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )
    asked, head, *told = done.stdout.splitlines()
    assert asked == "Choose a render: Select A, B or C."
    assert head == "Attention item 1 is resolved: selected"
    assert told[-1] == "Take C."
    assert list(tmp_path.iterdir()) == []


FAILING = """
def test_total():
    assert 1 + 1 == 3

def test_fine():
    pass
"""


def test_the_pytest_plugin_tells_the_agent_of_a_failure_and_of_nothing_else(tmp_path: Path, short_dir: Path) -> None:
    (tmp_path / "test_cart.py").write_text(FAILING)
    env = {
        **os.environ,
        "XDG_RUNTIME_DIR": str(short_dir),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONPATH": str(EXAMPLES),
    }
    agent = [sys.executable, "-m", "tocsin", "run", "--as", "dev", "--", sys.executable, "-m", "tocsin.cli.demo.agent", "0.5"]
    with in_terminal(*agent, env=env) as (_, master):
        read_until(master, "> ")
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "pytest_tocsin",
                "--tocsin-to",
                "dev",
                "-p",
                "no:cacheprovider",
                str(tmp_path),
            ],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ran.returncode == 1
        assert "tocsin: 1 fed to dev" in ran.stdout
        told = read_until(master, r"\* read \d+ lines")
        assert "pytest: 1 error" in told
        assert "FAILED test_cart.py::test_total - assert (1 + 1) == 3" in told
        assert "test_fine" not in told


def test_the_pytest_plugin_lets_the_run_be_when_nobody_is_there(tmp_path: Path, short_dir: Path) -> None:
    (tmp_path / "test_cart.py").write_text(FAILING)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(short_dir), "PYTHONPATH": str(EXAMPLES)}
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "pytest_tocsin",
            "--tocsin-to",
            "dev",
            "-p",
            "no:cacheprovider",
            str(tmp_path),
        ],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 1
    assert "tocsin: nobody called 'dev' is here" in ran.stdout


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A directory with a path short enough for sockets, also on macOS."""
    with tempfile.TemporaryDirectory(prefix="tocsin-", dir="/tmp") as place:
        yield Path(place)
