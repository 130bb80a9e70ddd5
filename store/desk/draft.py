"""A message on its way to being written: checked, addressed, sized, signed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.readers import refuse_not_among
from team_console.store.model.clock import epoch_ms, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Priority, from_record, new_message_id, new_record
from team_console.store.model.names import ALL, USER, check_name
from team_console.store.protocol.checks.secrets import secret_warnings
from team_console.store.protocol.checks.signing import sign
from team_console.store.protocol.checks.summary import summary_warnings
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.kinds.registry import carried_name, default_priority
from team_console.store.protocol.permissions import check_permission, check_settings
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.membership import known, members
from team_console.store.protocol.relations.sessions import SESSION
from team_console.store.protocol.relations.stops import silent
from team_console.store.settings.team_config import TeamConfig

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
    payload: Mapping[str, Any]
    priority: str | None = None
    message_id: str | None = None

    def check(self, config: TeamConfig) -> list[str]:
        """Refuse what can be refused without looking at the queue; returns the warnings of decision D9.

        Raises:
            TeamError: The first structural error, with its own code.
        """
        check_name(self.sender, field="sender")
        for name in self.to:
            if name != ALL:
                check_name(name, field="recipient")
        if self.message_id is not None:
            _check_id(self.message_id)
        check_priority(self.priority)
        check_payload(self.payload)
        warnings = check_size(self.payload, config)
        if config.key_trouble:
            warnings.append(f"not signed: key_file {config.key_trouble}")
        summary = self.payload.get("summary")
        if isinstance(summary, str):
            warnings += summary_warnings(summary, language=config.language)
        found = [warning for text in _texts(self.payload) for warning in secret_warnings(text)]
        return warnings + list(dict.fromkeys(found))


def _check_id(message_id: str) -> None:
    if not message_id.strip():
        raise TeamError(Code.INVALID_FIELD, "id: it is empty", "Name an id, or leave it out to have one made.")
    _check_text(message_id, "id")
    if "\0" in message_id:  # it ends a text in most programs, and no database takes it
        raise TeamError(Code.INVALID_FIELD, "id: it holds a NUL", "Name an id of letters and digits.")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def check_size(payload: Mapping[str, Any], config: TeamConfig) -> list[str]:
    """Refuse a payload above the limit, warn above the soft one (requirement 108).

    Raises:
        TeamError: `CONTENT_TOO_LARGE`.
    """
    size = len(json.dumps(payload, ensure_ascii=False).encode())
    if size > config.content_max_bytes:
        raise TeamError(
            Code.CONTENT_TOO_LARGE,
            f"the message has {size:,} bytes, the limit is {config.content_max_bytes:,}",
            "Put the content into a file and send its path.",
        )
    large = size > config.content_soft_bytes
    return [f"large message: {size:,} bytes; consider a file and its path"] if large else []


def check_priority(priority: str | None) -> None:
    """Refuse a priority word outside the four.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    if priority is not None and priority not in tuple(Priority):
        words = ", ".join(Priority)
        raise TeamError(Code.INVALID_FIELD, f"priority: {named(priority)} is none of {words}", "Use one of them.")


def check_payload(payload: Mapping[str, Any]) -> None:
    """Refuse what could not be read back: values that are not JSON, deep nesting, lone surrogates.

    Raises:
        TeamError: `INVALID_FIELD` naming the place.
    """
    _check_value(payload, "payload", 0)


