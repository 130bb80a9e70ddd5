"""What the strip and the column of the team show: each agent's state from the view, and what happened last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import attrgetter, not_

from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.rows import (
    ActionItem,
    AgentState,
    RosterRow,
    StoryState,
    View,
)
from team_console.widgets.rows import decision_words, title_of
from team_console.widgets.signs import AGENTS, FAILING, Sign
from team_console.widgets.team import AgentCell, TeamEvent
from team_console.widgets.text import ShortNames, short_names

_URGENT = (AGENTS[AgentState.WAITING], AGENTS[AgentState.STOPPING])
_ID, _AT = attrgetter("message_id"), attrgetter("at")
_KEPT = 60
"""Events that are remembered; a broad screen shows fewer."""
_NEWEST = 400
"""Messages at the end of the queue among which new ones are looked for."""


def cells_of(view: View | None) -> tuple[AgentCell, ...]:
    """One cell per agent, the human left out; in the order of the roster, so that cells keep their places."""
    if view is None:
        return ()
    failing = failing_agents(view)
    asking = _asking(view.attention)
    rows = [row for row in view.roster if row.name not in (view.me, USER)]
    return tuple([_cell(row, row.name in failing, row.name in asking) for row in rows])


def names_of(view: View | None) -> ShortNames:
    """The forms of each agent's name, for the strip of the team and every list; the same object for the same team."""
    return _forms(() if view is None else tuple([row.name for row in view.roster if row.name not in (view.me, USER)]))


@lru_cache(maxsize=2)
def _forms(names: tuple[str, ...]) -> ShortNames:
    return short_names(tuple([safe_line(name, 64) for name in names]))


def signs_of(view: View | None) -> Mapping[str, Sign]:
    """Name -> what each agent does, as the strip says it; of who looks at the screen only that it is them."""
    if view is None:
        return {}
    failing, asking = failing_agents(view), _asking(view.attention)
    signs = {row.name: _sign(row, row.name in failing, row.name in asking) for row in view.roster}
    return signs | ({view.me: replace(signs[view.me], word="you")} if view.me in signs else {})


def asked_title(view: View | None, message: Message) -> str:
    """The title of the request that `message` decides, safe text; empty for others and for an agent that stops."""
    read = parse_message(message)
    if view is None or read.request_id is None or read.answers in (None, RequestKind.SHUTDOWN):
        return ""
    return safe_line(next((row.title for row in view.requests if row.request_id == read.request_id), ""), 300)


def _asking(items: Iterable[ActionItem]) -> frozenset[str]:
    """Who waits for an answer."""
    return frozenset(item.who for item in items if item.answerable)


def failing_agents(view: View) -> frozenset[str]:
    """Agents a message could not be delivered to, or whose story failed."""
    stories = (story for batch in view.batches for story in batch.stories)
    unreached = frozenset(row.recipient for row in view.failed)
    return unreached.union(story.agent for story in stories if story.state is StoryState.FAILED)


@lru_cache(maxsize=512)
def _cell(row: RosterRow, is_failing: bool, is_asking: bool) -> AgentCell:
    """The cell of an agent; of most a change says nothing."""
    sign = _sign(row, is_failing, is_asking)
    return AgentCell(
        name=safe_line(row.name, 64),
        key=row.name,
        sign=sign,
        urgent=sign is FAILING or sign in _URGENT,
        is_gone=row.state is AgentState.STOPPED,
        unread=row.unread,
        oldest=row.oldest_unread,
        note=safe_line(row.reported, 60) if row.reported and sign is not FAILING else "",
    )


def _sign(row: RosterRow, is_failing: bool, is_asking: bool) -> Sign:
    if is_failing and row.state is not AgentState.STOPPED:
        return FAILING
    return AGENTS[AgentState.WAITING if row.state is AgentState.PLANNING and is_asking else row.state]


class Events:
    """The last events, remembered: what is read and archived leaves the queue, and happened all the same."""

    def __init__(self) -> None:
        self._known: dict[str, TeamEvent] = {}
        self._seen: set[str] = set()
        self._revision = ""
        self._newest: tuple[TeamEvent, ...] = ()

    @property
    def newest(self) -> tuple[TeamEvent, ...]:
        """The events, newest first."""
        return self._newest

    def take(self, view: View | None) -> None:
        """Add what is new in `view`."""
        if view is None or view.revision == self._revision:
            return
        self._revision = view.revision
        last = _last(view.snapshot.messages)
        is_seen = map(self._seen.__contains__, map(_ID, last))
        fresh = list(compress(last, map(not_, is_seen)))  # without a step of ours for each of the hundreds
        if not fresh:
            return
        for message in _latest(fresh):
            is_new, asked = message.message_id not in self._seen, asked_title(view, message)
            event = _event(message, view.me, asked) if is_new else None
            self._seen.add(message.message_id)
            if event is not None:
                known = self._known.get(event.key)
                self._known[event.key] = event if known is None else _together(known)
        self._seen.update(map(_ID, fresh))
        latest_first = reversed(self._known.values())
        self._newest = tuple(sorted(latest_first, key=_AT, reverse=True)[:_KEPT])
        self._known = {event.key: event for event in reversed(self._newest)}
        if len(self._seen) > 4 * _NEWEST:
            self._seen = {message.message_id for message in _last(view.snapshot.messages)}


def _last(messages: Sequence[Message]) -> Sequence[Message]:
    return messages[-_NEWEST:]


def _latest(messages: list[Message]) -> list[Message]:
    """Those that can be among the events that are kept, in their order: the first view of a team brings hundreds."""
    moments = sorted({moment for message in messages if (moment := message.created_at) is not None}, reverse=True)
    if len(moments) <= _KEPT:
        return messages
    # Messages of one moment may be one event, those of different moments never are.
    oldest = moments[_KEPT - 1]
    return [message for message in messages if (moment := message.created_at) is not None and moment >= oldest]


def _event(message: Message, me: str, asked: str) -> TeamEvent | None:
    """Who did what: a verdict in words, else to whom and what about; None when it is not known when."""
    if message.created_at is None:
        return None
    sender, title = _name(message.sender, me), title_of(message)
    key = f"{message.created}:{message.sender}:{title}"
    if decided := decision_words(message, asked):
        return TeamEvent(key, message.created_at, message.sender, sender, "", 0, decided)
    to, more = ", ".join(_name(name, me) for name in message.recipients[:1]), len(message.recipients) - 1
    words = ((f": {title}", "muted"),)
    return TeamEvent(key, message.created_at, message.sender, sender, to, max(0, more), words)


def _together(event: TeamEvent) -> TeamEvent:
    """The same thing written to one more agent, as a broadcast is."""
    return replace(event, more=event.more + 1)


def _name(name: str, me: str) -> str:
    return "you" if name == me else safe_line(name, 64)
