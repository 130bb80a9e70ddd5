"""Makes the team as the demo opens: what happened before is done by a clock that stands in the past."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec import convert
from team_console.console.demo.player import facts_of, first_message, perform
from team_console.console.demo.story import STORY
from team_console.store.api import AgentClient
from team_console.store.backends.open import open_team
from team_console.store.model.clock import utc_now
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import clear
from team_console.store.settings.editing import change_member, write_new_settings
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME, Agent

ABSENT = "architect"
"""The member without a life of its own; its messages go through a command that fails four times, then works."""
TRIES = "tries.json"
"""Beside the team's folder: how often each message was handed to that command."""


def build(root: Path) -> None:
    """Make the team as the demo opens: a day of archived talk, and a plan that waits."""
    root.mkdir()
    agents = (Agent(STORY.lead, role="master"), *convert(STORY.agents, tuple[Agent, ...]))
    settings = root / CONFIG_NAME
    write_new_settings(settings, team=STORY.team, lead=STORY.lead, agents=agents)
    command = [sys.executable, "-P", str(Path(__file__).with_name("failing_command.py")), str(root.parent / TRIES)]
    changed = change_member(settings.read_text(encoding="utf-8"), ABSENT, {"deliver": command})
    settings.write_text(changed, encoding="utf-8")
    (root / QUEUE_NAME).write_text("messages: []\n", encoding="utf-8")
    now = moment = utc_now()
    team = open_team(str(root), clock=lambda: moment)
    values: dict[str, Any] = {}
    for act in STORY.past:
        moment = now - timedelta(minutes=act.ago)
        done = perform(AgentClient(team, act.agent), act, {**values, "it": STORY.lists["plans"][act.of]})
        if act.name:
            values[act.name] = facts_of(first_message(done))
    clear(Caller(team, STORY.lead), older_than_days=0)
    team.close()
