"""End to end: an agent under ``tocsin run`` in a terminal, programs under ``tocsin watch`` and pipes into ``tocsin feed``."""

import json
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, argv = (_processes[name] for name in ("world", "until", "argv"))

FAILING = """
import sys
print("starting", flush=True)
def total(cart):
    return cart["price"]
print("no error here", file=sys.stderr)
total({})
"""


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


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_failing_program_is_one_block_typed_when_the_agent_is_idle(here, agent) -> None:
    code, out, err = here.tocsin("watch", "--to", "dev", "--scope", "shop", "--", *python(FAILING))
    assert code == 1
    assert out == "starting\n"
    assert "KeyError: 'price'" in err
    assert err.endswith("tocsin: 2 findings sent to dev\n")
    (block,) = agent.submitted(1)
    head, *lines = block.split("\n")
    assert head.startswith("[tocsin ")
    assert "] shop: 2 errors" in head
    assert "  | KeyError: 'price'" in lines
    assert any("exited with code 1" in line for line in lines)
    status = here.status()
    assert (status["fed"], status["delivered"], status["pending"]) == (2, 2, 0)
    agent.keys("quit\r")
    assert agent.ends() == 0
    assert len(agent.submitted()) == 2


def test_the_story_of_what_was_told_can_be_asked_for(here, agent) -> None:
    here.tocsin("watch", "--to", "dev", "--scope", "shop", "--", *python(FAILING))
    (block,) = agent.submitted(1)
    notice = block.split("(id ")[1].split(")")[0]
    until(lambda: here.status()["delivered"] == 2)
    code, out, _ = here.tocsin("explain", notice)
    assert code == 0
    head, columns, *steps = out.splitlines()
    assert head.startswith(f"{notice} for dev, fingerprint ")
    assert columns.split() == ["WHEN", "WHERE", "WHAT", "WHY", "UNTIL"]
    assert [step.split()[1] for step in steps][:3] == ["classify", "fingerprint", "dedup"]
    assert "delivered" in steps[-1]
    fingerprint = head.rsplit(" ", 1)[1]
    code, again, _ = here.tocsin("explain", fingerprint[:8], "--json")
    story = json.loads(again)
    assert story["schema_version"] == 1
    assert {step["id"] for step in story["decisions"]} == {notice}
    assert story["decisions"][0]["at"].endswith("Z")


def test_nothing_is_typed_before_a_program_has_printed_something(here) -> None:
    late = f"""
import sys, time
from pathlib import Path
while not Path({str(here.place / "go")!r}).exists():
    time.sleep(0.02)
sys.argv = ["composer", {str(here.place / "late.jsonl")!r}]
sys.path.insert(0, {str(_processes["AGENTS"])!r})
import runpy
runpy.run_path({str(_processes["AGENTS"] / "composer.py")!r})
"""
    with here.agent(*python(late), name="late") as terminal:
        until(lambda: here.tocsin("feed", "--to", "late", "--user", "hello you")[0] == 0, "the recipient")
        until(
            lambda: (
                "not_now" in {one["reason"] for one in here.status("late")["tallies"]} or here.status("late")["tallies"][-1]
            ),
            "a try",
        )
        until(lambda: any(one["verdict"] == "defer" for one in here.status("late")["tallies"]), "that it is kept back")
        assert here.status("late")["delivered"] == 0
        (here.place / "go").touch()
        terminal.log = here.place / "late.jsonl"
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
    assert "TOCSIN_DELIVERY_TOKEN\nTOCSIN_RECIPIENT\nTOCSIN_SESSION\nTOCSIN_SOCKET\n" in shown
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
        assert (code, err) == (3, "tocsin: say with --to who is meant; here: sh, sh-2\n")


def test_a_name_that_is_taken_is_a_conflict_that_names_the_process(here, agent) -> None:
    code, out, err = here.tocsin("run", "--as", "dev", "--", "true")
    assert (code, out) == (4, "")
    assert err == f"tocsin: a recipient called 'dev' is here already (pid {agent.process.pid}); choose another name\n"


