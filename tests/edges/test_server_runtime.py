"""The runtime directory and its seats: closed to others, one live holder for each name, and no name leads out of it."""

import fcntl
import os
import runpy
import signal
import socket
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import BadInput
from tocsin.contracts.errors import NameTaken, NoRecipient, NotYours
from tocsin.edges.server import runtime
from tocsin.edges.server.directory import answers, living, meant, present
from tocsin.edges.server.runtime import LONGEST_PATH, Seat, runtime_directory, secured, socket_path

_serving = runpy.run_path(str(Path(__file__).parent / "serving.py"))
short_directory, until = _serving["short_directory"], _serving["until"]


@pytest.fixture
def directory():
    with short_directory() as place:
        yield secured(place)


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


def holder_elsewhere(directory: Path, name: str) -> subprocess.Popen[str]:
    """A process that holds the name and listens, until it is killed."""
    code = f"""
import socket, time
from pathlib import Path
from tocsin.edges.server.runtime import Seat
seat = Seat.take(Path({str(directory)!r}), {name!r}, ["agent"])
listener = socket.socket(socket.AF_UNIX)
listener.bind(str(seat.path))
listener.listen()
print("ready", flush=True)
time.sleep(1000)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = secured(tmp_path / "a" / "tocsin")
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_is_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    assert secured(tmp_path / "open").stat().st_mode & 0o777 == 0o700


def test_a_link_is_refused_even_to_a_directory_of_ours(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(NotYours, match="not a plain directory"):
        secured(tmp_path / "link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, -1)
    with pytest.raises(NotYours, match="belongs to user 12345"):
        secured(tmp_path / "theirs")


def test_the_chosen_directory_wins_then_the_sessions(tmp_path: Path) -> None:
    session = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert runtime_directory({"TOCSIN_RUNTIME_DIR": str(tmp_path / "x"), **session}) == tmp_path / "x"
    assert runtime_directory(session) == tmp_path / "tocsin"


def test_a_session_directory_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    found = runtime_directory({"XDG_RUNTIME_DIR": str(tmp_path / "gone")})
    assert found.is_dir()
    assert tmp_path not in found.parents


NAMES = st.text(st.characters(), min_size=1, max_size=40)


@given(NAMES, NAMES)
def test_no_two_names_share_a_socket_on_any_file_system(one: str, other: str) -> None:
    def on_the_worst_system(name: str) -> str:
        return unicodedata.normalize("NFD", socket_path(Path("/r"), name).name).casefold()

    assert (on_the_worst_system(one) == on_the_worst_system(other)) == (one == other)


@given(NAMES | st.sampled_from(["../../etc/passwd", "..", ".", "/", "a/b", "\x00", "-rf", "CON", "x" * 500]))
def test_no_name_leads_out_of_the_directory(name: str) -> None:
    path = socket_path(Path("/run/tocsin"), name)
    assert path.parent == Path("/run/tocsin")
    assert path.name.removesuffix(".sock").replace("-", "").isalnum()
    assert path.name.isascii()


def test_names_that_differ_only_in_case_are_two_recipients(directory: Path) -> None:
    with_small, with_large = Seat.take(directory, "dev"), Seat.take(directory, "Dev")
    assert with_small.path.name.lower() != with_large.path.name.lower()
    with_small.close()
    with_large.close()


def test_a_long_directory_gets_short_names_and_too_long_a_one_is_named() -> None:
    fits = Path("/" + "d" * 70)
    assert len(os.fsencode(socket_path(fits, "dev"))) < LONGEST_PATH
    just = Path("/" + "d" * 76)
    assert "dev" not in socket_path(just, "dev").name
    assert len(os.fsencode(socket_path(just, "dev"))) < LONGEST_PATH
    with pytest.raises(BadInput, match="too long a path for a socket: set TOCSIN_RUNTIME_DIR"):
        socket_path(Path("/" + "d" * 90), "dev")


def test_a_name_has_one_holder_and_the_refusal_says_which_process(directory: Path) -> None:
    process = holder_elsewhere(directory, "dev")
    try:
        with pytest.raises(NameTaken, match=rf"'dev' is here already \(pid {process.pid}\)"):
            Seat.take(directory, "dev")
        assert [(holder.name, holder.pid, holder.command) for holder in living(directory)] == [("dev", process.pid, ("agent",))]
    finally:
        process.kill()
        process.communicate()


def test_the_seat_of_a_killed_holder_is_free_and_its_socket_cleared_away(directory: Path) -> None:
    process = holder_elsewhere(directory, "dev")
    process.kill()
    process.communicate()
    assert socket_path(directory, "dev").exists()
    assert living(directory) == []
    seat = Seat.take(directory, "dev")
    assert not seat.path.exists()
    seat.close()


def test_a_stopped_holder_still_holds_its_name(directory: Path) -> None:
    process = holder_elsewhere(directory, "dev")
    os.kill(process.pid, signal.SIGSTOP)
    try:
        assert answers(socket_path(directory, "dev"))
        with pytest.raises(NameTaken):
            Seat.take(directory, "dev")
    finally:
        process.kill()
        process.communicate()


def test_a_seat_given_back_leaves_nothing_and_can_be_taken_again(directory: Path) -> None:
    for _ in range(3):
        seat = Seat.take(directory, "dev")
        seat.close()
        seat.close()
    assert list(directory.iterdir()) == []


def test_of_many_processes_that_want_a_name_at_once_exactly_one_gets_it(directory: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from tocsin.contracts.errors import NameTaken
from tocsin.edges.server.runtime import Seat
sys.stdin.readline()
try:
    seat = Seat.take(Path({str(directory)!r}), "dev")
    print("got", flush=True)
    sys.stdin.readline()
except NameTaken:
    print("taken", flush=True)
"""
    argv = [sys.executable, "-c", code]
    processes = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers_given = [process.stdout.readline().strip() for process in processes if process.stdout]
    for process in processes:
        process.communicate("end\n")
    assert sorted(answers_given) == ["got", "taken", "taken", "taken", "taken"]


