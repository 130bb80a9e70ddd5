"""Link requests that follow each other: what later requests and messages of a chain make of an earlier one.

A plan has versions, a stop is asked for again, an end is approved by the stop that its agent was asked for, and an
agent that was dispatched has reported. Last, which messages must stay in the queue because others rest on them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.protocol.client_sessions import lasting_notes
from team_console.store.protocol.foreign_fields import key_in
from team_console.store.protocol.kinds import REPLACES, SHUTDOWN_RESPONSE, RequestKind
from team_console.store.protocol.membership import CREATED, DESTROYED, ROSTER, is_master
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage, StoreOrder
from team_console.store.protocol.request_messages import RequestMessages
from team_console.store.protocol.request_row import Flag, RequestRow, RequestState
from team_console.store.protocol.sprint_bodies import DISPATCH, dispatched_name

STOP, DISPATCHED = "stop", "dispatch"
"""Links of requests about an agent; plans are linked by their kind."""


class Chain(NamedTuple):
    """What links requests.

    Attributes:
        link: `STOP`, `DISPATCHED`, or the kind of plans.
        agent: Whom a stop or a dispatch is about; of plans their author.
    """

    link: str
    agent: str


def chain_of(kind: RequestKind, question: Message) -> Chain | None:
    """Return the chain a request belongs to, None when it stands alone."""
    read = parse_message(question)
    if kind is RequestKind.PLAN:
        return Chain(str(kind), question.sender)
    if kind is RequestKind.SHUTDOWN:
        return Chain(STOP, question.recipients[0])
    if read.name == DISPATCH:
        return Chain(DISPATCHED, dispatched_name(read))
    return Chain(STOP, read.subject) if kind is RequestKind.DESTROY and read.subject is not None else None


class Succession(NamedTuple):
    """What a question shares with those that it replaces or is replaced by: they differ in nothing of it."""

    chain: Chain
    kind: RequestKind
    asker: str


def succession_of(message: Message) -> Succession | None:
    """Return what a question shares with its predecessors and successors; None for any other message."""
    kind = parse_message(message).opens
    chain = chain_of(kind, message) if kind is not None else None
    return Succession(chain, kind, message.sender) if chain is not None and kind is not None else None


def link_stops(
    messages: RequestMessages, rows: Sequence[RequestRow], spoke: StoreOrder | None, arrived: StoreOrder | None
) -> list[RequestRow]:
    """Return the stops and ends that were asked for of one agent, each as the others and the agent's words leave it.

    Whoever asks again replaces its own open request. An agent that spoke after its last yes is alive all the same.

    Args:
        spoke: When the agent last said anything but that it agrees to stop.
        arrived: When the newest agent of that name was created.
    """
    rows = [_in_its_life(messages, row) for row in rows]
    agreed = [row for row in rows if row.state is RequestState.APPROVED]
    # By date and place in the store, as `spoke` and `arrived` are, with which it is compared.
    agreed_at = {row.key: StoreOrder(row.answered_at or EARLIEST, row.decided.place_in_store) for row in agreed}
    last_yes = max(agreed_at.values(), default=None)
    found = {row.key: approved_by_stop(messages, row, rows) for row in rows}
    for kind, asker in {(row.kind, row.asker) for row in rows}:
        same = [row for row in found.values() if (row.kind, row.asker) == (kind, asker)]
        # What was refused is history, and the next one a new matter; a rejected plan is revised.
        found |= {row.key: row for row in link_versions(same, RequestState.REJECTED)}
    for key, yes in agreed_at.items():
        found[key] = _with_silence(found[key], yes, spoke, arrived, is_last=yes == last_yes)
    return [_ended_by_other_yes(row, agreed) for row in found.values()]


def _with_silence(
    row: RequestRow, yes: StoreOrder, spoke: StoreOrder | None, arrived: StoreOrder | None, *, is_last: bool
) -> RequestRow:
    """Return a request to stop that was agreed to, with whether the agent fell silent after that.

    Args:
        yes: When it agreed.
        is_last: Whether it agreed to none later: only there it is said that it is alive.
    """
    is_created_again = arrived is not None and arrived > yes  # then another agent of that name speaks
    is_alive = spoke is not None and spoke > yes and not is_created_again
    flags = (*row.flags, Flag.STILL_ALIVE) if is_alive and is_last else row.flags
    return replace(row, ended=not is_alive, flags=flags)


def _ended_by_other_yes(row: RequestRow, agreed: Iterable[RequestRow]) -> RequestRow:
    """Return an open request about an agent as one that needs no answer once a later yes ended that agent."""
    if row.state is not RequestState.OPEN:
        return row
    # A slave that reported its batch asks for its own end: nobody waits for that once it has ended.
    is_stop, is_own_end = row.kind is RequestKind.SHUTDOWN, row.asker == row.ends
    endings = (each for each in agreed if is_stop or (is_own_end and each.kind is not RequestKind.SHUTDOWN))
    later_yes = next((each.verdict for each in endings if each.decided > row.order), None)
    return row if later_yes is None else _without_need_of_answer(row, later_yes, f"{row.stops} has ended")


def _in_its_life(messages: RequestMessages, row: RequestRow) -> RequestRow:
    """Return a request about an agent as it stands once another one of that name was created (D34)."""
    created = (messages.when(entry) for entry in _creations_of(messages, row.stops or ""))
    next_created = min((order for order in created if order > row.order), default=None)
    is_answered = row.verdict is not None and next_created is not None and row.decided < next_created
    # guard: request-about-one-life
    if next_created is None or is_answered or row.state is RequestState.WITHDRAWN:
        return row
    return replace(
        row,
        state=RequestState.WITHDRAWN,
        verdict=None,
        withdrawn_at=next_created.moment,
        lapse=f"another {row.stops} was created since",
        decided=next_created,
        is_of_former_life=True,
    )


def _creations_of(messages: RequestMessages, agent: str) -> Iterator[PlacedMessage]:
    """Yield every creation of an agent of this name that counts, from the store and from the trail."""
    found = {entry.message.message_id: entry for entry in messages.creations.get(agent, ())}
    if messages.recorded is not None:
        for message_id in messages.recorded.creations_of(agent):
            message = messages.recorded.message(message_id)
            if message is not None:
                found.setdefault(message_id, PlacedMessage.of(message, 0.0))
    for entry in found.values():
        if is_master(messages.config, entry.message.sender) and not messages.objection(entry.message, None):
            yield entry


def end_dispatches(messages: RequestMessages, rows: Iterable[RequestRow], agent: str) -> Iterator[RequestRow]:
    """Yield the requests for an agent together with its task; one whose task is reported done needs no answer.

    Nobody announces such an agent, so its report is what shows that it was created (r3).
    """
    reports = sorted(messages.reports.get(agent, ()), key=messages.when)
    for row in rows:
        place = bisect_right(reports, row.order, key=messages.when)
        if row.state is RequestState.OPEN and place < len(reports):
            report = reports[place].message
            row = _without_need_of_answer(row, report, f"{report.sender} did its work")
        yield row


def approved_by_stop(messages: RequestMessages, row: RequestRow, rows: Iterable[RequestRow]) -> RequestRow:
    """Return a request for an agent's end, approved from the moment at which the agent is asked to stop.

    Once the agent refuses, the request is as it was before, with the refusal. Any other row is returned unchanged.

    Args:
        rows: The stops among which those are looked for that were asked for because of this request.
    """
    if row.kind is not RequestKind.DESTROY:
        return row
    stops = [stop for stop in rows if _is_because_of(messages, stop, row)]
    permitted = [stop for stop in stops if not messages.objection(stop.question, row.question)]
    if not permitted or (row.state is RequestState.WITHDRAWN and row.decided < permitted[0].order):
        return row
    if row.verdict is None:
        return _approved_without_verdict(row, stops, permitted)
    return _approved_before_verdict(row, row.verdict, permitted)


def _approved_without_verdict(
    row: RequestRow, stops: Sequence[RequestRow], permitted: Sequence[RequestRow]
) -> RequestRow:
    """Return a request for an end that has no verdict as the stops of its agent leave it: approved, or refused."""
    ending = next((stop for stop in stops if stop.is_approved), stops[-1])
    if ending.state is RequestState.REJECTED:
        return replace(row, flags=(*row.flags, Flag.REFUSED), refusal=ending.verdict)
    approving = next((stop for stop in permitted if stop.state is not RequestState.REJECTED), permitted[0])
    flags = (*row.flags, Flag.STOPPING) if ending.verdict is None else row.flags
    return replace(_approved_by(row, approving), flags=flags, ending=ending)


def _approved_before_verdict(row: RequestRow, verdict: Message, permitted: Sequence[RequestRow]) -> RequestRow:
    """Return a request for an end, approved by a stop that was asked for before its verdict; else as it is.

    A no after such a stop contradicts it, unless the agent had refused to stop by then.
    """
    before = [stop for stop in permitted if stop.order < row.decided]
    if parse_message(verdict).approve is not False:
        return _approved_by(row, before[0]) if before else row
    before = [stop for stop in before if stop.state is not RequestState.REJECTED or stop.decided >= row.decided]
    if not before:
        return row
    flags = (flag for flag in row.flags if flag is not Flag.CONTRADICTORY)
    return replace(_approved_by(row, before[0]), flags=(*flags, Flag.CONTRADICTORY, Flag.ANSWERED_TWICE))


def _approved_by(row: RequestRow, stop: RequestRow) -> RequestRow:
    """Return a request for an end as one that was approved when the agent was asked for this stop."""
    return replace(
        row,
        state=RequestState.APPROVED,
        decided=stop.order,
        answers=(stop.question, *row.answers),
        verdict=stop.question,
        ending=None,
    )


def _is_because_of(messages: RequestMessages, stop: RequestRow, row: RequestRow) -> bool:
    """Return whether a stop was asked for because of the request for an end, by whoever may decide that."""
    if stop.kind is not RequestKind.SHUTDOWN or stop.state is RequestState.WITHDRAWN:
        return False
    quotes = key_in(stop.question.payload, "in_reply_to") == row.request_id
    return quotes and not messages.objection(stop.question, None) and messages.may_answer(stop.question, row.question)


def _without_need_of_answer(row: RequestRow, by: Message, why: str) -> RequestRow:
    """Return the request as one that needs no answer any more, because of another message and for this reason."""
    return replace(row, state=RequestState.WITHDRAWN, withdrawn_at=by.created_at, lapse=why)


def link_versions(rows: Sequence[RequestRow], *final: RequestState) -> list[RequestRow]:
    """Return the requests of one chain, each linked to the version before it, which it supersedes while that is open.

    What was approved gets no further version, and what was taken back counts as none; but a plan that had been replaced
    stays so where the last one was taken back: its asker was told that it needs no answer.

    Args:
        final: Further states in which a request is neither replaced nor points to a later one.
    """
    without_version = {RequestState.APPROVED, RequestState.WITHDRAWN, *final}
    with_version = {RequestState.OPEN, RequestState.REJECTED}.difference(final)
    found: list[RequestRow] = []
    # From the newest to the oldest, since each has to know what came of those behind it: `newer` is the nearest of them
    # that was not taken back, `taken_back` the nearest plan that was.
    newer: RequestRow | None = None
    taken_back: RequestRow | None = None
    for place in reversed(range(len(rows))):
        row, older = rows[place], rows[place - 1] if place else None
        supersedes = superseded_by = None
        if older is not None and older.state not in without_version and _is_version_of(row, older):
            supersedes = older.request_id
        if newer is None and row.state is RequestState.OPEN:
            # guard: replaced-plan-stays-so
            newer = taken_back
        if newer is not None and row.state in with_version and _is_version_of(newer, row):
            superseded_by = newer.request_id
        state, flags = row.state, row.flags
        if superseded_by is not None and row.state is RequestState.OPEN:
            state, flags = RequestState.SUPERSEDED, (*row.flags, Flag.SUPERSEDED)
        found.append(replace(row, supersedes=supersedes, superseded_by=superseded_by, state=state, flags=flags))
        if row.state is not RequestState.WITHDRAWN:
            # guard: superseding-request-kept
            newer = row
        elif row.kind is RequestKind.PLAN:
            taken_back = row
    return _with_age_of_versions(found[::-1])


def _is_version_of(row: RequestRow, older: RequestRow) -> bool:
    """Return whether a request is a new version of the one before.

    It is when that one is open still, has the same title, or is named by the asker. A stop always is.
    """
    if row.kind is not RequestKind.PLAN or older.state is RequestState.OPEN:
        return True
    return row.title.casefold() == older.title.casefold() or key_in(row.question.payload, REPLACES) == older.request_id


def _with_age_of_versions(rows: Iterable[RequestRow]) -> list[RequestRow]:
    """Return the requests; an open version waits since the first one that nobody answered, and is as late as that."""
    found: list[RequestRow] = []
    for row in rows:
        before = found[-1] if found else None
        if (
            before is not None
            and row.is_open
            and row.kind is RequestKind.PLAN  # who asks again to stop gives the agent its time again
            and before.state is RequestState.SUPERSEDED
            and row.supersedes == before.request_id
        ):
            row = replace(row, first_asked_at=before.waits_since, due_at=before.due_at or row.due_at)
        found.append(row)
    return found


# Messages that must stay in the queue because the meaning of others rests on them.


def retained_ids(messages: Sequence[Message], *, present: Collection[str]) -> frozenset[str]:
    """Return the ids of messages without which those `present` would mean something else: an older plan would be open
    again.

    These are the rest of their threads, what superseded them, and the newest words on who is in the team.

    Args:
        messages: In stored order; the present ones among them.
        present: Ids of messages that are in the queue.
    """
    threads = threads_of(messages)
    kept = {request_id for request_id, thread in threads.items() if any(one.message_id in present for one in thread)}
    chains: dict[Succession, list[str]] = {}
    for request_id, thread in threads.items():
        for message in thread:
            if (chain := succession_of(message)) is not None:
                chains.setdefault(chain, []).append(request_id)
    for request_ids in chains.values():
        # Each superseded the one before it: from the first that is kept, all that follow are needed.
        first_kept = next((place for place, one in enumerate(request_ids) if one in kept), len(request_ids))
        kept.update(request_ids[first_kept:])
    members = (message.message_id for request_id in kept for message in threads[request_id])
    return frozenset((*members, *newest_words(messages)))


def threads_of(messages: Iterable[Message]) -> dict[str, list[Message]]:
    """Return the messages of each request id."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        request_id = parse_message(message).request_id
        if request_id is not None:
            threads.setdefault(request_id, []).append(message)
    return threads


def newest_words(messages: Sequence[Message]) -> Iterable[str]:
    """Yield ids of the newest words on who is in the team, on each agent's end, and on what its sessions do."""
    # guard: lasting-notes-kept
    yield from lasting_notes(messages)
    roster_seen = False
    stopped: set[str] = set()
    for message in reversed(messages):
        name = parse_message(message).name
        if name in (CREATED, DESTROYED, ROSTER) and not roster_seen:
            yield message.message_id
            roster_seen = name == ROSTER
        elif name == SHUTDOWN_RESPONSE and message.sender not in stopped:
            stopped.add(message.sender)
            yield message.message_id
