"""Uses a name that is not there, and not one that is."""

import os


def handle(error):
    return errors[error], 'Traceback (most recent call last):',  "connection refused"
