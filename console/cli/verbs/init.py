"""`init`: a new YAML team in a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from console.cli.call import Call
from store.config import Agent
from store.errors import Code, TeamError
from store.names import check_name, is_name
from store.safe import safe_line

_ROLES = ("master", "resident", "slave", "temp", "member")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of `DESIGN.md` section 5."""
    parser.description = (
        "Write the settings and an empty queue into DIR (made when it is not there). A queue that exists already is\n"
        "kept as it is. Example:\n\n"
        "  team-console init team --name sprint-42 --lead ceo --agent task-manager:plan --agent scrum-master:resident"
    )
    parser.add_argument("dir", nargs="?", default=".", metavar="DIR", help="the folder (default: the current one)")
    parser.add_argument("--name", metavar="TEAM", help="the team's name (default: the folder's)")
    parser.add_argument("--lead", metavar="NAME", default="ceo", help="who answers plans (default: ceo)")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME[:ROLE][:plan]",
        help=f"a member; ROLE is one of {', '.join(_ROLES)}; plan: it works only after its plan was approved",
    )


def run(call: Call) -> int:
    """Make the team and say how to go on."""
    options = call.options
    if options.read_only:
        raise TeamError(Code.READ_ONLY, "init writes a new team", "Leave --read-only out.")
    folder = Path(options.dir).expanduser()
    name = check_name(options.name, field="--name") if options.name else _name_of(folder)
    lead = check_name(options.lead, field="--lead")
    agents = _with_lead([parse_agent(text) for text in options.agent], lead)
    _write(folder, name, lead, agents)
    members = [agent.name for agent in agents]
    if call.out.as_json:
        call.out.json(
            {"success": True, "action": "init", "team": name, "location": str(folder), "lead": lead, "agents": members}
        )
        return 0
    place = safe_line(folder)
    call.out.say(f"made team {name} in {place}: {lead} leads {', '.join(members[1:]) or 'nobody yet'}")
    call.out.say(f"open it with: team-console -t {place}")
    return 0


def parse_agent(text: str) -> Agent:
    """The member described by `NAME[:ROLE][:plan]`.

    Raises:
        TeamError: `INVALID_NAME`, or `USAGE` for a word that is no role.
    """
    name, *words = text.split(":")
    check_name(name, field="--agent")
    role, plan = "member", False
    for word in words:
        if word == "plan":
            plan = True
        elif word in _ROLES:
            role = word
        else:
            raise TeamError(Code.USAGE, f"--agent {text}: {word!r} is no role", f"Roles: {', '.join(_ROLES)}; or plan.")
    return Agent(name=name, role=role, plan_mode_required=plan)


def _with_lead(agents: list[Agent], lead: str) -> list[Agent]:
    names = [agent.name for agent in agents]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TeamError(Code.USAGE, f"--agent {twice} is given twice", "Name every agent once.")
    mine = next((agent for agent in agents if agent.name == lead), Agent(name=lead, role="master"))
    return [mine, *(agent for agent in agents if agent.name != lead)]


def _name_of(folder: Path) -> str:
    name = folder.resolve().name
    return name if is_name(name) and name != "all" else "team"


def _write(folder: Path, name: str, lead: str, agents: list[Agent]) -> None:
    from store.config import CONFIG_NAME
    from store.config_file import write_new
    from store.locations import QUEUE_NAME

    try:
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
