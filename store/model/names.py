"""Agent names of any script: which are allowed, and the one spelling of each (D6).

Below: the known name that a wrong one was most likely meant to be, names as words of file and table names, and names
that are easily taken for another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from unicodedata import category, normalize
from unicodedata import name as unicode_name

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
    return name, "".join(map(_with_tone_apart, name)), normalize("NFD", name)


_TONE_MARKS = "\u0300\u0301\u0303\u0309\u0323"
"""Grave, acute, tilde, hook above and dot below: the five written tones of Vietnamese."""


def _with_tone_apart(letter: str) -> str:
    """Return a letter with a mark and a tone (`ế`) as letter with mark, and tone; any other letter as it is."""
    parts = normalize("NFD", letter)
    if len(parts) < 3 or parts[-1] not in _TONE_MARKS:
        return letter
    return normalize("NFC", parts[:-1]) + parts[-1]


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


_ENCODED_MARK = "+"
"""How an encoded name begins; no name begins so."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Digits to the base 36, which no file system takes for others by their case."""
_BITS_PER_CHARACTER = 18
"""Of a character: letters, marks and digits stand below U+40000. 64 take 223 digits of the 255 of a file name."""


def encode_name(name: str) -> str:
    """Return a name as small ASCII letters and digits, which differ for each name whatever the case of letters."""
    number = 1  # in front of the first letter, so that none is lost as a leading zero
    for letter in name:
        number = number << _BITS_PER_CHARACTER | ord(letter)
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return _ENCODED_MARK + digits


def decode_name(word: str) -> str:
    """Return the name that a part of a file or table name stands for; one that is not encoded is the name itself."""
    if word.startswith(_ENCODED_MARK) and word.isascii() and word[1:].isalnum() and len(word) < LONGEST_WRITTEN:
        number, letters = int(word[1:], len(_DIGITS)), ""
        while number > 1:
            letters = chr(number & (1 << _BITS_PER_CHARACTER) - 1) + letters
            number >>= _BITS_PER_CHARACTER
        if is_name(letters) and encode_name(letters) == word:
            return letters
    return canonical(word)


def file_word(name: str, taken: Collection[str]) -> str:
    """Return what stands for `name` in a file name, beside files of other words.

    That is the name itself if it is ASCII and no other word differs from it in case only, which some file systems take
    for the same; else, or once it was encoded, the encoded name.

    Raises:
        TeamError: `INVALID_NAME` for a name that is not an agent's.
    """
    check_name(name, field="agent")
    if not name.isascii() or encode_name(name) in taken:
        return encode_name(name)
    folded = name.casefold()
    is_free = name in taken or all(other.casefold() != folded for other in taken)
    return name if is_free else encode_name(name)


_LOOKS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХԚԜаеіјкоѕсрухһԁԛԝӏүΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυγικχɡɩ",
    "ABESIJKMHOPCTYXQWaeijkoscpyxhdqwlyABEZHIKMNOPTYXavopuyikxgi",
)
"""Letters of other scripts -> the Latin ones they look like."""


_MOST_MIXED = 50
"""Names of mixed scripts that are compared with every other: a flood of them must not hold up a console."""


def look_alikes(names: Iterable[str]) -> dict[str, str]:
    """Return the names that are easily taken for another of `names` written in other letters, each with that one.

    Letters of Latin, Greek and Cyrillic look the same; in a name that mixes these scripts, any letter of another
    script than Latin may stand for the Latin one in its place.
    """
    by_look: dict[str, str] = {}
    found: dict[str, str] = {}
    mixed = 0
    for name in sorted(filter(is_name, names), key=lambda name: (not name.isascii(), name)):
        look = normalize("NFKC", name).translate(_LOOKS).casefold()
        other = by_look.setdefault(look, name)
        if other == name and not name.isascii() and mixed < _MOST_MIXED and len(_scripts(name)) > 1:
            mixed += 1
            other = next((by_look[each] for each in by_look if _may_pass(look, each)), name)
        if not name.isascii() and other.casefold() != name.casefold():
            found[name] = other
    return found


def _scripts(name: str) -> set[str]:
    """Return the scripts of its letters, of those with like letters."""
    return {_script(letter) for letter in name} & {"LATIN", "GREEK", "CYRILLIC"}


def _script(letter: str) -> str:
    """Return the script of a letter, which its name in Unicode begins with (`GREEK SMALL LETTER ALPHA`)."""
    return unicode_name(letter, "").partition(" ")[0]


def _may_pass(look: str, other: str) -> bool:
    """Return whether a look differs from another one in Greek and Cyrillic letters alone, each in the place of any."""
    if len(look) != len(other) or look == other:
        return False
    pairs = zip(look, other, strict=True)
    return all(one == two or _script(one) in ("GREEK", "CYRILLIC") for one, two in pairs)
