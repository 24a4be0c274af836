"""Loose canonical form: the words of a message alone. Numbers, names, quoted strings, addresses and paths are all ``<*>``."""

from typing import Final

from .canonical_rules import Rules, after, any_of, rule

_VALUE_END: Final = r"\s,;)\]}\"'"
_TOP_LEVELS: Final = "com net org edu gov mil io dev local lan internal corp"
_PACKAGES: Final = "com org net io edu dev java javax"

LOOSE: Final = Rules(
    (
        rule("quoted", r"'[^']{0,400}'(?!\w)", "<*>", "'", digits=False),
        rule("quoted", r"\"[^\"]{0,400}\"", "<*>", '"', digits=False),
        rule("quoted", r"`[^`]{0,400}`", "<*>", "`", digits=False),
        rule("url", r"://[^\s\"'<>)\]]+", "<*>", "/", digits=False),
        rule("path", r"[/\\](?<![\w>*/\\][/\\])[\w.@%+~*:=$-]*(?:[/\\]+[\w.@%+~*:=$<>-]*)*", "<*>", "/ \\", digits=False),
        rule("placeholder", r"<[a-z]{1,12}>[\w.-]*", "<*>", "<", digits=False),
        rule("placeholder", r":id\b", "<*>", "id", digits=False),
        rule("value", rf"=(?<=[\w\]]=)(?!<\*>)(?:[^{_VALUE_END}{{]|\{{[^{{}}]{{0,400}}\}})+", "=<*>", "=", digits=False),
        rule(
            "account",
            r"user (?:(?<=for user )|(?<=by user )|(?<=invalid user )|(?<=unknown user ))\S+",
            "user <*>",
            "user",
            digits=False,
        ),
        *after("account", "password publickey none failure failures", r" for (?!invalid\b)\S+", "{} for <*>", digits=False),
        rule(
            "host",
            rf"[a-z0-9_-](?<![\w.-][a-z0-9_-])[a-z0-9_-]{{0,62}}\.(?:[a-z0-9_-]{{1,63}}\.){{0,7}}{any_of(_TOP_LEVELS)}\b(?![.\w])",
            "<*>",
            _TOP_LEVELS,
            digits=False,
        ),
        rule(
            "host",
            r"[a-z0-9_-](?<![\w.-][a-z0-9_-])[a-z0-9_-]{0,62}\.(?:[a-z0-9_-]{1,63}\.){1,7}[a-z]{2}\b(?![.\w])",
            "<*>",
            ".",
            digits=False,
        ),
        *after(
            "package",
            _PACKAGES,
            r"(?:\.(?!\w{0,60}(?:exception|error)\b)[\w$]{1,80}){2,20}(?:/[\w.$]{1,200})?(?![.\w])",
            "<*>",
            left=r"[\w.]",
            digits=False,
        ),
        *after("boolean", "true false null", r"\b", "<*>", digits=False),
        rule("hex", r"[0-9a-f](?<![\w-][0-9a-f])[0-9a-f]{7,}(?!\w)", "<*>", "~hex"),
        rule(
            "number",
            r"[a-z0-9_](?<!\w[a-z0-9_])(?:(?<=[0-9])|(?=[a-z_$-]{0,80}[0-9]))\w*(?:[.:@#/$-]{1,2}\w+)*(?: b\b)?",
            "<*>",
            "always",
        ),
        rule("number", r"-(?<!\w-)<\*>", "<*>", "-", digits=False),
        rule("pair", r"<\*> \((?:<\*>)?\)", "<*>", "(", digits=False),
        rule("list", r"[:=] ?(?=<\*>)", " ", "always", digits=False),
        rule("list", r"<\*>(?:[\s,.:;/|@_-]{0,3}<\*>)*", " <*>", "always", digits=False),
    )
)


def loosen(text: str) -> str:
    """The loose form of a standard form, so that what is the same at ``standard`` is the same here."""
    return LOOSE.apply(text)
