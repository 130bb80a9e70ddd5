"""Attachment of a message: a content so large that it is stored beside the queue (requirement 108)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from team_console.store.contract.team import PRIVATE, Team
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.parsing import mapping


def attachment_of(message: Message) -> str | None:
    """The reference of the content stored beside the queue, None when all of it is in the record."""
    place = mapping(message.payload, "attachment").get("path")
    return place if isinstance(place, str) else None


def attached_content(team: Team, message: Message) -> str | None:
    """The content stored beside the queue, of which the message holds only the beginning; None when it holds all.

    Raises:
        TeamError: `INVALID_FIELD` when the attachment is missing, or is not what was attached.
    """
    reference = attachment_of(message)
    if reference is None:
        return None
    data = team.attachment(reference)
    if mapping(message.payload, "attachment").get("sha256") not in (None, sha256(data).hexdigest()):
        text = f"{message.message_id}: {reference} is not the content that was attached"
        raise TeamError(Code.INVALID_FIELD, text, f"Ask {message.sender} to send it again.")
    return data.decode("utf-8", "replace")


def attachment_problems(team: Team, messages: Iterable[Message]) -> Iterator[Problem]:
    """Attachments of the messages that are missing or are not what was attached, each told once."""
    seen: set[tuple[object, object]] = set()
    for message in messages:
        place = message.payload.get("attachment")
        key = (str(place.get("path")), str(place.get("sha256"))) if isinstance(place, Mapping) else None
        if key is None or key in seen:
            continue
        seen.add(key)
        try:
            attached_content(team, message)
        except TeamError as error:
            if not error.facts.get(PRIVATE):
                hint = error.hint or f"Ask {message.sender} to send it again."
                yield Problem("ATTACHMENT_LOST", "error", message.message_id, error.message, hint)
