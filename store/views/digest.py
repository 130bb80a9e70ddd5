"""What happened since a moment, from records alone: asked, decided, withdrawn, done, failed, stopped, written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Any

from msgspec import Struct
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import denial_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST
from team_console.store.protocol.sprint_bodies import BATCH_REPORT, COMPLETE
from team_console.store.protocol.state_reports import report_of
from team_console.store.protocol.titles import message_title
from team_console.store.views.history import history
from team_console.store.views.needs import count_to_do
from team_console.store.views.roster import BlockedTimes, blocked_times
from team_console.store.views.rows import RequestRow, RequestState, StoryState, View, as_json
from team_console.store.views.search import Query, Term
from team_console.store.views.sprint import report_state

_ANSWERED_IN_SESSION = "answered in the session"
"""How the hooks of a client begin the reason of a request that its own dialog answered."""
NOT_ON_RECORD = (
    "which files changed: messages do not say it",
    "what agents did without a message: only what was written is known",
)
"""What records cannot tell."""


class DigestGroup(StrEnum):
    """What kind of thing happened, in the order in which it is shown."""

    ASKED = "asked"
    DECIDED = "decided"
    WITHDRAWN = "withdrawn"
    ELSEWHERE = "answered elsewhere"
    DENIED = "denied by its client"
    FAILED = "failed"
    REFUSED = "refused"
    DONE = "done"
    STOPPED = "stopped"
    WRITTEN = "written"


class Happening(Struct, frozen=True):
    """One thing that happened.

    Attributes:
        at: When, None where the record does not say.
        who: The agent it is about.
        what: What it is, one line of stored text.
        by: Who decided; empty where nobody did.
        ref: Id of the request or message.
    """

    group: DigestGroup
    at: datetime | None
    who: str
    what: str
    by: str = ""
    ref: str = ""


class Digest(Struct, frozen=True):
    """What happened in a span of time.

    Attributes:
        happened: By group, the oldest first within each.
        waiting: How many things wait for the reader at the end of the span.
        unknown: What it cannot tell, as sentences.
        blocked: How long agents waited for a human in that span.
    """

    since: datetime
    until: datetime
    happened: tuple[Happening, ...]
    waiting: int
    unknown: tuple[str, ...]
    blocked: BlockedTimes

    def of(self, group: DigestGroup) -> tuple[Happening, ...]:
        """Return the happened of one group."""
        return tuple(item for item in self.happened if item.group is group)


def digest_of_team(team: Team, view: View, since: datetime) -> Digest:
    """Read what was written since a moment, archives included, and tell what happened.

    Args:
        view: The team as it is now, with the requests of that time.
    """
    messages, problems = history(team, view.snapshot.messages, Query((Term("since", moment=since),)))
    all_known = chain(
        chain.from_iterable(_happenings_of_request(view, row) for row in view.requests),
        chain.from_iterable(_happenings_of_message(view, message) for message in messages),
        _failed_deliveries(view),
    )
    found = [item for item in all_known if item.at is not None and item.at > since]
    order = tuple(DigestGroup)
    found.sort(key=lambda item: (order.index(item.group), item.at or EARLIEST))
    blocked = blocked_times(view.requests, view.now, since=since)
    unknown = (*(problem.sentence for problem in problems), *NOT_ON_RECORD)
    return Digest(since, view.now, tuple(found), count_to_do(view.attention), unknown, blocked)


def _happenings_of_request(view: View, row: RequestRow) -> Iterator[Happening]:
    """Yield what happened to a request: its question, its verdict, its end without one."""
    is_stop, what, ref = row.kind is RequestKind.SHUTDOWN, f"{row.kind}: {row.title}", row.request_id
    if reason := denial_of(row.question.payload) if row.answered_at is None else "":
        yield Happening(DigestGroup.DENIED, row.asked_at, row.asker, f"{row.title} ({reason})", ref=ref)
        return
    if row.asker != view.me and not is_stop and row.is_open:
        version = f"{row.kind}, new version: {row.title}" if row.supersedes else what
        yield Happening(DigestGroup.ASKED, row.asked_at, row.asker, version, ref=ref)
    if is_stop and row.answered_at is not None:
        is_no = row.state is RequestState.REJECTED
        if is_no:
            said = row.reason or "no reason"
        elif row.ended:
            said = "has stopped"
        else:
            said = "agreed to stop"
        group = DigestGroup.REFUSED if is_no else DigestGroup.STOPPED
        yield Happening(group, row.answered_at, row.addressee, said, ref=ref)
    elif row.answered_at is not None:
        yield Happening(
            DigestGroup.DECIDED, row.answered_at, row.asker, f"{row.state} {what}", row.answered_by or "", ref
        )
    elif row.state is RequestState.WITHDRAWN:
        elsewhere = row.reason.startswith(_ANSWERED_IN_SESSION)
        why = f"{what} ({row.reason})" if row.reason and not elsewhere else what
        group = DigestGroup.ELSEWHERE if elsewhere else DigestGroup.WITHDRAWN
        yield Happening(group, row.withdrawn_at, row.asker, why, ref=ref)


def _happenings_of_message(view: View, message: Message) -> Iterator[Happening]:
    """Yield a story or batch that ended, or words to the reader; requests and their answers are told as such."""
    read, group = parse_message(message), None
    if read.name == COMPLETE:
        state = report_state(read.body)
        failed = DigestGroup.FAILED if state is StoryState.FAILED else None
        group = DigestGroup.DONE if state is StoryState.DONE else failed
    elif read.name == BATCH_REPORT:
        group = DigestGroup.DONE
    elif message.sender != view.me and message.is_addressed_to(view.me):
        # Neither a request nor an end of one, nor a report of somebody's state.
        is_end = read.answers is not None or read.kind.withdraws
        is_plain = read.opens is None and not is_end and report_of(message) is None
        group = DigestGroup.WRITTEN if is_plain else None
    if group is not None:
        yield Happening(group, message.created_at, message.sender, message_title(message), ref=message.message_id)


def _failed_deliveries(view: View) -> Iterator[Happening]:
    for row in view.failed:
        at = row.message.moment("ended_at") or row.message.created_at
        what = f"not delivered: {message_title(row.message)}" + (f" ({row.error})" if row.error else "")
        yield Happening(DigestGroup.FAILED, at, row.recipient, what, ref=row.message.message_id)


def digest_json(found: Digest) -> dict[str, Any]:
    """Return the digest as the verb prints it."""
    return {**as_json(found, "what", "who", "ref"), "count": len(found.happened)}


_GROUP_WORDS = {
    DigestGroup.ASKED: "new request",
    DigestGroup.DECIDED: "decision",
    DigestGroup.WITHDRAWN: "withdrawn",
    DigestGroup.ELSEWHERE: "answered elsewhere",
    DigestGroup.DENIED: "denied by its client",
    DigestGroup.FAILED: "failed",
    DigestGroup.REFUSED: "refused to stop",
    DigestGroup.DONE: "done",
    DigestGroup.STOPPED: "agreed to stop",
    DigestGroup.WRITTEN: "message",
}
_WITH_PLURAL = frozenset({DigestGroup.ASKED, DigestGroup.DECIDED, DigestGroup.WRITTEN})


def group_head(group: DigestGroup, number: int) -> str:
    """Return the words before the things of a group, such as `2 new requests` or `1 withdrawn`."""
    return counted(number, _GROUP_WORDS[group]) if group in _WITH_PLURAL else f"{number:,} {_GROUP_WORDS[group]}"


def happening_line(item: Happening) -> str:
    """Return one thing in a line of stored text: who, what, and who decided."""
    return f"{item.who}: {item.what}" + (f" by {item.by}" if item.by else "")
