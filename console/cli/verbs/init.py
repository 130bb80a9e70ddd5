"""`init`: a new team in a folder, a database file or on a server."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.member_rows import parse_agent, with_lead
from team_console.store.backends.locations import absolute
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import canonical, check_name, is_name
from team_console.store.model.safe import safe_line
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.team_config import CONFIG_NAME, Agent


def add_arguments(parser: ArgumentParser) -> None:
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


def run(call: Call) -> int:
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
    from team_console.store.backends.open import DATABASE_SUFFIXES

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
    from team_console.store.backends.open import open_team
    from team_console.store.backends.sql.team import create_database
    from team_console.store.settings.settings_file import new_text

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
    from team_console.store.backends.open import PROJECT_CONFIG, PROJECT_QUEUE, QUEUE_NAME
    from team_console.store.settings.settings_file import write_new

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
