"""Field cases C01–C17: process output from bytes to findings, each case under its number."""

import json
import random
import re
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path

import anyio
import msgspec
import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.contracts.signals import RestartRequested
from tocsin.edges.clock import SteadyClock
from tocsin.edges.sources.lines import LIMIT, Lines
from tocsin.edges.sources.process import watch_process
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue

NOW = Instant(5_000)
OUTPUTS = Path(__file__).parents[1] / "edges" / "sources_outputs"
ST, BEL, OLD_ST = b"\x1b\\", b"\x07", b"\x9c"


@cache
def catalogue() -> Catalogue:
    return Catalogue.load()


def reader() -> Reader:
    return Reader(catalogue(), scope="web", to=None)


def events(*pieces: bytes, stream: str = "stdout") -> list[Event]:
    reading = reader()
    found = [finding for piece in pieces for finding in reading.read(stream, piece, NOW)] + reading.close(NOW)
    return [finding for finding in found if isinstance(finding, Event)]


def texts(*pieces: bytes) -> list[str]:
    return [event.text for event in events(*pieces)]


def test_c01_a_character_split_across_reads_is_whole() -> None:
    lines = Lines()
    assert (lines.feed(b"\xe2"), lines.feed(b"\x89"), lines.feed(b"\xa4\n")) == ([], [], ["≤"])


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_c01_an_emoji_cut_at_every_place_is_whole(cut: int) -> None:
    data, lines = "😀\n".encode(), Lines()
    assert lines.feed(data[:cut]) + lines.feed(data[cut:]) == ["😀"]


def test_c01_only_a_truncated_tail_becomes_one_replacement_character() -> None:
    lines = Lines()
    assert lines.feed(b"a\xf0\x9f\x98") == []
    assert lines.close() == ["a\ufffd"]


def test_c01_stdout_and_stderr_never_share_a_decoder() -> None:
    reading = reader()
    reading.read("stdout", b"Error: \xe2\x89", NOW)
    reading.read("stderr", b"Error: \xa4\n", NOW)
    reading.read("stdout", b"\xa4\n", NOW)
    assert [event.text for event in reading.close(NOW) if isinstance(event, Event)] == ["Error: ≤", "Error: \ufffd"]


def test_c02_a_line_longer_than_the_usual_limit_is_survived() -> None:
    """From a real process, which would block on a full pipe if its reader died."""
    code = 'import sys\nsys.stdout.write("x" * 70000); sys.stdout.write("\\nERROR after\\n")'
    found: list[object] = []

    async def emit(batch: list[object]) -> None:
        found.extend(batch)

    async def main() -> None:
        argv = (sys.executable, "-c", code)
        await watch_process(argv, reader(), emit, SteadyClock(), out=BytesIO(), err=BytesIO())

    anyio.run(main)
    assert [event.text for event in found if isinstance(event, Event)] == ["ERROR after"]


def test_c02_ten_megabytes_without_a_line_feed_are_cut_at_the_bound() -> None:
    lines = Lines()
    for _ in range(160):
        assert lines.feed(b"x" * 65_536) == []
    assert lines.feed(b"\nERROR after\n") == ["x" * LIMIT + f" … [{160 * 65_536 - LIMIT} more bytes]", "ERROR after"]


def test_c03_only_the_final_state_of_a_bar_is_a_line() -> None:
    bar = b"".join(f"\r {step / 5:.0f}%|{'█' * (step // 50)} | ERROR rate 0".encode() for step in range(500))
    trace = b'\nTraceback (most recent call last):\n  File "/srv/app/a.py", line 1, in f\nValueError: bad\n'
    assert len(Lines().feed(bar + b"\n")) == 1
    assert texts(bar + trace) == ["ValueError: bad"]


@pytest.mark.parametrize("end", [ST, BEL, OLD_ST], ids=["st", "bel", "raw 0x9c"])
@pytest.mark.parametrize("cut", [1, 3, 1_000])
def test_c05_a_link_leaves_its_text(end: bytes, cut: int) -> None:
    data = b"\x1b]8;;https://e.test/(p)?a=[1]" + end + b"src/a.ts\x1b]8;;" + end + b" error TS2322\n"
    lines = Lines()
    found = [line for place in range(0, len(data), cut) for line in lines.feed(data[place : place + cut])]
    assert found == ["src/a.ts error TS2322"]


def test_c05_a_link_without_an_end_swallows_no_later_line() -> None:
    lines = Lines()
    assert lines.feed(b"\x1b]8;;https://e.test/never ended\nERROR y\n") == ["", "ERROR y"]
    assert lines.feed(b"\x1b]8;;https://e.test/at the end") == []
    assert lines.close() == []
    assert Lines().feed(b"\x1b]0;" + b"t" * 5_000 + b"ERROR z\n")[0].endswith("ERROR z")


def test_c06_titles_and_modes_and_charsets_leave_the_line() -> None:
    setup = b"\x1b[r\x1b[m\x1b(B\x1b[?1003l\x1b[?2004l\x1b[1;1H\x1b[1;24r"
    assert texts(setup + b"ERROR x\n") == ["ERROR x"]
    assert texts(b"\x1b]0;Error: in the title\x07fine\n") == []
    assert Lines().feed(b"a\x0eb\x0fc\n") == ["abc"]


