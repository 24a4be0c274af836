"""Proof: a submission is proved by an answer, or by text that left the composer; an echo proves nothing."""

import pytest

from tocsin.edges.terminal.proof import Look, began_a_line, submitted

TEXT = "tocsin: web has 2 errors\n- TypeError in checkout\n- 500 on POST /api/orders"


def proved(before: list[str], after: list[str], text: str = TEXT, gone: tuple[str, ...] = ()) -> bool:
    return submitted(text, Look(before, 7, ("older",)), Look(after, 7 + len(gone), ("older", *gone)))


SHOWN = [
    "welcome",
    "> tocsin: web has 2 errors",
    "  - TypeError in checkout",
    "  - 500 on POST /api/orders",
    "  ready 12:00:01",
]


def test_an_answer_proves_it() -> None:
    assert proved(SHOWN, [*SHOWN[:4], "* Thinking", SHOWN[4]])


def test_text_that_left_the_composer_proves_it() -> None:
    assert proved(SHOWN, ["welcome", ">", "", "", "  ready 12:00:01"])


@pytest.mark.parametrize(
    "after",
    [
        SHOWN,
        [*SHOWN[:4], "", SHOWN[4]],
        [*SHOWN[:4], "  ready 12:00:02"],
        [*SHOWN, "tocsin: web has 2 errors", "- TypeError in checkout", "- 500 on POST /api/orders"],
        [*SHOWN, "tocsin: web has 2 errors - TypeError in checkout - 500 on POST /api/orders"],
        [*SHOWN[:4], "│   │", SHOWN[4], "⠋", "12 %"],
    ],
    ids=["nothing", "a blank row", "a clock", "an echo", "an echo in one row", "frames and numbers"],
)
def test_echoes_frames_and_clocks_prove_nothing(after: list[str]) -> None:
    assert not proved(SHOWN, after)


def test_text_that_scrolled_away_did_not_leave_the_composer() -> None:
    assert not proved(SHOWN, SHOWN[2:], gone=tuple(SHOWN[:2]))


def test_text_that_scrolled_away_below_a_header_did_not_either() -> None:
    header = ["my agent 1.0", "----"]
    assert not proved([*header, *SHOWN], [*header, *SHOWN[3:], "", ""], gone=tuple(SHOWN[:3]))


def test_the_same_answer_as_before_counts_again_on_a_full_screen() -> None:
    before = [
        "* Read your message of 12 characters",
        "> old",
        "* Read your message of 30 characters",
        "> tocsin: web has 2 errors",
    ]
    after = [*before[2:], "* Read your message of 26 characters", ">"]
    assert proved(before, after, "tocsin: web has 2 errors", gone=tuple(before[:2]))


def test_a_composer_that_grew_by_a_row_proves_nothing() -> None:
    before = ["* one", "* two", "> tocsin: web has 2 errors"]
    assert not proved(before, [*before[1:], ""], "tocsin: web has 2 errors", gone=tuple(before[:1]))


def test_a_paste_that_is_only_summed_up_counts_by_the_answer() -> None:
    before = ["> [Pasted text #1 +3 lines]"]
    assert not proved(before, before)
    assert proved(before, ["> tocsin: web has 2 errors", "● Looking into it"])


BLOCK = "one\ntwo\n  three"
MARKED = ["welcome", ">>> one", "... two", "...   three"]


def stands(before: list[str], after: list[str], at: int, row: int, text: str = BLOCK) -> bool:
    return began_a_line(text, Look(before, 0, row=at), Look(after, 0, row=row))


def test_a_mark_alone_under_the_text_says_that_it_still_stands() -> None:
    assert stands(MARKED, [*MARKED, "..."], 3, 4)
    assert stands(MARKED, [*MARKED, "...", "..."], 3, 5)
    assert stands(MARKED, [*MARKED[1:], "...  "], 3, 3), "the screen moved up"
    long = [">>> " + "x" * 16, "x" * 20, "... " + "y" * 16, "y" * 20]
    assert stands(long, [*long, "..."], 3, 4, "x" * 36 + "\n" + "y" * 36), "rows are wrapped"


@pytest.mark.parametrize(
    ("before", "after", "at", "row"),
    [
        (MARKED, [*MARKED, ">>>"], 3, 4),
        (MARKED, [*MARKED, ""], 3, 4),
        (MARKED, [*MARKED, "Error", "..."], 3, 5),
        (MARKED, ["welcome", ">>>", "", ""], 3, 1),
        (MARKED, MARKED, 3, 3),
        (["> one", "> two", ">   three"], ["> one", "> two", ">   three", ">"], 2, 3),
        (["one", "two", "  three"], ["one", "two", "  three", ""], 2, 3),
        (["> one two three"], ["> one two three", ">"], 0, 1),
    ],
    ids=["prompt", "nothing", "answer", "cleared", "unchanged", "one mark for all", "no marks", "one line"],
)
def test_nothing_else_says_so(before: list[str], after: list[str], at: int, row: int) -> None:
    assert not stands(before, after, at, row)
