"""The words of a request: what it asks for, and what its answer said, each in one line or text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import (
    answers_text,
    headline_of,
    origin_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.kinds.kind import Family, RequestKind
from team_console.store.protocol.reading import Reading, reading

_LIMIT = 200


def title_of(read: Reading) -> str:
    """What a request asks for, as one line; the asker's own summary when there is one."""
    stated = text_at(read.message.payload, "summary")
    return _line(stated or _asked(read) or read.message.content or read.name)


def reason_of(answer: Message) -> str:
    """What the answer says: note, reason, feedback or result, as text; empty when it says nothing."""
    read = reading(answer)
    if read.kind is not None and read.kind.family is Family.SPRINT:
        return _result(read)
    payload = answer.payload
    if read.answers is RequestKind.QUESTION and read.approve:
        return answers_text(payload)
    return text_at(payload, "content") or text_at(payload, "reason") or text_at(payload, "feedback")


def text_at(body: Mapping[str, Any], key: str) -> str:
    """The text under `key`, empty when there is none."""
    value = body.get(key)
    return value.strip() if isinstance(value, str) else ""


def _asked(read: Reading) -> str:
    body, subject = read.body, read.subject or ""
    words = {
        RequestKind.PLAN: text_at(body, "content"),
        RequestKind.SHUTDOWN: text_at(body, "content") or text_at(body, "reason") or "Please stop",
        RequestKind.CREATE: f"Wants a {subject}",
        RequestKind.DESTROY: f"End {subject}",
        RequestKind.ESCALATION: text_at(body, "issue"),
        RequestKind.CLARIFICATION: text_at(body, "question"),
        RequestKind.DEBUG: text_at(body, "error_summary"),
        RequestKind.BROWSER: " ".join(filter(None, (text_at(body, "operation"), text_at(body, "url")))),
        RequestKind.RESEARCH: _first(body, "queries", "query"),
        RequestKind.PERMISSION: headline_of(permission_of(body), origin_of(body).directory),
        RequestKind.QUESTION: "; ".join(question.text for question in questions_of(body)),
    }
    return words.get(read.opens, "") if read.opens else ""


def _result(read: Reading) -> str:
    body = read.body
    if read.answers is RequestKind.DEBUG:
        return text_at(body, "root_cause")
    if read.answers is RequestKind.BROWSER:
        return text_at(body, "error") or text_at(body, "status")
    if read.answers is RequestKind.RESEARCH:
        return _first(body, "results", "summary") or _first(body, "results", "status")
    return text_at(body, "note") or text_at(body, "agent_name")


def _first(body: Mapping[str, Any], key: str, inner: str) -> str:
    values = body.get(key)
    first = values[0] if isinstance(values, list) and values else None
    return text_at(first, inner) if isinstance(first, dict) else ""


def _line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LIMIT else line[: _LIMIT - 1] + "…"
