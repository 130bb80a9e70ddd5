"""A thing that waits for the human: tag, who, what; below it what it blocks and why it stands where it stands."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import AttentionItem
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, pad, pad_name, spread
from team_console.widgets.text.glyphs import NEEDS

_TAG = 8
_WHO = 16
_INDENT = (" " * (_TAG + 3), "")


def attention_lines(item: AttentionItem, drawing: Drawing) -> tuple[Line, ...]:
    """Tag, who and title on one line; on two the title has the first to itself."""
    sign = NEEDS[item.need]
    tag: Line = ((f"{sign.glyph} {pad(sign.word, _TAG)} ", sign.tone),)
    title: Line = ((safe_line(item.title, 400), "strong"),)
    if drawing.lines == 1:
        who = min(_WHO, max(8, drawing.width // 4))
        name: Line = ((pad_name(safe_line(item.who, 64), who) + "  ", ""),)
        return (spread((*tag, *name, *title), _age(item, drawing), drawing.width),)
    return spread((*tag, *title), _age(item, drawing), drawing.width), (_INDENT, *_below(item))


def _age(item: AttentionItem, drawing: Drawing) -> Line:
    return ((f"  {age(item.since, drawing.now)} ", "muted"),)


def _below(item: AttentionItem) -> Line:
    why = safe_line(item.why, 200)
    return (safe_line(item.who, 64), ""), (f" · {why}" if why else "", "muted")
