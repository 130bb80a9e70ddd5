"""The outcome of a request as lines for people and scripts: what was decided, in whose words, and what was edited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import answers_of
from team_console.store.views.proposals import suggestion_words

if TYPE_CHECKING:
    from team_console.store.model.message import Message
    from team_console.store.views.verdicts import Outcome


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """Safe lines. An answered question gives its answer alone, one line for each choice, for scripts."""
    payload = outcome.message.payload if outcome.message is not None else {}
    answers = answers_of(payload)
    if outcome.state == "answered" and answers:
        yield from _answer_lines(answers)
        return
    more = [str(payload["mode"])] if outcome.state == "approved" and payload.get("mode") else []
    head = outcome.state + (f", in mode {more[0]}" if more else "")
    words = f": {outcome.reason}" if outcome.reason else ""
    yield safe_line(f"{head}{words}")
    if outcome.state == "approved" and outcome.message is not None:
        yield from approval_lines(outcome.message)


def approval_lines(answer: Message) -> Iterator[str]:
    """What a yes says beyond yes: what is allowed always, and what was edited before it was approved."""
    payload = answer.payload
    if payload.get("scope") == "always":
        yield safe_line(f"always: {suggestion_words(payload.get('suggestion'))}")
    plan, given = payload.get("updated_plan"), payload.get("updated_input")
    if isinstance(plan, str):
        yield "edited before it was approved; the plan that counts:"
        yield from safe_text(plan).rstrip("\n").split("\n")
    elif isinstance(given, Mapping):
        yield "edited before it was approved; what is allowed:"
        yield from safe_text(json.dumps(dict(given), indent=2, ensure_ascii=False)).split("\n")


def _answer_lines(answers: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    if len(answers) == 1:
        yield from map(safe_line, next(iter(answers.values())))
        return
    for text, words in answers.items():
        yield safe_line(f"{text} {', '.join(words)}")
