"""Hints for what was typed wrongly: the verb or option that was meant, and values that begin with a dash."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise

from team_console.console.cli.registry import VERBS
from team_console.store.model.names import nearest

SAME: dict[str, str] = {
    **dict.fromkeys(("accept", "allow", "agree", "yes", "ok"), "approve"),
    **dict.fromkeys(("deny", "decline", "refuse", "no"), "reject"),
    **dict.fromkeys(("reply", "respond"), "answer"),
    **dict.fromkeys(("stop", "kill", "end"), "shutdown"),
    **dict.fromkeys(("agents", "who", "team"), "roster"),
    **dict.fromkeys(("log", "logs", "archive"), "history"),
    **dict.fromkeys(("tail", "follow"), "watch"),
    **dict.fromkeys(("messages", "mail"), "inbox"),
    **dict.fromkeys(("cancel", "undo"), "recall"),
    **dict.fromkeys(("new", "create"), "init"),
    **dict.fromkeys(("doctor", "heal", "repair"), "check"),
}
"""Words that other programs use for what a verb does; spelling alone would take `reply` for `retry`."""
_NEAR = 0.75
"""Likeness of an option that was meant; with less `--reason` becomes `--read-only`."""
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""What word processors make of a hyphen."""


def meant_verb(name: str) -> str | None:
    """The verb that `name` was most likely meant to be, or None."""
    return SAME.get(name.lower()) or nearest(name, [verb.name for verb in VERBS if verb.group])


def meant_option(parser: ArgumentParser, message: str, given: Sequence[str]) -> str | None:
    """What to type instead, where argparse refused `given` with `message`; None where nothing comes near."""
    options = [name for action in parser._actions for name in action.option_strings]
    if "expected one argument" in message:
        return _dashed_value(message, given, options)
    single = next((word for word in given if len(word) > 2 and f"-{word}" in options), None)
    if single is not None:  # `-to NAME` was read as the team `o`
        return f"Did you mean -{single}?"
    _, _, refused = message.partition("unrecognized arguments: ")
    word = refused.partition(" ")[0].partition("=")[0]
    if word and word[0] in _DASHES:
        return "An option begins with plain hyphens, not with the dash that a word processor makes of them."
    return _instead_of(parser, word, options) if word.startswith("--") else None


def _instead_of(parser: ArgumentParser, word: str, options: Sequence[str]) -> str | None:
    alone = next((item.metavar for item in parser._actions if item.metavar == word[2:].upper()), None)
    if alone is not None:
        return f"{alone} is given without {word}: {parser.prog} {alone}"
    began = [name for name in options if name.startswith(word)]
    near = get_close_matches(word.lower(), options, n=1, cutoff=_NEAR)
    meant = began if len(began) == 1 else near
    return f"Did you mean {meant[0]}?" if meant else None


def _dashed_value(message: str, given: Sequence[str], options: Sequence[str]) -> str | None:
    """`--content -x`: what follows was taken for an option."""
    named = message.removeprefix("argument ").partition(":")[0].split("/")
    for option, value in pairwise(given):
        if option in named and value.startswith("-") and value not in options:
            return f"A value that begins with a dash is given as {shlex.join([f'{option}={value}'])}"
    return None
