"""Standard hides nothing: codes, ports, values and names that tell two messages apart stay; what is certain noise goes."""

import pytest

from tocsin.pipeline.canonical import canonical

APART = [
    # What looks like a lost colour code and is a length of time.
    ("rate(errors[5m]) is high", "rate(errors[1m]) is high"),
    ("max_over_time(x[1h]) is high", "max_over_time(x[2h]) is high"),
    ("test_wait[10m] failed", "test_wait[30m] failed"),
    # Parameters of tests, whatever they look like.
    ("test_x[3s] failed", "test_x[5s] failed"),
    ("FAILED a.py::test_x[10ms-2] - assert 3 == 4", "FAILED a.py::test_x[20ms-2] - assert 3 == 4"),
    ("FAILED a.py::test_x[10 kB]", "FAILED a.py::test_x[20 kB]"),
    ("FAILED a.py::test_x[0x7f3c2a109b1e]", "FAILED a.py::test_x[0x7f3c2a109b1f]"),
    ("FAILED a.py::test_x[7f3c2a109b1e]", "FAILED a.py::test_x[7f3c2a109b1f]"),
    ("FAILED a.py::test_x[50%]", "FAILED a.py::test_x[60%]"),
    ("FAILED a.py::test_x[user 3-id=4]", "FAILED a.py::test_x[user 3-id=5]"),
    ("FAILED a.py::test_x[[1m]-2]", "FAILED a.py::test_x[[3m]-2]"),
    ("--- FAIL: TestWait/10ms (0.00s)", "--- FAIL: TestWait/20ms (0.00s)"),
    # Numbers in hexadecimal digits that nobody called an address.
    ("failed with 0x80070005", "failed with 0x80070002"),
    ("returned 0x80070005", "returned 0x80070002"),
    ("result: 0x80070005", "result: 0x80070002"),
    ("reason 0x80070005", "reason 0x80070002"),
    ("failed with c0000005", "failed with c0000409"),
    ("CreateFile failed (0x80070005)", "CreateFile failed (0x80070002)"),
    ("(0x80004005): unspecified", "(0x80004002): unspecified"),
    ("ended, 0xC0000142", "ended, 0xC0000135"),
    ("Invalid byte 0x80", "Invalid byte 0xff"),
    ("unexpected opcode 0x0f", "unexpected opcode 0x1f"),
    ("device 0x10de is missing", "device 0x1022 is missing"),
    # Codes of Windows as decimal numbers.
    ("process died (3221225477)", "process died (3221226505)"),
    ("call gave 2147942405", "call gave 2147942402"),
    ("process died (4294967295)", "process died (4294967294)"),
    # Names of errors that are called ids.
    ("error id=E1001", "error id=E1002"),
    ("rule id: no-2 broken", "rule id: no-3 broken"),
    ("Event ID: 7031", "Event ID: 7034"),
    # Ports: a server may have any.
    ("connect to remote 127.0.0.1:50051", "connect to remote 127.0.0.1:50052"),
    ("peer 10.0.0.1:41000", "peer 10.0.0.1:42000"),
    ("serving 127.0.0.1:50051", "serving 127.0.0.1:50052"),
    ("loaded from 127.0.0.1:50051", "loaded from 127.0.0.1:50052"),
    ("write tcp 127.0.0.1:8080->127.0.0.1:51234: broken pipe", "write tcp 127.0.0.1:9090->127.0.0.1:51234: broken pipe"),
    ("read tcp 127.0.0.1:51234->127.0.0.1:50051: reset", "read tcp 127.0.0.1:51234->127.0.0.1:50052: reset"),
]
ALIKE = [
    ("[31mERROR[0m db down", "ERROR db down"),
    ("[1;31mERROR[m db down", "ERROR db down"),
    ("[2mvite[22m is up", "vite is up"),
    ("--- FAIL: TestWait/10ms (0.00s)", "--- FAIL: TestWait/10ms (0.31s)"),
    ("<Cart object at 0x7f3c2a10>", "<Cart object at 0x7f00aa10>"),
    ("invalid read at 0x4a2b3c", "invalid read at 0x4affee"),
    ("heap is corrupt near 0x55d0c0ffee00", "heap is corrupt near 0x55d0c0ffee10"),
    ("main.(*Cart).save(0x3, 0x10)\n\ta.go:3", "main.(*Cart).save(0x4, 0x20)\n\ta.go:3"),
    ("#<Cart:0x00c0ffee> is gone", "#<Cart:0x00c0ff10> is gone"),
    ("value 3999999999 is lost", "value 3999999998 is lost"),
    ("error id=7f3c2a10-9b1e-4c55-8a77-0c1d2e3f4a5b", "error id=7f3c2a10-9b1e-4c55-8a77-0c1d2e3f4aff"),
    ("request_id=E1001", "request_id=E1002"),
    ('127.0.0.1:54321 - "GET /a HTTP/1.1" 500', '127.0.0.1:54329 - "GET /a HTTP/1.1" 500'),
    ("connection from 127.0.0.1:54321 was lost", "connection from 127.0.0.1:54329 was lost"),
    ("client 127.0.0.1:54321 is gone", "client 127.0.0.1:54329 is gone"),
    ("http: panic serving 127.0.0.1:51234: boom", "http: panic serving 127.0.0.1:60022: boom"),
    ("write tcp 127.0.0.1:8080->127.0.0.1:51234: broken pipe", "write tcp 127.0.0.1:8080->127.0.0.1:51299: broken pipe"),
    ("read tcp 127.0.0.1:51234->127.0.0.1:5432: reset", "read tcp 127.0.0.1:40112->127.0.0.1:5432: reset"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_tells_two_messages_apart_stays(one, other):
    assert canonical(one, "strict") != canonical(other, "strict")
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_is_certain_to_change_goes(one, other):
    assert canonical(one) == canonical(other)


def test_a_length_of_time_in_brackets_is_no_colour():
    text = "rate(errors[5m]) [10m] [2m 3s] test_wait[30m] lag[7m"
    assert canonical(text, "strict") == text


def test_letters_of_a_private_plane_are_never_taken_for_others():
    hidden = "".join(chr(0x100000 + ord(letter)) for letter in "test_x[3s]")
    assert (
        len({canonical(hidden), canonical("test_x[3s]"), canonical(f"{hidden} test_x[3s]"), canonical("test_x[3s] test_x[3s]")})
        == 4
    )