def _check_value(value: Any, place: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise TeamError(Code.INVALID_FIELD, f"{place}: nesting deeper than {_MAX_DEPTH}", "Flatten it.")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_text(key, f"{place} key")
            _check_value(item, f"{place}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            _check_value(each, f"{place}[{number}]", depth + 1)
    elif isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise TeamError(Code.INVALID_FIELD, f"{place}: {value} is not a JSON number", "Send it as text.")
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise TeamError(Code.INVALID_FIELD, f"{place}: {type(value).__name__} is not a JSON value", "Send it as text.")


def _check_text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise TeamError(Code.INVALID_FIELD, f"{place}: {value!r} is not a text", "Use text keys.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TeamError(
            Code.INVALID_FIELD, f"{place}: a lone surrogate at character {error.start} is not text", "Remove it."
        ) from error


def resolve(tx: Transaction, *, sender: str, to: Sequence[str]) -> list[str]:
    """The recipients one by one: `all` becomes every live member but the sender (decision D1).

    Raises:
        TeamError: `MISSING_RECIPIENT`, or `AGENT_NOT_FOUND` with the nearest name.
    """
    if ALL in to:
        names = [name for name in current_members(tx) if name not in (sender, USER)]
        if not names:
            raise TeamError(Code.MISSING_RECIPIENT, "the team has no other members", "Add agents to its settings.")
        check_known(tx, [sender])
        return names
    names = list(dict.fromkeys(to))
    check_known(tx, [*names, sender])
    return names


def current_members(tx: Transaction) -> list[str]:
    """Names of the members now: settings, roster messages, creations and destructions."""
    return list(members(tx.config, tx.everything()))


def check_known(tx: Transaction, names: Iterable[str]) -> None:
    """Refuse names that are on no roster. A team that declares none has nothing to check against.

    Raises:
        TeamError: `AGENT_NOT_FOUND`.
    """
    refuse_unknown(tx.config, tx.everything, names)


def refuse_unknown(config: TeamConfig, messages: Callable[[], Sequence[Message]], names: Iterable[str]) -> None:
    """As `check_known`, with the live messages asked for only when the settings do not know a name.

    Raises:
        TeamError: `AGENT_NOT_FOUND`.
    """
    unknown = [name for name in names if name not in config.agents and name not in (USER, config.lead)]
    if not unknown or not config.declared:
        return
    live = messages()
    met = known(config, live)
    for name in unknown:
        refuse_not_among(met, config, live, name)


def not_listening(tx: Transaction, names: Iterable[str]) -> list[str]:
    """Warnings for recipients that stopped, left or were asked to stop: what they are sent waits unread (D17)."""
    wanted = set(names)
    asked = {name for message in tx.select(types=(*_STOPS, SESSION)) for name in (message.sender, *message.recipients)}
    announced = {name for name in wanted if name not in tx.config.agents}
    if not (wanted & asked or announced):
        return []
    quiet = silent(tx.config, tx.everything()) & wanted
    return [f"{name} has stopped or was asked to; the message waits until it reads again" for name in sorted(quiet)]


_STOPS = ("shutdown_request", "shutdown_response")


def write(tx: Transaction, draft: Draft, recipients: Sequence[str], **envelope: Any) -> tuple[list[Message], bool]:
    """Add one record per recipient; returns them and whether they were all there already.

    Raises:
        TeamError: `NOT_PERMITTED`, or `DUPLICATE_ID` when the id stands for another message or a request.
    """
    if len(recipients) > 1 and draft.sender == tx.config.lead:
        check_settings(tx.config, "write to several agents as their lead")
    group = f"{draft.message_id or new_message_id(tx.now)}" if len(recipients) > 1 else None
    payload = shrink(tx, draft.type, draft.payload)
    written: list[Message] = []
    repeated = 0
    for name in recipients:
        wanted_id = draft.message_id if group is None else draft.message_id and f"{draft.message_id}.{name}"
        earlier = tx.known(wanted_id) if wanted_id else None
        if earlier is not None:
            written.append(_same(earlier, draft, name, payload))
            repeated += 1
            continue
        if wanted_id:
            _refuse_id_of_request(tx, wanted_id)
        message = _message(tx, draft, name, payload, message_id=wanted_id, broadcast_id=group, **envelope)
        is_answer = partial(_is_answer, tx, message)
        kind = reading(message).name
        check_permission(tx.config, sender=draft.sender, recipient=name, type=kind, is_answer=is_answer)
        tx.add(message)
        written.append(message)
    return written, repeated == len(written)


def _is_answer(tx: Transaction, message: Message) -> bool:
    """Whether its recipient asked its sender for it; checked only for senders whose rights are narrowed."""
    read = reading(message)
    asked = tx.thread(read.request_id) if read.opens is None and read.request_id is not None else ()
    return any(
        reading(item).opens is not None and item.sender in message.recipients and item.is_addressed_to(message.sender)
        for item in asked
    )


def _refuse_id_of_request(tx: Transaction, message_id: str) -> None:
    """A message under the id of a request would be taken for it, and what it asks could not be answered.

    Raises:
        TeamError: `DUPLICATE_ID`.
    """
    for item in tx.asking(message_id):
        if reading(item).opens is not None and reading(item).request_id == message_id:
            text = f"{message_id} is the id of the {reading(item).opens} request of {item.sender}"
            raise TeamError(Code.DUPLICATE_ID, text, "Use another id, or leave it out to have one made.")


def _same(earlier: Message, draft: Draft, recipient: str, payload: Mapping[str, Any]) -> Message:
    same = (earlier.type, earlier.sender, earlier.recipients) == (draft.type, draft.sender, (recipient,))
    if same and dict(earlier.payload) == dict(payload):
        return earlier
    raise duplicate_id(earlier)


def duplicate_id(earlier: Message) -> TeamError:
    """Make the error for an id that `earlier` has, which says something else."""
    return TeamError(
        Code.DUPLICATE_ID,
        f"message id {earlier.message_id} already stands for another message "
        f"({earlier.type} from {earlier.sender} to {', '.join(earlier.recipients)})",
        "Use another id, or leave it out to have one made.",
    )


def _message(
    tx: Transaction,
    draft: Draft,
    recipient: str,
    payload: Mapping[str, Any],
    *,
    message_id: str | None,
    **envelope: Any,
) -> Message:
    while message_id is None:
        fresh = new_message_id(tx.now)
        message_id = None if tx.known(fresh) else fresh
    return sealed(
        new_record(
            message_id=message_id,
            type=draft.type,
            sender=draft.sender,
            to=recipient,
            created=to_text(tx.now),
            priority=draft.priority or default_priority(carried_name(draft.type, payload) or draft.type, tx.config),
            payload=payload,
            **envelope,
        ),
        tx.config.key,
    )


def sealed(message: Message, key: bytes) -> Message:
    """The message with its signature when the team has a key (requirement 110)."""
    return from_record({**message.record, "signature": sign(message.record, key)}) if key else message


def shrink(tx: Transaction, type: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Move a large content beside the queue and leave its beginning and its reference (requirement 108).

    A sprint message stays whole: cut JSON would be no message at all.
    """
    content = payload.get("content")
    if not isinstance(content, str) or len(content) <= tx.config.attachment_bytes // 4:
        return payload
    if carried_name(type, payload) is not None:
        return payload
    data = content.encode()
    if len(data) <= tx.config.attachment_bytes:
        return payload
    reference = tx.attach(data)
    digest = hashlib.sha256(data).hexdigest()
    return {
        **payload,
        "content": content[:_PREVIEW_CHARACTERS] + "…",
        "attachment": {"path": reference, "bytes": len(data), "sha256": digest},
    }


def new_request_id(tx: Transaction, prefix: str, *names: str) -> str:
    """A request id in the form of decision D8 that no other request has: `prefix-{epoch_ms}@name[@name]`."""
    moment = epoch_ms(tx.now)
    while tx.thread(request_id := "@".join([f"{prefix}-{moment}", *names])):
        moment += 1
    return request_id
