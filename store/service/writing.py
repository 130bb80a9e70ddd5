"""Write messages: each is drafted, checked, addressed, sealed and added to a transaction here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from msgspec import Struct
from team_console.store.contract.snapshot import TeamState
from team_console.store.contract.transaction import Transaction, duplicate_id
from team_console.store.model.clock import epoch_ms, to_text
from team_console.store.model.delivery_schedule import wait_after
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import (
    TABLE_REFUSES,
    Fields,
    Message,
    Priority,
    Status,
    from_record,
    new_message_id,
    new_record,
    priority_named,
)
from team_console.store.model.names import ALL, USER, check_name, did_you_mean, hint_with_nearest
from team_console.store.protocol.checks import problems_of, self_addressed, summary_warnings
from team_console.store.protocol.client_sessions import SESSION
from team_console.store.protocol.foreign_fields import key_in, mapping_in
from team_console.store.protocol.kinds import KINDS, REPLACES, RESULTS, UNKNOWN, RequestKind, default_priority
from team_console.store.protocol.membership import known_members, members, membership_facts
from team_console.store.protocol.parsing import ParsedMessage, asks, parse_message
from team_console.store.protocol.rights import check_permission, check_settings
from team_console.store.protocol.secrets_in_text import secret_warnings
from team_console.store.protocol.sprint_bodies import BATCH_REPORT, plans_of
from team_console.store.protocol.sprint_in_text import CARRIERS, carried_name
from team_console.store.protocol.team_rules import (
    TeamFacts,
    expected_on_roster,
    is_judged_by_team,
    report_targets,
    team_problems,
)
from team_console.store.settings.team_config import TeamConfig

# A message on its way to being written: checked, addressed, sized, signed.

_MAX_DEPTH = 32
_PREVIEW_CHARACTERS = 2000


class Draft(Struct, frozen=True):
    """What is to be sent, before it is known to whom exactly.

    Attributes:
        to: Recipients as given; `("all",)` for everybody but the sender.
        message_id: Id given by the caller, which makes a repeated send a no-op; None to make one.
    """

    type: str
    sender: str
    to: tuple[str, ...]
    payload: Fields
    priority: str | None = None
    message_id: str | None = None

    def check(self, config: TeamConfig) -> list[str]:
        """Refuse what can be refused without looking at the queue; returns the warnings of decision D9.

        What could not be read back is refused: values that are not JSON, deep nesting, lone surrogates.

        Raises:
            TeamError: The first structural error, with its own code.
        """
        check_name(self.sender, field="sender")
        for name in self.to:
            if name != ALL:
                check_name(name, field="recipient")
        if self.message_id is not None:
            if not self.message_id.strip():
                raise TeamError(Code.INVALID_FIELD, "id: it is empty", "Name an id, or leave it out to have one made.")
            _check_text(self.message_id, "id")
            if "\0" in self.message_id:  # it ends a text in most programs, and no database takes it
                raise TeamError(Code.INVALID_FIELD, "id: it holds a NUL", "Name an id of letters and digits.")
        if self.priority is not None and priority_named(self.priority) is None:
            text = f"priority: {value_words(self.priority)} is none of {', '.join(Priority)}"
            raise TeamError(Code.INVALID_FIELD, text, "Use one of them.")
        texts = list(_each_text(self.payload))
        size = len(json.dumps(self.payload, ensure_ascii=False).encode())
        if size > config.content_max_bytes:
            raise TeamError(
                Code.CONTENT_TOO_LARGE,
                f"the message has {size:,} bytes, the limit is {config.content_max_bytes:,}",
                "Put the content into a file and send its path.",
            )
        is_large = size > config.content_soft_bytes
        warnings = [f"large message: {size:,} bytes; consider a file and its path"] if is_large else []
        if config.key_trouble:
            warnings.append(f"not signed: key_file {config.key_trouble}")
        summary = self.payload.get("summary")
        if isinstance(summary, str):
            warnings += summary_warnings(summary, language=config.language)
        found = [warning for text in texts for warning in secret_warnings(text)]
        return warnings + list(dict.fromkeys(found))


def _each_text(value: Any, place: str = "payload", depth: int = 0) -> Iterator[str]:
    """Yield every text in a value that could be read back.

    Raises:
        TeamError: `INVALID_FIELD` for a value that could not, with its place.
    """
    if depth > _MAX_DEPTH:
        raise TeamError(Code.INVALID_FIELD, f"{place}: nesting deeper than {_MAX_DEPTH}", "Flatten it.")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_text(key, f"{place} key")
            yield from _each_text(item, f"{place}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _each_text(each, f"{place}[{number}]", depth + 1)
    elif isinstance(value, str):
        _check_text(value, place)
        yield value
    elif not (value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value))):
        raise TeamError(Code.INVALID_FIELD, f"{place}: {value!r:.100} is not a JSON value", "Send it as text.")


def _check_text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise TeamError(Code.INVALID_FIELD, f"{place}: {value!r} is not a text", "Use text keys.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TeamError(
            Code.INVALID_FIELD, f"{place}: a lone surrogate at character {error.start} is not text", "Remove it."
        ) from error


def resolve_recipients(tx: Transaction, *, sender: str, to: Sequence[str]) -> list[str]:
    """Return the recipients one by one: `all` becomes every live member but the sender (decision D1).

    Raises:
        TeamError: `MISSING_RECIPIENT`, or `AGENT_NOT_FOUND` with the nearest name.
    """
    names = list(dict.fromkeys(to))
    if ALL in names:
        names = [name for name in roles_now(tx) if name not in (sender, USER)]
        if not names:
            raise TeamError(Code.MISSING_RECIPIENT, "the team has no other members", "Add agents to its settings.")
    check_known(tx, [*names, sender])
    return names


def roles_now(state: TeamState) -> Mapping[str, str]:
    """Return the members now, each with its role: settings, roster messages, creations and destructions."""
    return members(state.config, state.everything())


def is_settled(config: TeamConfig, name: str) -> bool:
    """Return whether the settings alone tell that this is a name one may use: it is in them, or they name nobody."""
    return not config.declared or name in config.agents or name in (USER, config.lead)


def check_known(state: TeamState, names: Iterable[str], *, has_written: bool = False) -> None:
    """Refuse names that are on no roster. A team that declares none has nothing to check against.

    Args:
        has_written: Accept, too, who writes or is written to.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, with the nearest name.
    """
    config = state.config
    unknown = [name for name in names if not is_settled(config, name)]
    if not unknown:
        return
    live = state.everything()
    if has_written:
        unknown = [name for name in unknown if not any(name in (each.sender, *each.recipients) for each in live)]
    met = known_members(config, live)
    for name in (name for name in unknown if name not in met):
        hint = hint_with_nearest(name, met, f"Members: {', '.join(members(config, live))}.")
        raise TeamError(Code.AGENT_NOT_FOUND, f"no agent {name!r} in team {config.name}", hint)


def not_listening(tx: Transaction, names: Iterable[str]) -> list[str]:
    """Return warnings for recipients that stopped, left or were asked to stop: what they get waits unread (D17)."""
    wanted = set(names)
    notes = tx.session_notes()
    told = (*tx.select(types=(*_STOPS, SESSION)), *notes)
    asked = {name for message in told for name in (message.sender, *message.recipients)}
    announced = {name for name in wanted if name not in tx.config.agents}
    if not (wanted & asked or announced):
        return []
    from team_console.store.protocol.agent_stops import silent_agents  # with all that judges requests: 8 ms

    quiet = silent_agents(tx.config, (*tx.everything(), *notes)) & wanted
    return [f"{name} has stopped or was asked to; the message waits until it reads again" for name in sorted(quiet)]


def not_reached(tx: Transaction, names: Sequence[str]) -> list[str]:
    """Return warnings for recipients of answers that do not read, who need not be in the team any more."""
    try:
        check_known(tx, names)
    except TeamError as error:
        return [f"{error.message} any more; the message waits unread"]
    return not_listening(tx, names)


_STOPS = ("shutdown_request", "shutdown_response")


def write_drafts(tx: Transaction, draft: Draft, recipients: Sequence[str] = (), **envelope: Any) -> list[Message]:
    """Add one record per recipient, those of the draft if none are named; returns them.

    A record that was written before under the id of the draft is not written again.

    Raises:
        TeamError: `NOT_PERMITTED`, or `DUPLICATE_ID` when the id stands for another message or a request.
    """
    recipients = recipients or draft.to
    if len(recipients) > 1 and draft.sender == tx.config.lead:
        check_settings(tx.config, "write to several agents as their lead")
    group = f"{draft.message_id or new_message_id(tx.now)}" if len(recipients) > 1 else None
    payload = move_large_content(tx, draft.type, draft.payload)
    written: list[Message] = []
    for name in recipients:
        wanted_id = draft.message_id if group is None else draft.message_id and f"{draft.message_id}.{name}"
        earlier = tx.known(wanted_id) if wanted_id else None
        if earlier is not None:
            same = (earlier.type, earlier.sender, earlier.recipients) == (draft.type, draft.sender, (name,))
            if not same or dict(earlier.payload) != dict(payload):
                raise duplicate_id(earlier.message_id, earlier)
            written.append(earlier)
            continue
        for item in tx.naming(wanted_id) if wanted_id else ():
            # A message under the id of a request would be taken for it, and what it asks could not be answered.
            if asks(item, wanted_id):
                raise duplicate_id(str(wanted_id), item)
        message = record_of(tx, draft, name, payload, message_id=wanted_id, broadcast_id=group, **envelope)
        is_answer = partial(_is_answer, tx, message)
        kind = parse_message(message).name
        check_permission(tx.config, sender=draft.sender, recipient=name, type=kind, is_answer=is_answer)
        tx.add(message)
        written.append(message)
    return written


def _is_answer(tx: Transaction, message: Message) -> bool:
    """Return whether its recipient asked its sender for it; checked only for senders whose rights are narrowed."""
    read = parse_message(message)
    asked = tx.thread(read.request_id) if read.opens is None and read.request_id is not None else ()
    return any(
        parse_message(item).opens is not None
        and item.sender in message.recipients
        and item.is_addressed_to(message.sender)
        for item in asked
    )


def record_of(
    tx: Transaction,
    draft: Draft,
    recipient: str,
    payload: Fields,
    *,
    message_id: str | None = None,
    **envelope: Any,
) -> Message:
    """Return the draft as the record for one recipient, sealed where the team has a key; it is not added yet."""
    while message_id is None:
        fresh = new_message_id(tx.now)
        message_id = None if tx.known(fresh) else fresh
    return sealed(
        tx,
        new_record(
            message_id=message_id,
            type=draft.type,
            sender=draft.sender,
            to=recipient,
            created=to_text(tx.now),
            priority=priority_named(draft.priority or "")
            or default_priority(carried_name(draft.type, payload) or draft.type, tx.config),
            payload=payload,
            **envelope,
        ),
    )


def sealed(tx: Transaction, message: Message) -> Message:
    """Return the message with its signature when the team has a key (requirement 110)."""
    key = tx.config.key
    if not key:
        return message
    from team_console.store.protocol.message_seal import sign  # with all that judges requests: 8 ms

    return from_record({**message.record, "signature": sign(message.record, key)})


def move_large_content(tx: Transaction, type: str, payload: Fields) -> Fields:
    """Move a large content beside the queue and leave its beginning and its reference (requirement 108).

    A sprint message stays whole: cut JSON would be no message at all.
    """
    content = payload.get("content")
    limit = tx.config.attachment_bytes
    if not isinstance(content, str) or len(content) <= limit // 4 or carried_name(type, payload) is not None:
        return payload
    data = content.encode()
    if len(data) <= limit:
        return payload
    reference = tx.attach(data)
    digest = hashlib.sha256(data).hexdigest()
    return {
        **payload,
        "content": content[:_PREVIEW_CHARACTERS] + "…",
        "attachment": {"path": reference, "bytes": len(data), "sha256": digest},
    }


def new_request_id(tx: Transaction, prefix: str, *names: str) -> str:
    """Return a request id in the form of decision D8 that no other request has: `prefix-{epoch_ms}@name[@name]`."""
    moment = epoch_ms(tx.now)
    while tx.thread(request_id := "@".join([f"{prefix}-{moment}", *names])):
        moment += 1
    return request_id


# What is odd about what was just written, for whoever wrote it.


def advise(tx: Transaction, messages: Sequence[Message]) -> list[str]:
    """Return warnings on messages that were just put into `tx`, as sentences, each once.

    Raises:
        TeamError: `ALREADY_ANSWERED` for a second result, the same or another (decision D14), `NOT_PERMITTED`
            for a result by anybody but the one who was asked (D17).
    """
    reads = [parse_message(message) for message in messages]
    facts = _team_facts(tx, reads) if any(map(is_judged_by_team, reads)) else TeamFacts(tx.config)
    told: dict[str, None] = {}
    for read in reads:
        problems = (*problems_of(read), *self_addressed(read.message), *team_problems(read, facts))
        told.update(dict.fromkeys(problem.message for problem in problems))
        if read.kind is UNKNOWN and read.name != read.message.type and read.name not in tx.config.kinds:
            # A plain message that carries `NAME: {json}` of a kind nobody knows: whoever waits for it waits for ever.
            told[f"{read.name:.80} is no kind that is known here{did_you_mean(read.name, KINDS)}"] = None
        told.update(dict.fromkeys(_answer_warnings(tx, read, reads)))
    return list(told)


def _team_facts(tx: Transaction, reads: Iterable[ParsedMessage]) -> TeamFacts:
    """Return the facts these messages are judged by; what only some kinds need is looked for only for them."""
    from team_console.store.protocol.agent_stops import stopped_agents  # with all that judges requests: 8 ms

    names, live = {read.name for read in reads}, tx.everything()
    carried = map(parse_message, (message for message in live if message.type in CARRIERS))
    return TeamFacts(
        tx.config,
        known_members(tx.config, live),
        report_targets(carried) if "AGENT_COMPLETE" in names else {},
        plans_of(map(parse_message, live)) if BATCH_REPORT in names else {},
        expected_on_roster(tx.config, membership_facts(live)) if "AGENT_ROSTER_BROADCAST" in names else {},
        stopped_agents(tx.config, live, tx.recorded) if "AGENT_DESTROY_REQUEST" in names else frozenset(),
    )


def _answer_warnings(tx: Transaction, read: ParsedMessage, reads: Sequence[ParsedMessage]) -> Iterator[str]:
    """Yield a warning for an answer to nothing, or to a message that nobody has."""
    if read.answers in RESULTS:
        yield from _result_warnings(tx, read, reads)
        return
    quoted = read.message.payload.get("in_reply_to") or read.message.payload.get("request_id")
    if read.opens is None and isinstance(quoted, str) and quoted and not _is_known_id(tx, quoted, reads):
        field = "in_reply_to" if read.message.payload.get("in_reply_to") else "request_id"
        yield f"{field}: no message or request {quoted:.120} is known, so this answers nothing"
    replaced = read.message.payload.get(REPLACES)
    if read.opens is RequestKind.PLAN and isinstance(replaced, str) and not _is_known_id(tx, replaced, reads):
        yield f"{REPLACES}: no request {replaced:.120} is known, so this is a new version of nothing"


def _is_known_id(tx: Transaction, quoted: str, reads: Sequence[ParsedMessage]) -> bool:
    ours = {read.message.message_id for read in reads}
    return tx.known(quoted) is not None or any(message.message_id not in ours for message in tx.thread(quoted))


def _result_warnings(tx: Transaction, read: ParsedMessage, reads: Sequence[ParsedMessage]) -> Iterator[str]:
    """Yield a warning for a result that nobody asked for, or that is about another story than was asked.

    Raises:
        TeamError: As `advise`.
    """
    from team_console.store.protocol.judgement import (  # with all that judges requests: 8 ms
        already_answered,
        judge,
        not_for_actor,
    )

    kind, message = read.answers, read.message
    ours = {read.message.message_id for read in reads}
    shared = read.request_id or read.subject or ""
    asker = message.recipients[0]
    if read.request_id is not None:
        thread = tx.thread(read.request_id)
    else:  # where no id is quoted, questions and answers share the story
        carried = (item for item in tx.everything() if item.type in CARRIERS)
        thread = [item for item in carried if parse_message(item).subject == read.subject]
    about = [item for item in thread if item.message_id not in ours]
    cases = judge(about, tx.config, tx.recorded, tx.now).values()
    mine = sorted((case for case in cases if case.kind is kind and case.asker == asker), key=lambda case: case.order)
    waiting = next((case for case in mine if case.is_open), None)
    if waiting is not None:
        waiting_read = parse_message(waiting.question)
        recipients = waiting.question.recipients
        if message.sender not in recipients:
            raise not_for_actor(message.sender, shared, recipients)
        asked_about, told_about = (key_in(each.body, "story_key") for each in (waiting_read, read))
        if asked_about and told_about and asked_about != told_about:
            yield f"{read.name} is about the story {told_about:.80}, {shared} asked about {asked_about:.80}"
        return
    answered = next((case.verdict for case in reversed(mine) if case.verdict is not None), None)
    if answered is None:
        yield f"{read.name} answers {shared or 'nothing'}, which {asker} has not asked as far as is known"
    else:
        raise already_answered(shared, answered)


# What becomes of a message that was read, or whose row cannot be changed.

NO_CLAIM: Mapping[str, None] = dict.fromkeys(("claimed_by", "claimed_at", "lease_until", "token", TABLE_REFUSES))
"""What says that somebody has a message, or that its row cannot be changed, taken out of its record."""


def archive_as_read(tx: Transaction, message: Message, agent: str) -> Message:
    """Mark a message as read by `agent`: archive it, then change it in the queue (archive first, decision D7).

    A message to several is archived as its reader sees it, read, whatever the others have yet to do.
    """
    at = to_text(tx.now)
    own = message.with_changes(status=Status.READ.value, read_at=at, **NO_CLAIM)
    changed = own
    if message.is_group:
        read_by = {**message.read_by, agent: at}
        others = [name for name in expanded_recipients(lambda: roles_now(tx), message) if name not in read_by]
        changed = message.with_changes(read_by=read_by, status=message.status if others else Status.READ.value)
        own = own.with_changes(read_by=read_by)
    tx.archive(agent, own)
    tx.replace(message, changed)
    return changed


def leave_as_is(tx: Transaction, message: Message, why: str) -> Message:
    """Leave a message as it is whose row the table does not let change; what is known of it goes beside the row.

    The router looks at it again after 30, 60 and 120 seconds.
    """
    before = mapping_in(message.record, TABLE_REFUSES).get("times")
    times = 1 + (before if isinstance(before, int) else 0)
    known = {TABLE_REFUSES: {"times": times, "why": why}, "next_attempt_at": to_text(tx.now + wait_after(times))}
    left = message.with_changes(**known)
    tx.replace(message, left)
    tx.record("row_refused", ids=[message.message_id], why=why, times=times)
    return left


def expanded_recipients(members: Callable[[], Iterable[str]], message: Message) -> tuple[str, ...]:
    """Return the recipients of a message, one by one; `members` is called only for a message to everybody."""
    if not message.is_group:
        return message.recipients
    names = members() if ALL in message.recipients else message.recipients
    return tuple(name for name in names if name != message.sender)
