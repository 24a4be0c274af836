"""Windows: a command that can't work there says so before it imports anything; the others work. Played without its modules."""

import subprocess
import sys

import pytest

from tocsin.cli.main import ANYWHERE, COMMANDS

PLAYED = """
import importlib, sys
# What the standard library itself asks the platform for is imported as it is here.
import asyncio, click, multiprocessing, platformdirs, shutil, socket, sqlite3, ssl, subprocess, tempfile, uuid
import anyio, anyio._backends._asyncio, anyio.from_thread, msgspec, sqlite_utils
UNIX = {"fcntl", "termios", "pty", "tty", "resource", "pwd", "grp"}
for name in UNIX:
    sys.modules.pop(name, None)
class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name in UNIX:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuses())
if PLATFORM:
    sys.platform = PLATFORM
sys.argv = ["tocsin", *WORDS]
importlib.import_module("tocsin.cli.entry").main()
"""


def played(*words: str, platform: str = "win32", stdin: str = "") -> tuple[int, str, str]:
    code = f"PLATFORM, WORDS = {platform!r}, {words!r}\n{PLAYED}"
    got = subprocess.run([sys.executable, "-c", code], input=stdin, capture_output=True, text=True, check=False, timeout=60)
    return got.returncode, got.stdout, got.stderr


@pytest.mark.parametrize("words", [("run", "--", "python"), ("watch", "--", "npm"), ("feed", "x"), ("status",), ("demo",)])
def test_what_can_not_work_there_is_said_in_one_line_with_the_way_out(words: tuple[str, ...]) -> None:
    assert played(*words) == (6, "", f"tocsin: tocsin {words[0]} needs Linux or macOS; on Windows run it inside WSL\n")


def test_every_other_command_has_help_there() -> None:
    code = "\n".join(
        [
            "PLATFORM, WORDS = 'win32', ['--version']",
            PLAYED.replace("main()", "main"),
            "from tocsin.cli.main import COMMANDS, tocsin",
            "import click",
            f"for name in {sorted(ANYWHERE)!r}:",
            "    tocsin.get_command(click.Context(tocsin), name).get_help(click.Context(tocsin))",
        ]
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (got.returncode, got.stderr) == (0, "")


def test_what_needs_no_terminal_socket_or_store_works_there() -> None:
    assert played("fingerprint", "the same failure after 903 ms")[0] == 0
    assert played("config", "show")[0] == 0
    assert played("rules", "test", "-", stdin="error: x\n")[0] == 0
    assert played("hook", "--agent", "claude", stdin="{}") == (0, "", "")
    code, out, _ = played("--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)


def test_a_part_of_python_that_is_missing_is_not_to_be_installed_as_a_package() -> None:
    code, out, err = played("status", platform="")
    assert (code, out) == (6, "")
    assert err.startswith("tocsin: this Python has no module fcntl, which is a part of it on Linux and macOS")
    assert "pip" not in err
