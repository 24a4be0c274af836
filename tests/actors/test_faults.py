"""Faults in actors: a told one ends nobody, an asked one reaches who asked, too many of them close the door with the reason."""

import runpy
from pathlib import Path

import pykka
import pytest

from tocsin.actors.base import attempt
from tocsin.actors.messages import Batch, Moves, Rulings
from tocsin.contracts.deliveries import Proof, Receipt
from tocsin.contracts.errors import Backpressure, NotRunning, SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.signals import Paused, RecipientDied
from tocsin.pipeline.fanout import Send
from tocsin.pipeline.roster import IntakePolicy, Settings

stepping = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))
Box, Line = stepping["Box"], stepping["Line"]

POISON = {
    "IntakeActor": None,  # it understands everything as "fetch what is at the door"
    "ClassifyActor": Batch(None),
    "FingerprintActor": Batch(None),
    "DedupActor": Moves(None),
    "ThrottleActor": Moves(None),
    "HoldActor": Batch(None),
    "DeferActor": Batch(None),
    "FanOutActor": Batch(None),
    "SinkActor": Send(None),
    "RecorderActor": Rulings([None]),
    "OverviewActor": None,
}


@pytest.fixture(params=[False, True], ids=["by hand", "threaded"])
def line(request: pytest.FixtureRequest):
    with Line(threaded=request.param) as line:
        line.open("dev")
        yield line


def test_a_told_exception_kills_no_actor_and_the_line_goes_on(line) -> None:
    actors = {type(actor).__name__: actor for actor in line.tree._actors}
    assert actors.keys() == POISON.keys()
    restarts = 0
    for name, message in POISON.items():
        if message is None:
            continue
        actors[name].actor_ref.tell(message)
        actors[name].actor_ref.tell(message)
        restarts += 2
        line.after(11_000)
        assert line.tree.status().restarts == restarts, name
        assert actors[name].actor_ref.is_alive()
        line.feed(Event(text=f"after a fault in {name}", to="dev", traffic="user"))
        line.after(150)
        assert line.boxes["dev"].texts()[-1] == f"after a fault in {name}"
    assert line.tree.status().broken == ""


@pytest.mark.parametrize("name", [name for name, message in POISON.items() if message is not None])
def test_an_asked_exception_reaches_who_asked_and_counts_as_no_fault(line, name: str) -> None:
    actor = next(actor for actor in line.tree._actors if type(actor).__name__ == name)
    with pytest.raises((TypeError, AttributeError)):
        line.tree.ask(actor, POISON[name])
    assert line.tree.status().restarts == 0
    line.feed(Event(text="still here", to="dev", traffic="user"))
    line.after(150)
    assert line.boxes["dev"].texts() == ["still here"]


def test_five_faults_within_ten_seconds_are_borne_and_a_sixth_closes_the_door_with_the_reason(line) -> None:
    fanout = next(actor for actor in line.tree._actors if type(actor).__name__ == "FanOutActor")
    for _ in range(5):
        fanout.actor_ref.tell(Batch(None))
    line.settle()
    line.feed(Event(text="let in", to="dev", traffic="user"))
    fanout.actor_ref.tell(Batch(None))
    line.settle()
    with pytest.raises(NotRunning, match=r"(?s)FanOutActor kept failing.*TypeError"):
        line.feed(Event(text="refused", to="dev", traffic="user"))
    status = line.tree.status()
    assert status.broken.startswith("FanOutActor: Traceback")
    assert status.restarts == 6


def test_six_faults_spread_over_a_longer_time_are_borne(line) -> None:
    fanout = next(actor for actor in line.tree._actors if type(actor).__name__ == "FanOutActor")
    for _ in range(12):
        fanout.actor_ref.tell(Batch(None))
        line.after(2_001)
    line.feed(Event(text="let in", to="dev", traffic="user"))
    line.after(150)
    assert line.boxes["dev"].texts() == ["let in"]


def test_a_fault_while_the_door_is_emptied_does_not_leave_the_rest_standing_there(line, monkeypatch) -> None:
    intake = next(actor for actor in line.tree._actors if type(actor).__name__ == "IntakeActor")
    raised = []

    def once(chunk) -> None:
        if not raised:
            raised.append(chunk)
            raise RuntimeError("out of luck")
        type(intake)._send(intake, chunk)

    monkeypatch.setattr(intake, "_send", once)
    line.feed(*(Event(text=f"{number}", to="dev", traffic="mail", id=f"{number}") for number in range(1_000)))
    line.after(1_000)
    assert line.tree.door.empty()
    assert line.boxes["dev"].texts()[-1] == "999"


