"""Commands that a text for a shell runs, and whether one is a command that a rule names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from team_console.console.clients.shell_programs import program_of, subcommand_at
from team_console.console.clients.shell_values import UNKNOWN

WRITES_FILE = ">"
"""Stands for the program of a redirection into a file."""

_HARMLESS = frozenset(("status", "log", "diff", "show", "add", "commit", "fetch", "pull", "blame", "ls-files"))
"""Subcommands of git: what stands before one and is not known is an option, and no subcommand with that as its word."""
_TAKES_TARGETS = frozenset(("make", "mvn", "gradle", "sbt", "just", "ninja"))
"""Programs that are told several things to do, in any order."""


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
        """Return whether this is the `wanted` command: program, subcommands, and options anywhere behind them.

        One of its words may be known only when it runs, where another names the command.
        """
        names = [name for name in wanted if name[:1] != "-"]
        words = [wanted[0], *self.words[1:]] if UNKNOWN in self.words[0] else self.words
        # guard: unknown-word-may-be-the-action
        may_guess = len(names) > 1
        if not _may_be(self.words[0], names[0], may_guess=may_guess):
            return False
        is_known = self.words[0].strip(UNKNOWN) != ""
        if words[0] in _TAKES_TARGETS:
            given = words[1:]
            return all(
                any(_may_be(word, name, may_guess=may_guess and is_known) for word in given) for name in wanted[1:]
            )
        at = _behind_names(words, 1, names[1:], may_guess=may_guess and is_known)
        options = [name for name in wanted if name[:1] == "-"]
        return at > 0 and all(any(_is_option(word, name) for word in words[at:]) for name in options)


def _behind_names(words: Sequence[str], at: int, names: Sequence[str], *, may_guess: bool) -> int:
    """Return where the words behind these subcommands begin; 0 where others stand there."""
    if not names:
        return at
    at = subcommand_at(words, at)
    while at < len(words):
        word, behind = words[at], subcommand_at(words, at + 1)
        is_option = words[0] == "git" and "".join(words[behind : behind + 1]) in _HARMLESS
        if _may_be(word, names[0], may_guess=may_guess and not is_option):
            end = _behind_names(words, at + 1, names[1:], may_guess=may_guess and word.strip(UNKNOWN) != "")
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
    known = word.split(UNKNOWN)
    if len(known) == 1 or sum(map(len, known)) > len(name):
        return word == name
    if not any(known):
        return may_guess
    return re.fullmatch(".*".join(map(re.escape, known)), name) is not None


def _is_option(word: str, wanted: str) -> bool:
    """Return whether a word is this option, joined with others, or shortened as programs of GNU and git allow."""
    if wanted[:2] == "--":
        return len(word) > 4 and wanted.startswith(word.partition("=")[0])
    is_letter = len(wanted) == 2 and word[:1] == "-" != word[1:2]
    return word == wanted or (is_letter and wanted[1] in word)
