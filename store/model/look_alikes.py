"""Find names that are easily taken for another, written in letters of other scripts (D6)."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import name as unicode_name
from unicodedata import normalize

from team_console.store.model.names import is_name

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
    return unicode_name(letter, "").partition(" ")[0]


def _may_pass(look: str, other: str) -> bool:
    pairs = zip(look, other, strict=False)
    return (
        len(look) == len(other)
        and look != other
        and all(one == two or _script(one) in ("GREEK", "CYRILLIC") for one, two in pairs)
    )
