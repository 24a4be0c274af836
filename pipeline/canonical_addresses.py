"""Addresses: which part of a URL, a route, a temporary path or an asset's name is the same next time."""

import re
from typing import Final

from .canonical_rules import after, any_of, rule

METHODS: Final = "get post put patch delete head options"
SOURCES: Final = any_of(
    "py pyi pyx js jsx ts tsx mjs cjs mts cts vue svelte astro go rs java kt kts scala rb php c cc cpp cxx h hpp hh cs fs"
    " swift m mm ex exs erl hs ml lua pl pm sh bash zsh sql html css scss sass less json jsonc yaml yml toml xml md mdx proto"
    " tf zig nim dart r jl clj groovy gradle txt cfg ini conf lock graphql gql prisma tpl ejs hbs pug tmpl sol wat asm log env"
    " csv"
)
"""Endings of files that tools report lines of."""
_ASSETS: Final = "js mjs cjs css map woff ttf png jpg jpeg svg gif webp avif ico wasm json html"
_HOST: Final = r"(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}|\[::1?\]|localhost)"
_CLIENT_BEFORE: Final = re.compile(
    r"\b(?:(?:connections?|connected|disconnect(?:ed|ion)?|requests?|error|accepted|received|call|message|packet|datagram|login"
    rf"|closed|refused) from|client(?:[ _]?addr(?:ess)?)?|remote[ _]?addr|panic serving)[ :=]{{1,2}}{_HOST}$",
    re.ASCII,
)
"""Words that say whose port it is. A peer or a remote end may as well be the server that was dialled."""
_HANDED_OUT: Final = "(?:3[3-9]|[4-6][0-9])[0-9]{3}"
_FIXED: Final = "(?:[0-9]{1,4}|[12][0-9]{4}|3[0-2][0-9]{3})"
_ROUTE_ID: Final = re.compile(
    r"/(?:[0-9]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[a-f]{0,40}[0-9])[0-9a-f]{16,}"
    r"|0[0-7][0-9a-hjkmnp-tv-z]{24})(?=[/:]|$)"
)
_ROUTE_NUMBER: Final = re.compile(r"/[0-9]+(?=/|$)")
_NUMBER: Final = re.compile(r"[0-9]+")
_STATUS_PAGES: Final = frozenset({"/404", "/500"})
"""Pages named after a status: here the number is the name."""
_ROOTS: Final = "usr opt var etc home users dev lib srv mnt nix root library applications volumes snap"
_FILE_ROOTS: Final = tuple(f"/{name}/" for name in _ROOTS.split())
_UNIQUE_NAME: Final = re.compile(r"tmp[\w.]{6,}|[^.]*[0-9].*", re.ASCII)
_SOURCE_BEFORE: Final = re.compile(rf"\.{SOURCES}$")


def after_source(found: re.Match[str]) -> bool:
    """Whether the match directly follows the name of a source file."""
    return _SOURCE_BEFORE.search(found.string, max(0, found.start() - 10), found.start()) is not None


def _without_query(address: str) -> str:
    if "?" not in address and "#" not in address:
        return address
    kept = len(address.rstrip(".,:;!?"))
    bare = address[:kept]
    for mark in "?#":
        bare = bare.partition(mark)[0]
    return bare + address[kept:].lstrip("?")


def _route(path: str, ids: re.Pattern[str] = _ROUTE_ID) -> str:
    return path if path in _STATUS_PAGES else ids.sub("/:id", path)


def _leave_url(found: re.Match[str]) -> str:
    origin, slash, path = _without_query(found[1]).partition("/")
    return f"://{origin}{_route(slash + path)}"


def _leave_request(found: re.Match[str]) -> str:
    path = found["path"]
    return found[0][: -len(path)] + _route(_without_query(path))


def _leave_path(found: re.Match[str]) -> str:
    path = found[0].partition("?")[0]
    return found[0] if path.startswith(_FILE_ROOTS) else _route(path, _ROUTE_NUMBER)


