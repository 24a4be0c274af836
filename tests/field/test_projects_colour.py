"""Colour and terminals change how tools print, and nothing of what is found: real tools, coloured and in a terminal."""

import os
import pty
import runpy
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

_tools = runpy.run_path(str(Path(__file__).parent / "tools.py"))
project, printed, told, environment, needs, PATIENCE = (
    _tools[name] for name in ("project", "printed", "told", "environment", "needs", "PATIENCE")
)
_web = runpy.run_path(str(Path(__file__).parent / "test_projects_web.py"))
Installed, installed = _web["Installed"], _web["installed"]
PYTHON = sys.executable
FORCED = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "CARGO_TERM_COLOR": "always", "PY_COLORS": "1"}

NATIVE = {
    "cargo test": (
        "cargo/broken_test",
        "cargo test --offline -- --test-threads=1",
        "cargo test --offline --color always -- --test-threads=1 --color always",
    ),
    "rustc": ("rustc/broken", "rustc cart.rs", "rustc --color always cart.rs"),
    "gcc": ("gcc/broken", "gcc -c cart.c", "gcc -fdiagnostics-color=always -c cart.c"),
    "go": ("go/broken_test", "go test ./...", "go test -v ./..."),
    "node": ("node/broken", "node rejected.mjs", "node rejected.mjs"),
    "node --test": ("node_test/broken", "node --test --test-reporter=spec", "node --test --test-reporter=spec"),
    "pytest": ("pytest/broken", f"{PYTHON} -m pytest", f"{PYTHON} -m pytest --color=yes"),
    "unittest": ("unittest/broken", f"{PYTHON} -m unittest", f"{PYTHON} -m unittest"),
    "python": ("python/broken", f"{PYTHON} cart.py", f"{PYTHON} cart.py"),
}
"""The project, the command, and the command with colour forced."""
WEB = {
    "tsc": ("tsc/broken", "tsc", "tsc --pretty"),
    "eslint": ("eslint/broken", "eslint .", "eslint --color ."),
    "vitest": ("vitest/broken", "vitest run", "vitest run"),
    "vite": ("vite/broken", "vite build", "vite build"),
}


def in_terminal(cwd: Path, *command: str, **more: str) -> bytes:
    """What the tool prints in a terminal of its own, 120 columns wide, raw."""
    environ = environment(**more)
    needs(command[0], environ["PATH"])
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 120))
    process = subprocess.Popen(command, cwd=cwd, env=environ, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    seen = bytearray()
    with suppress(OSError):  # Linux says so that no program is left on the other side
        while data := os.read(master, 65_536):
            seen += data
    os.close(master)
    process.wait(PATIENCE)
    return bytes(seen)


def same(place: Path, plain: str, coloured: str, **more: str) -> None:
    """The same findings, in whatever order a tool's threads print them."""
    expected = sorted(told(printed(place, *plain.split(), **more)))
    assert expected
    assert sorted(told(printed(place, *coloured.split(), **{**more, **FORCED}))) == expected
    assert sorted(told(in_terminal(place, *plain.split(), **more))) == expected


@pytest.mark.parametrize("name", NATIVE)
def test_a_tool_in_colour_or_in_a_terminal_gives_the_same_findings(tmp_path: Path, name: str) -> None:
    where, plain, coloured = NATIVE[name]
    same(project(tmp_path, where), plain, coloured)


@pytest.mark.parametrize("name", WEB)
def test_a_tool_of_node_in_colour_or_in_a_terminal_gives_the_same_findings(
    tmp_path: Path, installed: Installed, name: str
) -> None:
    where, plain, coloured = WEB[name]
    same(installed.project(tmp_path, where), plain, coloured, PATH=installed.path)
