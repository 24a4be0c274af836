"""Identity: one function says what is the same, and nothing can be mistaken for something else."""

import json
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.pipeline.canonical import canonical, explain
from tocsin.pipeline.canonical_loose import LOOSE
from tocsin.pipeline.identity import FP_VERSION, digest, fingerprint
from tocsin.pipeline.volatile import STANDARD

VECTORS = json.loads((Path(__file__).parent / "fingerprint_vectors.json").read_text(encoding="utf-8"))
NAMES = st.text(st.characters(blacklist_characters="\0"), max_size=8)


def test_the_fingerprint_is_the_published_formula():
    expected = sha1(b"process_output\0web\0error 7 after <span>").hexdigest()
    assert fingerprint("process_output", "web", "Error 7 after 12ms") == expected
    assert expected == "3a0a3c2d072e10a9a5d248500b1df9d594785dbe"


@given(NAMES, NAMES, st.text(max_size=30), st.sampled_from(["strict", "standard", "loose"]))
def test_the_formula_holds_for_any_text(source, scope, message, level):
    plain = f"{source}\0{scope}\0{canonical(message, level)}".encode("utf-8", "surrogatepass")
    assert fingerprint(source, scope, message, level) == sha1(plain).hexdigest()


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["message"][:40])
def test_the_recipe_does_not_change_within_a_version(vector):
    # Where this fails, the recipe has changed: give it a new FP_VERSION and vectors of its own.
    assert VECTORS["fp_version"] == FP_VERSION == 1
    assert canonical(vector["message"], vector["level"]) == vector["canonical"]
    print_ = fingerprint(
        vector["source"], vector["scope"], vector["message"], vector["level"], frame=vector["frame"], key=vector["key"]
    )
    assert print_ == vector["fingerprint"]


def rules_used(level, beyond=None):
    used = set()
    for vector in VECTORS["vectors"]:
        if vector["level"] == level:
            known = len(explain(vector["message"], beyond)) if beyond else 0
            used |= {each.rule for each in explain(vector["message"], level)[known:]}
    return used


def test_the_vectors_show_every_rule_at_its_level():
    codes = {"escape-sequence", "left-over-colour", "invisible-character", "unicode-form", "white-space"}
    assert rules_used("strict") >= codes | {"time-stamp", "line-column", "case-and-space"}
    assert rules_used("standard") >= {each.name for each in STANDARD.table} | {"source-line-number"}
    assert rules_used("loose", "standard") >= {each.name for each in LOOSE.table}


@pytest.mark.parametrize("level", ["strict", "standard", "loose"])
def test_the_vectors_show_the_formula_with_a_frame_and_with_a_key(level):
    shown = [(bool(v["frame"]), bool(v["key"])) for v in VECTORS["vectors"] if v["level"] == level]
    assert {(False, False), (True, False), (False, True), (True, True)} <= set(shown)


def test_the_default_level_is_standard():
    assert fingerprint("a", "b", "took 12ms") == fingerprint("a", "b", "took 9ms", "standard")
    assert fingerprint("a", "b", "took 12ms", "strict") != fingerprint("a", "b", "took 9ms", "strict")


def test_source_and_scope_count():
    prints = {fingerprint(source, scope, "m") for source in ("a", "b") for scope in ("", "x", "y")}
    assert len(prints) == 6


def test_a_frame_counts_with_its_file_and_function_but_not_its_line():
    def at(frame):
        return fingerprint("browser_js", "web", "TypeError: x is undefined", frame=frame)

    assert at("total (src/cart.ts:12:7)") == at("total (src/cart.ts:19:3)")
    assert len({at("total (src/cart.ts:12:7)"), at("total (src/pay.ts:12:7)"), at("sum (src/cart.ts:12:7)"), at("")}) == 4


def test_a_frame_counts_without_its_line_at_every_level():
    for level in ("strict", "standard", "loose"):
        assert fingerprint("a", "b", "m", level, frame="cart.py:12 in total") == fingerprint(
            "a", "b", "m", level, frame="cart.py:19 in total"
        )


def test_the_producers_key_wins_and_counts_as_it_is():
    def keyed(key, message="m", frame=""):
        return fingerprint("a", "b", message, key=key, frame=frame)

    assert keyed("order-17") == keyed("order-17", "another message", "another frame")
    assert len({keyed("order-17"), keyed("order-18"), keyed("ORDER-17"), keyed("order-17 "), keyed("")}) == 5


@given(st.text(min_size=1, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_a_key_is_never_mistaken_for_a_message_or_a_frame(key, message, frame):
    assert fingerprint("a", "b", "", key=key) != fingerprint("a", "b", message, frame=frame)


@given(st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_a_message_with_a_frame_is_never_a_message_without(message, other):
    assert fingerprint("a", "b", message, frame="f in g") != fingerprint("a", "b", other)


def test_a_nul_in_a_name_can_not_move_the_border_to_the_message():
    assert fingerprint("a\0b", "c", "m") != fingerprint("a", "b\0c", "m")


@pytest.mark.parametrize("message", ["\ud800", "a \udcff b", "\udfff\ud800 12ms"])
def test_lone_surrogates_have_a_fingerprint_of_their_own(message):
    plain = fingerprint("a", "b", "a  b")
    assert len({fingerprint("a", "b", message), plain, fingerprint("a", "b", f"{message}x")}) == 3
    assert fingerprint("\ud800", "\udfff", message) == fingerprint("\ud800", "\udfff", message)
    assert fingerprint("a", "b", "m", key="\ud800") != fingerprint("a", "b", "m", key="\ud801")


def test_a_canonical_form_can_be_given_by_itself():
    assert digest("a", "b", canonical("took 12ms")) == fingerprint("a", "b", "took 9s")
