"""Verbs that make and change a team: `init`, `member`, `migrate`."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import LOCK_WAIT, Call, split_names
from team_console.console.cli.printing import ASK_HELP, member_json, parse_agent, parse_rules, print_table, with_lead
from team_console.store.backends.claude_team import ClaudeTeam
from team_console.store.backends.locations import absolute
from team_console.store.backends.open import DATABASE_SUFFIXES, PROJECT_CONFIG, PROJECT_QUEUE, QUEUE_NAME, open_team
from team_console.store.backends.sql.team import create_database
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import canonical, check_name, is_name
from team_console.store.model.safe import counted, safe_line
from team_console.store.service import members as desk
from team_console.store.service.migration import migrate, open_target
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.settings_file import new_text, write_new
from team_console.store.settings.team_config import CONFIG_NAME, Agent
from team_console.store.views.findings import key_findings, trail_findings

if TYPE_CHECKING:
    from team_console.store.service.migration import Migrated


def add_init_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Make a team at LOCATION: a folder (made when it is not there), PATH.db, or postgresql://USER@HOST/DATABASE.\n"
        "Without LOCATION it is that of -t or TEAM_CONSOLE_TEAM, else the current folder. A queue, or a table of\n"
        "messages, that is there already is kept as it is. Examples:\n\n"
        "  team-console init team --name sprint-42 --lead ceo --agent task-manager:plan --agent scrum-master:resident\n"
        "  team-console init team.db --agent task-manager"
    )
    add_completed(
        parser, "files", "location", nargs="?", metavar="LOCATION", help="where (default: the current folder)"
    )
    parser.add_argument("--name", metavar="TEAM", help="the team's name (default: the place's)")
    parser.add_argument("--lead", metavar="NAME", default="ceo", help="who answers plans (default: ceo)")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME[:ROLE][:plan]",
        help=f"a member; ROLE is one of {', '.join(ROLES)}; plan: it works only after its plan was approved",
    )


def do_init(call: Call) -> int:
    """Make the team and say how to go on."""
    options = call.options
    if options.read_only:
        raise TeamError(Code.READ_ONLY, "init writes a new team", "Leave --read-only out.")
    place = _place(options.location, options.team)
    name = check_name(options.name, field="--name") if options.name is not None else _name_of(place)
    lead = check_name(options.lead, field="--lead")
    agents = with_lead([parse_agent(text) for text in options.agent], lead)
    shown = _make(place, name, lead, agents)
    members = [agent.name for agent in agents]
    if call.out.as_json:
        call.out.json(
            {"success": True, "action": "init", "team": name, "location": shown, "lead": lead, "agents": members}
        )
        return 0
    shown = safe_line(shown)
    call.out.say(f"made team {name} in {shown}: {lead} leads {', '.join(members[1:]) or 'nobody yet'}")
    call.out.say(f"open it with: team-console -t {shown}")
    return 0


def _place(given: str | None, team: str | None) -> str:
    """The location of the argument, else of `-t`, else of the environment, else the current folder.

    Raises:
        TeamError: `USAGE` when argument and `-t` name two places.
    """
    if given == "" or team == "":  # of a script whose variable is not set; it does not mean the current folder
        raise TeamError(Code.USAGE, "the place for the new team is empty", "Name a folder; a dot is the current one.")
    if given and team and given != team:
        raise TeamError(Code.USAGE, f"{given} and -t {team} are two places", "Name one.")
    return given or team or os.environ.get("TEAM_CONSOLE_TEAM") or "."


def _name_of(place: str) -> str:
    if "://" in place:
        name = place.partition("?")[0].rstrip("/").rpartition("/")[2]
    else:
        name = Path(os.path.realpath(absolute(place))).name
    name = name.removesuffix(Path(name).suffix) if _is_database(place) else name
    name = canonical(name)
    return name if is_name(name) and name != "all" else "team"


def _is_database(place: str) -> bool:

    return "://" in place or place.endswith(DATABASE_SUFFIXES)


def _make(place: str, name: str, lead: str, agents: list[Agent]) -> str:
    """Make it; gives back the location as it may be shown."""
    if place.startswith("claude:"):
        raise TeamError(Code.USAGE, f"{place}: a team of Claude Code is made by Claude Code", "Name a folder.")
    if _is_database(place):
        return _make_database(place, name, lead, agents)
    folder = Path(os.path.expanduser(place))
    _make_folder(folder, name, lead, agents)
    return str(folder)


def _make_database(place: str, name: str, lead: str, agents: list[Agent]) -> str:

    if "://" not in place:
        _make_parents(Path(os.path.expanduser(place)))
    made = create_database(place, new_text(team=name, lead=lead, agents=agents))
    team = open_team(place, read_only=True)
    team.close()
    if not made:
        text = f"{team.location} holds a team already; nothing was changed"
        raise TeamError(Code.NOT_PERMITTED, text, "Choose another database, or: team-console member add NAME")
    return team.location


def _make_parents(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TeamError(
            Code.STORE_FAILED, f"{error.filename}: {error.strerror}", "Choose a folder to write in."
        ) from None


def _make_folder(folder: Path, name: str, lead: str, agents: list[Agent]) -> None:

    try:
        for known in (PROJECT_CONFIG, PROJECT_QUEUE):
            if (folder / known).exists():
                hint = f"Use it with -t {folder}, add members with 'team-console member add', or choose another folder."
                raise TeamError(Code.NOT_PERMITTED, f"{folder / known} exists already; nothing was changed", hint)
        folder.mkdir(parents=True, exist_ok=True)
        write_new(folder / CONFIG_NAME, team=name, lead=lead, agents=agents)
        if not (folder / QUEUE_NAME).exists():
            with (folder / QUEUE_NAME).open("x", encoding="utf-8") as file:
                file.write("messages: []\n")
    except FileExistsError as error:
        raise TeamError(
            Code.NOT_PERMITTED, f"{error.filename} exists already; nothing was changed", "Choose another folder."
        ) from None
    except OSError as error:
        raise TeamError(
            Code.STORE_FAILED, f"{error.filename}: {error.strerror}", "Choose a folder to write in."
        ) from None


# `member`: adds, changes, removes and lists the members in the team's settings.

_ACTIONS = ("add", "set", "remove", "list")
_EVERYBODY = "all"


def add_member_arguments(parser: ArgumentParser) -> None:
    """Declare the action, the members and their fields."""
    parser.description = (
        "Add, change, remove or list the members in the team's settings. Comments and style of the file stay.\n\n"
        "  team-console member add scrum-master:resident developer:plan\n"
        "  team-console member set developer --role resident --no-plan --deliver './wake developer'\n"
        "  team-console member remove developer"
    )
    parser.add_argument("what", choices=_ACTIONS, help="what to do")
    add_completed(
        parser,
        "agents",
        "members",
        nargs="*",
        metavar="NAME[:ROLE][:plan]",
        help=f"members; ROLE is one of {', '.join(ROLES)}",
    )
    parser.add_argument("--role", choices=ROLES, help="its role")
    parser.add_argument("--plan", action=BooleanOptionalAction, help="it works only after its plan was approved")
    parser.add_argument("--deliver", metavar="COMMAND", help="command for pushed messages; '' for the inbox file")
    parser.add_argument("--deliver-timeout", type=float, metavar="SECONDS", help="how long that command may take")
    add_completed(parser, "agents", "--may-message", metavar="A[,B]|all", help="whom it may write to")
    parser.add_argument("--may-send", metavar="KIND[,KIND]|all", help="which kinds it may send")
    parser.add_argument("--ask-for", metavar="RULE|none|team", action="append", help=ASK_HELP)


def do_member(call: Call) -> int:
    """Do it and say what is different."""
    what, words = call.options.what, call.options.members
    if what == "list":
        _refuse_fields(_fields(call), what)
        return _list(call, words)
    if not words:
        raise TeamError(Code.USAGE, f"member {what}: nobody is named", f"Name members: team-console member {what} NAME")
    fields = _fields(call)
    if what == "remove":
        _refuse_fields(fields, what)
        return _finish(call, desk.remove_members(call.caller, words), "removed")
    agents = [parse_agent(word, field="member") for word in words]
    if what == "add":
        return _finish(call, desk.add_members(call.caller, [replace(agent, **fields) for agent in agents]), "added")
    if len(words) > 1:
        raise TeamError(Code.USAGE, "member set changes one member at a time", "Name one.")
    name = agents[0].name
    done = desk.set_member(call.caller, name, {**_spoken(words[0], agents[0]), **fields})
    if "ask_for" in fields:
        note = f"the rules in its client's settings follow when it joins again: team-console join {name} --for CLIENT"
        done = replace(done, warnings=(*done.warnings, note))
    return _finish(call, done, "set")


def _fields(call: Call) -> dict[str, Any]:
    options = call.options
    given: dict[str, Any] = {"role": options.role, "plan_mode_required": options.plan}
    if options.deliver is not None:
        given["deliver"] = _command(options.deliver)
    if options.deliver_timeout is not None:
        if not 0 < options.deliver_timeout < 1e9:
            text = f"--deliver-timeout: {options.deliver_timeout:g} is not a number of seconds above 0"
            raise TeamError(Code.USAGE, text, "Give 30, for example.")
        given["deliver_timeout"] = options.deliver_timeout
    fields = {key: value for key, value in given.items() if value is not None}
    for key in ("may_message", "may_send"):
        if (text := getattr(options, key)) is not None:
            names = split_names([text])
            fields[key] = None if _EVERYBODY in names else frozenset(names)
    if options.ask_for is not None:
        fields["ask_for"] = parse_rules(options.ask_for)
    return fields


def _command(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise TeamError(Code.USAGE, f"--deliver: {str(error).lower()}", "Quote it as for a shell.") from error


def _spoken(word: str, agent: Agent) -> dict[str, Any]:
    """The fields that `NAME[:ROLE][:plan]` itself names."""
    named: dict[str, Any] = {"role": agent.role} if set(word.split(":")[1:]) - {"plan"} else {}
    return {**named, "plan_mode_required": True} if agent.plan_mode_required else named


def _refuse_fields(fields: dict[str, Any], what: str) -> None:
    if fields:
        option = "--" + next(iter(fields)).replace("_mode_required", "").replace("_", "-")
        raise TeamError(Code.USAGE, f"member {what} takes no {option}", "Leave it out.")


def _finish(call: Call, done: Any, word: str) -> int:
    """Print a change."""
    if call.out.as_json:
        call.out.json(
            {
                "success": True,
                "action": done.action,
                "team": done.team,
                "members": [member_json(agent) for agent in done.members],
                "warnings": [*done.warnings, *(notice.message for notice in done.notices)],
            }
        )
        return 0
    for agent in done.members:
        call.out.say(safe_line(f"{word}: {agent.name} ({_described(agent)})"))
    call.out.warn([*done.warnings, *(notice.message for notice in done.notices)])
    return 0


def _described(agent: Agent) -> str:
    return ", ".join((agent.role, *(["plans first"] if agent.plan_mode_required else [])))


def _list(call: Call, names: Sequence[str]) -> int:
    """The members as the settings name them, or those of them that are named; what became of them shows in `roster`."""
    config = call.team.config()
    agents = [desk.member_in_settings(config, name) for name in names] or list(config.agents.values())
    if call.out.as_json:
        members = [member_json(agent) for agent in agents]
        call.out.json({"team": config.name, "lead": config.lead, "declared": config.declared, "members": members})
        return 0
    if not config.agents:
        call.out.say("the settings name no members: whoever writes and is written to is one")
        return 0
    heads = ("MEMBER", "ROLE", "PLAN", "DELIVERED BY", "MAY WRITE TO", "MAY SEND")
    print_table(call.out, heads, [_cells(agent) for agent in agents])
    return 0


def _cells(agent: Agent) -> tuple[str, ...]:
    plan = "first" if agent.plan_mode_required else "-"
    rights = [
        "all" if allowed is None else ", ".join(sorted(allowed)) or "-"
        for allowed in (agent.may_message, agent.may_send)
    ]
    return agent.name, agent.role, plan, shlex.join(agent.deliver) or "inbox file", *rights


# `migrate`: copies a team with its history to another place.


def add_migrate_arguments(parser: ArgumentParser) -> None:
    """Declare where from and where to."""
    parser.description = (
        "Copy queue, archives, attachments and audit trail of the team FROM to TO, which is made when it is not\n"
        "there. Only missing things are copied, so it can be run again, after an interruption or to bring the rest\n"
        "over before the change. FROM is only read. Stop what writes to it first, then let everybody use TO.\n\n"
        "  team-console migrate . postgresql://console@db.example/sprint42"
    )
    forms = "a folder, PATH.db or postgresql://..."
    add_completed(parser, "files", "source", metavar="FROM", help=f"the team to copy: {forms}")
    add_completed(parser, "files", "target", metavar="TO", help=f"where to: {forms}")


def do_migrate(call: Call) -> int:
    """Copy, compare, and say what was copied."""
    options = call.options
    if options.read_only:
        raise TeamError(Code.READ_ONLY, "migrate writes to its target", "Leave --read-only out.")
    source = open_team(options.source, read_only=True)
    if isinstance(source, ClaudeTeam):
        source = source.taken_over()
    try:
        config = source.config()
        target = open_target(options.target, config)
        try:
            actor = call.given_actor or config.lead
            found = [*key_findings(config, source.snapshot().recorded), *trail_findings(source.audit(limit=10**9))]
            done = migrate(source, target, actor=actor, wait=LOCK_WAIT, progress=_progress(call), found=found)
        finally:
            target.close()
    finally:
        source.close()
    return _show(call, done, safe_line(target.location))


def _progress(call: Call) -> Callable[[str, int], None]:
    def told(what: str, number: int) -> None:
        if not call.out.as_json and number:
            call.out.note(f"{number:,} {what}")

    return told


def _show(call: Call, done: Migrated, place: str) -> int:
    if call.out.as_json:
        call.out.json({"success": True, "action": "migrate", "location": place, **asdict(done)})
        return 0
    copied = (
        counted(done.live, "message"),
        counted(done.archived, "archive entry"),
        counted(done.attachments, "attachment"),
        counted(done.audit, "audit line"),
    )
    there = f"{done.already:,} {'was' if done.already == 1 else 'were'} there"
    call.out.say(f"copied to {place}: {', '.join(copied)}; {done.updated:,} updated, {there}")
    if done.differing:
        names = safe_line(", ".join(done.differing[:5]))
        number = f"{len(done.differing):,}"
        call.out.note(f"left alone, because the target has another state of them: {number} ({names}, ...)")
    call.out.warn(done.warnings)
    return 0
