"""Receipts of what a join made that was not there before, so that a leave takes out that and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.agents import claude_code, codex
from team_console.console.agents import client_settings as settings_file
from team_console.console.agents.ask_rules import native_rules
from team_console.console.agents.client_settings import (
    FileChange,
    NotEditable,
    Words,
    around_block,
    hook_command,
    hook_entries,
    marked,
    names_in,
    note_of,
    read_file,
    with_block,
    write_change,
    written_bodies,
)
from team_console.console.agents.instructions import instructions_for, program
from team_console.console.drafts import state_folder
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.model.names import USER, check_name
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, remove_members, set_member
from team_console.store.settings.team_config import Agent, TeamConfig


class Receipt:
    """What was made for one purpose, in `XDG_STATE_HOME/team-console/joined`; lost, it only costs precision."""

    def __init__(self, purpose: str) -> None:
        name = hashlib.sha256(purpose.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._path = state_folder() / "joined" / f"{name}.json"
        self._purpose = purpose

    def read(self) -> list[str] | None:
        """What was made, None when nothing is known."""
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        made = value.get("made") if isinstance(value, dict) else None
        return [item for item in made if isinstance(item, str)] if isinstance(made, list) else None

    def keep(self, made: Sequence[str]) -> None:
        """Remember what was made, with what was made before."""
        every = list(dict.fromkeys([*(self.read() or ()), *made]))
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            staged = self._path.with_suffix(f".{os.getpid()}.tmp")
            staged.write_text(json.dumps({"for": self._purpose, "made": every}), encoding="utf-8")
            staged.replace(self._path)

    def forget(self) -> None:
        """It was taken out again."""
        with suppress(OSError):
            self._path.unlink()


def file_receipt(path: Path) -> Receipt:
    """The receipt of a client's file."""
    return Receipt(f"file {os.path.abspath(path)}")


def member_receipt(location: str, name: str) -> Receipt:
    """The receipt of a member that was put into a team's settings."""
    return Receipt(f"member {location} {name}")


# Places where clients keep their settings, and the changes there by which a member joins or leaves.

_EMPTY = "{}\n"
_TEXT = "text "
"""Begins a note of the blanks that were all of a file before a join."""
_SIGNS = ("TEAM_CONSOLE_AS", "team-console: ")
"""One of them stands in every file that has something of a join: hooks and servers name who acts, blocks are marked."""


class Client(StrEnum):
    """What an agent runs in, as `join --for` names it."""

    CLAUDE = "claude"
    CODEX = "codex"
    MCP = "mcp"
    SHELL = "shell"


class Scope(StrEnum):
    """Whose settings change."""

    PROJECT = "project"
    LOCAL = "local"
    """Of the project, for this machine alone."""
    USER = "user"


_SCOPES: Mapping[Client, Sequence[Scope]] = {
    Client.CLAUDE: tuple(Scope),
    Client.CODEX: (Scope.PROJECT, Scope.USER),
    Client.MCP: (),
    Client.SHELL: (),
}
"""The scopes whose settings a client reads together; none where it has no hooks."""


class Joining(Struct, frozen=True):
    """Who joins which team, by which program, in which project and home.

    Attributes:
        instructions: What a shell's agent must know.
        rules: What the client is told to ask for, in its own words.
    """

    name: str
    location: str
    program: tuple[str, ...]
    project: Path
    home: Path
    instructions: str = ""
    rules: tuple[str, ...] = ()

    @property
    def words(self) -> Words:
        """What spares questions about our own server, and what brings others."""
        return {
            settings_file.ALLOWED: [settings_file.ALLOW_RULE],
            settings_file.ASKED: self.rules,
            settings_file.ENABLED: [settings_file.SERVER],
        }

    @property
    def server(self) -> dict[str, Any]:
        """The entry of our MCP server."""
        environment = {"TEAM_CONSOLE_AS": self.name, "TEAM_CONSOLE_TEAM": self.location}
        return {"command": self.program[0], "args": [*self.program[1:], "mcp"], "env": environment}


Edit = Callable[[str, list[str]], str]
"""Makes of the text of a file the text after; the list gets what was not there before."""


