"""Recorded requests and answers: what the audit trail says was written, in which order, and whether we wrote it.

The audit trail decides, not a date in a record: a record can be forged, edited or taken out, the trail is a chain.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from team_console.store.model.message import Message, from_record, is_same

ACCEPT_KEYS = "accept_keys"
"""The action that takes keys of a human on record."""
ACCEPT_SETTINGS = "accept_settings"
"""The action that confirms settings which lost what was in force."""
ROWS_AFTER = "archive_rows"
"""The fact of a line of a database that says how many rows the archive had after it."""
TRAIL_LOST = "audit_lost"
"""The fact of a line that is the first after others were lost: where they ended, and how many there were."""
CARRIED = "audit_findings"
"""The fact of a line of a copy that keeps what was found, for good, on the trail of the team it was copied from."""
RECALL_GRANT = "recall_grant"
"""The action that ends a grant; its fact `grant` is the id of it."""
MIGRATE = "migrate"
"""The action that copies another team; its fact `by_desk` lists what that team's own trail had as written by us, its
fact `grant` the grants that were over there."""
REWORDED = "reworded"
"""The fact of a line that found messages which say something else than was on record: id -> what is another."""
_SIGNED = b"-----BEGIN SSH SIGNATURE-----"
_DECODER = msgspec.json.Decoder()


class RecordOrder(NamedTuple):
    """The place of a message in the order of events, compared part by part.

    Attributes:
        moment: When it was written; what is on record counts no later than the lines behind it.
        is_off_record: Whether the trail does not have it; of one moment, what is on record comes first.
        place_on_record: Its place among the facts of the trail; 0 off record.
        place_in_store: Its place in the stored order.
    """

    moment: datetime
    is_off_record: bool
    place_on_record: int
    place_in_store: float


class CarriedFinding(NamedTuple):
    """A finding on the trail of the team that this one was copied from, and the line of the copy that tells it."""

    line: int
    code: str
    text: str


class Departure(NamedTuple):
    """The line of the trail that took a member out of the settings, and when that was, if known."""

    line: int
    at: datetime | None


class RecordedSettings(NamedTuple):
    """The settings that came into force with a line of the trail.

    Attributes:
        line: Number of the audit line.
        at: When that line was written, if that is known.
        members: Gives who is in them, None where they cannot be understood. A text takes 0.5 ms to understand, so that
            only those are asked that may tell something; each is understood once.
    """

    line: int
    at: datetime | None
    members: Callable[[], frozenset[str] | None]


class RecordedFact(Struct, frozen=True):
    """One request or answer, as the audit trail first has it.

    Attributes:
        line: Number of the audit line.
        at: When that line was written, by the clock of whoever wrote it; None when unreadable.
        created: When the message says that it was written.
        by_desk: Whether it was written through team-console; False for what somebody else put into the store.
        in_time: Whether the line was written when the message was; else the message's own date counts, up to then.
        grant: Id of the grant that it says it was given by; empty for none.
        use: Which use of that grant it says it is; 0 for none.
        creates: The agent whose creation it announces; empty for none.
        request_id: The request it answers, None for a question and for an answer that quotes no id.
        record: The record of an answer as JSON, empty for a question.
    """

    message_id: str
    line: int
    at: datetime | None
    created: datetime | None
    by_desk: bool
    request_id: str | None = None
    record: bytes = b""
    in_time: bool = True
    grant: str = ""
    use: int = 0
    creates: str = ""


class Acceptance(Struct, frozen=True):
    """Keys of a human that a line of the trail took on record.

    Attributes:
        keys: Their fingerprints.
        by: Public key, a line, that the signature is of; empty for none.
        signature: Of a key that was known before; empty for none.
        line: Number of the audit line.
    """

    human: str
    keys: tuple[str, ...] = ()
    by: str = ""
    signature: str = ""
    line: int = 0


class Confirmation(Struct, frozen=True):
    """Settings that lost what was in force and were confirmed by a line of the trail.

    Attributes:
        human: Who confirmed them; empty where the line does not say.
        team_id: The identity that the settings before gave the team.
        sha256: Digest of their text.
        line, by, signature: As for `Acceptance`.
    """

    human: str = ""
    team_id: str = ""
    sha256: str = ""
    by: str = ""
    signature: str = ""
    line: int = 0


_FactsT = TypeVar("_FactsT", Acceptance, Confirmation)


def _parse_facts(line: int, facts: object, sort: type[_FactsT]) -> _FactsT | None:
    """Return the facts of a line as an `Acceptance` or a `Confirmation`; None where they are malformed."""
    try:
        return msgspec.convert({**facts, "line": line}, sort) if isinstance(facts, dict) else None
    except msgspec.ValidationError:
        return None


class RecordedFacts:
    """The facts of one audit trail. They only ever grow; one thread may add while others ask.

    Attributes:
        acceptances: Keys of humans that were taken on record, in the order of the trail.
        confirmations: Settings that were confirmed although they lost what was in force, in the same order.
        losses: Numbers of the lines that are the first after others were lost.
        reworded: Id of each message that was changed after it was recorded -> what of it is another.
        carried: What was found on the trail of the team that this one was copied from.
        recalls: Id of each grant that was recalled -> the line that says so.
        signing_asked_from: The first line on which settings that ask for signed verdicts were in force; None for none.
        authors: Who wrote anything through team-console, as far as the lines that were read tell.
    """

    def __init__(self) -> None:
        self.acceptances: list[Acceptance] = []
        self.confirmations: list[Confirmation] = []
        self.losses: list[int] = []
        self.reworded: dict[str, str] = {}
        self.carried: list[CarriedFinding] = []
        self.recalls: dict[str, int] = {}
        self.authors: set[str] = set()
        self.signing_asked_from: int | None = None
        self._settings: list[RecordedSettings] = []
        """Those of each line that brought others into force, in the order of the trail."""
        self._order: list[RecordedFact] = []
        """The facts in the order of the trail; the place of one is its index here."""
        self._places: dict[str, int] = {}
        """Message id -> place of its fact."""
        self._moments: list[datetime | None] = []
        """By place, when it was recorded; never later than what follows it."""
        self._latest_until: list[datetime | None] = []
        """By place, the latest moment of any fact up to it."""
        self._answers: dict[str, list[str]] = {}
        """Request id -> ids of its answers."""
        self._messages: dict[str, Message | None] = {}
        """Id of an answer -> the answer as recorded, once somebody asked for it."""
        self._uses: dict[str, dict[int, str]] = {}
        """Grant id -> number of a use -> id of the answer that was it."""
        self._creations: dict[str, list[str]] = {}
        """Name of an agent -> ids of the messages that announced it."""
        self._signed: list[RecordedFact] = []
        """Verdicts with a signature that team-console wrote, in the order of the trail."""
        self._first_signed: dict[str, Message] = {}
        """Sender -> its first signed verdict, among those of `_signed` that were looked at."""
        self._looked_at = 0
        """How many of `_signed` were looked at for `_first_signed`, from the first on."""

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._places

    def get(self, message_id: str) -> RecordedFact | None:
        """Return the recorded fact of this message; None without one."""
        place = self._places.get(message_id)
        return None if place is None else self._order[place]

    def is_by_desk(self, message_id: str) -> bool:
        """Return whether the trail says that team-console wrote this message."""
        fact = self.get(message_id)
        return fact is not None and fact.by_desk

    def is_before_signing(self, message_id: str) -> bool:
        """Return whether team-console wrote this message, and not behind the first verdict with a signature.

        What was copied from another team is compared with what was signed here: there it stood in any order.
        """
        fact = self.get(message_id)
        if fact is None or not fact.by_desk:
            return False
        first = next((signed.line for signed in self._signed if fact.in_time or signed.in_time), None)
        # guard: nothing-older-once-signing-is-asked
        if self.signing_asked_from is not None and fact.line > self.signing_asked_from and fact.in_time:
            return False
        return first is None or fact.line <= first

    def is_by_former_member(self, message: Message) -> bool:
        """Return whether its sender was taken out of the settings after writing it, and put into them again."""
        left = self.left_after(message.sender, message.message_id)
        return left is not None and self.is_member(message.sender)

    def left_after(self, member: str, message_id: str) -> int | None:
        """Return the first line after that of a message that took a member out of the settings; None without one."""
        fact = self.get(message_id)
        # guard: grant-ends-with-its-agent
        departures = self.departures_of(member, after=fact.line) if fact is not None else []
        return departures[0].line if departures else None

    def is_member(self, name: str) -> bool:
        """Return whether an agent is in the settings now, as far as the trail tells."""
        latest = next((known for each in reversed(self._settings) if (known := each.members()) is not None), ())
        return name in latest

    def departures_of(self, name: str, *, after: int = 0) -> list[Departure]:
        """Return each time that it was taken out of the settings, by whomever, on lines behind `after`."""
        begin = max(0, bisect_right(self._settings, after, key=lambda each: each.line) - 1)
        while begin and self._settings[begin].members() is None:
            begin -= 1
        found: list[Departure] = []
        was_there = False
        for line, at, members_there in self._settings[begin:]:
            members = members_there()
            if members is None:
                continue
            if was_there and name not in members:
                found.append(Departure(line, at))
            was_there = name in members
        return found

    def answers_to(self, request_id: str) -> Sequence[str]:
        """Return the ids of the recorded answers that quote this request id, in the order of the trail."""
        return self._answers.get(request_id, ())

    def message(self, message_id: str) -> Message | None:
        """Return a recorded answer as it was written, the same object each time; None for all that is no recorded
        answer.
        """
        if message_id not in self._messages:
            fact = self.get(message_id)
            if fact is None or not fact.record:
                return None
            self._messages[message_id] = _parse_message(fact.record)
        return self._messages[message_id]

    # guard: trail-gives-words
    def differs(self, message: Message) -> bool:
        """Return whether a recorded answer says something else now. Keeps nothing: it is asked of every answer."""
        fact = self.get(message.message_id)
        written = _parse_message(fact.record) if fact is not None and fact.record else None
        return written is not None and not is_same(message, written)

    def order_of(self, message_id: str, own_order: tuple[datetime, float]) -> RecordOrder:
        """Return the place of a message in time: by the trail where recorded, else by its own date.

        A clock that was ahead for a while moves nothing: no line counts as later than the lines after it.

        Args:
            own_order: The date in the message, and its place in the stored order.
        """
        own_date, place_in_store = own_order
        place = self._places.get(message_id)
        if place is None:
            return RecordOrder(own_date, True, 0, place_in_store)
        fact, moment = self._order[place], self._moments[place]
        written = moment if fact.in_time else fact.created
        return RecordOrder(min(written or own_date, moment or own_date), False, place, place_in_store)

    def first_signed(self, sender: str) -> Message | None:
        """Return the first verdict with a signature that team-console wrote for `sender`."""
        while self._looked_at < len(self._signed):
            message = self.message(self._signed[self._looked_at].message_id)
            self._looked_at += 1
            if message is not None:
                self._first_signed.setdefault(message.sender, message)
        return self._first_signed.get(sender)

    def user_of(self, grant_id: str, use: int) -> str | None:
        """Return the id of the first answer of ours that was this use of the grant; None while the use is free."""
        return self._uses.get(grant_id, {}).get(use)

    def last_use(self, grant_id: str) -> int:
        """Return the highest use of this grant that an answer of ours was; 0 without one."""
        return max(self._uses.get(grant_id, {}), default=0)

    def creations_of(self, agent: str) -> Sequence[str]:
        """Return the ids of the messages of ours that announced an agent of this name, in the order of the trail."""
        return self._creations.get(agent, ())

    def latest(self, message_id: str = "") -> datetime | None:
        """Return the latest moment of any line up to the one that has this message, of all lines without an id; None
        where no line says when it was written.

        A clock that was set back later takes nothing away from it.
        """
        place = self._places.get(message_id, -1)  # the last place where the trail does not have it
        return self._latest_until[place] if self._latest_until else None

    def is_later(self, message_id: str, other_id: str) -> bool:
        """Return whether the trail has the message, and has the other before it."""
        place, other = self._places.get(message_id), self._places.get(other_id)
        return place is not None and other is not None and other < place

    @property
    def signed_from(self) -> int | None:
        """The line of the first verdict with a signature that team-console wrote here; None without one."""
        return self._signed[0].line if self._signed else None

    def add_action(self, line: int, action: str, facts: object) -> None:
        """Take what the next line of the trail says beside requests and answers.

        Args:
            line: Number of the line.
            action: What was done.
            facts: What it says of that; None where it cannot be trusted.
        """
        known = facts if isinstance(facts, dict) else {}
        if TRAIL_LOST in known:
            self.losses.append(line)
        if isinstance(changed := known.get(REWORDED), dict):
            self.reworded.update({str(message_id): str(what) for message_id, what in changed.items()})
        if action == RECALL_GRANT:
            self._add_recall(line, known)
        if action == ACCEPT_KEYS and (acceptance := _parse_facts(line, facts, Acceptance)):
            self.acceptances.append(acceptance)
        if action == ACCEPT_SETTINGS and facts is not None:
            self.confirmations.append(_parse_facts(line, facts, Confirmation) or Confirmation(line=line))
        if action == MIGRATE:
            self._add_copied_trail(line, known)

    def add_settings(self, settings: RecordedSettings) -> None:
        """Take the settings that came into force with the next line."""
        self._settings.append(settings)

    def _add_recall(self, line: int, facts: Mapping[str, Any]) -> None:
        """Take the end of a grant; the first one stands."""
        if isinstance(grant_id := facts.get("grant"), str):
            self.recalls.setdefault(grant_id, line)

    def _add_copied_trail(self, line: int, facts: Mapping[str, Any]) -> None:
        """Take what a copy of another team keeps of its trail: grants that were over, and what was found on it."""
        for action, copied in _copied_lines(facts):
            if action == RECALL_GRANT:
                self._add_recall(line, copied)
        for grant_id in facts.get("grant") or ():
            self.recalls.setdefault(str(grant_id), line)
        for found in facts.get(CARRIED) or ():
            match found:
                case [str(code), str(text)]:
                    self.carried.append(CarriedFinding(line, code, text))

    def add(self, fact: RecordedFact) -> None:
        """Take the next fact of the trail; the first word on a message stands."""
        if fact.message_id in self._places:
            return
        self._places[fact.message_id] = place = len(self._order)
        self._order.append(fact)
        self._moments.append(fact.at)
        latest = self._latest_until[-1] if self._latest_until else None
        self._latest_until.append(fact.at if latest is None or (fact.at is not None and fact.at > latest) else latest)
        if fact.by_desk and fact.creates:
            self._creations.setdefault(fact.creates, []).append(fact.message_id)
        if fact.by_desk and fact.grant:
            self._uses.setdefault(fact.grant, {}).setdefault(fact.use, fact.message_id)
        if fact.request_id is not None and fact.record:
            self._answers.setdefault(fact.request_id, []).append(fact.message_id)
        if fact.by_desk and _SIGNED in fact.record:
            self._signed.append(fact)
        if fact.at is not None:
            self._bound_moments(place, fact.at)

    def _bound_moments(self, place: int, at: datetime) -> None:
        """Let no fact before this place be later than it: a clock that was ahead then was set back since."""
        while place > 0:
            place -= 1
            earlier = self._moments[place]
            if earlier is not None and earlier <= at:
                break
            self._moments[place] = at


def ids_written_by_desk(action: str, facts: object) -> tuple[str, ...]:
    """Return the ids of copied messages that team-console wrote in the team they came from."""
    named = facts.get("by_desk") if action == MIGRATE and isinstance(facts, dict) else None
    return tuple(item for item in named if isinstance(item, str)) if isinstance(named, list) else ()


def _copied_lines(facts: Mapping[str, Any]) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Yield action and facts of the lines of another team's trail that a copy of it keeps."""
    lines = facts.get("audit")
    for line in lines if isinstance(lines, list) else ():
        if isinstance(line, dict) and isinstance(line.get("facts"), dict):
            yield line.get("action"), line["facts"]


def _parse_message(raw: bytes) -> Message | None:
    """Return the message that a record of the trail holds as JSON; None where it holds none."""
    try:
        record = _DECODER.decode(raw)
        return from_record(record) if isinstance(record, dict) else None
    except (ValueError, RecursionError):
        return None
