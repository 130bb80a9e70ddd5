"""A thing that waits for the human: sign, who, what, since when; what is late looks late."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import AttentionItem, Need
from team_console.widgets.rows.drawing import Drawing, age_column
from team_console.widgets.text.cells import Line, pad, spread
from team_console.widgets.text.glyphs import NEEDS

_TAG = 8
_WORDY = 84
"""Cells from which on the word of the sign has room beside the title."""
_INDENT = ("  ", "")
_QUIET = frozenset({Need.MESSAGE})
"""Needs that nothing is to be decided about."""


def attention_lines(item: AttentionItem, drawing: Drawing) -> tuple[Line, ...]:
    """Sign, who and title on one line; on two the title has the first to itself."""
    sign = NEEDS[item.need]
    mark: Line = ((f"{sign.glyph} ", sign.tone),)
    title: Line = ((safe_line(item.title, 400), "" if item.need in _QUIET else "strong"),)
    if drawing.lines == 2:
        return spread((*mark, *title), _age(item, drawing), drawing.width), (_INDENT, *_below(item))
    word: Line = ((pad(sign.word, _TAG) + " ", sign.tone),) if _has_word(drawing) else ()
    who: Line = ()
    if drawing.shows("agent"):
        who = ((drawing.name(item.who, drawing.name_width()) + "  ", ""),)
    return (spread((*mark, *word, *who, *title), _age(item, drawing), drawing.width),)


def _has_word(drawing: Drawing) -> bool:
    return drawing.width >= _WORDY and drawing.shows("kind")


def lateness(item: AttentionItem, drawing: Drawing) -> str:
    """The tone of its age: amber once it is late, red when it waits twice as long as it should."""
    request = item.request
    if request is None or request.due_at is None or request.asked_at is None or not request.is_open:
        return "muted"
    late = (drawing.now - request.due_at).total_seconds()
    if late <= 0:
        return "muted"
    return "alarm" if late >= (request.due_at - request.asked_at).total_seconds() else "alert"


def _age(item: AttentionItem, drawing: Drawing) -> Line:
    tone = lateness(item, drawing)
    return age_column(item.since, drawing, tone=tone, sign=" " if tone == "muted" else "◷")


def _below(item: AttentionItem) -> Line:
    sign, why = NEEDS[item.need], safe_line(item.why, 200)
    return (
        (sign.word, sign.tone),
        (" · ", "muted"),
        (safe_line(item.who, 64), ""),
        (f" · {why}" if why else "", "muted"),
    )
