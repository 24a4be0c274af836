"""Dying: processes that live over a real database, each ended by ``os._exit`` at a point further on, and one after each."""

import os
import runpy
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tocsin.contracts.deliveries import Delivery
from tocsin.store.engine import Store

HERE = Path(__file__).parent
remembering = runpy.run_path(str(HERE / "remembering.py"))
Fate, Life, words = (remembering[name] for name in ("Fate", "Life", "words"))

START = 1_700_049_600_000
SAID = [
    words("mail", "one"),
    words("user", "two"),
    words("notice", "three", key="breaker:steer:looping", source="harness"),
    words("return", "four", key="q1@1"),
]
EXIT = 9
MOST = 1_000


class Journal:
    """A file that outlives the process: what was answered, and what the recipient got, each written before the next step."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def say(self, *what: object) -> None:
        os.write(self._file, " ".join(map(str, what)).encode() + b"\n")

    def append(self, delivery: Delivery) -> None:
        self.say("told", delivery.id, delivery.attempt, *(entry.id for entry in delivery.entries))

    @property
    def got(self) -> "Journal":
        """As the reader that a life delivers to."""
        return self


class Ends(Fate):
    """Ends the process itself: nothing is closed, nothing is undone, nobody catches anything."""

    def pass_by(self, where: str) -> None:
        self.point += 1
        if self.point == self.die_at:
            os._exit(EXIT)


class Steps(Life):
    """A life in which a process may also die while nothing is under way."""

    def pass_time(self, millis: int) -> None:
        self._fate.pass_by("between two steps")
        super().pass_time(millis)


def live(folder: Path, number: int, die_at: int | None, *, said: bool) -> int:
    """How many points a life has that is not ended."""
    journal, fate = Journal(folder / "journal"), Ends(die_at)
    life = Steps(folder / "tocsin.db", journal, fate, number, at=START + number * 3_600_000)
    # What a process has written outlives it in the kernel; to wait for the disk would only matter if the machine died.
    life.store._store._ready().execute("PRAGMA synchronous=OFF")
    life.open()
    for nth, event in enumerate(SAID if said else []):
        journal.say("answered", life.feed(event, f"m{nth}"))
        life.pass_time(100)
    life.pass_time(5_000)
    return int(fate.point)


def in_a_child(call: Callable[[], object]) -> int:
    """Run it in a process of its own; how that ended. Nothing is imported again for it."""
    child = os.fork()
    if not child:
        try:
            call()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path) -> None:
    """A process that ends at each point in turn, and after it one that does not. A life that has no such point is the last."""
    Store.open(folder / "new.db", now=START).close()
    for point in range(1, MOST):
        place = folder / str(point)
        place.mkdir()
        shutil.copy(folder / "new.db", place / "tocsin.db")
        ended = in_a_child(partial(live, place, 1, point, said=True))
        again = in_a_child(partial(live, place, 2, None, said=False))
        sys.stdout.write(f"{point} {ended} {again}\n")
        if ended != EXIT:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
