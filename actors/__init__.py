"""Actors: motion. pykka shells around the stages; they decide nothing."""
