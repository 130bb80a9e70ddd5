"""Every value that a hook hands back to its client with a yes stood on the page that was decided on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.widgets.document import laid_out
from team_console.widgets.message_documents import message_document
from team_console.widgets.text import text_of

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Human

pytestmark = pytest.mark.slow

BASH, PLAN = "claude: PermissionRequest", "claude: PermissionRequest ExitPlanMode (plan mode)"
QUESTION = "claude: PermissionRequest AskUserQuestion"
DEEP = {"a": [1, {"b": {"c": ["sudo rm", None, True, {"d": 2.5}]}}], "dangerouslyDisableSandbox": True}
OPTIONS = [
    {"label": "PostgreSQL", "description": "d", "preview": "CREATE TABLE a (\n  id uuid\n);", "hidden": DEEP},
    {"label": "L" * 400, "markdown": "x " * 200},
]
ASKED = {
    "question": "Which?",
    "header": "h" * 80,
    "multiSelect": False,
    "options": OPTIONS,
    "kind": "text",
    "more": DEEP,
}
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls *", "unknown": "and everything else"}],
    "behavior": "allow",
    "destination": "session",
    "further": DEEP,
}
SCENES: Mapping[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "question": (
        QUESTION,
        {"tool_input": {"questions": [ASKED], "metadata": {"source": "remember"}, "answers": {"Which?": "PostgreSQL"}}},
        ("answer", "--option", "1", "--note", "but smaller"),
    ),
    "plan": (
        PLAN,
        {"tool_input": {"plan": "1. Do it", "allowedPrompts": [{"tool": "Bash", "prompt": "run all"}], "deep": DEEP}},
        ("approve",),
    ),
    "always": (
        BASH,
        {"tool_input": {"command": "ls", **DEEP}, "permission_suggestions": [RULE]},
        ("approve", "--always"),
    ),
}


def values(given: Any) -> Iterator[str]:
    """Every name and every value in what goes back, as text."""
    if isinstance(given, Mapping):
        for key, each in given.items():
            yield key
            yield from values(each)
    elif isinstance(given, list):
        for each in given:
            yield from values(each)
    elif isinstance(given, str):
        yield given
    else:
        yield json.dumps(given)


def plain(text: str) -> str:
    """A text without blanks and the edges of code, so that it is found across the ends of lines."""
    return "".join(letter for letter in text if not letter.isspace() and letter not in "│┊")


def page(office: CommandLine, request_id: str) -> str:
    """The page of a request, as it is drawn."""
    team = open_team(str(office.folder))
    (asked,) = (each for each in team.snapshot().messages if each.request_id == request_id and "request" in each.type)
    document = message_document(asked, now=datetime.now(UTC))
    return plain("".join(text_of(laid.line) for laid in laid_out(document, 70)))


OURS = frozenset({"questions", "question", "header", "multiSelect", "options", "label", "description", "preview"}) | {
    *("markdown", "answers", "annotations", "notes", "plan", "behavior", "updatedInput", "updatedPermissions"),
    *("but smaller", "allow", "false"),
}
"""Names that the page says in its own form, and the human's own words."""


@pytest.mark.parametrize("scene", SCENES)
def test_each_value_that_goes_back_stood_on_the_page(
    client: Client, human: Human, office: CommandLine, scene: str
) -> None:
    event, changes, verb = SCENES[scene]
    with human.at_console():
        hook = client.begin(event, **changes)
        (request,) = human.asked()
        shown = page(office, request["request_id"])
        office.ok("--as", "ceo", verb[0], request["request_id"], *verb[1:])
        heard = client.end(hook)
    decision = json.loads(heard.out)["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == "allow"
    unseen = [value for value in values(decision) if value not in OURS and plain(value) not in shown]
    assert unseen == []


def test_answers_that_the_agent_gave_itself_are_not_those_of_the_human(
    client: Client, human: Human, office: CommandLine
) -> None:
    given = {"questions": [{**ASKED, "options": OPTIONS[:1]}], "response": "I approve", "answers": {"Which?": "all"}}
    with human.at_console():
        hook = client.begin(QUESTION, tool_input=given)
        (request,) = human.asked()
        office.ok("--as", "ceo", "answer", request["request_id"], "--text", "neither")
        back = json.loads(client.end(hook).out)["hookSpecificOutput"]["decision"]["updatedInput"]
    assert set(back) == {"questions", "answers"}
    assert back["answers"] == {"Which?": "neither"}
