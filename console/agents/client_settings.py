"""Settings files of clients: changed where we join, left as they are everywhere else."""

from __future__ import annotations

import copy
import difflib
import json
import math
import os
import re
import shlex
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct
from team_console.console.agents.clients import CLAUDE, CODEX, EventName
from team_console.console.agents.instructions import PROGRAM
from team_console.console.agents.session_files import EACH
from team_console.store.model.errors import Code, TeamError

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
    """The lines of a block of the member `name`, between comments of Markdown."""
    opening = f"<!-- team-console: {name} {_number(body)} (this block is written by 'team-console join') -->"
    return f"{opening}\n{body.rstrip()}\n<!-- /team-console: {name} -->"


def _number(body: str) -> str:
    return f"{zlib.crc32(body.rstrip().encode()):08x}"


def with_block(text: str, block: str) -> str:
    """The text with the block at its end, behind a line end that goes with it."""
    return f"{text}\n{block}\n" if text else f"{block}\n"


def without_block(text: str, name: str) -> str:
    """The text without the block of the member `name`, and without the line end that was put before it.

    Raises:
        NotEditable: Somebody changed the block.
    """
    found = re.search(rf"\n?{_BLOCK.format(re.escape(name))}\n?", text, re.DOTALL)
    if found is None or found[1] != _number(found[2]):
        if name in names_in(text):
            raise NotEditable("what a join wrote was changed there; take it out by hand")
        return text
    return text[: found.start()] + text[found.end() :]


def names_in(text: str) -> list[str]:
    """The members whose blocks stand in the text."""
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
    """The text of a client's file, None when there is none.

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
    is_new = not target.exists()
    try:
        _write_all(staged, os.O_CREAT | os.O_EXCL, data, mode=0o666 if is_new else 0o600)
        if is_new or _is_made_like(staged, target):
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


def _is_made_like(staged: Path, target: Path) -> bool:
    """Give a new file owner, group, mode and attributes of the one it is to replace; False where that cannot be."""
    old = os.stat(target)
    try:
        os.chown(staged, old.st_uid, old.st_gid)
        shutil.copystat(target, staged)  # after the owner, whose change takes bits away
        os.utime(staged)
    except OSError:
        return False
    return old.st_nlink == 1


def _target(path: Path, home: Path) -> Path:
    """Where the file really is: a link in the home leads to its target, one out of it is not followed."""
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
        entries["Stop"].append(_entry(condition + shell_line([*command, "--wake"]), 7 * A_DAY, asyncRewake=True))
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
    """The words that call the hook for a member of a team; without a name the client's environment says who it is."""
    identity = [f"TEAM_CONSOLE_AS={name}", f"TEAM_CONSOLE_TEAM={location}"] if name else []
    return [*identity, *program, "hook"]


def member_of(command: object) -> str | None:
    """The member for whom a command calls our hook; None for a command of anybody else."""
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
    """A line for a shell; assignments before the command keep their equals sign outside of quotes."""
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
    """The edit of a JSON file that puts `ours` in for the member `name`."""

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
    """The member as whom an MCP server acts."""
    name = _at(server, ("env", "TEAM_CONSOLE_AS")) if isinstance(server, dict) else None
    return name if isinstance(name, str) else None


def members_in(settings: Settings) -> set[str]:
    """The members whose hooks or server are in the settings.

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
