"""Wrapped by the hooks of pairs.py."""


def bare() -> int:
    """Called as it is."""
    return 1


def wrapped() -> int:
    """Called through the hooks' wrapper."""
    return 1
