"""Field cases B and A02: what public bug reports say about messages that were merged, or told twice."""

import unicodedata

import pytest

from tocsin.pipeline.canonical import canonical
from tocsin.pipeline.identity import fingerprint


def prints(*messages, source="process_output", scope="web", frame=""):
    return {fingerprint(source, scope, message, frame=frame) for message in messages}


def test_a02_an_event_without_a_message_is_never_one_with_a_message():
    empty = fingerprint("browser_js", "", "")
    in_scope = fingerprint("browser_js", "p1", "")
    boom = fingerprint("browser_js", "", "boom")
    assert len({empty, in_scope, boom, fingerprint("browser_js", "p1", "boom")}) == 4
    for message in ("(x3)", "12:00:01", "{}", "at f (node:net:1:2)", "0", ".", "null", "undefined"):
        assert fingerprint("browser_js", "", message) != empty


def test_a02_events_without_a_message_are_told_apart_by_the_rest_of_their_data():
    assert fingerprint("browser_js", "", "", frame="f (a.ts)") != fingerprint("browser_js", "", "", frame="g (a.ts)")
    assert fingerprint("browser_js", "", "") != fingerprint("process_output", "", "")
    assert fingerprint("browser_js", "", "", key="a") != fingerprint("browser_js", "", "", key="b")


def test_b01_the_same_stack_with_another_message_is_another_error():
    frame = "validate (src/form.ts:12:7)"
    assert len(prints('ValidationError: "city is invalid"', 'ValidationError: "user is invalid"', frame=frame)) == 2


def test_b03_another_root_cause_is_another_error():
    outer = "RuntimeError: job failed"
    between = "The above exception was the direct cause of the following exception:"
    assert len(prints(f"KeyError: 'a'\n\n{between}\n\n{outer}", f"TimeoutError\n\n{between}\n\n{outer}", outer)) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("codec utf-8 cannot decode", "codec utf-16 cannot decode"),
        ("Abe::load failed", "Dad::load failed"),
        ("Fee::load failed", "Bad::load failed"),
        ("HTTP 404 for /a", "HTTP 500 for /a"),
        ("killed by signal 9", "killed by signal 15"),
        ("killed by SIGKILL", "killed by SIGSEGV"),
        ("[Errno 13] denied", "[Errno 98] denied"),
        ("connect ECONNREFUSED", "connect ECONNRESET"),
        ("error TS2322: no", "error TS2345: no"),
        ("error[E0308]: no", "error[E0382]: no"),
        ("exit status 0xC0000005", "exit status 0xC0000409"),
        ("sha256 mismatch", "sha512 mismatch"),
        ("int32 overflow", "int64 overflow"),
        ("requires python 3.11", "requires python 3.12"),
        ("Minified React error #418", "Minified React error #423"),
        ("SQLSTATE[23505]", "SQLSTATE[23503]"),
    ],
)
def test_b04_a_number_inside_a_word_is_no_number(one, other):
    assert len(prints(one, other)) == 2


def test_b06_a_dev_servers_clock_and_counter_are_not_the_message():
    error = "[vite] http proxy error: /api/me"
    told = [
        f"9:41:07 AM {error}",
        f"14:02:30 {error} (x12)",
        f"1:05:54\u202fPM {error} (x3)",
        f"\x1b[2m15:11:53\x1b[22m {error} (x7)",
        error,
    ]
    assert len(prints(*told)) == 1


def test_b06_the_path_counts():
    assert len(prints("9:41:07 AM [vite] http proxy error: /api/me", "9:41:07 AM [vite] http proxy error: /api/orders")) == 2


def test_b07_a_module_that_was_edited_is_the_same_module():
    url = "http://localhost:5173/src"
    told = [
        f"TypeError: x is undefined at {url}/App.tsx{rest}"
        for rest in ("?t=1700000000001:50:19", "?t=1700000009999:53:19", ":9:1")
    ]
    assert len(prints(*told)) == 1
    assert len(prints(told[0], told[0].replace("App.tsx", "Cart.tsx"))) == 2


def test_b09_line_and_column_go_and_what_means_something_stays():
    assert len(prints("failed at src/a.py:10:4", "failed at src/a.py:22:1")) == 1
    assert len(prints("exit code: 1", "exit code: 137")) == 2
    assert len(prints("listening on :3000", "listening on")) == 2


def test_b09_another_port_is_another_message():
    # Pinned: a port says which server is meant, so it is never noise below `loose`.
    assert len(prints("cannot bind 127.0.0.1:3000", "cannot bind 127.0.0.1:4000")) == 2


def test_b10_colour_is_not_content():
    told = [
        "\x1b[31mERROR\x1b[0m db down",
        "ERROR db down",
        "\x1b[1;38;5;196mERROR\x1b[m db down",
        "[31mERROR[0m db down",
        "31mERROR39m db down",
    ]
    assert len(prints(*told)) == 1
    assert {canonical(text) for text in told} == {"error db down"}


def test_b12_one_text_in_two_unicode_forms_is_one():
    assert len(prints("café.ts not found", unicodedata.normalize("NFD", "café.ts not found"))) == 1


def test_b12_lower_case_is_pinned():
    assert canonical("İSTANBUL ﬁle ΟΔΟΣ Straße") == "i̇stanbul ﬁle οδοσ straße"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("goroutine 43 [running]:\nmain.save(0xc0000b2000)\n\t/srv/main.go:31 +0xbe",
         "goroutine 7 [running]:\nmain.save(0xc00019e480)\n\t/srv/main.go:33 +0x1c2"),
        ("goroutine 1 [chan receive, 3 minutes]:\nmain.f()", "goroutine 9 [chan receive]:\nmain.f()"),
        ("thread 'tokio-worker-3' panicked", "thread 'tokio-worker-9' panicked"),
        ("[signal SIGSEGV code=0x1 addr=0x0 pc=0x4a2b3c]", "[signal SIGSEGV code=0x1 addr=0x0 pc=0x4affee]"),
        ("worker died (pid 1234)", "worker died (pid 77)"),
        ("(node:1234) Warning: no", "(node:9) Warning: no"),
        ("[http-nio-8080-exec-4] ERROR no", "[http-nio-8080-exec-11] ERROR no"),
        ("<Cart object at 0x7f3c2a109b1e> is gone", "<Cart object at 0x7f00aa109b1e> is gone"),
    ],
)  # fmt: skip
def test_b14_addresses_threads_goroutines_and_pids_change_with_every_run(one, other):
    assert len(prints(one, other)) == 1
