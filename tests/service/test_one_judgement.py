"""One judgement of a request: every door says the same of each state, in a folder and in a database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.equipment.command_line import CommandLine
from tests.equipment.samples import EXHAUSTIVE
from tests.equipment.signed_teams import Files
from tests.equipment.signing_keys import settings_of_signed_team

pytestmark = pytest.mark.slow

MEMBERS = ("master:resident", "slave-batch-1:slave", "slave-batch-2:slave", "temp-1:temp", "debugger:resident")
PAST, NOON = "2026-02-24T12:00:00.000Z", "2026-02-24T12:00:01.000Z"
OPEN, DECIDED, OVER = "", "ALREADY_ANSWERED", "INVALID_REQUEST_ID"
ENDING = "asked to stop, waits for its answer"


class Team:
    """A team in a folder, written by us and by others."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.run = folder, CommandLine(folder)

    def ask(self, sender: str, type: str, **body: Any) -> str:
        """Something a sprint agent asks the lead; its request id."""
        payload = json.dumps({**body, "summary": "please do this for me"})
        sent = self.run.ok("--as", sender, "send", "--to", "ceo", "--type", type, "--payload", payload, "--json")
        return str(sent.json["message_id"])

    def plan(self, agent: str = "debugger") -> str:
        """A plan handed in; its request id."""
        return self.run.ok("--as", agent, "plan", "--content", "1. Do it").out.strip()

    def stop(self) -> str:
        """An order to stop; its request id."""
        return str(self.run.ok("shutdown", "debugger", "--json").json["request_id"])

    def end(self) -> str:
        """An approved end of `temp-1`; its request id."""
        request = self.ask("slave-batch-1", "AGENT_DESTROY_REQUEST", agent_name="temp-1")
        self.run.ok("approve", request)
        return request

    @property
    def order(self) -> str:
        """The order that `temp-1` got; its request id."""
        rows = self.run.ok("requests", "--kind", "shutdown", "--json").json["requests"]
        return str(next(row["request_id"] for row in rows if row["to"] == "temp-1"))

    def foreign(self, *records: dict[str, Any]) -> None:
        """Messages that another program writes into the queue."""
        queue = self.folder / "message-queue.yaml"
        live = (yaml.safe_load(queue.read_text()) if queue.exists() else None) or {"messages": []}
        live["messages"] += [{"status": "pending", "priority": "high", "created": NOON, **record} for record in records]
        queue.write_text(yaml.safe_dump(live, sort_keys=False, allow_unicode=True))

    def settings(self, text: str) -> None:
        """More settings."""
        with (self.folder / "messenger-config.yaml").open("a") as settings:
            settings.write(text)


def _plan(message_id: str, **payload: Any) -> dict[str, Any]:
    payload = {"content": "x", **payload}
    return {
        "message_id": message_id,
        "type": "plan_approval_request",
        "from": "debugger",
        "to": "ceo",
        "payload": payload,
    }


def _withdrawn(request: str, sender: str = "debugger") -> dict[str, Any]:
    payload = {"request_id": request, "reason": "done"}
    return {"message_id": "w1", "type": "request_withdrawn", "from": sender, "to": "ceo", "payload": payload}


def approved(team: Team) -> str:
    request = team.plan()
    team.run.ok("approve", request)
    return request


def decided_before_signing(team: Team) -> str:
    request = approved(team)
    team.settings(f"{settings_of_signed_team()}signed_since: 2999-01-01\n")
    return request


def granted_before_signing(team: Team) -> str:
    request = team.ask(
        "slave-batch-1", "AGENT_CREATE_REQUEST", agent_type="tester", role_hint="r", requested_by="slave-batch-1"
    )
    team.run.ok("approve", request)
    team.settings(f"{settings_of_signed_team()}signed_since: 2999-01-01\n")
    return request


def withdrawn(team: Team) -> str:
    request = team.plan()
    team.run.ok("--as", "debugger", "withdraw", request, "--reason", "done")
    return request


def withdrawn_by_another(team: Team) -> str:
    request = team.plan()
    team.foreign(_withdrawn(request, "slave-batch-1"))
    return request


def withdrawn_by_a_forgery(team: Team) -> str:
    key = team.folder / "team.key"
    key.write_bytes(b"k" * 40)
    key.chmod(0o600)
    team.settings("key_file: team.key\n")
    request = team.plan()
    team.foreign(_withdrawn(request))
    return request


