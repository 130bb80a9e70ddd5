"""One judgement of a request: every door says the same of each state, in a folder and in a database."""

from __future__ import annotations

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.scripts import Script

pytestmark = pytest.mark.slow

MEMBERS = "--agent master:resident --agent slave-batch-1:slave --agent temp-1:temp --agent debugger:resident"


@cases
def test_every_door_says_the_same(
    elsewhere: CommandLine, story: str, code: str, state: str, flags: list[str], is_moved: bool
) -> None:
    script, run = Script(elsewhere), elsewhere
    script.play(f"% ceo: init . --name t --lead ceo {MEMBERS}\n{story}")
    asked = script.kept.get("asked", {"request_id": "plan-A"})
    request = asked.get("request_id") or asked["message_id"]
    run("check", "--heal")
    moved = [("team.db", "reject")] if is_moved else []
    if moved:
        run.ok("migrate . team.db")
    for place, verb in ((".", "approve"), *moved):
        listed = run.ok("-t", place, "requests", "--json").json["requests"]
        row = next(row for row in listed if row["request_id"] == request)
        assert (row["state"], row["flags"]) == (state, flags)
        needs = run.ok("-t", place, "status", "--json").json["needs"]
        assert (request in [need["request_id"] for need in needs if need["answerable"]]) is (code == "")
        for word in ("approve", "reject") if code else (verb,):
            reason = ("--reason", "not now") if word == "reject" else ()
            said = run("-t", place, word, request, *reason, "--json")
            assert (said.status, said.json.get("error", "")) == (1 if code else 0, code), said
            if code == "ALREADY_ANSWERED":
                assert (said.json["answered_at"], said.json["answered_by"]) == (row["answered_at"], row["answered_by"])
