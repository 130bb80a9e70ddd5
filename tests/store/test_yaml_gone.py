"""What was in archives and audit trail and is there no more is told; a legitimate clear of archives is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from team_console.store.backends.yaml import archives
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import ARCHIVE_LOST, AUDIT_LOST
from team_console.store.model.errors import Problem
from team_console.store.views.findings import trail_findings
from team_console.store.views.history import past

from tests.equipment.damage import HARMS
from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import HOLD, notices, open_yaml, process, receive, remove, wait_for

ARCHIVE = "archive/task-manager-archive.yaml"
TOLD = {"DAMAGED_ARCHIVE", ARCHIVE_LOST}


def _history(team: YamlTeam) -> tuple[list[str], set[str]]:
    """Numbers of the archived messages, newest first, and the codes of what is wrong with them."""
    found = past(team, limit=100)
    return [message.message_id[-2:] for message in found.messages], {problem.code for problem in found.problems}


def _lost(team: YamlTeam) -> list[Problem]:
    return [problem for problem in team.history().problems if problem.code == ARCHIVE_LOST]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A team whose archive was written in four turns, and whose queue still holds messages."""
    root: Path = tmp_path_factory.mktemp("model") / "team"
    root.mkdir()
    team = open_yaml(root)
    for number in range(1, 5):
        put(team, make_message(number), make_message(number + 10))
        receive(team)
    for number in range(1, 5):
        remove(team, number)
    return root


@pytest.fixture
def root(model: Path, tmp_path: Path) -> Path:
    """A copy of the model that may come to harm."""
    return Path(shutil.copytree(model, tmp_path / "team"))


def test_a_team_that_others_wrote_without_an_audit_lost_none(root: Path) -> None:
    for name in ("audit.jsonl", "message-queue.yaml.lock", "message-queue.yaml.prev"):
        (root / name).unlink(missing_ok=True)
    assert AUDIT_LOST in {problem.code for problem in open_yaml(root).snapshot().problems}
    text = (root / ARCHIVE).read_text()
    (root / ARCHIVE).write_text("".join(line for line in text.splitlines(True) if not line.startswith("# end")))
    numbers, codes = _history(open_yaml(root))
    assert (len(numbers), codes) == (8, set())
    assert open_yaml(root).snapshot().problems == ()


@pytest.mark.parametrize("harm", [harm for harm in HARMS if harm not in ("conflict markers", "two documents")])
def test_history_that_lost_something_says_so_whatever_happened_to_the_archive(root: Path, harm: str) -> None:
    HARMS[harm](root / ARCHIVE)
    numbers, codes = _history(open_yaml(root))
    assert len(numbers) == 8 or codes & TOLD, (numbers, codes)
    assert numbers or codes & TOLD


def _older_copy(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"- ", len(data) // 2)])


def _beginning_gone(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(b"messages:\n" + data[data.index(b"\n- ", len(data) // 2) + 1 :])


def _another_agents(path: Path) -> None:
    path.write_bytes(b"messages:\n" + archives.closed(make_message(77)) * 40)


def _folder_gone(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("harm", [_older_copy, _beginning_gone, _another_agents, _folder_gone])
def test_an_archive_that_is_sound_in_itself_and_not_what_was_written_is_told(
    root: Path, harm: Callable[[Path], None]
) -> None:
    harm(root / ARCHIVE)
    (told,) = _lost(open_yaml(root))
    assert (told.severity, told.place) == ("error", ARCHIVE)
    assert told.hint


def test_what_was_lost_is_still_told_after_more_was_archived(root: Path) -> None:
    (root / ARCHIVE).unlink()
    team = open_yaml(root)
    put(team, make_message(5))
    receive(team)
    (told,) = _lost(open_yaml(root))
    assert "lacks" in told.message


def test_archives_that_were_cleared_are_not_missed_and_later_losses_are(root: Path) -> None:
    team = open_yaml(root)
    for message in team.snapshot().messages:
        remove(team, int(message.message_id[-2:]))
    assert team.delete_archived(before=datetime.fromisoformat("2030-01-01T00:00:00+00:00"), actor="ceo", wait=5) == 8
    assert _history(open_yaml(root)) == ([], set())
    put(team, make_message(5))
    receive(team)
    assert _history(open_yaml(root)) == (["05"], set())
    (root / ARCHIVE).unlink()
    assert len(_lost(open_yaml(root))) == 1


def test_what_a_clear_left_in_an_archive_is_missed_when_it_goes(root: Path) -> None:
    team = open_yaml(root)
    border = make_message(3).created_at
    assert border is not None
    team.delete_archived(before=border, actor="ceo", wait=5)
    numbers, codes = _history(open_yaml(root))
    assert (bool(numbers), codes) == (True, set())
    HARMS["emptied"](root / ARCHIVE)
    assert len(_lost(open_yaml(root))) == 1


def test_a_rotated_archive_is_not_missed_and_its_lost_part_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "ROTATE_BYTES", 100)
    team = open_yaml(root)
    put(team, make_message(5))
    receive(team)
    numbers, codes = _history(open_yaml(root))
    assert (len(numbers), codes) == (9, set())
    (root / "archive" / "task-manager-archive-0001.yaml").unlink()
    assert len(_lost(open_yaml(root))) == 1


def test_a_transaction_that_is_still_being_written_is_not_taken_for_a_loss(root: Path) -> None:
    put(open_yaml(root), make_message(5))
    receive(open_yaml(root))
    with process(HOLD, root) as holder:
        wait_for(holder, b"held")
        path = root / ARCHIVE
        data = path.read_bytes()
        path.write_bytes(data[: data.rindex(b"\n- ") + 1])
        assert _lost(open_yaml(root)) == []
        path.write_bytes(data)


@pytest.mark.parametrize("harm", HARMS)
def test_an_audit_that_is_not_what_was_written_is_told_with_the_history_and_in_the_snapshot(
    root: Path, harm: str
) -> None:
    before = open_yaml(root).audit()
    HARMS[harm](root / "audit.jsonl")
    team = open_yaml(root)
    lines = team.audit()
    told = {problem.code for problem in (*team.snapshot().problems, *team.history().problems, *trail_findings(lines))}
    assert lines == before or told & {AUDIT_LOST, "UNUSABLE_FILE", "AUDIT_BROKEN"}


@pytest.mark.parametrize("harm", ["gone", "emptied", "zeros", "random bytes", "cut in the middle", "a folder instead"])
def test_history_lost_together_with_the_ledger_that_knew_of_it_is_told(root: Path, harm: str) -> None:
    HARMS[harm](root / "audit.jsonl")
    HARMS["gone"](root / ARCHIVE)
    numbers, codes = _history(open_yaml(root))
    assert (numbers, AUDIT_LOST in codes) == ([], True)


@pytest.mark.parametrize("harm", ["gone", "emptied", "zeros", "cut in the middle"])
def test_the_write_that_begins_a_lost_audit_anew_says_so(root: Path, harm: str) -> None:
    HARMS[harm](root / "audit.jsonl")
    assert AUDIT_LOST in notices(open_yaml(root))
