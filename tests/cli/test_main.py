"""The command itself: quick to start, one exit code for each kind of failure, and never a traceback for a user's mistake."""

import importlib
import json
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tocsin as package
from tocsin.cli import main as command
from tocsin.contracts.errors import NotRunning, TocsinError
from tocsin.contracts.wire import Failed
from tocsin.edges.server.client import error_of

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, argv = (_processes[name] for name in ("world", "until", "argv"))
ROOT = Path(package.__file__).parent


@pytest.fixture
def here():
    with world() as one:
        yield one


def test_help_lists_every_command_and_imports_none_of_them() -> None:
    code = f"""
import sys, types
bare = types.ModuleType("tocsin")
bare.__path__ = [{str(ROOT)!r}]
sys.modules["tocsin"] = bare
from tocsin.cli.main import main
try:
    main(["--help"])
finally:
    heavy = ("tocsin", "msgspec", "anyio", "pykka", "asyncio", "platformdirs")
    print(sorted(name for name in sys.modules if name.startswith(heavy)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    *shown, modules = done.stdout.splitlines()
    assert (
        modules
        == "['tocsin', 'tocsin.cli', 'tocsin.cli.lazy', 'tocsin.cli.main', 'tocsin.contracts', 'tocsin.contracts.errors']"
    )
    for name in command.COMMANDS:
        assert any(line.startswith(f"  {name} ") for line in shown), name


@pytest.mark.parametrize("name", list(command.COMMANDS))
def test_every_command_that_is_listed_is_there_and_explains_itself(name: str) -> None:
    context = click.Context(command.tocsin)
    found = command.tocsin.get_command(context, name)
    assert isinstance(found, click.Command)
    assert found.get_short_help_str(200)


def test_an_unknown_command_is_a_usage_error(here) -> None:
    code, out, err = here.tocsin("explian")
    assert (code, out) == (2, "")
    assert "there is no command 'explian'; did you mean explain?" in err


def test_the_same_goes_for_the_commands_of_a_group(here) -> None:
    assert "did you mean next?" in here.tocsin("attention", "nexxt")[2]
    assert "did you mean" not in here.tocsin("attention", "zzz")[2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (("--version",), 6, "can't be written: No space left on device"),
        (("rules", "list"), 6, "can't be written: No space left on device"),
        (("rules", "list", "--json"), 6, "can't be written: No space left on device"),
        (("rules", "show", "nosuch", "--json"), 2, "no rule is called nosuch"),
    ],
)
def test_a_full_place_for_the_output_is_said_in_words(arguments, exit_code: int, said: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(argv(*arguments), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        assert done.returncode == exit_code
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert subprocess.run(argv(*arguments), stdout=full, stderr=full, timeout=60, check=False).returncode == exit_code


def test_every_kind_of_failure_has_its_exit_code() -> None:
    for module in pkgutil.walk_packages(package.__path__, "tocsin."):
        if module.name.startswith(("tocsin.actors", "tocsin.contracts", "tocsin.edges", "tocsin.pipeline")):
            importlib.import_module(module.name)

    def kinds(base: type[TocsinError]) -> list[type[TocsinError]]:
        return [inner for kind in base.__subclasses__() for inner in (kind, *kinds(kind))]

    ours = [kind for kind in kinds(TocsinError) if kind.__module__.startswith("tocsin.")]
    assert {kind.code for kind in ours} <= set(command.EXIT_CODES)
    assert set(command.EXIT_CODES.values()) == {2, 3, 4, 5, 6, 7, 124}


@pytest.mark.parametrize("known", ["no_recipient", "time_limit", "not_found", "not_running"])
def test_a_failure_keeps_its_kind_over_the_wire(known: str) -> None:
    error = error_of(Failed(code=known, text="t"))
    assert (error.code, str(error)) == (known, "t")
    assert error_of(Failed(code="not_running", text="t")).__class__ is NotRunning


def test_a_failure_of_a_kind_that_is_not_known_here_keeps_its_name() -> None:
    error = error_of(Failed(code="newer", text="t", retryable=True))
    assert (error.code, error.retryable, TocsinError.code) == ("newer", True, "tocsin_error")


def failing(here, raised: str, *arguments: str, debug: bool = False):
    """``tocsin recipients`` with something broken in it."""
    code = f"""
