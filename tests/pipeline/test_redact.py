"""Redact: secrets in well-known shapes are masked; the words around them stay, and so does everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.pipeline.redact import MASK, redact

LETTERS = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz"


def key(prefix: str, length: int) -> str:
    """A made-up key; put together here, so that no scanner takes this file for a leak."""
    return prefix + LETTERS[:length]


SHAPES = {
    "model provider": key("sk-ant-", 40),
    "project key": key("sk-proj-", 40),
    "payment": key("sk_live_", 24),
    "publishable": key("pk_test_", 24),
    "github token": key("ghp_", 36),
    "github fine-grained": key("github_pat_", 40),
    "gitlab": key("glpat-", 20),
    "slack": key("xoxb-", 24),
    "aws": "AKIA" + "ABCDEFGHIJ234567",
    "google": key("AIza", 35),
    "npm": key("npm_", 36),
    "pypi": key("pypi-", 60),
    "web token": "eyJ" + "hbGciOiJIUzI1" + ".eyJ" + "zdWIiOiIxMjM0" + ".s5tXo4Zq_9Wd",
}


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES.keys())
def test_a_secret_of_a_known_shape_is_masked_and_the_words_around_it_stay(secret: str) -> None:
    assert redact(f"login with {secret} failed") == "login with [masked] failed"
    assert redact(secret) == MASK


@pytest.mark.parametrize("before", ["=", ":", "/", "_", '"', "(", r"\n"])
def test_what_stands_before_a_secret_does_not_hide_it(before: str) -> None:
    assert redact(before + SHAPES["model provider"]) == f"{before}[masked]"
    assert redact(before + SHAPES["payment"]) == f"{before}[masked]"


def test_a_private_key_is_masked_whole_over_its_lines() -> None:
    begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
    assert redact(f"before\n{begin}\nMIIEow\nIBAAKC\n{end}\nafter") == "before\n[masked]\nafter"


def test_a_private_key_whose_end_was_cut_off_is_masked_to_the_end() -> None:
    assert redact("before\n-----BEGIN PRIVATE " + "KEY-----\nMIIEow\nIBAAKC") == "before\n[masked]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [masked]"),
        ("authorization: basic dXNlcjpwdw==", "authorization: basic [masked]"),
        ("postgres://app:hunter22@db:5432/main", "postgres://app:[masked]@db:5432/main"),
        ("https://user:p4ss@example.org/x", "https://user:[masked]@example.org/x"),
        ("password=hunter22", "password=[masked]"),
        ("DB_PASSWORD: hunter22", "DB_PASSWORD: [masked]"),
        ('"api_key": "abcdef123456"', '"api_key": "[masked]"'),
        ("access-token=abcdef123456&x=1", "access-token=[masked]&x=1"),
        ("CLIENT_SECRET='abcdef123456'", "CLIENT_SECRET='[masked]'"),
    ],
)
def test_the_value_of_a_pair_that_names_a_secret_is_masked(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong",
        "password: undefined",
        "token = null",
        "secret=short",
        "unexpected token '}' at line 3",
        "https://example.org:8080/path",
        "monkey=banana-split",
        "key=value-of-a-map",
        "sk-short",
        "AKIA is a prefix",
        "task_list_has_a_very_long_name_here",
        "risk-management-for-absolute-beginners-volume-2",
        "pod disk-usage-monitoring-service-7f9c is gone",
        "network_test_integrationsuite01 failed",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=200), st.sampled_from(sorted(SHAPES.values())), st.text(max_size=200))
def test_no_surroundings_let_a_secret_through_twice(before: str, secret: str, after: str) -> None:
    shown = redact(f"{before} {secret} {after}")
    assert secret not in shown


@given(st.text(max_size=300))
def test_doing_it_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_a_long_line_without_a_secret_is_read_once() -> None:
    assert redact("passw" * 60_000) == "passw" * 60_000
    assert redact("a" * 300_000 + "://") == "a" * 300_000 + "://"
