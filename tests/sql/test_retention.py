"""Old archived messages of a SQL team are deleted, and no others."""

from __future__ import annotations

from datetime import datetime

from team_console.store.backends.sql.team import SqlTeam
from team_console.store.model.message import Message

from tests.equipment.teams import make_message

BORDER = datetime.fromisoformat("2026-02-01T00:00:00+00:00")


def _archived(content: str, created: str) -> Message:
    message = make_message(message_id="X1", payload={"content": content})
    return message.with_changes(created=created, status="read")


def test_a_newer_message_with_the_id_of_an_old_one_in_another_archive_stays(team: SqlTeam) -> None:
    with team.transaction(actor="ceo", action="try", wait=5) as tx:
        tx.archive("task-manager", _archived("old", "2026-01-01T10:00:00Z"))
        tx.archive("file-manager", _archived("new", "2026-02-20T10:00:00Z"))
        tx.record("try")

    assert team.delete_archived(before=BORDER, actor="ceo", wait=5) == 1
    assert [message.content for message in team.history().messages] == ["new"]
