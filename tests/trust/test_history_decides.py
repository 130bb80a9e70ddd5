"""History decides: what the audit trail has of a verdict counts in files and databases, and is put back there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

PLAN = "plan_approval_request"


def rejected(team: CommandLine, *place: str) -> str:
    """A plan that the lead has rejected; its request id."""
    plan = ("plan", "--summary", "one two three four five", "--content", "rm")
    request = team.ok(*place, "--as", "task-manager", *plan).out.strip()
    team.ok(*place, "reject", request, "--reason", "never")
    return request


def request_of(team: CommandLine, *place: str) -> dict[str, object]:
    """The only request as JSON."""
    requests = team.ok(*place, "requests", "--json").json["requests"]
    assert len(requests) == 1
    return dict(requests[0])


@pytest.fixture
def database(team: CommandLine) -> Path:
    """A SQLite copy of the team."""
    place = team.folder / "team.db"
    team.ok("migrate", ".", str(place))
    return place


def change(database: Path, statement: str, *values: str) -> None:
    """Another program writes into the database."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, values)
    connection.close()


def test_a_flipped_row_decides_nothing_is_told_and_put_back(team: CommandLine, database: Path) -> None:
    place = ("-t", str(database))
    rejected(team, *place)
    flip = "UPDATE agent_message SET payload = replace(payload, 'false', 'true') WHERE message_type LIKE '%response'"
    change(database, flip)
    found = request_of(team, *place)
    assert (found["state"], found["flags"]) == ("rejected", ["altered"])
    assert team(*place, "check").status == 1
    team.ok(*place, "check", "--heal")
    assert (request_of(team, *place)["state"], request_of(team, *place)["flags"]) == ("rejected", [])


def test_a_plan_stays_superseded_when_another_program_drops_the_later_one(team: CommandLine) -> None:
    words = ("plan", "--summary", "one two three four five", "--content")
    earlier = team.ok("--as", "task-manager", *words, "the first").out.strip()
    later = rejected(team)
    question = next(
        item for item in team.ok("history", "--json").json["messages"] if item["type"] == PLAN and later in str(item)
    )
    queue = team.folder / "message-queue.yaml"
    records = yaml.safe_load(queue.read_text())
    records["messages"] = [item for item in records["messages"] if item["message_id"] != question["message_id"]]
    replacement = team.folder / "copy.yaml"
    replacement.write_text(yaml.safe_dump(records, sort_keys=False))
    replacement.rename(queue)
    assert team.ok("status", "--json").json["missing"] == 1
    refused = team("approve", earlier, "--json")
    assert (refused.status, refused.json["superseded_by"]) == (1, later)
    states = {item["request_id"]: item["state"] for item in team.ok("requests", "--json").json["requests"]}
    assert states == {earlier: "superseded", later: "rejected"}
