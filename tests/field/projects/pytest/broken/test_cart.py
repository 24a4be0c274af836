"""Four of these fail: two in the test, one in its program, one in its fixture."""

import pytest
from cart import price, total


@pytest.fixture
def database():
    raise ConnectionError("no database on port 5432")


def test_total():
    assert total([1, 2]) == 3


@pytest.mark.parametrize("item", ["tea", "milk"])
def test_price(item):
    assert price({"milk": {"price": 2}}, item) == 2


class TestCheckout:
    def test_pays(self, database):
        assert database

    def test_refuses_an_empty_cart(self):
        if total([]) < 1:
            pytest.fail("an empty cart was let through, though it has nothing in it to pay for")


def test_error_is_raised():
    with pytest.raises(KeyError):
        price({}, "tea")
