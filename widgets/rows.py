"""What rows of every list are made of: one layout for one line and for two, and words for kinds and verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import ASKBACK, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.titles import message_title, verdict_reason
from team_console.store.views.needs import need_of
from team_console.store.views.rows import Need, RequestState
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.signs import KIND_NAMES, NEEDS, Sign
from team_console.widgets.text import Line, Part, crop_name, pad, spread, width_of

_TAG = 10
"""Cells of the word for a kind."""
WORDY = 84
"""Cells from which on that word has a column."""
_LEAST_NAME = 16
"""Cells that a name keeps at least where it is cut for what stands behind it."""
_MESSAGES_VERDICT = re.compile(r"\w+(?: (?:approved|rejected)|已批准|被拒绝)(?:: |：|\Z)")
"""What the summary of a verdict begins with, which its own words say already."""
_PLAIN = frozenset({"message", "broadcast"})
VERDICTS = {"approved": ("✓", "good"), "answered": ("✓", "good"), "rejected": ("✗", "bad")}


def row_lines(
    drawing: Drawing, sign: Sign, title: Line, end: Line, *, word: str = "", who: str = "", facts: Sequence[Part] = ()
) -> tuple[Line, ...]:
    """Lay out sign, kind, who and title on one line; on two the title has the first to itself, and facts stand below.

    Args:
        word: The kind in a word; empty where all rows are of one kind.
        who: The agent, as the store has the name.
    """
    head: Line = (sign.mark,)
    has_column = bool(word) and drawing.width >= WORDY
    if has_column:
        head = (*head, (pad(word, _TAG) + " ", sign.tone))
    room = drawing.width - width_of((*head, *title, *end)) - 2
    if drawing.lines == 1:
        name: Line = ((drawing.name(who, room=room) + "  ", ""),) if who else ()
        return (spread((*head, *name, *title), end, drawing.width),)
    parts: list[Part] = [(word, sign.tone)] if word and not has_column else []
    is_named = drawing.is_expanded and drawing.name(who, room=room).rstrip() == safe_line(who, 64)
    left = drawing.width - width_of(head) - (width_of(tuple(parts)) + 3 if parts else 0)  # 3: the point between two
    beside = left - sum(width_of((fact,)) + 3 for fact in facts)
    left = beside if beside >= _LEAST_NAME else left
    parts += [(crop_name(safe_line(who, 64), left), "")] if who and not (is_named and (parts or facts)) else []
    below: list[Part] = []
    for part in (*parts, *facts):
        below += [(" · ", "muted"), part] if below else [part]
    return spread((*head, *title), end, drawing.width), ((" " * width_of(head), ""), *below)


def kind_word(kind: RequestKind) -> str:
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
    """Return a verdict in words with its reason, else its request, and what was asked back; empty for every other
    message.
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
    told = verdict_reason(message) or asked or (title if title != read.name else "")
    kind = f" {read.answers}" if verdict == str(state) else ""
    return (f"{glyph} {verdict}", tone), (kind, "muted"), (f": {safe_line(told, 300)}" if told else "", "")


def kind_name(message: Message) -> str:
    """Return the kind in plain words, as safe text; empty for a plain message or broadcast."""
    name = message.type if message.type not in _PLAIN else parse_message(message).name
    name = name if name in KIND_NAMES else name.rpartition(":")[2]  # the kinds of another program name that before
    return "" if name in _PLAIN else KIND_NAMES.get(name, safe_line(name, 48).replace("_", " ").lower())


def row_title(message: Message) -> str:
    """Return the title of the message, as safe text, the same in every mode."""
    return safe_line(message_title(message), 400)
