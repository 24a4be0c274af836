"""Post: one database of the attention queue, its publisher stepped by hand, and one recipient, for tests of returns."""

import runpy
from pathlib import Path
from typing import Any

from tocsin.actors.carrying import carry_out
from tocsin.actors.publisher import Publisher
from tocsin.actors.tables import Direct
from tocsin.contracts.attention_answers import Receipt, Refusal
from tocsin.contracts.attention_items import Return
from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Proof
from tocsin.contracts.durable import Outcome, Stored
from tocsin.contracts.recipients import Owner, Recipient, Session
from tocsin.contracts.verdicts import Stage, Verdict
from tocsin.store import attention_returns, deliveries, intake, owners, recipients

attending = runpy.run_path(str(Path(__file__).parents[1] / "store" / "attending.py"))
Desk, BROKER, HUMAN = (attending[name] for name in ("Desk", "BROKER", "HUMAN"))
LIVING = Owner(token="t1", pid=1, started="x", host="here", socket="/run/ariadne.sock")


class Post:
    """One database, its publisher stepped by hand, and the recipient ``ariadne``."""

    def __init__(self, path: Path) -> None:
        self.desk = Desk(path)
        self.tables = Direct(lambda: self.desk.store)
        self.dead: set[str] = set()
        self.told: list[frozenset[str]] = []
        self.ids = iter(f"n{number}" for number in range(1, 1_000))
        self.publisher = Publisher(self, lambda: next(self.ids), self.alive, self.told.append)
        with self.desk.store.write() as tx:
            recipients.register(tx, Recipient(name="ariadne"))

    def now(self) -> Instant:
        return self.desk.now

    def alive(self, owner: Owner, beat_at: Instant) -> bool:
        return owner.token not in self.dead

    def once(self) -> None:
        self.publisher.once(self.tables)

    def change(self, call: Any) -> Any:
        return self.tables.change(call)

    def runs(self, session: str, *, owner: Owner = LIVING) -> None:
        """A process delivers to ariadne, in this session of its program."""

        def begin(tx: Any) -> None:
            owners.take(tx, "ariadne", owner, self.now(), alive=self.alive)
            recipients.begin_session(tx, Session(id=session, recipient="ariadne", pid=1, started_at=self.now()))

        self.change(begin)

    def ends(self, session: str) -> None:
        def end(tx: Any) -> None:
            recipients.end_session(tx, session, self.now())
            owners.give_back(tx, LIVING.token)

        self.change(end)

    def answered(self, key: str = "k", **bound: Any) -> Return:
        """An item that a seat asked for and that the person has answered; its way back."""
        source = bound.pop("source", f"s-{key}")
        item_id = self.desk.do("summon", self.desk.bind(source, **bound), **attending["packet"](key)).item_id
        self.desk.next(item_id=item_id)
        revision = self.desk.revision(item_id)
        self.desk.do("resolve", item_id=item_id, expected_revision=revision, outcome="answered", response="Take C.")
        return self.row(item_id)

    def row(self, item_id: int) -> Return:
        with self.desk.store.read() as view:
            return attention_returns.of_item(view, item_id)[-1]

    def again(self, row: Return) -> Return:
        return self.row(row.item_id)

    def notices(self) -> list[Stored]:
        with self.desk.store.read() as view:
            return intake.listing(view, traffic="return")

    def hand_over(self, stored: Stored, verdict: Verdict | None, proof: Proof | None = None) -> None:
        """The owner gives it to its sink, with that end, or none yet."""

        def tell(tx: Any) -> None:
            intake.claim(tx, LIVING.token, [stored.seq], self.now())
            delivery = Delivery(id=f"d-{stored.id}", lane=stored.recipient, text=stored.event.text, entries=(), at=self.now())
            deliveries.dispatch(tx, delivery, [stored.id], token=LIVING.token, at=self.now())
            if proof is not None:
                deliveries.prove(tx, f"d-{stored.id}", proof, self.now())
            if verdict is not None:
                ended = Outcome(
                    id=stored.id,
                    recipient=stored.recipient,
                    at=self.now(),
                    stage=Stage.FANOUT,
                    verdict=verdict,
                    reason=f"because_{verdict}",
                )
                deliveries.settle(tx, [ended], self.now())

        self.change(tell)

    def ask(self, action: str, row: Return, **more: Any) -> Receipt | Refusal:
        """The person about this return, as the desk would carry it out."""
        revision = self.desk.revision(row.item_id)
        payload = {"item_id": row.item_id, "expected_revision": revision, "return_generation": row.generation, **more}
        request = self.desk.request(action, payload)
        return self.change(lambda tx: self._carry(tx, request))

    def _carry(self, tx: Any, request: Any) -> Receipt | Refusal:
        return carry_out(
            tx,
            request,
            principal=attending["PERSON"],
            policy=self.desk.policy,
            broker_uuid=BROKER,
            now=self.now(),
        )
