"""What is odd about single live messages: their bodies, directions, signatures, dates and kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.errors import Problem
from team_console.store.model.message import PRIORITIES, STATUSES, Status
from team_console.store.model.names import nearest
from team_console.store.model.recorded import RecordedFacts
from team_console.store.model.reuse import Memo, Multimap, Tally
from team_console.store.model.safe import counted, safe_line
from team_console.store.model.schedule import CLOCKS_DIFFER, MAX_LEASE, lease_end
from team_console.store.protocol.checks import (
    REQUIRED,
    TeamFacts,
    is_judged_by_team,
    names_concerned,
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
from team_console.store.views.ordered import Ordered
from team_console.store.views.rows import AttentionItem, Flag, RequestRow

SEVERITIES = ("error", "warning", "notice")
_BODY, _TEAM = 0, 1
UNREADABLE_DATE = "UNREADABLE_DATE"


class Violations:
    """Problems of single messages, judged when a message comes; by the team's rules again when the team changes."""

    def __init__(self, config: TeamConfig, recorded: RecordedFacts | None = None) -> None:
        self._config = config
        self._recorded = recorded
        self._facts = TeamFacts(config)
        self._now = EARLIEST
        self._problems: dict[str, Ordered[Problem]] = {severity: Ordered() for severity in SEVERITIES}
        self._noted: dict[tuple[float, int], tuple[Problem, ...]] = {}
        self._unjudged: set[Entry] = set()
        """Those whose bodies were not looked at yet."""
        self._untold: set[Entry] = set()
        """Those that the team's rules were not applied to since it changed."""
        self._concerned = Multimap(_names_concerned)
        self._unknown = Tally[str]()
        self._ahead: set[Entry] = set()

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        if entry.when > self._now or entry.message.status == Status.CLAIMED:
            self._ahead.add(entry)
        if _is_blameless(entry, self._config):
            return
        self._count_unknown(entry, 1)
        if self._concerned.put(entry):
            self._untold.add(entry)
        if _is_sprint(entry):
            self._unjudged.add(entry)
            self._note(entry, _BODY, (*entry.read.frame_problems, *self._of_record(entry)))
        else:
            self._judge_body(entry)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._ahead.discard(entry)
        if _is_blameless(entry, self._config):
            return
        self._count_unknown(entry, -1)
        self._concerned.drop(entry)
        self._unjudged.discard(entry)
        self._untold.discard(entry)
        self._note(entry, _BODY, ())
        self._note(entry, _TEAM, ())

    def refresh(self, facts: TeamFacts, *, bodies: bool) -> None:
        """Judge by the team what is new or concerns an agent of whom something changed; bodies, if wanted, once."""
        before, self._facts = self._facts, facts
        changed = {name for name, _ in facts.roles.items() ^ before.roles.items()}
        changed |= {name for name, _ in facts.report_to.items() ^ before.report_to.items()}
        changed |= {session for session, _ in facts.plans.items() ^ before.plans.items()}
        if bool(facts.plans) is not bool(before.plans):  # the first plan makes a report of another session odd
            changed.update(self._concerned.keys)
        if ("resident" in facts.roles.values()) is not ("resident" in before.roles.values()):
            changed.update(self._concerned.keys)
        self._untold.update(*map(self._concerned.of, changed))
        for entry in self._untold:
            self._note(entry, _TEAM, team_problems(entry.read, facts))
        self._untold.clear()
        if bodies:
            for entry in self._unjudged:
                self._judge_body(entry)
            self._unjudged.clear()

    def judge_at(self, now: datetime) -> None:
        """Say what time it is, before messages are added."""
        self._now = now

    def ahead(self) -> Iterator[Problem]:
        """Dates that are yet to come, and claims longer than any that can be made: somebody's clock is or was wrong."""
        for entry in sorted(self._ahead, key=lambda entry: entry.place):
            message, lease = entry.message, lease_end(entry.message)
            if entry.when > self._now + CLOCKS_DIFFER:
                text = f"it says that it was written at {message.created}, which is yet to come"
                hint = f"Check the clock of {message.sender}. What came first is told by the audit trail, not by dates."
                yield Problem("FUTURE_DATE", "warning", message.message_id, text, hint)
            if message.status == Status.CLAIMED and lease is not None and lease > self._now + MAX_LEASE:
                text = f"it is claimed until {message.envelope('lease_until')}, longer than any claim may be"
                hint = "The claim counts as over; whoever receives next gets the message."
                yield Problem("LEASE_TOO_LONG", "warning", message.message_id, text, hint)

    def frozen(self, severity: str) -> tuple[Problem, ...]:
        """The problems of one severity, in stored order."""
        return self._problems[severity].rows

    def unknown(self) -> Iterator[Problem]:
        """Kinds nobody here knows; their messages are shown and kept as they are."""
        for name, number in sorted(self._unknown.items()):
            if name in self._config.kinds:
                continue
            are = "is" if number == 1 else "are"
            text = f"{counted(number, 'message')} {are} of a kind that is not known here; kept and shown as written"
            meant = nearest(name, KINDS)
            hint = f"Did somebody mean {meant}?" if meant else "Check the spelling if it was meant otherwise."
            yield Problem("UNKNOWN_KIND", "notice", f"type {name}", text, hint)

    def _judge_body(self, entry: Entry) -> None:
        self._note(entry, _BODY, (*problems_of(entry.read), *self._of_record(entry)))

    def _of_record(self, entry: Entry) -> Iterator[Problem]:
        broken = breach(self._config, entry.message, self._recorded)
        if broken is not None:
            text = f"{broken[0]}; {'it stops nobody' if entry.read.name == ORDER else 'another program wrote it'}"
            hint = f"Ask {entry.message.sender} why; nobody need answer it."
            yield Problem("NOT_PERMITTED", "error", entry.message.message_id, text, hint)
        yield from _of_record(entry, self._config)

    def _note(self, entry: Entry, part: int, problems: tuple[Problem, ...]) -> None:
        key = entry.place, part
        for number, problem in enumerate(self._noted.pop(key, ()) if self._noted else ()):
            self._list(problem).drop((*key, number))
        if problems:
            self._noted[key] = problems
            for number, problem in enumerate(problems):
                self._list(problem).put((*key, number), problem)

    def _list(self, problem: Problem) -> Ordered[Problem]:
        return self._problems[problem.severity if problem.severity in SEVERITIES else "notice"]

    def _count_unknown(self, entry: Entry, step: int) -> None:
        if entry.read.kind is None and not entry.read.frame_problems:
            self._unknown.count(entry.read.name, step)


