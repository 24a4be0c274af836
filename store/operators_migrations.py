"""Operators migrations: makes the table that says whose queue a database is, whole or not at all."""

from typing import Final

from sqlite_utils import Database, Migrations

from .engine import Transaction
from .operators import STEPS

MIGRATIONS: Final = Migrations("attention_operator")


def _register(name: str, statement: str) -> None:
    @MIGRATIONS(name=name)
    def step(database: Database) -> None:
        database.conn.execute(statement)


for _name, _statement in STEPS:
    _register(_name, _statement)


def migrate(tx: Transaction) -> None:
    """Apply what is missing, inside the caller's transaction."""
    MIGRATIONS.apply(Database(tx._ready()))
