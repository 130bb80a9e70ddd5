"""Evidence beside a request or a report: made from messages and from what was looked at on this machine; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from team_console.store.model.message import Message
from team_console.store.model.words import counted
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.views.differences import counts_of, difference
from team_console.store.views.evidence.checks import check_pieces, run_mark, run_words
from team_console.store.views.evidence.facts import Evidence, FileFact, FileState, Looked, Mark, Piece, Section
from team_console.store.views.evidence.naming import MOST_NAMES, named_stories, other_stories
from team_console.store.views.rows import Batch, RequestRow, RequestState

MOST_RUNS = 15
"""Runs of an agent that are shown, the last ones."""
_BYTES = ((1 << 20, "MB"), (1 << 10, "kB"))
HOOKS = "its client's hooks, on this machine"


def plan_evidence(
    row: RequestRow,
    *,
    text: str,
    rejected: RequestRow | None,
    rejected_text: str,
    batches: Sequence[Batch],
    looked: Looked,
) -> Evidence:
    """What stands beside a request.

    Args:
        text: The whole plan.
        rejected: The version before it that was rejected; None when there is none.
        rejected_text: The whole of that.
        looked: What was looked at for it.
    """
    since = row.asked_at.timestamp() if row.asked_at is not None else None
    ran = "what it ran since the rejection" if rejected is not None else "what it ran last"
    sections = (
        Section("files it names", tuple(_files(looked, since))),
        Section("stories it names", tuple(_stories(text, batches, since))),
        Section(ran, tuple(_runs(looked, rejected, since))),
    )
    kept = tuple(section for section in sections if section.pieces)
    if rejected is None:
        return Evidence(kept)
    diff = difference(rejected_text, text)
    before = [(rejected.request_id, rejected.question)]
    before += [(rejected.request_id, rejected.verdict)] if rejected.verdict is not None else []
    said = f"against {rejected.request_id}, rejected by {rejected.answered_by}"
    compared = f"{counts_of(diff) if diff else 'not a line differs'} {said}"
    return Evidence(kept, compared, diff, tuple(before), rejected.reason)


def report_evidence(text: str, looked: Looked) -> Evidence:
    """What stands beside a report: whether the checks it claims ran."""
    pieces = tuple(check_pieces(text, looked.runs, source=HOOKS))
    return Evidence((Section("checks it claims", pieces),) if pieces else ())


def rejected_before(row: RequestRow, earlier: Sequence[RequestRow]) -> RequestRow | None:
    """The last version before it that was rejected; `earlier` are the versions before it, newest first."""
    if row.kind is not RequestKind.PLAN:
        return None
    return next((version for version in earlier if version.state is RequestState.REJECTED), None)


def _files(looked: Looked, since: float | None) -> Iterator[Piece]:
    source = f"{looked.folder}, {looked.says}" if looked.folder else "no project folder is known"
    for fact in looked.files:
        yield _file(fact, since, source)
    if len(looked.files) == MOST_NAMES:
        yield Piece(Mark.NOT_KNOWN, f"further names: only the first {MOST_NAMES} were looked for", source)


_NO_FILE = {
    FileState.LINK: "a link, which is not followed",
    FileState.SPECIAL: "no file but a pipe, a device or a socket",
    FileState.OUTSIDE: "outside of the project folder, not looked at",
}


def _file(fact: FileFact, since: float | None, source: str) -> Piece:
    if fact.state is FileState.FILE:
        is_newer = since is not None and fact.changed_at > since
        return Piece(Mark.CHANGED if is_newer else Mark.THERE, f"{fact.name}, {_size(fact.size)}", source)
    if fact.state is FileState.FOLDER:
        return Piece(Mark.THERE, f"{fact.name}, a folder", source)
    if fact.state is FileState.MISSING:
        return Piece(Mark.MISSING, fact.name, source)
    return Piece(Mark.NOT_KNOWN, f"{fact.name}: {_NO_FILE.get(fact.state, 'it could not be looked at')}", source)


def _stories(text: str, batches: Sequence[Batch], since: float | None) -> Iterator[Piece]:
    stories = {story.key: (story, batch) for batch in batches for story in batch.stories}
    for key in named_stories(text, stories):
        story, batch = stories[key]
        told = _told_at(batch.message)
        mark = Mark.CHANGED if told is not None and since is not None and told > since else Mark.THERE
        yield Piece(mark, f"story {key}: {story.state}", f"batch {batch.batch_id}")
    for name in other_stories(text, stories):
        yield Piece(Mark.MISSING, f"story {name}", "no batch of this sprint has it")


def _told_at(message: Message | None) -> float | None:
    moment = message.created_at if message is not None else None
    return moment.timestamp() if moment is not None else None


def _runs(looked: Looked, rejected: RequestRow | None, until: float | None) -> Iterator[Piece]:
    """Up to when it asked: what goes on meanwhile must not make every look another one."""
    if looked.runs is None:
        yield Piece(Mark.NOT_KNOWN, "what it ran", "nothing of this agent is on record here")
        return
    since = rejected.answered_at.timestamp() if rejected is not None and rejected.answered_at is not None else 0.0
    runs = [run for run in looked.runs.runs if since <= run.at and (until is None or run.at <= until)]
    if not runs:
        yield Piece(Mark.TOLD, "nothing", HOOKS)
    elif len(runs) > MOST_RUNS:
        yield Piece(Mark.TOLD, f"{counted(len(runs) - MOST_RUNS, 'use')} of tools before these", HOOKS)
    for run in runs[-MOST_RUNS:]:
        yield Piece(run_mark(run), run_words(run), HOOKS)


def _size(number: int) -> str:
    for least, unit in _BYTES:
        if number >= least:
            return f"{number / least:,.1f} {unit}"
    return counted(number, "byte")
