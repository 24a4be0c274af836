"""Attention migrations: carries the tables of the queue to their newest form, whole or not at all."""

from typing import Final

from sqlite_utils import Database, Migrations

from .attention_schema import STEPS
from .engine import Transaction

MIGRATIONS: Final = Migrations("attention")


def _register(name: str, statements: tuple[str, ...]) -> None:
    @MIGRATIONS(name=name)
    def step(database: Database) -> None:
        for statement in statements:
            # One by one: ``executescript`` would commit the transaction that makes the step whole.
            database.conn.execute(statement)


for _name, _statements in STEPS:
    _register(_name, _statements)


def migrate(tx: Transaction) -> None:
    """Apply what is missing, inside the caller's transaction."""
    MIGRATIONS.apply(Database(tx._ready()))
