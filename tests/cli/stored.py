"""Stored: what the tests of commands on the store share: asking in JSON, and a process that delivers to a recipient."""

import json
import subprocess
from contextlib import contextmanager

PROGRAM = """
import sys, threading
from pathlib import Path
from tocsin import Settings, SinkBusy, Tocsin
from tocsin.pipeline.backoff import Backoff
from tocsin.pipeline.fanout import Policy

def take(delivery):
    if sys.argv[2] == "refuse":
        raise SinkBusy("the door is shut")
    print(delivery.text.replace(chr(10), " / "), flush=True)
    if sys.argv[2] == "hang":
        threading.Event().wait()

once = Settings(fanout=Policy(backoff=Backoff(attempts=1)))
with Tocsin(once, store=Path(sys.argv[1])) as line:
    line.open_lane("dev", take)
    print("open", flush=True)
    sys.stdin.read()
"""


def database(here):
    """The database that commands use in this world."""
    return here.place / "state" / "tocsin" / "tocsin.db"


def asked(here, *arguments, stdin=""):
    """What a command that succeeds answers in JSON, without the schema's version."""
    code, out, err = here.tocsin(*arguments, "--json", stdin=stdin)
    assert code == 0, (arguments, out, err)
    assert out.count("\n") == 1
    answer = json.loads(out)
    assert answer.pop("schema_version") == 1
    return answer


def lines(here, *arguments):
    """What a command answers as JSON lines."""
    code, out, err = here.tocsin(*arguments, "--jsonl")
    assert code == 0, (arguments, err)
    return [json.loads(line) for line in out.splitlines()]


@contextmanager
def delivering(here, python, manner="take"):
    """Another process that delivers to ``dev``; its standard output shows what it was given."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*python(PROGRAM), str(database(here)), manner], env=here.environ, stdin=pipe, stdout=pipe, text=True
    )
    try:
        assert process.stdout.readline() == "open\n"
        yield process
    finally:
        process.kill()
        process.communicate()
