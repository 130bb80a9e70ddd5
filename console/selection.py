"""What a key acts on: the place (`Mode`), who acts, what is selected there; and why an action cannot be used on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import takewhile
from types import MappingProxyType

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER, is_name
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import DECIDED_BY_LEAD, IN_WORDS, RESULTS, RequestKind
from team_console.store.protocol.rights import may_answer
from team_console.store.protocol.shown_when_decided import Seen
from team_console.store.service.deliveries import STATUSES_TREATED, Remedy
from team_console.store.views.needs import ItemPart, part_of
from team_console.store.views.rows import ActionItem, RequestRow, View


class Mode(StrEnum):
    """The lists: the six places in the order of their keys, then the second views of two of them."""

    NEEDS = "needs"
    AGENTS = "agents"
    HISTORY = "history"
    HEALTH = "health"
    SPRINT = "sprint"
    DELIVERIES = "deliveries"
    REQUESTS = "requests"
    DECISIONS = "decisions"

    @property
    def label(self) -> str:
        """Its name on the screen."""
        return {Mode.NEEDS: "Needs you", Mode.REQUESTS: "All requests"}.get(self, self.value.capitalize())

    @property
    def place(self) -> Mode:
        """The place it is a view of."""
        return {Mode.REQUESTS: Mode.NEEDS, Mode.DECISIONS: Mode.HISTORY}.get(self, self)

    @property
    def other(self) -> Mode | None:
        """The other view of its place; None where there is none."""
        views = [mode for mode in Mode if mode.place is self.place and mode is not self]
        return views[0] if views else None

    @property
    def key(self) -> str:
        """The number that leads to its place."""
        return str(PLACES.index(self.place) + 1)


PLACES = (Mode.NEEDS, Mode.AGENTS, Mode.HISTORY, Mode.HEALTH, Mode.SPRINT, Mode.DELIVERIES)
"""What has a tab and a key."""


def is_page() -> bool:
    """Return whether the screen is in a browser: it runs no program, and shows the team that is served alone."""
    # textual-serve sets it for the process of each page.
    return bool(os.environ.get("TEXTUAL_DRIVER"))


class Selection(Struct, frozen=True):
    """The selection of a pane: the row under its cursor and the marked ones.

    Attributes:
        key: The row under the cursor.
        request, message: What that row is about, as far as it applies.
        agents: Whom a message would go to: the marked ones, else the one the row is about.
        messages: What a delivery action would treat: the marked ones, else the one under the cursor.
        mail: What `done` would mark as read: the marked ones, else the one under the cursor.
        marked: How many rows are marked, or are alike and one row.
        chosen_as: Which of both: `marked` or `alike`.
        token: The digest of the question as it was last drawn, for answers.
        seen: All that was drawn of it and beside it.
        incomplete: A part of the text is not on the screen, because it is still being read.
        requests: The requests of the marked rows, else of the one under the cursor.
        listed: What waits, as far as the list shows it: neither filtered away nor put aside.
        gone: What became of what is under the cursor, as safe text, while it was read; empty while it waits as it did.
        looked_at: Digest of everything that was on the screen so far -> all that was shown of it; None for what
            is no request.
    """

    key: str | None = None
    request: RequestRow | None = None
    message: Message | None = None
    agents: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    mail: tuple[Message, ...] = ()
    marked: int = 0
    chosen_as: str = "marked"
    token: str = ""
    seen: Seen | None = None
    incomplete: bool = False
    requests: tuple[RequestRow, ...] = ()
    listed: tuple[ActionItem, ...] = ()
    gone: str = ""
    looked_at: Mapping[str, Seen | None] = MappingProxyType({})

    @property
    def subject(self) -> str:
        """The id of the request that the row is about, else of the message; empty where it is about neither."""
        if self.request is not None:
            return self.request.request_id
        return self.message.message_id if self.message is not None else ""


DONE, MESSAGE = "done", "message"
"""What is said of what was marked as read, and of what was answered in words, until it is written."""
NOTHING = Selection()


class ActionContext(Struct, frozen=True):
    """The subject of an action: the place, who acts, and what is selected there.

    Attributes:
        no_writing: Why nothing can be written now; None when it can.
        selection: What the pane has under its cursor.
        pending: Id of a request or message -> what was decided about it and is not written yet.
        is_reading: Whether what is under the cursor has the whole screen.
    """

    mode: Mode
    me: str
    lead: str
    view: View | None = None
    no_writing: str | None = None
    selection: Selection = NOTHING
    pending: Mapping[str, str] = {}
    is_reading: bool = False

    def may_answer(self, row: RequestRow) -> bool:
        """Return whether the actor is the one to answer the request (decision D17); the service judges again."""
        return may_answer(self.lead, actor=self.me, kind=row.kind, addressee=row.addressee)

    def answerer(self, row: RequestRow) -> str:
        """Return who is to answer the request, as safe text: for what the lead decides the lead of now."""
        return safe_line(self.lead if row.kind in DECIDED_BY_LEAD else row.addressee, 40)

    def no_verdict_on(self, row: RequestRow) -> str | None:
        """Return why the request cannot be approved or rejected here; None when it can."""
        if not row.is_open:
            return f"it was {row.state} already"
        if self.view is not None and self.view.snapshot.config.lost:
            return "the settings are not in force; 4 says why, and what to do"
        if self.pending.get(row.request_id, MESSAGE) != MESSAGE:
            return f"you decided it: {self.pending[row.request_id]}, not sent yet; U undoes it"
        if not self.may_answer(row):
            return f"only {self.answerer(row)} answers it"
        if row.kind in IN_WORDS:
            return "it wants an answer, not a verdict"
        if row.kind in RESULTS:
            return "its result comes from the agent asked"
        return None

    @property
    def wants_words(self) -> bool:
        """Whether what is under the cursor is an open question that the actor answers in words."""
        row = self.selection.request
        return row is not None and row.is_open and row.kind in IN_WORDS and self.may_answer(row)

    @property
    def asks_a_question(self) -> bool:
        """Whether saying yes to it means to answer it: in words, or by an option of the agent's client."""
        row = self.selection.request
        return self.wants_words or (row is not None and row.is_open and row.kind is RequestKind.QUESTION)

    def to_decide(self, *, approving: bool) -> tuple[RequestRow, ...]:
        """Return the selected requests that one form can give the same verdict."""
        rows = (row for row in self.selection.requests if self.no_verdict_on(row) is None)
        return tuple(row for row in rows if not (approving and row.kind is RequestKind.QUESTION))

    @property
    def to_dismiss(self) -> tuple[Message, ...]:
        """Messages of the list that are only for the actor's information and not marked as read yet.

        What the list does not show, its heading does not count, and nobody read.
        """
        informing = (item for item in self.selection.listed if part_of(item) is ItemPart.INFORMATION)
        known = (item for item in informing if not item.key.startswith("drop:"))
        messages = (item.message for item in known if item.message is not None)
        return tuple(filter(self._is_to_read, messages))

    def _is_to_read(self, message: Message) -> bool:
        return self.reader_of(message) is not None and self.pending.get(message.message_id) != DONE

    @property
    def to_read(self) -> tuple[Message, ...]:
        """The selected messages that are unread by the actor or the human and want no answer."""
        waiting = self._wanting_an_answer()
        messages = (message for message in self.selection.mail if message.message_id not in waiting)
        return tuple(filter(self._is_to_read, messages))

    def _wanting_an_answer(self) -> frozenset[str]:
        """Return ids of the questions that are open; open requests stand first in the view."""
        rows = self.view.requests if self.view is not None and self.selection.mail else ()
        return frozenset(row.question.message_id for row in takewhile(lambda row: row.is_open, rows))

    def reader_of(self, message: Message) -> str | None:
        """Return the name the message would be read by: the actor, else the human; None when it is no unread one of
        theirs.
        """
        if message.status not in (Status.PENDING, Status.CLAIMED, Status.DELIVERED):
            return None
        names = (self.me, USER) if self.me == self.lead else (self.me,)
        unread = (name for name in names if message.is_addressed_to(name) and name not in message.read_by)
        return next(unread, None)

    @property
    def stoppable(self) -> tuple[str, ...]:
        """The selected agents that can be asked to stop."""
        names = (name for name in self.selection.agents if name not in (self.me, self.lead, USER))
        return tuple(filter(is_name, names))


