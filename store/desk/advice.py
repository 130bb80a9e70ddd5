"""Advice to a sender: whatever `check` would report of the message is told before anybody else reads it.

The rules themselves stand in `store.protocol.checks` (`message_rules`, `team_rules`), where `check` has them from too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, did_you_mean
from team_console.store.model.words import counted
from team_console.store.protocol.checks.message_rules import problems_of, self_addressed
from team_console.store.protocol.checks.team_rules import (
    TeamFacts,
    expected_on_roster,
    is_judged_by_team,
    report_targets,
    team_problems,
)
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.registry import CARRIERS, KINDS
from team_console.store.protocol.reading import Reading, reading
from team_console.store.protocol.relations.answering import already_answered
from team_console.store.protocol.relations.membership import known, membership_facts
from team_console.store.protocol.relations.plans import BATCH_REPORT, plans_of

_OFTEN, _MANY = timedelta(minutes=1), 4
"""From so many broadcasts of one sender within this time on, the sender is told (requirement 61)."""
_RESULTS = frozenset({RequestKind.DEBUG, RequestKind.BROWSER, RequestKind.RESEARCH})


def advise(tx: Transaction, messages: Sequence[Message]) -> list[str]:
    """What is odd about messages that were just put into `tx`, as sentences, each once.

    Raises:
        TeamError: `ALREADY_ANSWERED` for a second result, the same or another (decision D14), `NOT_PERMITTED`
            for a result by anybody but the one who was asked (D17).
    """
    reads = [reading(message) for message in messages]
    facts = _facts(tx, reads) if any(map(is_judged_by_team, reads)) else TeamFacts(tx.config)
    told: dict[str, None] = {}
    for read in reads:
        problems = (*problems_of(read), *self_addressed(read.message), *team_problems(read, facts))
        told.update(dict.fromkeys(problem.message for problem in problems))
        told.update(dict.fromkeys(_of_name(tx, read)))
        told.update(dict.fromkeys(_of_answers(tx, read, reads)))
    return list(told)


def broadcast_advice(tx: Transaction, messages: Sequence[Message], members: Iterable[str]) -> Iterator[str]:
    """What is odd about a broadcast as a whole: whom it leaves out, and how often its sender broadcasts."""
    first = messages[0]
    reached = {name for message in messages for name in message.recipients}
    left_out = [name for name in members if name not in reached and name != first.sender]
    if left_out and ALL not in reached:
        some = counted(len(reached), "agent")
        yield f"a broadcast goes to every member, this one reaches {some}; use type message for some"
    ours = {message.message_id for message in messages}
    earlier = {
        message.broadcast_id or message.message_id: message
        for message in tx.select(types=("broadcast",))
        if message.sender == first.sender and message.message_id not in ours and _is_recent(tx, message)
    }
    same = sum(dict(message.payload) == dict(first.payload) for message in earlier.values())
    if same:
        times = "once" if same == 1 else f"{same} times"
        yield f"the same broadcast went out {times} in the last minute; each is a delivery to every member"
    elif len(earlier) + 1 >= _MANY:
        number = len(earlier) + 1
        yield f"this is broadcast number {number} of {first.sender} within a minute; keep them for what all must see"


def _is_recent(tx: Transaction, message: Message) -> bool:
    return message.created_at is not None and tx.now - message.created_at <= _OFTEN


def _facts(tx: Transaction, reads: Iterable[Reading]) -> TeamFacts:
    """The facts these messages are judged by; what only some kinds need is looked for only for them."""
    names, live = {read.name for read in reads}, tx.everything()
    carried = map(reading, (message for message in live if message.type in CARRIERS))
    return TeamFacts(
        tx.config,
        known(tx.config, live),
        report_targets(carried) if "AGENT_COMPLETE" in names else {},
        plans_of(map(reading, live)) if BATCH_REPORT in names else {},
        expected_on_roster(tx.config, membership_facts(live)) if "AGENT_ROSTER_BROADCAST" in names else {},
    )


def _of_name(tx: Transaction, read: Reading) -> Iterator[str]:
    """A plain message that carries `NAME: {json}` of a kind nobody knows: whoever waits for it waits for ever."""
    if read.kind is None and read.name != read.message.type and read.name not in tx.config.kinds:
        yield f"{read.name:.80} is no kind that is known here{did_you_mean(read.name, KINDS)}"


def _of_answers(tx: Transaction, read: Reading, reads: Sequence[Reading]) -> Iterator[str]:
    """An answer to nothing, and a quoted message that nobody has."""
    if read.answers in _RESULTS:
        yield from _of_results(tx, read, reads)
        return
    quoted = read.message.payload.get("in_reply_to") or read.message.payload.get("request_id")
    if read.opens is None and isinstance(quoted, str) and quoted and not _is_there(tx, quoted, reads):
        field = "in_reply_to" if read.message.payload.get("in_reply_to") else "request_id"
        yield f"{field}: no message or request {quoted:.120} is known, so this answers nothing"


def _is_there(tx: Transaction, quoted: str, reads: Sequence[Reading]) -> bool:
    ours = {read.message.message_id for read in reads}
    return tx.known(quoted) is not None or any(message.message_id not in ours for message in tx.thread(quoted))


def _of_results(tx: Transaction, read: Reading, reads: Sequence[Reading]) -> Iterator[str]:
    kind, message = read.answers, read.message
    ours = {read.message.message_id for read in reads}
    shared = read.request_id or read.subject or ""
    asker = message.recipients[0]
    about = [item for item in _same_matter(tx, read) if item.message_id not in ours]
    cases = judge(about, tx.config, tx.recorded, tx.now).values()
    mine = sorted((case for case in cases if case.kind is kind and case.asker == asker), key=lambda case: case.order)
    waiting = next((case for case in mine if case.is_open), None)
    if waiting is not None:
        recipients = waiting.question.message.recipients
        if message.sender not in recipients:
            text = f"{message.sender} may not answer {shared}; it is for {', '.join(recipients)}"
            raise TeamError(Code.NOT_PERMITTED, text, "Only the addressee of a request answers it.", request_id=shared)
        return
    answered = next((case.verdict.message for case in reversed(mine) if case.verdict is not None), None)
    if answered is None:
        yield f"{read.name} answers {shared or 'nothing'}, which {asker} has not asked as far as is known"
    else:
        raise already_answered(shared, answered)


def _same_matter(tx: Transaction, read: Reading) -> Iterable[Message]:
    """Questions and answers that share the id, or where no id is quoted the story, oldest first."""
    if read.request_id is not None:
        return tx.thread(read.request_id)
    carried = (message for message in tx.everything() if message.type in CARRIERS)
    return [message for message in carried if reading(message).subject == read.subject]
