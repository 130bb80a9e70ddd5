"""What happened before the demo opens: everybody's own verbs, called by a clock that stands in the past."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec import convert
from team_console.console.demo.story import STORY, Values
from team_console.store.api import AgentClient, Request
from team_console.store.backends.open import QUEUE_NAME, open_team
from team_console.store.model.clock import utc_now
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import clear
from team_console.store.settings.editing import write_new_settings
from team_console.store.settings.team_config import CONFIG_NAME, Agent

ABSENT = "architect"
"""The member without a life of its own; its messages go through a command that fails four times, then works."""
TRIES = "tries.json"
"""Beside the team's folder: how often each message was handed to that command."""
_PLANNER = "task-manager"


def build(root: Path) -> None:
    """Make the team as the demo opens: a day of archived talk, and a plan that waits."""
    root.mkdir()
    agents = (Agent(STORY.lead, role="master"), *convert(STORY.agents, tuple[Agent, ...]))
    write_new_settings(root / CONFIG_NAME, team=STORY.team, lead=STORY.lead, agents=agents)
    (root / QUEUE_NAME).write_text("messages: []\n", encoding="utf-8")
    _give_command(root)
    past = _Past(root)
    past.talk_of_yesterday()
    past.at(60)
    clear(Caller(past.team, STORY.lead), older_than_days=0)
    past.hand_in(1, STORY.lists["plans"][0])
    past.team.close()


class _Past:
    """The team at moments of the past; they are given in minutes ago."""

    def __init__(self, root: Path) -> None:
        self._now = self._moment = utc_now()
        self.team = open_team(str(root), clock=lambda: self._moment)

    def at(self, minutes: float, name: str = STORY.lead) -> AgentClient:
        """Set the clock and give a member the seat."""
        self._moment = self._now - timedelta(minutes=minutes)
        return AgentClient(self.team, name)

    def hand_in(self, minutes: float, plan: Values) -> Request:
        """Hand in a plan of the story."""
        return self.at(minutes, _PLANNER).submit_plan(plan["content"], summary=plan["summary"])

    def talk_of_yesterday(self) -> None:
        """Talk, and a plan that is approved."""
        start, talk = 24 * 60, STORY.lists["chatter"]
        for number, words in enumerate(talk):
            minutes, sender, to = start - number * 47, words["sender"], words["to"]
            self.at(minutes, sender).send(to, words["content"], summary=words["summary"])
            reply = STORY.fitting("replies", to)[0]["words"]
            self.at(minutes - 4, to).send(sender, reply, summary=f"Re: {words['summary']}"[:80])
        for name in dict.fromkeys(words["to"] for words in talk):
            self.at(start - 290, name).receive()
        asked = self.hand_in(start - 300, STORY.lists["plans"][2])
        self.at(start - 306).approve(asked.look())
        self.at(start - 307, _PLANNER).receive()


def carried(name: str, body: Mapping[str, Any]) -> str:
    """Return the content of a sprint message."""
    return f"{name}: {json.dumps({'msg_type': name, **body}, ensure_ascii=False)}"


def _give_command(root: Path) -> None:
    """Settings written by `init` name no commands; a JSON list is YAML as well."""
    command = [sys.executable, "-P", str(Path(__file__).with_name("failing_command.py")), str(root.parent / TRIES)]
    path = root / CONFIG_NAME
    entry = f"- name: {ABSENT}\n  role: member\n"
    text = path.read_text(encoding="utf-8").replace(entry, f"{entry}  deliver: {json.dumps(command)}\n")
    path.write_text(text, encoding="utf-8")
