"""Attending model: what must be true of the attention queue, in a few lines that know nothing of tables."""

from typing import Any

from tocsin.contracts.attention_answers import Receipt, Refusal


class Model:
    """Item id → state, revision, place in the line, and what it says. Source id → its way back, and whether it was revoked."""

    def __init__(self) -> None:
        self.items: dict[int, dict[str, Any]] = {}
        self.sources: dict[str, dict[str, Any]] = {}
        self.places = 0
        self.now = 0

    def word(self, answer: Any) -> str:
        return str(answer.code if isinstance(answer, Refusal) else answer.result)

    def place(self) -> int:
        self.places += 1
        return self.places

    def chosen(self, nth: int, *states: str) -> int:
        """Mostly an item for which it is legal."""
        legal = sorted(item_id for item_id, item in self.items.items() if item["state"] in states)
        if nth % 8 and legal:
            return legal[nth % len(legal)]
        return 99 if nth == 40 or not self.items else sorted(self.items)[nth % len(self.items)]

    def revision(self, item_id: int) -> int:
        return self.items[item_id]["revision"] if item_id in self.items else 1

    def active(self) -> int | None:
        return next((item_id for item_id, item in self.items.items() if item["state"] == "active"), None)

    def is_due(self, item: dict[str, Any]) -> bool:
        return item["state"] == "deferred" and item["until"] is not None and item["until"] <= self.now

    def a_source(self, nth: int) -> str:
        """Mostly one that may ask."""
        return "nobody" if nth == 8 else sorted(self.sources)[nth % len(self.sources)]

    def barred(self, source: str | None) -> str | None:
        """Why a source may ask for nothing at all."""
        if source is None:
            return None
        if source not in self.sources:
            return "unauthenticated"
        return "source_revoked" if self.sources[source]["revoked"] else None

    def is_owed(self, item_id: int) -> bool:
        """True if somebody waits for the answer to it, or did: revoking a source takes no answer away."""
        source = self.items[item_id]["source"]
        return source is not None and self.sources[source]["mode"] != "none"

    def refused(self, said: dict[str, Any], legal: tuple[str, ...], source: str | None) -> str | None:
        if barred := self.barred(source):
            return barred
        item = self.items.get(said["item_id"])
        if item is None:
            return "unknown_item"
        if source is not None and item["source"] != source:
            return "not_yours"
        if said["expected_revision"] != item["revision"]:
            return "stale_revision"
        return None if item["state"] in legal else "wrong_state"

    def change(self, item_id: int, to: str) -> None:
        item = self.items[item_id]
        item |= {"state": to, "revision": item["revision"] + 1, "until": None}
        if to == "queued":
            item["place"] = self.place()

    def selected(self, answer: Receipt, pick: int | None) -> None:
        due = [(item["until"], item_id) for item_id, item in self.items.items() if self.is_due(item)]
        for _, item_id in sorted(due):
            self.change(item_id, "queued")
        active = self.active()
        if active is not None:
            assert (answer.selection, answer.active.item_id) == ("already_active", active)
            return
        line = sorted((item["place"], item_id) for item_id, item in self.items.items() if item["state"] == "queued")
        if not line:
            deferred = [item for item in self.items.values() if item["state"] == "deferred"]
            assert (answer.selection, answer.active, answer.deferred) == ("empty", None, len(deferred))
            return
        chosen = pick or line[0][1]
        assert (answer.selection, answer.active.item_id) == ("claimed", chosen)
        assert answer.selection_reason == ("explicit_pick" if pick else "fifo")
        self.change(chosen, "active")
        assert answer.active.revision == self.items[chosen]["revision"]
