"""Joining and leaving: what is written into files of clients, and kept of it, so that a leave takes out that alone."""

from __future__ import annotations

import fcntl
import re
import shlex
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.client import Program, Running
from team_console.console.clients.client_file import (
    ClientFile,
    Joining,
    JoinReceipt,
    JoinStep,
    forget_receipt,
    joining_of,
    keep_receipt,
    location_of,
    member_key,
    receipt_of,
    receipts,
)
from team_console.console.clients.file_change import FileChange, FileRefused, write_change
from team_console.console.clients.joined import (
    files_by_scope,
    files_of_join_all,
    folder_of_joined,
    has_our_part,
    members_of_sessions,
)
from team_console.console.clients.programs import PROGRAMS
from team_console.console.clients.session_files import EVERY_SESSION, LEFT_OUT, name_files
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home, state_folder
from team_console.store.model.names import USER, check_name
from team_console.store.model.optional_packages import install_line, is_installed
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, remove_members, set_member
from team_console.store.settings.team_config import Agent


class JoinOutcome(Struct, frozen=True):
    """What a join or a leave did, or would do.

    Attributes:
        action: `join` or `leave`.
        name: Who joined or left.
        member: Whether the member was put into the team's settings, or taken out of them.
        files: What became of each file.
        notes: What the user should know, a line each.
        written: Whether it was done, and not only shown.
    """

    action: str
    name: str
    member: bool
    files: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()
    written: bool = True


@contextmanager
def one_join_at_a_time(*, write: bool) -> Iterator[None]:
    """Let no other join or leave of this user change files in the block; a block that writes nothing waits for none.

    Where no lock can be kept, the block runs without.

    Two that begin at once would each not see what the other makes: one that fails then would take its team away.
    """
    with ExitStack() as held:
        if write:
            with suppress(OSError):
                state_folder().mkdir(parents=True, exist_ok=True)
                lock = held.enter_context(open(state_folder() / "join.lock", "a", encoding="utf-8"))
                # guard: one-join-at-a-time
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def join(
    caller: Caller,
    agent: Agent,
    client: Program,
    scope: str,
    *,
    project: Path,
    write: bool,
    hold: Sequence[str] = (),
    location: str | None = None,
) -> JoinOutcome:
    """Make `agent` a member of the team, and write what the client needs to act as it.

    Everything is read and checked before anything is written. Again, it changes nothing.

    Args:
        write: False only shows.
        hold: Rules by which calls wait for a human whether or not one is there: what nobody decides is a no.
        location: What the files name, where that is not the location of the team.

    Raises:
        TeamError: `INVALID_NAME`, `NOT_PERMITTED` for the lead, for settings that are another member's, and for files
            that have to be changed by hand; `USAGE`.
    """
    config, name = caller.team.config(), check_name(agent.name, field="name")
    agent = replace(agent, name=name)
    if name in (config.lead, USER):
        text = f"{name} is the human's seat in team {config.name}, and no agent acts as it"
        raise TeamError(Code.NOT_PERMITTED, text, "Choose a name for the agent: team-console join NAME --for ...")
    if scope not in client.scopes:
        text = f"--{scope}: {client.word} has no such file"
        raise TeamError(Code.USAGE, text, "Join in a project, or copy what --print shows.")
    if hold and not client.can_hold(hold):
        text = f"--hold: {client.word} has no rule of its own that says this"
        raise TeamError(Code.USAGE, text, "For example: --hold push --hold delete")
    if client.needs_server and not is_installed("mcp", "pydantic"):
        text = f"the MCP server, which is all that {client.word} needs, lacks a package"
        raise TeamError(Code.USAGE, text, f"Install it with: {install_line('mcp')}")
    joining = replace(joining_of(caller.team, name, project, location), hold=tuple(hold))
    plan = plan_join(client.files(scope, joining), joining)
    _refuse_other_scopes(client, scope, joining)
    adds = config.declared and name not in config.agents
    if write:
        if adds:
            add_members(caller, [agent])
            keep_receipt(JoinReceipt(name, joining.location))
        elif agent.ask_for is not None:
            set_member(caller, name, {"ask_for": agent.ask_for})
        write_joins(plan.steps)
    if all(change.word == "unchanged" for change in plan.changes):
        notes = [f"{name} has joined from here before; nothing changes in its files"]
    else:
        notes = [*client.notes_for_user(scope, joining)]
    notes += plan.left_out
    if client.asks:
        rules = config.asked_for(name) if agent.ask_for is None else agent.ask_for
        notes += _words_of_rules(name, rules, hold)
    if client.offers_tools and not joining.has_server:
        notes.append(f"Its tools (MCP) need one more package: {install_line('mcp')}; then join again")
    notes += _words_of_old_member(agent, config.agents.get(name, agent))
    return JoinOutcome("join", name, adds, plan.changes, tuple(notes), write)


