"""The thread of a request is found without understanding the rest of the queue, however its id is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.contract.team import Team
from team_console.store.model.clock import to_text
from team_console.store.protocol.parsing import carries

from tests.store.contract import START, FakeClock, make_message, put, yaml_factory

ENTRIES = {
    "plain": "request_id: plan-7@a",
    "quoted": "'request_id': 'plan-7@a'",
    "escaped": '"request_id": "\\x70lan-7@a"',
    "answer": "in_reply_to: plan-7@a",
    "number": "request_id: 0x1F",
    "other": "request_id: plan-70@a",
    "nothing": "content: nothing",
}


def write(team: Team, folder: Path, entries: dict[str, str]) -> None:
    """A queue that another program wrote, with an anchor that a later entry repeats."""
    queue = next(folder.rglob("messenger-config.yaml")).with_name("message-queue.yaml")
    created = to_text(START)
    head = f"type: message\n  from: ceo\n  to: file-manager\n  created: '{created}'\n  status: pending\n"
    texts = [f"- message_id: M-{name}\n  {head}  payload: {{{line}}}\n" for name, line in entries.items()]
    texts.append(f"- message_id: M-anchor\n  {head}  payload: {{request_id: &id plan-7@a}}\n")
    texts.append(f"- message_id: M-alias\n  {head}  payload: {{request_id: *id}}\n")
    queue.write_text("messages:\n" + "".join(texts))


@pytest.mark.parametrize("request_id", ["plan-7@a", "31", "M-nothing", "plan-7", "nobody"])
def test_a_search_in_the_text_finds_what_a_look_at_every_message_finds(tmp_path: Path, request_id: str) -> None:
    with yaml_factory(tmp_path, FakeClock()) as factory:
        team = factory()
        write(team, tmp_path, ENTRIES)
        with team.transaction(actor="ceo", action="look", wait=2.0) as tx:
            near = [message.message_id for message in tx.naming(request_id)]
            wanted = {message.message_id for message in tx.everything() if carries(message, request_id)}
            assert {message.message_id for message in tx.thread(request_id)} == wanted
            assert wanted <= set(near)
        if request_id == "plan-7@a":
            assert wanted == {"M-plain", "M-quoted", "M-escaped", "M-answer", "M-anchor", "M-alias"}
            assert "M-nothing" not in near


def test_what_the_transaction_itself_wrote_is_in_the_thread(tmp_path: Path) -> None:
    with yaml_factory(tmp_path, FakeClock()) as factory:
        team = factory()
        put(team, make_message(1), make_message(2, payload={"request_id": "plan-7@a"}))
        with team.transaction(actor="ceo", action="send", wait=2.0) as tx:
            first, second = tx.everything()
            tx.replace(first, first.with_changes(payload={"request_id": "plan-7@a"}))
            tx.replace(second, second.with_changes(status="read"))
            tx.add(make_message(3, payload={"in_reply_to": "plan-7@a"}))
            tx.record("send")
            assert {message.message_id[-1] for message in tx.thread("plan-7@a")} == {"1", "2", "3"}
