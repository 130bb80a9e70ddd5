"""Evidence beside one request or report: gathered in a thread without the lock, bounded, and made ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.tui.local_evidence import look_for, runs_of
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.shown_when_decided import Seen, seen_of
from team_console.store.protocol.tool_input import path_of_input
from team_console.store.views.evidence import (
    EVIDENCE_NOT_KNOWN,
    Evidence,
    FileFact,
    FileState,
    LocalEvidence,
    Mark,
    named_files,
    plan_evidence,
    report_evidence,
)
from team_console.store.views.rows import Batch, RequestRow
from team_console.widgets.client_request_documents import asked_blocks, diff_text
from team_console.widgets.document import Block, Heading, Lines, Text, one_line
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line


class EvidenceRequest(Struct, frozen=True):
    """What evidence is wanted for.

    Attributes:
        key: Tells it from others.
        message: The question or the report.
        row: The request, None for a report.
        text: The whole text of the plan or report.
        former: The version before, with which it is compared.
        former_text: The whole text of that version.
    """

    key: str
    message: Message
    row: RequestRow | None
    text: str
    former: RequestRow | None = None
    former_text: str = ""
    batches: tuple[Batch, ...] = ()

    def is_for_the_same(self, other: EvidenceRequest) -> bool:
        """Return whether the same evidence would be looked for; a clock that goes on is no other request."""
        return (
            self.message is other.message
            and self.text == other.text
            and self.former_text == other.former_text
            and _verdict(self) is _verdict(other)
        )


def _verdict(request: EvidenceRequest) -> Message | None:
    return request.former.verdict if request.former is not None else None


_TEAM_FOLDER = "_bmad-output"
"""The folder of a project that holds its team."""


def gather(team: Team, request: EvidenceRequest) -> Evidence:
    """Return the evidence there is now; `EVIDENCE_NOT_KNOWN` where the system refuses to tell."""
    try:
        return _gather(team, request)
    except OSError:
        return EVIDENCE_NOT_KNOWN


def _gather(team: Team, request: EvidenceRequest) -> Evidence:
    """Return the evidence for a plan or a permission, or for a report."""
    row = request.row
    if row is None:
        return report_evidence(request.text, LocalEvidence(runs=runs_of(team, request.message.sender)))
    folder, says = project_folder(team, request.message)
    names = _names_to_look_up(request, row)
    files = look_for(folder, names) if folder else tuple(FileFact(name, FileState.UNREADABLE) for name in names)
    looked = LocalEvidence(folder, says, files, runs_of(team, row.asker))
    return plan_evidence(
        row,
        text=request.text,
        former=request.former,
        former_text=request.former_text,
        batches=request.batches,
        looked=looked,
    )


def project_folder(team: Team, question: Message) -> tuple[str, str]:
    """Return the folder a request is about, and in words who says so; both empty when nobody does."""
    directory = origin_of(question.payload).directory
    if directory.startswith("/") and "\0" not in directory:
        return directory, f"as {question.sender} names it"
    root = team.root
    if root is None:
        return "", ""
    place = root.absolute()
    inside = next((parent for parent in (place, *place.parents) if parent.name == _TEAM_FOLDER), None)
    folder = place if place.is_dir() else place.parent
    if inside is not None:
        folder = inside.parent
    return str(folder), "where the team is"


def _names_to_look_up(request: EvidenceRequest, row: RequestRow) -> tuple[str, ...]:
    """Return the files that a plan's text names, or the one that a permission is about."""
    if row.kind is not RequestKind.PERMISSION:
        return named_files(request.text)
    path = path_of_input(permission_of(request.message.payload).input)
    return (path,) if path else ()


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
