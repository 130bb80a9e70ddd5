"""What a kind of message is: its name, family, direction, default priority, and what it opens or answers."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from team_console.store.model.message import Priority


class Family(StrEnum):
    """The sources a kind can come from: the four of the field, and the clients that real agents run in."""

    SENDMESSAGE = "SendMessage"
    MESSENGER = "Messenger"
    SPRINT = "Sprint"
    ROUTER = "Router"
    CLIENTS = "Clients"


class RequestKind(StrEnum):
    """What a request asks for; the `kind` of the requests ledger."""

    PLAN = "plan"
    SHUTDOWN = "shutdown"
    CREATE = "create"
    DESTROY = "destroy"
    ESCALATION = "escalation"
    CLARIFICATION = "clarification"
    DEBUG = "debug"
    BROWSER = "browser"
    RESEARCH = "research"
    PERMISSION = "permission"
    QUESTION = "question"


class Kind(Struct, frozen=True):
    """One kind of message.

    Attributes:
        family: Source it comes from.
        name: The word in `type`, or before the colon for sprint messages.
        meaning: One plain sentence for help and the README table.
        direction: Who writes it to whom, as the source says (`Slave -> Master`).
        entry_point: The command line verb that sends it.
        priority: Default priority (decision D5).
        opens: The request it opens, if any.
        answers: The request it answers, if any.
        source: Seed and line or section.
        supersedes: Whether a later question of this kind by the same author replaces an open one.
        withdraws: Whether it takes back an open request of its own sender, with a reason.
    """

    family: Family
    name: str
    meaning: str
    direction: str
    entry_point: str
    priority: Priority = Priority.MEDIUM
    opens: RequestKind | None = None
    answers: RequestKind | None = None
    source: str = ""
    supersedes: bool = False
    withdraws: bool = False
