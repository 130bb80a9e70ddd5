"""Evidence beside one request or report: gathered in a thread without the lock, bounded, and made ready to be shown."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from heapq import merge
from itertools import islice
from time import monotonic

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.run_record import LARGEST, OLD
from team_console.console.clients.session_files import agent_prefix, state_subfolder
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.shown_when_decided import Seen, seen_of
from team_console.store.protocol.tool_input import path_of_input
from team_console.store.views.evidence import (
    EVIDENCE_NOT_KNOWN,
    MOST_NAMES,
    Evidence,
    FileFact,
    FileState,
    LocalEvidence,
    Mark,
    Run,
    Runs,
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
        batches: The batches of the sprint, in which the stories that a plan names are looked up.
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


# What this machine knows: files that a request names, and runs that clients left on record.

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DEEPEST = 40
"""Folders above a file that is looked up, at most."""
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})
"""What the system says where nothing is."""


def look_for(folder: str, names: Iterable[str]) -> tuple[FileFact, ...]:
    """Look up each name within `folder`, at most `MOST_NAMES`; a folder that cannot be opened gives no facts."""
    wanted = list(islice(names, MOST_NAMES))
    try:
        root = os.open(folder, _OPEN_FOLDER)
    except (OSError, ValueError):
        return tuple(FileFact(name, FileState.UNREADABLE) for name in wanted)
    try:
        return tuple(_look_up(root, folder, name) for name in wanted)
    finally:
        os.close(root)


def _look_up(root: int, folder: str, name: str) -> FileFact:
    """Return what is at `name` within `folder`, whose descriptor is `root`."""
    parts = _steps_within(folder, name)
    if parts is None:
        return FileFact(name, FileState.OUTSIDE)
    try:
        with _last_folder(root, parts[:-1]) as place:
            found = os.stat(parts[-1], dir_fd=place, follow_symlinks=False)
    except OSError as error:
        if error.errno in _MISSING:
            return FileFact(name, FileState.MISSING)
        return FileFact(name, FileState.LINK if error.errno == errno.ELOOP else FileState.UNREADABLE)
    except ValueError:
        return FileFact(name, FileState.UNREADABLE)
    return FileFact(name, _state_of_mode(found.st_mode), found.st_size, found.st_mtime)


def _steps_within(folder: str, name: str) -> list[str] | None:
    """Return the names from the folder down to the file, each in the one before; None when it is elsewhere."""
    base = folder.rstrip("/") + "/"
    if name.startswith(base):
        name = name[len(base) :]
    elif name.startswith(("/", "~")):
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if not parts or ".." in parts or len(parts) > _DEEPEST else parts


@contextmanager
def _last_folder(root: int, parts: list[str]) -> Iterator[int]:
    """Yield a descriptor of the innermost of these folders.

    Each is opened from the one before it and none through a link: another program may exchange one meanwhile.
    """
    place = os.dup(root)
    try:
        for part in parts:
            _refuse_link(part, place)
            inner = os.open(part, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)


def _refuse_link(part: str, place: int) -> None:
    """Raise `OSError` with `ELOOP` for a link: opening one fails with `ENOTDIR`, as opening a plain file does."""
    if stat.S_ISLNK(os.stat(part, dir_fd=place, follow_symlinks=False).st_mode):
        raise OSError(errno.ELOOP, "a link")


def _state_of_mode(mode: int) -> FileState:
    if stat.S_ISREG(mode):
        return FileState.FILE
    if stat.S_ISDIR(mode):
        return FileState.FOLDER
    return FileState.LINK if stat.S_ISLNK(mode) else FileState.SPECIAL


_MOST_FILES = 20
"""Files of runs that are read for an agent, the newest."""
_MOST_RUNS = 2_000
"""Runs of an agent that are told, the newest."""
_LATEST = 32_503_680_000.0
"""Seconds up to the year 3000: a later moment is a mistake, and no clock could show it."""


def runs_of(team: Team, agent: str) -> Runs | None:
    """Return the recorded runs of an agent of this team, oldest first; None without a record.

    A session that joined has one from its first event on.
    """
    prefixes = {agent_prefix(agent, place) for place in _places(team)}
    newest = sorted(_run_files(state_subfolder("runs"), prefixes), key=_written_at, reverse=True)[:_MOST_FILES]
    sessions: dict[str, list[Run]] = {}
    for path in sorted(newest, key=lambda path: not path.endswith(OLD)):  # of a session the record before first
        sessions.setdefault(path.removesuffix(OLD), []).extend(_runs_in(path))
    # Lines of one session stay in the order they were written in: a clock that is set back makes no run an older one.
    runs = tuple(merge(*sessions.values(), key=lambda run: run.at))[-_MOST_RUNS:]
    begun = [run.at for run in runs] or [min(_written_at(path), _LATEST) for path in newest]
    return Runs(runs, min(begun)) if begun else None


def _places(team: Team) -> set[str]:
    """Return the locations an agent may know the team by: as opened here, its folder, the project around it."""
    places = {team.location}
    if team.root is not None:
        root = team.root.absolute()
        places |= {str(root), str(root.parent), str(root.parent.parent)}
    return places


def _run_files(base: str, prefixes: set[str]) -> Iterator[str]:
    """Yield the paths of the files whose names begin with one of these prefixes (`agent_prefix`, 8 characters)."""
    try:
        with os.scandir(base) as entries:
            yield from (entry.path for entry in entries if entry.name[:8] in prefixes)
    except OSError:
        return


def _written_at(path: str) -> float:
    """Return when a file was last written; 0 where that cannot be looked up."""
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _runs_in(path: str) -> Iterable[Run]:
    """Yield the runs of one file that is our own and a plain one; a line that cannot be read is left out."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return
        data = file.read(2 * LARGEST)  # it may be a line longer than `LARGEST`
    for line in data.splitlines():
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            run = msgspec.json.decode(line, type=Run)
            if 0 < run.at < _LATEST:
                yield run