def test_the_name_of_a_killed_run_is_free_again(here, agent) -> None:
    agent.send(signal.SIGKILL)
    agent.ends()
    assert here.tocsin("recipients")[0] == 0
    assert here.tocsin("status")[0] == 3
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


def test_a_watch_may_come_before_its_recipient(here) -> None:
    code = "import sys; print('Traceback (most recent call last):\\n  File \"a.py\", line 1, in f\\nValueError: early', file=sys.stderr, flush=True); sys.stdin.read()"
    watching = here.start("watch", "--to", "dev", "--scope", "web", "--", *python(code))
    assert watching.stderr.readline() == b"tocsin: nobody called dev is here yet; findings wait for it\n"
    with here.agent("composer") as terminal:
        (block,) = terminal.submitted(1)
        assert "  | ValueError: early" in block.split("\n")
        _, err = watching.communicate(b"")
        assert watching.returncode == 0
        assert err.endswith(b"tocsin: 1 finding sent to dev\n")


def test_a_watch_whose_recipient_never_comes_says_what_was_lost(here) -> None:
    code, out, err = here.tocsin("watch", "--to", "dev", "--", *python("raise SystemExit(5)"))
    assert (code, out) == (5, "")
    assert (
        err
        == "tocsin: nobody called dev is here yet; findings wait for it\ntocsin: 0 findings sent to dev, 1 lost (dev never came)\n"
    )
    code, out, err = here.tocsin("watch", "--quiet", "--to", "dev", "--", *python("print(1)"))
    assert (code, out) == (0, "1\n")
    assert err == "tocsin: nobody called dev is here yet; findings wait for it\n"


def test_a_watch_that_can_not_know_whom_to_tell_does_not_start_its_program(here) -> None:
    code, out, err = here.tocsin("watch", "--", "echo", "started")
    assert (code, out) == (3, "")
    assert err == "tocsin: no recipient is here: start one with `tocsin run --as NAME -- CMD`\n"


