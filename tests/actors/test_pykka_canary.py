"""Canary: the private names of pykka that the dispatcher stands on. If one of these fails, read the dispatcher again."""

import inspect

import pykka
import pytest
from pykka._actor import Actor
from pykka._envelope import Envelope

from tocsin.actors.dispatcher import DispatchedActor, Dispatcher


class Clock:
    def now(self) -> int:
        return 0


class Echo(DispatchedActor):
    def on_receive(self, message):
        return message


def test_an_actor_makes_its_inbox_and_starts_its_loop_through_these_hooks() -> None:
    assert isinstance(inspect.getattr_static(Actor, "_create_actor_inbox"), staticmethod)
    assert isinstance(inspect.getattr_static(Actor, "_create_future"), staticmethod)
    assert list(inspect.signature(Actor._start_actor_loop).parameters) == ["self"]
    assert list(inspect.signature(Actor._actor_loop_setup).parameters) == ["self"]
    assert list(inspect.signature(Actor._handle_receive).parameters) == ["self", "message"]


def test_pykka_asks_these_hooks_and_no_others() -> None:
    called = []

    class Watched(Echo):
        def _create_actor_inbox(self):
            called.append("inbox")
            return super()._create_actor_inbox()

        def _start_actor_loop(self):
            called.append("loop")
            super()._start_actor_loop()

    reference = Watched.start(Dispatcher(Clock()))
    assert called == ["inbox", "loop"]
    pykka.ActorRegistry.unregister(reference)


def test_an_envelope_carries_a_message_and_whom_to_answer() -> None:
    assert Envelope.__slots__ == ["message", "reply_to"]
    envelope = Envelope("hello", reply_to=None)
    assert (envelope.message, envelope.reply_to) == ("hello", None)


def test_tell_and_ask_only_put_an_envelope_into_the_inbox() -> None:
    dispatcher = Dispatcher(Clock())
    actor = Echo.launch(dispatcher)
    actor.actor_ref.tell("told")
    answer = actor.actor_ref.ask("asked", block=False)
    assert [(envelope.message, envelope.reply_to is None) for envelope in actor.mailbox.envelopes] == [
        ("told", True),
        ("asked", False),
    ]
    dispatcher.run_until_idle()
    assert answer.get(timeout=0) == "asked"
    pykka.ActorRegistry.unregister(actor.actor_ref)


def test_handle_receive_answers_what_on_receive_answers_and_raises_what_it_raises() -> None:
    class Raises(DispatchedActor):
        def on_receive(self, message):
            raise LookupError(message)

    dispatcher = Dispatcher(Clock())
    echo, raises = Echo.launch(dispatcher), Raises.launch(dispatcher)
    assert echo._handle_receive("x") == "x"
    with pytest.raises(LookupError, match="x"):
        raises._handle_receive("x")
    for actor in (echo, raises):
        pykka.ActorRegistry.unregister(actor.actor_ref)


def test_a_stopped_flag_is_an_event_on_the_actor() -> None:
    actor = Echo.launch(Dispatcher(Clock()))
    assert actor.actor_ref.is_alive()
    actor.actor_stopped.set()
    assert not actor.actor_ref.is_alive()
    pykka.ActorRegistry.unregister(actor.actor_ref)
