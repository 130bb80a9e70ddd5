"""Joining and leaving as wholes: the member, every file of the client, and what is told about it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.commands import program
from team_console.console.clients.instructions import instructions_for
from team_console.console.clients.joining.file_change import FileChange, write_change
from team_console.console.clients.joining.places import (
    Client,
    Joining,
    Place,
    Scope,
    every_place,
    places_of,
    refuse_other_scopes,
)
from team_console.console.clients.joining.receipts import file_receipt, member_receipt
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.model.names import USER, check_name
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, remove_members
from team_console.store.settings.team_config import Agent, TeamConfig


class Joined(Struct, frozen=True):
    """What a join or a leave did, or would do.

    Attributes:
        member: Whether the member was put into the team's settings, or taken out of them.
        files: What became of each file.
        notes: What the user should know, as sentences.
        written: Whether it was done, and not only shown.
    """

    action: str
    name: str
    member: bool
    files: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()
    written: bool = True


def join(caller: Caller, agent: Agent, client: Client, scope: Scope, *, project: Path, write: bool) -> Joined:
    """Make `agent` a member of the team, and write what the client needs to act as it.

    Everything is read and checked before anything is written. Again, it changes nothing.

    Args:
        write: False only shows.

    Raises:
        TeamError: `INVALID_NAME`, `NOT_PERMITTED` for the lead, for settings that are another member's, and for files
            that have to be changed by hand; `USAGE`.
    """
    config, name = caller.team.config(), check_name(agent.name, field="name")
    agent = replace(agent, name=name)
    _refuse_human(config, name)
    joining = _joining(caller.team, name, project)
    _refuse_nameless(joining)
    steps = [(place, *place.joining()) for place in places_of(client, scope, joining)]
    refuse_other_scopes(client, scope, joining)
    adds = config.declared and name not in config.agents
    if write:
        if adds:
            add_members(caller, [agent])
            member_receipt(caller.team.location, name).keep(["member"])
        for place, change, made in steps:
            _write(place, change, made)
    changes = tuple(change for _, change, _ in steps)
    notes = [*_kept(config, agent), *_notes(client, scope, name, changes)]
    return Joined("join", name, adds, changes, tuple(notes), write)


def leave(caller: Caller, name: str, *, project: Path, write: bool) -> Joined:
    """Take out again what joins of `name` put into the files of clients and the team's settings, and nothing else.

    Raises:
        TeamError: `INVALID_NAME`, `NOT_PERMITTED` for files that have to be changed by hand.
    """
    name = check_name(name, field="name")
    steps, unread = _leaving(every_place(_joining(caller.team, name, project)))
    receipt = member_receipt(caller.team.location, name)
    removes = receipt.read() is not None and name in caller.team.config().agents
    if write:
        for place, change in steps:
            if change.word != "unchanged":
                _take_out(place, change)
        if removes:
            remove_members(caller, [name])
        receipt.forget()
    changes = tuple(change for _, change in steps if change.word != "unchanged")
    notes = [] if changes or removes else [f"{name} has not joined from here; nothing is to be taken out"]
    notes += [f"{why}; no join from here wrote to it, so it was left alone" for why in unread]
    if name in caller.team.config().agents and not removes:
        notes.append(f"{name} was a member before it joined and stays one")
    if changes:
        notes.append("sessions that run now keep what they have read until they end")
    return Joined("leave", name, removes, changes, tuple(notes), write)


def plugin_folder() -> Path:
    """The folder of the plugin for Claude Code that comes with this program."""
    return Path(__file__).parents[1] / "plugin"


def _refuse_nameless(joining: Joining) -> None:
    """Refuse a place whose name is no text: the files of clients, which have to name it, are UTF-8.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    for place in (joining.location, *joining.program):
        try:
            place.encode()
        except UnicodeEncodeError:
            text = f"{place}: this name is not UTF-8, so the settings of a client cannot hold it"
            raise TeamError(Code.NOT_PERMITTED, text, "Rename the folder; nothing was written.") from None


def _joining(team: Team, name: str, project: Path) -> Joining:
    location = team.location if "://" in team.location else str(Path(team.location).absolute())
    words = instructions_for(team, name, by_itself=False)
    return Joining(name, location, program(), project.absolute(), home(), words)


def _refuse_human(config: TeamConfig, name: str) -> None:
    if name in (config.lead, USER):
        text = f"{name} is the human's seat in team {config.name}, and no agent acts as it"
        raise TeamError(Code.NOT_PERMITTED, text, "Choose a name for the agent: team-console join NAME --for ...")


def _kept(config: TeamConfig, agent: Agent) -> list[str]:
    """What was asked of a new member that this one is not, because it was there before: a join changes no member."""
    known = config.agents.get(agent.name)
    if known is None:
        return []
    asked = [f"--role {agent.role}"] if agent.role not in ("member", known.role) else []
    asked += ["--plan"] if agent.plan_mode_required and not known.plan_mode_required else []
    if not asked:
        return []
    words = " ".join(asked)
    text = f"{agent.name} was a member before and stays as it was, without {words}"
    return [f"{text}; to change it: team-console member set {agent.name} {words}"]


def _write(place: Place, change: FileChange, made: Sequence[str]) -> None:
    if change.word == "unchanged":
        return
    write_change(change)
    file_receipt(place.path).keep(made)


def _leaving(places: Sequence[Place]) -> tuple[list[tuple[Place, FileChange]], list[str]]:
    """The changes by which a member leaves, and why files were not read to which no join wrote.

    Settings of clients that the member never ran in may be anything: a link into a folder of dotfiles, a huge file.

    Raises:
        TeamError: `NOT_PERMITTED` for a file that a join wrote to and that has to be changed by hand.
    """
    steps: list[tuple[Place, FileChange]] = []
    unread: list[str] = []
    for place in places:
        try:
            steps.append((place, place.leaving()))
        except TeamError as error:
            if file_receipt(place.path).read() is not None:
                raise
            unread.append(error.message)
    return steps, unread


def _take_out(place: Place, change: FileChange) -> None:
    receipt = file_receipt(place.path)
    made = receipt.read() or ()
    write_change(change)
    if "folder" in made and change.after is None:
        with suppress(OSError):  # somebody put something else there
            place.path.parent.rmdir()
    receipt.forget()


def _notes(client: Client, scope: Scope, name: str, changes: Sequence[FileChange]) -> list[str]:
    """What has to be done besides."""
    if all(change.word == "unchanged" for change in changes):
        return [f"{name} has joined from here before; nothing changes"]
    notes = []
    if client in (Client.CLAUDE, Client.CODEX):
        notes.append("sessions that start from now on act as this member")
    if client is Client.CLAUDE and scope is Scope.PROJECT:
        notes.append("these files name this machine's paths; --local keeps the hooks out of a shared repository")
    if client is Client.CLAUDE and scope is Scope.LOCAL:
        notes.append(".mcp.json names this machine's paths and is the project's: keep it out of a shared repository")
    if client is Client.CODEX:
        notes.append("Codex asks once whether it may run these hooks; an idle Codex session cannot be woken")
    if client is not Client.SHELL and find_spec("mcp") is None:
        notes.append("the MCP server needs one more package: pip install 'team-console[mcp]'")
    return notes
