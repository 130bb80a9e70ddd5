"""A sprint message in a form near to `NAME: {json}`: what a human must decide is understood, all else is told."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import yaml

from tests.equipment.command_line import CommandLine
from tests.protocol.conftest import SPRINT_BODIES

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


@pytest.fixture
def sprint(make_team: Callable[..., CommandLine]) -> CommandLine:
    """A team with the roles of a sprint."""
    return make_team("scrum-master:resident", "debugger:resident", "slave-batch-1:slave", "dev-runner-3-1:temp")


def body_of(name: str) -> str:
    return json.dumps(BODIES[name])


def written(sprint: CommandLine, *contents: object) -> list[str]:
    """Write the queue as another program does; returns the ids."""
    records = [
        {"message_id": f"N{number}", "type": "message", "from": "slave-batch-1", "to": "ceo", "status": "pending"}
        | {"created": "2026-02-24T10:00:00Z", "payload": {"summary": "one two three four five", "content": content}}
        for number, content in enumerate(contents)
    ]
    (sprint.folder / "message-queue.yaml").write_text(yaml.safe_dump({"messages": records}, allow_unicode=True))
    return [f"N{number}" for number in range(len(contents))]


def findings(sprint: CommandLine) -> list[str]:
    found = sprint("check", "--json").json["findings"]
    return [item["place"].split()[0] for item in found if item["code"] == "NEAR_FORM"]


@pytest.mark.parametrize("name", ASKS)
def test_what_the_lead_must_decide_is_a_request_in_any_form_and_the_form_a_finding(
    name: str, sprint: CommandLine
) -> None:
    ids = written(sprint, *(form(name, body_of(name)) for form in FORMS.values()), BODIES[name])
    requests = sprint.ok("requests", "--json").json["requests"]
    assert sorted(item["message_id"] for item in requests) == sorted(ids)
    assert findings(sprint) == ids
    sprint.ok("reject", ids[-1], "--as", "ceo", "--reason", "not now")


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_kind_stays_a_text_and_is_a_finding(name: str, sprint: CommandLine) -> None:
    before = sprint.ok("roster", "--json").json["agents"]
    ids = written(sprint, *(form(name, body_of(name)) for form in FORMS.values()), BODIES[name])
    assert sprint.ok("requests", "--json").json["requests"] == []
    assert findings(sprint) == ids
    assert [item["name"] for item in sprint.ok("roster", "--json").json["agents"]] == [item["name"] for item in before]


@pytest.mark.parametrize("door", ["send", "sendmessage", "route"])
def test_the_sender_is_told_at_once(door: str, sprint: CommandLine) -> None:
    summary = "one two three four five"
    for name in ("AGENT_CREATE_REQUEST", "AGENT_COMPLETE"):
        for form in FORMS.values():
            content = form(name, body_of(name))
            words, document = [door], ""
            if door == "send":
                words += ["--to", "ceo", "--summary", summary, "--content", content, "--json"]
            if door == "sendmessage":
                document = json.dumps({"type": "message", "recipient": "ceo", "content": content, "summary": summary})
            if door == "route":
                parts = {"SENDER": "slave-batch-1", "RECIPIENT": "ceo", "MESSAGE_TYPE": "message"}
                document = json.dumps({"ACTION": "send", **parts, "PAYLOAD": {"content": content, "summary": summary}})
            reply = sprint.ok("--as", "slave-batch-1", *words, stdin=document)
            told = reply.json.get("warnings", []) + reply.err.splitlines()
            assert any(name in line and ("not in the form" in line or "plain text" in line) for line in told), reply
    kinds = [item["kind"] for item in sprint.ok("requests", "--json").json["requests"]]
    assert kinds == ["create"] * len(FORMS)


QUOTED = (
    "> {}",
    "You wrote:\n> {}",
    'He wrote "{}" and nothing came of it.',
    "{}\nIs that the right form?",
    "The AGENT_CREATE_REQUEST of this morning: I take it back.",
    "{0}\n{0}",
)


@pytest.mark.parametrize("name", ["AGENT_CREATE_REQUEST", "AGENT_ROSTER_BROADCAST"])
def test_quoted_prose_asks_for_nothing_and_makes_no_roster(name: str, sprint: CommandLine) -> None:
    before = sprint.ok("roster", "--json").json["agents"]
    written(sprint, *(words.format(f"{name.lower()}: {body_of(name)}") for words in QUOTED))
    assert sprint.ok("requests", "--json").json["requests"] == []
    assert [agent["name"] for agent in sprint.ok("roster", "--json").json["agents"]] == [
        item["name"] for item in before
    ]


def test_a_field_that_is_missing_is_refused_in_any_form(sprint: CommandLine) -> None:
    body = json.dumps({"msg_type": "AGENT_CREATE_REQUEST", "agent_type": "story-creator"})
    for form in FORMS.values():
        words = ("--to", "ceo", "--summary", "one two three four five", "--content", form("AGENT_CREATE_REQUEST", body))
        refused = sprint("--as", "slave-batch-1", "send", *words, "--json")
        assert (refused.status, refused.json["error"]) == (1, "INVALID_FIELD"), refused
