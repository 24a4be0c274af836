"""A file that grows is read from where it was read to, whatever is done to it."""

from pathlib import Path

from tocsin.edges.sources.followed import Followed


def test_a_file_is_followed_over_its_birth_growth_rotation_and_truncation(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    followed = Followed(log, from_start=True)
    assert followed.read() == b""
    log.write_text("born\n")
    assert followed.read() == b"born\n"
    with log.open("a") as more:
        more.write("grown\n")
    assert followed.read() == b"grown\n"
    with log.open("a") as more:
        more.write("last of the old\n")
    log.rename(tmp_path / "web.log.1")
    log.write_text("first of the new\n")
    assert followed.read() == b"last of the old\n"
    assert followed.read() == b"first of the new\n"
    log.write_text("cut\n")
    assert followed.read() == b"cut\n"
    followed.close()


def test_only_what_is_added_is_read_unless_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("old\n")
    followed = Followed(log, from_start=False)
    assert followed.read() == b""
    with log.open("a") as more:
        more.write("new\n")
    assert followed.read() == b"new\n"
    followed.close()


def test_a_file_rewritten_in_place_to_the_same_length_or_more_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("one two\n")
    followed = Followed(log, from_start=True)
    assert followed.read() == b"one two\n"
    with log.open("r+") as file:
        file.write("ONE TWO\nthree\n")
    assert followed.read() == b"ONE TWO\nthree\n"
    followed.close()


def test_a_file_that_vanishes_and_comes_back_is_read_from_its_first_byte(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("one\n")
    followed = Followed(log, from_start=True)
    assert followed.read() == b"one\n"
    log.unlink()
    assert followed.read() == b""
    log.write_text("two\n")
    assert followed.read() == b"two\n"
    followed.close()
