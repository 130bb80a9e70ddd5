"""Agent names: the grammar that keeps them inside their folder, and the nearest name for a typing slip (D6)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from team_console.store.model.errors import Code, TeamError

ALL = "all"
"""Reserved: every member of the team."""
USER = "user"
"""The human at the console."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def is_name(text: object) -> bool:
    """Whether `text` may be an agent's name, and so a part of a file name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None and ".." not in text


def check_name(text: object, *, field: str = "name") -> str:
    """Return `text` when it is a usable agent name.

    Raises:
        TeamError: `INVALID_NAME` for anything that is not one, `all` included.
    """
    if isinstance(text, str) and is_name(text) and text != ALL:
        return text
    raise TeamError(
        Code.INVALID_NAME,
        f"{field}: {text!r} is not an agent name",
        "A name is 1-64 letters, digits, dots, dashes or underscores, begins with a letter or digit and has no '..'.",
    )


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be, or None."""
    from difflib import get_close_matches

    by_fold = {item.casefold(): item for item in known}
    found = get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that asks for the nearest known name; empty where none comes near."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""
