"""Verbs that put agents into a team and take them out again: `join`, `leave`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace
from team_console.console.cli.arguments import arg, flag, verb
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.streams import columns, is_terminal
from team_console.console.cli.team import ASK_HELP, make_project_team, parse_rules
from team_console.console.clients.client import Running
from team_console.console.clients.join import JoinOutcome, join, join_all, leave, one_join_at_a_time
from team_console.console.clients.joined import joined_by
from team_console.console.clients.programs import PROGRAMS, running_sessions
from team_console.console.clients.session_files import EVERY_SESSION
from team_console.store.backends.locations import absolute, redact, unseen
from team_console.store.backends.open import OWN_FOLDER, nearest_team
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.table import ROLES
from team_console.store.settings.team_config import Agent

FOLDER = arg("--in", "the project (default: the current folder)", dest="folder", metavar="DIR", source="files")
SHOW = flag("--print", "show every difference; write nothing", dest="show")


@verb(
    arg("name", "the member that the agent becomes", nargs="?", metavar="NAME", source="agents"),
    arg("--for", "the client of the agent; needed the first time only", dest="client", choices=tuple(PROGRAMS)),
    flag("--all", "every session, each under its own name", dest="every"),
    arg(
        "--session", "with --all: of the running sessions join only this one; repeatable", metavar="ID", action="append"
    ),
    (
        arg("--project", "in the project (default)", dest="scope", action="store_const", const="project"),
        arg("--local", "in the project, on this machine only", dest="scope", action="store_const", const="local"),
        arg("--user", "in all your projects", dest="scope", action="store_const", const="user"),
    ),
    FOLDER,
    SHOW,
    arg("--role", "role of a new member", choices=[role for role in ROLES if role != "master"]),
    flag("--plan", "a new member submits plans and works only after approval"),
    arg("--ask-for", ASK_HELP, metavar="RULE|none|team", action="append"),
    arg(
        "--hold",
        "hold these until you decide, even with no console open; claude only; repeatable",
        metavar="RULE",
        action="append",
    ),
)
def do_join(call: Call) -> int:
    """Connect an agent: add NAME to the team, if it is no member yet, and enter the team in the settings of its client:
    hooks and the MCP server (claude, codex, qwen), the MCP server alone (mcp), or a block in AGENTS.md (shell).
    Without a team, one is made in the project's .team-console. Other entries stay as they are. --print shows every
    change; joining again changes nothing; 'team-console leave NAME' undoes it.

    With --all, sessions of Claude Code and Codex join, each under a name of its own: the running ones that you
    choose, without a restart, and every new one from now on. 'team-console leave --all' undoes it.

    Examples:
      team-console join helper --for claude
      team-console join helper --ask-for push,delete
      team-console join --all"""
    options, location = call.options, call.options.team or ""
    if redact(location) != location:  # it must not get into files that clients and other programs read
        text = "the location names a password, which would get into the settings of the client"
        raise UsageError(text, "Leave it out and keep the password in ~/.pgpass.")
    write = not (options.show or options.read_only)
    if options.every is (options.name is not None):
        text = "join takes a NAME and what it runs in, or --all"
        raise UsageError(text, "For example: team-console join helper --for claude")
    if options.every:
        return _join_all(call, write=write)
    call.refuse_useless({"--session": options.session}, "goes with --all")
    folder = absolute("." if options.folder is None else options.folder).resolve()
    if not os.path.isdir(folder):
        why = unseen(folder) or "there is no such folder"
        raise UsageError(f"--in {folder}: {why}", "Name the project's folder.")
    with one_join_at_a_time(write=write):
        if not _has_team(call, folder):
            if options.client is None:
                hint = f"For example: team-console join {shlex.quote(options.name)} --for claude, which makes one."
                raise TeamError(Code.TEAM_NOT_FOUND, f"no team in {folder} or above it", hint)
            _join_new_team(call, folder, write=write)
        else:
            _print_joined(call, _join(call, folder, write=write))
    return 0


def _join(call: Call, folder: Path, *, write: bool, location: str | None = None) -> JoinOutcome:
    """Let the member that the call names join, by the client it names, or else by the one of an earlier join.

    Args:
        location: What the files of clients name, where that is not yet the location of the team.

    Raises:
        TeamError: `USAGE` where nobody knows what the member runs in; as for `join`.
    """
    options = call.options
    client, scope = PROGRAMS.get(options.client), options.scope
    if client is None:
        found = joined_by(call.team, options.name, folder)
        if found is None:
            text = f"{options.name} has not joined from here, so it is not known what it runs in"
            hint = f"For example: team-console join {shlex.quote(options.name)} --for claude"
            raise UsageError(text, hint)
        client, scope = found.program, scope or found.scope
    rules = None if options.ask_for is None else parse_rules(options.ask_for)
    agent = Agent(options.name, role=options.role or "member", plan_mode_required=options.plan, ask_for=rules)
    hold = parse_rules(options.hold or []) or ()
    scope = scope or "project"
    joined = join(call.caller, agent, client, scope, project=folder, write=write, hold=hold, location=location)
    return replace(joined, notes=(*joined.notes, _words_of_next(call, folder, scope)))


def _words_of_next(call: Call, folder: Path, scope: str) -> str:
    """Return what opens the console and what undoes the join, as they are typed in the current folder."""
    options = call.options
    program = "team-console" if options.team is None else f"team-console -t {shlex.quote(redact(options.team))}"
    leave = f"{program} leave {shlex.quote(options.name)}"
    if options.folder is not None and scope != "user":
        leave += f" --in {shlex.quote(str(folder))}"
    return f"Next: '{program}' opens the console. To take this out again: {leave}"


def _has_team(call: Call, folder: Path) -> bool:
    """Return whether a team is named, or there is one in or above the current folder or the project; one of the project
    alone is named by the call from then on.
    """
    if call.options.team is not None or os.environ.get("TEAM_CONSOLE_TEAM"):
        return True
    if nearest_team(absolute(".").resolve()) is not None:
        return True
    found = nearest_team(folder.resolve())
    if found is not None:
        call.options.team = str(found)
    return found is not None


def _join_new_team(call: Call, project: Path, *, write: bool) -> None:
    """Make the project's own team, and let a member join it; one that is only shown is made elsewhere, and goes."""
    team_folder = project / OWN_FOLDER
    if write:
        call.options.team = str(team_folder)
        is_new = not os.path.lexists(team_folder)
        name = make_project_team(team_folder, project)
        try:
            done = _join(call, project, write=True)
        except TeamError:
            # guard: only-our-own-new-folder-removed
            if is_new:
                shutil.rmtree(team_folder, ignore_errors=True)  # made a moment ago, and nobody is in it
            raise
        _print_joined(call, done, [_sentence_on_new_team(call, name, team_folder, "")])
        return
    with TemporaryDirectory() as elsewhere:
        call.options.team = elsewhere
        name = make_project_team(Path(elsewhere), project)
        done = _join(call, project, write=False, location=str(team_folder))
        _print_joined(call, done, [_sentence_on_new_team(call, name, team_folder, "would be ")])


