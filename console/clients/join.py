"""Joining and leaving: what is written into files of clients, and kept of it, so that a leave takes out that alone."""

from __future__ import annotations

import copy
import difflib
import fcntl
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import stat
import time
import tomllib
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.claude import NAME as CLAUDE
from team_console.console.clients.client_process import is_alive
from team_console.console.clients.codex import NAME as CODEX
from team_console.console.clients.event import EventName
from team_console.console.clients.instructions import PROGRAM, instructions_for, program
from team_console.console.clients.quick import Invocation
from team_console.console.clients.rules import native_rules
from team_console.console.clients.running import claude_home, claude_sessions, codex_home, facts_of_session
from team_console.console.clients.session_files import (
    EACH,
    RUNNING,
    SessionFiles,
    name_of,
    names,
)
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.home import home, state_folder
from team_console.store.model.names import ALL, USER, check_name
from team_console.store.protocol.parsing import text_in
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, remove_members, set_member
from team_console.store.settings.team_config import Agent

# Settings files of clients: changed where we join, left as they are everywhere else.

Settings = dict[str, Any]
Notes = list[list[str]]
"""What a join made that was not there before: the ways to objects, lists and words in them, outer ones first."""


Edit = Callable[[str, Notes | None, bool], tuple[str, Notes]]
"""A text, what a join made there (None: nobody knows), whether it joins -> the text after, what is made there now."""


class NotEditable(ValueError):
    """The text is not JSON that could be edited; it says why."""


def read(text: str) -> Settings:
    """Parse settings of a client.

    Raises:
        NotEditable: They are no JSON object, have a key twice, or a number that Python does not hold.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_float)
    except (ValueError, RecursionError) as error:
        raise NotEditable(str(error)) from error
    if not isinstance(value, dict):
        raise NotEditable("it is not a JSON object")
    return value


def written(text: str, settings: Settings) -> str:
    """Write changed settings with the indentation and line ends of `text`; unchanged ones are `text` itself.

    Raises:
        NotEditable: They are nested too deeply.
    """
    if settings == read(text):
        return text
    unit = re.search(r"\n([ \t]+)\S", text)
    try:
        after = json.dumps(settings, ensure_ascii=False, indent=unit.group(1) if unit is not None else 2)
    except RecursionError as error:
        raise NotEditable(str(error)) from error
    # Half a character cannot be written as UTF-8.
    after = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", after)
    after += "\n" if text.endswith("\n") else ""
    return after.replace("\n", "\r\n") if "\r\n" in text else after


def _object(pairs: list[tuple[str, Any]]) -> Settings:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return found


def _float(text: str) -> float:
    """Parse a number that comes out of Python as it went in."""
    number = float(text)
    if not math.isfinite(number) or Decimal(repr(number)) != Decimal(text):
        raise ValueError(f"the number {text[:30]} cannot be kept as it is")
    return number


def _at(settings: Settings, way: Sequence[str]) -> Any:
    """Find the value at the end of a way; None for none."""
    value: Any = settings
    for step in way:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def merge(settings: Settings, ours: Settings) -> None:
    """Put our objects, and what our lists have, beside what is there.

    Raises:
        NotEditable: Something of another kind is there.
    """
    for key, value in ours.items():
        there = settings.setdefault(key, type(value)())
        if type(there) is not type(value):
            raise NotEditable(f"{key} is not {'a list' if isinstance(value, list) else 'an object'}")
        if isinstance(value, dict):
            merge(there, value)
        elif isinstance(value, list):
            there += [item for item in value if item not in there]
        else:
            settings[key] = value


def added(before: Settings, after: Settings, way: Sequence[str] = ()) -> Iterator[list[str]]:
    """Find what `after` has and `before` has not."""
    for key, value in after.items():
        if isinstance(value, (dict, list)) and key not in before:
            yield [*way, key]
        known = before.get(key, ())
        if isinstance(value, dict):
            yield from added(known or {}, value, [*way, key])
        elif isinstance(value, list):
            yield from ([*way, key, item] for item in value if isinstance(item, str) and item not in known)


def take_out(settings: Settings, name: str, notes: Notes) -> None:
    """Take out hooks and server of the member `name`, and what `notes` say, if any of it is there."""
    if name not in members_in(settings):
        return
    for entries in _hooks(settings).values():
        entries[:] = [entry for entry in entries if _members(entry) != {name}]
    if server_member(_at(settings, (SERVERS, SERVER))) == name:
        del settings[SERVERS][SERVER]
    for *way, last in reversed(notes):
        holder = _at(settings, way)
        if isinstance(holder, list) and last in holder:
            holder.remove(last)
        elif isinstance(holder, dict) and holder.get(last) in ({}, []):
            del holder[last]


# A marked block: lines of ours in a text file of somebody else, which a number tells from lines that were changed.

_BLOCK = r"<!-- team-console: {0} (\w+) [^\n]*-->\n(.*?)\n<!-- /team-console: {0} -->"


def block_of(name: str, body: str) -> str:
    """Return the lines of a block of the member `name`, between comments of Markdown."""
    opening = f"<!-- team-console: {name} {_number(body)} (this block is written by 'team-console join') -->"
    return f"{opening}\n{body.rstrip()}\n<!-- /team-console: {name} -->"


def _number(body: str) -> str:
    return f"{zlib.crc32(body.rstrip().encode()):08x}"


def with_block(text: str, block: str) -> str:
    """Return the text with the block at its end, behind a line end that goes with it."""
    return f"{text}\n{block}\n" if text else f"{block}\n"


def _put_together(before: str, behind: str) -> str:
    """Join the texts before and behind our lines; a last line without a line end gets one."""
    return f"{before}\n{behind}" if before and behind and not before.endswith("\n") else before + behind


def without_block(text: str, name: str) -> str:
    """Return the text without the block of the member `name`, and without the line end that was put before it.

    Raises:
        NotEditable: Somebody changed the block.
    """
    found = re.search(rf"\n?{_BLOCK.format(re.escape(name))}\n?", text, re.DOTALL)
    if found is None or found[1] != _number(found[2]):
        if name in names_in(text):
            raise NotEditable("what a join wrote was changed there; take it out by hand")
        return text
    return _put_together(text[: found.start()], text[found.end() :])


def names_in(text: str) -> list[str]:
    """Return the members whose blocks stand in the text."""
    return re.findall(r"^<!-- /?team-console: (\S+)", text, re.MULTILINE)


# Change of one file of a client: shown, made whole or not at all, and only to what it was made for.

_LARGEST = 8 << 20


class FileChange(Struct, frozen=True):
    """What becomes of one file.

    Attributes:
        home: The folder that the file must not lead out of, whatever links there are.
        before, after: Its text; None for no file.
    """

    path: Path
    home: Path
    before: str | None
    after: str | None

    @property
    def word(self) -> str:
        """`created`, `changed`, `removed` or `unchanged`."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty for none."""
        old, new = (text.splitlines(keepends=True) if text else [] for text in (self.before, self.after))
        names = ("/dev/null" if self.before is None else str(self.path), str(self.path))
        lines = difflib.unified_diff(old, new, names[0], names[1] if self.after is not None else "/dev/null")
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def read_file(path: Path, home: Path) -> str | None:
    """Return the text of a client's file, None when there is none.

    Raises:
        TeamError: `NOT_PERMITTED` for a link that leads out of `home`, and for what is no text file of a usual size.
    """
    target = _target(path, home)
    try:
        found = os.stat(target)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            raise _refused(path, "it is not a plain file of a usual size")
        return target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _refused(path, "it is not UTF-8") from error
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error


