"""Title of a message: the same in every list; its own summary first, and no bare kind where more is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from team_console.store.protocol.titles import message_title

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle


def title(kind: str, payload: Mapping[str, Any]) -> str:
    story = Chronicle()
    message = story.say("debugger", LEAD, kind)
    return message_title(message.with_changes(payload=dict(payload)))


BODY = json.dumps({"msg_type": "AGENT_DESTROY_REQUEST", "agent_name": "dev-9", "requested_by": "slave-1"})


@cases
def test_the_title_says_what_it_is_about(kind: str, payload: dict[str, Any], wanted: str) -> None:
    assert title(kind, payload) == wanted.strip()
