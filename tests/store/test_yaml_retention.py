"""Old archived messages are deleted one by one; an archive that cannot be read stays and stops nobody."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from team_console.store.backends.yaml.entry import emit
from team_console.store.model.message import Message

from tests.equipment.teams import make_message
from tests.equipment.yaml_folder import open_yaml

BORDER = datetime.fromisoformat("2026-02-01T00:00:00+00:00")
OLD, NEW = "2026-01-01T10:00:00Z", "2026-02-20T10:00:00Z"


def _archived(content: str, created: str, message_id: str = "X1") -> Message:
    message = make_message(message_id=message_id, payload={"content": content})
    return message.with_changes(created=created, status="read")


def _write(root: Path, *messages: Message) -> Path:
    archive = root / "archive" / "task-manager-archive.yaml"
    archive.parent.mkdir()
    archive.write_bytes(b"messages:\n" + b"".join(map(emit, messages)))
    return archive


def test_an_archive_that_is_a_link_or_too_large_to_read_stays(tmp_path: Path) -> None:
    archive = _write(tmp_path, _archived("old", OLD))
    (tmp_path / "elsewhere").write_bytes(archive.read_bytes())
    (archive.parent / "file-manager-archive.yaml").symlink_to(tmp_path / "elsewhere")
    (archive.parent / "architect-archive.yaml").touch()
    os.truncate(archive.parent / "architect-archive.yaml", 3 << 30)

    assert open_yaml(tmp_path).delete_archived(before=BORDER, actor="ceo", wait=5) == 1
    assert archive.read_bytes() == b"messages:\n"
    assert b"old" in (tmp_path / "elsewhere").read_bytes()