class Place(Struct, frozen=True):
    """One file of a client.

    Attributes:
        home: The folder it must not lead out of.
        empty: What an absent file counts as.
        join, leave: The edits; `leave` is told what a join made, None when nobody knows.
    """

    path: Path
    home: Path
    empty: str
    join: Edit
    leave: Callable[[str, Sequence[str] | None], str]

    def joining(self) -> tuple[FileChange, list[str]]:
        """The change by which the member joins, and what it makes that was not there.

        Raises:
            TeamError: `NOT_PERMITTED`, for a file that has to be changed by hand.
        """
        before, made = read_file(self.path, self.home), list[str]()
        after = self._edited(lambda text: self.join(text, made), before)
        if before is None:
            made.append("file")
        elif not before.strip():
            made.append(f"{_TEXT}{before}")
        if not self.path.parent.exists():
            made.append("folder")
        return FileChange(self.path, self.home, before, after), made

    def leaving(self) -> FileChange:
        """The change by which it leaves; a file that only a join made goes with it."""
        before = read_file(self.path, self.home)
        if before is None or not any(sign in before for sign in _SIGNS):  # others' files need not even be JSON
            return FileChange(self.path, self.home, before, before)
        made = file_receipt(self.path).read()
        after: str | None = self._edited(lambda text: self.leave(text, made), before)
        if after is not None and after != before and after.strip() == self.empty.strip():
            blank = next((note.removeprefix(_TEXT) for note in made or () if note.startswith(_TEXT)), after)
            after = None if made is None or "file" in made else blank
        return FileChange(self.path, self.home, before, after)

    def _edited(self, edit: Callable[[str], str], before: str | None) -> str:
        text = before if before is not None and before.strip() else self.empty
        try:
            return edit(text)
        except NotEditable as error:
            hint = "--print shows what would stand there; write it by hand."
            raise TeamError(Code.NOT_PERMITTED, f"{self.path} cannot be edited: {error}", hint) from error


def places_of(client: Client, scope: Scope, joining: Joining) -> list[Place]:
    """The files that change when a member joins from this client.

    Raises:
        TeamError: `USAGE` for a scope that the client does not have.
    """
    if client is Client.CLAUDE:
        return _claude(scope, joining)
    if client is Client.CODEX:
        return _codex(scope, joining)
    if scope is not Scope.PROJECT:
        text = f"--{scope}: there is no such file for every {'shell' if client is Client.SHELL else 'MCP client'}"
        raise TeamError(Code.USAGE, text, "Join in a project, or copy what --print shows.")
    return [_agents_file(joining)] if client is Client.SHELL else [_server_file(joining.project, ".mcp.json", joining)]


def every_place(joining: Joining) -> list[Place]:
    """All files in which a member may have joined, each once."""
    scopes = [(client, scope) for client, scopes in _SCOPES.items() for scope in scopes]
    wanted = [*scopes, (Client.SHELL, Scope.PROJECT)]
    places = [place for client, scope in wanted for place in places_of(client, scope, joining)]
    return list({place.path: place for place in places}.values())


