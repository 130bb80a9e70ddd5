"""A write that rests on what a message says: it is not written when a program without the lock changed that message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.yaml.commit import Commit
from team_console.store.contract.transaction import ChangedError

from tests.store.yaml_folder import QUEUE, audit_lines, make_message, open_yaml, put, replace_by_rename


@pytest.mark.parametrize("step", ["_stage", "_check_unchanged"])
def test_nothing_is_written_when_it_says_something_else_by_then(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    real = getattr(Commit, step)

    def beaten(write: Commit, *arguments: Any) -> Any:
        text = (tmp_path / QUEUE).read_text()
        replace_by_rename(tmp_path / QUEUE, text.replace("number 1", "number 7").encode())
        return real(write, *arguments)

    def write(expected: int, mark: str) -> None:
        with team.transaction(actor="ceo", action="test", wait=1.0) as tx:
            first, second = tx.everything()
            tx.expect(second if expected == 2 else first)
            tx.replace(second, second.with_changes(mark=mark))
            tx.record("test")

    with monkeypatch.context() as patch:
        patch.setattr(Commit, step, beaten)
        with pytest.raises(ChangedError) as refused:
            write(1, "refused")
    assert refused.value.now is not None
    assert "number 7" in str(refused.value.now.payload)
    assert all(line["action"] != "test" for line in audit_lines(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(Commit, step, beaten)
        write(2, "written")
    assert "written" in (tmp_path / QUEUE).read_text()


def test_its_progress_is_no_other_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    real = Commit._stage

    def read_meanwhile(write: Commit, *arguments: Any) -> Any:
        text = (tmp_path / QUEUE).read_text()
        replace_by_rename(tmp_path / QUEUE, text.replace("pending", "delivered", 1).encode())
        return real(write, *arguments)

    monkeypatch.setattr(Commit, "_stage", read_meanwhile)
    with team.transaction(actor="ceo", action="test", wait=1.0) as tx:
        first, second = tx.everything()
        tx.expect(first)
        tx.replace(second, second.with_changes(mark="written"))
        tx.record("test")
    assert "written" in (tmp_path / QUEUE).read_text()
