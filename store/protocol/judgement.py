"""Judge requests: whether each is open, answered, superseded, withdrawn or expired, by whom and why.

The one rule for every face: write actions, compaction, hooks and views ask it. It rests on messages, the settings, what
the audit trail has of the messages, and the time. `request_messages` pairs answers with their questions,
`request_chains` says what later requests make of a request, `request_row` is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.client_requests import TIMED_OUT, expiry_of
from team_console.store.protocol.kinds import ASKED_BACK, IN_WORDS, RESULTS, REUSED_IDS, RequestKind
from team_console.store.protocol.parsing import parse_message, thread_of
from team_console.store.protocol.placed_message import PlacedMessage, StoreOrder
from team_console.store.protocol.request_chains import (
    DISPATCHED,
    STOP,
    Chain,
    approved_by_stop,
    chain_of,
    end_dispatches,
    link_stops,
    link_versions,
    succession_of,
)
from team_console.store.protocol.request_messages import Claim, RequestMessages, Thread, claims_to_answer, pool_of
from team_console.store.protocol.request_row import Flag, RequestRow, RequestState
from team_console.store.protocol.shown_when_decided import digest_of, given_on
from team_console.store.protocol.titles import message_title
from team_console.store.protocol.trust import NOT_ON_RECORD, writes_elsewhere
from team_console.store.protocol.verdicts import is_verdict, word_of
from team_console.store.settings.team_config import TeamConfig

_MOST_TWINS = 64
"""Twins of one id that are judged: nobody asks that often, and each costs a look at the whole thread."""


class Judged(Struct, frozen=True):
    """Every request of some messages, before the clock is looked at.

    Attributes:
        twin_rows: Those that questions under the id of another open: an answer may have been given on just that one.
        twins: Request id -> further questions under an id that another question has.
        orphans: Answers to nothing that is known.
    """

    rows: Sequence[RequestRow]
    twin_rows: Sequence[RequestRow]
    twins: Mapping[Thread, tuple[PlacedMessage, ...]]
    orphans: Sequence[PlacedMessage]


def judge(
    messages: Iterable[Message], config: TeamConfig, recorded: RecordedFacts | None, now: datetime
) -> dict[Message, RequestRow]:
    """Return every request that these messages open, by its question, as it stands `now`.

    Args:
        messages: In stored order, with everything that bears on the requests (`with_bearing`).
        recorded: What the audit trail has of them; None where there is no trail to ask.
    """
    judged = judge_entries(config, recorded, PlacedMessage.each(messages))
    return {row.question: row_at(row, now) for row in (*judged.rows, *judged.twin_rows)}


def judge_entries(
    config: TeamConfig,
    recorded: RecordedFacts | None,
    entries: Iterable[PlacedMessage],
    spoken: Mapping[str, StoreOrder] = MappingProxyType({}),
    arrived: Mapping[str, StoreOrder] = MappingProxyType({}),
) -> Judged:
    """Judge every request that these entries open.

    Args:
        spoken: Agent -> when it last said that it is alive; empty where nobody asks whether one fell silent.
        arrived: Agent -> when its creation was announced, likewise.
    """
    messages = RequestMessages(config, recorded, entries)
    rows: list[RequestRow] = []
    chains: dict[Chain, list[RequestRow]] = {}
    twins: dict[Thread, tuple[PlacedMessage, ...]] = {}
    twin_rows: list[RequestRow] = []
    for thread in messages.threads:
        opening, twin_entries = _opening_questions(sorted(messages.questions.get(thread, ()), key=messages.rank))
        for row in _judge_thread(messages, thread, opening):
            chain = chain_of(row.kind, row.question)
            if chain is None:
                rows.append(row)
            else:
                chains.setdefault(chain, []).append(row)
        if twin_entries:
            twins[thread] = tuple(twin_entries)
            looked_at = twin_entries[:_MOST_TWINS]
            named = [_KeyedQuestion(_key(entry, entry.message.message_id), entry) for entry in looked_at]
            twin_rows += _judge_thread(messages, thread, named)
        messages.orphans += _orphans(messages.others.get(thread, ()), {question.read.opens for _, question in opening})
    for (link, agent), members in chains.items():
        members.sort(key=lambda row: row.order)
        if link == STOP:
            rows += link_stops(messages, members, spoken.get(agent), arrived.get(agent))
        elif link == DISPATCHED:
            rows += end_dispatches(messages, members, agent)
        else:
            rows += link_versions(members)
    stops = [row for row in rows if row.kind is RequestKind.SHUTDOWN]
    return Judged(rows, [approved_by_stop(messages, row, stops) for row in twin_rows], twins, messages.orphans)


def with_bearing(thread: Sequence[Message], live: Callable[[], Sequence[Message]]) -> Sequence[Message]:
    """Return a thread, with the live messages where some may bear on its requests though they do not quote its id."""
    asked = [message for message in thread if parse_message(message).opens is not None]
    if not any(succession_of(message) or pool_of(PlacedMessage.of(message, 0)) for message in asked):
        return thread
    everything = live()
    here = set(map(id, everything))
    return [*(message for message in thread if id(message) not in here), *everything]


def _key(question: PlacedMessage, message_id: str = "") -> str:
    """Return the key of a request; with the id of its question where several have the request's id."""
    key = f"{question.read.opens}:{thread_of(question.message)}"
    return f"{key}:{message_id}" if message_id else key