def _names_concerned(entry: Entry) -> Iterable[str]:
    return names_concerned(entry.read) if is_judged_by_team(entry.read) else ()


def _is_blameless(entry: Entry, config: TeamConfig) -> bool:
    """Whether nothing can be odd about a message by itself, as about nearly every message; False says nothing."""
    message = entry.message
    sender = config.agent(message.sender)
    if config.key or message.type in config.kinds or sender.may_message is not None or sender.may_send is not None:
        return False
    return entry.is_mail and message.recipients != (message.sender,) and not message.odd and not _is_undated(entry)


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


class Quotations:
    """Follows what is quoted as `in_reply_to` and what can be quoted; a changed message costs what it quotes."""

    def __init__(self) -> None:
        self._past: dict[str, frozenset[str]] = {}
        self.clear_live()

    def clear_live(self) -> None:
        """Forget the queue; the past stays."""
        self._carried = Tally(name for ids in self._past.values() for name in ids)
        self._quoting = Multimap(_quoted)
        self._unknown = Memo[str, tuple[Entry, ...]]()
        self._late: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        self._late.append(entry)
        self._unknown.touch(*self._quoting.put(entry))

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._count_late()
        self._unknown.touch(*self._quoting.drop(entry))
        self._count(_ids(entry), -1)

    def remember(self, entry: Entry) -> None:
        """An archived message, that can be quoted as well."""
        self.forget(entry.message.message_id)
        self._past[entry.message.message_id] = _ids(entry)
        self._count(_ids(entry), 1)

    def forget(self, message_id: str) -> None:
        """A message of the past is live again, or turns out to be lost."""
        self._count(self._past.pop(message_id, ()), -1)

    def unknown(self) -> Iterator[Problem]:
        """`UNKNOWN_REPLY` for each live message that quotes what nobody has, in stored order."""
        if self._quoting.keys:  # what can be quoted matters as soon as anything quotes
            self._count_late()
        self._unknown.renew(self._unknown_to)
        for entry in sorted(chain.from_iterable(self._unknown.values), key=lambda entry: entry.place):
            message = entry.message
            quoted = "".join(_quoted(entry))
            text = f"in_reply_to: no message or request {quoted:.120} is known, so this answers nothing"
            hint = f"Ask {message.sender} which message it means."
            yield Problem("UNKNOWN_REPLY", "notice", message.message_id, text, hint)

    def _count_late(self) -> None:
        for entry in self._late:
            self._count(_ids(entry), 1)
        self._late = []

    def _count(self, ids: Iterable[str], step: int) -> None:
        for name in ids:
            self._carried.count(name, step)
            if self._quoting.of(name):
                self._unknown.touch(name)

    def _unknown_to(self, name: str) -> tuple[Entry, ...] | None:
        """What quotes an id that nobody else carries; a message that carries an id itself does not make it known."""
        carried = self._carried[name]
        return tuple(entry for entry in self._quoting.of(name) if carried <= (name in _ids(entry))) or None


def _quoted(entry: Entry) -> tuple[str, ...]:
    """The id that the message replies to, if any."""
    value = entry.message.payload.get("in_reply_to") if not entry.message.is_letter else None
    return (value,) if isinstance(value, str) and value else ()


def _ids(entry: Entry) -> frozenset[str]:
    """What the message can be quoted by."""
    message = entry.message
    if message.is_letter:  # a question of such a payload has its message id for its own
        return frozenset((message.message_id,))
    return frozenset(name for name in (message.message_id, message.request_id, entry.read.request_id) if name)


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