import tocsin.cli.recipients as s
from tocsin.cli.main import main
def broken(*_):
    {raised}
s.living = broken
main(["recipients", *{list(arguments)!r}])
"""
    env = {**here.environ, **({"TOCSIN_DEBUG": "1"} if debug else {})}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=False)


def test_a_fault_of_ours_is_7_in_one_line_and_debug_shows_where(here) -> None:
    done = failing(here, "raise ZeroDivisionError('oh')")
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == "tocsin: this is a fault of tocsin (ZeroDivisionError: oh); TOCSIN_DEBUG=1 shows where\n"
    done = failing(here, "raise ZeroDivisionError('oh')", debug=True)
    assert "Traceback" in done.stderr


def test_a_failure_inside_a_group_is_said_as_itself(here) -> None:
    raised = "raise ExceptionGroup('tasks', [ExceptionGroup('more', [FileNotFoundError(2, 'No such file', 'the.log')])])"
    done = failing(here, raised)
    assert (done.returncode, done.stderr) == (2, "tocsin: the.log: No such file\n")


def test_a_missing_package_is_named(here) -> None:
    done = failing(here, "raise ModuleNotFoundError('no', name='matplotlib')")
    assert (done.returncode, done.stderr) == (6, "tocsin: this needs the package matplotlib: pip install matplotlib\n")


def test_where_json_is_due_a_failure_is_one_json_object(here) -> None:
    code, out, err = here.tocsin("status", "--json", "--to", "ghost")
    assert (code, err) == (4, "")
    assert out.count("\n") == 1
    said = json.loads(out)
    assert (said["schema_version"], said["error"]["code"], said["error"]["retryable"]) == (1, "no_recipient", False)
    done = failing(here, "raise ZeroDivisionError('oh')", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "internal"


def test_text_from_outside_is_inert_in_what_is_said(here) -> None:
    code, _, err = here.tocsin("feed", "--to", "\x1b]0;gotcha\x07\x1b[31mred\u202e", "x")
    assert code == 4
    assert "\x1b" not in err
    assert "\x07" not in err
    assert "\u202e" not in err


def test_a_directory_of_another_user_is_3(here) -> None:
    (here.place / "link").symlink_to(here.place)
    code, _, err = here.tocsin("recipients", env={"TOCSIN_RUNTIME_DIR": str(here.place / "link")})
    assert code == 3
    assert "not a plain directory" in err


def test_a_reader_that_goes_away_ends_a_command_quietly(here) -> None:
    for arguments in (["--help"], ["config", "show"]):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(argv(*arguments), env=here.environ, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (128 + signal.SIGPIPE, b""), arguments


def test_a_closed_stdout_is_no_fault(here) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *argv("recipients")], env=here.environ, capture_output=True, timeout=60, check=False
    )
    assert done.returncode in (0, 128 + signal.SIGPIPE)
    assert b"Traceback" not in done.stderr


def test_a_time_limit_is_124(here) -> None:
    code = """
import socket, time
from pathlib import Path
from tocsin.edges.server.runtime import Seat, runtime_directory
seat = Seat.take(runtime_directory(), "mute")
listener = socket.socket(socket.AF_UNIX)
listener.bind(str(seat.path))
listener.listen()
print("ready", flush=True)
time.sleep(1000)
"""
    mute = subprocess.Popen([sys.executable, "-c", code], env=here.environ, stdout=subprocess.PIPE)
    try:
        assert mute.stdout.readline() == b"ready\n"
        code, _, err = here.tocsin("status", "--timeout", "0.1")
        assert (code, err) == (124, "tocsin: 'mute' did not answer within 0.1 s; is it stopped?\n")
        with here.agent("composer", name="alive"):
            until(lambda: here.tocsin("status", "--to", "alive")[0] == 0, "the other recipient")
            code, out, err = here.tocsin("status", "--timeout", "2")
            assert (code, err) == (0, "tocsin: 'mute' did not answer within 2 s; is it stopped?\n")
            assert "\nalive " in out
        code, out, _ = here.tocsin("recipients", "--timeout", "0.1")
        assert code == 0
        assert "(does not answer)" in out
    finally:
        mute.kill()
        mute.communicate()


def test_the_version_is_the_packages(here) -> None:
    assert here.tocsin("--version") == (0, f"tocsin {package.__version__}\n", "")
