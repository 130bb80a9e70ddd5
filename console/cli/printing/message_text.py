"""A message as lines of safe text: what `receive`, `show` and `inbox` print of its payload, never raw JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from team_console.store.attachments import attached_content
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import fenced, safe_line, safe_text
from team_console.store.protocol.client_requests import permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import Reading, reading
from team_console.store.protocol.seen import EVIDENCE, REQUEST, SHOWN_BY
from team_console.store.protocol.seen import SHOWN as SHOWN_DIGEST
from team_console.store.protocol.verdicts import SIGNATURE
from team_console.store.views.proposals import proposal_of, suggestion_words
from team_console.store.views.titles import said_in, structure, text_at

if TYPE_CHECKING:
    from team_console.store.contract.team import Team
    from team_console.store.model.message import Message

_INDENT = "  "
_HEAD = re.compile(r"\W|_|(?:ID|Received|TRUST|Messages for)\b", re.IGNORECASE)
"""Begins a line that could be taken for one around a message."""
_APART = frozenset({"content", "summary", "request_id", "requestId", "attachment"})
"""Payload keys that have lines of their own."""
MACHINE_FIELDS = frozenset({REQUEST, SHOWN_DIGEST, EVIDENCE, SHOWN_BY, SIGNATURE})
"""What a verdict keeps for whoever checks it later; it is no part of what the agent is told."""


def whole_content(team: Team, message: Message) -> str | None:
    """The content that was stored beside the queue because of its size; None when there is none to be had."""
    try:
        return attached_content(team, message)
    except TeamError:
        return None


def summary_line(message: Message) -> str:
    """`said_in` as a safe line that nobody can take for one of the frame around a message."""
    line = safe_line(said_in(message))
    return _INDENT + line if _HEAD.match(line) else line


def payload_lines(message: Message, content: str | None = None, *, apart: frozenset[str] = frozenset()) -> list[str]:
    """The rest of the payload below `summary_line`: content, the id an answer must quote, and every other field.

    Indented, so that no content can pretend to be a further message. `content` replaces a content of which the
    message itself holds only the beginning. Of a verdict the fields `apart` are left out.
    """
    is_verdict = not message.payload.keys().isdisjoint((REQUEST, SHOWN_BY))
    lines = _lines(message, reading(message), content, _APART | apart if is_verdict else _APART)
    return [line for text in lines for line in fenced(text, _INDENT)]


def _lines(message: Message, read: Reading, content: str | None, apart: frozenset[str]) -> Iterator[str]:
    carried = _carries_fields(read)
    if not carried:
        yield from _content_lines(message, message.content if content is None else content)
    if message.request_id is not None:
        yield f"request_id: {safe_line(message.request_id)}"
    if read.opens is RequestKind.PERMISSION:
        apart |= SHOWN
        yield from permission_lines(message)
    fields = {key: value for key, value in message.payload.items() if key not in apart}
    if carried:
        fields = {key: value for key, value in fields.items() if key not in read.body or read.body[key] != value}
        yield from _carried_lines(read)
        if fields.keys() & read.body.keys():
            fields = {"further fields": fields}  # what decides is in the JSON, and must not be taken for its namesake
    if fields:
        yield from structure(fields, limit=None).split("\n")
    yield from _attachment_lines(message, content)


def _carried_lines(read: Reading) -> Iterator[str]:
    yield f"kind: {safe_line(read.name)}"
    body = {key: value for key, value in read.body.items() if key != "msg_type"}
    yield from structure(body, limit=None).split("\n") if body else ()


def _content_lines(message: Message, content: str) -> list[str]:
    """The content, without what stands in the line above it already: all of it, or as its title its whole first line.

    A title may be cut, or made of another field; then nothing of the content stands there.
    """
    text = safe_text(content).strip("\n").rstrip()
    above = safe_text(said_in(message))
    if text.strip() == above:
        return []
    first, _, rest = text.lstrip().partition("\n")
    if not text_at(message.payload, "summary") and first.rstrip() == above:
        text = rest
    return text.split("\n") if text else []


def _attachment_lines(message: Message, content: str | None) -> Iterator[str]:
    place = message.payload.get("attachment")
    if not isinstance(place, Mapping):
        return
    path, size = safe_line(place.get("path", "")), safe_line(place.get("bytes", "?"), 20)
    if content is None:
        yield f"only the beginning is shown: the whole ({size} bytes) should be in {path} and cannot be read"
    else:
        yield f"attachment: {path} ({size} bytes)"


def _carries_fields(read: Reading) -> bool:
    """Whether the message is a sprint message whose content is JSON that could be read."""
    return bool(read.carried)


SHOWN = frozenset({"tool", "input", "before", "before_at", "before_private", "suggestions"})
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
