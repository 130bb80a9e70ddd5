"""What has joined on this machine: by which files, as whom sessions act and are named, and findings on them."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from team_console.console.clients.client import Client, Program
from team_console.console.clients.client_file import (
    ClientFile,
    Joining,
    JoinReceipt,
    joining_of,
    keep_receipt,
    location_of,
    read_client_settings,
    receipt_of,
    receipts,
)
from team_console.console.clients.file_change import read_file
from team_console.console.clients.hook_invocation import Invocation
from team_console.console.clients.json_editing import NotEditable
from team_console.console.clients.programs import PROGRAMS, client_of
from team_console.console.clients.quick_answer import project_of
from team_console.console.clients.session_files import EVERY_SESSION, LEFT_OUT, name_files, name_of_session
from team_console.console.clients.settings_part import SERVER, hooks_of, members_in
from team_console.store.backends.open import OWN_FOLDER, open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.names import ALL, USER, check_name
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members
from team_console.store.settings.team_config import Agent, TeamConfig


class ScopeFiles(NamedTuple):
    """The files by which a member joins in a program, for one of its scopes.

    Attributes:
        scope: `project`, `local` or `user`.
        files: At least one; the first says who acts.
    """

    program: Program
    scope: str
    files: list[ClientFile]


def files_by_scope(joining: Joining) -> Iterator[ScopeFiles]:
    """Yield the files of each program for each of its scopes."""
    for program in PROGRAMS.values():
        for scope in program.scopes:
            yield ScopeFiles(program, scope, program.files(scope, joining))


def files_of_join_all(joining: Joining) -> list[ClientFile]:
    """Return the files of all programs by which every session joins."""
    return [file for program in PROGRAMS.values() for file in program.files_for_all(joining)]


def files_in(project: Path) -> Iterator[ScopeFiles]:
    """Yield the files by which members join in this project; those that count in every project are left out."""
    for found in files_by_scope(Joining("", "", ("",), project)):
        if found.scope != "user":
            yield found


# Who has joined.


def joined_by(team: Team, name: str, project: Path) -> ScopeFiles | None:
    """Return the program and the scope by which a member has joined from a project; None when it has not."""
    joining = joining_of(team, check_name(name, field="name"), project)
    for found in files_by_scope(joining):
        file = found.files[0]
        known = receipt_of(str(file.path))
        is_known = known is not None and (known.member, known.team) == (name, joining.location)
        if is_known or name in file.members():
            return found
    return None


def members_started_in(team: Team, project: Path) -> dict[str, str]:
    """Return the members of a team as which sessions act that are started in this project -> the program to start."""
    found = {}
    for program, _, (file, *_) in files_in(project):
        known = receipt_of(str(file.path))
        if isinstance(program, Client) and (known is None or known.team == location_of(team)):
            found.update(dict.fromkeys(file.members(), program.word))
    return found


def members_of_sessions(location: str) -> set[str]:
    """Return the members of a team that `join --all` made, one for each session."""
    return {receipt.member for receipt in receipts() if receipt.each and not receipt.file and receipt.team == location}


# What is left of a join in its file.

_OF_CLIENTS = frozenset((".claude", ".codex", ".qwen"))
"""Folders within a project in which clients have their settings."""


def folder_of_joined(path: Path) -> Path:
    """Return the project, or the home, of a file of a client."""
    return path.parent.parent if path.parent.name in _OF_CLIENTS else path.parent


def has_our_part(receipt: JoinReceipt, events: Sequence[str] = ()) -> bool:
    """Return whether the file of a join says who acts, and calls our hook for these events."""
    path = Path(receipt.file)
    try:
        if path.suffix != ".json":
            return SERVER in (read_file(path, Path(path.anchor)) or "")
        settings = read_client_settings(path)
        missing = Counter(events) - Counter(hook.event for hook in hooks_of(settings, receipt.member))
        return receipt.member in members_in(settings) and not missing
    except (TeamError, NotEditable):
        return False


def is_unhooked(receipt: JoinReceipt) -> bool:
    """Return whether our part is gone from a file by which somebody joined."""
    return not has_our_part(receipt, receipt.events)


# Findings: files from which our part is gone, or whose hooks are of an earlier version.


def join_problems(team: Team, config: TeamConfig) -> list[Problem]:
    """Return findings on the joins of a team on this machine; `config` are its settings as far as they are known."""
    joins = _joins_of(team)
    if not joins:
        return []
    found = [problem for program in PROGRAMS.values() for problem in program.problems()]
    for join in joins:
        if not folder_of_joined(Path(join.file)).exists():  # moved away, or deleted: nothing runs there
            continue
        is_member = join.member == EVERY_SESSION or not config.declared or join.member in config.agents
        code = "UNHOOKED"
        if join.file and is_unhooked(join):
            why = "joined by this file, from which our part is gone"
        # guard: hooks-of-no-member-named
        elif join.events and not is_member:
            why = "joined by this file and is no member any more, so its hooks do nothing"
        else:
            code, why = "OLD_HOOKS", _words_of_old_hooks(team, join)
        if why:
            hint = "Join again, or leave: team-console help join"
            found.append(Problem(code, "warning", join.file, f"{join.member} {why}", hint))
    return found


def _joins_of(team: Team) -> list[JoinReceipt]:
    """Return the joins of a team on this machine; of a project that was moved, or copied, its files tell."""
    location = location_of(team)
    found = [receipt for receipt in receipts() if receipt.team == location]
    if Path(location).name != OWN_FOLDER:
        return found
    for _, _, (file, *_) in files_in(Path(location).parent):
        # guard: hooks-of-a-moved-project-named
        if receipt_of(str(file.path)) is None:
            members = sorted(file.members() - {EVERY_SESSION})
            found += (JoinReceipt(member, location, str(file.path)) for member in members)
    return found


def _words_of_old_hooks(team: Team, receipt: JoinReceipt) -> str:
    """Return what is wrong with hooks that an earlier version wrote, or one in another place; empty for nothing."""
    path, name = Path(receipt.file), receipt.member
    if path.suffix != ".json":
        return ""
    with suppress(TeamError, NotEditable):
        settings = read_client_settings(path)
        calls = [hook.call for hook in hooks_of(settings, name)]
        program = next((call.program for call in calls if call.program), ())
        held = next((call.held for call in calls if call.held), ())
        if not program:  # no hooks: a server alone
            return ""
        if shutil.which(program[0]) is None:
            return f"joined by this file, whose hooks call a program that is gone: {program[0]}"
        # What a join by the same program, with the same rules, would write there now.
        joining = replace(
            joining_of(team, name, folder_of_joined(path)),
            program=program,
            hold=held,
            has_server=f'"{SERVER}"' in json.dumps(settings),
        )
        if name == EVERY_SESSION:
            files = files_of_join_all(joining)
        else:
            files = [file for found in files_by_scope(joining) for file in found.files]
        file = next((file for file in files if file.path == path), None)
        # guard: hooks-of-an-earlier-version-named
        if file is not None and file.is_old(joining):
            return (
                "joined by this file, whose hooks are not those of a join now: they cost time, or refuse by themselves"
            )
    return ""


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
    if call.event_name == "SessionEnd" or any(found.files[0].members() for found in files_in(Path(folder))):
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
