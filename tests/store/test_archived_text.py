"""What an archive gets of a message: its text in the queue where that is of our own form."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.entry import emit
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.backends.yaml.team import YamlTeam

from tests.equipment.teams import make_message


def test_an_archive_that_lost_its_entries_between_two_writes_is_written_again(tmp_path: Path) -> None:
    messages = [make_message(number) for number in range(8)]
    (tmp_path / "message-queue.yaml").write_bytes(b"messages:\n" + b"".join(map(emit, messages)))
    team = open_team(str(tmp_path))
    assert isinstance(team, YamlTeam)
    path = tmp_path / "archive" / "task-manager-archive.yaml"

    def archive() -> list[str]:
        with team.transaction(actor="ceo", action="test", wait=1) as tx:
            for message in tx.everything():
                tx.archive("task-manager", message)
            tx.record("test")
        return [message.message_id for message in QueueText.parse(path.read_bytes()).messages()]

    ids = [message.message_id for message in messages]
    assert archive() == ids
    assert archive() == ids, "what was seen in the archive is not put there again"
    with path.open("r+b") as file:
        file.truncate(len(b"messages:\n"))
    assert archive() == ids, "what was seen there once is no proof"
