"""Whoever writes a request chooses its id, and may choose that of another: no verdict lands where it was not given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from team_console.store.backends.open import QUEUE_NAME

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

ASKED: Mapping[str, Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_name("asked.yaml").read_text())


@pytest.fixture
def team(tmp_path: Path) -> CommandLine:
    """A team of the lead `ceo` and the agent `dev`, whose folder is the team's."""
    command = CommandLine(tmp_path)
    command.ok("init", "--name", "sprint-42", "--lead", "ceo", "--agent", "dev", str(tmp_path))
    return command


def write(team: CommandLine, *names: str) -> None:
    """Put these into the queue, as a program without the lock does."""
    queue = team.folder / QUEUE_NAME
    known = (yaml.safe_load(queue.read_text()) or {}).get("messages") or [] if queue.exists() else []
    for name in names:
        minute = len(known)
        envelope = {"from": "dev", "to": "ceo", "created": f"2026-02-24T10:{minute:02}:00.000Z", "status": "pending"}
        known.append({**envelope, **ASKED[name]})
    queue.write_text(yaml.safe_dump({"messages": known}, sort_keys=False))


def states(team: CommandLine) -> dict[str, str]:
    """Message id of each request -> how it stands."""
    rows = team.ok("requests --json").json["requests"]
    return {row["message_id"]: row["state"].replace("overdue", "open") for row in rows}


def word(team: CommandLine, message_id: str) -> str:
    """What `show` prints for an answer to exactly this."""
    found = str(team.ok("show", message_id, "--json").json["seen_words"][message_id])
    below = re.split(rf"\nid +{message_id}\n", team.ok("show", message_id).out)[1]
    assert below.partition("--seen ")[2].startswith(f"{found}\n")
    return found


@cases
def test_an_id_alone_that_two_requests_have_is_refused_and_each_can_be_decided(
    team: CommandLine, first: str, second: str, request_id: str
) -> None:
    write(team, first, second)
    ids = [ASKED[name]["message_id"] for name in (first, second)]
    refused = team("approve", request_id, "--json").json
    assert (refused["error"], all(item in refused["message"] for item in ids)) == ("INVALID_REQUEST_ID", True)
    assert set(states(team).values()) == {"open"}
    team.ok("reject", request_id, "--reason", "no", "--seen", word(team, ids[1]))
    assert states(team) == {ids[0]: "open", ids[1]: "rejected"}
    team.ok("approve", request_id, "--seen", word(team, ids[0]))
    assert states(team) == {ids[0]: "approved", ids[1]: "rejected"}
    assert "FORGED" not in team("check").out


@pytest.mark.parametrize("is_gone", [True, False])
def test_what_took_the_place_of_a_plan_that_was_approved_is_not_approved(team: CommandLine, is_gone: bool) -> None:
    plan = team.ok("--as dev plan --content '1. Read it' --summary 'Read the report' --json").json
    request_id, queue = plan["request_id"], team.folder / QUEUE_NAME
    team.ok("approve", request_id)
    text = queue.read_text()
    asked, answered = text.index("1. Read it"), text.index("plan_approval_response")
    assert asked < answered
    other = text.replace("1. Read it", "1. Drop it", 1)
    queue.write_text(other.replace(plan["message_id"], "MSG-9", 1) if is_gone else other)
    if is_gone:
        (row,) = team.ok("requests --json").json["requests"]
        assert (row["state"], row["message_id"]) == ("approved", plan["message_id"])  # the archive has it as it was
        (team.folder / "archive" / "ceo-archive.yaml").unlink()
    (row,) = team.ok("requests --json").json["requests"]
    assert (row["state"], "forged" in row["flags"]) == ("open", True)
    assert team("verdict", request_id).status == 11
    assert "FORGED" in team("check").out
    answered = team("reject", request_id, "--reason", "not this one", "--json").json
    if is_gone:  # the ledger has put back what was taken out
        assert "several requests" in answered["message"]
    else:
        assert team("verdict", request_id).status == 10
