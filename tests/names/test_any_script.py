"""Names in any script (D6), through the command line and the Python door, on every kind of store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from team_console.store.api import join_team

from tests.equipment.asking import refusal
from tests.equipment.cases import constant
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

FINANCE, BOSS, MÜLLER, WIDE = "财务经理", "老板", "Müller", "𠀀" * 64


RECORD = (
    "- {{message_id: {id}, type: message, from: {sender}, to: {to}, status: {status}, priority: low, "
    f"created: {datetime.now(UTC):%FT%TZ}, payload: {{{{summary: s, content: c}}}}}}}}\n"
)


def write(path: Path, *records: tuple[str, str, str], status: str = "pending") -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [RECORD.format(id=number, sender=sender, to=to, status=status) for number, sender, to in records]
    path.write_text("messages:\n" + "".join(lines))


NO_NAMES = constant(__file__, "NO_NAMES", tuple[str, ...])


def test_a_name_that_nobody_has_is_told_from_one_that_nobody_can_have(make_team: Callable[..., CommandLine]) -> None:
    known = {"财务经里": "AGENT_NOT_FOUND", "nobody": "AGENT_NOT_FOUND"}
    with join_team(make_team(FINANCE).folder, FINANCE) as agent:
        for name, code in (known | dict.fromkeys(NO_NAMES, "INVALID_NAME")).items():
            refused = refusal(agent.send, name, "c", summary="one two three four five")
            assert (refused.code, "财务经理" in refused.hint) == (code, name in known), name


LOOKS = {
    "d\u0435bugger": "debugger",  # a Cyrillic e
    "\u0430ll": "all",
    "\uff44ebugger": "debugger",  # wide
    "d\u03b5bugger": "debugger",  # a Greek epsilon, which only resembles
    "Müller": None,
    "\u0434\u0435\u0432": None,  # all Cyrillic, and looks like nobody
    "财务": None,
}


def test_a_name_that_looks_like_another_is_found(make_team: Callable[..., CommandLine]) -> None:
    team = make_team("a", "debugger", "Muller", "dev", "财务员")
    write(team.folder / "message-queue.yaml", *((f"m{place}", name, "a") for place, name in enumerate(LOOKS)))
    told = {name: known for name, known in LOOKS.items() if known}
    found = [item["place"] for item in team("check", "--json").json["findings"] if item["code"] == "LOOK_ALIKE"]
    assert sorted(found) == sorted(told)
    rows = {row["name"]: row["looks_like"] for row in team.ok("roster", "--json").json["agents"]}
    assert {name: rows[name] for name in LOOKS} == LOOKS
    roster = team.ok("roster").out
    assert [roster.count(f"looks like {known}, is another") for known in ("debugger", "all")] == [3, 1]
