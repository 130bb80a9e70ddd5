"""The reading room: one thing on the whole screen, where every key works and nothing else takes its place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import LEAD
from tests.equipment.terminal import console

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def test_its_text_is_read_in_an_editor_and_piped_to_a_command(tmp_path: Path) -> None:
    (tmp_path / "messenger-config.yaml").write_text("name: s\nlead: ceo\nagents: [dev]\n", encoding="utf-8")
    team = open_team(str(tmp_path))
    requests.submit_plan(Caller(team, "dev"), content="1. one \x1b[31mred\n2. two", summary="What is to be done")
    team.close()
    script = tmp_path / "reader.py"
    script.write_text("import sys\nprint('READS', ascii(open(sys.argv[1]).read()))\ninput()\n", encoding="utf-8")
    env = {"VISUAL": f"{sys.executable} {script}", "XDG_STATE_HOME": str(tmp_path / "state")}
    with console(tmp_path, "--as", LEAD, env=env) as terminal:
        terminal.wait_for("●", "1. one")
        terminal.send("f")
        terminal.wait_for("esc back")
        terminal.send("E")
        terminal.wait_for("READS '1. one", "2. two")
        assert "\\x1b" not in terminal.text
        terminal.send("\r")
        terminal.wait_for("esc back")
        terminal.send(":pipe\r")
        terminal.wait_for("Pipe the text")
        terminal.send("grep -c step; echo done | tr a-z A-Z\r")
        terminal.wait_for("DONE", "back to the console")
        terminal.send("\r")
        terminal.wait_for("esc back", "1. one")
        terminal.send("q")
        assert terminal.wait_exit() == 0
