"""Blocks: each takes what belongs to it and nothing else, and a fault of one costs no more than itself."""

from collections.abc import Sequence
from functools import cache

import msgspec
import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.edges.sources.blocks import Block, Step, Told
from tocsin.edges.sources.kinds import KINDS
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rule import Rule
from tocsin.edges.sources.rules import Catalogue

START = Instant(10_000)


@cache
def catalogue() -> Catalogue:
    return Catalogue.load()


def reader() -> Reader:
    return Reader(catalogue(), scope="api", to="dev")


def events(text: str) -> list[Event]:
    reading = reader()
    found = reading.read("stderr", text.encode(), START) + reading.close(START)
    return [finding for finding in found if isinstance(finding, Event)]


@pytest.mark.parametrize("rule", [rule for rule in Catalogue.load().rules if rule.severity != "info"], ids=lambda rule: rule.id)
def test_each_line_that_a_rule_matches_can_be_gathered_and_told(rule: Rule) -> None:
    enabled = Catalogue([msgspec.structs.replace(rule, enabled=True)])
    for line in rule.matches:
        match = enabled.match(line)
        assert match is not None
        block = KINDS[rule.opens](match)
        block.offer("    at total (/srv/app/cart.js:1:2)")
        block.offer("and so on")
        assert all(told.text for told in block.told()), line
        assert not block.fault, line


class Faulty(Block):
    """A kind of block with a fault in one of its parts."""

    where = ""

    def begin(self, line: str, before: Sequence[str]) -> None:
        self._fail("begin")

    def step(self, line: str) -> Step:
        self._fail("step")
        return Step.OVER

    def told(self) -> list[Told]:
        self._fail("told")
        return super().told()

    def _fail(self, part: str) -> None:
        if part == self.where:
            raise KeyError(part)


@pytest.mark.parametrize("where", ["begin", "step", "told"])
def test_a_line_whose_block_has_a_fault_is_told_as_a_plain_finding(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setitem(KINDS, "go", type("FaultyIn", (Faulty,), {"where": where}))
    first, second = events("panic: first\nnothing\nsrc/a.ts(1,2): error TS1005: x\n")
    assert (first.text, first.severity, first.category) == ("panic: first", "error", "runtime")
    assert first.detail.endswith(f"(tocsin could not read more into this: KeyError: '{where}')")
    assert second.text == "src/a.ts: error TS1005: x"


@pytest.mark.parametrize(
    "opening",
    [
        "Error: P1001: Can't reach database server at `db:5432`",
        "Error: P3009",
        "prisma:error",
        "PrismaClientInitializationError: no engine",
        "1) CartTest::testAdds\n/srv/app/CartTest.php:9\n",
        "  1) test adds\n     at total (t.js:1:2)\n",
        "* What went wrong:\nFAILURE: Build failed with an exception.",
        "WARNING: DATA RACE",
        "==12017==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001c",
        "a.rb:1:in `total': no cart (RuntimeError)\n\tfrom a.rb:3:in `<main>'",
        "ERROR in ./src/w.js 1:29\nModule not found: Error: Can't resolve './x'",
        "error during build:\nCould not resolve './x'",
        "=========================== short test summary info ============================\nFAILED a.py::test_x",
        "java.lang.IllegalStateException: no cart",
        "thread 'main' panicked at src/main.rs:1:2:\nno cart",
        "Error: no cart",
    ],
)
@pytest.mark.parametrize(
    "finding",
    ["x509: certificate signed by unknown authority", "Killed", "Segmentation fault (core dumped)", "panic: no cart"],
)
def test_a_block_takes_only_what_belongs_to_it(opening: str, finding: str) -> None:
    texts = [event.text for event in events(f"{opening}\nlistening on 3000\n{finding}\n    and this below it\n")]
    assert texts[-1] == finding


SECTIONS = ("pytest", "cargotest", "vitest")
"""Kinds that end with a line of their own only: what a failing test prints may look like any finding."""
OPENING = [rule for rule in catalogue().rules if rule.enabled and rule.severity != "info" and rule.opens not in SECTIONS]


@pytest.mark.parametrize("rule", OPENING, ids=lambda rule: rule.id)
def test_a_finding_directly_below_another_is_told(rule: Rule) -> None:
    for line in rule.matches:
        for finding in ("Segmentation fault (core dumped)", "panic: no cart", "listen tcp :8080: bind: address already in use"):
            assert any(event.text.endswith(finding) for event in events(f"{line}\n{finding}\n")), line


def test_what_threads_print_between_each_others_lines_is_no_stack_of_javascript() -> None:
    text = (
        'Error: "bad"\ntest t::c ... FAILED\nhello\n'
        "   0: rust_begin_unwind\n             at /rustc/59807616/library/std/src/panicking.rs:689:5\n"
    )
    assert [(event.text, event.frame) for event in events(text)] == [('Error: "bad"', ""), ("FAILED t::c", "")]


def test_a_test_that_only_the_list_of_failures_names_is_told() -> None:
    text = (
        "failures:\n\n---- t::a stdout ----\nError: bad\n\n\nfailures:\n    t::a\n    t::b\n\ntest result: FAILED. 0 passed\n"
    )
    assert [event.text for event in events(text)] == ["FAILED t::a: Error: bad", "FAILED t::b"]


def test_many_services_in_one_stream_hold_a_bounded_number_of_blocks_and_lose_none() -> None:
    reading = reader()
    found = []
    for number in range(1_000):
        found += reading.read("out", f"web-{number}  | Error: no cart\n".encode(), START)
    waiting = reading.close(START)
    assert len(waiting) <= 65
    assert len({event.text for event in found + waiting if isinstance(event, Event)}) == 1_000


def test_many_failing_tests_are_each_told_once() -> None:
    text = "".join(f"--- FAIL: Test{number} (0.00s)\n" for number in range(3_000))
    assert len(events(text + text)) == 3_000