def write_change(change: FileChange) -> None:
    """Make the change; folders that are missing are made, and empty ones are left.

    Raises:
        TeamError: `NOT_PERMITTED` when somebody changed the file meanwhile, or it cannot be written.
    """
    target = _target(change.path, change.home)
    if read_file(change.path, change.home) != change.before:
        raise _refused(change.path, "somebody changed it at the same time; nothing was written to it")
    try:
        if change.after is None:
            os.unlink(target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, change.after.encode())
    except OSError as error:
        raise _refused(change.path, error.strerror or str(error)) from error


def _replace(target: Path, data: bytes) -> None:
    """Write beside the file and rename over it: whoever reads it sees the old or the new.

    What a new file cannot be made to have (another owner, a second name) is kept by writing into the old one instead.
    """
    staged = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    old = os.stat(target) if target.exists() else None
    try:
        _write_all(staged, os.O_CREAT | os.O_EXCL, data, mode=0o600 if old else 0o666)
        if old:
            with suppress(OSError):
                os.chown(staged, old.st_uid, old.st_gid)
                shutil.copystat(target, staged)  # after the owner, whose change takes bits away
                os.utime(staged)
                old = None if old.st_nlink == 1 else old
        if not old:
            os.replace(staged, target)
            return
        # A crash in the middle of this leaves the new text whole, beside it.
        _write_all(target, os.O_TRUNC, data)
        os.unlink(staged)
    except OSError:
        staged.unlink(missing_ok=True)
        raise


def _write_all(path: Path, flags: int, data: bytes, mode: int = 0) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _target(path: Path, home: Path) -> Path:
    """Return the real path of the file: a link within the home is followed, a link out of it is not."""
    real, base = Path(os.path.realpath(path)), Path(os.path.realpath(home))
    # guard: client-settings-links
    if not real.is_relative_to(base):
        raise _refused(path, f"it is a link that leads out of {home}, and is not followed")
    return real


def _refused(path: Path, why: str) -> TeamError:
    return TeamError(Code.NOT_PERMITTED, f"{path}: {why}", "--print shows what would stand there; write it by hand.")


# Hooks that are put into a client's settings: for which events, and how long the client waits for each.

A_DAY = 86_400
_USUAL = 60
_CLAUDE_ONLY = {
    EventName.DENIED,
    EventName.AFTER_FAILED_TOOL,
    EventName.SUBAGENT_START,
    EventName.SUBAGENT_STOP,
    EventName.TEAMMATE_IDLE,
    EventName.CONFIG_CHANGE,
}
_SECONDS = {"PermissionRequest": A_DAY, "PreToolUse": A_DAY, "PermissionDenied": 180, "SessionEnd": 5}
"""Seconds for events that take another time than usual: a human may take a day."""
HOLD = "team-console-hold-"
"""Begins the name of a script; behind it stands the member's."""
_ASKING = "asking the human at the team's console"
_WAITING = {"PermissionRequest", "PermissionDenied"}
"""Events while whose hook the client shows that somebody is asked, to a teammate's terminal too."""


