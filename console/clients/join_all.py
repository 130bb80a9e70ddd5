"""Every session at once: those that run and are chosen, and all that start from now on, each as a member of its own."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Collection, Sequence
from itertools import count
from pathlib import Path

from team_console.console.clients.client_files import Running
from team_console.console.clients.join import (
    CLIENTS,
    Joined,
    has_joined,
    joining_of,
    joins,
    leavings,
    location_of,
    take_out_steps,
    write_steps,
)
from team_console.console.clients.place import Joining, Place
from team_console.console.clients.quick import Invocation
from team_console.console.clients.receipts import Receipt, forget_receipt, keep_receipt, member_key, receipts
from team_console.console.clients.running import facts_of_session
from team_console.console.clients.session_files import EACH, RUNNING, name_of, names
from team_console.store.backends.open import open_team
from team_console.store.model.home import home
from team_console.store.model.names import ALL, USER
from team_console.store.protocol.parsing import text_in
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, remove_members
from team_console.store.settings.team_config import Agent

_LONGEST = 40
"""Characters of a title that become a name."""


def join_all(caller: Caller, sessions: Sequence[Running], chosen: Collection[str], *, write: bool) -> Joined:
    """Let the chosen sessions that run, and all that start from now on, join under names of their own.

    Args:
        sessions: Those that run.
        chosen: Ids of those of them that join.

    Raises:
        TeamError: As for `join`.
    """
    joining = joining_of(caller.team, EACH, home())
    steps, _ = joins(_places(joining), joining)
    if write:
        for one in sessions:
            if one.session not in chosen:
                names().write(one.session, {"name": ""})
            elif one.joins_at_once:  # its hooks in the user's settings answer
                names().write(RUNNING + one.session, {})
        write_steps(steps)
    notes = [f"{one.line}: {'joins' if one.session in chosen else 'is left out'}" for one in sessions]
    notes += [
        "Claude Code has joined in about 3 seconds, each session by a name of its own that its title shows.",
        "Codex joins when a session starts or is resumed, and asks first whether it may run these hooks.",
        "Every session that starts from now on joins, too.",
        "Take it out again: team-console leave --all",
    ]
    return Joined("join", EACH, False, tuple(change for change, _ in steps), tuple(notes), write)


def leave_all(caller: Caller, *, write: bool) -> Joined:
    """Take out again what `join_all` put into the files of clients, and the members that it made.

    Raises:
        TeamError: As for `leave`.
    """
    location, known = location_of(caller.team), caller.team.config().agents
    steps, notes = leavings(_places(Joining(EACH, location, ("",), home(), leaves=True)))
    made = _members(location)
    removes = sorted(made & known.keys())
    if write:
        take_out_steps(steps)
        if removes:
            notes += remove_members(caller, removes).warnings
        for one in made:
            forget_receipt(member_key(location, one))
        shutil.rmtree(names().folder, ignore_errors=True)
    if not (steps or removes):
        notes.insert(0, "no session has joined by --all; nothing is to be taken out")
    if steps:
        notes.append("Sessions that run now keep what they have read until they end.")
    return Joined("leave", EACH, bool(removes), tuple(steps), tuple(notes), write)


def _places(joining: Joining) -> list[Place]:
    return [place for client in CLIENTS.values() for place in client.every_session(joining)]


def _members(location: str) -> set[str]:
    """Return the members that were made, one for each session."""
    return {one.member for one in receipts() if one.each and not one.file and one.team == location}


def name_session(call: Invocation) -> str:
    """Choose the name of a session, which is a member of the team from then on; empty for none.

    Raises:
        OSError: Its name cannot be kept.
        TeamError: The store's own.
    """
    folder = names().folder
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # hooks of one session start at the same time
        known = name_of(call.session)
        return _give_name(call) if known is None else known


def _give_name(call: Invocation) -> str:
    facts = facts_of_session(call.session)
    title = text_in(call.data, "session_title") or str(facts.get("name") or "")
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or text_in(call.data, "cwd")
    name = location = ""
    if call.data.get("hook_event_name") != "SessionEnd" and not has_joined(Path(folder)):
        team = open_team(call.location)
        try:
            config, location = team.config(), location_of(team)
            taken = {*config.agents, config.lead, USER, ALL} - _members(location)
            taken |= {one["name"] for _, one in names().all("") if one.get("team") == location}
            base = re.sub(r"[^a-z0-9]+", "-", (title or os.path.basename(folder)).lower()).strip("-")[:_LONGEST]
            base = base or "session"
            wanted = (f"{base}-{number}" if number > 1 or not title else base for number in count(1))
            name = next(name for name in wanted if name not in taken)
            if config.declared and name not in config.agents:
                add_members(Caller(team, config.lead), [Agent(name)])
                keep_receipt(Receipt(name, location, each=True))
        finally:
            team.close()
    names().write(call.session, {"name": name, "team": location})
    return name
