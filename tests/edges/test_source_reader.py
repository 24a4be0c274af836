"""Reader: streams and services apart, blocks told whole and once, at the right time, and signals beside them."""

from functools import cache

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue
from tocsin.edges.sources.telling import SAME_RUN

START = Instant(10_000)
TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/app/cart.py", line 10, in total
    return items["price"]
KeyError: 'price'
"""


@cache
def catalogue() -> Catalogue:
    return Catalogue.load()


def reader(**options: str | None) -> Reader:
    return Reader(catalogue(), **{"scope": "api", "to": "dev", **options})  # type: ignore[arg-type]


def events(text: str, **options: str | None) -> list[Event]:
    reading = reader(**options)
    found = reading.read("stderr", text.encode(), START) + reading.close(START)
    return [finding for finding in found if isinstance(finding, Event)]


def signals(text: str, **options: str | None) -> list[object]:
    reading = reader(**options)
    found = reading.read("stderr", text.encode(), START) + reading.close(START)
    return [finding for finding in found if not isinstance(finding, Event)]


def test_a_traceback_is_one_event_with_its_parts() -> None:
    assert events(TRACEBACK) == [
        Event(
            text="KeyError: 'price'",
            to="dev",
            source="process_output",
            scope="api",
            severity="error",
            at=START,
            detail=TRACEBACK.rstrip(),
            frame="cart.py in total",
            category="runtime",
        )
    ]


def test_a_single_line_has_no_detail() -> None:
    assert [event.detail for event in events("2031-05-01 10:00:00 ERROR worker: price is missing\n")] == [""]


def test_the_source_tag_is_the_readers() -> None:
    assert events(TRACEBACK, source="build_log")[0].source == "build_log"


def test_a_block_is_told_when_nothing_was_added_for_its_quiet_time() -> None:
    reading = reader()
    assert reading.due() is None
    assert reading.read("stderr", TRACEBACK.encode(), START) == []
    due = reading.due()
    assert due == START + 300
    assert reading.tick(Instant(due - 1)) == []
    assert [event.text for event in reading.tick(due) if isinstance(event, Event)] == ["KeyError: 'price'"]
    assert reading.due() is None


def test_each_line_that_belongs_moves_the_quiet_time() -> None:
    reading = reader()
    head, rest = TRACEBACK.split("\n", 1)
    reading.read("stderr", f"{head}\n".encode(), START)
    reading.read("stderr", rest.encode(), Instant(START + 200))
    assert reading.due() == START + 500


def test_the_next_line_tells_the_block_at_once() -> None:
    found = reader().read("stderr", (TRACEBACK + "all is well again\n").encode(), START)
    assert [event.text for event in found if isinstance(event, Event)] == ["KeyError: 'price'"]


def test_the_time_of_an_event_is_that_of_its_first_line() -> None:
    reading = reader()
    head, rest = TRACEBACK.split("\n", 1)
    reading.read("stderr", f"{head}\n".encode(), START)
    reading.read("stderr", rest.encode(), Instant(START + 200))
    assert [event.at for event in reading.close(Instant(START + 900)) if isinstance(event, Event)] == [START]


def test_output_cut_off_by_a_kill_is_still_told() -> None:
    cut = TRACEBACK[: TRACEBACK.index("KeyError")]
    assert [(event.text, event.frame) for event in events(cut)] == [
        ("Python traceback, cut off before its exception", "cart.py in total")
    ]
    assert [event.text for event in events("panic: assignment to entry in nil map")] == [
        "panic: assignment to entry in nil map"
    ]


def test_two_root_causes_of_one_error_are_two_findings() -> None:
    def chained(cause: str) -> str:
        link = "\nThe above exception was the direct cause of the following exception:\n\n"
        outer = (
            'Traceback (most recent call last):\n  File "/srv/app/job.py", line 9, in run\n    go()\nRuntimeError: job failed\n'
        )
        return f'Traceback (most recent call last):\n  File "/srv/app/job.py", line 4, in load\n    x()\n{cause}\n{link}{outer}'

    [one], [other] = events(chained("KeyError: 'a'")), events(chained("TimeoutError"))
    assert one.text == "RuntimeError: job failed (caused by KeyError: 'a')"
    assert other.text == "RuntimeError: job failed (caused by TimeoutError)"
    assert one.frame == other.frame == "job.py in load"


def test_an_exception_while_another_is_handled_names_both() -> None:
    context = "\nDuring handling of the above exception, another exception occurred:\n\n"
    [event] = events(TRACEBACK + context + TRACEBACK.replace("KeyError: 'price'", "ValueError: no cart"))
    assert event.text == "ValueError: no cart (while handling KeyError: 'price')"


def test_two_tracebacks_in_a_row_are_two_events() -> None:
    assert [event.text for event in events(TRACEBACK + TRACEBACK.replace("price", "qty"))] == [
        "KeyError: 'price'",
        "KeyError: 'qty'",
    ]


def test_the_announcement_of_a_traceback_belongs_to_it() -> None:
    [event] = events("2031-05-01 10:00:00,123 ERROR worker: job 17 failed\n" + TRACEBACK)
    assert event.text == "KeyError: 'price'"
    assert event.detail == "job 17 failed\n" + TRACEBACK.rstrip()


def test_an_exception_that_says_a_port_is_taken_is_about_the_port() -> None:
    [event] = events(TRACEBACK.replace("KeyError: 'price'", "OSError: [Errno 98] Address already in use"))
    assert event.category == "port"


def test_a_message_of_several_lines_is_whole() -> None:
    text = """\
