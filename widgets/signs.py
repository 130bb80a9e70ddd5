"""Signs of states: for each a glyph, a word and a tone, so that no state is told by colour alone.

Every table is total: a state without a sign would break the list it is in (a test finds tables that are not).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Priority, Status
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import ASKBACK, ASKED_BACK
from team_console.store.views.rows import AgentState, DeliveryState, Need, RequestState, RosterRow, StoryState, View

if TYPE_CHECKING:
    from team_console.widgets.text import Part  # not at run time: rich.cells costs each verb 5 ms


class Sign(Struct, frozen=True):
    """How a state is written."""

    glyph: str
    word: str
    tone: str = ""

    @property
    def mark(self) -> Part:
        """The glyph, before something else."""
        return f"{self.glyph} ", self.tone

    @property
    def part(self) -> Part:
        """Glyph and word."""
        return f"{self.glyph} {self.word}".strip(), self.tone


NEEDS: Mapping[Need, Sign] = {
    Need.PLAN: Sign("◆", "PLAN", "open"),
    Need.PERMIT: Sign("◉", "PERMISSION", "warn"),
    Need.QUESTION: Sign("◈", "QUESTION", "warn"),
    Need.ESCALATE: Sign("▲", "ESCALATION", "bad"),
    Need.CREATE: Sign("✚", "CREATE", "open"),
    Need.DESTROY: Sign("⊖", "END", "open"),
    Need.REFUSED: Sign("⊘", "REFUSED", "warn"),
    Need.SHUTDOWN: Sign("■", "STOP", "warn"),
    Need.CLARIFY: Sign("?", "CLARIFY", "warn"),
    Need.FAILED: Sign("✗", "FAILED", "bad"),
    Need.DAMAGED: Sign("‼", "DAMAGED", "bad"),
    Need.OVERDUE: Sign("◷", "OVERDUE", "warn"),
    Need.MESSAGE: Sign("○", "MESSAGE", "muted"),
}
PRIORITIES: Mapping[str, Sign] = {
    Priority.CRITICAL: Sign("▲", "critical", "bad"),
    Priority.HIGH: Sign("△", "high", "warn"),
    Priority.MEDIUM: Sign(" ", "medium", "muted"),
    Priority.LOW: Sign("▽", "low", "muted"),
}
STATUSES: Mapping[str, Sign] = {
    Status.PENDING: Sign("○", "not picked up", "open"),
    Status.CLAIMED: Sign("◔", "picked up, not read yet", "open"),
    Status.RETRY: Sign("↻", "not delivered yet, tried again soon", "warn"),
    Status.DELIVERED: Sign("◑", "delivered, not read yet", "open"),
    Status.READ: Sign("✓", "read", "good"),
    Status.FAILED: Sign("✗", "not delivered", "bad"),
    Status.EXPIRED: Sign("◌", "expired unread", "warn"),
    Status.RECALLED: Sign("↶", "recalled", "muted"),
}
_UNREAD = Sign("○", "not read yet", "open")
AGENTS: Mapping[AgentState, Sign] = {
    AgentState.ACTIVE: Sign("●", "working", "good"),
    AgentState.IDLE: Sign("○", "idle", "muted"),
    AgentState.PLANNING: Sign("◇", "planning", "open"),
    AgentState.WAITING: Sign("◆", "waits for you", "warn"),
    AgentState.STOPPING: Sign("◐", "stopping", "warn"),
    AgentState.STOPPED: Sign("■", "gone", "muted"),
    AgentState.UNKNOWN: Sign("·", "not seen", "muted"),
}
FAILING = Sign("✗", "failing", "bad")
"""What is said of agents something failed for, whatever else they do."""
REQUESTS: Mapping[RequestState, Sign] = {
    RequestState.OPEN: Sign("○", "open", "open"),
    RequestState.OVERDUE: Sign("◷", "overdue", "warn"),
    RequestState.APPROVED: Sign("✓", "approved", "good"),
    RequestState.REJECTED: Sign("✗", "rejected", "bad"),
    RequestState.ANSWERED: Sign("✓", "answered", "good"),
    RequestState.SUPERSEDED: Sign("↷", "superseded", "muted"),
    RequestState.WITHDRAWN: Sign("↶", "withdrawn", "muted"),
}
DELIVERIES: Mapping[DeliveryState, Sign] = {
    DeliveryState.PENDING: Sign("○", "pending", "muted"),
    DeliveryState.DUE: Sign("◷", "due", "warn"),
    DeliveryState.RETRY: Sign("↻", "retry", "warn"),
    DeliveryState.CLAIMED: Sign("◔", "claimed", "open"),
    DeliveryState.DELIVERED: Sign("◑", "delivered", "good"),
    DeliveryState.FAILED: Sign("✗", "failed", "bad"),
    DeliveryState.EXPIRED: Sign("◌", "expired", "warn"),
    DeliveryState.RECALLED: Sign("↶", "recalled", "muted"),
}
STORIES: Mapping[StoryState, Sign] = {
    StoryState.OPEN: Sign("○", "open", "muted"),
    StoryState.RUNNING: Sign("◐", "running", "open"),
    StoryState.DONE: Sign("✓", "done", "good"),
    StoryState.FAILED: Sign("✗", "failed", "bad"),
}
SEVERITIES: Mapping[str, Sign] = {
    "error": Sign("✗", "error", "bad"),
    "warning": Sign("▲", "warning", "warn"),
    "notice": Sign("·", "notice", "muted"),
}


def severity_sign(problem: Problem) -> Sign:
    """Return the sign of how bad it is, another writer's word included."""
    return SEVERITIES.get(problem.severity) or Sign("·", safe_line(problem.severity, 10))


