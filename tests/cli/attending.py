"""Attending: what the tests of the queue's commands share: asking in JSON, and a desk in the test itself to prepare a queue."""

import json
import os
import pty
import select
import subprocess
import termios
import time
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from tocsin.actors.carrying import carry_out
from tocsin.contracts.attention import Binding, Packet
from tocsin.contracts.attention_answers import Receipt
from tocsin.contracts.attention_commands import SourceBind, Summon
from tocsin.contracts.attention_facts import Edge, Enrolment, Policy
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention import names
from tocsin.edges.attention.desk import attention
from tocsin.edges.attention.handles import Handle
from tocsin.edges.attention.private_files import put_new
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import open_sound
from tocsin.pipeline.attention_requests import request_of
from tocsin.store import recipients
from tocsin.store.attention_schema import prepare

CLOCK = SteadyClock()
WORDS = {
    "kind": "review",
    "title": "Review the parser",
    "requested_action": "Read the change and say whether it may go in.",
    "context": "Two files; the tests pass.",
    "unblocks": "The release.",
}


def database(here):
    return here.place / "state" / "tocsin" / "tocsin.db"


def state(here):
    return here.place / "state" / "tocsin"


def told(here, *arguments, **more):
    """Run `tocsin attention … --json`: its code and its one object; nothing else is on standard output."""
    code, out, err = here.tocsin("attention", *arguments, "--json", **more)
    assert out.count("\n") == 1, (arguments, out, err)
    answer = json.loads(out)
    assert answer["schema_version"] == 1
    return code, answer


def did(here, *arguments, **more):
    """The answer of a command that succeeds."""
    code, answer = told(here, *arguments, **more)
    assert code == 0, (arguments, answer)
    return answer


def no(here, *arguments, **more):
    """The code and the reason of one that does not."""
    code, answer = told(here, *arguments, **more)
    assert code != 0, (arguments, answer)
    return code, answer["error"]["code"]


def lines(here, *arguments, **more):
    """Code, standard output and standard error in words."""
    return here.tocsin("attention", *arguments, **more)


@contextmanager
def desk(here):
    """The queue of this world, opened by the test itself."""
    with attention(database(here), state=state(here), clock=CLOCK, policy=Policy(), warn=print) as found:
        yield found


def register(here, *actors):
    """Recipients without a process."""
    store = open_sound(database(here), CLOCK, print)
    try:
        with store.write() as tx:
            for actor in actors:
                recipients.register(tx, Recipient(name=actor, registered_at=CLOCK.now()))
    finally:
        store.close()


def source(here, work="batch-1", *, actor="dev", mode="actor_context", session=None):
    """Enrol a source as a machine would that has seen who asks; its file."""
    register(here, actor)
    store = open_sound(database(here), CLOCK, print)
    secret, source_id = names.secret(CLOCK), f"src-{actor}-{work}-{names.uuid(CLOCK)[:4]}"
    binding = Binding(project_id="film", work_id=work, return_mode=mode)
    request = request_of(SourceBind(schema_version=1, command_id=names.uuid(CLOCK), payload=binding))
    seen = Enrolment(
        source_id=source_id,
        handle_hash=sha256(secret.encode()).hexdigest(),
        edge="here",
        actor=actor,
        session_id=session,
        provenance="live_registration",
    )
    try:
        with store.write() as tx:
            broker = prepare(tx, names.uuid(CLOCK), CLOCK.now())
            answer = carry_out(
                tx,
                request,
                principal=Edge(edge_id="here"),
                policy=Policy(),
                broker_uuid=broker,
                now=CLOCK.now(),
                enrolment=seen,
            )
            assert answer.result == "bound", answer
    finally:
        store.close()
    path = here.place / f"{source_id}.json"
    put_new(path, msgspec.json.encode(Handle(broker_uuid=broker, source_id=source_id, handle=secret)))
    return path


def source_id(path):
    return json.loads(path.read_bytes())["source_id"]


def packet(work="batch-1", key="k", **fields):
    """A whole packet as plain values."""
    return {"human_id": "human", "project_id": "film", "work_id": work, "intervention_key": key, **WORDS, **fields}


def summoned(here, file, work="batch-1", key="k", **fields):
    """An item that this source asks for; its number."""
    with desk(here) as found:
        payload = msgspec.convert(packet(work, key, **fields), Packet)
        answer = found.act(Summon(schema_version=1, command_id=names.uuid(CLOCK), payload=payload), found.seat(file))
    assert answer.result == "created", answer
    return answer.item_id


def person(here, kind, **payload):
    """A command of the person, by the desk."""
    with desk(here) as found:
        command = {"schema_version": 1, "command_id": names.uuid(CLOCK), "payload": payload}
        answer = found.act(msgspec.convert({"action": kind.__struct_config__.tag, **command}, kind), found.operator())
    assert isinstance(answer, Receipt), answer
    return answer


def shown(here, item_id):
    """An item as it is on record."""
    with desk(here) as found:
        return found.item(item_id).item


def standing(here):
    """Every item's state, in the order of their numbers."""
    with desk(here) as found:
        listed = found.queue(states=("active", "queued", "deferred", "resolved", "cancelled"), limit=100).items
    return {one.item_id: str(one.state) for one in sorted(listed, key=lambda one: one.item_id)}


def kept(here):
    """The requests that lie in the state directory, the newest last."""
    return sorted((state(here) / "requests").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)


@contextmanager
def locked(here):
    """Another process's write that does not end."""
    store = open_sound(database(here), CLOCK, print)
    try:
        with store.write():
            yield
    finally:
        store.close()


def typed(here, argv, *, env=None, keys=b""):
    """Run a command in a terminal of 80 by 24; its code and everything that was shown."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    process = subprocess.Popen(
        argv,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**here.environ, **(env or {})},
        cwd=here.place,
        start_new_session=True,
    )
    os.close(slave)
    if keys:
        os.write(master, keys)
    shown, end = bytearray(), time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([master], [], [], 0.05)[0]:
            try:
                data = os.read(master, 65_536)
            except OSError:
                break
            if not data:
                break
            shown += data
    os.close(master)
    return process.wait(60), shown.decode(errors="replace").replace("\r\n", "\n")
