"""``tocsin doctor``: whether all that tocsin depends on is as it should be here, and for each trouble what to do."""

import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import click

from ..contracts.base import Record
from ..contracts.errors import BadInput, TocsinError
from ..edges.agent_hooks.agents import AGENTS
from ..edges.liveness import is_stopped
from ..edges.server.directory import living
from ..edges.server.runtime import Holder, runtime_directory
from ..edges.settings import load
from ..edges.store_place import store_path
from ..store.checkup import LOG_TOO_LARGE, ROOM, SQLITE, Checkup, checkup
from .hooks import place_of
from .main import EXIT_CODES, INTERNAL
from .recipients import who_holds
from .stored import store_option
from .words import json_option, plural, print_json, say, table

_SOON: Final = 2.0
State = Literal["ok", "note", "bad"]


class Check(Record, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    state: State
    """``note``: it works, and somebody may want to know."""
    text: str
    code: str = ""
    """Of what is bad: as in the errors of other commands."""


@click.command()
@store_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, store: Path | None, as_json: bool) -> None:
    """Show whether all is well here: settings, sockets, the database, who is here, what waits, and agents' hooks.

    Nothing is changed. The exit code is that of the first thing that is bad. `tocsin attention doctor` says more of the
    queue in which agents ask you.
    """
    found = list(_checks(store))
    bad = [check for check in found if check.state == "bad"]
    if as_json:
        print_json({"healthy": not bad, "checks": found})
    else:
        say(table(("", "WHAT", "HOW IT STANDS"), [(check.state, check.name, check.text) for check in found]))
    ctx.exit(EXIT_CODES.get(bad[0].code, INTERNAL) if bad else 0)


def _checks(store: Path | None) -> Iterator[Check]:
    said: set[str] = set()
    for name, look in (
        ("program", _of_program),
        ("settings", _of_settings),
        ("sockets", _of_sockets),
        ("database", lambda: _of_database(store)),
        ("recipients", _of_recipients),
        ("hooks", _of_hooks),
    ):
        # A mistake in the settings keeps more than one thing from being looked at, and is said once.
        for check in _guarded(name, look):
            if check.state != "bad" or check.text not in said:
                said.add(check.text)
                yield check


def _guarded(name: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """One trouble hides no other."""
    try:
        yield from look()
    except TocsinError as error:
        yield Check(name=name, state="bad", text=str(error), code=error.code)
    except OSError as error:
        yield Check(name=name, state="bad", text=f"{error.filename or name}: {error.strerror}", code="bad_input")


def _of_program() -> Iterator[Check]:
    parts = (f"tocsin {version('tocsin')}", f"Python {platform.python_version()}", f"SQLite {SQLITE}")
    yield Check(name="program", state="ok", text=", ".join((*parts, platform.platform(terse=True))))


def _of_settings() -> Iterator[Check]:
    loaded = load()
    files = ", ".join(str(path) for path in loaded.files)
    yield Check(name="settings", state="ok", text=files or "the defaults: there is no file of settings")


def _of_sockets() -> Iterator[Check]:
    yield Check(name="sockets", state="ok", text=f"in {runtime_directory()}, for you alone")


def _of_database(store: Path | None) -> Iterator[Check]:
    path = store_path(str(store) if store else load().settings.store.path)
    if path is None:
        yield Check(name="database", state="note", text="off, by the setting store.path: nothing survives a restart")
    elif store and not path.exists():
        raise BadInput(f"there is no database at {path}; what is sent with this --store, or registered in it, makes one")
    elif not path.exists():
        yield Check(name="database", state="ok", text=f"{path} is made when there is something to keep")
    else:
        found = checkup(path)
        yield Check(name="database", state="ok", text=f"{path}, {_size(found.bytes + found.wal_bytes)}, whole")
        yield from _remarks(path, found)


def _remarks(path: Path, found: Checkup) -> Iterator[Check]:
    if found.wal_bytes > LOG_TOO_LARGE:
        text = f"{path}-wal has {_size(found.wal_bytes)}: some process reads it without an end. `fuser {path}` shows which"
        yield Check(name="log", state="bad", text=text, code="store_busy")
    if found.free_bytes < ROOM:
        text = f"{_size(found.free_bytes)} are left beside {path}: once it is full nothing is kept any more. Free some"
        yield Check(name="disk", state="bad", text=text, code="store_full")
    if found.open_to_others:
        yield Check(name="database", state="note", text=f"others may read it: `chmod 600 {path}` ends that")
    if found.letters:
        text = f"{plural(found.letters, 'message')} could not be told to anybody: `tocsin letters` lists them"
        yield Check(name="letters", state="note", text=text)
    here = {holder.name for holder in living(runtime_directory())}
    for name in sorted(set(found.waiting) - here):
        what = (
            f"{plural(found.waiting[name], 'message')} for {name}, who is not here: `tocsin run --as {name} -- CMD` brings it"
        )
        yield Check(name="waiting", state="note", text=what)


def _of_recipients() -> Iterator[Check]:
    holders = living(runtime_directory())
    if not holders:
        yield Check(name="recipients", state="note", text="nobody is here: start one with `tocsin run --as NAME -- CMD`")
    yield from map(_of_recipient, holders)


def _of_recipient(holder: Holder) -> Check:
    who = f"{holder.name} (pid {holder.pid})"
    if is_stopped(holder.pid):
        return Check(name="recipients", state="note", text=f"{who} is stopped, as by Ctrl-Z: `fg` in its terminal wakes it")
    said = who_holds(holder, _SOON)
    if not said.answers:
        text = f"{who} does not answer within {_SOON:g} s: end it with `kill {holder.pid}` and start it again"
        return Check(name="recipients", state="bad", text=text, code="not_running")
    if said.version != version("tocsin"):
        return Check(name="recipients", state="note", text=f"{who} is of tocsin {said.version}: start it again for this one")
    return Check(name="recipients", state="ok", text=f"{who} is here")


def _of_hooks() -> Iterator[Check]:
    """Those that are installed; that an agent has none is no fault."""
    places = [
        place_of(agent, in_project)
        for agent in AGENTS.values()
        for in_project in (False, True)
        if agent.project or not in_project
    ]
    # In the home directory the project's file is the user's.
    for place in {place.file: place for place in places}.values():
        if place.error:
            yield Check(name="hooks", state="bad", text=f"{place.agent}: {place.in_words()}", code="bad_input")
        elif place.missing and place.installed:
            text = f"{place.agent}: {place.in_words()} in {place.file}; `tocsin hooks install {place.agent}` completes them"
            yield Check(name="hooks", state="note", text=text)
        elif place.installed:
            yield Check(name="hooks", state="ok", text=f"{place.agent}: {place.file}")


def _size(number: int) -> str:
    """``4.1 MiB``."""
    return f"{number / 1_048_576:.1f} MiB" if number >= 1_048_576 else f"{number / 1_024:.0f} KiB"