def _words_of_rules(name: str, rules: Sequence[str], hold: Sequence[str]) -> list[str]:
    """Return lines on what the human is asked for, and what is held for them."""
    asked = ", ".join(rule for rule in rules if rule not in hold) or "nothing"
    lines = [f"You ask for: {asked}. Another choice: team-console join {name} --ask-for RULE"]
    if hold:
        held = ", ".join(hold)
        lines.append(f"Held until you decide, console or not: {held}; a hook that fails or ends is a no there.")
    return lines


def _words_of_old_member(agent: Agent, old: Agent) -> list[str]:
    """Return a line on what a join would change of a member that was there before, which it does not."""
    words = f" --role {agent.role}" if agent.role not in ("member", old.role) else ""
    words += " --plan" if agent.plan_mode_required and not old.plan_mode_required else ""
    if not words:
        return []
    text = f"{agent.name} was a member before and stays as it was, without{words}"
    return [f"{text}; to change it: team-console member set {agent.name}{words}"]


def join_all(caller: Caller, sessions: Sequence[Running], chosen: Collection[str], *, write: bool) -> JoinOutcome:
    """Let the chosen sessions that run, and all that start from now on, join under names of their own.

    Args:
        sessions: Those that run.
        chosen: Ids of those of them that join.

    Raises:
        TeamError: As for `join`.
    """
    joining = joining_of(caller.team, EVERY_SESSION, home())
    plan = plan_join(files_of_join_all(joining), joining)
    if write:
        for running in sessions:
            if running.session not in chosen:
                name_files().write(LEFT_OUT + running.session, {})
        write_joins(plan.steps)
    notes = [f"{running.line}: {'joins' if running.session in chosen else 'is left out'}" for running in sessions]
    notes += [
        *(program.note_for_all for program in PROGRAMS.values() if program.note_for_all),
        "Every session that starts from now on joins, too.",
        "Take it out again: team-console leave --all",
    ]
    return JoinOutcome("join", EVERY_SESSION, False, plan.changes, tuple(notes), write)


def leave(caller: Caller, name: str, *, project: Path, write: bool) -> JoinOutcome:
    """Take out again what joins put into the files of clients and the team's settings, and nothing else.

    Args:
        name: Who leaves; `EVERY_SESSION` for what `join_all` put there, and the members that it made.

    Raises:
        TeamError: `INVALID_NAME`, `NOT_PERMITTED` for files that have to be changed by hand.
    """
    location, members = location_of(caller.team), caller.team.config().agents
    joining = Joining(name, location, ("",), project.absolute(), leaves=True)
    if name == EVERY_SESSION:
        files, added = files_of_join_all(joining), members_of_sessions(location)
    else:
        files = [file for found in files_by_scope(joining) for file in found.files]
        is_added = receipt_of(member_key(location, name)) is not None
        added = {check_name(name, field="name")} if is_added else set()
    of_other_teams = {file.path: team for file in files if (team := file.other_team(joining))}
    changes, unread = plan_leave(list({file.path: file for file in files if file.path not in of_other_teams}.values()))
    elsewhere = _joined_elsewhere(name, location, {file.path for file in files})
    # guard: member-stays-while-hooks-do
    removed = sorted(added & members.keys()) if not elsewhere else []
    notes = [*unread, *(f"{path} is of another team, and stays: {team}" for path, team in of_other_teams.items())]
    if write:
        write_leaves(changes)
        if removed:
            notes += remove_members(caller, removed).warnings
        for member in added if not elsewhere else ():
            forget_receipt(member_key(location, member))
        if name == EVERY_SESSION:
            shutil.rmtree(name_files().folder, ignore_errors=True)
    if not (changes or removed):
        who = "no session has joined by --all" if name == EVERY_SESSION else f"{name} has not joined from here"
        notes.insert(0, f"{who}; nothing is to be taken out")
    also = ", too," if changes else ""
    notes += [f"{name} has joined in {folder}{also} and stays a member until it leaves there" for folder in elsewhere]
    notes += [f"Next: team-console leave {name} --in {shlex.quote(str(folder))}" for folder in elsewhere]
    if name in members and not (removed or elsewhere):
        notes.append(f"{name} was a member before it joined and stays one")
    if changes:
        notes.append("Sessions that run now keep what they have read until they end.")
    return JoinOutcome("leave", name, bool(removed), tuple(changes), tuple(notes), write)


