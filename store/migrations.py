"""Migrations: carries a database to the newest schema, whole or not at all."""

import sqlite3
from typing import Final

from sqlite_utils import Database, Migrations

from .schema import APPLICATION_ID, STEPS

MIGRATIONS: Final = Migrations("tocsin")


def _register(name: str, statements: tuple[str, ...]) -> None:
    @MIGRATIONS(name=name)
    def step(database: Database) -> None:
        for statement in statements:
            # One by one: ``executescript`` would commit the transaction that makes the step whole.
            database.conn.execute(statement)


for _name, _statements in STEPS:
    _register(_name, _statements)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing, inside the caller's transaction."""
    MIGRATIONS.apply(Database(connection))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
