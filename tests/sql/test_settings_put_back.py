"""Settings put back beside a database: durable with their name, before the commit that says so."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from team_console.store.backends.sql.settings import restore_file


def test_the_name_of_the_settings_is_made_durable_after_their_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced, sync = tmp_path / "messenger-config.yaml", list[tuple[bool, bytes]](), os.fsync
    path.write_bytes(b"lead: evil\n")

    def noted(descriptor: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), path.read_bytes()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    assert restore_file(path, b"lead: ceo\n", "now") == f"{path.name}.lost-now"
    assert synced == [(False, b"lead: evil\n"), (True, b"lead: ceo\n")]
