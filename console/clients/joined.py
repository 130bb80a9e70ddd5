"""What has joined on this machine: by which files of clients, as whom their sessions act, and findings on them."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from team_console.console.clients.client import Client, Program
from team_console.console.clients.client_file import ClientFile, Joining, joining_of, location_of, read_client_settings
from team_console.console.clients.file_change import read_file
from team_console.console.clients.hook_lines import parse_hook_command
from team_console.console.clients.join_receipts import (
    JoinReceipt,
    receipt_of,
    receipts,
)
from team_console.console.clients.json_editing import NotEditable
from team_console.console.clients.programs import PROGRAMS
from team_console.console.clients.session_files import EVERY_SESSION
from team_console.console.clients.settings_part import SERVER, hooks_of, members_in
from team_console.store.backends.open import OWN_FOLDER
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.names import check_name
from team_console.store.settings.team_config import TeamConfig


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


def has_joined(project: Path) -> bool:
    """Return whether a join of its own says as whom sessions in this project act."""
    return any(found.files[0].members() for found in files_in(project))


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
    with suppress(TeamError, NotEditable, ValueError):
        settings = read_client_settings(path)
        calls = [parse_hook_command(hook.settings["command"]) for hook in hooks_of(settings, name)]
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
