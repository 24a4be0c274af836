"""The queue beside a line: one after the other, every second a look, and trouble on one side is no trouble of the other."""

import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin.actors.attention import PERIOD, Attending
from tocsin.actors.dispatcher import Dispatcher
from tocsin.actors.messages import Tick
from tocsin.actors.publisher import Publisher
from tocsin.actors.tables import Direct
from tocsin.contracts.attention_answers import Receipt, Result
from tocsin.contracts.attention_items import Phase
from tocsin.contracts.base import Instant
from tocsin.contracts.errors import NotRunning, StoreBusy
from tocsin.contracts.recipients import Recipient
from tocsin.store import attention_reads, attention_returns, intake, recipients
from tocsin.store.engine import Store

attending = runpy.run_path(str(Path(__file__).parents[1] / "store" / "attending.py"))
Desk = attending["Desk"]


class Beside:
    """A queue with a publisher that is stepped by hand, and the commands of another process."""

    def __init__(self, path: Path, *, enabled: bool = True, patience: float = 0.05) -> None:
        self.desk = Desk(path)
        self.opened = 0
        self.path, self.patience = path, patience
        self.warnings: list[str] = []
        self.dispatcher = Dispatcher(self)
        publisher = Publisher(self, lambda: "n1", lambda *_: True, lambda _: None) if enabled else None
        self.queue = Attending(
            self,
            Direct(self.open),
            publisher,
            path=str(path),
            warn=self.warnings.append,
            dispatcher=self.dispatcher,
        )
        with self.desk.store.write() as tx:
            recipients.register(tx, Recipient(name="ariadne"))

    def open(self) -> Store:
        self.opened += 1
        return Store.open(self.path, now=self.now(), patience=self.patience)

    def now(self) -> Instant:
        return self.desk.now

    def pass_time(self, millis: int) -> None:
        self.desk.later(millis)
        self.dispatcher.run_until_idle()

    def answer(self) -> int:
        item_id: int = self.desk.do("summon", self.desk.bind("s1"), **attending["packet"]()).item_id
        self.desk.next()
        self.desk.do("resolve", item_id=item_id, expected_revision=2, outcome="answered", response="Take C.")
        return item_id

    def phase(self, item_id: int) -> Phase:
        with self.desk.store.read() as view:
            return attention_returns.of_item(view, item_id)[-1].phase

    def notices(self) -> int:
        with self.desk.store.read() as view:
            return len(intake.listing(view, traffic="return"))


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Beside]:
    one = Beside(tmp_path / "tocsin.db")
    yield one
    one.queue.stop(1.0)
    one.desk.store.close()


def test_an_answer_that_another_process_has_committed_is_sent_within_a_second(beside: Beside) -> None:
    item_id = beside.answer()
    beside.pass_time(PERIOD - 1)
    assert beside.phase(item_id) is Phase.PENDING
    beside.pass_time(1)
    assert beside.phase(item_id) is Phase.MINTED


def test_a_wake_that_comes_early_changes_nothing(beside: Beside) -> None:
    item_id = beside.answer()
    beside.queue._actor.actor_ref.tell(Tick())
    beside.pass_time(1)
    assert beside.phase(item_id) is Phase.PENDING


def test_the_file_is_not_opened_before_it_is_needed(beside: Beside) -> None:
    beside.pass_time(PERIOD - 1)
    assert beside.opened == 0


def test_A34_a_locked_database_holds_up_no_other_and_the_answer_goes_later(beside: Beside) -> None:
    item_id = beside.answer()
    with beside.desk.store.write():
        for _ in range(10):
            beside.pass_time(PERIOD)
    assert beside.phase(item_id) is Phase.PENDING
    assert beside.warnings == []
    beside.pass_time(PERIOD)
    assert beside.phase(item_id) is Phase.MINTED


def test_a_command_on_a_locked_database_is_busy_and_can_be_sent_again(beside: Beside) -> None:
    with beside.desk.store.write(), pytest.raises(StoreBusy, match=r"Nothing was changed; try again"):
        beside.queue.change(lambda tx: recipients.register(tx, Recipient(name="late")))
    beside.queue.change(lambda tx: recipients.register(tx, Recipient(name="late")))
    assert beside.queue.query(lambda view: recipients.find(view, "late")) is not None


def test_where_the_queue_is_switched_off_nothing_is_sent_and_everything_can_be_read(tmp_path: Path) -> None:
    beside = Beside(tmp_path / "tocsin.db", enabled=False)
    item_id = beside.answer()
    for _ in range(5):
        beside.pass_time(PERIOD)
    assert beside.dispatcher.next_due() is None
    assert (beside.phase(item_id), beside.notices()) == (Phase.PENDING, 0)
    shown = beside.queue.query(lambda view: attention_reads.item(view, item_id, beside.now()))
    assert shown is not None
    assert shown.item.response == "Take C."
    beside.queue.stop(1.0)
    beside.desk.store.close()


def test_threads_that_ask_at_once_are_answered_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    desk = Desk(path)
    for number in range(3):
        desk.do("add", **attending["packet"](f"k{number}"))
    queue = Attending(desk_clock(desk), Direct(lambda: Store.open(path, now=desk.now)), None, path=str(path), warn=print)
    queue.start()
    answers: list[Any] = []

    def take() -> None:
        request = desk.request("next", {"human_id": attending["HUMAN"]})
        answers.append(queue.change(lambda tx: desk.run(tx, request)))

    threads = [threading.Thread(target=take) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.stop(5.0)
    assert all(isinstance(answer, Receipt) for answer in answers)
    assert sorted(answer.result for answer in answers) == [Result.ALREADY_ACTIVE] * 19 + [Result.CLAIMED]
    assert {answer.active.item_id for answer in answers} == {1}
    with pytest.raises(NotRunning, match="has been stopped"):
        queue.query(lambda view: None)
    desk.store.close()


def desk_clock(desk: Any) -> Any:
    class Now:
        def now(self) -> Instant:
            return desk.now

    return Now()
