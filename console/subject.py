"""What a key acts on: the place, who acts, and the thing under the cursor. Plain facts, no widgets."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from store.message import Message, Status
from store.names import USER
from store.protocol.kinds import RequestKind
from store.views.rows import AttentionItem, RequestRow, View


class Mode(StrEnum):
    """The seven places, in the order of their keys."""

    NEEDS = "needs"
    INBOXES = "inboxes"
    REQUESTS = "requests"
    DELIVERIES = "deliveries"
    SPRINT = "sprint"
    HISTORY = "history"
    HEALTH = "health"

    @property
    def label(self) -> str:
        """Its name on the screen."""
        return "Needs you" if self is Mode.NEEDS else self.value.capitalize()


class Subject(Struct, frozen=True):
    """What an action is about.

    Attributes:
        no_writing: Why nothing can be written now; None when it can.
        key: The row under the cursor.
        item, request, message: What that row is about, as far as it applies.
        agents: Whom a message would go to: the marked ones, else the one the row is about.
        messages: What a delivery action would treat: the marked ones, else the one under the cursor.
        marked: How many rows are marked.
        token: The fingerprint of the question as it was last drawn, for answers.
        incomplete: A part of the text is not on the screen, because it is still being read.
    """

    mode: Mode
    me: str
    lead: str
    view: View | None = None
    no_writing: str | None = None
    key: str | None = None
    item: AttentionItem | None = None
    request: RequestRow | None = None
    message: Message | None = None
    agents: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    marked: int = 0
    token: str = ""
    incomplete: bool = False
    silent: frozenset[str] = field(default_factory=frozenset)

    @property
    def has_row(self) -> bool:
        """Whether there is a row under the cursor."""
        return self.key is not None

    @property
    def may_answer(self) -> bool:
        """Whether the actor is the one to answer the request (decision D17); the desk judges again."""
        row = self.request
        if row is None:
            return False
        if row.kind in (RequestKind.PLAN, RequestKind.CREATE, RequestKind.DESTROY):
            return self.me == self.lead
        return row.addressee == self.me or (row.addressee == USER and self.me == self.lead)

    @property
    def to_read(self) -> bool:
        """Whether the message is unread and addressed to the actor or the human."""
        return self.reader is not None

    @property
    def reader(self) -> str | None:
        """The name the message would be read by: the actor, else the human."""
        message = self.message
        if message is None or message.status not in (Status.PENDING, Status.DELIVERED):
            return None
        names = (self.me, USER) if self.me == self.lead else (self.me,)
        unread = (name for name in names if message.is_addressed_to(name) and name not in message.read_by)
        return next(unread, None)

    @property
    def stoppable(self) -> tuple[str, ...]:
        """Those of the agents that can be asked to stop."""
        return tuple(name for name in self.agents if name not in (self.me, self.lead, USER))
