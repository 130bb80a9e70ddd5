"""What was in archives and audit trail and is there no more is told; a legitimate clear of archives is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import ARCHIVE_LOST, AUDIT_LOST
from team_console.store.model.errors import Problem
from team_console.store.views.findings import trail_findings
from team_console.store.views.history import newest_archived

from tests.equipment.damage import HARMS
from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import open_yaml, receive, remove

ARCHIVE = "archive/task-manager-archive.yaml"
TOLD = {"DAMAGED_ARCHIVE", ARCHIVE_LOST}


def _history(team: YamlTeam) -> tuple[list[str], set[str]]:
    """Numbers of the archived messages, newest first, and the codes of what is wrong with them."""
    found = newest_archived(team, limit=100)
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


def test_what_a_clear_left_in_an_archive_is_missed_when_it_goes(root: Path) -> None:
    team = open_yaml(root)
    border = make_message(3).created_at
    assert border is not None
    team.delete_archived(before=border, actor="ceo", wait=5)
    numbers, codes = _history(open_yaml(root))
    assert (bool(numbers), codes) == (True, set())
    HARMS["emptied"](root / ARCHIVE)
    assert len(_lost(open_yaml(root))) == 1


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
