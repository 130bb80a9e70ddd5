"""Write names as words of file and table names: as they are, or as ASCII that no file system confuses."""

from __future__ import annotations

from collections.abc import Collection

from team_console.store.model.names import LONGEST_WRITTEN, canonical, check_name, is_name

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
