"""Folders that are closed to us: they are told as that, and are no defect and no empty team."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.console.clients.programs import process_states
from team_console.store.contract.snapshot import Condition
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.sending import send

from tests.equipment.teams import FACTORIES, FakeClock
from tests.equipment.yaml_folder import ROOT_ONLY, as_nobody, open_folder

pytestmark = [pytest.mark.slow, ROOT_ONLY]


@pytest.mark.parametrize(("kind", "closed"), [("yaml", ""), ("yaml", "drop"), ("sqlite", "")])
def test_who_may_not_look_into_a_folder_any_more_is_told_so(kind: str, closed: str) -> None:
    with open_folder() as folder, FACTORIES[kind](folder, FakeClock()) as make:
        team = make()
        send(Caller(team, "ceo"), to="task-manager", summary="Do this thing right now", content="x")
        root = team.root or folder
        place = (root if root.is_dir() else root.parent) / closed
        place.mkdir(exist_ok=True)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o777)
        place.chmod(0)
        with as_nobody():
            assert team.snapshot().condition is (Condition.OK if closed else Condition.UNREADABLE)
            with pytest.raises(TeamError, match="Permission denied"):
                receive(Caller(team, "ceo"), agent="task-manager")
        place.chmod(0o777)


def test_in_a_home_of_another_user_no_session_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0)
    monkeypatch.setenv("HOME", str(tmp_path))
    with as_nobody():
        assert process_states() == {}
