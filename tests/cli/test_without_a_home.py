"""A user id without an account and without `HOME`, as in a container: what is kept at home is missing, nothing else."""

from __future__ import annotations

import pwd

import pytest
from team_console.console.cli.main import run

from tests.equipment.command_line import CommandLine


@pytest.fixture(autouse=True)
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the environment nor the list of accounts names a home."""

    def unknown(number: int) -> pwd.struct_passwd:
        raise KeyError(number)

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TEAM_CONSOLE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


@pytest.mark.parametrize("what", ["show", "check"])
def test_own_settings_are_the_defaults(what: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["config", what]) == 0
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_an_agent_can_join(client: str, team: CommandLine, capfd: pytest.CaptureFixture[str]) -> None:
    place = str(team.folder)
    assert run(["-t", place, "join", "task-manager", "--for", client, "--in", place, "--print"]) == 0
    assert "Traceback" not in capfd.readouterr().err