# Why an action cannot be used on what is selected: a reason for each action that has one.

Reason = Callable[[ActionContext], str | None]
"""Returns why an action cannot be used on a context, as a short sentence; None when it can."""


def why_no_verdict(context: ActionContext, *, approving: bool) -> str | None:
    """Return why what is marked, else what is under the cursor, cannot be approved or rejected.

    A question is answered instead.
    """
    if context.selection.marked:
        many = context.to_decide(approving=approving)
        return None if many else f"none of the {context.selection.chosen_as} ones takes a verdict without further words"
    if approving and context.wants_words:
        return None
    row = context.selection.request
    if row is None:
        return why_no_row(context) or "this is not a request; m writes a message"
    why = context.no_verdict_on(row)
    if why is None and context.selection.incomplete:
        return "the full text is still loading"
    return why


def why_no_asking_back(context: ActionContext) -> str | None:
    """Return why its asker cannot be asked something about the request under the cursor."""
    row = context.selection.request
    if row is None:
        return why_no_row(context) or "this is not a request; m writes a message"
    if not row.is_open:
        return f"it was {row.state} already"
    return None if context.may_answer(row) else f"only {context.answerer(row)} answers it"


def why_no_remark(context: ActionContext) -> str | None:
    """Return why there can be no remark on a line of the request under the cursor."""
    why = why_no_asking_back(context)
    if why is not None:
        return why
    row = context.selection.request
    has_lines = row is not None and (row.kind is RequestKind.PERMISSION or row.question.content.strip())
    return None if has_lines else "nothing in it has lines that a remark could be on"