def priority_sign(message: Message) -> Sign:
    """Return the sign of its priority, another writer's word included."""
    return PRIORITIES.get(message.priority) or Sign("·", safe_line(message.priority, 16), "muted")


def status_sign(message: Message) -> Sign:
    """Return the sign of its status, another writer's word included."""
    return sign_of_copy(message.status, message.recipients)


def sign_of_copy(status: str, recipients: Sequence[str]) -> Sign:
    """Return the sign of the status of what these have; a human reads, and picks nothing up."""
    if status == Status.PENDING and tuple(recipients) == (USER,):
        return _UNREAD
    return STATUSES.get(status) or Sign("?", safe_line(status, 24), "warn")


KIND_NAMES = {
    "plan_approval_request": "plan",
    "plan_approval_response": "answer to a plan",
    "permission_request": "permission",
    "permission_response": "answer to a permission",
    "question_request": "question",
    "question_response": "answer to a question",
    ASKBACK: "question back",
    ASKED_BACK: "answer to a question back",
}
"""Kinds whose names on disk are not the words a reader knows them by."""


# What each agent does, for the screen and the command line.


def signs_of(view: View | None) -> Mapping[str, Sign]:
    """Return name -> what each agent does, in a sign; of who looks at the screen only that it is them."""
    if view is None:
        return {}
    failing, asking = failing_agents(view), {item.who for item in view.attention if item.answerable}
    signs = {row.name: _agent_sign(row, row.name in failing, row.name in asking) for row in view.roster}
    return signs | ({view.me: replace(signs[view.me], word="you")} if view.me in signs else {})


def failing_agents(view: View) -> frozenset[str]:
    """Return agents a message could not be delivered to, or whose story failed."""
    stories = (story for batch in view.batches for story in batch.stories)
    unreached = frozenset(row.recipient for row in view.failed)
    return unreached.union(story.agent for story in stories if story.state is StoryState.FAILED)


def _agent_sign(row: RosterRow, is_failing: bool, is_asking: bool) -> Sign:
    """Return the sign of an agent: that something failed, else its state; one whose plan you have waits for you."""
    if is_failing and row.state is not AgentState.STOPPED:
        return FAILING
    return AGENTS[AgentState.WAITING if row.state is AgentState.PLANNING and is_asking else row.state]