def test_a_lock_that_was_given_back_while_we_reached_for_it_is_not_taken_for_ours(directory: Path, monkeypatch) -> None:
    """The holder gives its seat back between our opening of the lock file and our locking of it."""
    lock, real = socket_path(directory, "dev").with_suffix(".lock"), fcntl.flock
    calls: list[int] = []

    def flock(fd: int, how: int) -> None:
        calls.append(fd)
        if len(calls) == 1:
            lock.unlink()
        real(fd, how)

    monkeypatch.setattr(runtime.fcntl, "flock", flock)
    seat = Seat.take(directory, "dev")
    assert lock.exists()
    with pytest.raises(NameTaken):
        Seat.take(directory, "dev")
    seat.close()


def test_the_recipient_that_is_named_is_meant_whether_it_is_here_or_not(directory: Path) -> None:
    assert meant(directory, "dev", {}).path == socket_path(directory, "dev")
    with pytest.raises(NoRecipient, match="nobody called 'dev' is here; no recipient is here: start one with `tocsin run"):
        present(directory, "dev", {})


def test_without_a_name_the_one_we_run_inside_is_meant(directory: Path) -> None:
    inside = {"TOCSIN_SOCKET": "/some/where.sock", "TOCSIN_RECIPIENT": "outer"}
    assert (meant(directory, None, inside).name, meant(directory, None, inside).path) == ("outer", Path("/some/where.sock"))


def test_without_a_name_the_only_one_is_meant_and_of_several_none(directory: Path) -> None:
    first = Seat.take(directory, "b")
    with listening(first.path):
        assert meant(directory, None, {}).name == "b"
        second = Seat.take(directory, "a")
        with listening(second.path), pytest.raises(NoRecipient, match="say with --to who is meant; here: a, b"):
            meant(directory, None, {})
        second.close()
    first.close()
