"""Two consoles answer the same request at the same moment, many times: one answer stands, always."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

TEAMS, PLANS = 3, 8
"""Twenty-four rounds, on small queues so that a round is quick."""
ROUNDS = [(f"team-{team}", f"plan-{plan}") for team in range(TEAMS) for plan in range(PLANS)]


def answer_all(folder: str, approve: bool, start: Barrier, told: Any) -> None:
    """One console: answers every request as soon as the other does, and reports what it was told."""
    from team_console.store.backends.open import open_team
    from team_console.store.model.errors import TeamError
    from team_console.store.service import requests
    from team_console.store.service.caller import Caller

    callers = {team: Caller(open_team(f"{folder}/{team}"), "ceo", wait=60.0) for team, _ in ROUNDS}
    results: list[tuple[str, str, str]] = []
    for team, request_id in ROUNDS:
        caller = callers[team]
        start.wait(60)
        try:
            if approve:
                requests.approve(caller, request_id=request_id, note="approved")
            else:
                requests.reject(caller, request_id=request_id, reason="rejected")
            results.append(("stands", "", ""))
        except TeamError as error:
            facts = error.facts
            results.append((str(error.code), str(facts.get("answered_by")), str(facts.get("answered_at"))))
    told.put((approve, results))


def write_team(folder: Path) -> None:
    """A team whose queue holds plans, each of an author of its own."""
    folder.mkdir()
    (folder / "messenger-config.yaml").write_text("team: race\nlead: ceo\nretention:\n  active_messages_max: 100000\n")
    records = [
        {
            "message_id": f"MSG-{number}",
            "type": "plan_approval_request",
            "from": f"agent-{number}",
            "to": "ceo",
            "priority": "high",
            "created": "2026-02-24T10:30:00.000Z",
            "status": "pending",
            "payload": {
                "request_id": f"plan-{number}",
                "summary": "A plan that two people read",
                "content": "1. Do it",
            },
        }
        for number in range(PLANS)
    ]
    (folder / "message-queue.yaml").write_text(yaml.safe_dump({"messages": records}, sort_keys=False), "utf-8")


def verdicts_in(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Request id -> the verdicts on disk, read by an independent YAML reader."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in yaml.safe_load((folder / "message-queue.yaml").read_text("utf-8"))["messages"]:
        if record["type"] == "plan_approval_response":
            found.setdefault(record["payload"]["request_id"], []).append(record)
    return found


def test_of_two_simultaneous_answers_exactly_one_stands_and_the_other_learns_who_and_when(tmp_path: Path) -> None:
    for team in range(TEAMS):
        write_team(tmp_path / f"team-{team}")
    context = multiprocessing.get_context("spawn")
    start, told = context.Barrier(2), context.Queue()
    consoles = [
        context.Process(target=answer_all, args=(str(tmp_path), approve, start, told), daemon=True)
        for approve in (True, False)
    ]
    for console in consoles:
        console.start()
    results = dict(told.get(timeout=300) for _ in consoles)
    for console in consoles:
        console.join(60)

    stored = {f"team-{team}": verdicts_in(tmp_path / f"team-{team}") for team in range(TEAMS)}
    for number, (name, request_id) in enumerate(ROUNDS):
        [standing] = stored[name][request_id]
        winner = standing["payload"]["approve"]
        assert results[winner][number][0] == "stands"
        assert results[not winner][number] == ("ALREADY_ANSWERED", "ceo", standing["created"])
