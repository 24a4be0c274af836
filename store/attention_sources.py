"""Attention sources: from the hash of a handle to who is asking. A handle itself is never stored."""

from ..contracts.attention_facts import Nobody, Seat
from ..contracts.attention_items import Source
from . import attention_rows as rows
from .engine import View


def seat_of(view: View, handle_hash: str, broker_uuid: str) -> Seat | Nobody:
    """Who shows this handle. ``broker_uuid``: the broker that the handle's own file names, which the rules compare with ours.

    A revoked source is still somebody: it may ask for the receipts of what it did.
    """
    sql = "SELECT source_id FROM attention_source_handles WHERE handle_hash = ?"
    for (source_id,) in view.rows(sql, (handle_hash,)):
        return Seat(source_id=source_id, broker_uuid=broker_uuid)
    return Nobody()


def source(view: View, source_id: str) -> Source | None:
    """The source of this id, also a revoked one."""
    return rows.source(view, source_id)