def hook_entries(
    client: str, command: Sequence[str], *, has_rules: bool = False, condition: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """Event -> entries for the client's settings.

    Args:
        command: The words that call the hook, environment assignments before it included.
        has_rules: Whether the settings hold rules of the client for what the team wants to be asked for.
        condition: Words for a shell before each command.
    """
    entries: dict[str, list[dict[str, Any]]] = {}
    for event in (event.value for event in EventName if client == CLAUDE or event not in _CLAUDE_ONLY):
        seconds = _SECONDS.get(event, _USUAL)
        words = [*command, *(["--timeout", str(seconds)] if seconds == A_DAY else ())]
        words += ["--has-rules"] if has_rules and event == EventName.BEFORE_TOOL else []
        words += ["--client", client] if client == CODEX else []
        shown = {"statusMessage": _ASKING} if event in _WAITING and client == CLAUDE else {}
        entries[event] = [_entry(condition + shell_line(words), seconds, **shown)]
    if client == CLAUDE:  # the only one whose idle session a hook can wake
        for event in (EventName.SESSION_START, EventName.PROMPT):
            entries[event].append(_entry(condition + shell_line([*command, "--wake"]), 7 * A_DAY, asyncRewake=True))
    return entries


def hold_entries(script: Path, rules: Sequence[str]) -> list[dict[str, Any]]:
    """Entries that hold what the client's `rules` match until somebody decides: what ends without a verdict is a no.

    A client shows the model the command of a hook that failed: so it names a script, and not who acts for whom.
    """
    more = {"onFailure": "block", "statusMessage": _ASKING}
    return [_entry(f"sh {shlex.quote(str(script))}", A_DAY, **more, **{"if": rule}) for rule in rules]


def _entry(line: str, seconds: int, **more: object) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": line, "timeout": seconds, **more}]}


def hook_command(program: Sequence[str], *, name: str = "", location: str = "") -> list[str]:
    """Return the words that call the hook for a member of a team; without a name the client's environment says who
    it is.
    """
    identity = [f"TEAM_CONSOLE_AS={name}", f"TEAM_CONSOLE_TEAM={location}"] if name else []
    return [*identity, *program, "hook"]


def member_of(command: object) -> str | None:
    """Return the member for whom a command calls our hook; None for a command of anybody else."""
    if isinstance(command, str) and (held := re.search(rf"/{HOLD}([^/\s']+)'?$", command)):
        return held[1]
    if not isinstance(command, str) or "TEAM_CONSOLE_AS=" not in command or "hook" not in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    names = [word.partition("=")[2] for word in words if word.startswith("TEAM_CONSOLE_AS=")]
    is_ours = "hook" in words and any(word.endswith((PROGRAM, "team_console.console")) for word in words)
    return names[0] if names and is_ours else None


def shell_line(words: Sequence[str]) -> str:
    """Return a line for a shell; assignments before the command keep their equals sign outside of quotes."""
    parts = []
    for word in words:
        name, equals, value = word.partition("=")
        is_assignment = bool(equals) and name.startswith("TEAM_CONSOLE_")
        parts.append(f"{name}={shlex.quote(value)}" if is_assignment else shlex.quote(word))
    return " ".join(parts)


# Settings of a client in JSON: our hooks, our MCP server and its allow rule beside what others put there.

SERVER = "team-console"
"""The name of our MCP server in clients."""
SERVERS = "mcpServers"
"""Where servers stand in the files of Claude Code."""


def settings_edit(name: str, ours: Settings) -> Edit:
    """Return the edit of a JSON file that puts `ours` in for the member `name`."""

    def edit(text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
        settings, made = read(text), Notes()
        others = members_in(settings) - {name} if joins else set()
        if others:
            other = min(others)
            text = f"sessions with these settings act as {'members of their own' if other == EACH else other} already"
            leave = f"team-console leave {'--all' if other == EACH else other}"
            raise TeamError(Code.NOT_PERMITTED, text, f"First: {leave}. Or join in another project.")
        if notes is None:  # nobody knows, so what nobody else would write
            notes = [way for way in added({}, ours) if _at(ours, way) is not None or SERVER in way[-1]]
        take_out(settings, name, notes)
        if joins:
            before = copy.deepcopy(settings)
            merge(settings, ours)
            made = list(added(before, settings))
        return written(text, settings), made

    return edit


def server_member(server: object) -> str | None:
    """Return the member as whom an MCP server acts."""
    name = _at(server, ("env", "TEAM_CONSOLE_AS")) if isinstance(server, dict) else None
    return name if isinstance(name, str) else None


def members_in(settings: Settings) -> set[str]:
    """Return the members whose hooks or server are in the settings.

    Raises:
        NotEditable: They cannot be read.
    """
    found = {member for entries in _hooks(settings).values() for entry in entries for member in _members(entry)}
    server = _at(settings, (SERVERS, SERVER))
    # A server that says no name is somebody else's.
    found |= {server_member(server) or "somebody else"} if server is not None else set()
    return {member for member in found if member is not None}


def _hooks(settings: Settings) -> dict[str, list[Any]]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise NotEditable("hooks is not an object")
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            raise NotEditable(f"hooks.{event} is not a list")
    return hooks


def _members(entry: object) -> set[str | None]:
    """For whom the commands of an entry call our hook; None for commands of others."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [item.get("command") for item in hooks if isinstance(item, dict)] if isinstance(hooks, list) else [None]
    return {member_of(command) for command in commands}


class Receipt(Struct, omit_defaults=True):
    """What a join made in one file, or of one member, kept in `XDG_STATE_HOME/team-console/joined`.

    Lost, it only costs precision.

    Attributes:
        member, team: Who joined which team.
        file: Where; empty for the member itself in the team's settings.
        notes: What was put there that was not there before.
        is_new: Whether there was no such file before.
        each: Whether `join --all` made it.
    """

    member: str
    team: str
    file: str = ""
    notes: Notes = []
    is_new: bool = False
    each: bool = False


def _receipts() -> SessionFiles:
    return SessionFiles(str(state_folder() / "joined"))


def receipts() -> Iterator[Receipt]:
    """Yield everything that joins made on this machine, as far as it is known."""
    yield from filter(None, map(_read_receipt, _receipts().names("")))


def receipt_of(key: str) -> Receipt | None:
    """Return the receipt of a file, or of a member; None when nothing is known."""
    return _read_receipt(_file_of(key))


def keep_receipt(receipt: Receipt) -> None:
    """Remember what was made."""
    key = receipt.file or member_key(receipt.team, receipt.member)
    _receipts().write(_file_of(key), msgspec.to_builtins(receipt))


def forget_receipt(key: str) -> None:
    """It was taken out again."""
    _receipts().remove(_file_of(key))


def member_key(team: str, name: str) -> str:
    """Return the key of the receipt for a member that was added to a team's settings."""
    return f"member {team} {name}"


def _file_of(key: str) -> str:
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def _read_receipt(file: str) -> Receipt | None:
    with suppress(msgspec.ValidationError):
        return msgspec.convert(_receipts().read(file), Receipt)
    return None


# Places where clients keep their settings, and the changes there by which a member joins or leaves.

_EMPTY = "{}\n"
_SIGNS = ("TEAM_CONSOLE_AS", "team-console: ")
"""One of them stands in every file that has something of a join: hooks and servers name who acts, blocks are marked."""


_SCOPES: Mapping[str, Sequence[str]] = {"claude": ("project", "local", "user"), "codex": ("project", "user")}
"""The scopes whose settings a client reads together: of the project, of it for this machine alone, the user's."""
_CLAUDE_HOOKS = {"project": ".claude/settings.json", "local": ".claude/settings.local.json", "user": "settings.json"}


class Joining(Struct, frozen=True):
    """Who joins which team, by which program, in which project and home.

    Attributes:
        instructions: What a shell's agent must know.
        rules: What the client is told to ask for, in its own words.
        hold: What it is told to hold until somebody decides, in its own words.
    """

    name: str
    location: str
    program: tuple[str, ...]
    project: Path
    instructions: str = ""
    rules: tuple[str, ...] = ()
    hold: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """The words that call the hook."""
        return hook_command(self.program, name=self.name, location=self.location)

    @property
    def server(self) -> dict[str, Any]:
        """The entry of our MCP server."""
        environment = {"TEAM_CONSOLE_AS": self.name, "TEAM_CONSOLE_TEAM": self.location}
        return {"command": self.program[0], "args": [*self.program[1:], "mcp"], "env": environment}


class Place(Struct, frozen=True):
    """One file of a client.

    Attributes:
        home: The folder it must not lead out of.
        edit: Puts our part in, or takes it out.
        empty: What an absent file counts as.
    """

    path: Path
    home: Path
    edit: Edit
    empty: str = ""

    def joining(self, joining: Joining) -> tuple[FileChange, Receipt]:
        """Return the change by which the member joins, and what it makes that was not there.

        Raises:
            TeamError: `NOT_PERMITTED`, for a file that has to be changed by hand.
        """
        before, known = read_file(self.path, self.home), receipt_of(str(self.path))
        after, notes = self._edited(before, known, joins=True)
        known = known or Receipt("", "", str(self.path), is_new=before is None)
        each = joining.name == EACH
        receipt = replace(known, member=joining.name, team=joining.location, notes=notes, each=each)
        return FileChange(self.path, self.home, before, after), receipt

    def leaving(self) -> FileChange:
        """Return the change by which it leaves; a file that only a join made goes with it."""
        before, known = read_file(self.path, self.home), receipt_of(str(self.path))
        is_ours = before is not None and (known is not None or any(sign in before for sign in _SIGNS))
        if before is None or not is_ours:  # others' files need not even be JSON
            return FileChange(self.path, self.home, before, before)
        after: str | None = self._edited(before, known, joins=False)[0]
        if after is not None and after != before and after.strip() == self.empty.strip():
            after = None if known is None or known.is_new else after
        return FileChange(self.path, self.home, before, after)

    def _edited(self, before: str | None, known: Receipt | None, *, joins: bool) -> tuple[str, Notes]:
        text = before if before is not None and before.strip() else self.empty
        mark = "\ufeff" if text.startswith("\ufeff") else ""  # as editors on Windows write it; it stays
        try:
            after, notes = self.edit(text.removeprefix(mark), known.notes if known is not None else None, joins)
            return mark + after, notes
        except NotEditable as error:
            hint = "--print shows what would stand there; write it by hand."
            raise TeamError(Code.NOT_PERMITTED, f"{self.path} cannot be edited: {error}", hint) from error


def places_of(client: str, scope: str, joining: Joining) -> list[Place]:
    """Return the files that change when a member joins from this client.

    Raises:
        TeamError: `USAGE` for a scope that the client does not have.
    """
    if scope not in _SCOPES.get(client, ("project",)):
        text = f"--{scope}: {client} has no such file"
        raise TeamError(Code.USAGE, text, "Join in a project, or copy what --print shows.")
    if client == "claude":
        folder = claude_home() if scope == "user" else joining.project
        # The other file of the user stands beside the folder, unless that is configured.
        is_beside = scope == "user" and not os.environ.get("CLAUDE_CONFIG_DIR")
        servers = ".claude.json" if scope == "user" else ".mcp.json"
        return [
            _settings_file(folder, _CLAUDE_HOOKS[scope], joining, CLAUDE),
            _server_file(home() if is_beside else folder, servers, joining),
        ]
    if client == "codex":
        base, prefix = (codex_home(), "") if scope == "user" else (joining.project, ".codex/")
        return [
            _settings_file(base, f"{prefix}hooks.json", joining, CODEX),
            _toml_file(base / f"{prefix}config.toml", base, joining),
        ]
    return [_agents_file(joining)] if client == "shell" else [_server_file(joining.project, ".mcp.json", joining)]


def every_place(joining: Joining) -> list[Place]:
    """Return all files in which a member may have joined, each once."""
    wanted = [*_SCOPES.items(), ("shell", ("project",))]
    places = [place for client, some in wanted for scope in some for place in places_of(client, scope, joining)]
    places.append(_held(joining))
    return list({place.path: place for place in places}.values())


def _held(joining: Joining) -> Place:
    return _own_file(
        state_folder(),
        f"joined/{HOLD}{joining.name}",
        f"exec env {shell_line([*joining.command, '--hold', '--timeout', str(A_DAY)])}\n",
    )


def refuse_other_scopes(client: str, scope: str, joining: Joining) -> None:
    """Refuse to join where settings of another scope have another member: a client runs the hooks of all scopes, so
    each session would act as both, and ask everything twice.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    for other in _SCOPES.get(client, ()):
        settings = places_of(client, other, joining)[0]
        taken = _members_at(settings.path, settings.home) - {joining.name, EACH} if other != scope else ()
        if taken:
            text = f"sessions here act as {min(taken)} already, by {settings.path}"
            raise TeamError(Code.NOT_PERMITTED, text, f"First: team-console leave {min(taken)}")


def _members_at(path: Path, home: Path) -> set[str]:
    with suppress(TeamError, NotEditable):  # what cannot be read has nothing of ours
        return members_in(read(read_file(path, home) or _EMPTY))
    return set()


def _settings_file(home: Path, name: str, joining: Joining, client: str) -> Place:
    """Hooks, and for Claude Code what spares questions about our own server, and what brings others."""
    is_claude = client == CLAUDE
    ours: dict[str, Any] = {"hooks": hook_entries(client, joining.command, has_rules=is_claude)}
    ours["hooks"]["PreToolUse"] += hold_entries(_held(joining).path, joining.hold)
    if is_claude:
        rules = {"ask": list(joining.rules)} if joining.rules else {}
        ours |= {"permissions": {"allow": [_ALLOW_RULE], **rules}, "enabledMcpjsonServers": [SERVER]}
    return Place(home / name, home, settings_edit(joining.name, ours), _EMPTY)


def _server_file(home: Path, name: str, joining: Joining) -> Place:
    return Place(home / name, home, settings_edit(joining.name, {SERVERS: {SERVER: joining.server}}), _EMPTY)


def _toml_file(path: Path, home: Path, joining: Joining) -> Place:
    def edit(text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
        others = _without_server(text, joining.name)
        if not joins:
            return others, []
        if SERVER in _servers(others):
            raise NotEditable(f"it has a server {SERVER} already, which another join or a hand put there")
        after = with_block(others, _toml_server(joining))
        # A table of servers within braces takes none at the end.
        _parsed(after, "it has its servers in a form to which none can be added at the end")
        return after if _parsed(text, "it is not TOML") != _parsed(after, "") else text, []

    return Place(path, home, edit)


_ALLOW_RULE = f"mcp__{SERVER}__*"
"""The rule that spares the user a question for each of our tools."""
_HEADER = f"[mcp_servers.{SERVER}]"
_OURS = re.compile(
    rf"\n?(?:# team-console: [^\n]*\n)?{re.escape(_HEADER)}\n"
    r"(?:(?:command|args|env|default_tools_approval_mode) = [^\n]*(?:\n|\Z))+"
)
"""Our server, with the comment that earlier versions put before it; what others wrote behind it is theirs."""


def _without_server(text: str, name: str) -> str:
    """Return the text without our server, if it acts as `name`; what it says else stays the same, and where it is.

    Raises:
        NotEditable: It is not TOML.
    """
    servers = _servers(text)
    if server_member(servers.get(SERVER)) != name:
        return text
    for found in _OURS.finditer(text):  # a text of somebody else may quote one
        behind = text[found.end() :].replace(f"# /team-console: {name}\n", "", 1)
        after = _put_together(text[: found.start()], behind)
        if SERVER not in _servers(after):
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
    """Return the values of a TOML text.

    Raises:
        NotEditable: It is none; with `trouble` and what the parser says.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"{trouble}: {error}") from error


def _agents_file(joining: Joining) -> Place:
    def edit(text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
        others = [name for name in names_in(text) if name != joining.name]
        if others and joins:
            raise NotEditable(f"it says already that the agent is {others[0]}; first: team-console leave {others[0]}")
        block = block_of(joining.name, joining.instructions)
        rest = without_block(text, joining.name)
        return (text if block in text else with_block(rest, block)) if joins else rest, []

    return Place(joining.project / "AGENTS.md", joining.project, edit)


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


def join(
    caller: Caller,
    agent: Agent,
    client: str,
    scope: str,
    *,
    project: Path,
    write: bool,
    hold: Sequence[str] = (),
) -> Joined:
    """Make `agent` a member of the team, and write what the client needs to act as it.

    Everything is read and checked before anything is written. Again, it changes nothing.

    Args:
        write: False only shows.
        hold: Rules by which calls wait for a human whether or not one is there: what nobody decides is a no.

    Raises:
        TeamError: `INVALID_NAME`, `NOT_PERMITTED` for the lead, for settings that are another member's, and for files
            that have to be changed by hand; `USAGE`.
    """
    config, name = caller.team.config(), check_name(agent.name, field="name")
    agent = replace(agent, name=name)
    if name in (config.lead, USER):
        text = f"{name} is the human's seat in team {config.name}, and no agent acts as it"
        raise TeamError(Code.NOT_PERMITTED, text, "Choose a name for the agent: team-console join NAME --for ...")
    rules = config.asked_for(name) if agent.ask_for is None else agent.ask_for
    joining = _joining(caller.team, name, project, [rule for rule in rules if rule not in hold])
    if hold and (client != "claude" or not native_rules(hold)):
        text = "--hold is for claude, and for what a rule of its own can say"
        raise TeamError(Code.USAGE, text, "For example: --hold push --hold delete")
    joining = replace(joining, hold=tuple(native_rules(hold)))
    places = [*places_of(client, scope, joining), *([_held(joining)] if hold else [])]
    steps = _joins(places, joining)
    refuse_other_scopes(client, scope, joining)
    adds = config.declared and name not in config.agents
    if write:
        if adds:
            add_members(caller, [agent])
            keep_receipt(Receipt(name, joining.location))
        elif agent.ask_for is not None:
            set_member(caller, name, {"ask_for": agent.ask_for})
        _write(steps)
    changes = tuple(change for change, _ in steps)
    notes = _notes(client, scope, name, changes)
    old = config.agents.get(name, agent)  # a join changes no member that was there before
    words = f" --role {agent.role}" if agent.role not in ("member", old.role) else ""
    words += " --plan" if agent.plan_mode_required and not old.plan_mode_required else ""
    if words:
        text = f"{name} was a member before and stays as it was, without{words}"
        notes.insert(0, f"{text}; to change it: team-console member set {name}{words}")
    if client in ("claude", "codex"):
        asked = ", ".join(rules) or "nothing"
        if hold:
            held = ", ".join(hold)
            notes.append(f"held until you decide, console or not: {held}; a hook that fails or ends is a no there")
        notes.append(f"while a console is open it asks you for: {asked} (to change it: join {name} --ask-for RULE)")
    return Joined("join", name, adds, changes, tuple(notes), write)


def leave(caller: Caller, name: str, *, project: Path, write: bool) -> Joined:
    """Take out again what joins of `name` put into the files of clients and the team's settings, and nothing else.

    Args:
        name: `EACH` for what `join --all` put there.

    Raises:
        TeamError: `INVALID_NAME`, `NOT_PERMITTED` for files that have to be changed by hand.
    """
    name, location = name if name == EACH else check_name(name, field="name"), _location(caller.team)
    joining = _joining(caller.team, name, project)
    changes, unread = _leaving(_every_session(joining) if name == EACH else every_place(joining))
    added = {name} if receipt_of(member_key(location, name)) is not None else set()
    mine = _members_of_each(location) if name == EACH else added
    known = caller.team.config().agents
    removes = [one for one in mine if one in known]
    if write:
        for change in changes:
            _take_out(change)
        if removes:
            remove_members(caller, removes)
        for one in mine:
            forget_receipt(member_key(location, one))
        if name == EACH:
            shutil.rmtree(names().folder, ignore_errors=True)
    notes = [] if changes or removes else [f"{name} has not joined from here; nothing is to be taken out"]
    notes += [f"{why}; no join from here wrote to it, so it was left alone" for why in unread]
    if name in known and not removes:
        notes.append(f"{name} was a member before it joined and stays one")
    if changes:
        notes.append("sessions that run now keep what they have read until they end")
    return Joined("leave", name, bool(removes), tuple(changes), tuple(notes), write)


def _members_of_each(location: str) -> set[str]:
    """Return the members that `join --all` made, one for each session."""
    return {one.member for one in receipts() if one.each and not one.file and one.team == location}


# What stands in the way of a gate: a file from which our part is gone, and plugins that decide after every hook.

_PLUGINS = "CLAUDE_CODE_PLUGIN_DIRS"


def gate_problems(team: Team) -> list[Problem]:
    """Return findings on the joins of a team on this machine."""
    mine = [known for known in receipts() if known.team == _location(team)]
    found = _mods() if mine else []
    for known in mine:
        if known.file and (what := missing_part(known)):
            text = f"{known.member} joined by this file, from which {what} is gone"
            hint = "Join again, or leave: team-console help join"
            found.append(Problem("UNHOOKED", "warning", known.file, text, hint))
    return found


def missing_part(known: Receipt) -> str:
    """Return the part of a join that its file lacks; empty for none."""
    path = Path(known.file)
    try:
        text = read_file(path, Path(path.anchor)) or ""
        if path.suffix != ".json" or path.name == "plugin.json":
            return "" if SERVER in text else "our part"
        settings = read(text or _EMPTY)
        if known.member not in members_in(settings):
            return "our part"
    except (TeamError, NotEditable):
        return "our part"
    asked = settings.get("permissions", {}).get("ask", [])
    return next((f"the rule {rule}" for *way, rule in known.notes if way[-1:] == ["ask"] and rule not in asked), "")


def _mods() -> list[Problem]:
    """Plugins of Claude Code that have modules: such a one can let pass what hooks, rules and the human refused."""
    folder = claude_home()
    environment: dict[str, Any] = {}
    with suppress(TeamError, NotEditable):
        environment = read(read_file(folder / "settings.json", folder) or _EMPTY).get("env", {})
    more = f"{environment.get(_PLUGINS, '')}{os.pathsep}{os.environ.get(_PLUGINS, '')}".split(os.pathsep)
    paths: list[Path] = []
    for root in (folder / "plugins", folder / "skills", *map(Path, filter(None, more))):
        with suppress(OSError):
            paths += sorted(root.glob("**/hooks/hooks.json"))
    text = "this plugin has modules, which can let every call pass, whatever hooks, rules and you decide"
    hint = "Remove it, or trust it: no console can hold what it lets through."
    found = []
    for path in paths:
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(path.read_bytes()).get("modules"):
                found.append(Problem("PLUGIN_MODULES", "warning", str(path.parent.parent), text, hint))
    return found


# Every session at once: those that run and are chosen, and all that start from now on.


class Running(Struct, frozen=True):
    """A session of a client that runs, as the client's own records say.

    Attributes:
        name: What the client calls it, if anything.
        doing: What it does, in the client's word.
    """

    session: str
    client: str
    folder: str
    name: str = ""
    doing: str = ""

    @property
    def told(self) -> str:
        """One line for people."""
        return ", ".join(word for word in (self.client, self.name, self.folder, self.doing, self.session) if word)


_CODEX_NOTES = (
    "a session of Codex reads its hooks when it starts: one that runs joins by 'codex resume'",
    "Codex asks at the first prompt whether it may run these hooks: 'Trust all and continue'",
)
_RECENT = 3_600.0
"""Seconds after its last row from which on a session of Codex does not count as one that runs."""


def running_sessions() -> list[Running]:
    """Return the sessions of Claude Code that run, and those of Codex that wrote something lately."""
    found = []
    for facts in claude_sessions():
        pid, session = facts.get("pid"), facts.get("sessionId")
        if isinstance(session, str) and pid and is_alive(pid):
            words = [str(facts.get(key) or "") for key in ("cwd", "name", "status")]
            found.append(Running(session, CLAUDE, *words))
    for path in codex_home().glob("sessions/*/*/*/rollout-*.jsonl"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            age = time.time() - path.stat().st_mtime
            if age < _RECENT:
                with path.open(encoding="utf-8") as file:
                    meta = json.loads(file.readline())["payload"]
                found.append(Running(meta["id"], CODEX, meta["cwd"], doing=f"wrote {int(age)} s ago"))
    return found


def join_all(caller: Caller, sessions: Sequence[Running], chosen: Collection[str], *, write: bool) -> Joined:
    """Let the chosen sessions that run, and all that start from now on, join under names of their own.

    Claude Code reads a plugin when a session starts, and the user's settings while it runs, too: so there is a plugin
    for those to come, and hooks in the settings for those that are chosen, which start no process for any other.

    Args:
        sessions: Those that run.
        chosen: Ids of those of them that join.

    Raises:
        TeamError: As for `join`.
    """
    joining = _joining(caller.team, EACH, home())
    steps = _joins(_every_session(joining), joining)
    if write:
        for one in sessions:
            if one.session not in chosen:
                names().write(one.session, {"name": ""})
            elif one.client == CLAUDE:  # its hooks in the user's settings answer
                names().write(RUNNING + one.session, {})
        _write(steps)
    notes = [f"{one.told}: {'joins' if one.session in chosen else 'is left out'}" for one in sessions]
    notes.append("Claude Code has joined in about 3 seconds, each session by a name of its own that its title shows")
    notes += _CODEX_NOTES if any(one.client == CODEX for one in sessions) else ()
    notes.append("every session that starts from now on joins, too; 'team-console leave --all' takes this out")
    return Joined("join", EACH, False, tuple(change for change, _ in steps), tuple(notes), write)


_LONGEST = 40
"""Characters of a title that become a name."""


def name_session(call: Invocation) -> str:
    """Choose the name of a session of `join --all`, which is a member of the team from then on; empty for none.

    Raises:
        OSError: Its name cannot be kept.
        TeamError: The store's own.
    """
    folder = names().folder
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # hooks of one session start at the same time
        known = name_of(call.session)
        return _give_name(call) if known is None else known


def _give_name(call: Invocation) -> str:
    facts = facts_of_session(call.session)
    title = text_in(call.data, "session_title") or str(facts.get("name") or "")
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or text_in(call.data, "cwd")
    name = location = ""
    if call.data.get("hook_event_name") != "SessionEnd" and not _has_joined(Path(folder)):
        team = open_team(call.location)
        try:
            config, location = team.config(), _location(team)
            taken = {*config.agents, config.lead, USER, ALL} - _members_of_each(location)
            taken |= {one["name"] for _, one in names().all("") if one.get("team") == location}
            base = re.sub(r"[^a-z0-9]+", "-", (title or os.path.basename(folder)).lower()).strip("-")[:_LONGEST]
            base = base or "session"
            wanted = (f"{base}-{number}" if number > 1 or not title else base for number in count(1))
            name = next(name for name in wanted if name not in taken)
            if config.declared and name not in config.agents:
                add_members(Caller(team, config.lead), [Agent(name)])
                keep_receipt(Receipt(name, location, each=True))
        finally:
            team.close()
    names().write(call.session, {"name": name, "team": location})
    return name


def _has_joined(project: Path) -> bool:
    """Return whether a join of its own says as whom sessions in this project act."""
    names = (_CLAUDE_HOOKS["project"], _CLAUDE_HOOKS["local"], ".codex/hooks.json")
    return any(_members_at(project / name, project) for name in names)


def _every_session(joining: Joining) -> list[Place]:
    """Return the plugin, the hooks for sessions of Claude Code that run now, and those of Codex."""
    folder = claude_home()
    about = json.loads((plugin_folder() / ".claude-plugin" / "plugin.json").read_text())
    hooks = {"hooks": hook_entries(CLAUDE, joining.command)}
    plugin = {".claude-plugin/plugin.json": about, "hooks/hooks.json": hooks}
    marks = f'{shlex.quote(names().folder)}/{RUNNING}"$CLAUDE_CODE_SESSION_ID"'
    running = {"hooks": hook_entries(CLAUDE, joining.command, condition=f"[ ! -e {marks} ] || ")}
    return [
        *(
            _own_file(folder, f"skills/{SERVER}/{name}", f"{json.dumps(content, indent=2)}\n")
            for name, content in plugin.items()
        ),
        Place(folder / "settings.json", folder, settings_edit(EACH, running), _EMPTY),
        _settings_file(codex_home(), "hooks.json", joining, CODEX),
    ]


def _own_file(home: Path, name: str, text: str) -> Place:
    """Return a file that is ours alone."""
    return Place(home / name, home, lambda before, notes, joins: (text if joins else "", []))


def plugin_folder() -> Path:
    """Return the folder of the plugin for Claude Code that comes with this program."""
    return Path(__file__).parent / "plugin"


def _joins(places: Sequence[Place], joining: Joining) -> list[tuple[FileChange, Receipt]]:
    """Return all changes by which a member joins; nothing is written unless every one can be made.

    Raises:
        TeamError: `NOT_PERMITTED`, also for a place whose name is no text: the files of clients, which have to name it,
            are UTF-8.
    """
    for place in (joining.location, *joining.program):
        if re.search("[\ud800-\udfff]", place):
            text = f"{place}: this name is not UTF-8, so the settings of a client cannot hold it"
            raise TeamError(Code.NOT_PERMITTED, text, "Rename the folder; nothing was written.")
    return [place.joining(joining) for place in places]


def _joining(team: Team, name: str, project: Path, rules: Sequence[str] = ()) -> Joining:
    location = _location(team)
    words = instructions_for(team, name, by_itself=False)
    native = tuple(native_rules(rules))
    return Joining(name, location, program(), project.absolute(), words, native)


def _location(team: Team) -> str:
    return team.location if "://" in team.location else str(Path(team.location).absolute())


def _write(steps: Sequence[tuple[FileChange, Receipt]]) -> None:
    for change, receipt in steps:
        if change.word != "unchanged":
            write_change(change)
            keep_receipt(receipt)


def _leaving(places: Sequence[Place]) -> tuple[list[FileChange], list[str]]:
    """Return the changes by which a member leaves, and why files were not read to which no join wrote.

    Settings of clients that the member never ran in may be anything: a link into a folder of dotfiles, a huge file.

    Raises:
        TeamError: `NOT_PERMITTED` for a file that a join wrote to and that has to be changed by hand.
    """
    steps: list[FileChange] = []
    unread: list[str] = []
    for place in places:
        try:
            steps.append(place.leaving())
        except TeamError as error:
            if receipt_of(str(place.path)) is not None:
                raise
            unread.append(error.message)
    return [change for change in steps if change.word != "unchanged"], unread


def _take_out(change: FileChange) -> None:
    write_change(change)
    with suppress(OSError):  # the first folder that has something else in it
        for folder in change.path.parents if change.after is None else ():
            if folder == change.home:
                break
            folder.rmdir()
    forget_receipt(str(change.path))


_PATHS = {
    "project": ["these files name this machine's paths; --local keeps the hooks out of a shared repository"],
    "local": [".mcp.json names this machine's paths and is the project's: keep it out of a shared repository"],
}


def _notes(client: str, scope: str, name: str, changes: Sequence[FileChange]) -> list[str]:
    """Return what the user has to do besides."""
    if all(change.word == "unchanged" for change in changes):
        return [f"{name} has joined from here before; nothing changes"]
    notes = []
    if client == "claude":
        running = "sessions that run act as this member in about 3 seconds, and all that start from now on"
        notes.append(f"{running}; only the MCP server needs a new session")
        notes += _PATHS.get(scope, ())
    if client == "codex":
        notes += _CODEX_NOTES
    if client != "shell" and find_spec("mcp") is None:
        notes.append("the MCP server needs one more package: pip install 'team-console[mcp]'")
    return notes
