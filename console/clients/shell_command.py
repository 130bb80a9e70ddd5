"""Commands that a text for a shell runs, and whether one is a command that a rule names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from team_console.console.clients.shell_programs import each_word, program_of, subcommand_at
from team_console.console.clients.shell_values import UNKNOWN

WRITES_FILE = ">"
"""Stands for the program of a redirection into a file."""

_HARMLESS = frozenset(each_word("status log diff show add commit fetch pull blame ls-files"))
"""Subcommands of git that do no harm: a word before one that is not known is taken for an option, and for no
subcommand that has it as its own word.
"""
_TAKES_TARGETS = {"make": " ", "just": " ", "ninja": " ", "mvn": ":", "gradle": ":", "sbt": "+/"}
"""Programs that are told several things to do, in any order, and the signs behind which one of a part stands."""
ANY = "*"
"""Stands in a wanted command for any word."""


class Command:
    """One command of a shell.

    Attributes:
        called: The program as it is written; of a redirection into a file it is `WRITES_FILE`.
        words: From the program on, without its folder and version; `UNKNOWN` stands in them for what is known only when
            it runs.
        folder: In which it runs.
    """

    def __init__(self, words: list[str], folder: str) -> None:
        self.called, self.folder = words[0], folder
        self.words = [program_of(words[0]), *words[1:]]

    def is_of(self, wanted: Sequence[str]) -> bool:
        """Return whether this is the `wanted` command: program, subcommands, and options anywhere behind the first.

        Of those that begin with an exclamation mark it has none. One of its words may be known only when it runs, where
        another names the command.
        """
        needed = [word for word in wanted if word.startswith("-")]
        barred = [word.removeprefix("!") for word in wanted if word.startswith("!-")]
        program, *subcommands = [word for word in wanted if not word.startswith(("-", "!-"))]
        # guard: unknown-word-may-be-the-action
        may_guess = bool(subcommands)
        if not _may_be(self.words[0], program, may_guess=may_guess):
            return False
        # A program of which nothing is known cannot be the wanted one by a guess at its subcommand.
        may_guess = may_guess and self.words[0].strip(UNKNOWN) != ""
        words = [program, *self.words[1:]] if UNKNOWN in self.words[0] else self.words
        if words[0] in _TAKES_TARGETS:
            return _has_targets(words, wanted[1:], may_guess=may_guess)
        end = _behind_names(words, 1, subcommands, may_guess=may_guess)
        if not end:
            return False
        given = words[min(end, subcommand_at(words, 1) + 1) :]
        has_needed = all(any(is_option(word, option) for word in given) for option in needed)
        return has_needed and not any(is_option(word, option) for word in given for option in barred)


def _has_targets(words: Sequence[str], names: Sequence[str], *, may_guess: bool) -> bool:
    """Return whether a program of `_TAKES_TARGETS` is told to do all of these, whole or as a part of a target."""
    signs = f"[{_TAKES_TARGETS[words[0]]}]"
    given = [word for target in words[1:] for word in {target, re.split(signs, target)[-1]}]
    return all(any(_may_be(word, name, may_guess=may_guess) for word in given) for name in names)


def _behind_names(words: Sequence[str], at: int, names: Sequence[str], *, may_guess: bool) -> int:
    """Return where the words behind these subcommands begin, of which the first is looked for from `at` on; 0 where
    others stand there.
    """
    if not names:
        return at
    first, *others = names
    at = subcommand_at(words, at)
    while at < len(words):
        word, behind = words[at], subcommand_at(words, at + 1)
        is_option = words[0] == "git" and "".join(words[behind : behind + 1]) in _HARMLESS
        if _may_be(word, first, may_guess=may_guess and not is_option):
            # Only one word is guessed: behind it the names have to be known.
            end = _behind_names(words, at + 1, others, may_guess=may_guess and word.strip(UNKNOWN) != "")
            if end:
                return end
        if word[:1] != UNKNOWN:
            return 0
        at = behind  # what is not known may be an option, or nothing
    return 0


def _may_be(word: str, name: str, *, may_guess: bool) -> bool:
    """Return whether a word, of which parts may not be known, can be this name.

    Args:
        may_guess: Whether it can where nothing of it is known.
    """
    if name == ANY:
        return True
    if "." in name:  # a setting of git, which no case tells apart
        word, name = word.lower(), name.lower()
    known = word.split(UNKNOWN)  # the parts between which something is not known
    if len(known) == 1 or sum(map(len, known)) > len(name):
        return word == name
    if not any(known):
        return may_guess and len(name) > 1  # names of one sign are folders, such as a dot
    return re.fullmatch(".*".join(map(re.escape, known)), name) is not None


def is_option(word: str, wanted: str) -> bool:
    """Return whether a word is this option, joined with others, or shortened as programs of GNU and git allow."""
    if word == wanted:
        return True
    if wanted[:2] == "--":  # shortened to three letters or more, perhaps with its value
        return len(word) > 4 and wanted.startswith(word.partition("=")[0])
    letters = re.match(r"-\w+", word)
    return len(wanted) == 2 and letters is not None and wanted[1] in letters[0]
