"""All that is known of one agent: what it does, what is open with it, what it said, was told and had decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.protocol.placed_message import newest_first, when_created
from team_console.store.protocol.transcript_extract import ToolCall, why_in
from team_console.store.views.blocked import Blocked, blocked_times
from team_console.store.views.rows import RequestRow, RequestState, RosterRow, View


class AgentPage(Struct, frozen=True):
    """One agent.

    Attributes:
        open_with_reader: Open requests of it that whoever looks answers, or the other way round.
        open_with_others: Its other open requests, and those that it is asked.
        told: Live messages to it, most urgent unread first, then the read ones newest first.
        said: Live messages of it, newest first, without the questions that are open with the reader.
        verdicts: State -> how many of its requests ended so.
        blocked: How long it waited for a human; None where it never did.
        ran: The tool calls that its client told of with its latest request, oldest first.
    """

    row: RosterRow
    open_with_reader: tuple[RequestRow, ...] = ()
    open_with_others: tuple[RequestRow, ...] = ()
    told: Sequence[Message] = ()
    said: Sequence[Message] = ()
    verdicts: tuple[tuple[RequestState, int], ...] = ()
    blocked: Blocked | None = None
    ran: tuple[ToolCall, ...] = ()


def agent_page(view: View, name: str) -> AgentPage | None:
    """Return the page of an agent; None for a name that is not on the roster."""
    row = next((row for row in view.roster if row.name == name), None)
    if row is None:
        return None
    mine = [item.request for item in view.attention if item.request is not None and item.request.is_open]
    about = [request for request in view.requests if name in (request.asker, request.addressee)]
    with_reader = [
        item for item in about if item.is_open and name != view.me and (item in mine or view.me == item.asker)
    ]
    others = [item for item in about if item.is_open and item not in with_reader]
    asked = {item.question.message_id for item in with_reader}
    said = [item for item in view.snapshot.messages if item.sender == name and item.message_id not in asked]
    own = newest_first((item for item in about if item.asker == name), lambda item: when_created(item.question))
    extracts = (why for item in own if (why := why_in(item.question.payload)) is not None)
    ended = Counter(item.state for item in own if not item.is_open)
    return AgentPage(
        row=row,
        open_with_reader=tuple(with_reader),
        open_with_others=tuple(others),
        told=view.inboxes.get(name, ()),
        said=newest_first(said, when_created),
        verdicts=tuple((state, ended[state]) for state in RequestState if ended[state]),
        blocked=blocked_times(own, view.now).agents.get(name),
        ran=next((why.calls for why in extracts if why.calls), ()),
    )
