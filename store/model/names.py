"""Agent names of any script: which are allowed, and the one spelling of each (D6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import category, normalize

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line

ALL = "all"
"""Reserved: every member of the team."""
USER = "user"
"""The human at the console."""

RULE = (
    "A name is 1 to 64 letters and digits of any script, '.', '_' and '-'. It has no blanks, no other signs, nothing "
    "that cannot be seen and no '..', and begins with neither '.' nor '-'."
)
"""What a name may be, in words for people."""
_LONGEST = 64
LONGEST_WRITTEN = 4 * _LONGEST
"""Characters of the longest name when its accents are written apart."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_SIGNS = frozenset("._-")
_UNSEEN = frozenset("\u180f\U00016fe4" + "".join(map(chr, range(0xFE00, 0xFE10))))
"""Marks that cannot be seen and may yet stand in a text for people, as behind an emoji."""


def canonical(text: str) -> str:
    """Return the one spelling (NFC) of a name that may be written with its accents apart.

    A text that is not ASCII never becomes ASCII: a Kelvin sign is no K. What is too long for a name stays as it is,
    since sorting a pile of a million accents takes hours.
    """
    if text.isascii() or len(text) > LONGEST_WRITTEN:
        return text
    composed = normalize("NFC", text)
    return text if composed.isascii() else composed


def spellings(name: str) -> tuple[str, str, str]:
    """Return the ways a name is written: composed, with tone marks apart (Vietnamese keyboards), decomposed."""
    if name.isascii():
        return name, name, name
    marks = "\u0300\u0301\u0303\u0309\u0323"
    apart = "".join(
        letter
        if len(parts := normalize("NFD", letter)) < 3 or parts[-1] not in marks
        else normalize("NFC", parts[:-1]) + parts[-1]
        for letter in name
    )
    return name, apart, normalize("NFD", name)


def as_name(value: object) -> str | None:
    """Return the agent name in `value` in its one spelling; None when it is none."""
    name = canonical(value) if isinstance(value, str) else None
    return name if name is not None and is_name(name) else None


def is_name(text: object) -> bool:
    """Return whether `text` is an agent's name in its one spelling."""
    # guard: names-stay-in-their-folder
    if not isinstance(text, str) or ".." in text:
        return False
    if text.isascii():
        return _NAME.fullmatch(text) is not None
    return (
        len(text) <= _LONGEST
        and (text[0] == "_" or category(text[0])[0] in "LN")
        and all(letter in _SIGNS or category(letter)[0] in "LMN" for letter in text)
        and not any(letter in _UNSEEN for letter in text)
        and safe_line(text) == text
        and canonical(text) == text
    )


# guard: names-checked
def check_name(text: object, *, field: str) -> str:
    """Return the agent name in `text` in its one spelling.

    Raises:
        TeamError: `INVALID_NAME` for anything that is not one, `all` included.
    """
    name = as_name(text)
    if name is None or name == ALL:
        hint = f"{ALL!r} means everybody; choose another name." if name else RULE
        raise TeamError(Code.INVALID_NAME, f"{field}: {text!r} is not an agent name", hint)
    return name


def refuse_case_twin(name: str, known: Iterable[str], *, field: str) -> None:
    """Refuse a new name that differs from a known one in upper and lower case only.

    Raises:
        TeamError: `INVALID_NAME` naming both.
    """
    twin = next((other for other in known if other != name and other.casefold() == name.casefold()), None)
    if twin is not None:
        text = f"{field}: {name} differs from {twin} in upper and lower case only"
        raise TeamError(Code.INVALID_NAME, text, "Choose a name that nobody takes for the other.")
