"""Send messages to one, to several, to everybody, and preview whom they would reach; last a course correction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from msgspec import Struct
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Message, ids_of
from team_console.store.model.names import ALL, USER, canonical, did_you_mean
from team_console.store.model.safe import counted, first_of
from team_console.store.protocol.checks import as_written, check_outgoing, default_recipients
from team_console.store.protocol.membership import unaddressable_names
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.rights import SM, classes_of
from team_console.store.protocol.sprint_bodies import sprint_content
from team_console.store.protocol.team_rules import check_configured
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.writing import (
    Draft,
    advise,
    check_known,
    not_listening,
    resolve_recipients,
    roles_now,
    write_drafts,
)

_NAMED = 5
"""Names in a sentence, at most."""
_MANY_WITHIN, _MANY_BROADCASTS = timedelta(minutes=1), 4
"""From so many broadcasts of one sender within this time on, the sender is told (requirement 61)."""


class Preview(Struct, frozen=True):
    """Who a message would reach.

    Attributes:
        recipients: One delivery each.
        not_listening: Those of them that are stopped or about to stop.
        left_out: Those who get none of what goes to all, because their name is none that could be written to.
        warnings: What the sender should know first.
    """

    recipients: tuple[str, ...]
    not_listening: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def send(
    caller: Caller,
    *,
    to: Sequence[str] | str = (),
    type: str = "message",
    content: str | None = None,
    summary: str | None = None,
    priority: str | None = None,
    payload: Mapping[str, Any] | None = None,
    message_id: str | None = None,
    in_reply_to: str | None = None,
) -> Receipt:
    """Write one message per recipient (`to="all"`: every member but the sender), all in one transaction.

    An escalation without a recipient goes to the human. Repeating a `message_id` with the same content
    writes nothing and says so (case 60).

    Raises:
        TeamError: A structural error, an unknown recipient, a missing permission, or the store's own.
    """
    body = dict(payload or {})
    given = {"content": content, "summary": summary, "in_reply_to": in_reply_to}
    for key, value in given.items():
        if value is None:
            continue
        if body.get(key, value) != value:
            text = f"{key} is given twice: in the payload, and as another text beside it"
            raise TeamError(Code.INVALID_FIELD, text, "Give it once.")
        body[key] = value
    names = default_recipients(type, tuple(map(canonical, (to,) if isinstance(to, str) else to)))
    written_type, written = as_written(type, body)
    draft = Draft(written_type, caller.actor, names, written, priority, message_id)
    return submit(caller, draft, action="send")


def broadcast(
    caller: Caller, *, summary: str, content: str, message_id: str | None = None, to: tuple[str, ...] = (ALL,)
) -> Receipt:
    """Write one message for every member but the sender (requirements 55-58), or for those it was confirmed for."""
    body = {"summary": summary, "content": content}
    return submit(caller, Draft("broadcast", caller.actor, to, body, None, message_id), action="broadcast")


def submit(caller: Caller, draft: Draft, *, action: str) -> Receipt:
    """Check `draft` and write it in one transaction of its own."""
    config = caller.team.config()
    kind, to, payload = draft.type, draft.to, draft.payload
    check_outgoing(type=kind, to=to, payload=payload, own_kinds=config.kinds)
    warnings = check_configured(config, type=kind, sender=draft.sender, to=to, payload=payload)
    warnings += draft.check(config)
    with caller.transaction(action) as tx:
        recipients = resolve_recipients(tx, sender=draft.sender, to=draft.to)
        before = len(tx.changes.added)
        messages = write_drafts(tx, draft, recipients)
        repeated = len(tx.changes.added) == before
        _refuse_unsigned_verdict(tx, [item for item in messages if tx.config.must_be_signed(item.sender)])
        warnings += not_listening(tx, recipients)
        if ALL in draft.to:
            warnings += left_out_words(() if tx.config.declared else unaddressable_names(tx.config, tx.everything()))
        if not repeated:
            warnings += advise(tx, messages)
            if draft.type == "broadcast":
                warnings += _broadcast_advice(tx, messages, () if ALL in draft.to else roles_now(tx))
            elif ALL in draft.to:
                warnings.append(f"sent to all: {counted(len(messages), 'delivery')}, one for each member")
            tx.record(action, ids=ids_of(messages), to=recipients, type=draft.type)
        confirm_ends(tx)
    return receipt(tx, action, messages, warnings, repeated=repeated)


def _refuse_unsigned_verdict(tx: Transaction, messages: Sequence[Message]) -> None:
    """Refuse a verdict that would decide nothing because its sender has to sign it.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    if not messages:
        return
    from team_console.store.protocol.verdicts import is_verdict, may_be_verdict  # with all that judges requests: 8 ms

    doubtful = [item for item in messages if may_be_verdict(tx.config, item)]
    quoted = [parse_message(item).request_id or "" for item in doubtful]
    reads = ((key, parse_message(item)) for key in quoted for item in tx.thread(key))
    is_about_request = any(read.opens is not None and read.request_id == key for key, read in reads)
    if is_about_request or any(is_verdict(tx.config, item) for item in doubtful):
        text = "this is a verdict, and verdicts of this team are signed"
        raise TeamError(Code.NOT_PERMITTED, text, "Give it with approve, reject, answer or shutdown, which sign it.")


