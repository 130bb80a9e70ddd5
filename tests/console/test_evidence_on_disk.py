"""Looking for what a plan names: within the project folder, never through a link, and nothing is ever opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from team_console.console.clients import run_record, session_files
from team_console.console.tui.evidence import look_for, runs_of
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.views.evidence import FileState, Run

from tests.equipment.cases import cases


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("12345")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "out").symlink_to(tmp_path)
    (folder / "link.py").symlink_to(folder / "src" / "a.py")
    os.mkfifo(folder / "pipe")
    return folder


def state(folder: Path, name: str) -> FileState:
    (fact,) = look_for(str(folder), [name])
    return fact.state


@cases
def test_a_name_is_what_is_there_and_never_what_a_link_leads_to(project: Path, name: str, found: FileState) -> None:
    assert state(project, name) is found


def note(team: Team, session: str = "s-1", **data: object) -> None:
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", **data}
    run_record.note_run(event, session=session, agent="a1", location=team.location)


@pytest.fixture
def office(tmp_path: Path) -> Team:
    (tmp_path / "messenger-config.yaml").write_text("team: t\nlead: ceo\n")
    return open_team(str(tmp_path))


def ended(office: Team) -> list[tuple[str, int | None, bool | None]]:
    runs = runs_of(office, "a1")
    return [(run.subject, run.exit, run.ok) for run in runs.runs] if runs is not None else []


@cases
def test_what_a_client_says_of_how_a_tool_ended_is_kept_and_nothing_is_made_up(
    office: Team, event: dict[str, Any], told: list[tuple[int | None, bool | None]]
) -> None:
    note(office, tool_input={"command": "make"}, **event)
    assert [(status, ok) for _, status, ok in ended(office)] == told
    path = Path(run_record.record_path("s-1", "a1", office.location))
    assert not told or "secret" not in path.read_text()


def test_a_record_is_private_bounded_and_gone_after_a_while(office: Team) -> None:
    for number in range(400):
        note(office, tool_input={"command": f"{number} {'x' * 5000}"})
    path = Path(run_record.record_path("s-1", "a1", office.location))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    kept = [item.stat().st_size for item in path.parent.iterdir()]
    assert len(kept) == 2
    assert max(kept) < run_record.LARGEST + 2_000
    assert ended(office)[-1][0].startswith("399 x")
    os.utime(path, (0, 0))
    session_files.sweep()
    assert not path.exists()


def test_only_our_own_plain_files_are_read_as_records(office: Team, tmp_path: Path) -> None:
    note(office, tool_input={"command": "true"})
    base = Path(session_files.state_subfolder("runs"))
    begin = session_files.agent_prefix("a1", office.location)
    (base / f"{begin}-link.jsonl").symlink_to("/etc/passwd")
    os.mkfifo(base / f"{begin}-pipe.jsonl")
    (base / f"{begin}-torn.jsonl").write_text(
        '{"at": "x"}\n[1]\n{"at": 1e999}\n{"at": 4, "tool": 7, "exit": true}\n{"at": 5, "tool": "7"}\n\xff'
    )
    (base / f"{session_files.agent_prefix('a2', office.location)}-s.jsonl").write_text(
        '{"at": 5, "tool": "Bash", "subject": "of a2"}\n'
    )
    runs = runs_of(office, "a1")
    assert runs is not None
    assert [(run.tool, run.subject) for run in runs.runs] == [("7", ""), ("Bash", "true")]
    assert runs.runs[0] == Run(5.0, "7")
    assert runs_of(office, "a3") is None


def test_a_machine_that_cannot_keep_it_has_no_record_and_nobody_is_told(
    office: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "full"))
    note(office, tool_input={"command": "true"})
    note(office, session="../../up", tool_input={"command": "true"})
    note(office, session="", tool_input={"command": "true"})
    assert runs_of(office, "a1") is None