def why_no_broadcast(context: ActionContext) -> str | None:
    """Return why a broadcast would reach nobody."""
    if context.view is None or any(row.name not in (context.me, USER) for row in context.view.roster):
        return None
    return "nobody else is in the team yet"


def why_no_stop(context: ActionContext) -> str | None:
    """Return why none of the chosen agents can be asked to stop."""
    if (lonely := why_no_broadcast(context)) is not None:
        return lonely
    if context.me != context.lead:
        return f"only {context.lead} asks agents to stop"
    return None if context.stoppable else why_no_message(context) or "no agent is chosen that could stop"


def why_no_message(context: ActionContext) -> str | None:
    """Return why the chosen agents cannot be written to: other programs write names to which nothing can be sent."""
    wrong = next((name for name in context.selection.agents if not is_name(name)), None)
    return None if wrong is None else f"“{safe_line(wrong, 40)}” is no name that could be written to"


def why_not_done(context: ActionContext) -> str | None:
    """Return why none of the chosen messages can be marked as read."""
    if context.to_read:
        return None
    if context.selection.marked:
        return "none of the marked ones is an unread message to you that wants no answer"
    if context.selection.message is None:
        return "no message is chosen"
    if context.selection.request is not None and context.selection.request.is_open:
        return "it still wants an answer"
    return "it is not an unread message to you"


def why_not_lead(context: ActionContext) -> str | None:
    """Return why the actor cannot do what the lead alone does."""
    return None if context.me == context.lead else f"only {context.lead} does this"


def why_no_row(context: ActionContext) -> str | None:
    """Return why there is no row under the cursor that an action could be about."""
    return None if context.selection.key is not None else "nothing is chosen"


def why_not_reading(context: ActionContext) -> str | None:
    """Return why the things cannot be gone through one by one."""
    return None if context.is_reading else "f reads one thing after the other"


def why_no_remedy(remedy: Remedy) -> Reason:
    """Return what tells why a remedy does not apply to the chosen messages."""

    def reason(context: ActionContext) -> str | None:
        if not context.selection.messages:
            return "no message is chosen"
        if any(message.status in STATUSES_TREATED[remedy] for message in context.selection.messages):
            return None
        return _why_status_rules_out(remedy, context.selection.messages[0])

    return reason


def _why_status_rules_out(remedy: Remedy, message: Message) -> str:
    """Return why the state of the message rules the remedy out, in words for a person."""
    status, name = message.status, safe_line(", ".join(message.recipients), 64)
    if status == Status.READ:
        return f"too late, {name} read it{_clock_of(message.record.get('read_at'))}"
    if status in (Status.DELIVERED, Status.CLAIMED):
        return f"too late, {name} has it already" if remedy is Remedy.RECALL else f"it was handed to {name}"
    if status == Status.PENDING:
        return "it is still on its way; nothing went wrong with it"
    words: dict[str, str] = {
        Status.RETRY: "it is tried again by itself",
        Status.FAILED: "it failed and waits here; t tries again, x discards",
        Status.EXPIRED: "it expired unread; t tries again, x discards",
        Status.RECALLED: "it was taken back already",
    }
    return words.get(status, f"its state is “{safe_line(status, 24)}”, which another program wrote")


def _clock_of(moment: object) -> str:
    """Return ` at 19:48` in local time; empty when the moment cannot be read."""
    read = from_text(moment) if isinstance(moment, str) else None
    return f" at {read.astimezone():%H:%M}" if read is not None else ""


def why_nothing_pending(context: ActionContext) -> str | None:
    """Return why no decision can be taken back or written at once."""
    return None if context.pending else "everything you decided is written"


def why_no_dismissal(context: ActionContext) -> str | None:
    """Return why no news can be marked as read."""
    return None if context.to_dismiss else "nothing is only for your information"


def why_no_conversation(context: ActionContext) -> str | None:
    """Return why no message and no request is chosen that an action could be about."""
    return None if context.selection.message or context.selection.request else "no message is chosen"
