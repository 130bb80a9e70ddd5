"""Find the known name that a wrong one was most likely meant to be, and ask for it in a hint."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` was most likely meant to be, or None."""
    from difflib import get_close_matches  # 5 ms, which only a wrong name needs

    by_fold = {item.casefold(): item for item in known}
    found = get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that asks for the nearest known name; empty where none comes near."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def hint_with_nearest(name: str, known: Iterable[str], rest: str) -> str:
    """Return a hint: the nearest known name where one comes near, then `rest`."""
    near = nearest(name, known)
    return f"Did you mean {near}? {rest}" if near else rest
