"""Rearming: which harness notices a person or a program means whose conditions are gone."""

from collections.abc import Callable, Collection


def matcher(signatures: Collection[str], ctx: Collection[str]) -> Callable[[str, tuple[str, ...]], bool]:
    """True for those signatures, and for what depends only on ids in ``ctx``; for everything if both are empty."""
    if not signatures and not ctx:
        return lambda _, __: True
    named, gone = frozenset(signatures), frozenset(ctx)
    return lambda signature, ids: signature in named or (bool(ids) and gone.issuperset(ids))
