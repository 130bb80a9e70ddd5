"""Where a team is found: every way to its place opens the same team with the same settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import PROJECT_CONFIG, PROJECT_QUEUE, open_team


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project root with a queue and settings."""
    root = tmp_path / "project"
    for path, text in ((PROJECT_QUEUE, "messages: []\n"), (PROJECT_CONFIG, "team: sprint-42\nlead: master\n")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("way", [".", str(PROJECT_QUEUE.parent), str(PROJECT_QUEUE)])
def test_every_way_to_a_project_opens_the_team_of_its_root(project: Path, way: str) -> None:
    team, root = open_team(str(project / way)), open_team(str(project))
    assert (team.config().name, team.config().lead) == ("sprint-42", "master")
    assert team.location == root.location == str(project)


def test_a_link_to_the_queue_folder_leads_to_the_root_too(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project / PROJECT_QUEUE.parent)
    assert open_team(str(tmp_path / "link")).config().lead == "master"


def test_the_settings_of_the_root_count_however_the_team_is_opened(project: Path) -> None:
    folder = project / PROJECT_QUEUE.parent
    (folder / "messenger-config.yaml").write_text("team: left-over\n", encoding="utf-8")
    assert open_team(str(folder)).config().name == "sprint-42"


def test_a_queue_folder_with_the_only_settings_keeps_them(project: Path) -> None:
    (project / PROJECT_CONFIG).unlink()
    folder = project / PROJECT_QUEUE.parent
    (folder / "messenger-config.yaml").write_text("team: its-own\n", encoding="utf-8")
    assert open_team(str(folder)).config().name == "its-own"


def test_a_project_without_settings_is_one_team_all_the_same(project: Path) -> None:
    (project / PROJECT_CONFIG).unlink()
    assert open_team(str(project / PROJECT_QUEUE.parent)).location == str(project)
