"""The audit trail of a team with a key: nobody without it edits a line, or computes the chain anew, unnoticed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from tests.conftest import CommandLine

pytestmark = pytest.mark.slow

SUMMARY = ("--summary", "one two three four five", "--content", "c")
Line = dict[str, Any]
Edit = Callable[[list[Line]], None]


class Files:
    """The trail of a YAML team."""

    def __init__(self, team: CommandLine) -> None:
        self.team = team
        self.location = "."
        self.path = team.folder / "audit.jsonl"

    def add_setting(self, text: str) -> None:
        settings = self.team.folder / "messenger-config.yaml"
        settings.write_text(settings.read_text() + text)

    def rewrite(self, edit: Edit, *, first: int) -> None:
        """Edit the lines, and compute the chain anew from line `first` on as anybody can."""
        lines = [json.loads(row) for row in self.path.read_bytes().splitlines()]
        edit(lines)
        rows: list[bytes] = []
        for number, line in enumerate(lines, 1):
            if number >= first and rows:
                line["prev"] = hashlib.sha256(rows[-1]).hexdigest()
            rows.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.path.write_bytes(b"".join(rows))


class Database:
    """The trail of a SQLite team."""

    def __init__(self, team: CommandLine) -> None:
        self.team = team
        self.location = "team.db"
        self.path = team.folder / "team.db"
        team.ok("init", "team.db", "--lead", "ceo", "--agent", "task-manager", "--agent", "file-manager")

    def _run(self, statement: str, *values: object) -> list[Any]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            rows = connection.execute(statement, values).fetchall()
        connection.close()
        return rows

    def add_setting(self, text: str) -> None:
        self._run("UPDATE team_console_config SET value = value || ? WHERE key = 'settings'", text)

    def rewrite(self, edit: Edit, *, first: int) -> None:
        from team_console.store.backends.sql.history import chained

        columns = ("seq", "at", "actor", "action", "facts", "prev", "hash")
        rows = self._run(f"SELECT {', '.join(columns)} FROM team_console_audit ORDER BY seq")
        lines = [dict(zip(columns, row, strict=True)) for row in rows]
        for line in lines:
            line["facts"] = json.loads(line["facts"])
        edit(lines)
        prev = ""
        for number, line in enumerate(lines, 1):
            line["facts"] = json.dumps(line["facts"], ensure_ascii=False, separators=(",", ":"))
            if number >= first:
                line["prev"], line["hash"] = prev, chained(prev, line)
            prev = line["hash"]
        self._run("DELETE FROM team_console_audit")
        for line in lines:
            marks = ", ".join("?" * len(columns))
            self._run(f"INSERT INTO team_console_audit VALUES ({marks})", *(line[name] for name in columns))
        self._run("UPDATE team_console_state SET audit_hash = ?", prev)


@pytest.fixture(params=[Files, Database])
def trail(request: pytest.FixtureRequest, team: CommandLine) -> Any:
    return request.param(team)


def give_key(trail: Any, name: str = "team.key") -> None:
    key = trail.team.folder / name
    key.write_bytes(hashlib.sha256(name.encode()).digest())
    key.chmod(0o600)
    trail.add_setting(f"key_file: {key}\n")


def run(trail: Any, *arguments: str) -> Any:
    return trail.team("-t", trail.location, *arguments)


def ok(trail: Any, *arguments: str) -> Any:
    result = run(trail, *arguments)
    assert result.status == 0, result
    return result


def findings(trail: Any) -> dict[str, str]:
    """Code -> severity of what is said of the audit trail."""
    told = run(trail, "check", "--json").json["findings"]
    return {item["code"]: item["severity"] for item in told if item["code"].startswith("AUDIT")}


def sent(trail: Any, count: int = 3) -> None:
    for _ in range(count):
        ok(trail, "send", "--to", "file-manager", *SUMMARY)


def unseal(line: Line) -> None:
    line.pop("seal", None)
    line["facts"].pop("seal", None)


def unseal_all(lines: list[Line]) -> None:
    for line in lines:
        unseal(line)


def test_a_sealed_trail_is_nothing_to_report(trail: Any) -> None:
    give_key(trail)
    sent(trail)
    told = findings(trail)
    assert told in ({}, {"AUDIT_UNSEALED": "notice"})  # the line of `init` is older than the key


def test_an_edited_last_line_is_noticed(trail: Any) -> None:
    give_key(trail)
    sent(trail)
    trail.rewrite(lambda lines: lines[-1].update(actor="file-manager"), first=3)
    assert findings(trail) == {"AUDIT_BROKEN": "error"}
    assert run(trail, "check").status == 1
    sent(trail, 1)
    assert findings(trail) == {"AUDIT_BROKEN": "error"}


def test_a_chain_computed_anew_without_seals_is_noticed(trail: Any) -> None:
    give_key(trail)
    sent(trail)

    def edit(lines: list[Line]) -> None:
        lines[-2].update(actor="file-manager")
        unseal_all(lines[-2:])

    trail.rewrite(edit, first=1)
    assert findings(trail) == {"AUDIT_BROKEN": "error"}


def test_a_trail_without_any_seal_is_told_until_it_is_sealed(trail: Any) -> None:
    give_key(trail)
    sent(trail)
    trail.rewrite(unseal_all, first=1)
    assert findings(trail) == {"AUDIT_UNSEALED": "warning"}
    sent(trail, 1)
    assert findings(trail) == {"AUDIT_UNSEALED": "notice"}


def test_a_new_key_seals_what_follows(trail: Any) -> None:
    sent(trail, 1)
    give_key(trail)
    sent(trail, 1)
    (trail.team.folder / "team.key").write_bytes(b"another key of at least 16 bytes")
    sent(trail, 1)
    assert findings(trail) == {"AUDIT_UNSEALED": "notice"}


def test_a_verdict_turned_in_queue_and_trail_is_nobodys(trail: Any) -> None:
    """Without a key who can write both files can say anything; with one it is at least not taken for the desk's."""
    give_key(trail)
    request = ok(trail, "--as", "task-manager", "plan", *SUMMARY).out.strip()
    ok(trail, "reject", request, "--reason", "never")
    assert "unverified" not in str(ok(trail, "requests", "--json").json["requests"][0]["flags"])

    def turn(lines: list[Line]) -> None:
        for line in lines:
            text = json.dumps(line).replace('"approve": false', '"approve": true')
            line.update(json.loads(text))

    trail.rewrite(turn, first=1)
    assert "AUDIT_BROKEN" in findings(trail)
    assert "forged" in str(ok(trail, "requests", "--json").json["requests"][0]["flags"])
