"""Settings files of clients: changed where we join, left as they are everywhere else."""

from __future__ import annotations

import difflib
import errno
import json
import math
import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path as pathlib_Path
from typing import Any

from msgspec import Struct
from team_console.console.agents import claude_code, codex
from team_console.console.agents.instructions import PROGRAM
from team_console.store.model.errors import Code, TeamError

Path = Sequence[str]
Settings = dict[str, Any]
Made = list[str]
"""Notes of what was not there before a join."""


class NotEditable(ValueError):
    """The text is not JSON that could be edited; it says why."""


def read(text: str) -> Settings:
    """Parse settings of a client.

    Raises:
        NotEditable: They are no JSON object, have a key twice, or a number that Python does not hold.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_float=_number, parse_constant=_number)
    except json.JSONDecodeError as error:
        raise NotEditable(f"{error.msg} in line {error.lineno}") from error
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
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return found


def _number(text: str) -> float:
    """Parse a number that comes out of Python as it went in."""
    number = float(text)
    if not math.isfinite(number) or Decimal(repr(number)) != Decimal(text):
        raise ValueError(f"the number {text[:30]} cannot be kept as it is")
    return number


def _at(settings: Settings, path: Path) -> Any:
    """Find the value at a path; None for none."""
    value: Any = settings
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _holder(settings: Settings, path: Path, made: Made) -> Settings:
    """Find the object at a path; objects that are missing are made, and noted.

    Raises:
        NotEditable: Something else stands in the way.
    """
    holder = settings
    for depth, step in enumerate(path, start=1):
        if step not in holder:
            holder[step] = {}
            made.append(f"made {'/'.join(path[:depth])}")
        value = holder[step]
        if not isinstance(value, dict):
            raise NotEditable(f"{'.'.join(path[:depth])} is not an object")
        holder = value
    return holder


# A marked block: lines of ours in a text file of somebody else, found again as they were written.

_BODY = "block "
"""Begins a note of the lines that a join wrote between its marks."""


def marked(name: str, body: str) -> str:
    """The lines of a block of the member `name`, between comments of Markdown."""
    opening = f"<!-- team-console: {name} (this block is written by 'team-console join') -->"
    return f"{opening}\n{body.rstrip()}\n<!-- /team-console: {name} -->"


def written_bodies(made: Sequence[str] | None) -> list[str]:
    """What joins wrote between their marks, as far as their receipt says."""
    return [note.removeprefix(_BODY) for note in made or () if note.startswith(_BODY)]


def note_of(body: str) -> str:
    """The note for a receipt that this was written between the marks."""
    return f"{_BODY}{body.rstrip()}"


def with_block(text: str, block: str) -> str:
    """The text with the block at its end.

    Behind a last line without a line end the block has none either: so that end is not made up when it is taken out.
    """
    if not text:
        return f"{block}\n"
    return f"{text}\n{block}\n" if text.endswith("\n") else f"{text}\n\n{block}"


def around_block(text: str, blocks: Iterable[str]) -> tuple[str, str] | None:
    """What stands before and behind the first of `blocks` that is there, with the blank line that was put before it."""
    for block in blocks:
        for form in (f"\n\n{block}" if text.endswith(block) else f"\n{block}\n", f"{block}\n", block):
            before, found, after = text.partition(form)
            if found:
                return before, after
    return None


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

    path: pathlib_Path
    home: pathlib_Path
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


def read_file(path: pathlib_Path, home: pathlib_Path) -> str | None:
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


def _replace(target: pathlib_Path, data: bytes) -> None:
    """Write beside the file and rename over it: whoever reads it sees the old or the new.

    What a new file cannot be made to have (another owner, a second name) is kept by writing into the old one instead.
    """
    staged = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    mode = 0o600 if old is not None else 0o666
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        _write_all(descriptor, data)
        if old is None or _is_made_like(staged, target, old):
            os.replace(staged, target)
            return
        # A crash in the middle of this leaves the new text whole, beside it.
        _write_all(os.open(target, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC), data)
        os.unlink(staged)
    except OSError:
        with suppress(OSError):
            os.unlink(staged)
        raise


def _write_all(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _is_made_like(staged: pathlib_Path, target: pathlib_Path, old: os.stat_result) -> bool:
    """Give a new file owner, group, mode and attributes of the one it is to replace; False where that cannot be."""
    if old.st_nlink > 1:
        return False
    try:
        os.chown(staged, old.st_uid, old.st_gid)
        os.chmod(staged, stat.S_IMODE(old.st_mode))  # after the owner, whose change takes bits away
        for name in os.listxattr(target):
            os.setxattr(staged, name, os.getxattr(target, name))
    except OSError as error:
        return error.errno == errno.ENOTSUP
    return True


def _target(path: pathlib_Path, home: pathlib_Path) -> pathlib_Path:
    """Where the file really is: a link in the home leads to its target, one out of it is not followed."""
    real, base = pathlib_Path(os.path.realpath(path)), pathlib_Path(os.path.realpath(home))
    # guard: client-settings-links
    if not real.is_relative_to(base):
        raise _refused(path, f"it is a link that leads out of {home}, and is not followed")
    return real


def _refused(path: pathlib_Path, why: str) -> TeamError:
    return TeamError(Code.NOT_PERMITTED, f"{path}: {why}", "--print shows what would stand there; write it by hand.")


# Hooks that are put into a client's settings: for which events, and how long the client waits for each.

A_DAY = 86_400
_USUAL = 60
_EVENTS: Mapping[str, Sequence[str]] = {
    claude_code.CLIENT: (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse"),
        *("PostToolUseFailure", "Stop", "SubagentStart", "SubagentStop", "TeammateIdle", "SessionEnd"),
    ),
    codex.CLIENT: (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"),
    ),
}
"""Events of each client from which something follows."""
_SECONDS = {"PermissionRequest": A_DAY, "PreToolUse": A_DAY, "PermissionDenied": 180, "SessionEnd": 5}
"""Seconds for events that take another time than usual: a human may take a day."""
_WAITING = {"PermissionRequest", "PermissionDenied"}
"""Events while whose hook the client shows that somebody is asked, to a teammate's terminal too."""


