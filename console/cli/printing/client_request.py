"""A permission as lines of safe text: the command or the change that is asked for, not the JSON it came in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import permission_of
from team_console.store.views.nested_text import structure
from team_console.store.views.proposals import proposal_of
from team_console.store.views.suggestions import suggestion_words

if TYPE_CHECKING:
    from team_console.store.model.message import Message

SHOWN = frozenset({"tool", "input", "before", "suggestions"})
"""Payload keys of a permission that these lines tell."""


def permission_lines(message: Message) -> Iterator[str]:
    """What a `permission_request` asks for; every line but the headings is indented or marked."""
    permission = permission_of(message.payload)
    proposal = proposal_of(permission)
    yield f"tool: {safe_line(permission.tool)}"
    subject = f" {safe_line(proposal.subject)}" if proposal.subject else ""
    yield f"{proposal.sort}:{subject}"
    yield from (f"  △ {note}" for note in proposal.notes)
    yield from (f"  {safe_text(line)}" for line in proposal.diff)
    if proposal.text:
        yield from (f"  │ {safe_text(line)}" for line in proposal.text.removesuffix("\n").split("\n"))
    if proposal.rest:
        yield from (f"  {line}" for line in structure(proposal.rest, limit=None).split("\n"))
    if proposal.words:
        yield f"what the agent says of it: {safe_line(proposal.words)}"
    for number, suggestion in enumerate(permission.suggestions, start=1):
        yield f"may be allowed always, {number}: {safe_line(suggestion_words(suggestion))}"