class _KeyedQuestion(NamedTuple):
    """A question with the key of the request that it opens."""

    key: str
    question: PlacedMessage


def _opening_questions(asked: Iterable[PlacedMessage]) -> tuple[list[_KeyedQuestion], list[PlacedMessage]]:
    """Return the questions that open a request, each with its key, and those that come too late under their id.

    The first question of its kind opens one; several do for kinds whose ids are used again.
    """
    opening: list[_KeyedQuestion] = []
    twins: list[PlacedMessage] = []
    seen: dict[RequestKind | None, list[str]] = {}
    for question in asked:
        message_id = question.message.message_id
        same = seen.setdefault(question.read.opens, [])
        if same and (question.read.opens not in REUSED_IDS or message_id in same):
            twins.append(question)
            continue
        opening.append(_KeyedQuestion(_key(question, message_id if same else ""), question))
        same.append(message_id)
    return opening, twins


def _orphans(others: Iterable[PlacedMessage], kinds: set[RequestKind | None]) -> Iterator[PlacedMessage]:
    """Yield answers of a thread that answer none of the requests in it, which are of these kinds.

    An answer of no kind of its own, such as a plain message with a yes, answers a request of any kind.
    """
    for entry in others:
        read = entry.read
        if read.answers is not None:
            is_orphan = read.answers not in kinds
        else:
            is_orphan = read.approve is not None and not read.kind.withdraws and not kinds
        if is_orphan:
            yield entry


def _judge_thread(messages: RequestMessages, thread: Thread, named: Iterable[_KeyedQuestion]) -> Iterator[RequestRow]:
    """Judge questions of one thread, each with its key, by what was said to it."""
    asked, others = messages.questions.get(thread, ()), messages.others.get(thread, ())
    recorded = messages.on_record(thread)
    pools = dict.fromkeys(filter(None, map(pool_of, sorted(asked, key=messages.rank))))
    digests = {digest_of(entry.message) for entry in asked} if len(asked) > 1 else set[str]()
    there = {entry.message.message_id for entry in others}
    absent = [entry for entry in recorded if entry.message.message_id not in there]
    taking_back: dict[str, list[PlacedMessage]] = {}
    # guard: withdrawal-that-left-the-queue
    for entry in (entry for entry in (*others, *absent) if entry.read.kind.withdraws):
        taking_back.setdefault(entry.message.sender, []).append(entry)
    talk = [entry for entry in others if entry.read.kind.talks]
    for key, question in named:
        kind, message = question.read.opens, question.message
        assert kind is not None
        claims = list(messages.quoting(question))
        for pool in pools:
            claims += messages.paired(pool, message)
        if kind not in REUSED_IDS:
            claimed = {entry.message.message_id for entry in claims}
            unclaimed = (entry for entry in recorded if entry.message.message_id not in claimed)
            claims += (entry for entry in unclaimed if claims_to_answer(entry.message, kind, thread))
        own = taking_back.get(message.sender, ())
        withdrawals = [entry for entry in own if not messages.objection(entry.message, message)]
        said = [entry for entry in talk if _may_talk(messages, entry, question)]
        yield _row(messages, question, claims, withdrawals=withdrawals, key=key, digests=digests, talk=said)


def _may_talk(messages: RequestMessages, entry: PlacedMessage, question: PlacedMessage) -> bool:
    """Return whether it is a question back by whoever may answer, or the asker's word to one; a forged one is
    neither.
    """
    if entry.read.name == ASKED_BACK:
        return entry.message.sender == question.message.sender
    return messages.decides(entry, question)


