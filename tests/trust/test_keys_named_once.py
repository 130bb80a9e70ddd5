"""A JSON object that names a key twice is refused with the key, whichever way people and scripts hand it in.

One reader takes the first value and another the last: an answer that says no and yes would be both.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine, Result

WORDS = ("--summary", "one two three four five", "--content", "drop the table")


def _plan(team: CommandLine) -> str:
    return str(team.ok("--as task-manager plan", *WORDS, "--json").json["request_id"])


def _answer(request: str) -> str:
    head = f'"type":"plan_approval_response","request_id":"{request}","recipient":"task-manager"'
    return f'{{{head},"approve":false,"content":"No, because it deletes data","approve":true}}'


def _by_sendmessage(team: CommandLine, request: str) -> Result:
    return team("--as ceo --json sendmessage", stdin=_answer(request))


def _in_json_lines(team: CommandLine, request: str) -> Result:
    other = json.dumps({"type": "message", "recipient": "task-manager", "content": "c", "summary": "a b c d e"})
    done = team("--as ceo --json sendmessage", stdin=f"{other}\n{_answer(request)}\n")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["success"] for line in lines] == [True, False]
    return Result(done.status, json.dumps(lines[1]), done.err)


def _by_route(team: CommandLine, request: str) -> Result:
    message = f'{{"recipient":"task-manager","payload":{{"request_id":"{request}","approve":false,"approve":true}}}}'
    return team("--json route", stdin=f'{{"ACTION":"send","SENDER":"ceo","MESSAGE":{message}}}')


def _by_payload(team: CommandLine, request: str) -> Result:
    payload = f'{{"more":[{{"request_id":"{request}","approve":false,"approve":true}}]}}'
    return team("--as ceo send --to task-manager", *WORDS, "--payload", payload, "--json")


def _by_questions(team: CommandLine, request: str) -> Result:
    questions = '[{"question":"Which?","approve":1,"approve":2}]'
    return team("--as task-manager ask --questions", questions, "--json")


def _in_a_sprint_message(team: CommandLine, request: str) -> Result:
    text = f'AGENT_COMPLETE: {{"task_id":"{request}","approve":false,"approve":true}}'
    document = {"type": "message", "recipient": "ceo", "content": text, "summary": "one two three four five"}
    return team("--as task-manager --json sendmessage", stdin=json.dumps(document))


FACES: dict[str, Callable[[CommandLine, str], Result]] = {
    "sendmessage": _by_sendmessage,
    "JSON lines": _in_json_lines,
    "route": _by_route,
    "--payload": _by_payload,
    "--questions": _by_questions,
    "a sprint message": _in_a_sprint_message,
}


@pytest.mark.parametrize("face", FACES)
def test_a_key_that_stands_twice_is_refused_with_the_key(make_team: Callable[..., CommandLine], face: str) -> None:
    team = make_team("task-manager")
    request = _plan(team)
    before = team.ok("history", "--json").json["count"]
    refused = FACES[face](team, request)
    assert (refused.status, refused.json["error"]) == (1, "INVALID_FIELD")
    assert "approve stands twice" in refused.json["message"]
    assert team.ok("requests", "--open", "--json").json["requests"][0]["request_id"] == request
    assert team.ok("history", "--json").json["count"] <= before + (face == "JSON lines")


def test_a_row_whose_answer_says_no_and_yes_decides_nothing(tmp_path: Path) -> None:
    team = CommandLine(tmp_path)
    team.ok("init", "t.db", "--name", "T", "--lead", "ceo", "--agent", "task-manager")
    plan = team.ok("-t", "t.db", "--as", "task-manager", "plan", *WORDS, "--json").json["request_id"]
    payload = f'{{"request_id":"{plan}","approve":false,"content":"no","approve":true}}'
    values = ("m1", "ceo", "task-manager", "plan_approval_response", payload, "pending", "2026-11-27T00:00:00Z")
    with sqlite3.connect(tmp_path / "t.db") as connection:
        names = "message_id, sender, recipient, message_type, payload, status, created_at"
        connection.execute(f"INSERT INTO agent_message ({names}) VALUES (?,?,?,?,?,?,?)", values)
    connection.close()
    assert team.ok("-t", "t.db", "requests", "--json").json["requests"][0]["state"] == "open"
    assert "approve stands twice" in team("-t", "t.db", "check").out
