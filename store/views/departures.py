"""What is odd about single live messages: their bodies, directions, signatures, ids and kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from store.config import TeamConfig
from store.protocol.configured_kinds import missing_fields
from store.protocol.directions import direction_problems
from store.protocol.entries import Entry
from store.protocol.fields import REQUIRED
from store.protocol.kinds import Family
from store.protocol.signing import Seal, seal_of
from store.team import Problem
from store.views.ordered import Ordered

SEVERITIES = ("error", "warning", "notice")
_BODY, _DIRECTION = 0, 1


class Departures:
    """Problems of single messages, judged once when a message comes; directions again when a role changes."""

    def __init__(self, config: TeamConfig) -> None:
        self._config = config
        self._problems: dict[str, Ordered[Problem]] = {severity: Ordered() for severity in SEVERITIES}
        self._found: dict[tuple[float, int], tuple[Problem, ...]] = {}
        self._unjudged: dict[int, Entry] = {}
        self._undirected: dict[int, Entry] = {}
        self._sprint: dict[str, dict[int, Entry]] = {}
        self._roles: Mapping[str, str] = {}
        self._ids: dict[str, int] = {}
        self._twice: set[str] = set()
        self._unknown: dict[str, int] = {}

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        self._count(entry, 1)
        if _is_sprint(entry):
            self._unjudged[id(entry)] = entry
            for name in (entry.message.sender, *entry.message.recipients):
                self._sprint.setdefault(name, {})[id(entry)] = entry
            self._undirected[id(entry)] = entry
            self._note(entry, _BODY, (*entry.read.departures, *_of_record(entry, self._config)))
        else:
            self._note(entry, _BODY, (*entry.read.problems, *_of_record(entry, self._config)))

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._count(entry, -1)
        self._unjudged.pop(id(entry), None)
        self._undirected.pop(id(entry), None)
        if _is_sprint(entry):
            for name in {entry.message.sender, *entry.message.recipients}:
                self._sprint[name].pop(id(entry), None)
        self._note(entry, _BODY, ())
        self._note(entry, _DIRECTION, ())

    def refresh(self, roles: Mapping[str, str], *, bodies: bool) -> None:
        """Judge directions of new messages and of those whose ends changed their role; bodies, if wanted, once."""
        changed = {name for name, _ in roles.items() ^ self._roles.items()}
        self._roles = dict(roles)
        for name in changed:
            self._undirected.update(self._sprint.get(name, {}))
        for entry in self._undirected.values():
            problems = direction_problems(entry.message, roles=self._roles, lead=self._config.lead)
            self._note(entry, _DIRECTION, problems)
        self._undirected.clear()
        if bodies and self._unjudged:
            for entry in self._unjudged.values():
                self._note(entry, _BODY, (*entry.read.problems, *_of_record(entry, self._config)))
            self._unjudged.clear()

    def is_live(self, message_id: str) -> bool:
        """Whether a message with this id is in the queue."""
        return message_id in self._ids

    def frozen(self, severity: str) -> tuple[Problem, ...]:
        """The problems of one severity, in stored order."""
        return self._problems[severity].rows

    def doubled(self) -> Iterator[Problem]:
        """Ids that more than one live message has."""
        for message_id in sorted(self._twice):
            text = f"{self._ids[message_id]} messages in the queue have the id {message_id}"
            hint = "Compare them in the queue; give one of them another id, or take the copy out."
            yield Problem("DUPLICATE_ID", "error", message_id, text, hint)

    def unknown(self) -> Iterator[Problem]:
        """Kinds nobody here knows; their messages are shown and kept as they are."""
        for name, number in sorted(self._unknown.items()):
            if name in self._config.kinds:
                continue
            text = f"{number} messages are of a kind that is not known here; they are kept and shown as they are"
            yield Problem(
                "UNKNOWN_KIND", "notice", f"type {name}", text, "Check the spelling if it was meant otherwise."
            )

    def _note(self, entry: Entry, part: int, problems: Iterable[Problem]) -> None:
        key = entry.place, part
        for number, one in enumerate(self._found.pop(key, ())):
            self._list(one).drop((*key, number))
        found = tuple(problems)
        if found:
            self._found[key] = found
            for number, one in enumerate(found):
                self._list(one).put((*key, number), one)

    def _list(self, problem: Problem) -> Ordered[Problem]:
        return self._problems[problem.severity if problem.severity in SEVERITIES else "notice"]

    def _count(self, entry: Entry, step: int) -> None:
        message_id = entry.message.message_id
        number = self._ids.pop(message_id, 0) + step
        if number:
            self._ids[message_id] = number
        self._twice.discard(message_id)
        if number > 1:
            self._twice.add(message_id)
        if entry.read.kind is None and not entry.read.departures:
            seen = self._unknown.pop(entry.read.name, 0) + step
            if seen:
                self._unknown[entry.read.name] = seen


def _is_sprint(entry: Entry) -> bool:
    return entry.read.kind is not None and entry.read.kind.family is Family.SPRINT


def _of_record(entry: Entry, config: TeamConfig) -> Iterator[Problem]:
    message = entry.message
    if message.recipients == (message.sender,):
        text = f"{message.sender} wrote to itself"
        yield Problem("SELF_ADDRESSED", "notice", message.message_id, text, "A reaction of one's own needs no message.")
    for name in missing_fields(config, message.type, message.payload):
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
