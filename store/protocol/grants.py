"""Tell what a grant answers: a human's decision that answers the very same permission again, until an end.

A grant is a message of the human, signed like a verdict where the team signs. Each answer it gives carries its record.
An answer counts only as the audit trail has it: what a record says of itself anybody may have written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict
from team_console.store.model.clock import from_text
from team_console.store.model.message import FieldDict, Fields, Message, from_record, is_same, without
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.client_requests import ONCE, denial_of, origin_of, permission_of
from team_console.store.protocol.foreign_fields import items_in, mappings_in, text_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.tool_input import acting_input, suggestion_words

GRANT, RECALLED = "grant", "grant_recalled"
"""Kinds of messages: a grant, and its end before its time."""
GRANTED, USE = "grant", "grant_use"
"""Fields of an answer: the record of the grant that gave it, and which use of it this is, from 1."""
MOST_USES = 100
"""Uses that a human may allow at most."""
ANSWER = "permission_response"
"""The kind of the answers that a grant gives."""
_UNLIMITED = 1_000_000_000
"""Uses of a grant that only its time ends."""
_LONGEST_SUMMARY = 120
"""Characters."""
_CLOCKS_DIFFER = timedelta(seconds=10)
"""How far a clock may be behind the newest line of the trail before it is not believed about the end of a grant."""
_BY_GRANT = "Allowed by the grant {}: "
"""How the summary of such an answer begins."""
_CHANGES = frozenset({"content", "new_string", "edits", "new_source"})
"""Keys of inputs that change a file: what they do depends on the file, so each is decided."""


class GrantScope(Struct, frozen=True):
    """What a grant answers: exactly these inputs of one tool, asked by one agent in one folder of one client.

    Attributes:
        rules: What the client was allowed always with the requests that it was made of: no part of the grant, and what
            its end does not end.
    """

    agent: str
    tool: str
    directory: str
    client: str
    inputs: tuple[Fields, ...]
    rules: tuple[Any, ...] = ()

    @property
    def place(self) -> tuple[str, str, str, str]:
        """All but the inputs."""
        return self.agent, self.tool, self.directory, self.client

    @property
    def as_recorded(self) -> dict[str, Any]:
        """The fields that the payload keeps."""
        recorded = {**asdict(self), "inputs": list(self.inputs), "rules": list(self.rules)}
        return recorded if self.rules else without(recorded, ("rules",))

    @property
    def words(self) -> str:
        """The scope in words."""
        shown = "; ".join(_input_words(acting_input(self.tool, given)) for given in self.inputs)
        words = f"{self.agent} may use {self.tool} in {self.directory or 'no folder that is named'}: {shown}"
        # guard: lasting-rule-named
        if self.rules:
            rules = "; ".join(map(suggestion_words, self.rules))
            words = f"{words} (with it you allowed always, whether or not the grant runs: {rules})"
        return words

    def covers(self, question: Message) -> bool:
        """Return whether it answers this request."""
        asked = scope_of(question)
        # guard: grant-only-in-its-scope
        return (
            asked is not None
            and asked.place == self.place
            and _canonical_json(acting_input(asked.tool, asked.inputs[0]))
            in {_canonical_json(acting_input(self.tool, given)) for given in self.inputs}
        )


def scope_of(question: Message) -> GrantScope | None:
    """Return the scope of a permission; None for what no grant may answer.

    What the client denied by itself, and a change of a file, is decided each time.
    """
    if parse_message(question).opens is not RequestKind.PERMISSION or denial_of(question.payload):
        return None
    asked, origin = permission_of(question.payload), origin_of(question.payload)
    if not asked.tool or not asked.input or not _CHANGES.isdisjoint(asked.input) or "before" in question.payload:
        return None
    return GrantScope(question.sender, asked.tool, origin.directory, origin.client, (dict(asked.input),))


def scope_in(grant: Message) -> GrantScope:
    """Return the scope of a grant."""
    payload = grant.payload
    agent, tool, directory, client = (text_in(payload, key) for key in ("agent", "tool", "directory", "client"))
    return GrantScope(agent, tool, directory, client, mappings_in(payload, "inputs"), items_in(payload, "rules"))


def _input_words(given: Fields) -> str:
    """Return a command with all that is given beside it; of any other input the whole of it."""
    command = given.get("command")
    if not isinstance(command, str) or not command:
        return _canonical_json(given)
    further = without(given, ("command",))
    return f"{command} (further input: {_canonical_json(further)})" if further else command


def _canonical_json(given: Fields) -> str:
    """Return JSON that tells one input from every other."""
    return json.dumps(dict(given), sort_keys=True, ensure_ascii=False)


def names_grant(message: Message) -> bool:
    """Return whether a message says that a grant gave it: an answer, not a grant or a recall of one."""
    return GRANTED in message.payload and message.type not in (GRANT, RECALLED)


class GrantUse(NamedTuple):
    """The id of the grant that an answer says it was given by, empty for none, and which use of it, from 1."""

    grant_id: str = ""
    number: int = 0


def use_in(answer: Message) -> GrantUse:
    """Return the use of a grant that an answer says it is; an empty one where it names none."""
    record, use = answer.payload.get(GRANTED), answer.payload.get(USE)
    grant_id = record.get("message_id") if isinstance(record, Mapping) else None
    is_use = names_grant(answer) and isinstance(grant_id, str) and type(use) is int
    return GrantUse(str(grant_id), int(use or 0)) if is_use else GrantUse()


def answer_by(grant: Message, question: Message, use: int, shown: Fields) -> FieldDict:
    """Return the payload of the answer that a grant gives to this question, as its use with this number.

    Args:
        shown: Its fields on what was answered and what was shown of that.
    """
    asked, grant_id = scope_of(question), grant.message_id
    summary = f"{_BY_GRANT.format(grant_id)}{asked.words if asked is not None else ''}"
    return {
        "request_id": parse_message(question).request_id,
        "approve": True,
        "scope": ONCE,
        **shown,
        GRANTED: dict(grant.record),
        USE: use,
        "summary": summary[:_LONGEST_SUMMARY],
    }


def grant_trouble(answer: Message, question: Message | None, recorded: RecordedFacts | None, shown: Fields) -> str:
    """Return why an answer that names a grant was not given by it; empty where it was.

    The trail tells, which a record cannot: that we wrote both, that the use was free, what came before what.

    Args:
        question: What it answers; None where that is not known any more.
        shown: As for `answer_by`.
    """
    grant_id, use = use_in(answer)
    grant = recorded.message(grant_id) if recorded is not None else None
    # guard: grant-on-record
    if recorded is None or grant is None or grant.type != GRANT or not recorded.is_by_desk(grant_id):
        return "the grant that it names is not on record"
    # guard: grant-answer-exact
    if not _is_exact(answer, grant, question, shown):
        return "it says something else than an answer by the grant that it names"
    # guard: grant-use-free
    if recorded.user_of(grant_id, use) != answer.message_id or not 1 <= use <= _most_uses(grant):
        return "it is no use of the grant that it names: team-console did not write it, or the use was made before"
    left = recorded.left_after(scope_in(grant).agent, grant_id)
    ended, fact = recorded.recalls.get(grant_id, left), recorded.get(answer.message_id)
    # guard: grant-before-recall
    if ended is not None and (fact is None or fact.line > ended):
        return "it was given after its grant had been recalled, or had ended with its agent"
    # guard: grant-before-end
    if _is_after_end(answer, grant, recorded):
        return "it was given after its grant had ended"
    # guard: grant-after-question
    if fact is not None and fact.in_time and question is not None:
        return "" if recorded.is_later(answer.message_id, question.message_id) else "it was given before it was asked"
    return ""


def _is_exact(answer: Message, grant: Message, question: Message | None, shown: Fields) -> bool:
    """Return whether an answer says what its grant answers to this question, and nothing else."""
    payload = dict(answer.payload)
    named = payload.get(GRANTED)
    try:
        is_same_grant = isinstance(named, Mapping) and is_same(from_record(named), grant)
    except ValueError:
        return False
    if not is_same_grant or (answer.type, answer.sender) != (ANSWER, grant.sender):
        return False
    if not text_in(payload, "summary").startswith(_BY_GRANT.format(grant.message_id)):
        return False
    if question is None:
        return True
    wanted = answer_by(grant, question, use_in(answer).number, shown)
    apart = (GRANTED, "summary")
    said = without(payload, apart)
    meant = without(wanted, apart)
    is_to_asker = answer.recipients == (question.sender,)
    return is_to_asker and payload.keys() == wanted.keys() and said == meant and scope_in(grant).covers(question)


def _most_uses(grant: Message) -> int:
    """Return how often it may be used; where only its time is limited, as often as is asked."""
    uses = grant.payload.get("uses")
    return uses if type(uses) is int else _UNLIMITED


def _is_after_end(answer: Message, grant: Message, recorded: RecordedFacts) -> bool:
    """Return whether a grant had ended when the answer was written, by its date or by any line of the trail before.

    A date well before such a line is of a clock that went back, which says nothing of the end.
    """
    end, fact = ends_at(grant), recorded.get(answer.message_id)
    if end is None:
        return type(grant.payload.get("uses")) is not int
    created = answer.created_at
    if created is None or created >= end:
        return True
    latest = recorded.latest(answer.message_id) if fact is not None and fact.in_time else None
    return latest is not None and (latest >= end or created + _CLOCKS_DIFFER < latest)


def ends_at(grant: Message) -> datetime | None:
    """Return when it ends; None where only its uses are counted."""
    value = text_in(grant.payload, "ends")
    return from_text(value) if value else None


class RunningGrant(Struct, frozen=True):
    """A grant as it stands.

    Attributes:
        used: How many answers it has given.
        over: Why it gives none any more; empty while it does.
    """

    grant: Message
    used: int
    over: str


def grants_among(messages: Iterable[Message], now: datetime, recorded: RecordedFacts | None) -> Iterator[RunningGrant]:
    """Yield every grant of these messages, oldest first, as it stands `now` by the audit trail; whether each is genuine
    is not looked at.
    """
    for grant in (each for each in messages if each.type == GRANT):
        if recorded is None:
            yield RunningGrant(grant, 0, "there is no audit trail to count by")
            continue
        used, end, latest = recorded.last_use(grant.message_id), ends_at(grant), recorded.latest()
        over = ""
        if grant.message_id in recorded.recalls:
            over = f"recalled by {grant.sender}"
        elif recorded.left_after(scope_in(grant).agent, grant.message_id) is not None:
            over = "its agent left the team"
        elif used >= _most_uses(grant):
            over = f"used {used} times"
        elif end is not None and max(now, latest or now) >= end:
            over = "its time is over"
        elif end is not None and latest is not None and now + _CLOCKS_DIFFER < latest:
            over = "the clock went back, so nobody can tell whether its time is over"
        elif end is None and type(grant.payload.get("uses")) is not int:
            over = "it names no end"
        yield RunningGrant(grant, used, over)