def backdated(team: Team) -> str:
    """A plan and a yes to it, dated before the team signed, with chained lines behind the first signature."""
    decided_before_signing(team)
    team.run.ok("approve", team.plan())
    asked = {"status": "pending", "priority": "high", "created": PAST, **_plan("q1", request_id="plan-A")}
    payload = {"request_id": "plan-A", "approve": True, "content": "go", "summary": "s"}
    yes = {**asked, "message_id": "a1", "type": "plan_approval_response", "from": "ceo", "to": "debugger"}
    for record in (asked, {**yes, "payload": payload}):
        Files(team.folder).trail(record)
        team.foreign(record)
    return "plan-A"


def superseded(team: Team) -> str:
    team.foreign(_plan("q1", request_id="plan-A"), {**_plan("q2"), "created": "2026-02-24T12:00:02.000Z"})
    return "plan-A"


def expired(team: Team) -> str:
    team.foreign(_plan("q1", request_id="plan-A", expires=NOON))
    return "plan-A"


def end_approved(team: Team) -> str:
    return team.end()


def end_agreed(team: Team) -> str:
    request = team.end()
    team.run.ok("--as", "temp-1", "approve", team.order)
    return request


def end_refused(team: Team) -> str:
    request = team.end()
    team.run.ok("--as", "temp-1", "reject", team.order, "--reason", "One test still runs")
    return request


def batch_end_approved(team: Team) -> str:
    request = batch_reported(team)
    team.run.ok("approve", request)
    return request


def batch_reported(team: Team) -> str:
    body = {"batch_id": 1, "session_id": "s1", "stories_completed": ["3-1"], "stories_failed": [], "batch_report": "r"}
    return team.ask("slave-batch-1", "SLAVE_BATCH_COMPLETE", **body)


def ended_of_two_reports(team: Team) -> str:
    first, second = batch_reported(team), batch_reported(team)
    team.run.ok("approve", second)
    order = team.run.ok("requests", "--kind", "shutdown", "--json").json["requests"][0]["request_id"]
    team.run.ok("--as", "slave-batch-1", "approve", order)
    return first


CASES: tuple[tuple[Callable[[Team], str], str, str, list[str]], ...] = (
    (Team.plan, OPEN, "open", []),
    (approved, DECIDED, "approved", []),
    (decided_before_signing, DECIDED, "approved", []),
    (granted_before_signing, DECIDED, "approved", []),
    (withdrawn, OVER, "withdrawn", []),
    (withdrawn_by_another, OPEN, "open", []),
    (withdrawn_by_a_forgery, OPEN, "open", []),
    (backdated, OPEN, "overdue", ["forged", "overdue"]),
    (superseded, OVER, "superseded", ["superseded"]),
    (expired, OVER, "withdrawn", []),
    (end_approved, DECIDED, "approved", [ENDING]),
    (end_agreed, DECIDED, "approved", []),
    (end_refused, OPEN, "open", ["refused to stop"]),
    (batch_end_approved, DECIDED, "approved", [ENDING]),
    (ended_of_two_reports, OVER, "superseded", ["superseded"]),
)


_STAYING = (withdrawn_by_a_forgery, backdated)
"""What a database does not show after `migrate`: a key of a team stays behind, and so does the order of the trail."""


@pytest.fixture
def team(tmp_path: Path) -> Team:
    folder = tmp_path / "team"
    folder.mkdir()
    members = [word for agent in MEMBERS for word in ("--agent", agent)]
    CommandLine(folder).ok("init", ".", "--name", "t", "--lead", "ceo", *members)
    return Team(folder)


@pytest.mark.parametrize(("made", "code", "state", "flags"), CASES, ids=[case[0].__name__ for case in CASES])
def test_every_door_says_the_same(
    team: Team, made: Callable[[Team], str], code: str, state: str, flags: list[str]
) -> None:
    request = made(team)
    team.run("check", "--heal")
    is_moved = made not in _STAYING and (EXHAUSTIVE or CASES.index((made, code, state, flags)) % 3 == 0)
    moved = (("team.db", "reject"),) if is_moved else ()
    if is_moved:
        team.run.ok("migrate", ".", "team.db")
    for place, verb in ((".", "approve"), *moved):
        run = ("-t", place)
        (row,) = [
            row for row in team.run.ok(*run, "requests", "--json").json["requests"] if row["request_id"] == request
        ]
        assert (row["state"], row["flags"]) == (state, flags)
        needs = team.run.ok(*run, "status", "--json").json["needs"]
        assert (request in [need["request_id"] for need in needs if need["answerable"]]) is (code == OPEN)
        for word in (verb,) if code == OPEN else ("approve", "reject"):
            more = ("--reason", "not now") if word == "reject" else ()
            said = team.run(*run, word, request, *more, "--json")
            assert (said.status, said.json.get("error", "")) == (1 if code else 0, code), said
            if code == DECIDED:
                assert (said.json["answered_at"], said.json["answered_by"]) == (row["answered_at"], row["answered_by"])
