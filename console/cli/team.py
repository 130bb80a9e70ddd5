"""Verbs on a whole team: `init` makes one, `member` changes it, `migrate` copies it, `clear` empties its queue."""

from __future__ import annotations

import os
import re
import shlex
import sys
from argparse import BooleanOptionalAction
from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace
from team_console.console.cli.arguments import arg, flag, seconds, verb
from team_console.console.cli.call import Call, UsageError, split_names
from team_console.console.cli.printing import Cells, print_table
from team_console.console.cli.sending import ask_yes_or_no
from team_console.console.cli.streams import is_terminal
from team_console.store.backends.claude_team import ClaudeTeam
from team_console.store.backends.locations import absolute
from team_console.store.backends.locked_files import missing_locks_in
from team_console.store.backends.open import (
    OWN_FOLDER,
    PROJECT_CONFIG,
    PROJECT_QUEUE,
    create_database,
    names_database,
    nearest_team,
    open_team,
)
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import ALL, canonical, check_name, hint_with_nearest, is_name
from team_console.store.model.safe import counted
from team_console.store.service import members as service
from team_console.store.service.maintenance import ClearResult, clear, clearing_forecast
from team_console.store.service.migration import migrate, open_target
from team_console.store.settings.checking import rule_trouble
from team_console.store.settings.editing import new_settings_text, write_new_settings
from team_console.store.settings.table import ROLES
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME, Agent, TeamConfig
from team_console.store.views.findings import key_findings, trail_findings

# `init`: a new team.

LEAD = "ceo"
"""Who leads a team that names nobody else."""


@verb(
    arg("location", "where (default: the current folder)", nargs="?", metavar="LOCATION", source="files"),
    arg("--name", "the team's name (default: the folder's)", metavar="TEAM"),
    arg("--lead", "your name, as who leads and decides (default: ceo)", metavar="NAME", default=LEAD),
    arg(
        "--agent",
        f"a member; ROLE is one of {', '.join(ROLES)}; plan: it starts work only once its plan is approved",
        action="append",
        default=[],
        metavar="NAME[:ROLE][:plan]",
    ),
)
def do_init(call: Call) -> None:
    """Make a team at LOCATION: a folder (made if it is not there), PATH.db, or postgresql://USER@HOST/DATABASE.
    Default: the location of -t or TEAM_CONSOLE_TEAM, else the current folder. A queue, or a table of messages,
    that is there already is kept. You are the lead, `ceo` unless --lead names you.

    Examples:
      team-console init team --name sprint-42 --lead ceo --agent task-manager:plan --agent scrum-master:resident
      team-console init team.db --agent task-manager"""
    options = call.options
    if options.read_only:
        raise TeamError(Code.READ_ONLY, "init writes a new team", "Leave --read-only out.")
    place = _location_of_new_team(options.location, options.team)
    name = check_name(options.name, field="--name") if options.name is not None else _name_for_team(place)
    lead = check_name(options.lead, field="--lead")
    agents = with_lead([parse_agent(text) for text in options.agent], lead)
    shown = _write_team(place, name, lead, agents)
    members = [agent.name for agent in agents]
    made = {"success": True, "action": "init", "team": name, "location": shown, "lead": lead, "agents": members}
    call.print_result(
        made,
        f"made team {name} in {shown}: {lead} leads {', '.join(members[1:]) or 'nobody yet'}",
        f"open it with: team-console{'' if _is_found_from_here(shown) else f' -t {shlex.quote(shown)}'}",
    )


def _is_found_from_here(location: str) -> bool:
    """Return whether a command without `-t` opens the team at `location` from the current folder."""
    if os.environ.get("TEAM_CONSOLE_TEAM"):
        return False
    try:
        return nearest_team(absolute(".").resolve()) == absolute(location).resolve()
    except TeamError:
        return False


def _location_of_new_team(given: str | None, team: str | None) -> str:
    """Return the location of the argument, else of `-t`, else of the environment, else the current folder.

    Raises:
        TeamError: `USAGE` when argument and `-t` name two places.
    """
    if given == "" or team == "":  # of a script whose variable is not set; it does not mean the current folder
        raise UsageError("the place for the new team is empty", "Name a folder; a dot is the current one.")
    if given and team and given != team:
        raise UsageError(f"{given} and -t {team} are two places", "Name one.")
    return given or team or os.environ.get("TEAM_CONSOLE_TEAM") or "."


