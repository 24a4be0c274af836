"""Loose canonical form: the words of a message alone. Numbers, names, quoted strings, addresses and paths are all ``<*>``."""

from typing import Final

from .canonical_rules import Rules, rule

_ALWAYS: Final = "always"
_VALUE_END: Final = r"\s,;)\]}\"'"

LOOSE: Final = Rules(
    (
        rule("quoted", r"'[^']{0,400}'(?!\w)|\"[^\"]{0,400}\"|`[^`]{0,400}`", "<*>", _ALWAYS),
        rule("url", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]]+", "<*>", _ALWAYS),
        rule("path", r"(?<![\w.~/>*])(?:[a-z]:|~|\.{1,2})?[/\\][\w.@%+~*:=$-]*(?:[/\\]+[\w.@%+~*:=$<>-]*)*", "<*>", _ALWAYS),
        rule("placeholder", r"<[a-z ]{1,12}>[\w.-]*|:id\b", "<*>", _ALWAYS),
        rule("value", rf"(?<=[\w\]]=)(?!<\*>)(?:[^{_VALUE_END}{{]|\{{[^{{}}]*\}})+", "<*>", _ALWAYS),
        rule("account", r"\b((?:for|by|invalid|unknown) user|(?:password|publickey|none|failures?) for) (?!invalid\b)\S+", r"\1 <*>", _ALWAYS),
        rule("host", r"(?<![\w.-])(?:[a-z0-9_-]{1,63}\.){1,8}(?:com|net|org|edu|gov|mil|io|dev|local|lan|internal|corp)\b(?![.\w])", "<*>", _ALWAYS),
        rule("host", r"(?<![\w.-])(?:[a-z0-9_-]{1,63}\.){2,8}[a-z]{2}\b(?![.\w])", "<*>", _ALWAYS),
        rule("package", r"(?<![\w.])(?:com|org|net|io|edu|dev|java|javax)(?:\.(?!\w{0,60}(?:exception|error)\b)[\w$]{1,80}){2,20}(?:/[\w.$]{1,200})?(?![.\w])", "<*>", _ALWAYS),
        rule("boolean", r"\b(?:true|false|null)\b", "<*>", _ALWAYS),
        rule("hex", r"(?<![\w-])[0-9a-f]{8,}(?!\w)", "<*>", _ALWAYS),
        rule("number", r"(?<![\w])-?(?=[a-z_$-]{0,80}\d)\w+(?:[.:@#/$-]{1,2}\w+)*(?: b\b)?", "<*>", _ALWAYS),
        rule("pair", r"<\*> \((?:<\*>)?\)", "<*>", _ALWAYS),
        rule("list", r"[:=]? ?<\*>(?:[\s,.:;/|@_-]{0,3}<\*>)*", " <*>", _ALWAYS),
    )
)


def loosen(text: str) -> str:
    """The loose form of a standard form, so that what is the same at ``standard`` is the same here."""
    return " ".join(LOOSE.apply(text).split())
