"""What is odd about single live messages: their bodies, directions, signatures, dates and kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.errors import Problem
from team_console.store.model.message import PRIORITIES, STATUSES, Status
from team_console.store.model.names import nearest
from team_console.store.model.recorded import RecordedFacts
from team_console.store.model.safe import counted, safe_line
from team_console.store.model.schedule import CLOCKS_DIFFER, MAX_LEASE, lease_end
from team_console.store.protocol.checks import (
    REQUIRED,
    TeamFacts,
    problems_of,
    self_addressed,
    team_problems,
)
from team_console.store.protocol.entries import EARLIEST, Entry
from team_console.store.protocol.kinds import KINDS, Family
from team_console.store.protocol.membership import SESSION
from team_console.store.protocol.parsing import missing_fields
from team_console.store.protocol.permissions import breach
from team_console.store.protocol.team_signature import Seal, seal_of
from team_console.store.protocol.verdicts import ORDER
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import AttentionItem, Flag, RequestRow

SEVERITIES = ("error", "warning", "notice")
UNREADABLE_DATE = "UNREADABLE_DATE"


class Violations(Struct, frozen=True):
    """Problems of single live messages.

    Attributes:
        single: Of their bodies and their directions, in stored order.
        ahead: Dates that are yet to come, and claims longer than any that can be made.
        unknown: Kinds nobody here knows, one problem each.
    """

    single: Sequence[Problem]
    ahead: Sequence[Problem]
    unknown: Sequence[Problem]


def violations(
    live: Iterable[Entry], by: TeamFacts, recorded: RecordedFacts | None, now: datetime, *, bodies: bool
) -> Violations:
    """Judge each message of the queue by its protocol and by the rules of its team.

    Args:
        live: The queue in stored order.
        bodies: Whether the bodies of sprint messages are checked field by field.
    """
    single: list[Problem] = []
    ahead: list[Problem] = []
    unknown: Counter[str] = Counter()
    for entry in live:
        if entry.when > now or entry.message.status == Status.CLAIMED:
            ahead += _ahead(entry, now)
        read = entry.read
        if read.kind is None and not read.frame_problems:
            unknown[read.name] += 1
        single += problems_of(read) if bodies or not _is_sprint(entry) else read.frame_problems
        single += _of_rights(entry, by.config, recorded)
        single += _of_record(entry, by.config)
        single += team_problems(read, by)
    return Violations(single, ahead, tuple(_unknown(unknown, by.config)))


def _ahead(entry: Entry, now: datetime) -> Iterator[Problem]:
    """A date that is yet to come, and a claim longer than any that can be made: somebody's clock is or was wrong."""
    message, lease = entry.message, lease_end(entry.message)
    if entry.when > now + CLOCKS_DIFFER:
        text = f"it says that it was written at {message.created}, which is yet to come"
        hint = f"Check the clock of {message.sender}. What came first is told by the audit trail, not by dates."
        yield Problem("FUTURE_DATE", "warning", message.message_id, text, hint)
    if message.status == Status.CLAIMED and lease is not None and lease > now + MAX_LEASE:
        text = f"it is claimed until {message.envelope('lease_until')}, longer than any claim may be"
        hint = "The claim counts as over; whoever receives next gets the message."
        yield Problem("LEASE_TOO_LONG", "warning", message.message_id, text, hint)


def _unknown(kinds: Mapping[str, int], config: TeamConfig) -> Iterator[Problem]:
    """Kinds nobody here knows; their messages are shown and kept as they are."""
    for name, number in sorted(kinds.items()):
        if name in config.kinds:
            continue
        are = "is" if number == 1 else "are"
        text = f"{counted(number, 'message')} {are} of a kind that is not known here; kept and shown as written"
        meant = nearest(name, KINDS)
        hint = f"Did somebody mean {meant}?" if meant else "Check the spelling if it was meant otherwise."
        yield Problem("UNKNOWN_KIND", "notice", f"type {name}", text, hint)


def _of_rights(entry: Entry, config: TeamConfig, recorded: RecordedFacts | None) -> Iterator[Problem]:
    broken = breach(config, entry.message, recorded)
    if broken is not None:
        text = f"{broken[0]}; {'it stops nobody' if entry.read.name == ORDER else 'another program wrote it'}"
        hint = f"Ask {entry.message.sender} why; nobody need answer it."
        yield Problem("NOT_PERMITTED", "error", entry.message.message_id, text, hint)


def _is_undated(entry: Entry) -> bool:
    return entry.when is EARLIEST and bool(entry.message.created)


