"""The socket of a recipient: everything a client may do, with a real line behind it, and everything it must not bring about."""

import ctypes
import os
import platform
import runpy
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tocsin import BadInput, Event, Settings, SinkGone
from tocsin.contracts import wire
from tocsin.contracts.errors import Backpressure, Lost, NotFound, NotRunning, TimeLimit
from tocsin.contracts.signals import ProcessExited, TurnStarted
from tocsin.edges.server import peer, server
from tocsin.edges.server.client import Client
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

_serving = runpy.run_path(str(Path(__file__).parent / "serving.py"))
served, short_directory, until, Raw = (_serving[name] for name in ("served", "short_directory", "until", "Raw"))
QUICK = Settings(throttle=ThrottlePolicy(window=0, error_window=0, prompt_window=0, batches_per_minute=0))


@pytest.fixture
def dev():
    with short_directory() as directory, served(directory, settings=QUICK, token="secret") as one:
        yield one


@pytest.fixture
def client(dev):
    with Client(dev.path, name="dev") as one:
        yield one


def test_the_socket_is_for_its_owner_alone(dev) -> None:
    assert stat.S_IMODE(dev.path.stat().st_mode) == 0o600


def test_hello_says_who_answers_and_whether_it_started_us(client) -> None:
    welcome = client.ask(wire.Hello())
    assert (welcome.recipient, welcome.pid, welcome.version, welcome.dispatched) == ("dev", os.getpid(), "1.2.3", False)
    assert client.ask(wire.Hello(token="secret")).dispatched
    assert not client.ask(wire.Hello(token="other")).dispatched


def test_what_is_fed_is_delivered_and_each_refusal_names_its_place(dev, client) -> None:
    answer = client.feed([Event(text="a"), Event(text="b", to="nobody"), Event(text=" "), Event(text="c")])
    assert answer.count == 2
    assert [unfit.index for unfit in answer.refused] == [1, 2]
    assert "nobody is called 'nobody' here; recipients here: dev" in answer.refused[0].text
    assert "no message" in answer.refused[1].text
    until(lambda: dev.texts() == ["a", "c"], "both events")


def test_signals_go_the_same_way(dev, client) -> None:
    client.feed([ProcessExited(scope="web", code=1), TurnStarted(lane="dev")])
    status = until(lambda: (s := client.ask(wire.AskStatus()).status).scopes and s)
    assert status.scopes == {"web": "crashed"}
    assert status.lanes[0].recipient == "turn"


def test_a_bad_item_from_a_foreign_client_is_refused_by_its_place(dev) -> None:
    with Raw(dev.path) as raw:
        answer = raw.ask(b'{"op":"feed","items":[{"text":"a"},{"txt":1},{"text":"b","to":"x"},{"text":"c"}]}')
    assert answer["count"] == 2
    assert [refused["index"] for refused in answer["refused"]] == [1, 2]


def test_the_same_batch_sent_again_is_taken_once(dev) -> None:
    line = wire.line_of(wire.Feed(items=(wire.raw(Event(text="hi", traffic="user")),), batch="b1"))
    with Raw(dev.path) as raw, Raw(dev.path) as other:
        assert raw.ask(line.strip())["count"] == 1
        assert other.ask(line.strip())["count"] == 1
        assert other.ask(line.strip().replace(b"b1", b"b2"))["count"] == 1
    until(lambda: dev.texts() == ["hi", "hi"], "two messages")


def test_a_batch_that_is_still_being_taken_is_not_taken_twice() -> None:
    entered, go_on, calls = threading.Event(), threading.Event(), []

    class Slow:
        def __init__(self, line):
            self._line = line

        def __getattr__(self, name):
            return getattr(self._line, name)

        def feed_all(self, items, **how):
            calls.append(len(items))
            entered.set()
            go_on.wait(30)
            return self._line.feed_all(items, **how)

    line = wire.line_of(wire.Feed(items=(wire.raw(Event(text="hi")),), batch="b1"))
    with (
        short_directory() as directory,
        served(directory, settings=QUICK, wrap=Slow) as dev,
        Raw(dev.path) as a,
        Raw(dev.path) as b,
    ):
        a.send(line)
        entered.wait(30)
        b.send(line)
        with Client(dev.path) as other:
            assert other.ask(wire.AskStatus()).status.fed == 0
        go_on.set()
        assert (a.answer()["count"], b.answer()["count"]) == (1, 1)
    assert calls == [1]


