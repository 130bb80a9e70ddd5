"""Names of sessions that joined all at once: each is a member of its own, known by its title or its folder."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection
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
    """Give the session a name and keep it, or keep that it was left out; returns the name, empty for none.

    A session that ends takes none, nor one in a project where a join of its own says as whom sessions act.
    """
    client = client_of(call.data, call.client)
    folder = project_of(call.data, client.project_variable)
    if call.event_name == "SessionEnd" or has_joined(Path(folder)):
        name_files().write(LEFT_OUT + call.session, {})
        return ""
    record = client.record_of(call.session)
    title = text_in(call.data, "session_title") or (record.name if record is not None else "")
    team = open_team(call.location)
    try:
        config, location = team.config(), location_of(team)
        taken = {*config.agents, config.lead, USER, ALL} - members_of_sessions(location)
        taken |= {kept["name"] for _, kept in name_files().all("") if kept.get("team") == location}
        name = _free_name(title, folder, taken)
        if config.declared and name not in config.agents:
            add_members(Caller(team, config.lead), [Agent(name)])
            keep_receipt(JoinReceipt(name, location, each=True))
    finally:
        team.close()
    name_files().write(call.session, {"name": name, "team": location})
    return name


def _free_name(title: str, folder: str, taken: Collection[str]) -> str:
    """Return a name made of the title of a session, else of its folder with a number, that nobody has."""
    words = (title or os.path.basename(folder)).lower()
    base = re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:_LONGEST] or "session"
    if title and base not in taken:
        return base
    return next(name for number in count(2 if title else 1) if (name := f"{base}-{number}") not in taken)
