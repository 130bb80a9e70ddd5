"""Findings on joins: files of clients from which our part is gone, or whose hooks are of an earlier version."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace
from team_console.console.clients.client_file import read_client_settings
from team_console.console.clients.hook_lines import parse_hook_command
from team_console.console.clients.join_receipts import (
    JoinReceipt,
    receipt_of,
    receipts,
)
from team_console.console.clients.joined import (
    files_by_scope,
    files_of_join_all,
    first_files_in,
    folder_of_joined,
    is_unhooked,
)
from team_console.console.clients.joining import joining_of, location_of
from team_console.console.clients.json_editing import NotEditable
from team_console.console.clients.programs import PROGRAMS
from team_console.console.clients.session_files import EVERY_SESSION
from team_console.console.clients.settings_part import SERVER, hooks_of
from team_console.store.backends.open import OWN_FOLDER
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem, TeamError
from team_console.store.settings.team_config import TeamConfig


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
    for _, file in first_files_in(Path(location).parent):
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
