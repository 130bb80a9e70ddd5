"""The list of requests, open ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordOrder
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.judgement import Case, Judged, RequestState, at, thread_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import RequestRow
from team_console.store.views.titles import message_title, reason_of


class Requests(Struct, frozen=True):
    """Every request as it stands.

    Attributes:
        rows: Open first, oldest first; then answered, newest first.
        open: Those that wait for an answer.
        flagged: Those with something odd.
        by_key: Each by its key (`kind:request_id`).
        twins: Request id -> further questions under an id that another question has.
        orphans: Answers to nothing that is known.
        plan_states: Author -> the state of its latest plan that was not taken back.
        creations: Id of an announcement of a new agent -> the request that it answers.
    """

    rows: tuple[RequestRow, ...]
    open: tuple[RequestRow, ...]
    flagged: tuple[RequestRow, ...]
    by_key: Mapping[str, RequestRow]
    twins: Mapping[str, tuple[Entry, ...]]
    orphans: Sequence[Entry]
    plan_states: Mapping[str, RequestState]
    creations: Mapping[str, Entry]

    def request(self, request_id: str, kind: RequestKind) -> RequestRow | None:
        """The first request of this kind with this id."""
        return self.by_key.get(f"{kind}:{request_id}")

    def is_refused(self, request_id: str) -> bool:
        """Whether this shutdown was asked for and refused."""
        row = self.request(request_id, RequestKind.SHUTDOWN)
        return row is not None and row.state is RequestState.REJECTED


def requests_of(judged: Judged, now: datetime) -> Requests:
    """List the judged requests as they stand `now`."""
    plans: dict[str, RequestState] = {}
    creations: dict[str, Entry] = {}
    shown: list[tuple[RequestRow, Case]] = []
    for case in sorted(judged.cases, key=lambda case: case.order):
        if case.kind is RequestKind.PLAN and case.state is not RequestState.WITHDRAWN:
            plans[case.asker] = case.state
        if case.announcement is not None:
            creations.setdefault(case.announcement.message.message_id, case.question)
        shown.append((request_row(at(case, now)), case))
    closed = [(row, case) for row, case in shown if not row.is_open]
    closed.sort(key=lambda pair: (_decided(*pair), pair[1].order), reverse=True)
    waiting = tuple([row for row, _ in shown if row.is_open])
    rows = (*waiting, *(row for row, _ in closed))
    return Requests(
        rows=rows,
        open=waiting,
        flagged=tuple([row for row in rows if row.flags]),
        by_key={row.key: row for row in rows},
        twins=judged.twins,
        orphans=judged.orphans,
        plan_states=plans,
        creations=creations,
    )


def request_row(case: Case) -> RequestRow:
    """A judged request as people look at it."""
    question, verdict = case.question, case.verdict
    said = verdict or case.taken_back or case.refusal
    return RequestRow(
        request_id=case.request_id,
        key=case.key,
        kind=case.kind,
        asker=case.asker,
        addressee=case.addressee,
        title=message_title(question.message),
        question=question.message,
        state=case.state,
        asked_at=question.moment,
        due_at=case.due_at,
        seen_at=_seen_at(question.message, case.addressee),
        answers=tuple(claim.entry.message for claim in case.claims),
        verdict=verdict.message if verdict else None,
        answered_at=verdict.moment if verdict else None,
        answered_by=verdict.message.sender if verdict else None,
        reason=case.reason or (reason_of(said.message) if said is not None else ""),
        flags=case.flags,
        supersedes=case.supersedes,
        superseded_by=thread_of(case.superseded_by) if case.superseded_by is not None else None,
        ended=case.ended,
        withdrawn_at=case.withdrawn_at,
        expires_at=case.expires_at,
        altered=case.altered,
        unverified=case.unverified,
        forged=case.forged,
    )


def _seen_at(question: Message, addressee: str) -> datetime | None:
    value = question.read_by.get(addressee) or question.envelope("read_at")
    return from_text(value) if isinstance(value, str) else None


def _decided(row: RequestRow, case: Case) -> RecordOrder:
    """When it was decided; the clock decides at the moment of expiry."""
    if row.state is not case.state and row.expires_at is not None and row.withdrawn_at == row.expires_at:
        return row.expires_at, *case.order[1:]
    return case.decided
