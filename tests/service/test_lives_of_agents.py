"""A request about an agent is about one life of it: the next one of that name is not meant by what was asked before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine

WHERE = {"yaml": ".", "sqlite": "t.db"}


class Sprint:
    """A team of a master, two slaves and a resident, by its command line."""

    def __init__(self, folder: Path, store: str) -> None:
        self.command, self.place = CommandLine(folder), WHERE[store]
        agents = ("slave-1:slave", "slave-2:slave", "scrum-master:resident")
        listed = [word for agent in agents for word in ("--agent", agent)]
        self.command.ok("init", self.place, "--name", "T", "--lead", "master", *listed)

    def __call__(self, *words: str, ok: bool = True) -> Any:
        done = self.command("-t", self.place, *words, "--json")
        assert not ok or done.status == 0, done.err
        return done.json

    def says(self, sender: str, name: str, **body: Any) -> Any:
        document = {
            "type": "message",
            "recipient": "master",
            "content": f"{name}: {json.dumps({'msg_type': name, **body})}",
        }
        text = json.dumps({**document, "summary": "one two three four five six"})
        return self.command.ok("-t", self.place, "--as", sender, "--json", "sendmessage", stdin=text).json

    def created(self, slave: str) -> None:
        wanted = {"agent_type": "story-creator", "role_hint": "r", "requested_by": slave}
        asked = self.says(slave, "AGENT_CREATE_REQUEST", **wanted)["message_id"]
        self("--as", "master", "approve", asked, "--agent-name", "sc-1")

    def end_asked(self, slave: str) -> Any:
        return self.says(slave, "AGENT_DESTROY_REQUEST", agent_name="sc-1", reason="done", requested_by=slave)

    def ended(self, slave: str) -> None:
        self("--as", "master", "approve", self.end_asked(slave)["message_id"])
        stop = next(row for row in self("requests", "--open")["requests"] if row["kind"] == "shutdown")
        self("--as", "sc-1", "approve", stop["request_id"])

    def state(self, request: str) -> str:
        return next(str(row["state"]) for row in self("requests")["requests"] if row["message_id"] == request)

    def told(self, name: str, word: str) -> list[str]:
        mail = self("receive", "--agent", name, "--peek")["messages"]
        return [item["payload"]["content"] for item in mail if item["payload"].get("content", "").startswith(word)]


@pytest.fixture(params=WHERE)
def sprint(request: pytest.FixtureRequest, tmp_path: Path) -> Sprint:
    return Sprint(tmp_path, request.param)


def test_an_old_request_ends_no_new_agent(sprint: Sprint) -> None:
    sprint.created("slave-1")
    sprint.ended("slave-1")
    repeated = sprint.end_asked("slave-1")
    assert any("sc-1 has ended already" in warning for warning in repeated["warnings"])
    sprint.created("slave-2")
    old = repeated["message_id"]
    assert sprint.state(old) == "withdrawn"
    for words in (("approve", old), ("approve", old, "--dry-run")):
        refused = sprint("--as", "master", *words, ok=False)
        assert (refused["error"], "another sc-1 was created since" in refused["message"]) == (
            "INVALID_REQUEST_ID",
            True,
        )
    shown = sprint.command("-t", sprint.place, "show", old).out
    assert "another sc-1 was created since" in shown
    assert not [row for row in sprint("requests", "--open")["requests"] if row["kind"] in ("shutdown", "destroy")]


def test_a_creation_says_what_it_closes(sprint: Sprint) -> None:
    sprint.created("slave-1")
    sprint.ended("slave-1")
    old = sprint.end_asked("slave-1")["message_id"]
    wanted = {"agent_type": "story-creator", "role_hint": "r", "requested_by": "slave-2"}
    asked = sprint.says("slave-2", "AGENT_CREATE_REQUEST", **wanted)["message_id"]
    said = sprint.command(
        "-t", sprint.place, "--as", "master", "approve", asked, "--agent-name", "sc-1", "--dry-run"
    ).out
    assert f"closes what was asked about the sc-1 before: {old}" in said
    assert sprint.state(old) in ("open", "overdue")


def test_an_old_order_to_stop_is_none_to_the_new_agent(sprint: Sprint) -> None:
    sprint.created("slave-1")
    order = sprint("--as", "master", "shutdown", "sc-1")["request_id"]
    sprint.ended("slave-1")
    sprint.created("slave-2")
    refused = sprint("--as", "sc-1", "approve", order, ok=False)
    assert refused["success"] is False
    assert next(row for row in sprint("roster")["agents"] if row["name"] == "sc-1")["state"] != "stopped"


def test_whoever_asked_for_the_agent_hears_of_its_end_too(sprint: Sprint) -> None:
    sprint.created("slave-1")
    sprint.ended("slave-1")
    sprint.created("slave-2")
    asked = sprint.end_asked("slave-1")["message_id"]
    said = sprint.command("-t", sprint.place, "--as", "master", "approve", asked, "--dry-run").out
    assert "AGENT_DESTROYED goes to slave-1 and slave-2" in said
    sprint("--as", "master", "approve", asked)
    stop = next(row for row in sprint("requests", "--open")["requests"] if row["kind"] == "shutdown")
    sprint("--as", "sc-1", "approve", stop["request_id"])
    assert len(sprint.told("slave-1", "AGENT_DESTROYED")) == 2
    assert len(sprint.told("slave-2", "AGENT_DESTROYED")) == 1
    assert sprint.told("scrum-master", "AGENT_ROSTER_BROADCAST")
    row = next(row for row in sprint("requests")["requests"] if row["message_id"] == asked)
    assert (row["state"], row["flags"]) == ("approved", [])


def test_what_only_the_lead_decides_is_asked_of_no_other_master(sprint: Sprint) -> None:
    sprint("--as", "master", "member", "add", "master2", "--role", "master")
    wanted = {"agent_type": "tester", "role_hint": "r", "requested_by": "slave-1"}
    words = ("send", "--to", "master2", "--type", "AGENT_CREATE_REQUEST", "--payload", json.dumps(wanted))
    refused = sprint("--as", "slave-1", *words, ok=False)
    assert refused["error"] == "NOT_PERMITTED"
    assert "goes to the lead master" in refused["message"]
