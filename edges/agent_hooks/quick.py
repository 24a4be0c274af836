"""Quick: whether a hook's call is worth more than a look, found out with as little as can be: an agent waits for it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_config_path

from ...store.peek import glance, is_free
from ..store_place import store_path
from .dialect import event_of
from .unheard import Unheard

_TELLS_OF_WAITS = frozenset({"PermissionRequest", "Elicitation", "Notification"})
_QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode"})


def place() -> Path | None:
    """The store's file; none if the settings say that there is none. Settings files are only read where there are any."""
    setting = os.environ.get("TOCSIN_STORE__PATH", "")
    if not setting and any(file.is_file() for file in _settings_files()):
        from ..settings import load

        setting = load().settings.store.path
    return store_path(setting)


def _settings_files() -> Iterator[Path]:
    """Where settings may stand, as in ``edges/settings``, which takes its time to load."""
    here = Path.cwd()
    yield from (directory / ".tocsin.toml" for directory in (here, *here.parents))
    if base := os.environ.get("XDG_CONFIG_HOME"):
        yield Path(base) / "tocsin" / "config.toml"
    else:
        yield user_config_path("tocsin") / "config.toml"


def is_worth_it(said: bytes, store: Path, name: str) -> bool:
    """True if something waits for the recipient, or what its hooks say may change whether it waits on a human.

    Raises ``ValueError`` for what is no hook's payload, and ``OSError`` if nobody of that name is known.
    """
    event = event_of(json.loads(said.decode("utf-8", "replace")))
    there = glance(store, name)
    if not there.known:
        raise OSError(f"nobody called {name!r} is here or registered; `tocsin recipients register {name}` makes it known")
    kind = event["hook_event_name"]
    asks = kind in _TELLS_OF_WAITS or (kind == "PreToolUse" and event.get("tool_name") in _QUESTIONS)
    return there.something or there.waits or asks or (not there.owned and bool(Unheard(store, name)))


def keep(said: bytes, store: Path, name: str, *, patience: float) -> None:
    """Keep what the hook says until it is noted in the store, whatever becomes of this call.

    Raises ``OSError`` if the store is locked for as long as ``patience``: the next call takes note of it then.
    """
    unheard = Unheard(store, name)
    unheard.add(event_of(json.loads(said.decode("utf-8", "replace"))))
    if not is_free(store, patience):
        raise OSError(f"{store} is locked by another process; what the hook said is kept in {unheard.path} for the next call")
