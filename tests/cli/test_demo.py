"""The demo shows, with real processes, what was fed, folded, held, deferred, suppressed and delivered, and that it balances."""

import os
import pty
import re
import subprocess
import sys

import click
import pytest

from tocsin.cli.demo.story import Story

DEMO = [sys.executable, "-m", "tocsin", "demo"]


@pytest.fixture(scope="module")
def told() -> str:
    done = subprocess.run(DEMO, capture_output=True, text=True, timeout=100, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    "happening",
    [
        r"line   │ folded \d+ repeats",
        r"line   │ defers \d+: recipient writes",
        r"line   │ holds \d+: the server is restarting",
        r"line   │ dropped 30: they only said that the server was away, and it is back",
        r"line   │ suppressed \d+: ",
        r"line   │ delivered 1 in one block, \S+ \(submitted\)",
        r"person │ tocsin feed --to demo-agent --user",
    ],
)
def test_on_a_pipe_it_tells_as_text(told: str, happening: str) -> None:
    assert re.search(happening, told)
    assert "\x1b" not in told


def test_the_agent_reads_forty_tracebacks_as_one_entry(told: str) -> None:
    assert re.search(r"agent  │ - error process_output ×40, first \S+, last \S+, at models.py in price", told)
    assert len(re.findall(r"agent  │ .*has no attribute 'rate'", told)) == 1


def test_the_person_s_message_arrives_as_it_was_written(told: str) -> None:
    assert re.search(r"agent  │ - message from the person .*\n.*agent  │   the cart page first, please\n", told)


def test_what_it_counts_balances(told: str) -> None:
    numbers = re.search(r"balance: (\d+) fed = (\d+) delivered \+ (\d+) folded \+ (\d+) dropped \+ (\d+) pending", told)
    assert numbers
    fed, delivered, folded, dropped, pending = map(int, numbers.groups())
    assert fed == delivered + folded + dropped + pending
    assert (folded, pending) == (39, 0)
    assert dropped == 30 + 110  # the outage's echo, and all but fifty of the flood


def test_on_a_terminal_each_voice_has_its_colour(capsys: pytest.CaptureFixture[str]) -> None:
    Story(colour=True).tell(1.0, "server", "\x1b[31mred\x1b[0m \x07 from outside is shown inert")
    shown = capsys.readouterr().out
    assert click.unstyle(shown) == "  1.0s  server │ red  from outside is shown inert\n"


def test_an_interrupt_leaves_no_process_behind() -> None:
    master, slave = pty.openpty()
    demo = subprocess.Popen(DEMO, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    os.close(slave)
    assert demo.stdout
    for line in demo.stdout:
        if b"VITE" in line:
            break
    demo.send_signal(2)
    _, errors = demo.communicate(timeout=30)
    os.close(master)
    assert demo.returncode == 130
    assert b"Traceback" not in errors
    assert subprocess.run(["pgrep", "-s", str(demo.pid)], capture_output=True, check=False).stdout == b""
