"""The trail of a team that others began: its first line is news, and no reason to judge everything anew."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.requests import submit_plan

SETTINGS = "team: t\nlead: ceo\nagents:\n- name: ceo\n  role: master\n- name: dev\n  role: resident\n"


def test_what_is_recorded_grows_when_the_trail_begins_and_is_another_when_it_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "messenger-config.yaml").write_text(SETTINGS)
    (tmp_path / "message-queue.yaml").write_text("messages: []\n")
    reader, team = open_team(str(tmp_path)), open_team(str(tmp_path))
    before = reader.snapshot().recorded
    assert before is not None
    assert len(before) == 0
    submit_plan(Caller(team, "dev"), content="1. Split", summary="A plan")
    after = reader.snapshot().recorded
    assert after is before
    assert len(before) == 1
    (tmp_path / "audit.jsonl").unlink()
    anew = reader.snapshot().recorded
    assert anew is not before
