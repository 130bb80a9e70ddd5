"""Assess the status of the store and of what is shown, once for screen, verbs and JSON, which only render it (D16); the
view of a team that is opened for one question, and the JSON of requests, roster, status and check.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace
from team_console.store.contract.snapshot import (
    CONFLICTED_COPY,
    DROP_UNREADABLE,
    FOREIGN_TEAM,
    NO_LOCKS,
    Condition,
    LockHolder,
    Snapshot,
)
from team_console.store.contract.team import Team, WatchHint, WatchState, attachment_problems
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.settings.team_config import SETTINGS_LOST, SETTINGS_UNREADABLE
from team_console.store.views.history import newest_archived, unseen_problem
from team_console.store.views.projection import view_of
from team_console.store.views.roster import blocked_times
from team_console.store.views.rows import ActionItem, RequestRow, View, as_json

LONG_WRITE = 1.0
"""Seconds that no write of ours takes: a lock held longer than this is in the way, so it is a state of its own."""
SILENT = 45.0
"""Seconds without a look at the store after which what is shown counts as stale."""
_LIVE = WatchHint(WatchState.LIVE)


class State(StrEnum):
    """How true what is shown is, in one word; the worst that is known, in this order."""

    READING = "reading"
    """Not everything was read yet."""
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    STALE = "stale"
    """It was read, and may have changed since."""
    DOUBT = "doubt"
    """It was read, and messages are missing, damaged or in an earlier state, or may be."""
    LOCKED = "locked"
    """All is there; somebody holds the lock longer than a write takes."""
    SETTINGS = "settings"
    """All is there; the settings are lost or cannot be understood."""
    POLLING = "polling"
    """All is there; changes are noticed late."""
    FOREIGN = "foreign"
    """It is the team of another program, whose words decide nothing here."""
    EMPTY = "empty"
    OK = "ok"


class Reason(Struct, frozen=True):
    """One thing that stands between what is shown and the truth; its texts may hold stored text."""

    state: State
    text: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """The problem and the next step."""
        return f"{self.text}. {self.hint}" if self.hint else self.text


class Looks(Struct, frozen=True):
    """What somebody who goes on looking knows beside the last snapshot.

    Attributes:
        watch: How changes are noticed.
        failure: What kept the store from being read at the last try, as a sentence.
        looked_at: When the store was last looked at.
    """

    watch: WatchHint = _LIVE
    failure: str = ""
    looked_at: datetime | None = None


class StoreStatus(Struct, frozen=True):
    """The verdict.

    Attributes:
        state: The worst of the reasons, else `ok` or `empty`.
        reasons: Everything that is the matter, worst first.
        holder: Who holds the lock at this moment, None when nobody; it need not be long enough to matter.
        missing: How many messages are known to be missing.
        damaged: How many entries of the queue cannot be understood.
        is_empty: Whether the queue was read and holds nothing, whatever else is the matter.
    """

    state: State
    reasons: tuple[Reason, ...] = ()
    holder: LockHolder | None = None
    missing: int = 0
    damaged: int = 0
    is_empty: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether what is shown is known to be everything, so that nothing may be called empty otherwise."""
        return not any(reason.state in _INCOMPLETE for reason in self.reasons)

    def reason(self, *states: State) -> Reason | None:
        """Return the first reason of one of these states, None when there is none."""
        return next((reason for reason in self.reasons if reason.state in states), None)

    @property
    def doubts(self) -> tuple[Reason, ...]:
        """The reasons to print with a list that may be incomplete or whose readers may not be who they seem."""
        return tuple(reason for reason in self.reasons if reason.state in _INCOMPLETE | {State.SETTINGS, State.FOREIGN})


_MOST_DROP_FILES = 5
"""Files in `drop/` that are named one by one."""
_INCOMPLETE = frozenset({State.READING, State.UNREADABLE, State.VANISHED, State.STALE, State.DOUBT})


def assess(snapshot: Snapshot | None, now: datetime, looks: Looks = Looks()) -> StoreStatus:  # noqa: B008 (it is frozen)
    """Return the verdict on the last snapshot, None when none was taken yet."""
    reasons = tuple(_reasons(snapshot, now, looks))
    if snapshot is None:
        return StoreStatus(reasons[0].state, reasons)
    rest = State.EMPTY if snapshot.condition is Condition.EMPTY else State.OK
    return StoreStatus(
        state=reasons[0].state if reasons else rest,
        reasons=reasons,
        holder=snapshot.holder,
        missing=len(snapshot.missing),
        damaged=len(_damaged_entries(snapshot)),
        is_empty=snapshot.condition is Condition.EMPTY,
    )


def held_for(holder: LockHolder, now: datetime) -> float | None:
    """Return the seconds for which the lock has been held; None when that is not known, or the clocks do not agree."""
    since = from_text(holder.since)
    seconds = (now - since).total_seconds() if since is not None else None
    return None if seconds is None or seconds < -LONG_WRITE else max(seconds, 0.001)


