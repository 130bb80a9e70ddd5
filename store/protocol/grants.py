"""Grants: a human's decision that answers the very same permission again, until an end; nothing wider than was decided.

A grant is a message of the human, signed like a verdict where the team signs. Each answer it gives carries its record,
so that whoever judges the answer can see by it alone that the grant covers the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from team_console.store.model.clock import from_text
from team_console.store.model.message import Fields, Message, from_record
from team_console.store.protocol.client_requests import denial_of, origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import mappings, parse_message, text_in

GRANT, RECALLED = "grant", "grant_recalled"
GRANTED, USE = "grant", "grant_use"
"""Fields of an answer: the record of the grant that gave it, and which use of it this is, from 1."""
MOST_USES = 100
_CHANGES = frozenset({"content", "new_string", "edits", "new_source"})
"""Keys of inputs that change a file: what they do depends on the file, so each is decided."""


class GrantScope(Struct, frozen=True):
    """What a grant answers: exactly these inputs of one tool, asked by one agent in one folder of one client."""

    agent: str
    tool: str
    directory: str
    client: str
    inputs: tuple[Fields, ...]

    @property
    def place(self) -> tuple[str, str, str, str]:
        """All but the inputs."""
        return self.agent, self.tool, self.directory, self.client

    @property
    def as_recorded(self) -> dict[str, Any]:
        """The fields that the payload keeps."""
        return {**asdict(self), "inputs": list(self.inputs)}

    @property
    def words(self) -> str:
        """The scope in words."""
        shown = "; ".join(str(given.get("command") or _canonical(given)) for given in self.inputs)
        return f"{self.agent} may use {self.tool} in {self.directory or 'no folder that is named'}: {shown}"

    def covers(self, question: Message) -> bool:
        """Return whether it answers this request."""
        asked = scope_of(question)
        # guard: grant-only-in-its-scope
        return (
            asked is not None
            and asked.place == self.place
            and _canonical(asked.inputs[0]) in {_canonical(given) for given in self.inputs}
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
    return GrantScope(agent, tool, directory, client, mappings(payload, "inputs"))


def _canonical(given: Fields) -> str:
    """Tells one input from every other; what a model says about its command is no part of the command."""
    acting = {key: value for key, value in given.items() if key != "description" or "command" not in given}
    return json.dumps(acting, sort_keys=True, ensure_ascii=False)


def grant_of(answer: Message) -> Message | None:
    """Return the grant that an answer says it was given by; None where it says none, or one that cannot be read."""
    record = answer.payload.get(GRANTED)
    try:
        return from_record(record) if isinstance(record, Mapping) else None
    except ValueError:
        return None


def grant_trouble(answer: Message, question: Message | None) -> str:
    """Return why an answer that names a grant was not given by it; empty where it was, or names none."""
    if GRANTED not in answer.payload or answer.type == GRANT:
        return ""
    grant = grant_of(answer)
    if (
        grant is None
        or grant.type != GRANT
        or grant.sender != answer.sender
        or parse_message(answer).approve is not True
    ):
        return "the grant that it names is none"
    if question is None or not scope_in(grant).covers(question):
        return "the grant that it names does not cover this request"
    end, at = ends_at(grant), answer.created_at
    return "it was given after its grant had ended" if end is not None and (at is None or at >= end) else ""


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


def grants_among(messages: Iterable[Message], now: datetime) -> Iterator[RunningGrant]:
    """Yield every grant of these messages, oldest first, as it stands `now`; whether each is genuine is not looked
    at.
    """
    listed = list(messages)
    recalls = {text_in(each.payload, GRANTED): each.sender for each in listed if each.type == RECALLED}
    used: dict[str, int] = {}
    for each in listed:
        if (number := each.payload.get(USE)) and type(number) is int and (grant := grant_of(each)) is not None:
            used[grant.message_id] = max(number, used.get(grant.message_id, 0))
    for grant in (each for each in listed if each.type == GRANT):
        count, limit, end = used.get(grant.message_id, 0), grant.payload.get("uses"), ends_at(grant)
        over = ""
        if grant.message_id in recalls:
            over = f"recalled by {recalls[grant.message_id]}"
        elif type(limit) is int and count >= limit:
            over = f"used {count} times"
        elif end is not None and now >= end:
            over = "its time is over"
        elif end is None and type(limit) is not int:
            over = "it names no end"
        yield RunningGrant(grant, count, over)
