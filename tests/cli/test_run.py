"""``tocsin run``: an agent in a real terminal, typed into while it is idle, and ended as it ended itself."""

import json
import os
import pty
import runpy
import shlex
import signal
import subprocess
import termios
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, argv, python = (_processes[name] for name in ("world", "until", "argv", "python"))


@pytest.fixture
def here():
    with world() as one:
        yield one


@pytest.fixture
def agent(here):
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        yield terminal


def test_nothing_is_typed_before_a_program_has_printed_something(here) -> None:
    log, agents = here.place / "late.jsonl", _processes["AGENTS"]
    late = f"""
import runpy, sys, time
from pathlib import Path
while not Path({str(here.place / "go")!r}).exists():
    time.sleep(0.02)
sys.argv = ["composer", {str(log)!r}]
sys.path.insert(0, {str(agents)!r})
runpy.run_path({str(agents / "composer.py")!r})
"""

    def kept_back():
        return [one for one in here.status("late")["tallies"] if one["reason"] == "sink_not_now"]

    with here.agent(*python(late), name="late") as terminal:
        terminal.log = log
        until(lambda: here.tocsin("feed", "--to", "late", "--user", "hello you")[0] == 0, "the recipient")
        until(kept_back, "that it is kept back")
        assert here.status("late")["delivered"] == 0
        (here.place / "go").touch()
        (block,) = terminal.submitted(1)
        assert "  hello you" in block.split("\n")


def test_the_program_finds_its_own_line_in_its_environment(here) -> None:
    inside = "; ".join(
        [
            "env | grep ^TOCSIN_ | grep -v RUNTIME | cut -d= -f1 | sort",
            f"{' '.join(argv('status'))} | cut -d' ' -f1 | head -2",
            f"{' '.join(argv('recipients'))} | cut -d' ' -f1",
            "exit 9",
        ]
    )
    with here.agent("sh", "-c", inside, name="inner") as terminal:
        assert terminal.ends() == 9
        shown = terminal.shown.decode().replace("\r\n", "\n")
    assert "TOCSIN_DELIVERY_TOKEN\nTOCSIN_RECIPIENT\nTOCSIN_SESSION\nTOCSIN_SOCKET\nTOCSIN_STORE__PATH\n" in shown
    assert "RECIPIENT\ninner\n" in shown
    assert "NAME\ninner*\n" in shown


def test_a_name_of_ones_own_is_the_programs_with_the_first_free_number(here) -> None:
    with (
        here.agent("sh", "-c", "echo up; exec cat", name="") as one,
        here.agent("sh", "-c", "echo up; exec cat", name="") as two,
    ):
        one.sees("up")
        two.sees("up")
        code, out, _ = here.tocsin("recipients", "--json")
        assert code == 0
        assert [holder["name"] for holder in json.loads(out)["recipients"]] == ["sh", "sh-2"]
        assert all(holder["answers"] for holder in json.loads(out)["recipients"])
        code, _, err = here.tocsin("feed", "x")
        assert (code, err) == (4, "tocsin: say with --to who is meant; here: sh, sh-2\n")


def test_a_name_that_is_taken_is_a_conflict_that_names_the_process(here, agent) -> None:
    code, out, err = here.tocsin("run", "--as", "dev", "--", "true")
    assert (code, out) == (5, "")
    assert err == f"tocsin: a recipient called 'dev' is here already (pid {agent.process.pid}); choose another name\n"


def test_the_name_of_a_killed_run_is_free_again(here, agent) -> None:
    agent.send(signal.SIGKILL)
    agent.ends()
    assert here.tocsin("recipients")[0] == 0
    assert here.tocsin("status")[0] == 4
    with here.agent("composer") as again:
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient again")
        again.keys("quit\r")
        assert again.ends() == 0


