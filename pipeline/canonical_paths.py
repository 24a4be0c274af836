"""Paths and addresses: which part of a URL, a route, a temporary file or an asset's name is the same next time."""

import re
from typing import Final

_ROUTE_ID: Final = re.compile(
    r"\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{16,}|0[0-7][0-9a-hjkmnp-tv-z]{24}"
)
_PAGES: Final = frozenset({"/404", "/500", "404", "500"})
"""Pages named after a status: here the number is the name."""
_FILES: Final = (
    ["/usr/", "/opt/", "/var/", "/etc/", "/home/", "/users/", "/dev/", "/lib/", "/srv/", "/mnt/", "/nix/", "/root/", "/library/", "/applications/", "/volumes/", "/snap/"]
)
_RANDOM_NAME: Final = re.compile(r"tmp[\w.]{6,}|[^.]*\d[^.]*")
_DIGITS: Final = re.compile(r"\d+")


def without_query(address: str) -> str:
    """The address without query and fragment; punctuation that only follows it stays."""
    kept = len(address.rstrip(".,:;!?"))
    bare = address[:kept]
    for mark in "?#":
        bare = bare.partition(mark)[0]
    return bare + address[kept:].lstrip("?")


def route(path: str) -> str:
    """The path with ``:id`` for every segment that is a number, a UUID or another opaque id."""
    if path in _PAGES:
        return path
    return "/".join(":id" if _ROUTE_ID.fullmatch(segment) else segment for segment in path.split("/"))


def leave_url(found: re.Match[str]) -> str:
    """For a whole ``http`` or ``ws`` address: its host and port as they are, its path as a route."""
    origin, slash, path = without_query(found["rest"]).partition("/")
    if not slash:
        return found["scheme"] + origin
    path, colon, tail = path.partition(":") if ":id" not in path else (path, "", "")
    return found["scheme"] + origin + route(slash + path) + colon + tail


def leave_request_path(found: re.Match[str]) -> str:
    """For a path after a method: a route without its query."""
    return found["method"] + route(without_query(found["path"]))


def leave_path(found: re.Match[str]) -> str:
    """For any other absolute path: a route, unless it lies where files lie."""
    path = found["path"]
    return path if path.startswith(tuple(_FILES)) else route(path)


def leave_temporary(found: re.Match[str]) -> str:
    """For a path below a temporary directory: what the program itself named, without the unique parts."""
    parts = re.split(r"[/\\]+", found["rest"])
    if len(parts) == 1:
        stem, dot, ending = parts[0].rpartition(".")
        name = stem if dot and stem else parts[0]
        return "<tmp>/" + ("<name>" + (dot + ending if stem else "") if _RANDOM_NAME.fullmatch(name) else parts[0])
    return "<tmp>/" + "/".join(_DIGITS.sub("<n>", part) for part in parts[1:])


def leave_asset(found: re.Match[str]) -> str:
    """For the hash a bundler put into a file's name. A word that only looks as long as a hash stays."""
    return found["mark"] + ("<hash>" if _is_hash(found["hash"]) else found["hash"])


def _is_hash(name: str) -> bool:
    if re.fullmatch(r"[0-9a-f]+", name):
        return len(name) >= 8 if name.isdigit() else not name.isalpha()
    return len(name) == 8 and re.search(r"\d[a-z_-]|[a-z_-]\d+[a-z_-]", name) is not None