def _name_for_team(place: str) -> str:
    """Return the name of a team that is given none: of its database, of its folder or of its project."""
    if "://" in place:
        name = place.partition("?")[0].rstrip("/").rpartition("/")[2]
    else:
        path = Path(os.path.realpath(absolute(place)))
        name = path.parent.name if path.name == OWN_FOLDER else path.name
    name = name.removesuffix(Path(name).suffix) if names_database(place) else name
    name = canonical(name)
    return name if is_name(name) and name != ALL else "team"


def _write_team(place: str, name: str, lead: str, agents: list[Agent]) -> str:
    """Make a team in a folder or a database; return its location as it may be shown. A refusal leaves nothing new.

    Raises:
        TeamError: `NOT_PERMITTED` where there is one, `STORE_FAILED` for a place where none can be; as for a database.
    """
    if place.startswith("claude:"):
        raise UsageError(f"{place}: a team of Claude Code is made by Claude Code", "Name a folder.")
    path, is_database = Path(os.path.expanduser(place)), names_database(place)
    with ExitStack() as new:
        if "://" not in place:
            _make_folder(path.parent if is_database else path, new)
        if not is_database:
            _write_team_files(path, name, lead, agents, new)
            new.pop_all()
            return str(path)
        made = create_database(place, new_settings_text(team=name, lead=lead, agents=agents))
        new.pop_all()
    with closing(open_team(place, read_only=True)) as team:
        if not made:
            text = f"{team.location} holds a team already; nothing was changed"
            raise TeamError(Code.NOT_PERMITTED, text, "Choose another database, or: team-console member add NAME")
        return team.location


def _make_folder(folder: Path, new: ExitStack) -> None:
    """Make the folder of a team, or of its database, unless it is there; `new` takes back what was made."""
    # guard: refused-init-leaves-nothing
    new.callback(_remove_empty, [each for each in (folder, *folder.parents) if not os.path.exists(each)])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:  # a file of that name, too
        raise _unwritable(error) from None
    if why := missing_locks_in(folder):
        text = f"{folder} is on a file system without locks ({why}): nobody could write to a team there"
        raise TeamError(Code.STORE_FAILED, text, "Choose a folder on a local disk; no team was made.")


def _write_team_files(folder: Path, name: str, lead: str, agents: list[Agent], new: ExitStack) -> None:
    """Write the settings of a new team, and a queue unless one is there; `new` takes them back."""
    for known in (PROJECT_CONFIG, PROJECT_QUEUE):
        if (folder / known).exists():
            use = f"Use it with -t {shlex.quote(str(folder))}"
            hint = f"{use}, add members with 'team-console member add', or choose another folder."
            raise TeamError(Code.NOT_PERMITTED, f"{folder / known} exists already; nothing was changed", hint)
    try:
        write_new_settings(folder / CONFIG_NAME, team=name, lead=lead, agents=agents)
        new.callback((folder / CONFIG_NAME).unlink)
        if not (folder / QUEUE_NAME).exists():
            with (folder / QUEUE_NAME).open("x", encoding="utf-8") as file:
                new.callback((folder / QUEUE_NAME).unlink)
                file.write("messages: []\n")
    except FileExistsError as error:
        text = f"{error.filename} exists already; nothing was changed"
        opens = "There is a team: 'team-console' opens it, 'team-console member add' adds to it."
        raise TeamError(Code.NOT_PERMITTED, text, f"{opens} Or choose another folder.") from None
    except OSError as error:
        raise _unwritable(error) from None


def _unwritable(error: OSError) -> TeamError:
    text = f"{error.filename}: {error.strerror}"
    return TeamError(Code.STORE_FAILED, text, "Choose a folder to write in.")


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, as far as they are there and empty."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def make_project_team(place: Path, project: Path) -> str:
    """Make the team of a project in a folder that Git ignores, with a lead and nobody else; returns its name.

    Raises:
        TeamError: `NOT_PERMITTED` where there is one, `STORE_FAILED` where it cannot be written.
    """
    name = _name_for_team(str(project))
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        text = f"{error.filename}: {error.strerror}"
        raise TeamError(Code.STORE_FAILED, text, "Choose a folder to write in, or name a team: -t LOCATION") from None
    _write_team(str(place), name, LEAD, with_lead([], LEAD))
    return name


