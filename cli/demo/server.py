"""The demo's dev server: starts, breaks, floods, restarts under its own proxy, recovers, breaks for good. A plain program."""

import sys
import time
from collections.abc import Iterator

TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/cart.py", line {line}, in total
    return sum(item.price for item in items)
  File "/srv/shop/models.py", line 88, in price
    return self.amount * self.currency.rate
AttributeError: 'NoneType' object has no attribute 'rate'"""

Line = tuple[float, str]
"""Seconds to wait before it, and what is printed."""


def _healthy(number: int) -> Iterator[Line]:
    for nth in range(number):
        yield 0.15, f'127.0.0.1 - "GET /api/items/{nth + 1} HTTP/1.1" 200 OK'


def script() -> Iterator[Line]:
    """Everything that it prints, with the pauses between."""
    yield 0.3, "  VITE v5.4.2  ready in 312 ms"
    yield from _healthy(6)
    for nth in range(40):  # one mistake, forty requests
        yield 0.04, TRACEBACK.format(line=31 + nth % 2)
    yield 9.0, "[vite] server restarting due to config change..."
    for nth in range(30):  # its proxy complains while the back end is away
        yield (
            0.03,
            f"10:14:{nth:02} AM [vite] http proxy error: /api/items?page={nth}\nError: connect ECONNREFUSED 127.0.0.1:8000",
        )
    yield 0.1, "loading shop.models"
    yield 0.1, '  File "/srv/shop/models.py", line 12\n    class Item(:\n               ^\nSyntaxError: invalid syntax'
    yield 1.2, "[vite] server restarted."
    yield from _healthy(4)
    for nth in range(160):  # far more different errors than anybody wants to read
        yield 0.01, f"ERROR cache: entry {_word(nth)} could not be refreshed"
    yield 14.0, "Segmentation fault (core dumped)"


def _word(number: int) -> str:
    """A different word for each number: letters, because digits may be noise."""
    return "".join("bcdfgklmnprst"[number // 13**place % 13] + "aeiou"[number // 13**place % 5] for place in range(3))


def main() -> None:
    """Print it all, then end as a server that crashed."""
    for pause, text in script():
        time.sleep(pause)
        print(text, file=sys.stderr, flush=True)
    sys.exit(139)


if __name__ == "__main__":
    main()
