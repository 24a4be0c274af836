"""Settings: one value from five places — flags, environment, project file, user file, defaults — and which one won."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import msgspec

from ..contracts.base import Record
from ..contracts.errors import BadInput
from ..pipeline.roster import Settings
from .toml_places import line_of

PROJECT_FILE: Final = ".tocsin.toml"
PREFIX: Final = "TOCSIN_"
DEFAULT: Final = "default"


class Setting(Record, frozen=True, kw_only=True):
    """One value, and where it comes from."""

    key: str
    """Such as ``defer.timing.idle_after``."""
    value: Any
    origin: str
    """``default``, ``flag``, the name of a variable, or a file and line."""


class Loaded(Record, frozen=True, kw_only=True):
    """The settings in force."""

    settings: Settings
    origins: dict[str, str]
    """Key → where its value comes from; keys that are not here have their defaults."""
    files: tuple[Path, ...] = ()
    """The files that were read, the stronger one last."""

    def all(self) -> Iterator[Setting]:
        """Every setting, in the order of the line."""
        for key in keys():
            value: Any = self.settings
            for part in key.split("."):
                value = getattr(value, part)
            yield Setting(key=key, value=msgspec.to_builtins(value), origin=self.origins.get(key, DEFAULT))


def load(
    *, flags: Mapping[str, str] | None = None, environ: Mapping[str, str] = os.environ, directory: Path | None = None
) -> Loaded:
    """The settings in force in a directory (the present one). Values of ``flags`` are texts, as in the environment.

    Raises ``BadInput`` that names the file and line, the variable or the flag, and for an unknown key the nearest one.
    """
    files = [
        path for path in (user_file(environ), project_file(directory or Path.cwd())) if path is not None and path.is_file()
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path in files:
        for key, value, origin in _from_file(path):
            values[key], origins[key] = value, origin
    for key, text, origin in (*_from_environment(environ), *_from_flags(flags or {})):
        values[key], origins[key] = _parsed(key, text), origin
    return Loaded(settings=_made(values, origins), origins=origins, files=tuple(files))


def user_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own configuration file, whether it is there or not."""
    if base := environ.get("XDG_CONFIG_HOME"):
        return Path(base) / "tocsin" / "config.toml"
    from platformdirs import user_config_path

    return user_config_path("tocsin") / "config.toml"


def project_file(directory: Path) -> Path | None:
    """The nearest ``.tocsin.toml``, here or in a directory above."""
    for place in (directory.absolute(), *directory.absolute().parents):
        if (path := place / PROJECT_FILE).is_file():
            return path
    return None


def keys() -> tuple[str, ...]:
    """Every key there is."""
    return tuple(_LEAVES)


def nearest(key: str) -> str:
    """Advice for a key that is not known."""
    if _is_section(key):
        return f"it is a section: write [{key}] and its settings below"
    last = key.rpartition(".")[2]
    close = get_close_matches(key, _LEAVES, n=1, cutoff=0.6) or [known for known in _LEAVES if known.rpartition(".")[2] == last]
    close = close or get_close_matches(key.partition(".")[0], _SECTIONS, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"sections are {', '.join(_SECTIONS)}"


def _leaves(kind: type[msgspec.Struct], before: str = "") -> Iterator[tuple[str, Any]]:
    sections: list[tuple[str, type[msgspec.Struct]]] = []
    for field in msgspec.structs.fields(kind):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            sections.append((field.name, field.type))
        else:
            yield f"{before}{field.name}", field.type
    # Behind the plain values, as a file has to have them.
    for name, section in sections:
        yield from _leaves(section, f"{before}{name}.")


_LEAVES: Final[dict[str, Any]] = dict(_leaves(Settings))
_SECTIONS: Final = tuple(dict.fromkeys(key.partition(".")[0] for key in _LEAVES))


def _from_file(path: Path) -> Iterator[tuple[str, Any, str]]:
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: can't be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+)", str(error))
        raise BadInput(f"{path}:{line[1] if line else len(text.splitlines())}: {error}") from error
    for key, value in _flat(content):
        origin = f"{path}:{line_of(text, key)}"
        if key not in _LEAVES:
            raise BadInput(f"{origin}: there is no setting {key!r}; {nearest(key)}")
        yield key, value, origin


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        key = f"{before}{name}"
        if isinstance(value, dict) and key not in _LEAVES and (value or _is_section(key)):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _is_section(key: str) -> bool:
    return any(known.startswith(f"{key}.") for known in _LEAVES)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, text in sorted(environ.items()):
        if not name.startswith(PREFIX):
            continue
        parts = name.removeprefix(PREFIX).lower().split("__")
        key = ".".join(parts)
        if len(parts) == 1 and not any(key.startswith(f"{section}_") for section in _SECTIONS):
            continue  # not a setting: TOCSIN_SOCKET, TOCSIN_DEBUG and the like
        if key not in _LEAVES:
            raise BadInput(f"{name}: there is no such setting; {_nearest_variable(key)}")
        yield key, text, name


def _nearest_variable(key: str) -> str:
    by_variable = {known.replace(".", "_"): known for known in _LEAVES}
    close = get_close_matches(key.replace(".", "_"), by_variable, n=1, cutoff=0.6)
    if not close:
        return f"sections are {', '.join(_SECTIONS)}"
    return f"did you mean {PREFIX}{by_variable[close[0]].replace('.', '__').upper()}?"


def _from_flags(flags: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for key, text in flags.items():
        if key not in _LEAVES:
            raise BadInput(f"there is no setting {key!r}; {nearest(key)}")
        yield key, text, "flag"


def _parsed(key: str, text: str) -> Any:
    """A text as the value of a key: as it stands where the key holds a text, else as TOML writes it."""
    if _LEAVES[key] is str:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _made(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *sections, last = key.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    try:
        return msgspec.convert(tree, Settings)
    except msgspec.ValidationError as error:
        raise BadInput(_where(str(error), origins)) from error


def _where(text: str, origins: Mapping[str, str]) -> str:
    """``Expected `int`, got `str` - at `$.dedup.window``` with its place in front."""
    words, _, at = text.partition(" - at `$.")
    path = at.rstrip("`").partition("[")[0]
    guilty = [key for key in origins if path and (key == path or key.startswith(f"{path}."))] or list(origins)
    return f"{origins[guilty[-1]]}: {path or guilty[-1]}: {words}"
