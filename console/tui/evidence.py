"""Evidence beside one request or report: gathered in a thread, never under the lock, bounded in what it looks at."""

from __future__ import annotations

from msgspec import Struct
from team_console.console.tui.local_evidence import look_for, runs_of
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.tool_input import path_of_input
from team_console.store.views.evidence import (
    EVIDENCE_NOT_KNOWN,
    Evidence,
    FileFact,
    FileState,
    LocalEvidence,
    named_files,
    plan_evidence,
    report_evidence,
)
from team_console.store.views.rows import Batch, RequestRow


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