def _leave_temporary(found: re.Match[str]) -> str:
    first, *rest = re.split(r"[/\\]+", found["rest"])
    if rest:
        return "<tmp>/" + "/".join(_NUMBER.sub("<n>", part) for part in rest)
    stem, dot, ending = first.rpartition(".")
    if not _UNIQUE_NAME.fullmatch(stem or first):
        return f"<tmp>/{first}"
    return f"<tmp>/<name>{dot}{ending}" if stem else "<tmp>/<name>"


def _leave_client_port(found: re.Match[str]) -> str:
    return "" if _CLIENT_BEFORE.search(found.string, max(0, found.start() - 60), found.start()) else found[0]


def _leave_query(found: re.Match[str]) -> str:
    return "" if after_source(found) else found[0]


def _leave_asset(found: re.Match[str]) -> str:
    mark, name = found[0][0], found["hash"]
    plain = name.isdigit() or mark == "/"  # could be a number or a whole name, if it is short
    return found[0] if name.isalpha() or (plain and len(name) < 8) else f"{mark}<id>"


_WEB: Final = r"(?:(?<=http://)|(?<=https://)|(?<=ws://)|(?<=wss://))"

ADDRESS_RULES: Final = (
    rule(
        "data-url",
        r"data:(?<!\wdata:)([a-z]{1,20}/[a-z0-9.+-]{1,80})?(?:;[a-z0-9=-]{1,40}){0,8},[^\s\"'<>)]*",
        r"data:\1,<data>",
        "data",
        digits=False,
    ),
    rule("blob-url", r"blob:(?<!\wblob:)[^\s\"'<>)]+", "<blob>", "blob", digits=False),
    rule("url", rf"://{_WEB}([^\s\"'<>)\]|]+)", _leave_url, "http https ws wss", digits=False),
    rule("client-port", rf":(?<=[0-9\]t]:)[0-9]+(?= - \"?{any_of(METHODS)}\b)", "", METHODS),
    # Ports from 33000 on are what a system hands out to clients. Of a pair only one is such a port: the other is the server's.
    rule("client-port", rf":(?<=[0-9\]]:){_HANDED_OUT}(?=->)", "", ">"),
    rule("client-port", rf"(:{_FIXED}->{_HOST}):{_HANDED_OUT}(?![0-9])", r"\1", ">"),
    rule("client-port", rf":(?<=[0-9\]t]:){_HANDED_OUT}\b", _leave_client_port, "~colon"),
    *after("request", METHODS, r" \"?(?P<path>/[^\s\"'|)]*)", _leave_request, digits=False),
    rule(
        "request",
        r"localhost(?<!/localhost)(?::[0-9]{1,5})?(?P<path>/[^\s\"'<>)\]|]+)",
        _leave_request,
        "localhost",
        digits=False,
    ),
    rule(
        "temporary-path",
        r"/(?<![\w.]/)(?:private/)?(?:var/folders/[^/\s]{1,80}/[^/\s]{1,80}/[a-z0-9]|var/tmp|tmp|dev/shm)/"
        r"(?P<rest>[^\s'\"()<>:;,]+)",
        _leave_temporary,
        "tmp folders shm",
        digits=False,
    ),
    rule(
        "temporary-path",
        r"users\\[^\\\s]{1,80}\\appdata\\local\\temp\\(?P<rest>[^\s'\"()<>:;,]+)",
        _leave_temporary,
        "appdata",
        digits=False,
    ),
    rule("route", r"/(?<![^\s\"'(=\[:]/)[a-z_-][^\s\"'?)\]:,;]*(?:\?[^\s\"')\]]*)?", _leave_path, "~slash"),
    rule("query", r"\?[^\s'\"<>)\]:]*", _leave_query, "?", digits=False),
    rule(
        "asset-hash",
        r"[-._/](?P<hash>[0-9a-f]{6,40})(?=\.(?:(?:chunk|min|module|bundle|async)\.)?"
        rf"(?:{any_of(_ASSETS)}|woff2)\b)",
        _leave_asset,
        _ASSETS,
    ),
)