Traceback (most recent call last):
  File "/srv/app/cart.py", line 10, in total
    Cart(**raw)
pydantic_core._pydantic_core.ValidationError: 1 validation error for Cart
price
  Field required [type=missing, input_value={}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.6/v/missing
done
"""
    [event] = events(text)
    assert event.text == "pydantic_core._pydantic_core.ValidationError: 1 validation error for Cart"
    assert event.detail.endswith("/v/missing")


NODE = """\
/srv/app/src/cart.js:3
    throw new Error('no price')
    ^

Error: no price
    at total (/srv/app/src/cart.js:3:11)
    at process.processTicksAndRejections (node:internal/process/task_queues:81:21) {
  code: 'E_CART'
}

Node.js v20.20.2
"""


def test_a_node_error_has_the_place_before_it_and_the_properties_below() -> None:
    [event] = events(NODE)
    assert (event.text, event.frame) == ("Error: no price", "cart.js in total")
    assert event.detail == NODE.rstrip()


def test_the_first_own_frame_names_a_node_error_whatever_the_library_above_it() -> None:
    text = """\
TypeError: fn is not a function
    at Layer.handle (/srv/app/node_modules/express/lib/router/layer.js:95:5)
    at async Promise.all (index 0)
    at async checkout (file:///srv/app/src/checkout.ts?t=1700000000001:50:19)
"""
    assert [event.frame for event in events(text)] == ["checkout.ts in checkout"]


def test_a_message_between_the_error_and_its_stack_belongs() -> None:
    text = "Error: Cannot find module 'zod'\nRequire stack:\n- /srv/app/a.js\n    at f (/srv/app/a.js:1:1)\nlistening\n"
    [event] = events(text)
    assert event.detail.count("\n") == 3
    assert event.frame == "a.js in f"


def test_lines_that_turn_out_not_to_belong_are_read_again() -> None:
    """An error without a stack must not swallow the findings behind it."""
    texts = [event.text for event in events("Error: first\nplain\nsrc/a.ts(1,2): error TS1005: ';' expected.\npanic: third\n")]
    assert texts == ["Error: first", "src/a.ts: error TS1005: ';' expected.", "panic: third"]


@pytest.mark.parametrize("count", [1, 2, 13, 14, 30, 200])
def test_errors_in_a_row_are_all_told(count: int) -> None:
    text = "".join(f"Error: connect ECONNREFUSED 127.0.0.1:{8000 + number}\n" for number in range(count))
    assert len(events(text)) == count


@pytest.mark.parametrize("between", [0, 1, 5, 11, 12, 13, 40])
def test_findings_behind_lines_that_were_set_aside_are_all_told(between: int) -> None:
    plain = "plain\n" * between
    text = f"Error: first\n{plain}panic: second\n{plain}src/a.ts(1,2): error TS1005: x\n{plain}ERROR third\n"
    assert [event.text for event in events(text)] == [
        "Error: first",
        "panic: second",
        "src/a.ts: error TS1005: x",
        "ERROR third",
    ]


TOLD_ALONE = [
    line
    for rule in Catalogue.load().rules
    if rule.enabled and rule.severity != "info" and rule.opens in ("", "js", "diagnostic", "request", "error", "rustc", "php")
    for line in rule.matches
]


@given(st.lists(st.tuples(st.sampled_from(TOLD_ALONE), st.integers(1, 15)), min_size=1, max_size=8), st.integers(1, 200))
@settings(deadline=None, max_examples=60)
def test_no_finding_is_lost_among_others(lines: list[tuple[str, int]], cut: int) -> None:
    data = "".join(f"{line}\n" + "all is well\n" * plain for line, plain in lines).encode()
    reading = reader()
    found = [one for place in range(0, len(data), cut) for one in reading.read("out", data[place : place + cut], START)]
    assert sum(isinstance(one, Event) for one in found + reading.close(START)) == len(lines)


def test_streams_have_blocks_of_their_own() -> None:
    reading = reader()
    found = []
    for line in TRACEBACK.splitlines(keepends=True):
        found += reading.read("stderr", line.encode(), START)
        found += reading.read("stdout", b"GET /health 200\n", START)
    assert [event.text for event in found + reading.close(START) if isinstance(event, Event)] == ["KeyError: 'price'"]


def test_services_in_one_stream_have_blocks_of_their_own() -> None:
    shop = [f"web-1  | {line}" for line in TRACEBACK.splitlines()]
    base = [
        "db-1   | LOG:  checkpoint starting",
        'db-1   | ERROR:  relation "cart" does not exist',
        "db-1   | LOG:  ok",
        "db-1   | LOG:  ok",
    ]
    mixed = "\n".join(line for pair in zip(shop, base, strict=True) for line in pair) + "\n"
    assert {(event.text, event.detail.count("\n")) for event in events(mixed)} == {
        ("web-1: KeyError: 'price'", 3),
        ('db-1: ERROR: relation "cart" does not exist', 0),
    }


def test_a_stream_that_stamps_every_line_gives_the_block_without_stamps() -> None:
    stamped = "".join(f"2031-05-01T10:00:0{number}.123456789Z {line}\n" for number, line in enumerate(TRACEBACK.splitlines()))
    [event] = events(stamped)
    assert (event.text, event.frame) == ("KeyError: 'price'", "cart.py in total")
    assert "2031" not in event.detail


def test_a_stamped_line_ends_a_block_whose_lines_are_not_stamped() -> None:
    text = "10:00:00 [vite] Internal server error: Failed to resolve import\n  Plugin: x\n10:00:01 [vite] hmr update /a.ts\n"
    [event] = events(text)
    assert "hmr update" not in event.detail


@pytest.mark.parametrize(
    ("record", "text", "frame"),
    [
        (
            '{"level":50,"time":1,"err":{"type":"TypeError","message":"no cart","stack":"TypeError: no cart\\n'
            '    at total (/srv/app/cart.js:1:2)"},"msg":"request errored"}',
            "TypeError: no cart",
            "cart.js in total",
        ),
        ('{"level":"error","message":"no cart","timestamp":"2031-05-01T10:00:00Z"}', "no cart", ""),
        ('{"level":"error","ts":1.5,"caller":"cart/cart.go:12","msg":"no cart","error":"sold out"}', "no cart", ""),
        (
            '{"event":"no cart","level":"error","exception":"Traceback (most recent call last):\\n'
            '  File \\"/srv/app/cart.py\\", line 1, in total\\n    x\\nKeyError: 1"}',
            "KeyError: 1",
            "cart.py in total",
        ),
        ('{"time":"2031-05-01","level":"ERROR","msg":"bind: address already in use"}', "bind: address already in use", ""),
        ('{"timestamp":"2031-05-01T10:00:00Z","level":"ERROR","fields":{"message":"no cart"},"target":"shop"}', "no cart", ""),
        ('{"@t":"2031-05-01T10:00:00Z","@l":"Error","@m":"no cart"}', "no cart", ""),
        ('web-1  | {"level":"fatal","msg":"no cart"}', "web-1: no cart", ""),
    ],
)
def test_a_json_log_line_is_read_by_its_fields(record: str, text: str, frame: str) -> None:
    assert [(event.text, event.frame) for event in events(f"{record}\n")] == [(text, frame)]


@pytest.mark.parametrize(
    "line",
    [
        '{"level":30,"msg":"error page shown"}',
        '{"level":"info","msg":"Error: none of it"}',
        '{"errors":[],"status":"failed: 0"}',
        '{"level":"error"',
        '{"msg":"error"}',
    ],
)
def test_a_json_line_that_states_no_error_is_no_finding(line: str) -> None:
    assert events(f"{line}\n") == []


def test_a_failing_test_is_told_once_however_often_it_is_named() -> None:
    short = "=========================== short test summary info ============================\nFAILED a.py::test_x - assert 0\n"
    end = "============================== 1 failed in 0.01s ===============================\n"
    progress = "a.py::test_x FAILED                                                       [100%]\n"
    assert [event.text for event in events(progress + short + end + "FAILED a.py::test_x - assert 0\n")] == [
        "FAILED a.py::test_x - assert 0"
    ]


def test_a_failing_test_of_the_next_run_is_told_again() -> None:
    reading = reader()
    line = b"FAILED a.py::test_x - assert 0\n======= 1 failed in 0.01s =======\n"
    assert len(reading.read("out", line, START)) == 1
    assert len(reading.read("out", line, Instant(START + SAME_RUN - 1))) == 0
    assert len(reading.read("out", line, Instant(START + 2 * SAME_RUN))) == 1


def test_the_progress_of_a_killed_test_run_is_told_at_the_end() -> None:
    killed = "a.py::test_x FAILED                                                       [ 50%]\na.py::test_y "
    assert [(event.text, event.key) for event in events(killed)] == [("FAILED a.py::test_x", "FAILED a.py::test_x")]


def test_equal_vitest_failures_are_told_for_each_test() -> None:
    text = " FAIL  a.test.ts > adds\n FAIL  a.test.ts > sums\nTypeError: boom\n ❯ a.test.ts:3:1\n⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯\n"
    assert [event.text for event in events(text)] == [
        "FAIL a.test.ts > adds: TypeError: boom",
        "FAIL a.test.ts > sums: TypeError: boom",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "W0501 10:00:00.000000   12 main.go:3] boom",
        "[10:00:00 WRN] boom",
        '{"level":40,"msg":"boom"}',
        "WRN boom",
        "t=2031-05-01T10:00:00+0000 lvl=warn msg=boom",
        "2031-05-01 10:00:00 [W] boom",
        '{"t":{"$date":"2031-05-01T10:00:00.000+00:00"},"s":"W","c":"NETWORK","id":1,"ctx":"conn1","msg":"boom"}',
    ],
)
def test_a_warning_in_any_loggers_words_is_told_where_warnings_are(line: str) -> None:
    rules = [msgspec.structs.replace(rule, enabled=rule.enabled or rule.id == "stated-warning") for rule in catalogue().rules]
    reading = Reader(Catalogue(rules), scope="api", to="dev")
    found = reading.read("out", f"{line}\n".encode(), START) + reading.close(START)
    assert [(event.severity, event.text.removeprefix("WRN ")) for event in found if isinstance(event, Event)] == [
        ("warning", "boom")
    ]
    assert events(f"{line}\n") == []


@pytest.mark.parametrize("level", ["crit", "fail"])
def test_what_is_wrong_stands_below_the_logger_that_dotnet_names(level: str) -> None:
    [event] = events(f"{level}: Shop.Worker[0]\n      no cart\n")
    assert event.text == "Shop.Worker[0]: no cart"
