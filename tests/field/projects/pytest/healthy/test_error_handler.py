"""All of these pass, with names and output that sound like failures."""

import unittest

import pytest
from error_handler import CartError, fail, handle_error


def test_error_is_raised():
    with pytest.raises(CartError, match="no price"):
        fail("no price")


@pytest.mark.parametrize("message", ["TypeError: fetch failed", "connection refused", "FAILED", "panic: nil map", "exit 1"])
def test_failed_request_is_handled(message):
    print(f"handling {message!r}")
    assert handle_error(message) == f"handled {message}"


@pytest.mark.parametrize("number", range(400))
def test_error_number(number):
    print("0 errors, 0 failures", "errors: 0", "0 problems", sep="\n")
    assert handle_error(number)


@pytest.mark.skip(reason="error: not on this machine")
def test_fatal_error():
    fail("fatal")


@pytest.mark.xfail(raises=CartError, strict=True)
def test_exception_that_is_expected():
    fail("CartError: expected")


class ErrorHandlerTest(unittest.TestCase):
    def test_error_is_raised(self):
        with self.assertRaises(CartError):
            fail("no price")

    def test_no_errors(self):
        self.assertEqual(handle_error("x"), "handled x")

    @unittest.skip("error: not on this machine")
    def test_failure(self):
        fail("failure")
