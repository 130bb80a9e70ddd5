"""Says in one line what an answer decided, on whose request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from team_console.console.cli.printing.outcome import approval_lines
from team_console.store.model.safe import safe_line

if TYPE_CHECKING:
    from team_console.store.service.caller import Receipt

_THINGS = {
    "plan_approval_response": "the plan of",
    "shutdown_response": "the shutdown asked by",
    "permission_response": "what was asked by",
    "question_response": "the question of",
}


def describe(word: str, receipt: Receipt) -> list[str]:
    """`approved the plan of task-manager (plan_approval-...)`, then the records written."""
    if not receipt.messages:
        return [safe_line(f"{word} {receipt.request_id}")]
    answer = receipt.messages[0]
    # A message of this type from an approval goes to the agent that is to end, not to whoever asked for its end.
    thing = "the end of" if answer.type == "shutdown_request" else _THINGS.get(answer.type, "the request of")
    head = f"{word} {thing} {', '.join(answer.recipients)} ({receipt.request_id})"
    return [
        safe_line(head),
        *map(safe_line, receipt.notes),
        *approval_lines(answer),
        *(safe_line(f"written: {message.message_id} -> {message.recipients[0]}") for message in receipt.messages),
    ]
