"""Contents so large that they are stored beside the queue: read, checked against their digest, and found lost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from team_console.store.contract.problem_codes import PRIVATE
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.foreign_fields import mapping_in


def attachment_of(message: Message) -> str | None:
    """Return the reference of the content stored beside the queue, None when all of it is in the record."""
    place = mapping_in(message.payload, "attachment").get("path")
    return place if isinstance(place, str) else None


def attached_content(team: Team, message: Message) -> str | None:
    """Return the content stored beside the queue, of which the message holds only the beginning; None when it holds
    all.

    Raises:
        TeamError: `INVALID_FIELD` when the attachment is missing, or is not what was attached.
    """
    reference = attachment_of(message)
    if reference is None:
        return None
    data = team.attachment(reference)
    if mapping_in(message.payload, "attachment").get("sha256") not in (None, hashlib.sha256(data).hexdigest()):
        text = f"{message.message_id}: {reference} is not the content that was attached"
        raise TeamError(Code.INVALID_FIELD, text, f"Ask {message.sender} to send it again.")
    return data.decode("utf-8", "replace")


def attachment_problems(team: Team, messages: Iterable[Message]) -> Iterator[Problem]:
    """Yield a problem for each attachment that is missing or is not what was attached, each told once."""
    seen: set[tuple[object, object]] = set()
    for message in messages:
        place = mapping_in(message.payload, "attachment")
        key = str(place.get("path")), str(place.get("sha256"))
        if not place or key in seen:
            continue
        seen.add(key)
        try:
            attached_content(team, message)
        except TeamError as error:
            if not error.facts.get(PRIVATE):
                hint = error.hint or f"Ask {message.sender} to send it again."
                yield Problem("ATTACHMENT_LOST", "error", message.message_id, error.message, hint)