def refuse_other_scopes(client: Client, scope: Scope, joining: Joining) -> None:
    """Refuse to join where settings of another scope have another member: a client runs the hooks of all scopes, so
    each session would act as both, and ask everything twice.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    for other in _SCOPES[client]:
        settings = places_of(client, other, joining)[0]
        taken = _members_at(settings) - {joining.name} if other is not scope else ()
        if taken:
            text = f"sessions here act as {min(taken)} already, by {settings.path}"
            raise TeamError(Code.NOT_PERMITTED, text, f"First: team-console leave {min(taken)}")


def _members_at(settings: Place) -> set[str]:
    try:
        return settings_file.members_in(settings_file.read(read_file(settings.path, settings.home) or _EMPTY))
    except (TeamError, NotEditable):  # what cannot be read has nothing of ours
        return set()


def _claude(scope: Scope, joining: Joining) -> list[Place]:
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    if scope is Scope.USER:
        folder = Path(configured) if configured else joining.home / ".claude"
        beside = folder if configured else joining.home
        return [
            _settings_file(folder, "settings.json", joining, claude_code.CLIENT),
            _server_file(beside, ".claude.json", joining),
        ]
    name = "settings.json" if scope is Scope.PROJECT else "settings.local.json"
    return [
        _settings_file(joining.project, f".claude/{name}", joining, claude_code.CLIENT),
        _server_file(joining.project, ".mcp.json", joining),
    ]


def _codex(scope: Scope, joining: Joining) -> list[Place]:
    if scope is Scope.LOCAL:
        raise TeamError(Code.USAGE, "--local: Codex has no such settings", "Use --project or --user.")
    configured = os.environ.get("CODEX_HOME")
    home = Path(configured) if configured else joining.home / ".codex"
    folder = home if scope is Scope.USER else joining.project / ".codex"
    base = home if scope is Scope.USER else joining.project
    return [
        _settings_file(base, os.path.relpath(folder / "hooks.json", base), joining, codex.CLIENT),
        _toml_file(folder / "config.toml", base, joining),
    ]


def _settings_file(home: Path, name: str, joining: Joining, client: str) -> Place:
    """Hooks, and for Claude Code its rules."""
    words = joining.words if client == claude_code.CLIENT else {}
    command = hook_command(joining.program, name=joining.name, location=joining.location)
    entries = hook_entries(client, command, has_rules=bool(words))
    path = home / name

    def join(text: str, made: list[str]) -> str:
        settings = settings_file.read(text)
        settings_file.with_hooks(settings, joining.name, entries, made)
        settings_file.with_words(settings, words, made, file_receipt(path).read())
        return settings_file.written(text, settings)

    def leave(text: str, made: Sequence[str] | None) -> str:
        settings = settings_file.read(text)
        if settings_file.without_hooks(settings, joining.name):
            settings_file.without_words(settings, words, made)
            settings_file.prune(settings, made)
        return settings_file.written(text, settings)

    return Place(path, home, _EMPTY, join, leave)


def _server_file(home: Path, name: str, joining: Joining) -> Place:
    def join(text: str, made: list[str]) -> str:
        settings = settings_file.read(text)
        settings_file.with_server(settings, joining.name, joining.server, made)
        return settings_file.written(text, settings)

    def leave(text: str, made: Sequence[str] | None) -> str:
        settings = settings_file.read(text)
        if settings_file.without_server(settings, joining.name):
            settings_file.prune(settings, made)
        return settings_file.written(text, settings)

    return Place(home / name, home, _EMPTY, join, leave)


def _toml_file(path: Path, home: Path, joining: Joining) -> Place:
    def join(text: str, made: list[str]) -> str:
        others = _without_server(text, joining.name)
        if settings_file.SERVER in _servers(others):
            raise NotEditable(f"it has a server {settings_file.SERVER} already, which another join or a hand put there")
        after = with_block(others, _toml_server(joining))
        # A table of servers within braces takes none at the end.
        _parsed(after, "it has its servers in a form to which none can be added at the end")
        return after if _parsed(text, "it is not TOML") != _parsed(after, "") else text

    return Place(path, home, "", join, lambda text, made: _without_server(text, joining.name))


_HEADER = f"[mcp_servers.{settings_file.SERVER}]"
_OURS = re.compile(
    rf"\n?(?:# team-console: [^\n]*\n)?{re.escape(_HEADER)}\n"
    r"(?:(?:command|args|env|default_tools_approval_mode) = [^\n]*(?:\n|\Z))+"
)
"""Our server, with the comment that earlier versions put before it; what others wrote behind it is theirs."""


def _without_server(text: str, name: str) -> str:
    """The text without our server, if it acts as `name`; what it says else stays the same, and where it is.

    Raises:
        NotEditable: It is not TOML.
    """
    servers = _servers(text)
    if settings_file.server_member(servers.get(settings_file.SERVER)) != name:
        return text
    for found in _OURS.finditer(text):  # a text of somebody else may quote one
        after = text[: found.start()] + text[found.end() :].replace(f"# /team-console: {name}\n", "", 1)
        if settings_file.SERVER not in _servers(after):
            return after
    raise NotEditable("what a join wrote was changed there; take it out by hand")


def _servers(text: str) -> dict[str, Any]:
    servers = _parsed(text, "it is not TOML").get("mcp_servers")
    return servers if isinstance(servers, dict) else {}


def _toml_server(joining: Joining) -> str:
    """Strings of JSON are strings of TOML."""
    server = joining.server
    environment = ", ".join(f"{key} = {json.dumps(value)}" for key, value in server["env"].items())
    lines = [
        _HEADER,
        f"command = {json.dumps(server['command'])}",
        f"args = {json.dumps(server['args'])}",
        f"env = {{ {environment} }}",
        'default_tools_approval_mode = "approve"',
    ]
    return "\n".join(lines)


def _parsed(text: str, trouble: str) -> dict[str, Any]:
    """The values of a TOML text.

    Raises:
        NotEditable: It is none; with `trouble` and what the parser says.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"{trouble}: {error}") from error


