"""`help`: of a verb, of all settings, of one; the README has the same table."""

from __future__ import annotations

from pathlib import Path

from team_console.console.cli.manual.settings_reference import EXAMPLE, setting_rows
from team_console.store.settings.reference import every_setting
from team_console.store.settings.settings_file import parse

from tests.conftest import CommandLine
from tests.readme import settings


def test_help_alone_is_the_overview_and_of_a_verb_its_usage(elsewhere: CommandLine) -> None:
    assert elsewhere.ok("help").out == elsewhere.ok("--help").out
    assert elsewhere.ok("help", "send").out == elsewhere.ok("send", "--help").out
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
    config = parse(EXAMPLE.encode(), Path("/nowhere/messenger-config.yaml"))
    assert config.problems == ()
    assert config.agents["developer"].plan_mode_required
    assert config.routes[0].key == "analyst_to_pm"