def hook_entries(client: str, command: Sequence[str], *, has_rules: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Event -> entries for the client's settings.

    Args:
        command: The words that call the hook, environment assignments before it included.
        has_rules: Whether the settings hold rules of the client for what the team wants to be asked for.
    """
    entries = {event: [_entry(event, client, command, has_rules)] for event in _EVENTS[client]}
    if client == claude_code.CLIENT:  # the only one whose idle session a hook can wake
        wake = {"type": "command", "command": _line([*command, "--wake"]), "asyncRewake": True, "timeout": 7 * A_DAY}
        entries["Stop"].append({"hooks": [wake]})
    return entries


def hook_command(program: Sequence[str], *, name: str = "", location: str = "") -> list[str]:
    """The words that call the hook for a member of a team; without a name the client's environment says who it is."""
    identity = [f"TEAM_CONSOLE_AS={name}", f"TEAM_CONSOLE_TEAM={location}"] if name else []
    return [*identity, *program, "hook"]


def member_of(command: object) -> str | None:
    """The member for whom a command calls our hook; None for a command of anybody else."""
    if not isinstance(command, str) or "TEAM_CONSOLE_AS=" not in command or "hook" not in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    names = [word.partition("=")[2] for word in words if word.startswith("TEAM_CONSOLE_AS=")]
    is_ours = "hook" in words and any(word.endswith((PROGRAM, "team_console.console")) for word in words)
    return names[0] if names and is_ours else None


def _entry(event: str, client: str, command: Sequence[str], has_rules: bool) -> dict[str, Any]:
    seconds = _SECONDS.get(event, _USUAL)
    words = [*command, "--timeout", str(seconds)] if seconds == A_DAY else list(command)
    words += ["--has-rules"] if has_rules and event == "PreToolUse" else []
    words += ["--client", client] if client == codex.CLIENT else []
    hook: dict[str, Any] = {"type": "command", "command": _line(words), "timeout": seconds}
    if event in _WAITING and client == claude_code.CLIENT:
        hook["statusMessage"] = "asking the human at the team's console"
    return {"hooks": [hook]}


def _line(words: Sequence[str]) -> str:
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
ALLOW_RULE = f"mcp__{SERVER}__*"
"""The rule that spares the user a question for each of its tools."""
HOOKS, ALLOWED, ASKED, ENABLED, SERVERS = (
    ("hooks",),
    ("permissions", "allow"),
    ("permissions", "ask"),
    ("enabledMcpjsonServers",),
    ("mcpServers",),
)
"""Where things stand in the settings of Claude Code; Codex has its hooks under the same key."""
Words = Mapping[Path, Sequence[str]]
"""Words that a join puts into lists, by the place of the list."""


def with_hooks(settings: Settings, name: str, entries: Mapping[str, Sequence[Settings]], made: Made) -> None:
    """Put these hooks of the member `name` in, each once; older ones of its own are taken out.

    Args:
        made: Gets what was not there before.

    Raises:
        TeamError: `NOT_PERMITTED` when sessions with these settings are of another member already.
    """
    others = members_in(settings) - {name}
    if others:
        raise _taken(min(others))
    _take_hooks_out(settings, name, keep=entries)
    for event, wanted in entries.items():
        for entry in wanted:
            if entry not in _list(settings, (*HOOKS, event)):
                _append(settings, (*HOOKS, event), dict(entry), made)


def without_hooks(settings: Settings, name: str) -> bool:
    """Take every hook of the member `name` out; return whether there was any."""
    return _take_hooks_out(settings, name, keep={})


def with_words(settings: Settings, words: Words, made: Made, before: Sequence[str] | None) -> None:
    """Put our words into their lists; those that only an earlier join put there are taken out.

    Args:
        before: What earlier joins made.
    """
    for path, wanted in words.items():
        _take_words_out(settings, path, [word for word in _noted(path, before) if word not in wanted])
        for word in wanted:
            if word not in _list(settings, path):
                _append(settings, path, word, made)
                made.append(f"word {'/'.join(path)} {word}")


def without_words(settings: Settings, words: Words, made: Sequence[str] | None) -> None:
    """Take out the words that joins put there; where nobody knows, those that nobody else would write."""
    for path, wanted in words.items():
        certain = [word for word in wanted if SERVER in word and (made is None or f"word {'/'.join(path)}" in made)]
        _take_words_out(settings, path, [*certain, *_noted(path, made)])


def _noted(path: Path, made: Sequence[str] | None) -> list[str]:
    sign = f"word {'/'.join(path)} "
    return [note.removeprefix(sign) for note in made or () if note.startswith(sign)]


def _take_words_out(settings: Settings, path: Path, words: Sequence[str]) -> None:
    found = _list(settings, path)
    found[:] = [word for word in found if word not in words]


def with_server(settings: Settings, name: str, server: Settings, made: Made) -> None:
    """Put our MCP server in, acting as `name`.

    Raises:
        TeamError: `NOT_PERMITTED` when it acts as another member there.
    """
    servers = _holder(settings, SERVERS, made)
    if SERVER in servers and servers[SERVER] != server and server_member(servers[SERVER]) != name:
        raise _taken(server_member(servers[SERVER]) or "somebody else")
    servers[SERVER] = server


def without_server(settings: Settings, name: str) -> bool:
    """Take our MCP server out, if it acts as `name`; return whether it was there."""
    if server_member(_at(settings, (*SERVERS, SERVER))) != name:
        return False
    del settings[SERVERS[0]][SERVER]
    return True


def server_member(server: object) -> str | None:
    """The member as whom an MCP server acts."""
    name = _at(server, ("env", "TEAM_CONSOLE_AS")) if isinstance(server, dict) else None
    return name if isinstance(name, str) else None


def prune(settings: Settings, made: Sequence[str] | None) -> None:
    """Remove the empty objects and lists that a join made."""
    events = _at(settings, HOOKS)
    inside = [(*HOOKS, key) for key in events] if isinstance(events, dict) else []
    for path in (*inside, ALLOWED, ASKED, ALLOWED[:1], HOOKS, ENABLED, SERVERS):
        if _at(settings, path) in ({}, []) and (made is None or f"made {'/'.join(path)}" in made):
            del (_at(settings, path[:-1]) if path[:-1] else settings)[path[-1]]


def members_in(settings: Settings) -> set[str]:
    """The members whose hooks are in the settings.

    Raises:
        NotEditable: They cannot be read.
    """
    entries = [entry for event in _events(settings) for entry in _list(settings, (*HOOKS, event))]
    return {member for entry in entries for member in _members(entry) if member is not None}


def _take_hooks_out(settings: Settings, name: str, keep: Mapping[str, Sequence[Settings]]) -> bool:
    """Remove each entry that calls our hook for `name` and does nothing else."""
    is_found = False
    for event in _events(settings):
        entries = _list(settings, (*HOOKS, event))
        kept = [entry for entry in entries if _members(entry) != {name} or entry in keep.get(event, ())]
        is_found = is_found or len(kept) < len(entries)
        entries[:] = kept
    return is_found


def _events(settings: Settings) -> list[str]:
    events = _at(settings, HOOKS)
    return list(events) if isinstance(events, dict) else []


def _members(entry: object) -> set[str | None]:
    """For whom the commands of an entry call our hook; None for commands of others."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [item.get("command") for item in hooks if isinstance(item, dict)] if isinstance(hooks, list) else [None]
    return {member_of(command) for command in commands}


def _taken(other: str) -> TeamError:
    text = f"sessions with these settings act as {other} already"
    return TeamError(Code.NOT_PERMITTED, text, f"First: team-console leave {other}. Or join in another project.")


def _list(settings: Settings, path: Path) -> list[Any]:
    """The list at a path, empty when nothing is there.

    Raises:
        NotEditable: Something else is there.
    """
    holder = _at(settings, path[:-1]) if path[:-1] else settings
    if not isinstance(holder, dict) or path[-1] not in holder:
        return []
    found = holder[path[-1]]
    if not isinstance(found, list):
        raise NotEditable(f"{'.'.join(path)} is not a list")
    return found


def _append(settings: Settings, path: Path, item: Any, made: Made) -> None:
    holder = _holder(settings, path[:-1], made)
    if path[-1] not in holder:
        made.append(f"made {'/'.join(path)}")
    holder.setdefault(path[-1], []).append(item)
