"""A cart that knows no prices."""


def price(item):
    raise LookupError(f"no price for {item}")