def test_c08_an_anchor_at_the_end_holds_before_cr_lf() -> None:
    assert texts(b"Build failed\r\n") == ["Build failed"]
    assert Lines().feed(b"Build failed\r\r\n") == ["Build failed"]
    lines = Lines()
    assert lines.feed(b"Build failed\r") + lines.feed(b"\nnext\r\n") == ["Build failed", "next"]


def test_c09_binary_garbage_is_survived_and_nothing_of_it_is_stored_but_text() -> None:
    chance = random.Random(9)
    garbage = bytes(chance.choice([*range(32), *range(0x80, 0xA0), 65, 66]) for _ in range(4_096))
    found = events(b"ERROR " + garbage + b"\nERROR y\n")
    assert found[-1].text == "ERROR y"
    for event in found:
        assert not re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f]", event.text)
        json.loads(msgspec.json.encode(event).decode("utf-8"))


PANIC = """\
panic: assignment to entry in nil map
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4812d5]

goroutine 1 [running]:
main.save(0xc0000b2000)
\t/srv/app/main.go:31 +0xbe
created by main.start
\t/srv/app/main.go:12 +0xb6

goroutine 5 [chan receive]:
main.worker()
\t/srv/app/worker.go:5
exit status 2
"""


@pytest.mark.parametrize("cut", [1, 7, 64, 10_000])
def test_c11_a_go_panic_is_one_event_with_all_its_goroutines(cut: int) -> None:
    data = PANIC.encode()
    [event] = events(*(data[place : place + cut] for place in range(0, len(data), cut)))
    assert (event.text, event.severity) == ("panic: assignment to entry in nil map", "error")
    assert event.frame == "main.go in main.save"
    assert event.detail == PANIC.rstrip()


def test_c12_a_traceback_is_whole_though_the_other_stream_prints_between() -> None:
    frames = "".join(f'  File "/srv/app/{name}.py", line 1, in {name}\n    x\n' for name in "ab")
    trace = f"Traceback (most recent call last):\n{frames}NameError: x\n"
    reading, found = reader(), []
    for line in trace.splitlines(keepends=True):
        found += reading.read("stderr", line.encode(), NOW)
        found += reading.read("stdout", b"GET /health 200\n", NOW)
    found += reading.close(NOW)
    assert [(event.text, event.detail) for event in found if isinstance(event, Event)] == [("NameError: x", trace.rstrip())]


TEST_FILE = """
import os
def test_total(): assert 3 == 4
def test_flaky():
    if not os.path.exists("flag"): open("flag", "w").close(); assert False
"""


@pytest.mark.parametrize(
    "options", [[], ["--tb=no"], ["-v"], ["-q", "--tb=short"], ["-rN"], ["--tb=line"], ["-p", "no:terminal"]]
)
def test_c14_a_failing_pytest_test_is_told_once(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_cart.py").write_text("def test_total(): assert 3 == 4\ndef test_ok(): pass\n")
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_cart.py"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False)
    told = [(event.key, event.category) for event in events(done.stdout)]
    assert told == ([] if "no:terminal" in options else [("FAILED test_cart.py::test_total", "test")])


def test_c14_a_test_that_passes_on_retry_is_nothing_and_one_that_does_not_is_one_event() -> None:
    for name in ("pytest_rerun", "pytest_rerun_v"):
        output = (OUTPUTS / "failing" / f"{name}.txt").read_bytes()
        assert b"rerun" in output.lower()
        assert [event.key for event in events(output)] == ["FAILED test_flaky.py::test_never"]
    assert events((OUTPUTS / "healthy" / "pytest_rerun_ok.txt").read_bytes()) == []


@pytest.mark.parametrize(
    "line",
    [
        "✓ 0 errors, 2 warnings",
        "GET /error-page 200",
        "compiled src/error.tsx in 12ms",
        "No errors found",
        "errors: []",
        "0 errors",
        "Errors: 0",
        "error.tsx compiled",
        "0 failed, 12 passed",
        "error handling enabled",
        "INFO: no failures, exceptions: none",
        "2031-05-01 10:00:00 INFO app: error reporting is on, Error: prefix is shown",
        "npm warn deprecated error-ex@1.0.0: use another",
        "Downloading failure-0.1.8.crate",
        "test panics_never ... ok",
        "found 0 vulnerabilities, 0 failed",
        "webpack: errorDetails enabled",
        "import { TypeError } from './errors'",
        "  at least 3 errors are shown",
        "Fatal errors are logged to fatal.log",
    ],
)
def test_c15_the_word_error_in_harmless_text_is_no_finding(line: str) -> None:
    assert events(f"{line}\n".encode()) == []


def test_c17_a_restart_loop_of_a_port_clash_has_one_identity_and_names_the_port() -> None:
    reading, found = reader(), []
    for cycle in range(6):
        place = "node:net:1313:16" if cycle % 2 else "net.js:1360:14"
        frames = "".join(f"    at Server.f{number} ({place})\n" for number in range(8))
        clash = "Error: listen EADDRINUSE: address already in use :::3000\n" + frames
        text = f"[nodemon] restarting due to changes...\n{clash}"
        found += reading.read("stderr", text.encode(), Instant(NOW + cycle * 10_000))
        found += reading.tick(Instant(NOW + cycle * 10_000 + 5_000))
    clashes = [finding for finding in found if isinstance(finding, Event)]
    assert len(clashes) == 6
    assert {(event.text, event.frame, event.key) for event in clashes} == {
        ("Error: listen EADDRINUSE: address already in use :::3000", "", "")
    }
    assert sum(isinstance(finding, RestartRequested) for finding in found) == 6
