"""Members changed in a settings file: what changes is the member, and every other character stays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from team_console.store.settings.editing import SettingsEditError, add_member, change_member, remove_member
from team_console.store.settings.settings_file import parse_settings
from team_console.store.settings.team_config import Agent

from tests.equipment.cases import constant

PATH = Path("/nowhere/messenger-config.yaml")
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
