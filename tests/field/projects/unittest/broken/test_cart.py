"""One fails, one raises, one fails in a subtest, and one passes."""

import unittest

from cart import price


class CartTest(unittest.TestCase):
    def test_counts(self):
        self.assertEqual(len("tea"), 4)

    def test_price(self):
        self.assertEqual(price("tea"), 2)

    def test_error_is_raised(self):
        with self.assertRaises(LookupError):
            price("milk")

    def test_each(self):
        for item in ("tea", "milk"):
            with self.subTest(item=item):
                self.assertIn("t", item)