def _odd_words(entry: Entry) -> Iterator[Problem]:
    """Words of other programs for priority, status and time that decide the order of messages and who gets them."""
    message = entry.message
    hint = "It is understood as said here and stays as it is written."
    for key in message.odd:
        written, code = safe_line(str(message.record.get(key)), 64), "OTHER_WORD"
        text = f"{key} {written!r} is read as {message.priority if key == 'priority' else message.status}"
        if key == "to":
            text = f"it is addressed to several with commas between them, and goes to {', '.join(message.recipients)}"
        elif key == "priority" and message.priority not in PRIORITIES:
            code, text = "UNKNOWN_PRIORITY", f"priority {written!r} is none that is known, so it comes last"
        elif key == "status" and message.status not in STATUSES:
            code, text = "UNKNOWN_STATUS", f"status {written!r} is none that is known, so nobody will receive it"
            hint = "Set it to pending to send it."
        yield Problem(code, "notice", message.message_id, text, hint)
    if _is_undated(entry):
        text = f"created {safe_line(message.created, 64)!r} is no time, so it counts as the oldest"
        yield Problem(UNREADABLE_DATE, "notice", message.message_id, text, "Correct it.")


def _is_sprint(entry: Entry) -> bool:
    return entry.read.kind is not None and entry.read.kind.family is Family.SPRINT


def _of_record(entry: Entry, config: TeamConfig) -> Iterator[Problem]:
    message = entry.message
    yield from _odd_words(entry)
    if message.type != SESSION:  # our own notes on sessions go from a member to itself
        yield from self_addressed(message)
    for name in missing_fields(config, message.type, message.payload) if message.type in config.kinds else ():
        if name not in REQUIRED.get(message.type, ()):  # those are told with the rest of its body
            text, place = f"{message.type}: {name} is missing", f"{message.message_id} payload.{name}"
            hint = f"message_types.{message.type} in the team settings requires it; ask {message.sender} for it."
            yield Problem("BODY_INVALID", "warning", place, text, hint)
    if not config.key:
        return
    seal = seal_of(message, config.key)
    if seal is Seal.BROKEN:
        text = "the signature does not fit: the record was changed, or signed with another key"
        hint = f"Do not act on it; ask {message.sender} whether it wrote this."
        yield Problem("BROKEN_SIGNATURE", "error", message.message_id, text, hint)
    elif seal is Seal.UNSIGNED:
        hint = f"Ask {message.sender} to send through team-console, which signs."
        yield Problem("UNSIGNED", "warning", message.message_id, "the team has a key and this is not signed", hint)


# Quotations: live messages that reply to something, and which of them quote what nobody has.


def unknown_replies(live: Iterable[Entry], past: Iterable[Entry]) -> Iterator[Problem]:
    """`UNKNOWN_REPLY` for each live message that quotes what nobody else has, in stored order."""
    quoting = [(entry, quoted) for entry in live if (quoted := _quoted(entry))]
    wanted = {quoted for _, quoted in quoting}
    carried = Counter(name for entry in chain(live, past) for name in _ids(entry) if name in wanted) if wanted else {}
    for entry, quoted in quoting:
        if carried.get(quoted, 0) > (quoted in _ids(entry)):  # one that carries an id itself does not make it known
            continue
        message = entry.message
        text = f"in_reply_to: no message or request {quoted:.120} is known, so this answers nothing"
        hint = f"Ask {message.sender} which message it means."
        yield Problem("UNKNOWN_REPLY", "notice", message.message_id, text, hint)


def _quoted(entry: Entry) -> str:
    """The id that the message replies to, empty when it replies to none."""
    value = entry.message.payload.get("in_reply_to")
    return value if isinstance(value, str) else ""


def _ids(entry: Entry) -> set[str]:
    """What the message can be quoted by."""
    message = entry.message
    return {name for name in (message.message_id, message.request_id, entry.read.request_id) if name}


# Requests whose record somebody damaged after it was read: still shown, marked, and not to be answered.


class DamagedRequests(Struct, frozen=True):
    """Marks what rests on the messages with these ids."""

    ids: frozenset[str]

    def requests(self, rows: tuple[RequestRow, ...]) -> tuple[RequestRow, ...]:
        """The rows, those whose question is damaged marked."""
        return tuple(map(self._marked, rows)) if self.ids else rows

    def attention(self, items: tuple[AttentionItem, ...]) -> tuple[AttentionItem, ...]:
        """The items, those that ask for an answer to a damaged question without it."""
        return tuple(map(self._withheld, items)) if self.ids else items

    def _marked(self, row: RequestRow) -> RequestRow:
        return replace(row, flags=(*row.flags, Flag.DAMAGED)) if row.question.message_id in self.ids else row

    def _withheld(self, item: AttentionItem) -> AttentionItem:
        row = item.request
        if row is None or row.question.message_id not in self.ids:
            return item
        why = "its record in the queue is damaged, so it cannot be answered"
        return replace(item, request=self._marked(row), answerable=False, why=why)
