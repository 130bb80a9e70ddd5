"""Words for messages in rows: the kind, the verdict and the title of one."""

from __future__ import annotations

import re

from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import ASKBACK, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.titles import message_title, verdict_reason
from team_console.store.views.needs import need_of
from team_console.store.views.rows import Need, RequestState
from team_console.widgets.signs import KIND_NAMES, NEEDS
from team_console.widgets.text import Line

_MESSAGES_VERDICT = re.compile(r"\w+(?: (?:approved|rejected)|已批准|被拒绝)(?:: |：|\Z)")
"""What the summary of a verdict begins with, in English or Chinese: `Plan approved: `; the glyph and the verdict say it
already."""
_PLAIN = frozenset({"message", "broadcast"})
"""Kinds that need no word in a row: most messages are of them."""
VERDICTS = {"approved": ("✓", "good"), "answered": ("✓", "good"), "rejected": ("✗", "bad")}
"""Verdict -> its glyph and the tone of that."""


def request_kind_word(kind: RequestKind) -> str:
    """Return the kind of a request in a word, as the lists say it."""
    need = need_of(kind)
    return NEEDS[need].word if need is not Need.MESSAGE else str(kind).upper()


def verdict_word(kind: object, state: object) -> str:
    """Return the verdict in a word: a question is answered, an agent agrees or refuses to stop, else approved or
    rejected.
    """
    if kind in (RequestKind.QUESTION, RequestKind.CLARIFICATION) and state == RequestState.APPROVED:
        return "answered"
    if kind == RequestKind.SHUTDOWN and state in (RequestState.APPROVED, RequestState.REJECTED):
        return "agreed to stop" if state == RequestState.APPROVED else "refused to stop"
    return str(state)


def decision_words(message: Message, asked: str = "") -> Line:
    """Return a verdict in words with its reason, else with what it decides; what was asked back as such.

    Empty for every other message.

    Args:
        asked: The title of the request that it decides, safe text; empty where that is not known.
    """
    read = parse_message(message)
    if read.name == ASKBACK:
        return ("asked back", "muted"), (f": {safe_line(message.content, 300)}", "")
    if read.answers is None or read.approve is None:
        return ()
    state = RequestState.APPROVED if read.approve else RequestState.REJECTED
    glyph, tone = VERDICTS[str(state)]
    verdict = verdict_word(read.answers, state)
    title = _MESSAGES_VERDICT.sub("", row_title(message))
    # Words of the verdict itself, else of what it decides; a title that is only the name of its kind says neither. The
    # kind is named beside approved and rejected; the other words, such as answered, are of one kind alone.
    told = verdict_reason(message) or asked or (title if title != read.name else "")
    kind = f" {read.answers}" if verdict == str(state) else ""
    return (f"{glyph} {verdict}", tone), (kind, "muted"), (f": {safe_line(told, 300)}" if told else "", "")


def message_kind_words(message: Message) -> str:
    """Return the kind in plain words, as safe text; empty for a plain message or broadcast."""
    name = message.type if message.type not in _PLAIN else parse_message(message).name
    if name in KIND_NAMES:
        return KIND_NAMES[name]
    name = name.rpartition(":")[2]  # another program's kind has the name of that before it: `claude:idle`
    return "" if name in _PLAIN else KIND_NAMES.get(name, safe_line(name, 48).replace("_", " ").lower())


def row_title(message: Message) -> str:
    """Return the title of the message, as safe text, the same in every mode."""
    return safe_line(message_title(message), 400)
