"""`show` names what it printed, `--seen` quotes it, and the ledger of decisions says what nobody can prove."""

from __future__ import annotations

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

PLAN = ("plan", "--as", "task-manager", "--summary", "Split the loader in two today", "--content", "1. Split")


@cases
def test_a_request_that_is_not_what_was_shown_is_not_answered(team: CommandLine, verb: tuple[str, ...]) -> None:
    request = team.ok(*PLAN).out.strip()
    word = team.ok("show", request, "--json").json["seen"]
    queue = team.folder / "message-queue.yaml"
    queue.write_text(queue.read_text().replace("1. Split", "1. Delete"))
    refused = team(verb[0], request, *verb[1:], "--seen", word, "--json")
    assert (refused.status, refused.json["error"], refused.json["changed"]) == (1, "INVALID_REQUEST_ID", True)
    assert team.ok("decisions", "--json").json["count"] == 0
