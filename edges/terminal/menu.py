"""Menu: rows of which one is marked, to be moved and chosen with keys."""

import re
from typing import Final, NamedTuple

from .lines import Line
from .question import heads_list, hints

_NUMBERED: Final = re.compile(r"\(?\d{1,2}[.):]\s+\S")
_CHOICE: Final = re.compile(
    r"(?:[○◯◻☐●◉]\s*|\[[ x]\]\s*)?"
    r"(?:yes|no|allow|deny|approve|reject|accept|decline|proceed|cancel|continue|abort|quit|exit|skip|always|never|trust)\b",
    re.IGNORECASE,
)
_COMPOSES: Final = frozenset(">❯›»→▌")
"""Pointers that programs put before the line to be written, too."""
_BULLETS: Final = frozenset("●◉")
"""Pointers that mark paragraphs, too: with words or numbers of a choice only."""
_FOOTER: Final = re.compile(r"\?\s+for\b|.*(?:\b(?:esc|ctrl|shift|tab|alt)\b|[⏎⌃⇧]|⏵⏵|\bshortcuts\b)", re.IGNORECASE)
_RADIO: Final = re.compile(r"(?P<set>[●◉⦿◎]|\([*•xX]\))?(?(set)|(?:[○◯]|\( \)))\s+\S")
_BOX: Final = re.compile(r"(?:[○◯◻◼☐☑☒●◉⦿◎✔]|\[[ xX*]\]|\([ •*xX]\))\s+\S")
_TOGGLE: Final = re.compile(r"(?:●\s*\w[\w ]{0,40}?(?:/|  )\s*○|○\s*\w[\w ]{0,40}?(?:/|  )\s*●)\s*\w")
_WORD: Final = r"(?:ok|yes|no|cancel|next|back|help|exit|quit|select|finish|accept|decline|abort|retry|continue|done|save|skip)"
_BUTTON: Final = rf"(?:<\s*{_WORD}\s*>|\[\s*{_WORD}\s*\])"
_BUTTONS: Final = re.compile(rf"(?:^|\s){_BUTTON}(?:\s{{2,}}{_BUTTON})+(?:\s|$)", re.IGNORECASE)
_OPEN: Final = re.compile(r"[◆▲◇■]\s{2}\S")
_GAP: Final = 3
"""Options may wrap or carry lines of explanation, but not more than these."""


class Menu(NamedTuple):
    """Where it stands. ``sure`` says that its words, too, are those of a choice."""

    first: int
    last: int
    sure: bool


def menus(lines: list[Line], cursor: int | None) -> list[Menu]:
    """All that can be seen in ``lines``; a list in a text marks none of its rows or all."""
    found = [menu for at, line in enumerate(lines) if line.mark and (menu := _pointed(lines, at, cursor))]
    found += _boxes(lines, cursor)
    found += [Menu(at, at, True) for at, line in enumerate(lines) if _in_one_row(line.text)]
    return found + _frames(lines)


def _pointed(lines: list[Line], at: int, cursor: int | None) -> Menu | None:
    above, below = _others(lines, at, -1), _others(lines, at, 1)
    if above is None or below is None or not above + below:
        return None
    menu = Menu(min([at, *above]), max([at, *below]), True)
    if _composed(lines, menu, at, cursor):
        return None
    for kind in (_NUMBERED, _CHOICE):
        if kind.match(lines[at].label) and any(kind.match(lines[row].text) for row in above + below):
            return menu
    if lines[at].mark in _BULLETS:
        return None
    below = [row for row in below if not _FOOTER.match(lines[row].text)]
    around = lines[max(0, menu.first - 1) : menu.first] + lines[menu.last + 1 : menu.last + 4]
    if any(hints(line.text) for line in around):
        return menu
    close = at - 1 in above, at + 1 in below
    return menu._replace(sure=False) if any(close) and _chosen(lines, menu, at, cursor) else None