# Rules of what needs the human's answer, as `join` and `member` take them.

ASK_HELP = (
    "its actions that need your answer even if its client asks nobody (several: with commas, or repeat the option)"
)


def parse_rules(given: Sequence[str]) -> tuple[str, ...] | None:
    """Return the rules that `--ask-for` names, several with commas between them; `none` for no rule, `team` for the
    team's.

    Raises:
        TeamError: `USAGE` for what is no rule.
    """
    rules = [part.strip() for text in given for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    if rules in (["none"], ["team"]):
        return () if rules == ["none"] else None
    for trouble in filter(None, map(rule_trouble, rules)):
        hint = "'team-console help settings' lists the actions; 'none' asks for none, 'team' for those of the team."
        raise UsageError(f"--ask-for: {trouble}", hint)
    return tuple(dict.fromkeys(rules))


# `member`: adds, changes, removes and lists the members in the team's settings.


@verb(
    arg("what", "what to do", choices=("add", "set", "remove", "list")),
    arg(
        "members",
        f"members; ROLE is one of {', '.join(ROLES)}",
        nargs="*",
        metavar="NAME[:ROLE][:plan]",
        source="agents",
    ),
    arg("--role", "its role", choices=ROLES),
    arg("--plan", "it starts work only once its plan is approved", action=BooleanOptionalAction),
    arg("--deliver", "command for pushed messages; '' for the inbox file", metavar="COMMAND"),
    seconds("--deliver-timeout", "the time limit of that command", 1e9),
    arg("--may-message", "whom it may write to", metavar="NAME[,NAME]|all", source="recipients"),
    arg("--may-send", "which kinds it may send", metavar="KIND[,KIND]|all"),
    arg("--ask-for", ASK_HELP, metavar="RULE|none|team", action="append"),
)
def do_member(call: Call) -> None:
    """Add, change, remove or list the members in the team's settings. Comments and style of the file stay.

    Examples:
      team-console member add scrum-master:resident developer:plan
      team-console member set developer --role resident --no-plan --deliver './wake developer'
      team-console member remove developer"""
    what, words = call.options.what, call.options.members
    if what == "list":
        _refuse_fields(_given_fields(call), what)
        _print_members(call, words)
        return
    if not words:
        raise UsageError(f"member {what}: nobody is named", f"Name members: team-console member {what} NAME")
    fields = _given_fields(call)
    if what == "remove":
        _refuse_fields(fields, what)
        _print_change(call, service.remove_members(call.caller, words), "removed")
        return
    agents = [parse_agent(word, field="member") for word in words]
    if what == "add":
        _print_change(call, service.add_members(call.caller, [replace(agent, **fields) for agent in agents]), "added")
        return
    if len(words) > 1:
        raise UsageError("member set changes one member at a time", "Name one.")
    name = agents[0].name
    done = service.set_member(call.caller, name, {**_fields_in_word(words[0], agents[0]), **fields})
    _print_change(call, done, "set")


def _given_fields(call: Call) -> dict[str, Any]:
    """Return the fields of an `Agent` that the options give, by their names there."""
    options = call.options
    given: dict[str, Any] = {
        "role": options.role,
        "plan_mode_required": options.plan,
        "deliver_timeout": options.deliver_timeout,
        "deliver": None if options.deliver is None else _command(options.deliver),
    }
    fields = {key: value for key, value in given.items() if value is not None}
    for key in ("may_message", "may_send"):
        if (text := getattr(options, key)) is not None:
            names = split_names([text])
            fields[key] = None if ALL in names else frozenset(names)
    if options.ask_for is not None:
        fields["ask_for"] = parse_rules(options.ask_for)
    return fields


def _command(text: str) -> tuple[str, ...]:
    """Return the words of a command as a shell reads them; none for the inbox file."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--deliver: {str(error).lower()}", "Quote it as for a shell.") from error


def _fields_in_word(word: str, agent: Agent) -> dict[str, Any]:
    """Return the fields that `NAME[:ROLE][:plan]` itself names."""
    named: dict[str, Any] = {}
    if set(word.split(":")[1:]) - {"plan"}:
        named["role"] = agent.role
    if agent.plan_mode_required:
        named["plan_mode_required"] = True
    return named


def _refuse_fields(fields: dict[str, Any], what: str) -> None:
    """Refuse options that change a member where `what` is done changes none.

    Raises:
        TeamError: `USAGE` for the first of them.
    """
    if fields:
        option = "--" + next(iter(fields)).replace("_mode_required", "").replace("_", "-")
        raise UsageError(f"member {what} takes no {option}", "Leave it out.")


def _print_change(call: Call, done: service.MembersChanged, word: str) -> None:
    """Print what became of members: a word for it, and each of them."""
    warnings = [*done.warnings, *(notice.message for notice in done.notices)]
    members = [member_json(agent) for agent in done.members]
    call.print_result(
        {"success": True, "action": done.action, "team": done.team, "members": members, "warnings": warnings},
        *(f"{word}: {each.name} ({_role_words(each)})" for each in done.members),
        warnings=warnings,
    )


def _role_words(agent: Agent) -> str:
    """Return the role of an agent, and whether it plans first, in words."""
    return f"{agent.role}, plans first" if agent.plan_mode_required else agent.role


def _print_members(call: Call, names: Sequence[str]) -> None:
    """Print the members as the settings name them, or those that are named; what became of them shows in `roster`."""
    config = call.team.config()
    agents = [service.member_in_settings(config, name) for name in names] or list(config.agents.values())
    if call.as_json:
        members = [member_json(agent) for agent in agents]
        call.json({"team": config.name, "lead": config.lead, "declared": config.declared, "members": members})
        return
    if not config.agents:
        call.say("the settings name no members: whoever writes and is written to is one")
        return
    print_table(call, [_cells(agent) for agent in agents])


def _cells(agent: Agent) -> Cells:
    """Return the row of a member in the table."""
    return {
        "MEMBER": agent.name,
        "ROLE": agent.role,
        "PLAN": "first" if agent.plan_mode_required else "-",
        "DELIVERED BY": shlex.join(agent.deliver) or "inbox file",
        "MAY WRITE TO": _names_or_all(agent.may_message),
        "MAY SEND": _names_or_all(agent.may_send),
    }


def _names_or_all(names: Collection[str] | None) -> str:
    return "all" if names is None else ", ".join(sorted(names)) or "-"


# `migrate`: copies a team with its history to another place.

_FORMS = "a folder, PATH.db or postgresql://..."


@verb(
    arg("source", f"the team to copy: {_FORMS}", metavar="FROM", source="files"),
    arg("target", f"where to: {_FORMS}", metavar="TO", source="files"),
)
def do_migrate(call: Call) -> None:
    """Copy queue, archives, attachments and audit trail of the team FROM to TO, which is made if it is not there. Only
    missing records are copied, so run it again after an interruption, or to copy the rest before you switch. FROM
    is only read. Stop its writers first, then let everybody use TO.

    Examples:
      team-console migrate . postgresql://console@db.example/sprint42"""
    options = call.options
    if options.read_only:
        raise TeamError(Code.READ_ONLY, "migrate writes to its target", "Leave --read-only out.")

    def progress(what: str, number: int) -> None:
        if not call.as_json and number:
            call.note(f"{number:,} {what}")

    opened = open_team(options.source, read_only=True)
    with closing(opened.taken_over() if isinstance(opened, ClaudeTeam) else opened) as source:
        config = source.config()
        with closing(open_target(options.target, config)) as target:
            actor, place = call.given_actor or config.lead, target.location
            found = [*key_findings(config, source.snapshot().recorded), *trail_findings(source.audit(limit=10**9))]
            done = migrate(source, target, actor=actor, progress=progress, found=found)
    if call.as_json:
        call.json({"success": True, "action": "migrate", "location": place, **asdict(done)})
        return
    copied = (
        counted(done.live, "message"),
        counted(done.archived, "archive entry"),
        counted(done.attachments, "attachment"),
        counted(done.audit, "audit line"),
    )
    there = f"{done.already:,} {'was' if done.already == 1 else 'were'} there"
    call.say(f"copied to {place}: {', '.join(copied)}; {done.updated:,} updated, {there}")
    if done.differing:
        names = ", ".join(done.differing[:5])
        number = f"{len(done.differing):,}"
        call.note(f"left alone, because the target has another state of them: {number} ({names}, ...)")
    call.warn(done.warnings)


# Members as words of the command line: `NAME[:ROLE][:plan]` in, rows for people and programs out.


def parse_agent(text: str, *, field: str = "--agent") -> Agent:
    """Return the member described by `NAME[:ROLE][:plan]`.

    Raises:
        TeamError: `INVALID_NAME`, or `USAGE` for a word that is no role.
    """
    name, *words = text.split(":")
    name = check_name(name, field=field)
    role, plan = "member", False
    for word in words:
        if word == "plan":
            plan = True
        elif word in ROLES:
            role = word
        else:
            hint = hint_with_nearest(word, (*ROLES, "plan"), f"Roles: {', '.join(ROLES)}; or plan.")
            raise UsageError(f"{field} {text}: {word!r} is no role", hint)
    return Agent(name=name, role=role, plan_mode_required=plan)


def with_lead(agents: list[Agent], lead: str) -> list[Agent]:
    """Return the members of a new team, the lead first.

    Raises:
        TeamError: `USAGE` for a name given twice, `INVALID_NAME` for two that differ in case only.
    """
    names = [agent.name for agent in agents]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice", "Name every agent once.")
    service.refuse_case_twins([lead, *names], TeamConfig(lead=lead))
    mine = next((agent for agent in agents if agent.name == lead), Agent(name=lead, role="master"))
    return [mine, *(agent for agent in agents if agent.name != lead)]


def member_json(agent: Agent) -> dict[str, Any]:
    """Return a member as a JSON object; lists that allow everything are null."""
    return {
        **asdict(agent),
        "may_message": None if agent.may_message is None else sorted(agent.may_message),
        "may_send": None if agent.may_send is None else sorted(agent.may_send),
    }


# `clear`: what ended long ago leaves the queue, archived first.


@verb(
    arg("--older-than-days", "age in days (default: 7)", type=float, default=7.0, metavar="DAYS"),
    flag("--archives", "also delete archived messages beyond the team's delete_archived_after_days, for good"),
    flag("--yes", "do not ask before archives are deleted"),
    flag("--dry-run", "show what would be removed, write nothing"),
)
def do_clear(call: Call) -> None:
    """Archive and remove messages that were delivered, read, failed, expired or recalled --older-than-days ago or
    earlier. Messages that still wait, or that an open request depends on, stay.

    Examples:
      team-console clear --older-than-days 30 --dry-run"""
    options = call.options
    call.warn_of_stranger()
    is_asked = options.archives and not options.yes
    if is_asked:
        days = call.team.config().delete_archived_after_days
        will = "would" if options.dry_run else "will"
        call.note(f"archived messages older than {days} days {will} be deleted for good")
    if options.dry_run:
        _print_cleared(call, clearing_forecast(call.caller, older_than_days=options.older_than_days), dry_run=True)
        return
    if is_asked and not (is_terminal(sys.stdin) and is_terminal(sys.stderr) and ask_yes_or_no("Delete them?")):
        text = "deleting archives was not confirmed; nothing was written"
        raise TeamError(Code.NOT_PERMITTED, text, "Add --yes.")
    cleared = clear(call.caller, older_than_days=options.older_than_days, delete_archived=options.archives)
    _print_cleared(call, cleared, dry_run=False)


def _print_cleared(call: Call, cleared: ClearResult, *, dry_run: bool) -> None:
    """Print what left the queue, what stays and why, and what was deleted for good."""
    statuses = ", ".join(f"{number:,} {status}" for status, number in cleared.statuses.items())
    verb = "would leave" if dry_run else "left"
    lines = [f"{counted(cleared.deleted, 'message')} {verb} the queue" + (f": {statuses}" if statuses else "")]
    if cleared.kept:
        stay = "stays" if cleared.kept == 1 else "stay"
        lines.append(f"{counted(cleared.kept, 'old message')} {stay}: an open request or the roster rests on them")
    lines += [f"refused: {message_id}: {why}" for message_id, why in cleared.refused.items()]
    if cleared.archives:
        lines.append(f"deleted for good: {counted(cleared.archives, 'archived message')}")
    done = {
        "success": True,
        "action": "clear",
        "dry_run": dry_run,
        "messages_deleted": cleared.deleted,
        "deleted_statuses": dict(cleared.statuses),
        "messages_kept": cleared.kept,
        "archived_deleted": cleared.archives,
        "disk_space_freed_mb": cleared.freed_mb,
        **cleared.refused_json,
    }
    call.print_result(done, *lines)