def _broadcast_advice(tx: Transaction, messages: Sequence[Message], members: Iterable[str]) -> Iterator[str]:
    """Yield warnings on a broadcast as a whole: whom it leaves out, and how often its sender broadcasts."""
    first = messages[0]
    recipients = {name for message in messages for name in message.recipients}
    is_partial = any(name not in recipients and name != first.sender for name in members)
    if is_partial and ALL not in recipients:
        some = counted(len(recipients), "agent")
        yield f"a broadcast goes to every member, this one reaches {some}; use type message for some"
    ours = set(ids_of(messages))
    earlier = {
        message.broadcast_id or message.message_id: message
        for message in tx.select(types=("broadcast",))
        if message.sender == first.sender
        and message.message_id not in ours
        and (message.created_at is not None and tx.now - message.created_at <= _MANY_WITHIN)
    }
    same = sum(dict(message.payload) == dict(first.payload) for message in earlier.values())
    if same:
        times = "once" if same == 1 else f"{same} times"
        yield f"the same broadcast went out {times} in the last minute; each is a delivery to every member"
    elif len(earlier) + 1 >= _MANY_BROADCASTS:
        number = len(earlier) + 1
        yield f"this is broadcast number {number} of {first.sender} within a minute; keep them for what all must see"


def confirm_ends(tx: Transaction) -> None:
    """Confirm approved ends whose agent has stopped or did not answer in time (steps 10 and 11 of seed 002)."""
    if any("in_reply_to" in order.payload for order in tx.select(types=("shutdown_request",))):
        from team_console.store.service.agents import finish_endings  # loads all that writing needs, for few

        finish_endings(tx)


def preview(caller: Caller, *, to: Sequence[str] | str) -> Preview:
    """Return who would be reached, without a lock and without writing.

    Raises:
        TeamError: `STORE_UNREADABLE` for the settings; `MISSING_RECIPIENT` when nobody would be reached;
            `AGENT_NOT_FOUND` when a broadcast would be refused because the team does not know its sender.
    """
    from team_console.store.protocol.agent_stops import silent_agents  # with all that judges requests: 8 ms

    snapshot = caller.team.snapshot()
    known = roles_now(snapshot)
    names = tuple(map(canonical, (to,) if isinstance(to, str) else to))
    unnamed: list[str] = []
    if ALL in names:
        unnamed = unaddressable_names(snapshot.config, snapshot.messages)
        check_known(snapshot, [caller.actor])
        names = tuple(name for name in known if name not in (caller.actor, USER))
    if not names:
        raise TeamError(Code.MISSING_RECIPIENT, "nobody would be reached", "Name a recipient.")
    quiet = silent_agents(snapshot.config, (*snapshot.messages, *snapshot.notes))
    strangers = set(names) - {*known, USER, snapshot.config.lead} if snapshot.config.declared else ()
    warnings = [f"{name} is on no roster{did_you_mean(name, known)}" for name in names if name in strangers]
    silenced = tuple(name for name in names if name in quiet)
    return Preview(tuple(names), silenced, tuple(unnamed), (*warnings, *left_out_words(unnamed)))


def left_out_words(names: Sequence[str]) -> list[str]:
    """Return a warning that names those whom what goes to all does not reach, if there are any."""
    listed = first_of([value_words(name) for name in names], _NAMED)
    return [f"left out, because it is no name that could be written to: {listed}"] if names else []


def trigger_course_correction(caller: Caller, *, user_input: str) -> Receipt:
    """Send CC_TRIGGER to the scrum master (requirement 185).

    Raises:
        TeamError: `INVALID_FIELD` for a text above 2,000 characters, `MISSING_CONTENT` for an empty one,
            `AGENT_NOT_FOUND` when the team has no scrum master, `NOT_PERMITTED` for anyone but the lead.
    """
    if not user_input.strip():
        raise TeamError(Code.MISSING_CONTENT, "the course correction says nothing", "Say what should change.")
    config = caller.team.config()
    summary = phrase(config.language, "{}: {}", phrase(config.language, "Course correction"), user_input)
    body = {"reason": "user_request", "user_input": user_input, "current_batch_id": None}
    payload = {"summary": summary[:120], "content": sprint_content("CC_TRIGGER", body)}
    roles = roles_now(caller.team.snapshot().require_known())
    to = next((name for name in roles if classes_of(name, roles, config.lead) == {SM}), None)
    if to is None:
        text = f"team {config.name} has no scrum master"
        raise TeamError(Code.AGENT_NOT_FOUND, text, "A course correction goes to the resident scrum-master.")
    return submit(caller, Draft("message", caller.actor, (to,), payload), action="course_correction")