def _sentence_on_new_team(call: Call, name: str, team_folder: Path, would: str) -> str:
    """Return what was made, or `would` be: the team, where it is, and who leads it."""
    lead = call.team.config().lead
    return f"team {name}: {would}made in {team_folder}, which Git ignores; you are {lead}, who leads it"


def _join_all(call: Call, *, write: bool) -> int:
    """Let those of the running sessions join that are chosen: by --session, by an answer on the terminal, else all.

    Returns:
        The exit status: 1 where the user chose none.

    Raises:
        TeamError: `USAGE` for a session that does not run, and for options of one member; as for `join_all`.
    """
    options = call.options
    of_one = {"--for": options.client, "--in": options.folder, "--role": options.role, "--plan": options.plan}
    of_one |= {"--ask-for": options.ask_for, "--hold": options.hold, f"--{options.scope}": options.scope}
    call.refuse_useless(of_one, "is for one member, not for --all")
    sessions = list(running_sessions())
    running = [one.session for one in sessions]
    chosen = options.session
    if chosen is None and sessions and write and not call.as_json and is_terminal(sys.stdin):
        chosen = _ask_which(call, sessions)
        if chosen is None:
            call.say("no session was chosen; nothing was written")
            return 1
    chosen = chosen or running
    unknown = sorted({*chosen} - {*running})
    if unknown:
        text = f"no session {unknown[0]} runs here"
        raise UsageError(text, "team-console join --all --print lists those that run.")
    with one_join_at_a_time(write=write):
        _print_joined(call, join_all(call.caller, sessions, chosen, write=write))
    return 0