@pytest.mark.parametrize("answer", [None, True, "ok", {"proof": "recorded"}])
def test_a_sink_that_answers_no_receipt_is_dead_lettered_once_and_its_lane_goes_on(line, answer: object) -> None:
    class Careless(Box):
        def put(self, delivery):
            super().put(delivery)
            return answer if len(self.got) == 1 else Receipt(proof=Proof.RECORDED)

    line.open("ops", sink=(box := Careless()))
    for text in ("first", "second"):
        line.feed(Event(text=text, to="ops", traffic="mail", id=text))
    line.after(600_000)
    assert box.texts() == ["first", "second"]
    (letter,) = line.tree.dead_letters()
    assert letter.decision.note == f"the sink answered {answer!r}, not with a Receipt"
    assert line.balanced()


def test_a_shelf_that_exits_the_program_is_tried_again_and_the_stages_live(line) -> None:
    line.open("ops", sink=(box := Box(SystemExit(3))))
    line.feed(Event(text="hello", to="ops", traffic="mail"))
    line.after(500)
    assert box.texts() == ["hello"]
    assert [delivery.attempt for delivery in box.tried] == [1, 2]


def test_what_a_sink_raises_becomes_an_answer() -> None:
    busy, gone = SinkBusy("busy"), SinkGone("gone")

    def raises(error: BaseException):
        def call():
            raise error

        return call

    assert attempt(raises(busy)) is busy
    assert attempt(raises(gone)) is gone
    for error in (ValueError("odd"), SystemExit(1)):
        answer = attempt(raises(error))
        assert isinstance(answer, SinkBusy)
        assert str(answer) == f"the sink raised {error!r}"
    with pytest.raises(KeyboardInterrupt):
        attempt(raises(KeyboardInterrupt()))


def test_mail_that_is_bounced_while_the_door_is_full_is_not_lost() -> None:
    with Line(Settings(intake=IntakePolicy(limit=2))) as line:
        line.open("dev", "god")
        line.feed(Paused(lane="dev"), *(Event(text=f"mail {n}", to="dev", traffic="mail", id=f"{n}") for n in range(3)))
        assert line.boxes["dev"].got == []
        line.tree.feed([Event(text="a", to="god", traffic="user"), RecipientDied(lane="dev")])
        with pytest.raises(Backpressure):
            line.tree.feed([Event(text="no room", to="god", traffic="user")], wait=False)
        line.after(1_000)  # the three are bounced one after the other, before the door is looked at again
        assert sorted(line.boxes["god"].texts()) == ["a", "mail 0", "mail 1", "mail 2"]
        assert line.boxes["dev"].got == []
        assert line.balanced()


def test_an_observer_that_raises_disturbs_nobody(line) -> None:
    line.tree.observe("bad", Box(*[ValueError("no")] * 3))
    line.tree.observe("good", good := Box())
    for number in range(3):
        line.feed(Event(text=f"{number}", to="dev", traffic="mail", id=f"{number}"))
    line.settle()
    assert good.texts() == line.boxes["dev"].texts() == ["0", "1", "2"]
    assert line.tree.status().restarts == 0


def test_delivered_for_an_observer_comes_after_the_delivery_itself(line) -> None:
    order: list[str] = []

    class Notes(Box):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def put(self, delivery):
            order.append(self.name)
            return super().put(delivery)

    line.open("ops", sink=Notes("lane"))
    line.tree.observe("log", Notes("observer"))
    line.feed(*(Event(text=f"{number}", to="ops", traffic="mail", id=f"{number}") for number in range(2)))
    line.settle()
    assert order.count("lane") == order.count("observer") == 2
    assert all(order[:nth].count("observer") <= order[:nth].count("lane") for nth in range(4))


def test_every_actor_of_a_line_is_in_pykkas_registry_until_it_is_stopped() -> None:
    before = len(pykka.ActorRegistry.get_all())
    with Line() as line:
        assert len(pykka.ActorRegistry.get_all()) == before + len(POISON)
        assert {type(actor).__name__ for actor in line.tree._actors} == POISON.keys()
    assert len(pykka.ActorRegistry.get_all()) == before
