"""``tocsin-attention``: the same command under a name of its own, with its arguments, its streams, its signals and its end."""

import os
import runpy
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

import tocsin

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, argv = (_processes[name] for name in ("world", "until", "argv"))


@pytest.fixture
def here():
    with world() as one:
        (one.place / "bin").mkdir()
        yield one


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def launcher(here):
    """The console script, as an installer writes it, in a folder of the test's own."""
    place = here.place / "bin" / "tocsin-attention"
    code = f"import sys\nfrom tocsin.cli.attention.launcher import main\nsys.argv[0] = {str(place)!r}\nmain()"
    place.write_text(f"#!{sys.executable}\n{code}\n")
    place.chmod(0o755)
    return place


def run(here, *arguments, stdin=b"", **env):
    done = subprocess.run(
        [launcher(here), *arguments],
        input=stdin, capture_output=True, env={**here.environ, **env}, cwd=here.place, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.decode()


def real(here):
    """The real tocsin, beside the launcher."""
    return program(here.place / "bin" / "tocsin", f'exec {sys.executable} -m tocsin "$@"')


SHOWS = 'for word; do printf "<%s>" "$word"; done; cat; echo "err" >&2; exit ${CODE:-0}'


def test_A32_arguments_streams_and_the_exit_code_are_those_of_tocsin_attention(here) -> None:
    program(here.place / "bin" / "tocsin", SHOWS)
    words = ["resolve", "42", "--response", "two words\nand 'quotes' \"$HOME\" `id` *", "", b"\xff\xfe", "--", "--json"]
    code, out, err = run(here, *words, stdin=b"\x00in\xff", CODE="5")
    assert (code, err) == (5, "err\n")
    said = [os.fsencode(word) for word in words]
    assert out == b"<attention>" + b"".join(b"<%s>" % word for word in said) + b"\x00in\xff"
    assert run(here)[:2] == (0, b"<attention>")


def test_A32_the_real_command_answers_through_it(here) -> None:
    real(here)
    code, out, err = run(here, "add", "--project", "p", "--title", "Through the launcher")
    assert (code, out, err) == (0, b"ATN-1 queued, revision 1\n", "")
    assert run(here, "show", "99") == (4, b"", "tocsin: there is no item 99\n")
    assert run(here, "--help")[1].startswith(b"Usage: tocsin attention ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1], ids=lambda number: number.name)
def test_A32_a_signal_reaches_the_command_itself(here, number) -> None:
    program(
        here.place / "bin" / "tocsin", f"trap 'exit 77' {number.name[3:]}; echo up; for n in $(seq 600); do sleep 0.05; done"
    )
    process = subprocess.Popen([launcher(here)], env=here.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"up\n"
        process.send_signal(number)
        assert process.communicate(timeout=60) == (b"", b"")
        assert process.returncode == 77
    finally:
        process.kill()


def test_A32_one_that_is_killed_leaves_no_other_process(here) -> None:
    program(here.place / "bin" / "tocsin", "echo $$; exec sleep 1000")
    process = subprocess.Popen([launcher(here)], env=here.environ, stdout=subprocess.PIPE)
    assert int(process.stdout.readline()) == process.pid
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    process.stdout.close()


def test_A32_another_tocsin_may_be_chosen(here) -> None:
    program(here.place / "bin" / "tocsin", "echo beside")
    chosen = program(here.place / "mine", "echo mine")
    assert run(here, TOCSIN_BIN=str(chosen))[:2] == (0, b"mine\n")
    (here.place / "path").mkdir()
    program(here.place / "path" / "another", "echo found")
    paths = f"{here.place / 'path'}:{os.environ['PATH']}"
    assert run(here, TOCSIN_BIN="another", PATH=paths)[:2] == (0, b"found\n")
    (here.place / "bin" / "tocsin").unlink()
    program(here.place / "path" / "tocsin", "echo by path")
    assert run(here, PATH=paths)[:2] == (0, b"by path\n")
    (here.place / "bin" / "tocsin").mkdir()
    assert run(here, PATH=paths)[:2] == (0, b"by path\n")


def test_A32_a_missing_tocsin_is_said_in_words(here) -> None:
    code, out, err = run(here, "next", PATH="/nowhere")
    assert (code, out) == (4, b"")
    assert err == "tocsin-attention: there is no tocsin beside this command or in the PATH: install it, or set TOCSIN_BIN\n"
    code, out, err = run(here, "next", TOCSIN_BIN="/no/such/tocsin")
    assert (code, out, err) == (4, b"", "tocsin-attention: TOCSIN_BIN is '/no/such/tocsin', and there is no such program\n")
    (here.place / "text").write_text("this is no program")
    (here.place / "text").chmod(0o755)
    code, out, err = run(here, "next", TOCSIN_BIN=str(here.place / "text"))
    assert (code, out) == (7, b"")
    assert err == f"tocsin-attention: {here.place / 'text'} can't be started: Exec format error\n"


def test_A32_it_never_starts_itself(here) -> None:
    itself = launcher(here)
    code, out, err = run(here, TOCSIN_BIN=str(itself))
    assert (code, out, err) == (
        5,
        b"",
        f"tocsin-attention: {itself} is tocsin-attention itself: set TOCSIN_BIN to tocsin itself\n",
    )
    link = here.place / "link"
    link.symlink_to(itself)
    assert run(here, TOCSIN_BIN=str(link))[0] == 5
    round_about = program(here.place / "wrapper", f'shift; exec {itself} "$@"')
    code, out, err = run(here, "next", TOCSIN_BIN=str(round_about))
    assert (code, out) == (5, b"")
    assert err == f"tocsin-attention: {round_about} starts tocsin-attention again: set TOCSIN_BIN to tocsin itself\n"


def test_A32_what_the_command_starts_may_use_it_again(here) -> None:
    """A person's editor may be a terminal of its own, in which they look at the queue."""
    real(here)
    assert run(here, "start", "--project", "p", "--title", "Mine")[0] == 0
    script = program(here.place / "editor", f'{launcher(here)} queue > inner.txt; echo "code $?" >> inner.txt')
    attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
    code, _ = attending["typed"](here, [str(launcher(here)), "resolve"], env={"EDITOR": str(script), "VISUAL": ""})
    assert code == 2  # nothing was written
    inner = (here.place / "inner.txt").read_text()
    assert inner.startswith("ID ")
    assert inner.endswith("code 0\n")


def test_A32_the_package_declares_it() -> None:
    project = Path(tocsin.__file__).parent / "pyproject.toml"
    if project.exists():
        scripts = tomllib.loads(project.read_text())["project"]["scripts"]
    else:
        scripts = {one.name: one.value for one in distribution("tocsin").entry_points if one.group == "console_scripts"}
    assert scripts["tocsin-attention"] == "tocsin.cli.attention.launcher:main"