def is_in_the_way(holder: LockHolder, now: datetime) -> bool:
    """Return whether the lock is held longer than a write takes; one of unknown age is taken for such a one."""
    held = held_for(holder, now)
    return held is None or held >= LONG_WRITE


def holder_words(holder: LockHolder, since: str) -> str:
    """Return the holder of the lock in words: for what, `since` when (formatted), and whether its process lives."""
    who = f"process {holder.pid}" if holder.pid else "another program (its name is not known)"
    host = f" on {holder.host}" if holder.host else ""
    action = f" ({holder.action})" if holder.action else ""
    alive = {True: "it is alive", False: "it is dead", None: "not known whether it is alive"}[holder.alive]
    return f"by {who}{host}{action} since {since or 'a time it does not say'}; {alive}"


def _reasons(snapshot: Snapshot | None, now: datetime, looks: Looks) -> Iterator[Reason]:
    """Yield everything that stands between what is shown and the truth, worst first."""
    if snapshot is None:
        yield Reason(State.STALE, looks.failure) if looks.failure else Reason(State.READING, "the team is being read")
        return
    if not snapshot.is_known:
        yield _unreadable_reason(snapshot)
    stale = _stale_words(now, looks)
    if stale:
        yield Reason(State.STALE, stale)
    yield from _doubt_reasons(snapshot)
    if snapshot.holder is not None and is_in_the_way(snapshot.holder, now):
        yield Reason(State.LOCKED, holder_words(snapshot.holder, snapshot.holder.since), "Reading goes on.")
    yield from _told_by_problems(snapshot, State.LOCKED, NO_LOCKS)
    yield from _told_by_problems(snapshot, State.SETTINGS, SETTINGS_UNREADABLE, SETTINGS_LOST)
    if snapshot.config.is_misplaced:
        hint = "team-console check says why; messages may wait in the other."
        yield Reason(State.SETTINGS, "the queue that the settings name is not the one that is used", hint)
    if looks.watch.state is WatchState.POLLING:
        yield Reason(State.POLLING, looks.watch.reason or "changes are looked for now and then")
    yield from _told_by_problems(snapshot, State.FOREIGN, FOREIGN_TEAM)


def _told_by_problems(snapshot: Snapshot, state: State, *codes: str) -> Iterator[Reason]:
    """Yield a reason for each problem of these codes."""
    found = (problem for problem in snapshot.problems if problem.code in codes)
    return (Reason(state, problem.message, problem.hint) for problem in found)


def _unreadable_reason(snapshot: Snapshot) -> Reason:
    """Return why there are no messages; the store's own problem, not that of a file beside it."""
    state = State(str(snapshot.condition))
    if (problem := snapshot.why_unknown) is not None:
        return Reason(state, problem.sentence, problem.hint)
    return Reason(state, "the queue is gone" if state is State.VANISHED else "the queue cannot be read")


def _stale_words(now: datetime, looks: Looks) -> str:
    if looks.failure:
        return looks.failure
    if looks.watch.state is WatchState.STALLED:
        return looks.watch.reason or "changes are not noticed at the moment"
    if looks.looked_at is not None and (now - looks.looked_at).total_seconds() > SILENT:
        return "the store was not looked at for a while"
    return ""


def _doubt_reasons(snapshot: Snapshot) -> Iterator[Reason]:
    """Yield why messages may be missing, damaged or in an earlier state."""
    if snapshot.doubt is not None:
        yield Reason(State.DOUBT, snapshot.doubt.message, snapshot.doubt.hint)
    elif snapshot.missing:
        number = len(snapshot.missing)
        many = f"{number:,} messages that were seen before are gone, and no archive has them"
        text = "1 message that was seen before is gone, and no archive has it" if number == 1 else many
        yield Reason(State.DOUBT, text, "Another program took it out without archiving it; nobody will receive it.")
    number = len(_damaged_entries(snapshot))
    # guard: damage-told
    if number:
        text = (
            "1 entry of the queue cannot be read" if number == 1 else f"{number:,} entries of the queue cannot be read"
        )
        says = "it says" if number == 1 else "they say"
        yield Reason(State.DOUBT, text, f"It is not known what {says}; 'team-console check' names each place.")
    for code in (CONFLICTED_COPY, DROP_UNREADABLE):
        told = [problem for problem in snapshot.problems if problem.code == code and problem.severity != "notice"]
        for problem in told[:_MOST_DROP_FILES]:
            yield Reason(State.DOUBT, problem.message, problem.hint)


def _damaged_entries(snapshot: Snapshot) -> list[Problem]:
    """Return the problems of entries that are not shown; a warning is about one that is shown as well as it can be."""
    return [problem for problem in snapshot.problems if problem.code == "DAMAGED_ENTRY" and problem.severity == "error"]


# View of a team as it is now, with as much of the archive as a question needs.

