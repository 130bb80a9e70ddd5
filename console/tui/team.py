"""Tells what each agent does, from the view."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.rows import AgentState, RosterRow, StoryState, View
from team_console.widgets.signs import AGENTS, FAILING, Sign


def signs_of(view: View | None) -> Mapping[str, Sign]:
    """Return name -> what each agent does, in a sign; of who looks at the screen only that it is them."""
    if view is None:
        return {}
    failing, asking = failing_agents(view), {item.who for item in view.attention if item.answerable}
    signs = {row.name: _sign(row, row.name in failing, row.name in asking) for row in view.roster}
    return signs | ({view.me: replace(signs[view.me], word="you")} if view.me in signs else {})


def asked_title(view: View | None, message: Message) -> str:
    """Return the title of the request that `message` decides, safe text; empty for others and for an agent that
    stops.
    """
    read = parse_message(message)
    if view is None or read.request_id is None or read.answers in (None, RequestKind.SHUTDOWN):
        return ""
    return safe_line(next((row.title for row in view.requests if row.request_id == read.request_id), ""), 300)


def failing_agents(view: View) -> frozenset[str]:
    """Return agents a message could not be delivered to, or whose story failed."""
    stories = (story for batch in view.batches for story in batch.stories)
    unreached = frozenset(row.recipient for row in view.failed)
    return unreached.union(story.agent for story in stories if story.state is StoryState.FAILED)


def _sign(row: RosterRow, is_failing: bool, is_asking: bool) -> Sign:
    if is_failing and row.state is not AgentState.STOPPED:
        return FAILING
    return AGENTS[AgentState.WAITING if row.state is AgentState.PLANNING and is_asking else row.state]
