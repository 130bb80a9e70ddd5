"""`show` names what it printed, `--seen` quotes it, and the ledger of decisions says what nobody can prove."""

from __future__ import annotations

from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.signing_keys import sign_verdicts

pytestmark = pytest.mark.slow

PLAN = ("plan", "--as", "task-manager", "--summary", "Split the loader in two today", "--content", "1. Split")


def decision(team: CommandLine) -> dict[str, Any]:
    """The newest decision."""
    newest: dict[str, Any] = team.ok("decisions", "--json").json["decisions"][0]
    return newest


def test_what_show_printed_is_what_is_answered_and_the_ledger_says_so(team: CommandLine) -> None:
    request = team.ok(*PLAN).out.strip()
    word = team.ok("show", request, "--json").json["seen"]
    assert f"answer it with --seen {word}" in team.ok("show", request).out
    team.ok("approve", request, "--seen", word)
    kept = decision(team)
    assert kept["shown_by"] == "team-console show: the request, no evidence"
    assert len(kept["shown_sha256"]) == 64
    assert word == kept["request_sha256"]  # all of it: half a digest can be made to fit another request
    assert "whether whoever decided read it cannot be proved" in " ".join(kept["gaps"])
    assert team.ok("show", request, "--json").json["seen"] is None


def test_what_is_named_by_its_id_alone_says_that_nothing_was_shown(team: CommandLine) -> None:
    sign_verdicts(team.folder)
    request = team.ok(*PLAN).out.strip()
    team.ok("reject", request, "--reason", "no")
    kept = decision(team)
    assert (kept["shown_by"], kept["shown_sha256"]) == ("nothing: it was named by its id", None)
    assert "what of it was known before cannot be proved" in " ".join(kept["gaps"])
    assert (kept["proof"], team.ok("evidence", request, "--json").json["proven"]) == ("signed", True)
    assert '"shown_by":"nothing: it was named by its id"' in team.ok("evidence", request).out
    assert "- shown by: nothing: it was named by its id" in team.ok("decisions", "--md").out


@pytest.mark.parametrize("verb", [("approve",), ("reject", "--reason", "no"), ("answer", "--content", "so")])
def test_a_request_that_is_not_what_was_shown_is_not_answered(team: CommandLine, verb: tuple[str, ...]) -> None:
    request = team.ok(*PLAN).out.strip()
    word = team.ok("show", request, "--json").json["seen"]
    queue = team.folder / "message-queue.yaml"
    queue.write_text(queue.read_text().replace("1. Split", "1. Delete"))
    refused = team(verb[0], request, *verb[1:], "--seen", word, "--json")
    assert (refused.status, refused.json["error"], refused.json["changed"]) == (1, "INVALID_REQUEST_ID", True)
    assert team.ok("decisions", "--json").json["count"] == 0
