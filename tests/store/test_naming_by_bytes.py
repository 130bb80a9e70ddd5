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


_OPENING = {
    **{way: ("plan-1", text) for way, text in _WAYS.items() if way not in ("in the envelope", "quoted as answered")},
    "a hidden key": ("plan-1", '  payload:\n    "request\\x5fid": plan-1\n'),
    "a number": ("42", "  payload:\n    request_id: 42\n"),
    "a number in another way": ("42", "  payload:\n    request_id: 0x2A\n"),
    "a number with blanks": ("1000", "  payload:\n    request_id: 1_000\n"),
    "begins with a digit": ("7f-1", "  payload:\n    request_id: 7f-1\n"),
    "in carried JSON": ("BUG-1", '  payload:\n    content: \'DEBUG_REQUEST: {"debug_id": "BUG-1"}\'\n'),
    "in another spelling": ("plan-1", "  payload:\n    requestId: plan-1\n"),
}


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("way", _OPENING)
def test_who_asks_under_an_id_is_found_however_it_is_written(way: str, is_read: bool, tmp_path: Path) -> None:
    wanted, opening = _OPENING[way]
    (tmp_path / "messenger-config.yaml").write_text("lead: a\n")
    anchor = "  payload:\n    content: &name plan-1\n" if way == "an alias" else _ELSE
    entries = (anchor, _ELSE, opening, f"  payload:\n    content: about {wanted}\n")
    text = "".join(_HEAD.format(number=number) + rest for number, rest in enumerate(entries))
    (tmp_path / "message-queue.yaml").write_text("messages:\n" + text)
    team = open_team(str(tmp_path))
    if is_read:
        assert len(team.snapshot().messages) == 4
    with team.transaction(actor="a", action="look", wait=1.0) as tx:
        assert "MSG-2" in [message.message_id for message in tx.naming(wanted)]


def test_what_the_transaction_itself_changed_and_added_is_in_the_thread(tmp_path: Path) -> None:
    (tmp_path / "messenger-config.yaml").write_text("lead: a\n")
    text = _HEAD.format(number=1) + _ELSE
    (tmp_path / "message-queue.yaml").write_text("messages:\n" + text)
    with open_team(str(tmp_path)).transaction(actor="a", action="look", wait=1.0) as tx:
        (message,) = tx.everything()
        tx.replace(message, message.with_changes(payload={"request_id": "plan-1"}))
        assert [found.message_id for found in tx.thread("plan-1")] == ["MSG-1"]
        assert tx.thread("plan-2") == []
        tx.record("test")
