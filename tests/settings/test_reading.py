"""Settings: read with every mistake named, changed in their place, and whose they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from team_console.store.protocol.kinds import RequestKind
from team_console.store.settings.editing import SettingsEditError, add_member, change_member, remove_member
from team_console.store.settings.settings_file import parse_settings
from team_console.store.settings.table import SETTING_TABLE, ValueForm, every_setting
from team_console.store.settings.team_config import KINDS_WITH_PATIENCE, Agent, TeamConfig

from tests.equipment.cases import cases, constant
from tests.equipment.chronicle import Chronicle
from tests.equipment.command_line import CommandLine

PATH = Path("/nowhere/messenger-config.yaml")
GOOD = "team: crew\nlead: ceo\nagents:\n- name: ceo\n- name: a1\n"


def read(text: str) -> TeamConfig:
    return parse_settings(text.encode(), PATH)


def told(config: TeamConfig) -> list[tuple[str, int]]:
    return [(problem.code, problem.line) for problem in config.problems]


@cases
def test_a_wrong_value_is_told_with_its_line_and_the_rest_counts(line: str) -> None:
    config = read(GOOD + line + "\n")
    assert [(code, number) for code, number in told(config) if number == 6] == [(told(config)[0][0], 6)]
    assert [problem.severity for problem in config.problems] == ["error"]
    assert (config.name, config.lead, list(config.agents)) == ("crew", "ceo", ["ceo", "a1"])


@cases
def test_no_value_of_any_setting_keeps_the_team_from_being_read(value: str) -> None:
    for key in (key for setting in SETTING_TABLE for key in setting.keys):
        read(f"{key}: {value}\nlanguage: zh\n")


def test_a_patience_by_default_is_that_of_kinds_without_one_of_their_own() -> None:
    assert ("default", *RequestKind) == KINDS_WITH_PATIENCE
    config, usual = read("overdue_seconds: {default: 7, browser: 8}"), read("").overdue_seconds
    known = {kind: config.overdue_seconds.get(kind) for kind in KINDS_WITH_PATIENCE}
    own = {**usual, "default": 7.0, "browser": 8.0}
    assert known == {kind: own.get(kind) for kind in KINDS_WITH_PATIENCE}
    assert [kind for kind in RequestKind if kind not in own] == ["plan", "clarification", "debug"]
    story = Chronicle(config=config)
    story.plan("file-manager")
    assert [row.state for after in (6, 8) for row in story.view(after=after).requests] == ["open", "overdue"]


def test_a_member_that_is_wrong_does_not_take_the_others_along() -> None:
    config = read(
        "agents:\n- name: a1\n  rolle: slave\n- name: ../x\n- {role: temp}\n- name: a1\n- name: a2\n  role: boss\n"
    )
    assert told(config) == [
        ("CONFIG_WARNING", 3),
        *(("BAD_CONFIG", line) for line in (4, 5, 6, 8)),
    ]
    assert dict(config.agents) == {"user": Agent("user", "master"), "a1": Agent("a1"), "a2": Agent("a2")}


@cases
def test_settings_that_are_not_yaml_lose_only_the_part_that_is_not(broken: str, line: int) -> None:
    config = read(f"team: crew\nlead: ceo\n{broken}\nagents:\n- name: a1\nretention:\n  archive_after_days: 3\n")
    assert config.problems[0].code == "BAD_CONFIG"
    assert config.problems[0].line == line
    assert config.name == "crew"
    assert config.lead == "ceo"


def test_aliases_and_merged_keys_count_and_do_not_multiply() -> None:
    config = read("agents:\n- &base\n  name: a1\n  role: slave\n- <<: *base\n  name: a2\n")
    assert config.agents["a2"] == Agent("a2", "slave")
    assert config.problems == ()
    names = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 9))
    read(f"x0: &x0 [a]\n{names}spawn: *x8\n")


LINES = constant(__file__, "LINES", tuple[str, ...])


def test_settings_of_the_simple_form_are_read_as_pyyaml_reads_them() -> None:
    draw = Random(42)
    for _ in range(2000):
        rest = "\n".join(draw.choices(LINES, k=draw.randint(1, 7)))
        # A comment behind a value is not of the simple form.
        assert read(f"{rest}\nteam: crew\n") == read(f"{rest}\nteam: crew # by PyYAML\n"), rest


@cases
def test_what_is_no_public_key_is_told_with_its_line_and_permits_nothing(line: str, why: str) -> None:
    config = read(f"lead: ceo\nhumans:\n  ceo:\n    keys:\n    - '{line}'\n")
    (problem,) = config.problems
    assert (problem.code, problem.severity, problem.line) == ("BAD_KEY", "error", 5)
    assert why in problem.message
    assert (config.verdicts, config.humans["ceo"].keys) == ("signed", ())


SET = constant(__file__, "SET", dict[str, str])


def test_every_setting_of_the_table_can_be_set() -> None:
    parts = (ValueForm.SECTION, ValueForm.ENTRIES, ValueForm.MEMBERS, ValueForm.VALUES)
    assert [*SET] == [path for path, setting in every_setting() if setting.form not in parts and path != "key_file"]
    for path, text in SET.items():
        config = read(text)
        assert (config.problems, config == read("")) == ((), False), path


STYLES = constant(__file__, "STYLES", dict[str, str])
EMPTY = (
    "",
    "# only words\n",
    "lead: ceo\n",
    "lead: ceo\nagents: []  # nobody\n",
    "agents:\nlead: ceo\n",
    "{}\n",
    "agents: ~\n",
)
NEW = Agent("new", role="temp", plan_mode_required=True, deliver=("./run", "a b", "it's"))


def members(text: str) -> dict[str, Agent]:
    config = parse_settings(text.encode(), PATH)
    assert config.problems == ()
    return {name: agent for name, agent in config.agents.items() if name not in ("ceo", "user")}


@pytest.mark.parametrize("text", [*STYLES.values(), *EMPTY])
def test_a_new_member_is_added_and_nothing_is_lost(text: str) -> None:
    after = add_member(text, NEW)
    assert members(after) == {**members(text), "new": NEW}
    left = [line for line in text.splitlines() if line.strip() and line not in after.splitlines()]
    assert len(left) <= 1  # the line of a list in brackets, with the member in it
    assert [word for word in text.split() if "#" in word] == [word for word in after.split() if "#" in word]


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_adding_and_removing_gives_the_text_there_was(text: str) -> None:
    after = remove_member(add_member(text, NEW), "new")
    assert after.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize(
    "fields",
    [
        {"role": "resident"},
        {"plan_mode_required": True},
        {"deliver": ("run", "x y"), "deliver_timeout": 5.5},
        {"may_message": frozenset({"ceo", "a3"}), "may_send": frozenset()},
    ],
)
def test_a_field_is_changed_and_taken_away_again(text: str, fields: Mapping[str, Any]) -> None:
    written = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in fields.items()}
    after = change_member(text, "a1", written)
    before = members(text)
    changed = members(after)
    assert {key: getattr(changed["a1"], key) for key in fields} == fields
    assert {name: agent for name, agent in changed.items() if name != "a1"} == {
        name: agent for name, agent in before.items() if name != "a1"
    }
    gone = members(change_member(after, "a1", dict.fromkeys(fields)))["a1"]
    assert {key: getattr(gone, key) for key in fields} == {key: getattr(Agent("a1"), key) for key in fields}


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n", "agents: [\n", "lead: ceo\n"])
def test_what_cannot_be_edited_says_so(text: str) -> None:
    with pytest.raises(SettingsEditError):
        remove_member(text, "a1")


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


def settings_of(team: CommandLine) -> Path:
    return team.folder / "messenger-config.yaml"


def codes(team: CommandLine) -> set[tuple[str, str]]:
    return {(item["code"], item["severity"]) for item in team("check --json").json["findings"]}


@ROOT_ONLY
@pytest.mark.parametrize("which", ["file", "folder"])
def test_settings_of_another_user_run_no_command(team: CommandLine, which: str) -> None:
    team.ok("member set file-manager --deliver 'touch RAN'")
    team.ok("send --to file-manager --summary 'Export the report of this week' --content x")
    os.chown(settings_of(team) if which == "file" else team.folder, 65534, 65534)
    team("deliver")
    assert not (team.folder / "RAN").exists()
    assert ("CONFIG_UNTRUSTED", "warning") in codes(team)


@ROOT_ONLY
def test_settings_of_another_user_without_commands_are_nothing_to_report(team: CommandLine) -> None:
    os.chown(settings_of(team), 65534, 65534)
    assert codes(team) == set()


def test_new_settings_are_for_their_owner_to_write_whatever_the_umask(elsewhere: CommandLine) -> None:
    before = os.umask(0)
    try:
        elsewhere.ok("init crew")
    finally:
        os.umask(before)
    assert (elsewhere.folder / "crew/messenger-config.yaml").stat().st_mode & 0o022 == 0