def _composed(lines: list[Line], menu: Menu, at: int, cursor: int | None) -> bool:
    """True if a composer holds these lines: they stand between two rules, or the cursor is in them and nothing says choose."""
    if at > menu.first or lines[at].mark not in _COMPOSES:
        return False
    before, after = lines[max(0, at - 2) : at], lines[menu.last + 1 : menu.last + 4]
    if before and after and before[-1].rule and after[0].rule:
        return True
    says = any(heads_list(line.text) for line in before) or any(hints(line.text) for line in after)
    return cursor is not None and at <= cursor <= menu.last and not says


def _chosen(lines: list[Line], menu: Menu, at: int, cursor: int | None) -> bool:
    """True if rows that say nothing of a choice are a menu nevertheless, rather than some lines behind a composer's mark."""
    if at > menu.first or lines[at].mark not in _COMPOSES:
        return True
    head = lines[at - 1] if at else None
    if head is None or head.rule:
        return False
    if heads_list(head.text):
        return True
    elsewhere = cursor is not None and not menu.first <= cursor <= menu.last
    if not head.text and at > 1:
        return elsewhere and heads_list(lines[at - 2].text)
    return elsewhere and bool(head.text) and not head.text.endswith(".")


def _others(lines: list[Line], at: int, step: int) -> list[int] | None:
    """The rows in one direction that stand under or over the marked row's text, none of them marked; else ``None``."""
    marked, found, gap = lines[at], [], 0
    slack = 1 if _NUMBERED.match(marked.label) else 0
    row = at + step
    while 0 <= row < len(lines) and gap <= _GAP:
        line = lines[row]
        if line.mark == marked.mark and line.column == marked.column:
            return None
        if line.rule or (line.text and line.column < marked.after_mark - slack):
            break
        if line.text and abs(line.column - marked.after_mark) <= slack:
            found.append(row)
            gap = 0
        else:
            gap += 1
        row += step
    return found


def _boxes(lines: list[Line], cursor: int | None) -> list[Menu]:
    """Rows that all begin with a button or a box: one of the buttons is set, or the cursor is among the boxes."""
    found, first = [], 0
    for at in range(len(lines) + 1):
        if at < len(lines) and _BOX.match(lines[at].text) and lines[at].column == lines[first].column:
            continue
        if at - first >= 2 and _set(lines, first, at, cursor):
            found.append(Menu(first, at - 1, True))
        first = at if at < len(lines) and _BOX.match(lines[at].text) else at + 1
        if first == len(lines):
            break
    return found


def _set(lines: list[Line], first: int, end: int, cursor: int | None) -> bool:
    buttons = [match for line in lines[first:end] if (match := _RADIO.match(line.text))]
    one_set = len(buttons) == end - first and sum(bool(match["set"]) for match in buttons) == 1
    return one_set or (cursor is not None and first <= cursor < end)


def _in_one_row(text: str) -> bool:
    if "○" in text and "●" in text:
        return bool(_TOGGLE.search(text))
    return ("<" in text or "[" in text) and bool(_BUTTONS.search(text))


def _frames(lines: list[Line]) -> list[Menu]:
    """A question that stands open in a frame along the left: its sign is a filled one, and the frame's foot holds nothing.

    Where an answer was refused, the sign is a triangle, and the foot, right below the answer, says why.
    """
    heads = [at for at, line in enumerate(lines) if _OPEN.match(line.text)]
    if not heads:
        return []
    head = foot = heads[-1]
    foot += 1
    while foot < len(lines) and lines[foot].framed:
        foot += 1
    if foot == head + 1 or foot == len(lines):
        return []
    sign, end, last = lines[head].text[0], lines[foot], lines[foot - 1]
    refused = sign == "▲" and bool(last.text) and end.text.startswith("└")
    return [Menu(head, foot, True)] if refused or (sign == "◆" and end.rule) else []