def test_a_watch_passes_bytes_through_unchanged(here) -> None:
    data = bytes(range(256)) * 300 + b"no line feed at the end"
    (here.place / "data").write_bytes(data)
    done = subprocess.run(
        argv("watch", "--to", "dev", "--quiet", "--", "cat", here.place / "data"),
        env=here.environ, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == data


def test_a_pipe_is_fed_to_its_end_and_summed_up(here, agent) -> None:
    log = 'compiling\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: piped\nall the rest\n'
    code, out, err = here.tocsin("feed", "--to", "dev", "--scope", "make", stdin=log)
    assert (code, out, err) == (0, "", "tocsin: 1 event accepted by dev\n")
    (block,) = agent.submitted(1)
    assert "make: 1 error" in block
    assert "  | ValueError: piped" in block.split("\n")


def test_every_line_is_fed_if_asked_for(here, agent) -> None:
    code, _, err = here.tocsin("feed", "--all", "--severity", "error", "--source", "ci", "--scope", "s", stdin="one\n\ntwo")
    assert (code, err) == (0, "tocsin: 2 events accepted by dev\n")
    (block,) = agent.submitted(1)
    assert [line for line in block.split("\n") if line.startswith("  | ")] == ["  | one", "  | two"]
    assert "- error ci" in block


def test_json_lines_are_fed_one_by_one_and_bad_ones_named_by_number(here, agent) -> None:
    lines = [
        json.dumps({"text": "good", "severity": "error", "scope": "s"}),
        '{"txt": 1}',
        "",
        "no json",
        json.dumps({"signal": "process_exited", "scope": "web", "code": 1}),
        json.dumps({"text": "to nobody", "to": "nobody"}),
        '{"text": "half \\ud800"}',
    ]
    code, out, err = here.tocsin("feed", "--jsonl", stdin="\n".join(lines))
    assert (code, out) == (2, "")
    first, second, last = err.splitlines()
    assert first == "tocsin: line 2: that is no event: Object contains unknown field `txt`"
    assert second.startswith("tocsin: line 4: that is no event: JSON is malformed")
    assert last == (
        "tocsin: 2 events and 1 signal accepted by dev, "
        "1 refused (nobody is called 'nobody' here; recipients here: dev), 2 bad lines"
    )
    block = "\n".join(agent.submitted(1))
    assert "  | good" in block
    assert here.status()["scopes"] == {"web": "crashed"}


def test_a_persons_words_go_in_as_such(here, agent) -> None:
    code, out, err = here.tocsin("feed", "--to", "dev", "--user", "the cart page", "first")
    assert (code, out, err) == (0, "", "")
    (block,) = agent.submitted(1)
    assert "1 message" in block.split("\n")[0]
    assert "  the cart page first" in block.split("\n")


def test_feed_without_its_recipient_lists_who_is_here(here, agent) -> None:
    code, out, err = here.tocsin("feed", "--to", "ghost", "x")
    assert (code, out, err) == (3, "", "tocsin: nobody called 'ghost' is here; here: dev\n")


def test_options_that_do_not_go_together_are_refused(here, agent) -> None:
    for options in (
        ["--jsonl", "--all"],
        ["--jsonl", "--severity", "error"],
        ["--jsonl", "text"],
        ["--severity", "error"],
        ["--all", "text"],
        ["--follow", "x", "text"],
    ):
        code, out, err = here.tocsin("feed", *options)
        assert (code, out) == (2, ""), options
        assert "Error: " in err


def test_a_feed_whose_recipient_ends_does_not_hang(here, agent, monkeypatch) -> None:
    patched = "import tocsin.cli.feed as f; f.GONE_FOR = 0.5; from tocsin.cli.main import main; main()"
    feeding = subprocess.Popen(
        [sys.executable, "-c", patched, "feed", "--all", "--to", "dev"],
        env=here.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    feeding.stdin.write(b"first\n")
    feeding.stdin.flush()
    until(lambda: here.status()["fed"] == 1, "the first line")
    agent.send(signal.SIGKILL)
    agent.ends()
    _, err = feeding.communicate(b"second\n")
    assert feeding.returncode == 6
    assert err == b"tocsin: 'dev' has ended: 1 event accepted, 1 not taken, the rest not read\n"


def test_a_pause_shows_in_the_status_and_ends_with_resume(here, agent) -> None:
    assert here.tocsin("pause", "dev") == (0, "", "")
    until(lambda: here.status()["lanes"][0]["recipient"] == "paused")
    assert here.tocsin("resume", "dev") == (0, "", "")
    until(lambda: here.status()["lanes"][0]["recipient"] == "idle")


def test_decisions_follow_until_the_recipient_ends(here, agent) -> None:
    following = here.start("decisions", "--follow", "--jsonl")
    here.tocsin("feed", "--to", "dev", "--user", "hi")
    first = json.loads(following.stdout.readline())
    assert (first["schema_version"], first["stage"], first["lane"]) == (1, "classify", "dev")
    agent.submitted(1)
    agent.keys("quit\r")
    agent.ends()
    out, err = following.communicate()
    assert following.returncode == 0
    assert json.loads(out.splitlines()[-1])["id"] == first["id"]
    assert err.startswith(b"tocsin: 'dev' ")


def test_an_interrupt_ends_a_command_with_130_and_without_a_traceback(here, agent) -> None:
    for command in (["decisions", "--follow"], ["feed", "--to", "dev"]):
        process = here.start(*command)
        if command[0] == "decisions":
            here.tocsin("feed", "--to", "dev", "--user", "hi")
            process.stdout.readline()
        else:
            process.stdin.write(b"x\n")
            process.stdin.flush()
            until(lambda process=process: _reads(process.pid), "the pipe to be read")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130, err
        assert b"Traceback" not in err


def _reads(pid: int) -> bool:
    """True once the process waits for more, in its event loop."""
    try:
        return "epoll" in Path(f"/proc/{pid}/wchan").read_text() or "ep_poll" in Path(f"/proc/{pid}/wchan").read_text()
    except OSError:
        return True


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
    assert os.path.isdir(here.place)
