"""Joining and leaving: what is written into files of clients, and kept of it, so that a leave takes out that alone."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.client import Client, Program, Running
from team_console.console.clients.file_change import FileChange, FileRefused, read_file, write_change
from team_console.console.clients.instructions import instructions_for, program
from team_console.console.clients.json_editing import NotEditable
from team_console.console.clients.place import (
    Joining,
    JoinReceipt,
    Place,
    forget_receipt,
    keep_receipt,
    member_key,
    read_client_settings,
    receipt_of,
    receipts,
)
from team_console.console.clients.programs import PROGRAMS
from team_console.console.clients.session_files import EVERY_SESSION, LEFT_OUT, name_files
from team_console.console.clients.settings_part import SERVER, hooks_of, members_in, parse_hook_command, quiet_condition
from team_console.store.backends.open import OWN_FOLDER
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.extras import install_line, is_installed
from team_console.store.model.home import home
from team_console.store.model.names import USER, check_name
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, remove_members, set_member
from team_console.store.settings.team_config import Agent, TeamConfig

JoinStep = tuple[FileChange, JoinReceipt]


class JoinOutcome(Struct, frozen=True):
    """What a join or a leave did, or would do.

    Attributes:
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
    steps, left_out = plan_join(client.places(scope, joining), joining)
    _refuse_other_scopes(client, scope, joining)
    adds = config.declared and name not in config.agents
    if write:
        if adds:
            add_members(caller, [agent])
            keep_receipt(JoinReceipt(name, joining.location))
        elif agent.ask_for is not None:
            set_member(caller, name, {"ask_for": agent.ask_for})
        write_joins(steps)
    changes = tuple(change for change, _ in steps)
    is_known = all(change.word == "unchanged" for change in changes)
    notes = [f"{name} has joined from here before; nothing changes in its files"] if is_known else []
    notes += [] if is_known else client.notes_for_user(scope, joining)
    notes += left_out
    if client.asks:
        rules = config.asked_for(name) if agent.ask_for is None else agent.ask_for
        notes += _words_of_rules(name, rules, hold)
    if client.offers_tools and not joining.has_server:
        notes.append(f"Its tools (MCP) need one more package: {install_line('mcp')}; then join again")
    notes += _words_of_old_member(agent, config.agents.get(name, agent))
    return JoinOutcome("join", name, adds, changes, tuple(notes), write)


def _words_of_rules(name: str, rules: Sequence[str], hold: Sequence[str]) -> list[str]:
    asked = ", ".join(rule for rule in rules if rule not in hold) or "nothing"
    lines = [f"You ask for: {asked}. Another choice: team-console join {name} --ask-for RULE"]
    if hold:
        held = ", ".join(hold)
        lines.append(f"Held until you decide, console or not: {held}; a hook that fails or ends is a no there.")
    return lines


def _words_of_old_member(agent: Agent, old: Agent) -> list[str]:
    """A join changes no member that was there before."""
    words = f" --role {agent.role}" if agent.role not in ("member", old.role) else ""
    words += " --plan" if agent.plan_mode_required and not old.plan_mode_required else ""
    if not words:
        return []
    text = f"{agent.name} was a member before and stays as it was, without{words}"
    return [f"{text}; to change it: team-console member set {agent.name}{words}"]


def joined_by(team: Team, name: str, project: Path) -> tuple[Program, str] | None:
    """Return the client and the scope by which a member has joined from a project; None when it has not."""
    joining = joining_of(team, check_name(name, field="name"), project)
    for client, scope, (place, *_) in _places_of_programs(joining):
        known = receipt_of(str(place.path))
        if name in place.members() or (known is not None and (known.member, known.team) == (name, joining.location)):
            return client, scope
    return None


