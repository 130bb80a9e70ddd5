"""Title of a message: the same in every list; its own summary first, and no bare kind where more is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from team_console.store.protocol.titles import message_title

from tests.equipment.chronicle import LEAD, Chronicle


def title(kind: str, payload: Mapping[str, Any]) -> str:
    story = Chronicle()
    message = story.say("debugger", LEAD, kind)
    return message_title(message.with_changes(payload=dict(payload)))


BODY = json.dumps({"msg_type": "AGENT_DESTROY_REQUEST", "agent_name": "dev-9", "requested_by": "slave-1"})


@pytest.mark.parametrize(
    ("kind", "payload", "wanted"),
    [
        ("message", {"summary": "message number 7", "content": "c"}, "message number 7"),
        ("message", {"content": "\n  first line\nsecond"}, "first line"),
        ("notify", {"summary": "notify the others of it", "message": "m"}, "notify the others of it"),
        ("notify", {"summary": "notify: Freeze on Friday", "message": "m"}, "Freeze on Friday"),
        ("notify", {"message": "Freeze on Friday"}, "Freeze on Friday"),
        ("spec_ready", {"spec_id": "SPEC-030", "priority": "high"}, "SPEC-030"),
        ("spec_ready", {"summary": "SPEC-030 is ready"}, "SPEC-030 is ready"),
        ("spec_ready", {"summary": "spec_ready: SPEC-030 is ready"}, "SPEC-030 is ready"),
        (
            "message",
            {"summary": "AGENT_DESTROY_REQUEST for you", "content": f"AGENT_DESTROY_REQUEST: {BODY}"},
            "End dev-9",
        ),
        ("message", {"summary": "AGENT_DESTROY_REQUEST", "content": f"AGENT_DESTROY_REQUEST: {BODY}"}, "End dev-9"),
        (
            "message",
            {"summary": "Please end dev-9 now", "content": f"AGENT_DESTROY_REQUEST: {BODY}"},
            "Please end dev-9 now",
        ),
        ("gossip", {"weather": "fine"}, "weather: fine"),
        ("gossip", {}, "gossip"),
        ("gossip", {"summary": "  "}, "summary:   "),
    ],
)
def test_the_title_says_what_it_is_about(kind: str, payload: dict[str, Any], wanted: str) -> None:
    assert title(kind, payload) == wanted.strip()
