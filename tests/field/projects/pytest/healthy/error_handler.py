"""Handles errors: everything about it is called error, and nothing is one."""

import logging


class CartError(Exception):
    """What the cart raises."""


def handle_error(error):
    logging.getLogger("error_handler").info("handled an error: %s, errors: 0", error)
    return f"handled {error}"


def fail(reason):
    raise CartError(reason)
