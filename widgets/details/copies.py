"""Who got a copy of a broadcast, and how far each of them is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.widgets.details.document import Block, Heading, Lines
from team_console.widgets.details.message import state_line
from team_console.widgets.text.cells import Line, pad_name
from team_console.widgets.text.glyphs import status_sign

_LONGEST_NAME = 32


def copies_blocks(copies: Sequence[Message], now: datetime) -> tuple[Block, ...]:
    """How many of them are where on their way, and below each recipient with its state; empty for a single message."""
    if len(copies) < 2:
        return ()
    counts = Counter(status_sign(copy) for copy in copies)
    total: Line = tuple(
        part
        for sign, count in counts.most_common()
        for part in ((f"{sign.glyph} {count} {sign.word}", sign.tone), ("   ", ""))
    )
    names = [safe_line(copy.recipients[0], 64) for copy in copies]
    width = min(_LONGEST_NAME, max(map(len, names)))
    rows = [
        ((pad_name(name, width) + "  ", ""), *state_line(copy, now)) for name, copy in zip(names, copies, strict=True)
    ]
    return Heading(f"{len(copies)} recipients"), Lines((total[:-1], *rows), indent=2)
