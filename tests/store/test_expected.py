"""A write that rests on what a message says: it is not written when a program without the lock changed that message."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.contract.transaction import ChangedError

from tests.equipment.yaml_folder import QUEUE, audit_lines, make_message, meanwhile, open_yaml, put, replace_by_rename


def _rewrite(folder: Path, old: str, new: str) -> None:
    replace_by_rename(folder / QUEUE, (folder / QUEUE).read_text().replace(old, new, 1).encode())


@pytest.mark.parametrize("step", ["stage", "check"])
def test_nothing_is_written_when_it_says_something_else_by_then(step: str, tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))

    def write(expected: int, mark: str) -> None:
        with (
            meanwhile(step, lambda: _rewrite(tmp_path, "number 1", "number 7"), times=99),
            team.transaction(actor="ceo", action="test", wait=1.0) as tx,
        ):
            first, second = tx.everything()
            tx.expect(second if expected == 2 else first)
            tx.replace(second, second.with_changes(mark=mark))
            tx.record("test")

    with pytest.raises(ChangedError) as refused:
        write(1, "refused")
    assert refused.value.now is not None
    assert "number 7" in str(refused.value.now.payload)
    assert all(line["action"] != "test" for line in audit_lines(tmp_path))
    write(2, "written")
    assert "written" in (tmp_path / QUEUE).read_text()