def _row(
    messages: RequestMessages,
    question: PlacedMessage,
    claiming: Iterable[PlacedMessage],
    *,
    withdrawals: Iterable[PlacedMessage],
    key: str,
    digests: set[str],
    talk: Iterable[PlacedMessage],
) -> RequestRow:
    """Return the request that `question` opens, with the first valid answer as its verdict (D10, D14, D17).

    Args:
        digests: `digest_of` each question under its id, where there are several; empty for a single one.
    """
    kind, message, order = question.read.opens, question.message, messages.when(question)
    assert kind is not None
    answers = _sort_answers(messages, question, claiming, digests)
    objected = [claim for claim in answers.listed if claim.objection]
    pending = [claim for claim in objected if claim.objection == NOT_ON_RECORD]
    forged = {claim.message_id: claim.objection for claim in objected if claim.objection != NOT_ON_RECORD}
    if is_verdict(messages.config, message) and (why := messages.objection(message, message)):
        forged[message.message_id] = why
    unverified = [claim for claim in answers.valid if not claim.verified and kind not in RESULTS]
    expires_at = expiry_of(kind, question.read.body)
    # guard: verdict-in-time
    in_time = answers.valid if expires_at is None else [one for one in answers.valid if one.when.moment < expires_at]
    # The first decides: what is verified before what is not, whatever its date says.
    standing = min(in_time, key=lambda claim: (not claim.verified, claim.when), default=None)
    taken_back = min(withdrawals, key=messages.when, default=None)
    if taken_back is not None and standing is not None and messages.when(taken_back) < standing.when:
        standing = None
    if standing is not None:
        taken_back, decided = None, standing.when
    else:
        decided = messages.when(taken_back) if taken_back is not None else order
    overdue = messages.config.overdue_seconds
    patience = overdue.get(kind, overdue.get("default", 900.0))
    return RequestRow(
        key,
        kind,
        message,
        _state(message, kind, standing, taken_back),
        order,
        decided,
        message_title(message),
        # Patience runs from when the question came, whatever date it bears.
        due_at=min(question.moment, order.moment) + timedelta(seconds=patience) if question.moment else None,
        expires_at=expires_at,
        answers=tuple(claim.entry.message for claim in answers.listed),
        verdict=standing.entry.message if standing is not None else None,
        taken_back=taken_back.message if taken_back is not None else None,
        withdrawn_at=None if standing is not None else _withdrawn_at(message, taken_back),
        flags=tuple(_flags(messages, kind, answers, unverified=unverified, pending=pending, forged=forged)),
        altered=answers.altered,
        unverified=tuple(claim.message_id for claim in (*unverified, *pending)),
        forged=forged,
        talk=tuple(entry.message for entry in sorted(talk, key=messages.when)),
    )


class _Answers(Struct, frozen=True):
    """What claims to answer one request, in the order of events, by what it counts for.

    Attributes:
        listed: What is shown as an answer to it, each answer once.
        unobjected: Those of them that nothing speaks against, unless their writers may not answer.
        valid: Those of them whose writers may answer, too: they may decide.
        altered: Ids of those that say something else than the trail.
    """

    listed: Sequence[Claim]
    unobjected: Sequence[Claim]
    valid: Sequence[Claim]
    altered: tuple[str, ...]


def _sort_answers(
    messages: RequestMessages, question: PlacedMessage, claiming: Iterable[PlacedMessage], digests: set[str]
) -> _Answers:
    """Return what claims to answer a question, without what was given on another question under its id.

    Args:
        digests: As for `_row`.
    """
    kind, message = question.read.opens, question.message
    assert kind is not None
    other_questions = digests - {digest_of(message)}
    claims = sorted((messages.claim(entry, message) for entry in claiming), key=lambda claim: claim.when)
    if other_questions:
        claims = [claim for claim in claims if given_on(claim.entry.message) not in other_questions]
    by_id: dict[str, Claim] = {}
    for claim in claims:
        # Copies of one answer are one answer, the oldest; what was edited into one is none.
        if not claim.altered or _belonged(claim.entry, kind, thread_of(message)):
            by_id.setdefault(claim.message_id, claim)
    listed = list(by_id.values())
    unobjected = [claim for claim in listed if not claim.objection]
    valid = [claim for claim in unobjected if messages.may_answer(claim.entry.message, message)]
    if kind in IN_WORDS:
        # Words of somebody who was not asked are no answer; a yes or no of theirs is one that does not count.
        unobjected = [claim for claim in unobjected if claim in valid or claim.entry.read.approve is not None]
        listed = [claim for claim in listed if claim in unobjected or claim.objection]
    altered = tuple(dict.fromkeys(claim.message_id for claim in claims if claim.altered))
    return _Answers(listed, unobjected, valid, altered)


