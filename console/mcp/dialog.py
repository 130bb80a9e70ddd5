"""Elicitation: while nobody is at a console, a question is put in the dialog of the client, where the client has one.

What is answered there is told to the agent and decides nothing in the team: the request ends as "answered in the
session". Clients up to 2025-11-25 are asked in the middle of the call, beside the console; later ones in a round of
their own, after which they call the tool again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ClientCapabilities, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from team_console.console.mcp.acting_agent import ActingAgent
from team_console.console.mcp.waiting import Tell, wait_for_verdict
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.views.verdicts import Outcome

ANSWERED_HERE = "answered in the session"
"""The reason of a request that the client's own user answered."""
_ROUND = "answers"
"""What the dialog is called in a round of its own."""
_LISTS_SINCE = "2025-11-25"
"""First version in which a form may let several options be chosen."""
Question = Mapping[str, Any]
"""A question as clients write it: `question`, and perhaps `header`, `options` and `multiSelect`."""
Answers = dict[str, str | list[str]]
"""Question -> label, labels or own words; empty when not every question was answered."""


def has_dialog(ctx: Context, questions: Sequence[Question]) -> bool:
    """Whether the client of this call can put these questions to its user."""
    version = ctx.protocol_version or ""
    if any(question.get("multiSelect") for question in questions) and version < _LISTS_SINCE:
        return False
    return shows_forms(ctx.client_capabilities)


def shows_forms(capabilities: ClientCapabilities | None) -> bool:
    """Whether a client declares forms; one that names no mode at all means them."""
    offered = capabilities.elicitation if capabilities is not None else None
    return offered is not None and (offered.form is not None or offered.url is None)


def has_rounds(ctx: Context) -> bool:
    """Whether this client is asked between two calls, and not in the middle of one."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def input_wanted(asker: str, questions: Sequence[Question], request_id: str) -> InputRequiredResult:
    """The result that has the client ask its user and call again; the request's id comes back with that call."""
    asked = ElicitRequest(params=_form(asker, questions))
    return InputRequiredResult(input_requests={_ROUND: asked}, request_state=request_id)


def answers_of_round(ctx: Context, questions: Sequence[Question]) -> Answers:
    """What the user answered before the client called again."""
    return answers_in((ctx.input_responses or {}).get(_ROUND), questions)


async def answers_beside(
    ctx: Context, agent: ActingAgent, questions: Sequence[Question], request_id: str, *, seconds: float, tell: Tell
) -> Answers | Outcome:
    """The first of two: what the client's user answers, or how the request stands, at the latest after `seconds`.

    Raises:
        TeamError: As for `wait_for_verdict`.
    """
    given: Answers | None = None
    outcome: Outcome | TeamError | None = None
    async with anyio.create_task_group() as group:

        async def there() -> None:
            nonlocal given
            given = await _asked(ctx, agent.name, questions)
            if given is not None:  # answered or dismissed: nobody waits beside a dialog that is closed
                group.cancel_scope.cancel()

        group.start_soon(there)
        try:
            outcome = await wait_for_verdict(agent, request_id, seconds, tell)
        except TeamError as error:  # a task group would hand it on inside a group of errors
            outcome = error
        group.cancel_scope.cancel()
    if isinstance(outcome, TeamError):
        raise outcome
    return given or outcome or await wait_for_verdict(agent, request_id, 0)


async def _asked(ctx: Context, asker: str, questions: Sequence[Question]) -> Answers | None:
    """The answers; empty for none, None for a client that after all shows no dialog."""
    form = _form(asker, questions)
    try:
        answer = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
    except (MCPError, ValueError):  # the latter: an answer that is none
        return None
    return answers_in(answer, questions)


def answers_in(answer: object, questions: Sequence[Question]) -> Answers:
    """Read what a form gave back, which may be anything."""
    if not isinstance(answer, ElicitResult) or answer.action != "accept" or answer.content is None:
        return {}
    given = {
        question["question"]: _given(answer.content, number, question) for number, question in enumerate(questions, 1)
    }
    return given if all(given.values()) else {}


def _given(content: Mapping[str, Any], number: int, question: Question) -> str | list[str]:
    own, chosen = content.get(f"words_{number}"), content.get(f"answer_{number}")
    if isinstance(own, str) and own.strip():
        return own.strip()
    if question.get("multiSelect") and isinstance(chosen, list):
        return [label for label in chosen if isinstance(label, str)]
    return chosen.strip() if isinstance(chosen, str) else ""


def _form(asker: str, questions: Sequence[Question]) -> ElicitRequestFormParams:
    fields: dict[str, Any] = {}
    required: list[str] = []
    for number, question in enumerate(questions, start=1):
        name, labels = f"answer_{number}", [option["label"] for option in question.get("options", ())]
        title = safe_line(question.get("header") or question["question"])
        fields[name] = {"title": title, "description": safe_line(question["question"]), **_choice(question, labels)}
        if labels:
            fields[f"words_{number}"] = {"type": "string", "title": f"{title}: or in your own words"}
        else:
            required.append(name)
    schema = {"type": "object", "properties": fields, "required": required}
    return ElicitRequestFormParams(message=_message(asker, questions), requested_schema=schema)


def _choice(question: Question, labels: Sequence[str]) -> dict[str, Any]:
    if not labels:
        return {"type": "string"}
    choice = {"type": "string", "enum": list(labels)}
    return {"type": "array", "items": choice} if question.get("multiSelect") else choice


def _message(asker: str, questions: Sequence[Question]) -> str:
    """What stands above the form: the questions, and what their options mean."""
    lines = [f"{asker} asks:"]
    for question in questions:
        lines.append(safe_text(question["question"]))
        described = (option for option in question.get("options", ()) if option.get("description"))
        lines += [f"- {safe_line(option['label'])}: {safe_line(option['description'])}" for option in described]
    return "\n".join(lines)
