"""Evidence beside a request or a report: each piece with its mark and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.views.evidence import Evidence, Mark, Piece, Section
from team_console.widgets.details.client_request import diff_text
from team_console.widgets.details.document import Block, Fact, Heading, Lines, Text
from team_console.widgets.text.cells import Line
from team_console.widgets.text.glyphs import Sign

MARKS: Mapping[Mark, Sign] = {
    Mark.THERE: Sign("·", "there"),
    Mark.MISSING: Sign("∅", "missing", "warn"),
    Mark.CHANGED: Sign("△", "changed since it was written", "warn"),
    Mark.RAN: Sign("✓", "ran", "good"),
    Mark.FAILED: Sign("✗", "failed", "bad"),
    Mark.NOT_RUN: Sign("✗", "did not run", "bad"),
    Mark.TOLD: Sign("·", ""),
    Mark.NOT_KNOWN: Sign("?", "not known", "warn"),
}
_LONGEST = 400


def compared_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """What differs from the version that was rejected, with the words of the rejection."""
    if not evidence.compared:
        return ()
    blocks: list[Block] = [Heading("why the version before was rejected")]
    blocks.append(Text(safe_text(evidence.words)) if evidence.words else Lines(((("no words", "muted"),),)))
    # The record names the version by its id; on the screen ids stand behind a key.
    blocks.append(Heading(f"what is new: {safe_line(evidence.compared.partition(' against ')[0], _LONGEST)}"))
    blocks.append(diff_text(evidence.diff) if evidence.diff else Lines(((("not a line differs", "warn"),),)))
    return _beside(blocks)


def _beside(blocks: list[Block]) -> tuple[Block, ...]:
    return tuple(block if isinstance(block, Fact) else replace(block, beside=True) for block in blocks)


def evidence_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Everything else that stands beside it; a source is named once where pieces share it."""
    blocks: list[Block] = []
    for section in evidence.sections:
        blocks += [Heading(section.heading), Lines(tuple(_section_lines(section)), indent=2)]
    return _beside(blocks)


def looking_block() -> tuple[Block, ...]:
    """Stands in the place of evidence that is still looked for."""
    return _beside([Heading("evidence"), Lines(((("◔ looking for what it names, and for what ran", "muted"),),))])


def _section_lines(section: Section) -> list[Line]:
    lines: list[Line] = []
    source = ""
    for piece in section.pieces:
        if piece.source != source:
            source = piece.source
            lines.append((("from ", "faint"), (safe_line(source, _LONGEST), "muted")))
        lines.append(_piece_line(piece))
    return lines


def _piece_line(piece: Piece) -> Line:
    sign = MARKS[piece.mark]
    word = f" · {sign.word}" if sign.word and piece.mark not in (Mark.RAN, Mark.FAILED) else ""
    return ((f"{sign.glyph} ", sign.tone), (safe_line(piece.text, _LONGEST), ""), (word, sign.tone or "muted"))
