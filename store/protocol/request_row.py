"""Hold a request as it stands: its question, its state, all that was said to it, and what is odd about that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message
from team_console.store.model.recorded_facts import RecordOrder
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message, thread_of
from team_console.store.protocol.titles import verdict_reason


class RequestState(StrEnum):
    """Where a request stands."""

    OPEN = "open"
    OVERDUE = "overdue"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


class Flag(StrEnum):
    """What is odd about a request, or still to come."""

    OVERDUE = "overdue"
    CONTRADICTORY = "contradictory"
    UNAUTHORISED = "unauthorised"
    SUPERSEDED = "superseded"
    ANSWERED_TWICE = "answered twice"
    STILL_ALIVE = "approved but still alive"
    DAMAGED = "record damaged"
    UNVERIFIED = "unverified"
    """An answer that team-console did not write: the audit trail does not have it as one of ours."""
    FOREIGN = "by another program"
    """The same, in the name of somebody who never wrote by team-console here."""
    FORGED = "forged"
    """An answer that is not signed as it must be: it decides nothing."""
    ALTERED = "altered"
    """An answer that says something else than the audit trail; the trail's words count."""
    STOPPING = "asked to stop, waits for its answer"
    """An end that is approved: the agent was asked to stop, and its end is not confirmed yet."""
    REFUSED = "refused to stop"
    """An end that was approved, and the agent refused to stop: it is to be decided again."""


class RequestRow(Struct, frozen=True, eq=False):
    """A request as it stands: what was asked, and everything that was said to it.

    Attributes:
        key: Unique key (`kind:request_id`), safe for selection by id.
        question: The message that asks.
        order: The place of the question in the order of events.
        decided: The place of the verdict, or of the question while there is none.
        title: What is asked, in one line.
        due_at, expires_at: When it becomes overdue, and when it ends by itself; None when it does not.
        answers: Every message that claims to answer it, oldest first; the one that stands is `verdict`.
        verdict: The first valid answer (decision D14); None without one.
        taken_back: The message that withdrew it.
        withdrawn_at: Since when it needs no answer; None when that is unknown or it needs one.
        lapse: Why it needs no answer although nobody took it back; empty where that is not so.
        altered: Ids of answers whose record differs from what the audit trail has; what the trail has decides.
        unverified: Ids of valid answers that the audit trail does not have as written by team-console.
        forged: Id -> why, of answers that decide nothing because they are not signed as they must be.
        supersedes, superseded_by: Request ids of the version before and after it.
        first_asked_at: When the first of its versions was asked that nobody answered; None where it is the first.
        ended: For a stop: whether the agent fell silent after agreeing.
        ending: For an approved end that is not confirmed yet: the stop its agent was asked for.
        refusal: For an end that was approved: what the agent said when it refused to stop.
        talk: What whoever may answer asked back, and what the asker said to that, oldest first.
        is_of_former_life: Whether it is about an agent of that name that another one has followed since (D34).
    """

    key: str
    kind: RequestKind
    question: Message
    state: RequestState
    order: RecordOrder
    decided: RecordOrder
    title: str
    due_at: datetime | None = None
    expires_at: datetime | None = None
    answers: tuple[Message, ...] = ()
    verdict: Message | None = None
    taken_back: Message | None = None
    withdrawn_at: datetime | None = None
    lapse: str = ""
    flags: tuple[Flag, ...] = ()
    altered: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    forged: Mapping[str, str] = {}
    supersedes: str | None = None
    superseded_by: str | None = None
    first_asked_at: datetime | None = None
    ended: bool = False
    ending: RequestRow | None = None
    refusal: Message | None = None
    talk: tuple[Message, ...] = ()
    is_of_former_life: bool = False

    @property
    def request_id(self) -> str:
        """The id an answer must quote."""
        return thread_of(self.question)

    @property
    def asker(self) -> str:
        """The asker."""
        return self.question.sender

    @property
    def addressee(self) -> str:
        """The addressee."""
        return self.question.recipients[0]

    @property
    def asked_at(self) -> datetime | None:
        """The time of the question; None when unknown."""
        return self.question.created_at

    @property
    def waits_since(self) -> datetime | None:
        """The time since which an answer is waited for: a new version waits as long as those before it."""
        return self.first_asked_at or self.asked_at

    @property
    def seen_at(self) -> datetime | None:
        """The time at which the addressee read the question."""
        text = self.question.read_by.get(self.addressee)
        return from_text(str(text)) if text else self.question.moment("read_at")

    @property
    def answered_at(self) -> datetime | None:
        """The time of the verdict."""
        return self.verdict.created_at if self.verdict is not None else None

    @property
    def answered_by(self) -> str | None:
        """The author of the verdict."""
        return self.verdict.sender if self.verdict is not None else None

    @property
    def reason(self) -> str:
        """The words of the answer, or why it needs none; empty where nothing was said."""
        said = self.verdict or self.taken_back or self.refusal
        return self.lapse or (verdict_reason(said) if said is not None else "")

    @property
    def asked_back(self) -> Message | None:
        """The newest question back to the asker of an open request; None without one, or once it was answered."""
        last = self.talk[-1] if self.talk and self.is_open else None
        return last if last is not None and last.sender != self.asker else None

    @property
    def outcome(self) -> str:
        """`open` while an answer is wanted, overdue or not; else the state."""
        return str(RequestState.OPEN if self.is_open else self.state)

    @property
    def is_open(self) -> bool:
        """Whether an answer is still wanted."""
        return self.state in (RequestState.OPEN, RequestState.OVERDUE)

    @property
    def is_approved(self) -> bool:
        """Whether the answer that stands is a yes."""
        return self.state is RequestState.APPROVED

    @property
    def stops(self) -> str | None:
        """The agent that should fall silent after a yes."""
        return self.addressee if self.kind is RequestKind.SHUTDOWN else self.ends

    @property
    def ends(self) -> str | None:
        """The agent whose end the Master is asked for."""
        return parse_message(self.question).subject if self.kind is RequestKind.DESTROY else None

    def waiting_seconds(self, now: datetime) -> float:
        """Return how long it has been (or was) open."""
        end = self.answered_at or self.withdrawn_at or now
        return max(0.0, (end - self.waits_since).total_seconds()) if self.waits_since else 0.0

    def __eq__(self, other: object) -> bool:
        """Compare what both say; the places of their messages among others tell nothing."""
        names = [name for name in self.__struct_fields__ if name not in ("order", "decided")]
        return isinstance(other, RequestRow) and all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]
