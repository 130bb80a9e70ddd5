"""Evidence beside a request or report, made ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.tui.evidence import EvidenceRequest
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.seen import Seen, seen_of
from team_console.store.views.evidence import Evidence, Mark
from team_console.widgets.client_request_documents import asked_blocks, diff_text
from team_console.widgets.document import Block, Heading, Lines, Text, one_line
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line


class ShownEvidence(Struct, frozen=True):
    """What stands beside a request or report.

    Attributes:
        seen: All that is shown, for the record of whoever decides.
        above, below: How it is shown, above and below the text of the request.
        evidence: What was found for `request`; None where there is none to be had, or it is still looked for.
        at: When, in seconds of `time.monotonic`.
    """

    seen: Seen
    above: tuple[Block, ...] = ()
    below: tuple[Block, ...] = ()
    request: EvidenceRequest | None = None
    evidence: Evidence | None = None
    at: float = 0.0

    def is_for(self, request: EvidenceRequest) -> bool:
        """Return whether this evidence was gathered for an equal request."""
        return self.request is not None and self.request.is_for_the_same(request)


def evidence_to_show(request: EvidenceRequest, evidence: Evidence, known: ShownEvidence | None = None) -> ShownEvidence:
    """Return evidence made ready to be shown; where it is `known` already, only the moment is another."""
    if known is not None and known.is_for(request) and known.evidence == evidence:
        return replace(known, at=monotonic())
    if request.row is not None and request.row.kind is RequestKind.PERMISSION:
        # Remembered: a change of thousands of lines is compared here, not while keys wait.
        asked_blocks(request.message)
    seen = seen_of(request.message, before=evidence.before, evidence=evidence.lines)
    return ShownEvidence(seen, _comparison_blocks(evidence), _piece_blocks(evidence), request, evidence, monotonic())


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
"""Characters of a piece of evidence in its line."""


def _comparison_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Return the difference to the rejected version, with the reason of the rejection."""
    if not evidence.compared:
        return ()
    why = (
        Heading("why the version before was rejected", is_evidence=True),
        Text(safe_text(evidence.words), is_evidence=True),
    )
    # The record names the version by its id; on the screen ids stand behind a key.
    what = f"what is new: {safe_line(evidence.compared.partition(' against ')[0], _LONGEST)}"
    new = diff_text(evidence.diff) if evidence.diff else one_line("not a line differs", "warn")
    return (*(why if evidence.words else ()), Heading(what, is_evidence=True), replace(new, is_evidence=True))


def _piece_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Return everything else that stands beside it; a source is named once where pieces share it."""
    blocks: list[Block] = []
    for section in evidence.sections:
        lines: list[Line] = []
        source = ""
        for piece in section.pieces:
            if piece.source and piece.source != source:
                source = piece.source
                lines.append((("from ", "muted"), (safe_line(source, _LONGEST), "muted")))
            sign = MARKS[piece.mark]
            word = f" · {sign.word}" if sign.word and piece.mark not in (Mark.RAN, Mark.FAILED, Mark.NOT_KNOWN) else ""
            lines.append((sign.mark, (safe_line(piece.text, _LONGEST), ""), (word, sign.tone or "muted")))
        blocks += [Heading(section.heading, is_evidence=True), Lines(tuple(lines), indent=2, is_evidence=True)]
    return tuple(blocks)