def _ask_which(call: Call, sessions: list[Running]) -> list[str] | None:
    """Ask which sessions join; return their ids, an empty list for all, None where the question is left with ctrl+d.

    A word that is no number of the list is returned as it is, as an id.
    """
    call.say(*(f"{number}  {one.line}" for number, one in enumerate(sessions, 1)))
    try:
        words = input("which of them join? numbers, or Enter for all: ").replace(",", " ").split()
    except EOFError:
        call.say()
        return None
    numbers = {str(number): one.session for number, one in enumerate(sessions, 1)}
    return [numbers.get(word, word) for word in words]


# `leave`: takes out of the settings of clients, and of the team, what `join` put there.


@verb(
    arg("name", "the member that leaves", nargs="?", metavar="NAME", source="agents"),
    flag("--all", "undo 'join --all'", dest="every"),
    FOLDER,
    SHOW,
)
def do_leave(call: Call) -> None:
    """Undo 'team-console join NAME': remove what it put into the settings of clients, in the project and in your own,
    and the member if join added it. Other entries, messages and archives stay.

    Examples:
      team-console leave helper
      team-console leave --all"""
    options = call.options
    write = not (options.show or options.read_only)
    project = absolute("." if options.folder is None else options.folder).resolve()
    if options.every is (options.name is not None):
        raise UsageError("leave takes a NAME or --all", "For example: team-console leave helper")
    name = EVERY_SESSION if options.every else options.name
    with one_join_at_a_time(write=write):
        _print_joined(call, leave(call.caller, name, project=project, write=write))


# What a join or leave did, for people in a few lines, or as JSON.


def _print_joined(call: Call, done: JoinOutcome, on_new_team: Sequence[str] = ()) -> None:
    """Print what was joined or left, or would be.

    Args:
        on_new_team: Sentences on the team that was made for it.
    """
    would = "" if done.written else "would be "
    lines = _within_terminal(on_new_team)
    if done.member:
        word = "added to" if done.action == "join" else "taken out of"
        lines.append(f"{done.name}: {would}{word} the team's settings")
    for change in done.files:
        is_changed = change.word != "unchanged"
        lines.append(f"{change.path}: {would if is_changed else ''}{change.word}")
        if not done.written:
            lines += [f"    {line}" for line in change.diff.splitlines()]
    lines += _within_terminal(done.notes)
    result = {
        "success": True,
        "action": done.action,
        "agent": done.name,
        "member_changed": done.member,
        "files": [{"path": str(change.path), "change": change.word, "diff": change.diff} for change in done.files],
        "notes": [*on_new_team, *done.notes],
        "written": done.written,
    }
    call.print_result(result, *lines)


def _within_terminal(sentences: Sequence[str]) -> list[str]:
    """Return sentences in lines that a terminal does not break inside of a word; as they are for a file or a pipe."""
    if not is_terminal(sys.stdout):
        return list(sentences)
    wrapper = textwrap.TextWrapper(columns(), break_long_words=False, break_on_hyphens=False)
    return [line for sentence in sentences for line in wrapper.wrap(sentence)]