def join_all(caller: Caller, sessions: Sequence[Running], chosen: Collection[str], *, write: bool) -> JoinOutcome:
    """Let the chosen sessions that run, and all that start from now on, join under names of their own.

    Args:
        sessions: Those that run.
        chosen: Ids of those of them that join.

    Raises:
        TeamError: As for `join`.
    """
    joining = joining_of(caller.team, EVERY_SESSION, home())
    steps, _ = plan_join(_places_of_every_session(joining), joining)
    if write:
        for one in sessions:
            if one.session not in chosen:
                name_files().write(LEFT_OUT + one.session, {})
        write_joins(steps)
    notes = [f"{one.line}: {'joins' if one.session in chosen else 'is left out'}" for one in sessions]
    notes += [
        *(program.note_for_all for program in PROGRAMS.values() if program.note_for_all),
        "Every session that starts from now on joins, too.",
        "Take it out again: team-console leave --all",
    ]
    return JoinOutcome("join", EVERY_SESSION, False, tuple(change for change, _ in steps), tuple(notes), write)


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
        places, made = _places_of_every_session(joining), members_of_sessions(location)
    else:
        places = [place for _, _, some in _places_of_programs(joining) for place in some]
        made = {check_name(name, field="name")} if receipt_of(member_key(location, name)) is not None else set()
    others = {place.path: other for place in places if (other := place.other_team(joining))}
    steps, notes = plan_leave(list({place.path: place for place in places if place.path not in others}.values()))
    notes += [f"{path} is of another team, and stays: {team}" for path, team in others.items()]
    left = _joined_elsewhere(name, location, {place.path for place in places})
    # guard: member-stays-while-hooks-do
    removes = sorted(made & members.keys()) if not left else []
    if write:
        write_leaves(steps)
        if removes:
            notes += remove_members(caller, removes).warnings
        for member in made if not left else ():
            forget_receipt(member_key(location, member))
        if name == EVERY_SESSION:
            shutil.rmtree(name_files().folder, ignore_errors=True)
    if not (steps or removes):
        who = "no session has joined by --all" if name == EVERY_SESSION else f"{name} has not joined from here"
        notes.insert(0, f"{who}; nothing is to be taken out")
    also = ", too," if steps else ""
    notes += [f"{name} has joined in {folder}{also} and stays a member until it leaves there" for folder in left]
    notes += [f"Next: team-console leave {name} --in {shlex.quote(str(folder))}" for folder in left]
    if name in members and not (removes or left):
        notes.append(f"{name} was a member before it joined and stays one")
    if steps:
        notes.append("Sessions that run now keep what they have read until they end.")
    return JoinOutcome("leave", name, bool(removes), tuple(steps), tuple(notes), write)


_OF_CLIENTS = frozenset((".claude", ".codex", ".qwen"))
"""Folders within a project in which clients have their settings."""


def _joined_elsewhere(name: str, location: str, looked_at: Collection[Path]) -> list[Path]:
    """Return the folders of files, but for those, by which sessions on this machine act as a member."""
    known = [one for one in receipts() if one.file and (one.member, one.team) == (name, location)]
    others = [one for one in known if not {Path(one.file), Path(one.file).resolve()}.intersection(looked_at)]
    return sorted({_folder_of(Path(one.file)) for one in others if _has_our_part(one)})


def _folder_of(path: Path) -> Path:
    """Return the project, or the home, of a file of a client."""
    return path.parent.parent if path.parent.name in _OF_CLIENTS else path.parent


def _has_our_part(known: JoinReceipt, events: Sequence[str] = ()) -> bool:
    """Return whether the file of a join says who acts, and calls our hook for these events."""
    path = Path(known.file)
    try:
        if path.suffix != ".json":
            return SERVER in (read_file(path, Path(path.anchor)) or "")
        settings = read_client_settings(path)
        missing = Counter(events) - Counter(event for event, _ in hooks_of(settings, known.member))
        return known.member in members_in(settings) and not missing
    except (TeamError, NotEditable):
        return False


def _places_of_every_session(joining: Joining) -> list[Place]:
    return [place for program in PROGRAMS.values() for place in program.every_session(joining)]


def members_of_sessions(location: str) -> set[str]:
    """Return the members of a team that were made, one for each session."""
    return {one.member for one in receipts() if one.each and not one.file and one.team == location}


