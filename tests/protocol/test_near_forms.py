"""A sprint message in a form near to `NAME: {json}`: what a human must decide is understood, all else is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from team_console.store.model.errors import Code
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.service.orchestrator import route
from team_console.store.service.sendmessage import send_document
from team_console.store.views.projection import view_of
from team_console.store.views.rows import View

from tests.equipment.asking import refusal
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import put
from tests.protocol.conftest import SPRINT_BODIES, message

MASTER, SLAVE, SUMMARY = "master", "slave-batch-1", "one two three four five"
BODIES: dict[str, dict[str, object]] = {
    **{str(body["msg_type"]): body for body in SPRINT_BODIES},
    "AGENT_DESTROY_REQUEST": {"msg_type": "AGENT_DESTROY_REQUEST", "agent_name": "dev-runner-3-1"},
    "AGENT_COMPLETE": {"msg_type": "AGENT_COMPLETE", "status": "done", "results": "all green"},
}
ASKS = ("AGENT_CREATE_REQUEST", "AGENT_DESTROY_REQUEST", "SLAVE_BATCH_COMPLETE")
"""Kinds on which the lead decides."""
OTHERS = ("AGENT_ROSTER_BROADCAST", "AGENT_CREATED", "AGENT_COMPLETE", "DEBUG_REQUEST")
LONG = "A paragraph that says how the day went. " * 20

FORMS: dict[str, Callable[[str, str], str]] = {
    "bold": lambda name, body: f"**{name}**: {body}",
    "bold with its colon": lambda name, body: f"**{name}:** {body}",
    "code": lambda name, body: f"`{name}`: {body}",
    "heading": lambda name, body: f"# {name}\n{body}",
    "full-width colon": lambda name, body: f"{name}：{body}",
    "dash": lambda name, body: f"{name} - {body}",
    "no colon": lambda name, body: f"{name} {body}",
    "small letters": lambda name, body: f"{name.lower()}: {body}",
    "words": lambda name, body: f"{name.title().replace('_', ' ')}: {body}",
    "greeting": lambda name, body: f"Hello master,\n{name}: {body}",
    "greeting in the line": lambda name, body: f"Hello master, {name}: {body}",
    "long greeting": lambda name, body: f"{LONG}\n\n{name}: {body}",
    "fence": lambda name, body: f"```\n{name}: {body}\n```",
    "fence of its JSON": lambda name, body: f"Here it is.\n{name}:\n```json\n{body}\n```\n",
    "byte order mark": lambda name, body: f"\ufeff{name}: {body}",
    "alone": lambda _, body: body,
    "alone in a fence": lambda _, body: f"```json\n{body}\n```",
    "small letters alone": lambda name, body: body.replace(name, name.lower()),
}


def written(team: MemoryTeam, name: str) -> list[str]:
    """Put a sprint message into the queue in each form, and as an object; return the ids."""
    contents = [*(form(name, json.dumps(BODIES[name])) for form in FORMS.values()), BODIES[name]]
    messages = [message(message_id=f"N{number}", payload={"content": told}) for number, told in enumerate(contents)]
    put(team, *messages)
    return [message.message_id for message in messages]


def view(team: MemoryTeam) -> View:
    return view_of(team.snapshot(), me=MASTER, now=team.clock())


def near(found: View) -> list[str]:
    """The ids of messages in a near form, as `check` has them."""
    return [finding.place.split()[0] for finding in found.findings if finding.code == "NEAR_FORM"]


@pytest.mark.parametrize("name", ASKS)
def test_what_the_lead_must_decide_is_a_request_in_any_form_and_the_form_a_finding(
    name: str, sprint: MemoryTeam
) -> None:
    ids = written(sprint, name)
    assert sorted(row.question.message_id for row in view(sprint).requests) == sorted(ids)
    assert near(view(sprint)) == ids
    requests.reject(Caller(sprint, MASTER), request_id=ids[-1], reason="not now")


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_kind_stays_a_text_and_is_a_finding(name: str, sprint: MemoryTeam) -> None:
    before = [row.name for row in view(sprint).roster]
    ids = written(sprint, name)
    assert (view(sprint).requests, near(view(sprint))) == ((), ids)
    assert [row.name for row in view(sprint).roster] == before


def by_send(caller: Caller, content: str) -> Sequence[str]:
    return sending.send(caller, to=MASTER, content=content, summary=SUMMARY).warnings


def by_sendmessage(caller: Caller, content: str) -> Sequence[str]:
    document = {"type": "message", "recipient": MASTER, "content": content, "summary": SUMMARY}
    warnings: Sequence[str] = send_document(caller, document)["warnings"]
    return warnings


def by_route(caller: Caller, content: str) -> Sequence[str]:
    parts = {"SENDER": SLAVE, "RECIPIENT": MASTER, "MESSAGE_TYPE": "message"}
    payload = {"content": content, "summary": SUMMARY}
    warnings: Sequence[str] = route(caller, {"ACTION": "send", **parts, "PAYLOAD": payload})["warnings"]
    return warnings


@pytest.mark.parametrize("door", [by_send, by_sendmessage, by_route])
def test_the_sender_is_told_at_once(door: Callable[[Caller, str], Sequence[str]], sprint: MemoryTeam) -> None:
    for name in ("AGENT_CREATE_REQUEST", "AGENT_COMPLETE"):
        for form in FORMS.values():
            told = door(Caller(sprint, SLAVE), form(name, json.dumps(BODIES[name])))
            assert any(name in line and ("not in the form" in line or "plain text" in line) for line in told), told
    assert [row.kind for row in view(sprint).requests] == ["create"] * len(FORMS)


QUOTED = (
    "> {}",
    "You wrote:\n> {}",
    'He wrote "{}" and nothing came of it.',
    "{}\nIs that the right form?",
    "The AGENT_CREATE_REQUEST of this morning: I take it back.",
    "{0}\n{0}",
)


@pytest.mark.parametrize("name", ["AGENT_CREATE_REQUEST", "AGENT_ROSTER_BROADCAST"])
def test_quoted_prose_asks_for_nothing_and_makes_no_roster(name: str, sprint: MemoryTeam) -> None:
    before = [row.name for row in view(sprint).roster]
    quoted = f"{name.lower()}: {json.dumps(BODIES[name])}"
    put(sprint, *(message(words.format(quoted), message_id=f"N{number}") for number, words in enumerate(QUOTED)))
    assert view(sprint).requests == ()
    assert [row.name for row in view(sprint).roster] == before


def test_a_field_that_is_missing_is_refused_in_any_form(sprint: MemoryTeam) -> None:
    body = json.dumps({"msg_type": "AGENT_CREATE_REQUEST", "agent_type": "story-creator"})
    for form in FORMS.values():
        refused = refusal(by_send, Caller(sprint, SLAVE), form("AGENT_CREATE_REQUEST", body))
        assert refused.code is Code.INVALID_FIELD
