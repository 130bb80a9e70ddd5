"""Threads are found by the bytes of the queue: however an id is written in YAML, its messages are in the thread."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team

_HEAD = "- message_id: MSG-{number}\n  type: message\n  from: a\n  to: b\n  created: '2026-02-24T10:00:0{number}Z'\n"
_WAYS = {
    "plain": "  payload:\n    request_id: plan-1\n",
    "single quotes": "  payload:\n    request_id: 'plan-1'\n",
    "escaped": '  payload:\n    request_id: "plan\\x2d1"\n',
    "escaped in two": '  payload:\n    request_id: "plan-\\\n      1"\n',
    "flow": "  payload: {content: x, request_id: plan-1}\n",
    "in the envelope": "  request_id: plan-1\n",
    "quoted as answered": "  payload:\n    content: x\n    in_reply_to: plan-1\n",
    "an alias": "  payload:\n    request_id: *name\n",
}
_ELSE = "  payload:\n    request_id: plan-2\n    content: nothing of it\n"


@pytest.mark.parametrize("way", _WAYS)
def test_a_thread_has_its_messages_however_their_id_is_written(way: str, tmp_path: Path) -> None:
    (tmp_path / "messenger-config.yaml").write_text("lead: a\n")
    anchor = "  payload:\n    request_id: &name plan-1\n" if way == "an alias" else _ELSE
    entries = (anchor, _ELSE, _WAYS[way], _ELSE)
    text = "".join(_HEAD.format(number=number) + rest for number, rest in enumerate(entries))
    (tmp_path / "message-queue.yaml").write_text("messages:\n" + text)
    team = open_team(str(tmp_path))
    with team.transaction(actor="a", action="look", wait=1.0) as tx:
        thread = [message.message_id for message in tx.thread("plan-1")]
        every = tx.everything()
        assert [message.message_id for message in every] == ["MSG-0", "MSG-1", "MSG-2", "MSG-3"]
    assert thread == (["MSG-0", "MSG-2"] if way == "an alias" else ["MSG-2"])
