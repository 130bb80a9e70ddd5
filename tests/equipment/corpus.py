"""Text that tries to steer a terminal, to hide, to be markup or a path, and a team in which every field holds it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from team_console.store.backends.open import QUEUE_NAME
from team_console.store.settings.team_config import CONFIG_NAME

from tests.equipment.cases import constant

MARK = "PWNED"
"""Stands in the middle of every payload that is an escape sequence, so that it can be looked for in the bytes."""

_LONG = {
    "pile": "e" + "\u0301\u0316\u20dd" * 100,
    "pile of another script": "e" + "\u2de0\u0730" * 100 + "ก\ufe00s\ufe0f",
    "long line": "W" * 4_000,
    "wide": "宽" * 300,
}
PAYLOADS = constant(__file__, "PAYLOADS", dict[str, str]) | _LONG
PLAINLY_SHOWN = ("[/nope]", "[@click=app.quit]", "␛[31337m")
"""What has to stand on the screen literally for some of them."""
TEXTS = tuple(PAYLOADS.values())
LEAD, AGENT = "ceo", "task-manager"
REQUESTS = 6
"""Open requests to the lead with an asker that can be answered."""


class Turning:
    """Hands out the payloads one after the other, so that each comes to stand in each kind of field."""

    def __init__(self, start: int = 0) -> None:
        self._payloads = itertools.islice(itertools.cycle(TEXTS), start, None)

    def __call__(self) -> str:
        return next(self._payloads)

    def filled(self) -> str:
        """The next one that is not empty."""
        return next(payload for payload in self._payloads if payload)


def records() -> list[dict[str, Any]]:
    """A queue with every payload in every kind of field, at least once where a human looks for it."""
    return [*_plain(), *_requests(), *_on_the_way(), *_sprint(), *_huge()]


def _envelope(number: int, turn: Turning, **given: Any) -> dict[str, Any]:
    return {
        "message_id": f"MSG-{number:03}-{turn()}",
        "type": "message",
        "from": AGENT,
        "to": LEAD,
        "priority": "high",
        "created": "2026-02-24T10:30:15.123Z",
        "status": "pending",
        **given,
    }


def _plain() -> Iterator[dict[str, Any]]:
    """Messages with payloads for everything, sender, recipient and state words included."""
    for number, text in enumerate(TEXTS):
        turn = Turning(number)
        payload = {
            "summary": text or "s",
            "content": turn(),
            turn.filled(): turn(),
            "nested": {turn.filled(): [turn()]},
        }
        yield _envelope(number, turn, payload=payload, **{"from": turn.filled() if number % 2 else AGENT})
        if number % 4 == 0:
            words = {
                "type": turn.filled(),
                "priority": turn(),
                "status": turn(),
                "created": turn(),
                "to": turn.filled(),
            }
            more = {
                "read_by": {turn.filled(): turn()},
                "broadcast_id": turn(),
                "signature": turn(),
                turn.filled(): turn(),
            }
            yield _envelope(100 + number, turn, payload={"content": turn()}, **{**words, **more})


def _requests() -> Iterator[dict[str, Any]]:
    """Requests that the lead may answer, shutdown refusals, escalations and clarifications."""
    turn = Turning()
    for number in range(len(TEXTS)):
        asker = AGENT if number < REQUESTS else turn.filled()
        body = {"request_id": f"plan-{number:02}-{turn()}", "summary": turn.filled(), "content": turn.filled()}
        kind = {"type": "plan_approval_request", "payload": body}
        if number % 4 == 1:
            kind = {"type": "escalate", "payload": {key: turn.filled() for key in ("issue", "severity", "impact")}}
        elif number % 4 == 2:
            kind = {"type": "clarify", "payload": {key: turn.filled() for key in ("question", "context")}}
        elif number % 4 == 3:
            refusal = {"request_id": f"shutdown-{turn()}", "approve": False, "content": turn.filled()}
            kind = {"type": "shutdown_response", "payload": refusal}
        yield _envelope(200 + number, turn, **{**kind, "from": asker})


def _on_the_way() -> Iterator[dict[str, Any]]:
    turn = Turning(3)
    for number in range(0, len(TEXTS), 2):
        failed = {"error_message": turn.filled(), "retry_count": 3, "max_retries": turn(), "next_attempt_at": turn()}
        status = ("failed", "retry", "expired")[number % 3]
        to = AGENT if number % 4 else turn.filled()
        yield _envelope(300 + number, turn, to=to, status=status, payload={"summary": turn.filled()}, **failed)


def _sprint() -> Iterator[dict[str, Any]]:
    """Sprint messages in a plain message, their JSON full of payloads."""
    turn = Turning(5)
    plan = {
        "session_id": turn(),
        "total_stories": turn(),
        "batches": [{"batch_id": turn.filled(), "stories": [turn.filled(), turn.filled()]} for _ in range(8)],
        "dependency_graph": {turn.filled(): {"depends_on": [turn.filled()]} for _ in range(4)},
    }
    bodies: list[tuple[str, dict[str, Any]]] = [("BATCH_PLAN_READY", plan)]
    for _ in range(4):
        wish = {"agent_type": turn.filled(), "role_hint": turn.filled(), "requested_by": turn.filled()}
        made = {"agent_name": turn.filled(), "agent_type": turn.filled(), "in_reply_to": turn()}
        task = {"story_key": turn.filled(), "mode": turn(), "session_id": turn(), "report_to": turn.filled()}
        fault = {"debug_id": turn.filled(), "story_key": turn.filled(), "error_summary": turn.filled()}
        roster = {"roster": {"residents": [turn.filled()], "slaves": [turn.filled()], "temps": [turn.filled()]}}
        bodies += [("AGENT_CREATE_REQUEST", wish), ("AGENT_CREATED", made), ("TASK_ASSIGNMENT", task)]
        bodies += [
            ("DEBUG_REQUEST", fault),
            ("AGENT_ROSTER_BROADCAST", roster),
            ("AGENT_COMPLETE", {**task, "status": turn()}),
        ]
    for number, (name, body) in enumerate(bodies):
        content = f"{name}: {json.dumps({'msg_type': name, **body})}"
        yield _envelope(400 + number, turn, payload={"summary": turn(), "content": content})


def _huge() -> Iterator[dict[str, Any]]:
    turn = Turning(7)
    yield _envelope(900, turn, payload={"summary": "M" * 200_000, "content": "N" * 100_000})
    yield _envelope(901, turn, payload={f"field {number:05}": turn()[:40] for number in range(2_000)})


def queue_bytes() -> bytes:
    """The queue file, payloads as YAML escapes; its last two entries are damaged by escapes no reader accepts."""
    damaged = b"".join(
        b'- {message_id: "%s", type: "\\ud800", from: a, to: b}\n' % item for item in (b"\\e[6n", b"\\0")
    )
    return queue_of(records()) + damaged


def queue_of(found: list[dict[str, Any]]) -> bytes:
    """A queue file with these records, every character that is not ASCII escaped."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump({"messages": found}, Dumper=dumper, width=1 << 30, sort_keys=False).encode("ascii")


