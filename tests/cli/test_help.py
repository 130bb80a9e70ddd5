"""`help`: of a verb, of all settings, of one; docs/reference has the same tables."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from team_console.console.cli.main import VERBS, run
from team_console.console.cli.tools import EXAMPLE, setting_rows
from team_console.store.settings.parsing import every_setting
from team_console.store.settings.settings_file import parse_settings

from tests.equipment.command_line import ROOT, CommandLine
from tests.readme import settings


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


def test_every_setting_is_explained_with_value_default_and_other_names(elsewhere: CommandLine) -> None:
    shown = elsewhere.ok("help", "settings").out
    rows = {row.path: row for row in setting_rows()}
    assert set(rows) == {path for path, _ in every_setting()}
    for row in rows.values():
        assert row.meaning in shown
        assert row.value
        assert row.default
        assert f"`{row.path}`" in settings()
    assert rows["retention.active_messages_max"].default == "100"
    assert rows["agents[].deliver_timeout"].default == "30"
    assert elsewhere.ok("help", "settings", "--json").json["settings"][0]["path"] == "team"


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


def read_variables() -> set[str]:
    """Every variable of ours that the code looks up."""
    paths = [path for folder in ("console", "store", "widgets") for path in (ROOT / folder).rglob("*.py")]
    found = {name for path in paths for name in re.findall(r'"(TEAM_CONSOLE_[A-Z]+)"', path.read_text())}
    return found - {"TEAM_CONSOLE_AGENT"}


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("environment", read_variables()),
        ("files", {"message-queue.yaml", "drop/", "audit.jsonl"}),
        ("exit-codes", {"10", "12", "ALREADY_ANSWERED", "delivery_timeout", "STORE_LOCKED"}),
        ("keys", {"Needs you", "everywhere"}),
    ],
)
def test_each_part_of_the_reference_is_printed(topic: str, words: set[str], elsewhere: CommandLine) -> None:
    shown = elsewhere.ok("help", topic).out
    assert {word for word in words if word not in shown} == set()
    assert elsewhere.ok("help", topic, "--json").json
    assert elsewhere("help", topic, "more").status == 2


def test_an_editor_gets_a_schema_that_knows_every_setting(elsewhere: CommandLine) -> None:
    explained = elsewhere.ok("help", "config").out
    mine = elsewhere.ok("config", "schema").json
    usual = tomllib.loads(re.sub(r"(?m)^# (?=\w+ = )", "", elsewhere.ok("config", "show").out))
    for name, value in usual.items():
        assert name in explained
        known = mine["properties"][name].get("properties")
        assert known is None or set(value) <= set(known), name
    team = elsewhere.ok("config", "schema", "team").json
    assert {row.path.split(".")[0].partition("[")[0] for row in setting_rows()} <= set(team["properties"])
    assert team["properties"]["retention"]["properties"]["active_messages_max"]["type"] == "integer"
    assert elsewhere("config", "check", "team").status == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_installed_where_the_shell_looks(shell: str, elsewhere: CommandLine) -> None:
    mine = {"HOME": str(elsewhere.folder), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "ZDOTDIR": ""}
    said = elsewhere("completions", shell, "--install", env=mine).out
    written = Path(said.removeprefix("written: ").partition(";")[0])
    assert written.is_relative_to(elsewhere.folder)
    assert written.read_text() == elsewhere.ok("completions", shell).out
    assert elsewhere("completions", shell, "--install", "--read-only", env=mine).status == 5
