"""Redact: secrets in well-known shapes are masked before anything is shown or spilled."""

import re

# A word may end in these letters (risk-, network_test_); in quoted text a line may begin behind the letter of its escape.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_SHAPES = (
    _START + r"sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}",  # API keys of model providers
    _START + r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",  # payment keys
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JSON web tokens
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)
_PAIRS = (
    r"(?P<word>authorization:\s*(?:bearer|basic)\s+)[^\s\"']+",
    r"(?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,100}:)[^\s@/]{1,200}(?=@)",
    r"(?P<name>(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)\b[\"']?\s{0,3}[=:]\s{0,3}[\"']?)"
    r"(?!\s|\[masked\]|null\b|none\b|true\b|false\b|undefined\b)[^\s\"',;&)]{6,}",
)
_SECRET = re.compile("|".join(f"(?:{shape})" for shape in _SHAPES))
_PAIR = re.compile("|".join(f"(?:{pair})" for pair in _PAIRS), re.IGNORECASE)
# A text without any of these holds none of the shapes; finding that out is many times cheaper than the expressions.
_HINT = re.compile(r"sk[-_]|[rp]k_|gh[pousr]_|github_pat|glpat|xox|AKIA|ASIA|AIza|npm_|pypi-|eyJ|-----BEGIN")
_PAIR_HINT = re.compile(r"authorization|://|passw|secret|token|key", re.IGNORECASE)

MASK = "[masked]"


def redact(text: str) -> str:
    """The text with every secret of a known shape replaced by ``[masked]``; the words around it stay."""
    if _HINT.search(text):
        text = _SECRET.sub(MASK, text)
    if _PAIR_HINT.search(text):
        text = _PAIR.sub(_mask_value, text)
    return text


def _mask_value(match: re.Match[str]) -> str:
    return (match["word"] or match["url"] or match["name"] or "") + MASK
