"""Reads what the ledger of decisions is made from: archives, audit trail, and the queue where there is one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from team_console.store.contract.team import KEPT_PRIVATE, LOST, Condition, Snapshot, Team
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem
from team_console.store.protocol.entries import EARLIEST
from team_console.store.protocol.verdicts.trust import is_signed
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.decisions.decision import DecisionLedger, Proof
from team_console.store.views.decisions.ledger import Signature, Sources, decision_ledger
from team_console.store.views.history import past
from team_console.store.views.rows import RequestRow

ALL_MESSAGES = 10_000_000
AUDITED = 100_000
"""Lines of the audit trail, newest first, that decisions without a message are looked for in."""
_OF_SOURCES = LOST | {KEPT_PRIVATE}


def ledger_of_team(
    team: Team,
    snapshot: Snapshot,
    *,
    archived: int = ALL_MESSAGES,
    audited: int = AUDITED,
    signature: Signature | None = None,
) -> DecisionLedger:
    """The ledger of a team; a queue that is gone or cannot be read is said, and misses nothing that was decided.

    Args:
        archived: How many archived messages are read, the newest first.
        audited: How many lines of the audit trail are.
    """
    known = past(team, limit=archived)
    live = snapshot.messages if snapshot.is_known else ()
    told = (problem for problem in snapshot.problems if problem.code in _OF_SOURCES)
    problems = (*told, *known.problems, *_gone(snapshot))
    if not known.complete and known.more:
        problems = (*problems, _older(len(known.messages)))
    sources = Sources(
        messages=_each_once(live, known.messages),
        audit=team.audit(limit=audited),
        recorded=snapshot.recorded,
        config=snapshot.config,
        now=team.clock(),
        complete=known.complete,
        problems=tuple(dict.fromkeys(problems)),
        signature=signature or partial(_proof, snapshot.config),
    )
    return decision_ledger(sources)


def _proof(config: TeamConfig, question: Message, verdict: Message) -> Proof | None:
    return Proof.SIGNED if is_signed(config, verdict, question) else None


def sources_stamp(rows: Iterable[RequestRow], snapshot: Snapshot) -> object:
    """What tells whether anything was decided since: the answers that stand, and what the audit trail has of them."""
    verdicts = tuple((row.key, row.state, row.flags, row.verdict.message_id) for row in rows if row.verdict is not None)
    return verdicts, len(snapshot.recorded.log) if snapshot.recorded is not None else -1, snapshot.condition


def _each_once(live: Iterable[Message], archived: Iterable[Message]) -> list[Message]:
    """Newest first; a message that is live and archived is one, as it is live."""
    by_id = {message.message_id: message for message in (*archived, *live)}
    return sorted(by_id.values(), key=lambda message: message.created_at or EARLIEST, reverse=True)


def _gone(snapshot: Snapshot) -> Iterable[Problem]:
    if snapshot.condition is Condition.VANISHED:
        text = "the queue is gone; the ledger is made from archives and the audit trail alone"
    elif snapshot.condition is Condition.UNREADABLE:
        text = "the queue cannot be read; the ledger is made from archives and the audit trail alone"
    else:
        return ()
    return (Problem("QUEUE_NOT_READ", "warning", "queue", text, "Decisions are in both; open requests are not."),)


def _older(number: int) -> Problem:
    text = f"only the newest {number:,} archived messages were read; older decisions stand without their questions"
    return Problem("OLDER_NOT_SEEN", "notice", "archive", text, "'team-console decisions' reads all of them.")
