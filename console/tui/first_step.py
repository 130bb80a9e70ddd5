"""The first step in an empty list: the command that lets an agent ask here, or starts the one that can."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from team_console.console.tui.screen_state import ScreenState
from team_console.store.model.names import USER, is_name
from team_console.store.model.safe import safe_line
from team_console.store.views.rows import (
    AgentState,
)
from team_console.widgets.text import Line


def first_step(situation: ScreenState, agent: str = "") -> str:
    """Return the command with which an agent joins, or with which one that joined is started, ready for a shell; empty
    where a name in it is not what can be shown of it.

    Args:
        agent: Who is to join; else one that has joined from the present folder, else the first agent there is.
    """
    agent, root = _first_agent(situation, agent), situation.root
    if situation.is_temporary:
        return ""
    if program := _start_commands(situation).get(agent):
        return program
    if safe_line(root) != root or not is_name(agent):
        return ""
    place = f"-t {shlex.quote(root)} " if root else ""
    return f"team-console {place}join {shlex.quote(agent)} --for claude"


def first_step_lines(situation: ScreenState, agent: str = "") -> tuple[Line, ...]:
    """Return what lets an agent ask here, and the key that copies it; none where there is none."""
    command = safe_line(first_step(situation, agent), 300)
    if not command or _is_anybody_running(situation, agent):
        return ()
    copies: Line = (("Y copies  ", "muted"), (command, "code"))
    agent = _first_agent(situation, agent)
    if agent in _start_commands(situation):
        words = f"{safe_line(agent, 64)} has joined. Start it in this folder; its requests appear here:"
        return (), ((words, "muted"),), copies
    then = "Then start claude in this folder: its requests appear here."
    return (), (("Let your Claude Code ask here:", "muted"),), copies, ((then, "muted"),)


def _start_commands(situation: ScreenState) -> Mapping[str, str]:
    return situation.reading.local.starts if situation.reading is not None else {}


def humans_of(situation: ScreenState) -> set[str]:
    """Return the names of humans: whoever looks, the lead and `user`."""
    view = situation.view
    return {USER} if view is None else {view.me, view.snapshot.config.lead, USER}


def _is_anybody_running(situation: ScreenState, agent: str) -> bool:
    """Return whether `agent` was heard of and is not gone; without a name whether any agent was."""
    known = (row for row in situation.roster if row.is_addressable)
    running = {row.name for row in known if row.state not in (AgentState.UNKNOWN, AgentState.STOPPED)}
    running -= humans_of(situation)
    return agent in running if agent else bool(running)


def _first_agent(situation: ScreenState, agent: str) -> str:
    """Return `agent`, else the first that has joined here, else the first there is; no human."""
    names = [row.name for row in situation.roster if row.is_addressable]
    joined = [name for name in names if name in _start_commands(situation)]
    humans = {"", *humans_of(situation)}
    return next((name for name in (agent, *joined, *names) if name not in humans), "helper")
