"""A fixed team with something of everything, at fixed times: for pictures and tests. It stands in `showcase.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from msgspec import convert
from team_console.console.demo.player import STORY
from team_console.store.backends.open import open_team
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, Face, digest_of, seen_of
from team_console.store.settings.editing import write_new_settings
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME, Agent

TEAM = Path(__file__).with_suffix(".yaml")
NOW = datetime(2026, 2, 24, 10, 34, 20, tzinfo=UTC)
"""The present moment of the showcase; open the team with this clock to see the ages as they are meant."""
LEAD = STORY.lead
_ACTIONS = {"plan_approval_request": "plan", "shutdown_request": "shutdown", "broadcast": "broadcast"}


def build(root: Path) -> None:
    """Make the showcase team in the folder `root`, which must not hold a team yet.

    What was asked and decided is written as the store writes it, when it was, so that the audit trail vouches for it;
    what is only in the archives leaves the queue before anything recent comes.

    Raises:
        FileExistsError: There are settings in `root` already.
    """
    told = yaml.load(TEAM.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    root.mkdir(parents=True, exist_ok=True)
    agents = convert(told["agents"], tuple[Agent, ...])
    write_new_settings(root / CONFIG_NAME, team=STORY.team, lead=LEAD, agents=agents)
    (root / QUEUE_NAME).write_text("messages: []\n", encoding="utf-8")
    archived, queued = ([from_record(record) for record in told[name]] for name in ("archives", "queue"))
    archived.sort(key=lambda message: message.created)
    writer = _Writer(root, [*archived, *queued])
    asked = [message for message in archived if _is_asked(message)]
    writer.put([message for message in archived if message not in asked], waits=False)
    for message in asked:
        writer.put([message])
    writer.let_go(asked)
    for message in sorted(queued, key=lambda message: message.created):
        writer.put([message])
    writer.team.close()


class _Writer:
    """Writes messages at the moment of the first of them."""

    def __init__(self, root: Path, messages: Sequence[Message]) -> None:
        self._moment = NOW
        self.team = open_team(str(root), clock=lambda: self._moment)
        self._questions = {parse_message(item).request_id: item for item in messages if parse_message(item).opens}

    def put(self, messages: Sequence[Message], *, waits: bool = True) -> None:
        """Write messages in one transaction; without `waits` only into the archives of their readers."""
        first = messages[0]
        self._moment, action = first.created_at or NOW, _action(first)
        with self.team.transaction(actor=first.sender, action=action, wait=10.0) as tx:
            for message in messages:
                if message.status == "read":
                    tx.archive(message.recipients[0], message)
                if waits:
                    tx.add(message)
            tx.record(action, ids=[message.message_id for message in messages], **self._decided(first))

    def let_go(self, messages: Sequence[Message]) -> None:
        """Let archived messages leave the queue."""
        ids = [message.message_id for message in messages]
        with self.team.transaction(actor=messages[-1].sender, action="compact", wait=10.0) as tx:
            for message in filter(None, map(tx.get, ids)):
                tx.remove(message)
            tx.record("compact", ids=ids)

    def _decided(self, message: Message) -> dict[str, Any]:
        """What the audit trail keeps of a verdict; empty for all other messages."""
        read = parse_message(message)
        question = self._questions.get(read.request_id) if read.answers is not None else None
        if question is None:
            return {}
        asked = {"kind": str(read.answers), "asker": question.sender, "question": question.message_id}
        face = Face.CONSOLE if message.sender == LEAD else Face.HANDED
        shown = {REQUEST_DIGEST: digest_of(question), **seen_of(question, face=face).as_recorded}
        return {"request_id": read.request_id, **asked, **shown}


def _is_asked(message: Message) -> bool:
    """Whether it is a request, or the answer to one."""
    read = parse_message(message)
    return read.opens is not None or read.answers is not None


def _action(message: Message) -> str:
    read = parse_message(message)
    if read.answers is not None and read.approve is not None:
        return "approve" if read.approve else "reject"
    return _ACTIONS.get(message.type, "send")
