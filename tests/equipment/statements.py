"""What another program does in a database, with its own connection."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import Any

SEED = """
CREATE TABLE agent_message (
    message_id TEXT PRIMARY KEY,
    sender TEXT NOT NULL,           -- "orchestrator", "code_developer", etc.
    recipient TEXT NOT NULL,        -- Target agent type
    message_type TEXT,              -- "task_assignment", "error_report", etc.
    payload JSON,                   -- Message content
    status TEXT,                    -- "pending", "delivered", "failed"
    created_at TIMESTAMP,
    delivered_at TIMESTAMP,
    retry_count INTEGER DEFAULT 0,
    max_retries INTEGER DEFAULT 3,
    error_message TEXT{more}
)
"""
ADD = """
INSERT INTO agent_message (message_id, sender, recipient, message_type, payload, status, created_at{columns})
VALUES (:id, 'orchestrator', 'code_developer', 'task_assignment', {payload}, 'pending', :at{values})
"""
PAYLOAD = '{"task_id": "TASK-31-1",   "spec_id": "SPEC-031", "priority": "high"}'


def execute(place: str, *statements: str, **values: Any) -> list[Any]:
    """What another program does, with its own connection; the rows of the last statement."""
    return _execute(place, *statements, **values)[1]


def named_rows(place: str, statement: str, **values: Any) -> list[dict[str, Any]]:
    """As `execute`, each row by the names of its columns."""
    names, rows = _execute(place, statement, **values)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _execute(place: str, *statements: str, **values: Any) -> tuple[list[str], list[Any]]:
    """As `execute`, after the names of the columns."""
    connection: Any
    if "://" in place:
        import psycopg

        connection = psycopg.connect(place)
        given = "|".join(values) or "(?!)"
        statements = tuple(re.sub(rf":({given})\b", r"%(\1)s", statement) for statement in statements)
    else:
        connection = sqlite3.connect(place, timeout=20)
    with closing(connection), connection:
        for statement in statements:
            cursor = connection.execute(statement, *([values] if values else []))
        names = [column[0] for column in cursor.description or ()]
        return names, cursor.fetchall() if names else []


def insert(place: str, message_id: str, at: str = "2026-02-24 10:30:00", *, payload: str = PAYLOAD) -> None:
    add = ADD.format(columns="", values="", payload=":payload" if "://" not in place else "CAST(:payload AS JSON)")
    execute(place, add, id=message_id, at=at, payload=payload)
