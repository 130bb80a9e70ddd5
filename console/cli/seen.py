"""What the command line showed of a request before it is answered: `show` names it, `--seen` quotes it."""

from __future__ import annotations

import re
from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.seen import Face, Seen, digest_of, seen_of

_WORD = re.compile(r"[0-9a-f]{64}")


def add_seen(parser: ArgumentParser) -> None:
    """Declare the option."""
    text = "answer only what show REQUEST printed with this word; without it the verdict says that nothing was shown"
    parser.add_argument("--seen", metavar="WORD", help=text)


def seen_by(call: Call, question: Message | None = None) -> Seen:
    """What was shown to whoever answers, for the record of the verdict.

    Args:
        question: The request as it was read already, which the answer is to be on in any case.

    Raises:
        ChangedError: The request is not what `show` printed with this word.
        TeamError: `INVALID_FIELD` for a word that `show` never prints.
    """
    from team_console.store.service.requests import live_question

    word = call.options.seen
    if word is None:
        return Seen(digest_of(question) if question is not None else "", face=Face.NAMED)
    if not _WORD.fullmatch(word):
        hint = f"team-console show {call.options.request} prints it."
        raise TeamError(Code.INVALID_FIELD, "--seen takes the whole word that show prints, 64 hexadecimal digits", hint)
    question = question or live_question(call.snapshot(), call.options.request, word)
    if question is None:
        return Seen(word, face=Face.PRINTED)
    if digest_of(question) != word:
        raise ChangedError(call.options.request, question)
    return seen_of(question, face=Face.PRINTED)
