"""Every value that a hook hands back to its client with a yes stood on the page that was decided on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.widgets.document import laid_out
from team_console.widgets.message_documents import message_document
from team_console.widgets.text import text_of

from tests.equipment.cases import constant
from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Human

pytestmark = pytest.mark.slow

SCENES: Mapping[str, Mapping[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "asked_and_answered.json").read_text(encoding="utf-8")
)
"""What a client asks, with fields that nobody expected, and how it is answered."""


def decided(client: Client, human: Human, office: CommandLine, scene: str) -> tuple[Any, str]:
    """What goes back to the client, and the page that was decided on."""
    told = SCENES[scene]
    with human.at_console():
        hook = client.begin(told["event"], **told["changes"])
        (request,) = human.asked()
        shown = page(office, request["request_id"])
        verb, *words = told["verb"]
        office.ok("--as ceo", verb, request["request_id"], *words)
        return client.end(hook).decision, shown


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


OURS = constant(__file__, "OURS", frozenset[str])
"""Names that the page says in its own form, and the human's own words."""


@pytest.mark.parametrize("scene", SCENES)
def test_each_value_that_goes_back_stood_on_the_page(
    client: Client, human: Human, office: CommandLine, scene: str
) -> None:
    decision, shown = decided(client, human, office, scene)
    assert decision["behavior"] == "allow"
    unseen = [value for value in values(decision) if value not in OURS and plain(value) not in shown]
    assert unseen == []


def test_answers_that_the_agent_gave_itself_are_not_those_of_the_human(
    client: Client, human: Human, office: CommandLine
) -> None:
    decision, _ = decided(client, human, office, "own answers")
    assert set(decision["updatedInput"]) == {"questions", "answers"}
    assert decision["updatedInput"]["answers"] == {"Which?": "neither"}