def _places_of_programs(joining: Joining) -> Iterator[tuple[Program, str, list[Place]]]:
    """Yield each client with each of its scopes, and with its files there: the first says who acts."""
    for one in PROGRAMS.values():
        yield from ((one, scope, one.places(scope, joining)) for scope in one.scopes)


def _refuse_other_scopes(client: Program, scope: str, joining: Joining) -> None:
    """Refuse to join where settings of another scope have another member: a client runs the hooks of all scopes, so
    each session would act as both, and ask everything twice.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    for one, other, (place, *_) in _places_of_programs(joining):
        taken = place.members() - {joining.name, EVERY_SESSION}
        if taken and one is client and other != scope:
            text = f"sessions here act as {min(taken)} already, by {place.path}"
            raise TeamError(Code.NOT_PERMITTED, text, f"First: team-console leave {min(taken)}")


def has_joined(project: Path) -> bool:
    """Return whether a join of its own says as whom sessions in this project act."""
    return any(place.members() for _, place in _first_places_in(project))


def members_started_in(team: Team, project: Path) -> dict[str, str]:
    """Return the members of a team as which sessions act that are started in this project -> the program to start."""
    found = {}
    for client, place in _first_places_in(project):
        known = receipt_of(str(place.path))
        if isinstance(client, Client) and (known is None or known.team == location_of(team)):
            found.update(dict.fromkeys(place.members(), client.word))
    return found


def _first_places_in(project: Path) -> Iterator[tuple[Program, Place]]:
    for client, scope, (place, *_) in _places_of_programs(Joining("", "", ("",), project)):
        if scope != "user":
            yield client, place


# What this machine shows of joins.


def join_problems(team: Team, config: TeamConfig) -> list[Problem]:
    """Return findings on the joins of a team on this machine; `config` are its settings as far as they are known."""
    mine = _joins_of(team)
    found = [one for program in PROGRAMS.values() for one in program.problems()] if mine else []
    for known in mine:
        if not _folder_of(Path(known.file)).exists():  # moved away, or deleted: nothing runs there
            continue
        why = ""
        if known.file and is_unhooked(known):
            why = "joined by this file, from which our part is gone"
        # guard: hooks-of-no-member-named
        elif known.events and known.member != EVERY_SESSION and config.declared and known.member not in config.agents:
            why = "joined by this file and is no member any more, so its hooks do nothing"
        code, why = ("UNHOOKED", why) if why else ("OLD_HOOKS", _words_of_old_hooks(team, known))
        if why:
            hint = "Join again, or leave: team-console help join"
            found.append(Problem(code, "warning", known.file, f"{known.member} {why}", hint))
    return found


def _joins_of(team: Team) -> list[JoinReceipt]:
    """Return the joins of a team on this machine; of a project that was moved, or copied, its files tell."""
    location = location_of(team)
    found = [known for known in receipts() if known.team == location]
    if Path(location).name != OWN_FOLDER:
        return found
    for _, place in _first_places_in(Path(location).parent):
        # guard: hooks-of-a-moved-project-named
        if receipt_of(str(place.path)) is None:
            members = sorted(place.members() - {EVERY_SESSION})
            found += (JoinReceipt(member, location, str(place.path)) for member in members)
    return found


def _words_of_old_hooks(team: Team, known: JoinReceipt) -> str:
    """Return what is wrong with hooks that an earlier version wrote, or one in another place; empty for nothing."""
    path, name = Path(known.file), known.member
    with suppress(TeamError, NotEditable, ValueError):
        settings = read_client_settings(path) if path.suffix == ".json" else {}
        calls = [parse_hook_command(hook["command"]) for _, hook in hooks_of(settings, name)]
        called = next((called for called, _ in calls if called), ())
        hold = next((held for _, held in calls if held), ())
        if not called:  # no hooks: a server alone
            return ""
        if shutil.which(called[0]) is None:
            return f"joined by this file, whose hooks call a program that is gone: {called[0]}"
        joining = joining_of(team, name, _folder_of(path))
        has_server = f'"{SERVER}"' in json.dumps(settings)
        joining = replace(joining, program=called, hold=hold, has_server=has_server)
        places = [place for _, _, some in _places_of_programs(joining) for place in some]
        if name == EVERY_SESSION:
            places = _places_of_every_session(joining)
        place = next((place for place in places if place.path == path), None)
        # guard: hooks-of-an-earlier-version-named
        if place is not None and place.is_old(joining):
            return (
                "joined by this file, whose hooks are not those of a join now: they cost time, or refuse by themselves"
            )
    return ""


def is_unhooked(known: JoinReceipt) -> bool:
    """Return whether our part is gone from a file by which somebody joined."""
    return not _has_our_part(known, known.events)


# Steps that `join`, `leave` and their forms for every session are made of.


def joining_of(team: Team, name: str, project: Path, location: str | None = None) -> Joining:
    """Return who joins, and by which program."""
    words = instructions_for(team, name, by_itself=False, location=location)
    has_server = is_installed("mcp", "pydantic")
    location = location or location_of(team)
    places = {kind: path.replace(location_of(team), location, 1) for kind, path in team.places().items()}
    quiet = quiet_condition(places, name, location)
    return Joining(name, location, program(), project.absolute(), words, has_server=has_server, quiet=quiet)


def location_of(team: Team) -> str:
    """Return the team's location as it is the same from every folder."""
    return team.location if "://" in team.location else str(Path(team.location).absolute())


