"""``tocsin fingerprint``: which messages are the same, and why."""

import json
import sys
from collections.abc import Iterator
from io import BufferedIOBase
from itertools import groupby
from typing import Any, Final, cast, get_args

import click
import msgspec

from ..contracts.base import Level
from ..pipeline.canonical import canonical, explain
from ..pipeline.identity import FP_VERSION
from ..pipeline.identity import fingerprint as print_of
from ..pipeline.memo import Memo
from .words import json_option, print_json

_CHUNK: Final = 262_144
_SOURCE: Final = "process_output"
_NO_TEXT: Final = "Give a TEXT, two with --compare, or lines with --jsonl."


class _Line(msgspec.Struct, gc=False):
    """One line of input. Other fields are ignored: labelled data carries more than a fingerprint needs."""

    message: str
    source_tag: str | None = None
    scope: str | None = None


class _BadLine(click.ClickException):
    """A line without a message to take a fingerprint of."""

    exit_code = 2


@click.command(name="fingerprint")
@click.argument("text", nargs=-1)
@click.option("--jsonl", is_flag=True, help="Read JSON lines on standard input and print one fingerprint a line.")
@click.option(
    "--level",
    type=click.Choice(get_args(Level)),
    default="standard",
    show_default=True,
    help="How much counts as noise: only codes, case, space, a time stamp in front and :line:column at the end; also what is "
    "certainly volatile; also numbers, quoted strings, URLs, paths and names.",
)
@click.option("--source", metavar="TAG", default=_SOURCE, show_default=True, help="The source tag, where a line names none.")
@click.option("--scope", metavar="NAME", default="", help="The scope, such as a dev server's name, where a line names none.")
@click.option("--explain", "explained", is_flag=True, help="Also name what was replaced, and by which rule.")
@click.option("--compare", nargs=2, metavar="A B", help="Say whether two texts are the same: exit 0 if so, 1 if not.")
@json_option
@click.pass_context
def fingerprint(
    ctx: click.Context,
    text: tuple[str, ...],
    jsonl: bool,
    level: Level,
    source: str,
    scope: str,
    explained: bool,
    compare: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """Show the fingerprint of each TEXT: what is the same for tocsin has the same one.

    A fingerprint is the SHA-1 of source tag, scope and the canonical form of the message.

    \b
    tocsin fingerprint --explain "12:01:03 [vite] http proxy error: /api/me (x3)"
    tocsin fingerprint --compare "exit code 1 after 3s" "exit code 2 after 9s"
    tocsin fingerprint --jsonl < findings.jsonl | sort | uniq -c

    With --jsonl each line is an object with "message" and, if you like, "source_tag" and "scope"; other fields are ignored,
    empty lines are skipped. A line that is no such object ends the command with its number and exit code 2, after
    everything before it has been printed. With --json there is one object a text.
    """
    if sum((jsonl, compare is not None, bool(text))) != 1 or (jsonl and explained):
        raise click.UsageError("--explain does not go with --jsonl." if jsonl and explained else _NO_TEXT)
    shown = _Shown(level, source, scope, explained)
    if jsonl:
        _stream(shown, as_json)
    elif compare is not None:
        ctx.exit(0 if _compare(shown, *compare, as_json) else 1)
    for each in text:
        print_json(shown.content(each)) if as_json else _say_text(shown, each)


class _Shown(msgspec.Struct, frozen=True):
    """How a text is looked at."""

    level: Level
    source: str
    scope: str
    explained: bool

    def owner(self, row: "_Line") -> tuple[str, str]:
        """The source tag and scope of a line."""
        return (
            self.source if row.source_tag is None else row.source_tag,
            self.scope if row.scope is None else row.scope,
        )

    def content(self, text: str) -> dict[str, Any]:
        """What there is to say about one text."""
        content: dict[str, Any] = {
            "fingerprint": print_of(self.source, self.scope, text, self.level),
            "fp_version": FP_VERSION,
            "level": self.level,
            "canonical": printable(canonical(text, self.level)),
        }
        if self.explained:
            content["replaced"] = [
                {"rule": each.rule, "before": printable(each.before), "after": printable(each.after)}
                for each in explain(text, self.level)
            ]
        return content


def printable(text: str) -> str:
    """The text with lone surrogates, which no output takes, spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _say_text(shown: _Shown, text: str) -> None:
    content = shown.content(text)
    click.echo(content["fingerprint"])
    if shown.explained:
        click.echo(f"  canonical: {content['canonical']}")
        _say_replaced(content)


def _say_replaced(content: dict[str, Any]) -> None:
    for each in content.get("replaced", ()):
        click.echo(f"  {each['rule']}: {each['before']!r} → {each['after']!r}")


def _compare(shown: _Shown, one: str, other: str, as_json: bool) -> bool:
    a, b = shown.content(one), shown.content(other)
    same: bool = a["fingerprint"] == b["fingerprint"]
    at = None if same else _first_difference(a["canonical"], b["canonical"])
    if as_json:
        print_json({"same": same, "first_difference": at, "a": a, "b": b})
        return same
    click.echo("same" if same else "different")
    for name, content in (("a", a), ("b", b)):
        click.echo(f"{name}: {content['fingerprint']}  {content['canonical']}")
        _say_replaced(content)
    if at is not None:
        click.echo(f"they differ at character {at + 1}: {a['canonical'][at : at + 40]!r} / {b['canonical'][at : at + 40]!r}")
    return same


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _stream(shown: _Shown, as_json: bool) -> None:
    memo = Memo(shown.level)
    output = sys.stdout.buffer
    for number, lines in _chunks(cast(BufferedIOBase, sys.stdin.buffer)):
        rows, problem = _rows(lines, number)
        for (source, scope), alike in groupby(rows, shown.owner):
            texts = [row.message for row in alike]
            prints = memo.prints(source, scope, texts)
            if as_json:
                for print_, text in zip(prints, texts, strict=True):
                    print_json({"fingerprint": print_, "canonical": printable(canonical(text, shown.level))})
            else:
                output.write("".join([f"{print_}\n" for print_ in prints]).encode())
        output.flush()
        if problem is not None:
            raise problem


def _chunks(stream: BufferedIOBase) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines as they arrive, with the number of the first of them."""
    number, kept = 1, [b""]
    while chunk := stream.read1(_CHUNK):
        if b"\n" not in chunk:
            kept.append(chunk)
            continue
        *lines, rest = (b"".join(kept) + chunk).split(b"\n")
        yield number, lines
        number, kept = number + len(lines), [rest]
    yield number, [b"".join(kept)]


def _rows(lines: list[bytes], number: int) -> tuple[list[_Line], _BadLine | None]:
    """The lines up to the first that is no good, and what is wrong with that one."""
    rows: list[_Line] = []
    for place, line in enumerate(lines):
        if line and not line.isspace():
            try:
                rows.append(_row(line))
            except (ValueError, RecursionError) as error:
                return rows, _BadLine(f"standard input, line {number + place}: {error}")
    return rows, None


_decoder: Final = msgspec.json.Decoder(_Line)


def _row(line: bytes) -> _Line:
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        # Lone surrogates are legal in JSON, and a text cut in the middle of a character has one.
        try:
            content = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            raise error from None
        return msgspec.convert(content, _Line)
