"""Letters: what is known without reading a payload judges a message as reading it would."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.backends.yaml.codec import QueueText, emit
from team_console.store.contract.team import Snapshot
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.kinds import KINDS, carried_name
from team_console.store.views.projection import view_of
from team_console.store.views.rows import View
from team_console.store.views.status_json import finding_json, need_json, request_json, roster_json

from tests.store.contract import make_message
from tests.views.chronicle import LEAD, Chronicle, snapshot_of

BODIES = (
    "summary: Fix it at 10:30, C#\n    content: Two words",
    "content: |\n      One\n\n        two\n    summary: 'it''s done'",
    "summary: Short\n    content: |-\n      请检查 the table",
    'summary: "Said so"\n    content: Yes',
)
OTHERS = (
    "summary: Short\n    content: null",
    "summary: true\n    content: Two words",
    "summary: 12\n    content: Two words",
    "summary: ''\n    content: Two words",
    "summary: Short\n    content: 1.5",
    "summary: Short\n    content: Two words\n    in_reply_to: MSG-1",
    "summary: Short\n    content: Two words\n    request_id: MSG-1",
    "summary: Short",
    "content: Two words",
    "summary: Short\n    content: |\n      TASK_ASSIGNMENT: {}",
    "summary: Short\n    content: 'TASK_ASSIGNMENT: {}'",
    "summary: Short\n    content: |\n      \u3000TASK_ASSIGNMENT : {}",
    "summary: Short\n    content: \u3000TASK_ASSIGNMENT:{}",
    "summary: Short\n    content: |\n      \u00a0TASK_ASSIGNMENT: {}",
    "summary: Short\n    content: |\n      \u2003TASK_ASSIGNMENT: {}",
    "summary: Short\n    content: |\n      \u1680TASK_ASSIGNMENT: {}",
    "summary: Short\n    content: TASK_ASSIGNMENT:{}",
)
ENVELOPES = (
    "{}",
    "{}  read_at: '2026-02-24T08:00:01.000Z'\n",
    "{}  subject: loose\n",
)


def _read(body: str, envelope: str = "{}", kind: str = "message") -> Message:
    head = f"- message_id: MSG-9\n  type: {kind}\n  from: a\n  to: b\n  priority: low\n"
    entry = f"{head}  created: '2026-02-24T08:00:00.000Z'\n  status: pending\n  payload:\n    {body}\n"
    (message,) = QueueText.parse(f"messages:\n{envelope.format(entry)}".encode()).messages()
    return message


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("body", [*BODIES, *OTHERS])
def test_a_letter_is_a_summary_and_a_content_alone(body: str, envelope: str) -> None:
    message = _read(body, envelope)
    payload = message.payload
    texts = all(isinstance(value, str) and value for value in payload.values())
    is_letter = payload.keys() == {"summary", "content"} and texts and not carried_name("message", payload)
    assert is_letter or not message.is_letter
    assert message.is_letter is (body in BODIES and "subject" not in envelope)


def _judged(view: View) -> Any:
    """Everything but the lists, as it is shown."""
    return (
        [finding_json(finding) for finding in view.findings],
        [need_json(item, view.now) for item in view.attention],
        [request_json(row, view.now) for row in view.requests],
        roster_json(view),
        dict(view.counts),
        {name: [message.message_id for message in messages] for name, messages in view.unanswered.items()},
    )


def _both(snapshot: Snapshot, story: Chronicle) -> tuple[Any, Any]:
    """The judgement on the queue read from its text, and on the same records at hand."""
    text = QueueText.parse(b"messages:\n" + b"".join(map(emit, snapshot.messages)) or b"messages: []\n")
    read = replace(snapshot, messages=text.messages())
    whole = replace(snapshot, messages=tuple(from_record(message.record) for message in text.messages()))
    past = tuple(reversed(story.archived))
    return (
        _judged(view_of(read, me=LEAD, now=story.now, history=past, lists=False)),
        _judged(view_of(whole, me=LEAD, now=story.now, history=past)),
    )


def test_a_letter_of_any_kind_is_judged_like_a_record_that_was_read() -> None:
    """Kinds that need more than a letter says are told so, questions are asked under their own id."""
    story = Chronicle()
    kinds = (*KINDS, "of_nobody")
    base = make_message(1).record
    payload = {"summary": "Five words are in here", "content": "Read this\n"}
    messages = tuple(
        from_record({**base, "message_id": f"MSG-{number}", "payload": payload} | envelope)
        for number, envelope in enumerate(
            {"type": kind, "to": to, "status": status}
            for kind in kinds
            for to in ("ceo", "dev-runner-1", str(base["from"]))
            for status in ("pending", "read", "failed")
        )
    )
    quick, whole = _both(snapshot_of(messages), story)
    assert _read("summary: Short\n    content: Two words", kind="shutdown_request").is_letter
    assert quick == whole
