"""`help`: of a verb, of all settings, of one; docs/reference has the same tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.console.cli.main import VERBS, run
from team_console.console.cli.tools import EXAMPLE
from team_console.store.settings.settings_file import parse_settings

from tests.equipment.command_line import CommandLine


def test_help_alone_is_the_overview_and_of_a_verb_its_usage(
    elsewhere: CommandLine, capfd: pytest.CaptureFixture[str]
) -> None:
    assert elsewhere.ok("help").out == elsewhere.ok("--help").out
    for verb in VERBS:
        assert run([verb.name, "--help"]) == run(["help", verb.name]) == 0
        text = capfd.readouterr().out
        assert text.startswith(f"usage: team-console {verb.name}")
        assert text[: len(text) // 2] == text[len(text) // 2 :]
    refused = elsewhere("help", "sned", "--json")
    assert (refused.status, "send" in refused.json["hint"]) == (2, True)


def test_one_setting_is_found_by_its_name_and_a_wrong_one_by_the_nearest(elsewhere: CommandLine) -> None:
    shown = elsewhere.ok("help", "settings", "deliver").out
    assert "agents[].deliver" in shown
    assert "retention" not in shown
    refused = elsewhere("help", "settings", "delivr", "--json")
    assert "deliver" in refused.json["hint"]


def test_its_example_is_read_without_a_finding() -> None:
    config = parse_settings(EXAMPLE.encode(), Path("/nowhere/messenger-config.yaml"))
    assert config.problems == ()
    assert config.agents["developer"].plan_mode_required
    assert config.routes[0].key == "analyst_to_pm"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_installed_where_the_shell_looks(shell: str, elsewhere: CommandLine) -> None:
    mine = {"HOME": str(elsewhere.folder), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "ZDOTDIR": ""}
    said = elsewhere("completions", shell, "--install", env=mine).out
    written = Path(said.removeprefix("written: ").partition(";")[0])
    assert written.is_relative_to(elsewhere.folder)
    assert written.read_text() == elsewhere.ok("completions", shell).out
    assert elsewhere("completions", shell, "--install", "--read-only", env=mine).status == 5