def _agents_file(joining: Joining) -> Place:
    path = joining.project / "AGENTS.md"

    def around(text: str, made: Sequence[str] | None) -> tuple[str, str] | None:
        bodies = [*written_bodies(made), joining.instructions]
        found = around_block(text, [marked(joining.name, body) for body in bodies])
        if found is None and joining.name in names_in(text):
            raise NotEditable("what a join wrote was changed there; take it out by hand")
        return found

    def join(text: str, made: list[str]) -> str:
        others = [name for name in names_in(text) if name != joining.name]
        if others:
            raise NotEditable(f"it says already that the agent is {others[0]}; first: team-console leave {others[0]}")
        made.append(note_of(joining.instructions))
        block, found = marked(joining.name, joining.instructions), around(text, file_receipt(path).read())
        if block in text:
            return text
        return with_block("".join(found) if found is not None else text, block)

    def leave(text: str, made: Sequence[str] | None) -> str:
        found = around(text, made)
        return "".join(found) if found is not None else text

    return Place(path, joining.project, "", join, leave)


# Joining and leaving as wholes: the member, every file of the client, and what is told about it.


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
    rules = config.asked_for(name) if agent.ask_for is None else agent.ask_for
    joining = _joining(caller.team, name, project, rules)
    _refuse_nameless(joining)
    steps = [(place, *place.joining()) for place in places_of(client, scope, joining)]
    refuse_other_scopes(client, scope, joining)
    adds = config.declared and name not in config.agents
    if write:
        if adds:
            add_members(caller, [agent])
            member_receipt(caller.team.location, name).keep(["member"])
        elif agent.ask_for is not None:
            set_member(caller, name, {"ask_for": agent.ask_for})
        for place, change, made in steps:
            _write(place, change, made)
    changes = tuple(change for _, change, _ in steps)
    notes = [*_kept(config, agent), *_notes(client, scope, name, changes)]
    if client in (Client.CLAUDE, Client.CODEX):
        asked = ", ".join(rules) or "nothing"
        notes.append(f"while a console is open it asks you for: {asked} (to change it: join {name} --ask-for RULE)")
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
    return Path(__file__).parent / "plugin"


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


def _joining(team: Team, name: str, project: Path, rules: Sequence[str] = ()) -> Joining:
    location = team.location if "://" in team.location else str(Path(team.location).absolute())
    words = instructions_for(team, name, by_itself=False)
    native = tuple(native_rules(rules))
    return Joining(name, location, program(), project.absolute(), home(), words, native)


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
        running = "sessions that run act as this member in about 3 seconds, and all that start from now on"
        notes.append(f"{running}; only the MCP server needs a new session")
    if client is Client.CLAUDE and scope is Scope.PROJECT:
        notes.append("these files name this machine's paths; --local keeps the hooks out of a shared repository")
    if client is Client.CLAUDE and scope is Scope.LOCAL:
        notes.append(".mcp.json names this machine's paths and is the project's: keep it out of a shared repository")
    if client is Client.CODEX:
        notes.append("Codex asks at the next prompt whether it may run these hooks: 'Trust all and continue'")
    if client is not Client.SHELL and find_spec("mcp") is None:
        notes.append("the MCP server needs one more package: pip install 'team-console[mcp]'")
    return notes
