"""Who acts on which team, and the receipt for it: the first argument and the result of every write action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from msgspec import Struct
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message


class Caller(Struct, frozen=True):
    """An identity at a team.

    Attributes:
        actor: The name that writes (`from` of what is sent).
        wait: Seconds to wait for the lock: 2 in the console, 10 on the command line (decision D7).
        on_terminal: Whether a key may ask for its passphrase on the terminal of this process.
        tell: Is told what is waited for that may take a human's time, and what gives it up.
        within: A transaction that is open, in which all is done; None where each action has one of its own.
    """

    team: Team
    actor: str
    wait: float = 10.0
    on_terminal: bool = False
    tell: Callable[[str, Callable[[], None]], None] = lambda words, give_up: None
    within: Transaction | None = None

    def transaction(self, action: str, actor: str | None = None) -> AbstractContextManager[Transaction]:
        """Open a transaction of the team, in the own name unless another actor is given; errors as for a `Team`."""
        if self.within is not None:
            return nullcontext(self.within)
        return self.team.transaction(actor=actor or self.actor, action=action, wait=self.wait)


class Receipt(Struct, frozen=True):
    """What a write action did; made only after the store has it.

    Attributes:
        action: The verb.
        messages: The records written, one per recipient.
        warnings: What the writer should know (decision D9), as sentences.
        request_id: The request opened or answered.
        repeated: The same id with the same content was already there; nothing was written.
        notices: Healings and repairs made on the way.
        notes: What follows from it, as sentences: who will be told, and when.
    """

    action: str
    messages: tuple[Message, ...]
    warnings: tuple[str, ...] = ()
    request_id: str | None = None
    repeated: bool = False
    notices: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the result object of `send`, `broadcast`, `plan`, `shutdown`, `approve`, `reject`."""
        rows = [_delivery(message) for message in self.messages]
        result: dict[str, Any] = {"success": True, "action": self.action, **(rows[0] if rows else {})}
        if self.request_id is not None:
            result["request_id"] = self.request_id
        if len(rows) > 1:
            result["deliveries"] = rows
        if self.repeated:
            result["repeated"] = True
        if self.notes:
            result["notes"] = list(self.notes)
        result["warnings"] = self.told
        return result

    @property
    def told(self) -> list[str]:
        """The warnings, and what was healed on the way."""
        return [*self.warnings, *(notice.message for notice in self.notices)]


def receipt(
    tx: Transaction,
    action: str,
    messages: Iterable[Message],
    warnings: Iterable[str] = (),
    request_id: str | None = None,
    *,
    repeated: bool = False,
    notes: Iterable[str] = (),
) -> Receipt:
    """Make the receipt of a transaction that is over; arguments as for `Receipt`."""
    return Receipt(action, tuple(messages), tuple(warnings), request_id, repeated, tuple(tx.notices), tuple(notes))


def _delivery(message: Message) -> dict[str, Any]:
    row = {
        "message_id": message.message_id,
        "sender": message.sender,
        "recipient": ", ".join(message.recipients),
        "message_type": message.type,
        "status": message.status,
        "created_at": message.created,
    }
    return row if message.request_id is None else {**row, "request_id": message.request_id}
