"""A queue file that is empty or holds only comments: a new queue, unless ledger or `.prev` know better."""

from __future__ import annotations

import os
from pathlib import Path

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import QUEUE, open_yaml, states


def test_a_death_between_ledger_and_queue_leaves_a_blank_queue_writable(tmp_path: Path) -> None:
    """The ledger then holds a line that was built upon this very blank file."""
    (tmp_path / QUEUE).write_bytes(b"# new\n")
    blank = (tmp_path / QUEUE).stat()
    put(open_yaml(tmp_path), make_message(1))
    kept = tmp_path / (QUEUE + ".prev")
    assert kept.stat().st_ino == blank.st_ino
    os.replace(kept, tmp_path / QUEUE)
    put(open_yaml(tmp_path), make_message(2))
    assert states(open_yaml(tmp_path)) == {"01": "pending", "02": "pending"}