def test_a_line_that_is_too_long_is_refused_and_the_connection_ends(dev) -> None:
    with Raw(dev.path) as raw:
        raw.send(b'{"op":"' + b"x" * wire.LONGEST_LINE)
        assert raw.answer()["code"] == "too_long"
        assert raw.answer() == {}


def test_nonsense_is_answered_in_words_and_the_connection_goes_on(dev) -> None:
    with Raw(dev.path) as raw:
        for nonsense in (b"hello", b"{}", b"[]", b"\xff\xfe", b"null", b'{"op":"status","v":99}', b"[" * 10_000):
            answer = raw.ask(nonsense)
            assert (answer["answer"], answer["code"]) == ("failed", "bad_input"), nonsense
            assert "Traceback" not in answer["text"]
        assert raw.ask(b'{"op":"status"}')["answer"] == "status"


def test_blank_lines_mean_nothing_however_many_there_are(dev) -> None:
    with Raw(dev.path) as raw:
        raw.send(b"\n" * 300_000 + b'  \n{"op":"status"}\n')
        assert raw.answer()["answer"] == "status"


def test_requests_sent_at_once_are_answered_in_order(dev) -> None:
    with Raw(dev.path) as raw:
        raw.send(b'{"op":"hello"}\n{"op":"status"}\n{"op":"letters"}\n')
        assert [raw.answer()["answer"] for _ in range(3)] == ["welcome", "status", "letters"]


def test_a_fault_while_one_is_answered_is_told_to_that_one_alone(dev) -> None:
    class Faulty:
        def __getattr__(self, name):
            raise ZeroDivisionError("oh")

    with short_directory() as directory, served(directory, "bad", wrap=lambda line: Faulty()) as bad, Raw(bad.path) as raw:
        answer = raw.ask(b'{"op":"status"}')
        assert (answer["code"], answer["text"]) == ("internal", "that failed here: ZeroDivisionError: oh")
        assert raw.ask(b'{"op":"hello"}')["answer"] == "welcome"


def test_silent_and_dribbling_clients_are_hung_up_on_and_hold_up_nobody(monkeypatch) -> None:
    monkeypatch.setattr(server, "IDLE", 0.3)
    monkeypatch.setattr(server, "WHOLE_WITHIN", 0.3)
    with short_directory() as directory, served(directory) as dev, Raw(dev.path) as silent, Raw(dev.path) as dribbling:
        dribbling.send(b'{"op":')
        with Client(dev.path) as client:
            assert client.ask(wire.AskStatus()).recipient == "dev"
        assert silent.answer() == {}
        assert dribbling.answer() == {}


def test_a_client_that_does_not_read_its_answers_is_hung_up_on(monkeypatch) -> None:
    monkeypatch.setattr(server, "WHOLE_WITHIN", 0.3)
    with short_directory() as directory, served(directory, settings=QUICK) as dev, Raw(dev.path) as deaf:
        deaf.socket.settimeout(0.05)
        with pytest.raises(OSError):
            while True:
                deaf.send(b'{"op":"status"}\n' * 1000)
                deaf.socket.settimeout(30)
        with Client(dev.path) as client:
            assert client.ask(wire.AskStatus()).recipient == "dev"


def test_one_client_more_than_there_is_room_for_is_told_to_come_again(monkeypatch) -> None:
    monkeypatch.setattr(server, "MOST", 3)
    with short_directory() as directory, served(directory) as dev:
        clients = [Raw(dev.path) for _ in range(3)]
        assert all(one.ask(b'{"op":"hello"}')["answer"] == "welcome" for one in clients)
        with Raw(dev.path) as late:
            assert late.answer()["code"] == "busy"
        for one in clients:
            one.__exit__()

        def welcome():
            with Raw(dev.path) as again:
                return again.ask(b'{"op":"hello"}').get("answer") == "welcome"

        until(welcome, "room again")


