"""A thing that waits for the human: tag, who, what; below it what it blocks and why it stands where it stands."""

from __future__ import annotations

from store.safe import safe_line
from store.views.rows import AttentionItem
from widgets.ages import age
from widgets.cells import Line, pad, spread
from widgets.row_list import Drawing
from widgets.signs import NEEDS

_TAG = 8
_WHO = 16


def attention_lines(item: AttentionItem, drawing: Drawing) -> tuple[Line, ...]:
    """One line or two, as `drawing.lines` asks."""
    sign = NEEDS[item.need]
    who = min(_WHO, max(8, drawing.width // 4))
    head: Line = (
        (f"{sign.glyph} {pad(sign.word, _TAG)} ", sign.tone),
        (pad(safe_line(item.who, 64), who) + "  ", ""),
        (safe_line(item.title, 400), "strong"),
    )
    first = spread(head, _age(item, drawing), drawing.width)
    if drawing.lines == 1:
        return (first,)
    return first, ((" " * (_TAG + 3), ""), *_below(item))


def _age(item: AttentionItem, drawing: Drawing) -> Line:
    return ((f"  {age(item.since, drawing.now)} ", "muted"),)


def _below(item: AttentionItem) -> Line:
    why = safe_line(item.why, 200)
    if not item.blocks:
        return ((why, "muted"),)
    blocks = ", ".join(safe_line(one, 64) for one in item.blocks[:4])
    more = f" and {len(item.blocks) - 4} more" if len(item.blocks) > 4 else ""
    return (("blocks ", "muted"), (blocks + more, "warn"), (f" · {why}" if why else "", "muted"))