@pytest.mark.parametrize(("program", "code"), [("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("true", 0)])
def test_run_ends_as_its_program_did(here, program: str, code: int) -> None:
    with here.agent("sh", "-c", program, name="p") as terminal:
        assert terminal.ends() == code
        assert b"Traceback" not in terminal.shown
    assert list(here.runtime.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_to_run_is_the_programs_and_leaves_no_traceback(here, number: signal.Signals, code: int) -> None:
    with here.agent("sh", "-c", "echo up; exec sleep 1000", name="p") as terminal:
        terminal.sees("up")
        until(lambda: here.tocsin("status")[0] == 0, "the recipient")
        terminal.send(number)
        assert terminal.ends() == code
        assert b"Traceback" not in terminal.shown
    assert list(here.runtime.iterdir()) == []


def test_what_was_not_delivered_is_said_at_the_end(here, agent) -> None:
    here.tocsin("pause", "dev")
    here.tocsin("feed", "--to", "dev", "--all", stdin="one\ntwo\n")
    agent.keys("quit\r")
    assert agent.ends() == 0
    assert b"tocsin: 2 notices not delivered when dev ended\r\n" in agent.shown


def test_a_program_that_is_not_there_is_said_in_words(here) -> None:
    code, out, err = here.tocsin("run", "--", "no-such-program")
    assert (code, out) == (2, "")
    assert err.startswith("tocsin: no-such-program")
    code, _, err = here.tocsin("watch", "--to", "dev", "--", "no-such-program")
    assert code == 2
    assert "no-such-program" in err
    assert "Traceback" not in err


def test_a_status_row_shows_what_is_pending(here) -> None:
    with here.agent("composer", options=["--status"]) as terminal:
        terminal.sees("tocsin dev: 0 pending")
        here.tocsin("pause", "dev")
        here.tocsin("feed", "--to", "dev", "--all", stdin="one\n")
        terminal.sees("tocsin dev: 1 pending")
        terminal.keys("quit\r")
        assert terminal.ends() == 0


def test_settings_reach_the_line(here) -> None:
    (here.place / ".tocsin.toml").write_text("[fanout.layout]\ndetail_lines = 1\n")
    with here.agent("composer", options=["--set", "throttle.window=10", "--idle-after", "60"]) as terminal:
        event = {"text": "boom", "detail": "boom\nline one\nline two\nline three"}
        until(lambda: here.tocsin("feed", "--to", "dev", "--jsonl", stdin=json.dumps(event))[0] == 0, "the recipient")
        (block,) = terminal.submitted(1)
        assert "line one" in block
        assert "line two" not in block


def test_an_observer_sees_what_was_typed(here) -> None:
    out = here.place / "deliveries.jsonl"
    with here.agent("composer", options=["--observe", f"stream:{out}"]) as terminal:
        until(lambda: here.tocsin("feed", "--to", "dev", "--user", "hello there")[0] == 0, "the recipient")
        (block,) = terminal.submitted(1)
        until(lambda: out.exists() and out.read_text().endswith("\n"), "the observer")
        assert json.loads(out.read_text())["text"] == block
    code, _, err = here.tocsin("run", "--observe", "smoke:signal", "--", "true")
    assert code == 2
    assert err == "tocsin: there is no sink called 'smoke'; there are: command, inbox, pty, stream\n"


def test_a_name_that_can_not_be_one_is_refused_in_words(here) -> None:
    for name in ("", " a", "a\x1bb", b"\xff"):
        code, out, err = here.tocsin("run", "--as", name, "--", "true")
        assert (code, out) == (2, ""), name
        assert "can't be a recipient's name" in err
    assert list(here.runtime.iterdir()) == []


def test_a_program_whose_arguments_are_no_text_runs_all_the_same(here) -> None:
    program = here.place / "the program"
    program.write_text("#!/bin/sh\nprintf '%s' \"$1\" | od -An -tx1; exit 4\n")
    program.chmod(0o755)
    done = here.start("run", "--", program, b"\xff\xfe")
    out, err = done.communicate()
    assert (done.returncode, err) == (4, b"")
    assert out.split() == [b"ff", b"fe"]


@pytest.mark.parametrize("command", ["run", "watch"])
def test_a_mistyped_option_is_no_program_and_a_programs_options_are_its_own(here, command: str) -> None:
    code, _, err = here.tocsin(command, "--satus", "--", "true")
    assert code == 2
    assert "No such option" in err
    to = ["--to", "dev", "--quiet"] if command == "watch" else []
    code, out, _ = here.tocsin(command, *to, "echo", "--to", "x", "--help", "--", "-n")
    assert (code, out.strip()) == (0, "--to x --help -- -n")


def test_who_asks_a_stopped_recipient_learns_at_once_that_it_is_stopped(here) -> None:
    with here.agent("sh", "-c", "echo up; cat") as terminal:
        terminal.sees("up")
        (holder,) = json.loads(here.tocsin("recipients", "--json")[1])["recipients"]
        os.kill(holder["pid"], signal.SIGSTOP)
        for command in (["status"], ["feed", "--to", "dev", "x"], ["pause", "dev"]):
            code, _, err = here.tocsin(*command)
            assert code == 6
            assert f"'dev' is stopped (Ctrl-Z): `fg` in its terminal brings it back, `kill -CONT {holder['pid']}`" in err
        os.kill(holder["pid"], signal.SIGCONT)
        assert here.status()["recipient"] == "dev"


@pytest.mark.parametrize("name", ["USR1", "ALRM", "XCPU", "RTMIN"])
def test_a_signal_that_would_end_it_at_once_ends_the_program_first_and_the_terminal_is_given_back(here, name: str) -> None:
    number = getattr(signal, f"SIG{name}", signal.SIGUSR2)
    script = "printf '\\033[?1000h'; trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.02; done"
    with here.agent("sh", "-c", script, name="p") as terminal:
        terminal.sees("up")
        until(lambda: termios.tcgetattr(terminal.slave) != terminal.before, "raw mode")
        until(lambda: here.tocsin("status")[0] == 0, "the recipient")
        terminal.send(number)
        terminal.ends()
        assert terminal.process.returncode == -number
        assert terminal.shown.count(b"told\r\n") == 1
        assert terminal.shown.count(b"\x1b[?1000l") == 1
        assert termios.tcgetattr(terminal.slave) == terminal.before
    assert list(here.runtime.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -SEGV $$", "tocsin: sh: Segmentation fault (SIGSEGV)\n"),
        ("kill -TERM $$", "tocsin: sh: Terminated (SIGTERM)\n"),
        ("kill -INT $$", ""),
        ("exit 3", ""),
    ],
)
def test_a_death_by_a_signal_that_nobody_here_sent_is_said_as_a_shell_says_it(here, script: str, said: str) -> None:
    assert here.tocsin("run", "--", "sh", "-c", script)[1:] == ("", said)


def test_a_death_that_was_asked_for_is_not_said(here) -> None:
    with here.agent("sh", "-c", "echo up; exec sleep 1000", name="p") as terminal:
        terminal.sees("up")
        until(lambda: here.tocsin("status")[0] == 0, "the recipient")
        terminal.send(signal.SIGTERM)
        assert terminal.ends() == 143
        assert b"tocsin" not in terminal.shown


@pytest.mark.parametrize(
    ("script", "text", "severity"),
    [
        ("true", "sh exited with code 0", "info"),
        ("exit 3", "sh exited with code 3", "error"),
        ("kill -KILL $$", "sh was killed by SIGKILL", "error"),
    ],
)
def test_e09_an_observer_is_told_of_the_end_in_one_notice(here, script: str, text: str, severity: str) -> None:
    out = here.place / "seen.jsonl"
    here.tocsin("run", "--as", "dev", "--observe", f"stream:{out}", "--", "sh", "-c", script)
    (line,) = out.read_text().splitlines()
    (entry,) = json.loads(line)["entries"]
    assert (entry["text"], entry["severity"], entry["scope"], entry["count"]) == (text, severity, "dev", 1)
    assert json.loads(line)["text"].endswith(f"dev has ended: {text}")


def test_output_to_a_file_has_its_line_ends_as_the_program_wrote_them(here) -> None:
    out = here.place / "out"
    script = f"{shlex.join(argv('run', '--', 'echo', 'hi'))} >{out}"
    master, slave = pty.openpty()
    with subprocess.Popen(["sh", "-c", script], stdin=slave, env=here.environ, cwd=here.place) as process:
        assert process.wait(_processes["PATIENCE"]) == 0
    os.close(master)
    os.close(slave)
    assert out.read_bytes() == b"hi\n"


def test_a_script_that_does_not_say_whose_it_is_is_run_by_sh_as_shells_do(here) -> None:
    script = here.place / "script"
    script.write_text('echo "$1 from $0"; exit 4\n')
    script.chmod(0o755)
    assert here.tocsin("run", "--", "./script", "hi") == (4, "hi from ./script\n", "")
