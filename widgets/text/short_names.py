"""Short names of a team: each agent by as few words as tell it from the others, as people call each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from team_console.widgets.text.cells import cell_len, crop, pad, shorten

_WORD = re.compile(r"[-_. ]+")
_FIGURE = re.compile(r"\d")
_MOST_INITIALS = 3
"""Words of a name from which on their first letters would tell nothing."""
_LEAST_WORD = 4
"""Cells down to which a first word is cut before the middle of the name is."""
ShortNames = Mapping[str, tuple[str, ...]]
"""The forms of each name, see `short_names`."""


@lru_cache(maxsize=8)
def short_names(names: tuple[str, ...]) -> ShortNames:
    """Name -> its forms, the whole name first and the shortest last; no form is that of another agent.

    `schedule-manager` is `schedule-m` and `schedule`, `dev-runner-3-2` is `dev-r-3-2` and `dev-3-2`: the first word
    and every figure stay, since they tell agents of one kind apart.
    """
    short = {name: _forms(name) for name in names}
    taken = Counter((*names, *(form for forms in short.values() for form in forms)))
    return {
        name: (name, *(form for form in forms if taken[form] == 1 and form != name)) for name, forms in short.items()
    }


def _forms(name: str) -> list[str]:
    """The forms of one name that are shorter than it, the longest first."""
    first, *others = [word for word in _WORD.split(name) if word] or [name]
    figures = [word for word in others if _FIGURE.search(word)]
    initials = [word if word in figures else word[0] for word in others]
    forms = ["-".join((first, *figures))]
    if len(others) - len(figures) < _MOST_INITIALS:
        forms.insert(0, "-".join((first, *initials)))
    return [form for form in dict.fromkeys(forms) if cell_len(form) < cell_len(name)]


def padded_name(name: str, forms: ShortNames, width: int) -> str:
    """Exactly `width` cells of a name: the longest of its forms that fits, else the shortest, cut."""
    known = forms.get(name, (name,))
    return pad(next((form for form in known if cell_len(form) <= width), _cut(known[-1], width)), width)


def _cut(form: str, width: int) -> str:
    """A form that has no room: its first word gives way, since what follows tells it apart; else its middle."""
    first, dash, rest = form.partition("-")
    room = width - cell_len(dash + rest)
    return crop(first, room) + dash + rest if dash and room >= _LEAST_WORD else shorten(form, width)


def fitting_names(names: Sequence[str], forms: ShortNames, room: int, least: int = 0) -> list[str]:
    """The names in the longest forms that take `room` cells together; empty when even the shortest do not.

    Args:
        least: Cells down to which a form may be cut in its middle; 0 when none may be cut.
    """
    shown = [forms[name][-1] for name in names]
    if least:
        longest = max(map(cell_len, shown), default=0)
        while sum(map(cell_len, shown)) > room and longest > least:
            longest -= 1
            shown = [shorten(name, longest) for name in shown]
    left = room - sum(map(cell_len, shown))
    if left < 0:
        return []
    for step in range(max((len(forms[name]) for name in names), default=0)):
        for place, name in enumerate(names):
            longer = forms[name][max(0, len(forms[name]) - 2 - step)]
            more = cell_len(longer) - cell_len(shown[place])
            if 0 < more <= left:
                shown[place], left = longer, left - more
    return shown
