"""Stored: what commands that work with the store share: which one is meant, how it is opened, and how lists are shown."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..contracts.base import Instant
from ..contracts.errors import BadInput, NoRecipient, NotRunning, StoreBusy, StoreUnusable, TocsinError
from ..edges.clock import SteadyClock
from ..edges.server.directory import living
from ..edges.server.runtime import runtime_directory
from ..edges.settings import load
from ..edges.store_place import store_path
from .words import complain, for_programs, json_option, print_json, say, table

if TYPE_CHECKING:
    from ..app import Tocsin
    from ..contracts.recipients import Recipient
    from ..edges.records import Records

Row = TypeVar("Row")


def store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--store PATH``: another database than the one that the settings name."""

    def named(_: click.Context, __: click.Parameter, given: Path | None) -> Path | None:
        if given == Path():
            raise click.BadParameter("it names no file: leave it out, or name the database")
        return given

    return click.option(
        "--store",
        "store",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="PATH",
        callback=named,
        help="The database; by default the one that the settings name.",
    )(command)


def list_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--json`` and ``--jsonl``: one object for all, or one a line."""
    return json_option(click.option("--jsonl", is_flag=True, help="Print one JSON object a line.")(command))


def complete_known(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The recipients that are here or registered and begin so, for the shell, which wants no errors."""
    names: set[str] = set()
    try:
        names |= {holder.name for holder in living(runtime_directory())}
        with if_stored(None) as records:
            names |= {one.name for one in records.recipients() if one.life == "live"} if records else set()
    except (TocsinError, OSError):
        pass  # what was found until then is offered
    return sorted(name for name in names if name.startswith(begun))


def to_whom(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--to R``, which has to be said: nothing is sent to somebody by guessing."""
    return click.option("--to", "to", metavar="R", required=True, shell_complete=complete_known, help="The recipient.")(command)


def of_whom(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--to R``: only what is for that recipient."""
    return click.option(
        "--to", "to", metavar="R", shell_complete=complete_known, help="Only this recipient's; without it everybody's."
    )(command)


def place(store: Path | None) -> Path:
    """The database that is meant, whether it is there or not. Raises ``BadInput`` if the store is off."""
    found = store_path(str(store) if store else load().settings.store.path)
    if found is None:
        raise BadInput("the setting store.path is off, so nothing is stored: change it, or name a database with --store PATH")
    return found


@contextmanager
def reading(store: Path | None) -> Iterator["Records"]:
    """The records of the database that is meant. Raises ``BadInput`` if one that is named is not there."""
    path = place(store)
    if store is not None and not path.exists():
        raise BadInput(f"there is no database at {path}; what is sent with this --store, or registered in it, makes one")
    with writing(store) as records:
        yield records


@contextmanager
def writing(store: Path | None) -> Iterator["Records"]:
    """The same, made if it is not there."""
    from ..edges.opened import opened

    with opened(place(store), SteadyClock(), complain) as records:
        yield records


@contextmanager
def if_stored(store: Path | None) -> Iterator["Records | None"]:
    """The records, for a command that has something to say without them: none if the store is off or was never made."""
    path = store_path(str(store) if store else load().settings.store.path)
    if store is None and (path is None or not path.exists()):
        yield None
        return
    with reading(store) as records:
        yield records


@contextmanager
def line_on(store: Path | None) -> Iterator["Tocsin"]:
    """A line on that database for as long as this command takes. Raises ``StoreUnusable``: nothing is kept in memory only."""
    from ..app import Tocsin

    path = place(store)
    said: list[str] = []
    with Tocsin(load().settings, store=path, warn=said.append) as line:
        _must_store(line, path)
        try:
            yield line
        except StoreUnusable as error:
            # The command ends with this, so nothing goes on from memory, and it is not said twice.
            said[:] = [text for text in said if not text.startswith(str(error).rstrip("."))]
            raise
        finally:
            for text in said:
                complain(text)


def _must_store(line: "Tocsin", path: Path) -> None:
    from ..edges.opened import open_sound

    try:
        _ = line.records
    except NotRunning:
        open_sound(path, SteadyClock(), complain).close()  # the same question again, for its answer: why
        raise StoreBusy(f"{path} could not be used just now; try again") from None


def known(records: "Records", name: str) -> "Recipient":
    """The recipient of that name. Raises ``NoRecipient`` with how to register it."""
    found = records.find(name)
    if found is None:
        others = ", ".join(one.name for one in records.recipients() if one.life == "live")
        raise NoRecipient(
            f"nobody called {name!r} is registered; recipients: {others or 'none'}. "
            f"`tocsin recipients register {name}` registers one"
        )
    return found


def show_list(
    name: str, rows: Sequence[Row], cells: Callable[[Row], Sequence[str]], head: Sequence[str], *, as_json: bool, jsonl: bool
) -> None:
    """Rows as a table for people, or for programs; that there are none is said on stderr."""
    if as_json and jsonl:
        raise click.UsageError("--json and --jsonl do not go together")
    if as_json:
        print_json({name: [for_programs(row) for row in rows]})
    elif jsonl:
        for row in rows:
            print_json(row)
    elif rows:
        say(table(head, [cells(row) for row in rows]))
    else:
        click.echo(f"no {name}", err=True)


def moment(at: Instant | None) -> str:
    """``2026-11-30 12:01:03``, on this machine's clock: what is stored may be of another day."""
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""


def in_short(text: str) -> str:
    """The first line of a text, as far as a table has room for it."""
    return text.strip().split("\n")[0][:120]
