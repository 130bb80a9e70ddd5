"""Folders that are closed to us: they are told as that, and are no defect and no empty team."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.console.clients.programs import process_states
from team_console.store.contract.team import Condition, Presence
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.sending import send

from tests.equipment.teams import FACTORIES, FakeClock
from tests.equipment.yaml_folder import ROOT_ONLY, as_nobody, open_folder

pytestmark = [pytest.mark.slow, ROOT_ONLY]


@pytest.mark.parametrize("kind", ["yaml", "sqlite"])
def test_a_folder_that_is_closed_meanwhile_cannot_be_read_until_it_is_open_again(kind: str) -> None:
    with open_folder() as folder, FACTORIES[kind](folder, FakeClock()) as make:
        team = make()
        _send(Caller(team, "ceo"))
        receive(Caller(team, "ceo"), agent="ceo")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o777)
        root = team.root or folder
        place = root if root.is_dir() else root.parent
        caller = Caller(team, "ceo")
        place.chmod(0)
        with as_nobody():
            assert team.snapshot().condition is Condition.UNREADABLE
            for act in (_send, _receive):
                with pytest.raises(TeamError) as refused:
                    act(caller)
                assert refused.value.code in (Code.STORE_UNREADABLE, Code.READ_ONLY)
            with team.announce(Presence.CONSOLE, "a" * 24):
                pass
        place.chmod(0o777)
        _send(caller)


def _send(caller: Caller) -> None:
    send(caller, to="task-manager", summary="Do this thing right now", content="x")


def _receive(caller: Caller) -> None:
    receive(caller, agent="task-manager")


def test_whoever_may_not_look_into_the_drop_folder_is_told_so() -> None:
    with open_folder() as folder, FACTORIES["yaml"](folder, FakeClock()) as make:
        team = make()
        drop = (team.root or folder) / "drop"
        _send(Caller(team, "ceo"))
        drop.mkdir()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o777)
        drop.chmod(0)
        with as_nobody(), pytest.raises(TeamError, match="drop cannot be written: Permission denied"):
            _receive(Caller(team, "ceo"))


def test_in_a_home_of_another_user_no_session_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0)
    monkeypatch.setenv("HOME", str(tmp_path))
    with as_nobody():
        assert process_states() == {}
