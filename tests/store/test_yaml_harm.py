"""Whatever stands in the place of a file beside the queue: it is told, nothing hangs, and no message is hidden."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk
from team_console.store.contract.team import Condition
from team_console.store.model.errors import Code, TeamError

from tests.equipment.yaml_folder import (
    QUEUE,
    make_message,
    open_yaml,
    put,
    queue_of,
    receive,
    remove,
    states,
    write_into,
)

INSTEAD: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "pipe": lambda path: os.mkfifo(path),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "loop of links": lambda path: path.symlink_to(path.name),
}


def _team(root: Path) -> None:
    team = open_yaml(root)
    put(team, make_message(1), make_message(2), make_message(3))
    receive(team)
    remove(team, 1)


def _put_instead(path: Path, kind: str) -> None:
    path.unlink()
    INSTEAD[kind](path)


def _told_unusable(root: Path, name: str) -> None:
    seen = open_yaml(root).snapshot()
    assert (seen.condition, len(seen.messages)) == (Condition.OK, 2)
    (told,) = [problem for problem in seen.problems if problem.code == "UNUSABLE_FILE"]
    assert (told.severity, told.place, str(root / name) in told.hint) == ("error", str(root / name), True)


def _aside(root: Path, name: str) -> list[Path]:
    return [path for path in (root / name).parent.iterdir() if path.name.startswith(f"{Path(name).name}.aside-")]


@pytest.mark.parametrize("kind", INSTEAD)
def test_a_lock_that_is_no_plain_file_is_told_to_readers_and_refused_by_name_to_writers(
    tmp_path: Path, kind: str
) -> None:
    name = f"{QUEUE}.lock"
    _team(tmp_path)
    _put_instead(tmp_path / name, kind)
    _told_unusable(tmp_path, name)
    with pytest.raises(TeamError) as caught:
        put(open_yaml(tmp_path), make_message(4))
    assert caught.value.code is Code.STORE_FAILED
    assert str(tmp_path / name) in caught.value.message
    assert "plain file" in caught.value.hint
    assert len(open_yaml(tmp_path).snapshot().messages) == 2


@pytest.mark.parametrize("kind", INSTEAD)
@pytest.mark.parametrize("name", ["archive", "inbox", "attachments"])
def test_what_is_no_folder_is_moved_aside_when_the_folder_is_needed(tmp_path: Path, name: str, kind: str) -> None:
    _team(tmp_path)
    if (tmp_path / name).is_dir():
        (tmp_path / name).rename(tmp_path / "elsewhere")
    (tmp_path / name).touch()
    if kind != "folder":
        _put_instead(tmp_path / name, kind)
    with open_yaml(tmp_path).transaction(actor="ceo", action="try", wait=1) as tx:
        write_into(tx, name)
    assert len(list((tmp_path / name).iterdir())) == 1
    assert len(_aside(tmp_path, name)) == 1


def _failing(monkeypatch: pytest.MonkeyPatch, name: str, number: int, of: str) -> None:
    """Let one call of the disk fail for paths that hold `of`."""
    call = getattr(Disk, name)

    def fail(self: Disk, path: Path, *more: object) -> object:
        if of in str(path):
            raise OSError(number, os.strerror(number), str(path))
        return call(self, path, *more)

    monkeypatch.setattr(Disk, name, fail)


def _offer(root: Path, data: bytes) -> Path:
    (root / "drop").mkdir()
    (root / "drop" / "one.yaml").write_bytes(data)
    return root / "drop" / "one.yaml"


@pytest.mark.parametrize(("call", "data"), [("read", b""), ("rename", b"- 7\n"), ("unlink", queue_of(make_message(1)))])
def test_files_that_have_to_stay_in_drop_keep_no_later_one_out_however_many_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, data: bytes
) -> None:
    put(open_yaml(tmp_path), make_message(1))
    folder = _offer(tmp_path, data).parent
    for number in range(1000):
        (folder / f"one.yaml-{number:04}.yaml").write_bytes(data)
    (folder / "two.yaml").write_bytes(queue_of(make_message(2)))
    _failing(monkeypatch, call, errno.EACCES, "drop/one.yaml")
    with open_yaml(tmp_path).transaction(actor="ceo", action="look", wait=5) as tx:
        told = [notice.message for notice in tx.notices if notice.code == "DROP_UNREADABLE"]
    assert states(open_yaml(tmp_path)) == {"01": "pending", "02": "pending"}
    assert not (folder / "two.yaml").exists()
    assert (len(told), told[-1].partition(" ")[0]) == (21, "981")