def _joined_elsewhere(name: str, location: str, looked_at: Collection[Path]) -> list[Path]:
    """Return the projects by whose files sessions on this machine act as a member, those that were looked at left out.

    Args:
        looked_at: Files; a receipt may name one of them by a link.
    """
    folders = set()
    for receipt in receipts():
        path = Path(receipt.file)
        is_of_member = receipt.file and (receipt.member, receipt.team) == (name, location)
        if is_of_member and not {path, path.resolve()}.intersection(looked_at) and has_our_part(receipt):
            folders.add(folder_of_joined(path))
    return sorted(folders)


def _refuse_other_scopes(client: Program, scope: str, joining: Joining) -> None:
    """Refuse to join where settings of another scope have another member: a client runs the hooks of all scopes, so
    each session would act as both, and ask everything twice.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    for found in files_by_scope(joining):
        file = found.files[0]
        others = file.members() - {joining.name, EVERY_SESSION}
        if others and found.program is client and found.scope != scope:
            text = f"sessions here act as {min(others)} already, by {file.path}"
            raise TeamError(Code.NOT_PERMITTED, text, f"First: team-console leave {min(others)}")


# Steps that `join`, `leave` and their forms for every session are made of.


class JoinPlan(NamedTuple):
    """All changes by which a member joins, and lines on what was left out of them."""

    steps: list[JoinStep]
    left_out: list[str]

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """What becomes of each file."""
        return tuple(step.change for step in self.steps)


def plan_join(files: Sequence[ClientFile], joining: Joining) -> JoinPlan:
    """Return the changes by which a member joins: nothing is written unless every one that it needs can be made.

    Raises:
        TeamError: `NOT_PERMITTED`, also for a path whose name is no text: the files of clients, which have to name it,
            are UTF-8.
    """
    for path in (joining.location, *joining.program):
        if re.search("[\ud800-\udfff]", path):
            text = f"{path}: this name is not UTF-8, so the settings of a client cannot hold it"
            raise TeamError(Code.NOT_PERMITTED, text, "Rename the folder; nothing was written.")
    plan = JoinPlan([], [])
    for file in files:
        try:
            plan.steps.append(file.join_step(joining))
        except FileRefused as error:
            if not file.is_optional:
                raise
            plan.left_out.append(f"The MCP server was left out: {error.message}")
    return plan


def write_joins(steps: Sequence[JoinStep]) -> None:
    """Write what joins, and keep a receipt of it, with the folders that were made for a file."""
    for change, receipt in steps:
        if change.word != "unchanged":
            made = [str(folder) for folder in change.path.parents if not folder.exists()]
            write_change(change)
            keep_receipt(replace(receipt, folders=[*receipt.folders, *made]))


def plan_leave(files: Sequence[ClientFile]) -> tuple[list[FileChange], list[str]]:
    """Return the changes by which a member leaves, and lines on files that cannot be read: these stay where no join
    wrote to them.

    Settings of clients that the member never ran in may be anything: a link into a folder of dotfiles, a huge file.

    Raises:
        TeamError: `NOT_PERMITTED` for a file that a join wrote to and that has to be changed by hand.
    """
    changes: list[FileChange] = []
    unread: list[str] = []
    for file in files:
        try:
            change = file.leave_change()
        except TeamError as error:
            if receipt_of(str(file.path)) is not None:
                raise
            unread.append(f"{error.message}; no join from here wrote to it, so it was left alone")
            continue
        if change.word != "unchanged":
            changes.append(change)
    return changes, unread


def write_leaves(changes: Sequence[FileChange]) -> None:
    """Write what leaves, with the folders that are empty then, and forget that it joined.

    The home of a client goes only where a join made it.
    """
    folders: set[Path] = set()
    for change in changes:
        write_change(change)
        known = receipt_of(str(change.path))
        if change.after is None:
            folders |= {folder for folder in change.path.parents if folder.is_relative_to(change.home)} - {change.home}
            folders |= {Path(folder) for folder in (known.folders if known is not None else ())}
        forget_receipt(str(change.path))
    for folder in sorted(folders, reverse=True):  # the inner ones first
        with suppress(OSError):  # it has something else in it
            folder.rmdir()