def test_a_server_that_is_out_of_descriptors_for_a_while_goes_on_afterwards() -> None:
    code = """
import os, resource, runpy, sys
from pathlib import Path
from tocsin.edges.server.client import Client
from tocsin.contracts import wire
serving = runpy.run_path(sys.argv[1])
with serving["short_directory"]() as directory, serving["served"](directory) as dev, serving["Raw"](dev.path) as first:
    first.ask(b'{"op":"hello"}')
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    late = serving["socket"].socket(serving["socket"].AF_UNIX)
    hogs = []
    try:
        while True:
            hogs.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    late.connect(str(dev.path))
    late.settimeout(30)
    late.sendall(b'{"op":"hello"}\\n')
    print(first.ask(b'{"op":"hello"}')["answer"])
    for hog in hogs:
        os.close(hog)
    print(b"welcome" in late.recv(65536))
    late.close()
"""
    serving = Path(__file__).parent / "serving.py"
    done = subprocess.run([sys.executable, "-c", code, str(serving)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "welcome\nTrue\n"), done.stderr


SETRESUID = {"x86_64": 117, "aarch64": 147}.get(platform.machine())


@pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux" or SETRESUID is None, reason="only root can be another user for a moment"
)
def test_another_user_is_hung_up_on(dev) -> None:
    for place in (dev.path.parent.parent, dev.path.parent, dev.path):
        place.chmod(0o777)
    kernel = ctypes.CDLL(None).syscall
    # The bare system call changes this thread alone; the server's stay what they are.
    kernel(SETRESUID, 12345, 12345, 0)
    try:
        raw = Raw(dev.path)
    finally:
        kernel(SETRESUID, 0, 0, 0)
    with raw:
        assert peer.peer_user(raw.socket) == 0
        assert raw.answer() == {}


def test_the_other_end_of_a_socket_is_this_user() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert peer.peer_user(one) == os.geteuid()
        assert peer.is_ours(one)


def test_a_pause_keeps_events_and_a_resume_lets_them_go(dev, client) -> None:
    client.ask(wire.Pause())
    client.feed([Event(text="later"), Event(text="now", traffic="user")])
    until(lambda: dev.texts() == ["now"], "the person's word")
    client.ask(wire.Resume())
    until(lambda: dev.texts() == ["now", "later"], "the event")


def test_the_story_of_a_notice_comes_by_id_and_by_fingerprint(dev, client) -> None:
    client.feed([Event(text="boom", id="e1")])
    until(lambda: dev.texts() == ["boom"])
    (story,) = until(
        lambda: [a for a in client.ask_for(wire.Explain(what="e1")) if a.decisions and a.decisions[-1].verdict == "deliver"]
    )
    by_print = list(client.ask_for(wire.Explain(what=story.decisions[-1].fingerprint[:8])))
    assert [one.verdict for one in story.decisions if one.stage == "classify"] == ["pass"]
    assert by_print[0].decisions[-1] == story.decisions[-1]
    assert [answer.decisions for answer in client.ask_for(wire.Explain(what="nothing"))] == [()]


def test_many_decisions_come_in_parts_and_the_cursor_goes_on(dev, client) -> None:
    client.feed([Event(text=f"n {'x' * number}", id=f"e{number}") for number in range(700)])
    until(lambda: client.ask(wire.AskStatus()).status.at_the_door == 0)
    parts = list(client.ask_for(wire.AskDecisions()))
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert len(parts) > 1
    assert max(len(part.decisions) for part in parts) == 500
    assert {one.id for part in parts for one in part.decisions if one.stage == "classify"} == {f"e{n}" for n in range(700)}
    cursor = parts[-1].next
    until(
        lambda: (
            client.ask(wire.AskStatus()).status.lanes[0].under_way == "" and client.ask(wire.AskStatus()).status.pending == 0
        )
    )
    again = [one for part in client.ask_for(wire.AskDecisions(after=cursor)) for one in part.decisions]
    assert not [one for one in again if one.stage == "classify"]


