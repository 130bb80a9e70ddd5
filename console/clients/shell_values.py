"""Values in a text for a shell: every one that each of its variables ever had.

Whatever carries text from one place to another is a variable: those of the shell, what a pipeline or a substitution
prints, what a function reads, what a file is filled with. One keeps every value that it ever had, since which one holds
where a command stands may depend on what runs; and a command is tried with each of them. What cannot be known may be
any word: the program or the subcommand of an action, where the other words name it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

UNKNOWN = "\0"
"""Stands in a word for what is known only when it runs: no word of a shell can have it."""
BETWEEN_FIELDS = "\2"
"""Stands between the fields that one word becomes."""
BETWEEN_WORDS = "\1"
"""Stands between the words of a command that is kept as one text."""
SPLIT, QUOTED, LIST = " ", '"', "@"
"""How a value is used: split at white space, as one field, or with the fields of a list."""
_USE = re.compile("\3(.)([^\3\4]*)\4")
"""A variable in a word, between two signs that no text has: how its value is used, and its name, which may be the value
of another one.
"""
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "f": "\f", "v": "\v"}
_LAST_OF_OURS = "\4"
"""Signs up to this one mean something in a word here."""
_MOST_VALUES = 64
"""Values that one variable keeps, and choices of values that are tried in one command."""
_DEEPEST = 16
"""Variables within the values of variables that are followed."""


# Names of the variables that carry a text from one command to another: no shell has such names.


def file_content(path: str) -> str:
    """Return the variable that keeps what is written into a file."""
    return f"<{os.path.normpath(path)}"


def function_output(name: str) -> str:
    """Return the variable that keeps what a function prints."""
    return f"{name}()"


def function_input(name: str) -> str:
    """Return the variable that has what a function reads."""
    return f"{name}()<"


def use_of(name: str, how: str = QUOTED) -> str:
    """Return what stands in a word for the value of a variable."""
    return f"\3{how}{name}\4"


def first_use(word: str) -> re.Match[str] | None:
    """Return the first use of a variable in a word that stands in no other; None for none."""
    return _USE.search(word)


def as_one_field(word: str) -> str:
    """Return a word in which the values of variables are not split."""
    return re.sub("\3.", f"\3{QUOTED}", word)


def unescaped(text: str) -> str:
    """Return a text with what is escaped in it, as `printf` and quotes with a dollar sign know it."""
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    if number or match[3]:
        sign = chr(int(number, 16) if number else int(match[3], 8) & 0xFF)
        # A text must not write our own signs by their numbers. A line break, which means nothing in a word, stands
        # there.
        return sign if sign > _LAST_OF_OURS else "\n"
    return _ESCAPED_LETTERS.get(match[4], match[4])


class Variables(dict[str, list[str]]):
    """Variables of a text for a shell, each with its values, and how much work may still be spent on them.

    Attributes:
        budget: How many characters may still be worked on.
        has_news: Whether one got a new value since this was last set to False.
        takes_unknown: Whether one without a value counts as known only when the text runs.
    """

    def __init__(self, budget: int, folder: str) -> None:
        super().__init__(HOME=[os.path.expanduser("~")], PWD=[folder], IFS=[" "], MAKE=["make"])
        self.budget = budget
        self.has_news = self.takes_unknown = self._are_shifted = False

    def give(self, value: str, *names: str) -> None:
        """Give a further value to variables of these names; an empty name stands for none.

        Where the work is spent nothing new is taken in: `expanded` then takes every variable for unknown. Of too many
        values the oldest go.
        """
        for name in filter(None, names):
            known = self.setdefault(name, [])
            if value not in known and self.budget > 0:
                known.append(value)
                del known[:-_MOST_VALUES]
                self.has_news = True

    def add_list(self, name: str, fields: Sequence[str]) -> None:
        """Give a list further fields, together and one by one."""
        self.give(BETWEEN_FIELDS.join(fields), name)
        for number, field in enumerate(fields):
            self.give(field, f"{name}[{number}]", f"{name}[]")

    def add_arguments(self, arguments: Sequence[str]) -> None:
        """Set `$0`, `$1` and so on, and where something shifts them, each number of them fewer.

        Of `f a b c` with a `shift` in it, `$1` has the values a, b and c, `$2` b and c, and `$@` each of `a b c`, `b c`
        and `c`; without one, each has its first.
        """
        for first in range(max(1, len(arguments[:10]) - 1) if self._are_shifted else 1):
            for number, argument in enumerate(arguments[first : first + 10]):
                self.give(argument, str(number))
            self.give(BETWEEN_FIELDS.join(arguments[first + 1 :]), "@", "*")

    def shift_arguments(self) -> None:
        """Leave out each number of arguments, also of those set later: a function is called behind its body."""
        if not self._are_shifted:
            self._are_shifted = True
            for value in self.get("@", [])[:]:
                self.add_arguments(["", *value.split(BETWEEN_FIELDS)])

    def expanded(self, words: Sequence[str]) -> Iterator[list[str]]:
        """Yield the fields of words, once for each choice among the values that their variables have.

        Before all values are known there is no choice for a variable without one.
        """
        choices = [(BETWEEN_WORDS.join(words), 0)]  # the words as one text, and how many uses in it were replaced
        count = 0
        while choices and count < _MOST_VALUES:
            line, level = choices.pop()
            self.budget -= len(line)
            use = first_use(line)
            if use is None:
                count += 1
                parted = [word.split(BETWEEN_FIELDS) for word in line.split(BETWEEN_WORDS)]
                # An empty field is left out, but for a word that is one itself.
                yield [field for fields in parted for field in fields if field or len(fields) == 1]
                continue
            is_followed = level <= _DEEPEST and self.budget > 0
            values = self.get(use[2]) if is_followed else None
            if not values and (self.takes_unknown or not is_followed):
                values = [UNKNOWN]
            choices += ((line.replace(use[0], self._as_used(value, use[1])), level + 1) for value in values or ())

    def between_fields(self) -> str:
        """Return the pattern of what parts the fields of a value: all signs that `IFS` ever had."""
        signs = "".join(value for value in self["IFS"] if first_use(value) is None)
        return rf"[{re.escape(signs)}\s]+"

    def _as_used(self, value: str, how: str) -> str:
        """Return what a value becomes in a word; a variable in it is used as the whole value is."""
        if how == LIST:
            return value
        if how == QUOTED:
            return as_one_field(value.replace(BETWEEN_FIELDS, " "))
        # What parts fields may stand in a use of a variable, too, and stays there.
        parted = re.sub(f"(\3[^\4]*\4)|{self.between_fields()}", lambda part: part[1] or BETWEEN_FIELDS, value)
        return re.sub("\3.", f"\3{how}", parted or BETWEEN_FIELDS)
