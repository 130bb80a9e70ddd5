"""Gathers the evidence beside one request or report: in a thread, never under the lock, bounded in what it looks at."""

from __future__ import annotations

from pathlib import Path

from team_console.console.evidence.files import look_for
from team_console.console.evidence.runs import runs_of
from team_console.console.evidence.wish import Wish
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import PATH_KEYS, origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.evidence import (
    NOT_FOUND_OUT,
    Evidence,
    FileFact,
    FileState,
    Looked,
    named_files,
    plan_evidence,
    report_evidence,
)
from team_console.store.views.rows import RequestRow

_OFFICE = "_bmad-output"
"""The folder of a project that holds its team."""


def gather(team: Team, wish: Wish) -> Evidence:
    """The evidence there is now; what this machine refuses to tell is not known."""
    try:
        return _gather(team, wish)
    except OSError:
        return NOT_FOUND_OUT


def _gather(team: Team, wish: Wish) -> Evidence:
    row = wish.row
    if row is None:
        return report_evidence(wish.text, Looked(runs=runs_of(team, wish.message.sender)))
    folder, says = project_folder(team, wish.message)
    names = _names(wish, row)
    files = look_for(folder, names) if folder else tuple(FileFact(name, FileState.UNREADABLE) for name in names)
    looked = Looked(folder, says, files, runs_of(team, row.asker))
    return plan_evidence(
        row,
        text=wish.text,
        rejected=wish.rejected,
        rejected_text=wish.rejected_text,
        batches=wish.batches,
        looked=looked,
    )


def project_folder(team: Team, question: Message) -> tuple[str, str]:
    """The folder a request is about, and whose word that is; empty when nobody says."""
    directory = origin_of(question.payload).directory
    if directory.startswith("/") and "\0" not in directory:
        return directory, f"as {question.sender} names it"
    root = team.root
    if root is None:
        return "", ""
    place = root.absolute()
    inside = next((parent for parent in (place, *place.parents) if parent.name == _OFFICE), None)
    folder = inside.parent if inside is not None else place if place.is_dir() else place.parent
    return str(Path(folder)), "where the team is"


def _names(wish: Wish, row: RequestRow) -> tuple[str, ...]:
    if row.kind is not RequestKind.PERMISSION:
        return named_files(wish.text)
    given = permission_of(wish.message.payload).input
    path = next((given[key] for key in PATH_KEYS if isinstance(given.get(key), str) and given[key]), None)
    return (path,) if path is not None else ()
