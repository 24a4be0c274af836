"""``tocsin feed``: pipes, files that grow, JSON lines and a person's words, each to its end and each with its count."""

import json
import runpy
import signal
import subprocess
import time
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


def test_a_pipe_is_fed_to_its_end_and_summed_up(here, agent) -> None:
    log = 'compiling\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: piped\nall the rest\n'
    code, out, err = here.tocsin("feed", "--to", "dev", "--scope", "make", stdin=log)
    assert (code, out, err) == (0, "", "tocsin: 1 event accepted by dev\n")
    (block,) = agent.submitted(1)
    assert "make: 1 error" in block
    assert "  | ValueError: piped" in block.split("\n")


def test_a_block_that_has_been_quiet_is_told_while_the_pipe_stays_open(here, agent) -> None:
    feeding = here.start("feed", "--to", "dev")
    feeding.stdin.write(b'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: waiting\n')
    feeding.stdin.flush()
    (block,) = agent.submitted(1)
    assert "  | ValueError: waiting" in block.split("\n")
    assert feeding.poll() is None
    feeding.communicate(b"")


def test_a_plain_file_is_read_to_its_end(here, agent) -> None:
    (here.place / "old.log").write_text("one\ntwo")
    with (here.place / "old.log").open("rb") as log:
        feeding = here.start("feed", "--to", "dev", "--all", stdin=log)
        assert feeding.communicate() == (b"", b"tocsin: 2 events accepted by dev\n")


def test_an_input_without_anything_is_no_fault(here, agent) -> None:
    feeding = here.start("feed", "--to", "dev", stdin=subprocess.DEVNULL)
    assert feeding.communicate() == (b"", b"tocsin: 0 events accepted by dev\n")
    assert feeding.returncode == 0
    assert here.tocsin("feed", "--to", "dev", "--quiet", stdin="") == (0, "", "")


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


def test_a_file_that_grows_is_followed_through_a_rotation(here, agent) -> None:
    log = here.place / "server.log"
    log.write_text("ERROR: an old one\n")
    following = here.start("feed", "--to", "dev", "--all", "--follow", log)

    def add(text, number):
        with log.open("a") as file:
            file.write(text)
        until(lambda: here.status()["fed"] >= number, text)

    until(lambda: following.poll() is None and _opened(following.pid, log), "the file to be opened")
    add("one\n", 1)
    log.rename(here.place / "server.log.1")
    log.write_text("")
    add("two\n", 2)
    following.send_signal(signal.SIGINT)
    _, err = following.communicate()
    assert (following.returncode, err) == (130, b"tocsin: 2 events accepted by dev\n\n")
    assert here.status()["fed"] == 2


def _opened(pid: int, path: Path) -> bool:
    """True once the process has the file open; without /proc, once it has had ample time."""
    folder = Path(f"/proc/{pid}/fd")
    if not folder.exists():
        time.sleep(3)  # nothing to wait on where open files can't be seen
        return True
    return any(_target(link) == path for link in folder.iterdir())


def _target(link: Path) -> Path | None:
    try:
        return link.readlink()
    except OSError:
        return None


def test_feed_without_its_recipient_lists_who_is_here(here, agent) -> None:
    code, out, err = here.tocsin("feed", "--to", "ghost", "x")
    assert (code, out, err) == (4, "", "tocsin: nobody called 'ghost' is here; here: dev\n")


def test_options_that_do_not_go_together_are_refused(here) -> None:
    for options in (
        ["--jsonl", "--all"],
        ["--jsonl", "--severity", "error"],
        ["--jsonl", "text"],
        ["--severity", "error"],
        ["--all", "text"],
        ["--all", "--rules", "x"],
        ["--jsonl", "--scope", "s"],
        ["--follow", "x", "text"],
    ):
        code, out, err = here.tocsin("feed", *options)
        assert (code, out) == (2, ""), options
        assert "Error: " in err


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ('{"text": "first"}', '{"text": "second"}', "1 event accepted by dev, 1 not taken"),
        ('{"text": "first"}', '{"signal": "process_started", "scope": "web"}', "1 event accepted by dev"),
    ],
)
def test_a_feed_whose_recipient_ends_does_not_hang(here, agent, first: str, second: str, said: str) -> None:
    impatient = "import tocsin.cli.feeding as f; f.GONE_FOR = 0.5; from tocsin.cli.main import main; main()"
    pipe = subprocess.PIPE
    command = [*python(impatient), "feed", "--jsonl", "--to", "dev"]
    feeding = subprocess.Popen(command, env=here.environ, stdin=pipe, stdout=pipe, stderr=pipe)
    feeding.stdin.write(first.encode() + b"\n")
    feeding.stdin.flush()
    until(lambda: here.status()["fed"] == 1, "the first line")
    agent.send(signal.SIGKILL)
    agent.ends()
    _, err = feeding.communicate(second.encode())
    assert feeding.returncode == 6
    assert err.decode().splitlines() == [f"tocsin: {said}", "tocsin: 'dev' has ended and did not come back"]


def test_an_interrupted_feed_says_how_far_it_came(here, agent) -> None:
    feeding = here.start("feed", "--all", "--to", "dev")
    feeding.stdin.write(b"first\n")
    feeding.stdin.flush()
    until(lambda: here.status()["fed"] == 1, "the first line")
    feeding.send_signal(signal.SIGINT)
    _, err = feeding.communicate()
    assert (feeding.returncode, err) == (130, b"tocsin: 1 event accepted by dev\n\n")
