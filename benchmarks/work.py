"""Work: the same events for every competitor, seeded, as fresh strings, and the bare loop that the line is held against."""

import random
from collections.abc import Sequence
from hashlib import sha1
from typing import Final, Literal, get_args

from tocsin.contracts.events import Event
from tocsin.contracts.severity import SeverityName
from tocsin.pipeline.canonical import canonical

Shape = Literal["equal", "varied", "distinct"]
"""Duplicates word for word; duplicates with a changing time stamp, line or id in every text; no two alike."""

SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)
TEXTS: Final = 1_000
"""So many texts come again and again."""
DUPLICATES: Final = 0.95
"""This share of all events is one of them; the rest comes once."""
SOURCE: Final = "process_output"
SCOPE: Final = "web"

_TEMPLATES: Final = (
    'Error: Failed to resolve import "./{0}" from "src/{1}/index.tsx". Does the file exist? The alias {2} is in the config',
    "TypeError: Cannot read properties of undefined (reading '{0}') at render{1} (src/components/{2}.tsx) in a click handler",
    "src/{1}/{0}.ts: error TS2339: Property '{2}' does not exist on type 'Readonly<Props & {1}State>'. Did you mean {0}?",
    "WARNING in ./src/{0}/{1}.scss: Module Warning (from sass-loader): {2} is deprecated and will be removed in time",
    "[vite] http proxy error: /api/{0}/{1} Error: connect ECONNREFUSED, is the server behind {2} running, does it listen?",
    "sqlalchemy.exc.OperationalError: (psycopg.OperationalError) connection to {0} failed: role {1} can't open database {2}",
    "Unhandled rejection: the request to {0} was answered by {1} with something that is no JSON; it begins with <!doctype {2}>",
    "FAILED tests/{0}/test_{1}.py::test_{2}_keeps_its_order - AssertionError: the list of lanes differs from what was expected",
    "panic: interface conversion: interface {{}} is {0}.{1}, not *{0}.{2}, in the handler of the orders service, recovered",
    "warning: unused variable `{0}` in function {1} of the crate {2}; prefix it with an underscore, #[warn(unused_variables)]",
)
_SYLLABLES: Final = tuple(consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou")


def name(number: int) -> str:
    """A word for a number, letters only, so that no canonical form takes it for noise."""
    word = ""
    while True:
        number, rest = divmod(number, len(_SYLLABLES))
        word = _SYLLABLES[rest] + word
        if not number:
            return word.capitalize()


def text_of(number: int) -> str:
    """The text with this number: about 130 characters, as programs write them; no two numbers share a canonical form."""
    template = _TEMPLATES[number % len(_TEMPLATES)]
    return template.format(name(number + 500), name(number % 13 + 9), name(number % 7 + 99))


_KNOWN: Final = tuple(text_of(number) for number in range(TEXTS))


def known() -> tuple[str, ...]:
    """The texts that come again and again."""
    return _KNOWN


def texts(shape: Shape, count: int, first: int = 0, seed: int = 1) -> list[str]:
    """``count`` texts, the ``first``-th onwards, each a string of its own: no reader profits from what another one did."""
    if shape == "distinct":
        return [text_of(TEXTS + first + nth) for nth in range(count)]
    rnd = random.Random(f"{seed} {first}")
    chosen = [rnd.randrange(TEXTS) if rnd.random() < DUPLICATES else TEXTS + first + nth for nth in range(count)]
    if shape == "equal":
        return [text_of(number) if number >= TEXTS else _copy(_KNOWN[number]) for number in chosen]
    return [_varied(rnd, number, first + nth) for nth, number in enumerate(chosen)]


def _copy(text: str) -> str:
    return text[:40] + text[40:]


def _varied(rnd: random.Random, number: int, nth: int) -> str:
    """A time stamp in front, a line and column behind, or an id between: which of them belongs to the text."""
    text = _KNOWN[number] if number < TEXTS else text_of(number)
    match number // len(_TEMPLATES) % 3:
        case 0:
            second = nth // 1000
            return f"2031-05-01 {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.{nth % 1000:03} {text}"
        case 1:
            return f"{text} at src/main.tsx:{nth % 900 + 1}:{rnd.randrange(1, 80)}"
        case _:
            one, two, three, four, rest = text.split(" ", 4)
            return f"{one} {two} {three} {four} {_id(rnd, number)} {rest}"


def _id(rnd: random.Random, number: int) -> str:
    """A request's id, an object's address, a process id or a UUID: which of them belongs to the text, too."""
    digits = f"{rnd.getrandbits(112):028x}"
    match number // len(_TEMPLATES) // 3 % 4:
        case 0:
            return f"[req {digits[:12]}7f3a]"
        case 1:
            return f"in the object at 0x7f{digits[:10]}:"
        case 2:
            return f"[pid {int(digits[:4], 16) + 100}]"
        case _:
            return f"[{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-8{digits[15:18]}-{digits[:12]}]"


def events(
    contents: Sequence[str], to: str = "dev", severity: SeverityName = "warning", *, lanes: Sequence[str] = ()
) -> list[Event]:
    """The texts as events for one recipient, or for many in turn."""
    if not lanes:
        return [Event(text=text, to=to, source=SOURCE, scope=SCOPE, severity=severity) for text in contents]
    return [
        Event(text=text, to=lanes[nth % len(lanes)], source=SOURCE, scope=SCOPE, severity=severity)
        for nth, text in enumerate(contents)
    ]


def bare_loop(contents: Sequence[str], seen: dict[str, int]) -> None:
    """The limit: canonical form, sha1 and one look-up for each event, nothing else."""
    head = f"{SOURCE}\0{SCOPE}\0"
    for text in contents:
        print_ = sha1((head + canonical(text)).encode(), usedforsecurity=False).hexdigest()
        seen[print_] = seen.get(print_, 0) + 1


def lists(items: Sequence[Event], size: int = 500) -> list[Sequence[Event]]:
    """As a producer hands them over."""
    return [items[start : start + size] for start in range(0, len(items), size)]