def plan_join(places: Sequence[Place], joining: Joining) -> tuple[list[JoinStep], list[str]]:
    """Return all changes by which a member joins, and what was left out of it; nothing is written unless every one
    that it needs can be made.

    Raises:
        TeamError: `NOT_PERMITTED`, also for a place whose name is no text: the files of clients, which have to name it,
            are UTF-8.
    """
    for place in (joining.location, *joining.program):
        if re.search("[\ud800-\udfff]", place):
            text = f"{place}: this name is not UTF-8, so the settings of a client cannot hold it"
            raise TeamError(Code.NOT_PERMITTED, text, "Rename the folder; nothing was written.")
    steps, left_out = [], []
    for one in places:
        try:
            steps.append(one.join_change(joining))
        except FileRefused as error:
            if not one.is_optional:
                raise
            left_out.append(f"The MCP server was left out: {error.message}")
    return steps, left_out


def write_joins(steps: Sequence[JoinStep]) -> None:
    """Write what joins, and remember it."""
    for change, receipt in steps:
        if change.word != "unchanged":
            made = [str(folder) for folder in change.path.parents if not folder.exists()]
            write_change(change)
            keep_receipt(replace(receipt, folders=[*receipt.folders, *made]))


def plan_leave(places: Sequence[Place]) -> tuple[list[FileChange], list[str]]:
    """Return the changes by which a member leaves, and why files were not read to which no join wrote.

    Settings of clients that the member never ran in may be anything: a link into a folder of dotfiles, a huge file.

    Raises:
        TeamError: `NOT_PERMITTED` for a file that a join wrote to and that has to be changed by hand.
    """
    steps: list[FileChange] = []
    unread: list[str] = []
    for place in places:
        try:
            steps.append(place.leave_change())
        except TeamError as error:
            if receipt_of(str(place.path)) is not None:
                raise
            unread.append(f"{error.message}; no join from here wrote to it, so it was left alone")
    return [change for change in steps if change.word != "unchanged"], unread


def write_leaves(steps: Sequence[FileChange]) -> None:
    """Write what leaves, with the folders that are empty then, and forget that it joined.

    The home of a client goes only where a join made it.
    """
    folders: set[Path] = set()
    for change in steps:
        write_change(change)
        known = receipt_of(str(change.path))
        if change.after is None:
            folders |= {folder for folder in change.path.parents if folder.is_relative_to(change.home)} - {change.home}
            folders |= {Path(folder) for folder in (known.folders if known is not None else ())}
        forget_receipt(str(change.path))
    for folder in sorted(folders, reverse=True):
        with suppress(OSError):  # it has something else in it
            folder.rmdir()