SETTINGS = rf"""
team: hostile
lead: {LEAD}
"\e[31337mPWNED": "\e]52;c;UFdORUQ=\a"
agents:
- name: {AGENT}
- name: file-manager
  description: "\e[6n"
"""


def build(folder: Path) -> None:
    """The hostile team in `folder`, which is made; beside its queue lie files with hostile names and contents."""
    folder.mkdir(parents=True)
    (folder / CONFIG_NAME).write_text(SETTINGS, encoding="utf-8")
    (folder / QUEUE_NAME).write_bytes(queue_bytes())
    archive = folder / "archive"
    archive.mkdir()
    past = [{**item, "status": "read", "read_at": "2026-02-24T10:31:00.000Z"} for item in _plain()]
    (archive / f"{AGENT}-archive.yaml").write_bytes(queue_of(past))
    (archive / "\x1b]0;PWNED\x07\u202e-archive.yaml").write_bytes(queue_of(past[:3]))
    drop = folder / "drop"
    drop.mkdir()
    (drop / "\x1b[31337mPWNED\n.yaml").write_text("no message")
    audit = {
        "seq": 1,
        "at": PAYLOADS["title"],
        "actor": PAYLOADS["clipboard"],
        "action": PAYLOADS["report"],
        "hash": "x",
    }
    (folder / "audit.jsonl").write_text(json.dumps(audit) + "\n")