def test_a_dead_letter_is_listed_with_what_it_said_and_can_be_fed_again() -> None:
    with short_directory() as directory, served(directory, settings=QUICK) as dev, Client(dev.path) as client:

        def refuse(delivery):
            raise SinkGone("no")

        dev.line.open_lane("gone", refuse)
        client.feed([Event(text="lost", id="x1", to="gone")])
        (letter,) = until(lambda: client.ask(wire.AskLetters()).letters)
        assert (letter.decision.id, letter.event.text, letter.decision.verdict) == ("x1", "lost", "dead_letter")
        client.ask(wire.Retry(id="x1"))
        until(lambda: len(client.ask(wire.AskLetters()).letters) == 2, "the second refusal")
        with pytest.raises(NotFound, match="no dead letter with the id 'x9'"):
            client.ask(wire.Retry(id="x9"))


def test_letters_as_long_as_they_may_be_come_in_parts() -> None:
    settings = Settings(throttle=QUICK.throttle, record=RecordPolicy(dead_letters=50))
    with short_directory() as directory, served(directory, settings=settings) as dev, Client(dev.path) as client:

        def refuse(delivery):
            raise SinkGone("no")

        dev.line.open_lane("gone", refuse)
        client.feed([Event(text=f"{n}", detail="d" * 900_000, to="gone", id=f"x{n}") for n in range(20)])
        until(lambda: client.ask(wire.AskStatus()).status.dead_letters == 20)
        letters = [letter for answer in client.ask_for(wire.AskLetters()) for letter in answer.letters]
        assert sorted(letter.decision.id for letter in letters) == sorted(f"x{n}" for n in range(20))


def test_an_event_that_no_line_can_hold_is_refused_and_the_others_go(dev, client) -> None:
    answer = client.feed([Event(text="a"), Event(text="x" * 2_000_000), Event(text="b")])
    assert (answer.count, [unfit.index for unfit in answer.refused]) == (2, [1])
    assert "at most" in answer.refused[0].text


def test_more_than_a_line_holds_goes_in_several(dev, client) -> None:
    events = [Event(text=f"{number}", detail="d" * 100_000, traffic="user") for number in range(30)]
    assert client.feed(events).count == 30
    until(lambda: dev.texts() == [str(number) for number in range(30)], "thirty messages in order")


def test_the_kind_of_a_failure_comes_through() -> None:
    class Full:
        def __getattr__(self, name):
            raise Backpressure("full")

    with short_directory() as directory, served(directory, wrap=lambda line: Full()) as dev, Client(dev.path) as client:
        with pytest.raises(Backpressure, match="full") as caught:
            client.feed([Event(text="a")])
        assert caught.value.retryable
        with pytest.raises(BadInput):
            client.ask(wire.AskStatus(v=3))


def test_nobody_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="'dev' does not run"):
        Client(tmp_path / "none.sock", name="dev")


def test_an_answer_that_does_not_come_is_not_waited_for_for_ever() -> None:
    with short_directory() as directory:
        directory.mkdir()
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(str(directory / "m.sock"))
            mute.listen()
            with (
                Client(directory / "m.sock", name="mute", patience=0.05) as client,
                pytest.raises(TimeLimit, match="within 0.05 s"),
            ):
                client.ask(wire.AskStatus())


def test_a_server_that_ends_before_it_answers_leaves_the_outcome_open() -> None:
    with short_directory() as directory, served(directory) as dev, Client(dev.path, name="dev") as client:
        dev.stop()
        with pytest.raises(Lost, match="'dev'"):
            client.ask(wire.AskStatus())


def test_when_it_stops_the_name_is_free_and_the_files_are_gone() -> None:
    with short_directory() as directory:
        with served(directory) as dev:
            lock = dev.path.with_suffix(".lock")
            assert lock.exists()
        assert list(directory.iterdir()) == []
