"""Loads a cart and finds no price in it."""


def load():
    return {}["price"]


def total():
    try:
        return load()
    except KeyError as error:
        raise RuntimeError("no total") from error


total()
