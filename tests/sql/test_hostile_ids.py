"""Ids that no database can hold, or that look like its language, end the same way in every kind of team."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.api import join_team
from team_console.store.backends.open import QUEUE_NAME
from team_console.store.backends.sql.open import create_database
from team_console.store.model.errors import TeamError
from team_console.store.settings.team_config import CONFIG_NAME

from tests.equipment.samples import sampled
from tests.sql.conftest import SETTINGS

pytestmark = pytest.mark.slow

HOSTILE = {
    "nul": "a\0b",
    "its picture": "a\N{SYMBOL FOR NULL}b",
    "half a character": "a\ud800b",
    "its escape": "a\\ud800b",
    "long": "x" * 5000,
    "language": "'; DROP TABLE agent_message; --",
    "pattern": "%_!/\\",
    "parameter": ":id_0 %(id)s %s",
    "lines": "a\nb\x1b[31m",
}
NOTE = "one two three four five"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / CONFIG_NAME).write_text(SETTINGS)
    (tmp_path / QUEUE_NAME).write_text("messages: []\n")
    return str(tmp_path)


def _outcomes(location: str, text: str) -> Iterator[tuple[str, str]]:
    """What each verb said of the text as an id, its error code or `done`."""
    with join_team(location, "architect") as agent, join_team(location, "ceo") as lead:
        calls = {
            "send": lambda: agent.send("ceo", "text", summary=NOTE, message_id=text),
            "request id": lambda: agent.send("ceo", "text", summary=NOTE, payload={"request_id": text}),
            "key": lambda: agent.send("ceo", "text", summary=NOTE, payload={text: {text: text}}),
            "reply": lambda: agent.send("ceo", "text", summary=NOTE, in_reply_to=text),
            "acknowledge": lambda: agent.acknowledge(text),
            "look": lambda: agent.request(text).look(),
            "withdraw": lambda: agent.withdraw(text, reason="not needed any more"),
            "approve": lambda: lead.approve(text),
            "reject": lambda: lead.reject(text, reason="not like this"),
            "answer": lambda: lead.answer(text, {"yes": "yes"}),
            "kind": lambda: lead.peek(type=text),
            "receive": lambda: lead.receive(limit=50),
        }
        for verb, call in calls.items():
            yield verb, _outcome(call)
        yield "requests", str([row.request_id for row in lead.requests()])


def _outcome(call: object) -> str:
    try:
        call()  # type: ignore[operator]
    except TeamError as error:
        return str(error.code)
    return "done"


@pytest.mark.parametrize("text", sampled(HOSTILE.values(), 6))
def test_every_kind_of_team_says_the_same(empty_place: str, folder: str, text: str) -> None:
    create_database(empty_place, SETTINGS)
    assert dict(_outcomes(empty_place, text)) == dict(_outcomes(folder, text))


def test_one_that_is_stored_as_another_is_not_taken_for_it(empty_place: str) -> None:
    create_database(empty_place, SETTINGS)
    with join_team(empty_place, "architect") as agent, join_team(empty_place, "ceo") as lead:
        for request_id in (HOSTILE["nul"], HOSTILE["its picture"]):
            agent.send(
                "ceo", request_id.encode("unicode_escape").decode(), summary=NOTE, payload={"request_id": request_id}
            )
        lead.receive()
        with lead._team.transaction(actor="ceo", action="look", wait=5.0) as tx:
            threads = [tx.thread(HOSTILE[which]) for which in ("nul", "its picture")]
    assert [[message.request_id for message in thread] for thread in threads] == [
        [HOSTILE["nul"]],
        [HOSTILE["its picture"]],
    ]