def _flags(
    messages: RequestMessages,
    kind: RequestKind,
    answers: _Answers,
    *,
    unverified: Sequence[Claim],
    pending: Sequence[Claim],
    forged: Mapping[str, str],
) -> Iterator[Flag]:
    """Yield what is odd about a request, by its answers."""
    valid = answers.valid
    if len(valid) < len(answers.unobjected):
        yield Flag.UNAUTHORISED
    if len({claim.entry.read.approve for claim in valid} - {None}) > 1:
        yield Flag.CONTRADICTORY
    if kind not in IN_WORDS and _is_answered_twice(valid):
        yield Flag.ANSWERED_TWICE
    if answers.altered:
        yield Flag.ALTERED
    foreign = [claim for claim in unverified if writes_elsewhere(claim.entry.message.sender, messages.recorded)]
    if len(foreign) < len(unverified) + len(pending):
        yield Flag.UNVERIFIED
    elif foreign:
        yield Flag.FOREIGN
    if forged:
        yield Flag.FORGED


def _is_answered_twice(valid: Sequence[Claim]) -> bool:
    """Return whether there are two answers; the same one to another recipient is none of its own."""
    said = {word_of(claim.entry.message) for claim in valid}
    return len(valid) > 1 and (len(said) > 1 or len({claim.entry.message.recipients for claim in valid}) < len(valid))


def _belonged(entry: PlacedMessage, kind: RequestKind, thread: Thread) -> bool:
    """Return whether an answer that was edited belonged to this request when it was written."""
    quotes = entry.read.request_id is not None
    return claims_to_answer(entry.message, kind, thread) if quotes else entry.read.answers is kind


def _state(
    question: Message, kind: RequestKind, standing: Claim | None, taken_back: PlacedMessage | None
) -> RequestState:
    """Return the state of a request by the answer that stands and by what took it back."""
    if standing is None:
        gone = taken_back is not None or question.status == Status.RECALLED
        # guard: withdrawn-not-open
        return RequestState.WITHDRAWN if gone else RequestState.OPEN
    approve = standing.entry.read.approve
    if approve is None or (approve and kind is RequestKind.QUESTION):
        return RequestState.ANSWERED
    return RequestState.APPROVED if approve else RequestState.REJECTED


def _withdrawn_at(question: Message, taken_back: PlacedMessage | None) -> datetime | None:
    """Return when a request was taken back; None where it was not, or nobody knows when."""
    if taken_back is not None:
        return taken_back.moment
    return question.moment("recalled_at") if question.status == Status.RECALLED else None


def row_at(row: RequestRow, now: datetime) -> RequestRow:
    """Return a request as it stands `now`: open, overdue when it has waited longer than its kind should, or timed
    out.
    """
    if not row.is_open:
        return row
    # guard: expired-request-closed
    if row.expires_at is not None and now >= row.expires_at:
        end = row.expires_at
        decided = row.order._replace(moment=end)
        return replace(row, state=RequestState.WITHDRAWN, lapse=TIMED_OUT, withdrawn_at=end, decided=decided)
    if row.due_at is not None and now >= row.due_at:
        return replace(row, state=RequestState.OVERDUE, flags=(*row.flags, Flag.OVERDUE))
    return row


def not_for_actor(actor: str, request_id: str, addressees: Sequence[str]) -> TeamError:
    """Make the refusal of an answer by somebody who was not asked."""
    text = f"{actor} may not answer {request_id}; it is for {', '.join(addressees)}"
    hint = "Only the addressee of a request answers it (for plans and sprint requests: the lead)."
    return TeamError(Code.NOT_PERMITTED, text, hint, request_id=request_id)


def already_answered(request_id: str, answer: Message, word: str = "answered") -> TeamError:
    """Make the refusal of a second answer, with who gave the first one and when."""
    text = f"{request_id} was already {word} by {answer.sender} at {answer.created}"
    hint = "The first answer stands; send a message if you want to say more."
    return TeamError(
        Code.ALREADY_ANSWERED,
        text,
        hint,
        request_id=request_id,
        answered_by=answer.sender,
        answered_at=answer.created,
    )