MOST_ARCHIVED = 2_000
"""How many archived messages, newest first, count for requests answered long ago and for when agents were seen."""


def view_of_team(
    team: Team,
    snapshot: Snapshot,
    *,
    me: str,
    archived: int = MOST_ARCHIVED,
    thorough: bool = False,
    counted: bool = True,
) -> View:
    """Return the view of `me`. A request that is open is in the queue with everything said about it, so `archived=0`
    is enough for what waits. A `thorough` look reads the attachments, too, and has a finding when it did not reach
    back to the beginning.

    Args:
        counted: Count finished messages that were not read, which costs a look at an index.
    """
    known = newest_archived(team, limit=archived)
    rest: tuple[Problem, ...] = (unseen_problem(known),) if thorough and known.more else ()
    if thorough:
        rest += tuple(attachment_problems(team, (*snapshot.messages, *known.messages)))
    finished = team.count_finished() if counted and snapshot.is_known else None
    problems = tuple(dict.fromkeys((*snapshot.problems, *known.problems, *rest)))
    seen = replace(snapshot, problems=problems, finished=finished)
    return view_of(seen, me=me, now=team.clock(), history=known.messages, complete=known.complete)


# The JSON objects of `requests`, `roster`, `status` and `check`, as plain values.


def request_json(row: RequestRow, now: datetime, cause: str) -> dict[str, Any]:
    """Return one request of the ledger; `cause` is what those that are alike share (`causes_of`)."""
    names = ("request_id", "answered_by", "reason", "title", "supersedes", "superseded_by", "kind", "state", "flags")
    moments = ("asked_at", "answered_at", "seen_at", "due_at", "expires_at", "withdrawn_at")
    return {
        **{name: as_json(getattr(row, name)) for name in (*names, "forged", *moments)},
        "from": row.asker,
        "to": row.addressee,
        "message_id": row.question.message_id,
        "waiting_seconds": round(row.waiting_seconds(now), 3),
        "content": row.question.content,
        "answers": [answer.message_id for answer in row.answers],
        "cause": cause,
        "talk": [
            {"by": said.sender, "at": said.created, "content": said.content, "asks": said.sender != row.asker}
            for said in row.talk
        ],
    }


def roster_json(view: View) -> dict[str, Any]:
    """Return what `roster --json` prints; what is not known of an agent is null."""
    agents = [
        as_json(row, "name", "role", "reason")
        | {"oldest_unread_seconds": _seconds(row.oldest_unread, view.now), "addressable": row.is_addressable}
        for row in view.roster
    ]
    return {"agents": agents}


def status_json(view: View, team: Team) -> dict[str, Any]:
    """Return what `status --json` prints; `needs_you` counts `needs`, `problems` the findings of `check`.

    While the store cannot be read `messages`, `needs` and `needs_you` are null; `condition` is a `State`, `reasons`
    says all that is the matter, `doubt` why messages may be missing, `missing` how many are known to be, `damaged` how
    many entries cannot be read, `dropped` how many wait beside the queue to be taken in, `lock` who holds the lock at
    this moment.
    """
    snapshot, truth = view.snapshot, assess(view.snapshot, view.now)
    return {
        "team": snapshot.config.name,
        "location": team.location,
        "backend": team.kind,
        "read_only": team.read_only,
        "condition": str(truth.state),
        "agents": len(view.roster),
        "messages": dict(view.counts) if snapshot.is_known else None,
        "needs_you": len(view.attention) if snapshot.is_known else None,
        "problems": len(view.findings),
        "last_change": as_json(snapshot.changed_at),
        "doubt": " ".join(reason.sentence for reason in truth.doubts) or None,
        "missing": truth.missing,
        "damaged": truth.damaged,
        "lock": asdict(truth.holder) if truth.holder else None,
        "reasons": as_json(truth.reasons, "text", "hint"),
        "dropped": len(snapshot.dropped),
        "blocked": as_json(blocked_times(view.requests, view.now)),
        "needs": [need_json(item, view.now) for item in view.attention] if snapshot.is_known else None,
    }


def need_json(item: ActionItem, now: datetime) -> dict[str, Any]:
    """Return one thing that waits for the reader, most urgent first in `needs`."""
    return {
        "need": str(item.need),
        "who": item.who,
        "title": item.title,
        "why": item.why,
        "score": item.score,
        "since": as_json(item.since),
        "waiting_seconds": _seconds(item.since, now),
        "blocks": list(item.blocks),
        "request_id": item.request.request_id if item.request else None,
        "message_id": item.message.message_id if item.message else None,
        "answerable": item.answerable,
    }


def check_json(view: View) -> dict[str, Any]:
    """Return what `check --json` prints."""
    findings = [asdict(finding) for finding in view.findings]
    return {"condition": str(assess(view.snapshot, view.now).state), "findings": findings}


def _seconds(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else round(max(0.0, (now - since).total_seconds()), 3)
