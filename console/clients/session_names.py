"""Names of sessions that joined all at once: each is a member of its own, known by its title or its folder."""

from __future__ import annotations

import fcntl
import os
import re
from itertools import count
from pathlib import Path

from team_console.console.clients.client_file import location_of
from team_console.console.clients.invocation import Invocation
from team_console.console.clients.join_receipts import JoinReceipt, keep_receipt
from team_console.console.clients.joined import has_joined, members_of_sessions
from team_console.console.clients.programs import client_of
from team_console.console.clients.quick import project_of
from team_console.console.clients.session_files import LEFT_OUT, name_files, name_of_session
from team_console.store.backends.open import open_team
from team_console.store.model.names import ALL, USER
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members
from team_console.store.settings.team_config import Agent

_LONGEST = 40
"""Characters of a title that become a name."""


def name_session(call: Invocation) -> str:
    """Choose the name of a session, which is a member of the team from then on; empty for none.

    Raises:
        OSError: Its name cannot be kept.
        TeamError: The store's own.
    """
    folder = name_files().folder
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # hooks of one session start at the same time
        known = name_of_session(call.session)
        return _give_name(call) if known is None else known


def _give_name(call: Invocation) -> str:
    client = client_of(call.data, call.client)
    folder = project_of(call.data, client.project_variable)
    record = client.record_of(call.session)
    title = text_in(call.data, "session_title") or (record.name if record is not None else "")
    name = location = ""
    if call.data.get("hook_event_name") != "SessionEnd" and not has_joined(Path(folder)):
        team = open_team(call.location)
        try:
            config, location = team.config(), location_of(team)
            taken = {*config.agents, config.lead, USER, ALL} - members_of_sessions(location)
            taken |= {one["name"] for _, one in name_files().all("") if one.get("team") == location}
            base = re.sub(r"[^a-z0-9]+", "-", (title or os.path.basename(folder)).lower()).strip("-")[:_LONGEST]
            base = base or "session"
            wanted = (f"{base}-{number}" if number > 1 or not title else base for number in count(1))
            name = next(name for name in wanted if name not in taken)
            if config.declared and name not in config.agents:
                add_members(Caller(team, config.lead), [Agent(name)])
                keep_receipt(JoinReceipt(name, location, each=True))
        finally:
            team.close()
    if name:
        name_files().write(call.session, {"name": name, "team": location})
    else:
        name_files().write(LEFT_OUT + call.session, {})
    return name
