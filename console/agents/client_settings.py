"""Settings files of clients: changed where we join, left as they are everywhere else."""

from __future__ import annotations

import difflib
import errno
import json
import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import takewhile
from pathlib import Path as pathlib_Path
from typing import Any

from msgspec import Struct
from team_console.console.agents import claude_code, codex
from team_console.console.agents.instructions import PROGRAM
from team_console.store.model.errors import Code, TeamError

Path = Sequence[str | int]
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NotEditable(ValueError):
    """The text is not JSON that could be edited; it says why."""


class Node:
    """A value and where it stands; what is inside it is looked at when it is asked for.

    Attributes:
        value: As Python has it.
        end: Where the text goes on behind it.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text, self.start = text, start
        self.value, self.end = _DECODER.raw_decode(text, start)

    @cached_property
    def inner(self) -> tuple[Node, ...]:
        """The nodes of its values."""
        return tuple(node for _, node in self._members)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each member of an object begins, with its key, or each item of an array."""
        return tuple(start for start, _ in self._members)

    @property
    def keys(self) -> tuple[str, ...]:
        """Of an object: its keys, as they stand."""
        return tuple(self.value) if isinstance(self.value, dict) else ()

    @cached_property
    def _members(self) -> list[tuple[int, Node]]:
        found = list[tuple[int, Node]]()
        place = _skip(self._text, self.start + 1)
        for _ in self.value if isinstance(self.value, (dict, list)) else ():
            start = place
            if isinstance(self.value, dict):
                _, place = _DECODER.raw_decode(self._text, place)
                place = _skip(self._text, _skip(self._text, place) + 1)
            found.append((start, Node(self._text, place)))
            place = _skip(self._text, _skip(self._text, found[-1][1].end) + 1)
        return found


@lru_cache(maxsize=2)
def read(text: str) -> Node:
    """The one object that a text holds; kept for the next question about the same text.

    Raises:
        NotEditable: It holds something else, or a key twice.
    """
    try:
        _STRICT.raw_decode(text, _skip(text, 0))
        node = Node(text, _skip(text, 0))
    except json.JSONDecodeError as error:
        raise NotEditable(f"{error.msg} in line {error.lineno}") from error
    except (ValueError, RecursionError) as error:
        raise NotEditable(str(error)) from error
    if _skip(text, node.end) != len(text):
        raise NotEditable(f"more than one JSON value: line {text.count(chr(10), 0, node.end) + 1}")
    if not isinstance(node.value, dict):
        raise NotEditable("it is not a JSON object")
    return node


def at(text: str, path: Path) -> Node | None:
    """The value at a path of keys and numbers; None when there is none."""
    node = read(text)
    for step in path:
        if isinstance(step, str) and step in node.keys:
            node = node.inner[node.keys.index(step)]
        elif isinstance(step, int) and isinstance(node.value, list) and step < len(node.inner):
            node = node.inner[step]
        else:
            return None
    return node


def with_value(text: str, path: Path, value: Any) -> str:
    """The text with a member of an object, or with one more item of a list; missing objects on the way are made.

    Args:
        path: To the member; to a list, to append to it.

    Raises:
        NotEditable: Something else stands in the way.
    """
    for depth in range(len(path)):
        node = at(text, path[: depth + 1])
        if node is None:
            holder = at(text, path[:depth])
            if holder is None or not isinstance(holder.value, dict):
                raise NotEditable(f"{_named(path[:depth])} is not an object")
            return _inserted(text, holder, str(path[depth]), _nested(path[depth + 1 :], value))
    node = at(text, path)
    if node is None or not isinstance(node.value, list):
        raise NotEditable(f"{_named(path)} is there already")
    return _inserted(text, node, None, value)


def without(text: str, path: Path) -> str:
    """The text without the member or item at the path."""
    holder, node = at(text, path[:-1]), at(text, path)
    if holder is None or node is None:
        return text
    number = path[-1] if isinstance(path[-1], int) else holder.keys.index(path[-1])
    if len(holder.inner) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if number == 0:
        return text[: holder.starts[0]] + text[holder.starts[1] :]
    return text[: holder.inner[number - 1].end] + text[node.end :]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return found


_STRICT = json.JSONDecoder(object_pairs_hook=_object)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match is not None else place


def _nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {str(step): value}
    return value


def _inserted(text: str, holder: Node, key: str | None, value: Any) -> str:
    """The value as the last one of its holder, in the style of those before it."""
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    if holder.inner and "\n" not in text[holder.start : holder.starts[0]]:
        end = holder.inner[-1].end
        return f"{text[:end]}, {name}{json.dumps(value, ensure_ascii=False)}{text[end:]}"
    outer = _indent_of(text, holder.start)
    margin = _indent_of(text, holder.starts[-1]) if holder.inner else outer + _unit(text)
    line = "\r\n" if "\r\n" in text else "\n"
    body = json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", f"{line}{margin}")
    if holder.inner:
        end = holder.inner[-1].end
        return f"{text[:end]},{line}{margin}{name}{body}{text[end:]}"
    return f"{text[: holder.start + 1]}{line}{margin}{name}{body}{line}{outer}{text[holder.end - 1 :]}"


def _indent_of(text: str, place: int) -> str:
    """The blanks at the beginning of the line that has this place."""
    begin = text.rfind("\n", 0, place) + 1
    match = re.compile(r"[ \t]*").match(text, begin)
    return match.group() if match is not None else ""


def _unit(text: str) -> str:
    """One step of the indentation of this text; two blanks where it has none."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match.group(1) if match is not None else "  "


def _named(path: Path) -> str:
    return ".".join(map(str, path)) or "the whole"


# Marked blocks: lines of ours in a text file of somebody else, found again by the lines around them.

_BODY = "block "
"""Begins a note of the lines that a join wrote between its marks."""


class Marks(Struct, frozen=True):
    """The two lines around a block; of what stands between them, ours is what a join wrote there."""

    opening: str
    closing: str


class Found(Struct, frozen=True):
    """A text with a block of ours in it.

    Attributes:
        before, after: What stands there without our lines, up to the first of them and from there on.
        has_others: Whether lines of others stand between ours.
        ends: Whether a line end stands behind our last line.
    """

    before: str
    after: str
    has_others: bool
    ends: bool

    @property
    def without(self) -> str:
        """The text without the block, and without the blank line that was put before it."""
        before = self.before
        if not self.has_others and before.endswith("\n\n"):
            before = before[:-1] if self.after or self.ends else before[:-2]
        return before + self.after


def comment_marks(name: str, *, html: bool) -> Marks:
    """The marks of the member `name`, as comments of Markdown (`html`) or of TOML."""
    texts = f"team-console: {name} (this block is written by 'team-console join')", f"/team-console: {name}"
    return Marks(*(f"<!-- {text} -->" if html else f"# {text}" for text in texts))


def written_bodies(made: Sequence[str] | None) -> list[str]:
    """What joins wrote between their marks, as far as their receipt says."""
    return [note.removeprefix(_BODY) for note in made or () if note.startswith(_BODY)]


def note_of(body: str) -> str:
    """The note for a receipt that this was written between the marks."""
    return f"{_BODY}{body.rstrip()}"


def with_block(text: str, marks: Marks, body: str, found: Found | None) -> str:
    """The text with the block at its end, or in the place of the one that was `found`.

    Behind a last line without a line end the block has none either: so that end is not made up when it is taken out.
    """
    block = f"{marks.opening}\n{body.rstrip()}\n{marks.closing}"
    if found is not None:
        return f"{found.before}{block}{chr(10) if found.ends or found.after else ''}{found.after}"
    if not text:
        return f"{block}\n"
    return f"{text}\n{block}\n" if text.endswith("\n") else f"{text}\n\n{block}"


def blocks_in(text: str, marks: Marks, bodies: Sequence[str]) -> Iterator[Found]:
    """Find each block of ours, taking for ours only lines that a join wrote, whatever is left of its marks.

    Args:
        bodies: What joins may have written between the marks.
    """
    whole = text.split("\n")  # keeps every other line end with its line
    lines = [line.removesuffix("\r") for line in whole]
    for start, line in enumerate(lines):
        if line not in (marks.opening, marks.closing):
            continue
        ours = max((_ours(lines, start, marks, body.split("\n")) for body in bodies), key=len, default={start})
        first, last = min(ours), max(ours)
        others = [number for number in range(first, last) if number not in ours]
        before = "".join(f"{line}\n" for line in whole[:first])
        kept = "".join(f"{whole[number]}\n" for number in others)
        yield Found(before, kept + "\n".join(whole[last + 1 :]), bool(others), last + 1 < len(whole))


def _ours(lines: Sequence[str], start: int, marks: Marks, body: Sequence[str]) -> set[int]:
    """The numbers of our lines in the block that has one of its marks in the line `start`.

    Without the other mark, our lines go on as far as they follow each other just as they were written.
    """
    if lines[start] == marks.closing:
        above = zip(range(start - 1, -1, -1), reversed(body), strict=False)
        return {start, *(number for number, _ in takewhile(lambda pair: lines[pair[0]] == pair[1], above))}
    inside = list(takewhile(lambda line: line not in (marks.opening, marks.closing), lines[start + 1 :]))
    end = start + 1 + len(inside)
    if end == len(lines) or lines[end] == marks.opening:
        below = zip(range(start + 1, end), body, strict=False)
        return {start, *(number for number, _ in takewhile(lambda pair: lines[pair[0]] == pair[1], below))}
    equal = SequenceMatcher(None, body, inside, autojunk=False).get_matching_blocks()
    spans = [(at, at + size) for _, at, size in equal if any(line.strip() for line in inside[at : at + size])]
    return {start, end, *(start + 1 + number for first, last in spans for number in range(first, last))}


def names_in(text: str, *, html: bool) -> list[str]:
    """The members whose blocks stand in the text."""
    sign = "<!-- team-console: " if html else "# team-console: "
    lines = [line.removeprefix(sign) for line in text.splitlines() if line.startswith(sign)]
    return [line.partition(" ")[0] for line in lines]


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
    codex.CLIENT: ("SessionStart", "UserPromptSubmit", "PermissionRequest", "PostToolUse", "Stop"),
}
"""Events of each client from which something follows."""
_SECONDS = {"PermissionRequest": A_DAY, "SessionEnd": 5}
"""Seconds for events that take another time than usual: a human may take a day."""
_WAKING = frozenset({claude_code.CLIENT})
"""Clients whose idle session a hook can wake."""


def hook_entries(client: str, command: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Event -> entries for the client's settings.

    Args:
        command: The words that call the hook, environment assignments before it included.
    """
    entries = {event: [_entry(event, client, command)] for event in _EVENTS[client]}
    if client in _WAKING:
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


def _entry(event: str, client: str, command: Sequence[str]) -> dict[str, Any]:
    seconds = _SECONDS.get(event, _USUAL)
    words = [*command, "--timeout", str(seconds)] if event == "PermissionRequest" else list(command)
    named = [*words, "--client", client] if client == codex.CLIENT else words
    return {"hooks": [{"type": "command", "command": _line(named), "timeout": seconds}]}


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
HOOKS, ALLOWED, ENABLED, SERVERS = (
    ("hooks",),
    ("permissions", "allow"),
    ("enabledMcpjsonServers",),
    ("mcpServers",),
)
"""Where things stand in the settings of Claude Code; Codex has its hooks under the same key."""
_BLANK = "blank "
"""Begins a note of the blanks that stood in an empty object or list: `blank hooks/Stop= `."""
_WORDS = {ALLOWED: ALLOW_RULE, ENABLED: SERVER}
Made = list[str]


def with_hooks(text: str, name: str, entries: Mapping[str, Sequence[Mapping[str, Any]]], made: Made) -> str:
    """The settings with these hooks of the member `name`, each once; older ones of its own are taken out.

    Args:
        made: Gets what was not there before.

    Raises:
        TeamError: `NOT_PERMITTED` when sessions with these settings are of another member already.
    """
    _refuse_others(text, name)
    for path, entry in reversed(list(_settings_file_ours(text, name))):
        if entry not in entries.get(str(path[1]), ()):
            text = without(text, path)
    for event, wanted in entries.items():
        there = _list(text, (*HOOKS, event))
        for entry in wanted:
            if entry not in there:
                text = _appended(text, (*HOOKS, event), dict(entry), made)
    return text


def without_hooks(text: str, name: str) -> str:
    """The settings without any hook of the member `name`."""
    for path, _ in reversed(list(_settings_file_ours(text, name))):
        text = without(text, path)
    return text


def has_hooks(text: str, name: str) -> bool:
    """Whether the member's hooks are there."""
    return any(True for _ in _settings_file_ours(text, name))


def with_word(text: str, path: tuple[str, ...], made: Made) -> str:
    """The settings with our word in the list at `ALLOWED` or `ENABLED`."""
    word = _WORDS[path]
    if word in _list(text, path):
        return text
    made.append(f"word {'/'.join(path)}")
    return _appended(text, path, word, made)


def without_word(text: str, path: tuple[str, ...], made: Sequence[str] | None) -> str:
    """The settings without our word, if a join put it there or nobody knows."""
    words = _list(text, path)
    if _WORDS[path] not in words or (made is not None and f"word {'/'.join(path)}" not in made):
        return text
    return without(text, (*path, words.index(_WORDS[path])))


def with_server(text: str, name: str, server: Mapping[str, Any], made: Made) -> str:
    """The MCP settings with our server, acting as `name`.

    Raises:
        TeamError: `NOT_PERMITTED` when it acts as another member there.
    """
    path = (*SERVERS, SERVER)
    node = at(text, path)
    if node is not None:
        if node.value == server:
            return text
        other = server_member(node.value)
        if other != name:
            raise _taken(other or "somebody else")
        text = without(text, path)
    _note_containers(text, path, made)
    return with_value(text, path, dict(server))


def without_server(text: str, name: str) -> str:
    """The MCP settings without our server, if it acts as `name`."""
    path = (*SERVERS, SERVER)
    node = at(text, path)
    return without(text, path) if node is not None and server_member(node.value) == name else text


def server_member(server: object) -> str | None:
    """The member as whom an MCP server acts."""
    environment = server.get("env") if isinstance(server, dict) else None
    name = environment.get("TEAM_CONSOLE_AS") if isinstance(environment, dict) else None
    return name if isinstance(name, str) else None


def pruned(text: str, made: Sequence[str] | None) -> str:
    """The settings without the empty objects and lists that a join made."""
    events = at(text, HOOKS)
    inside = [(*HOOKS, key) for key in events.keys] if events is not None else []
    for path in (*inside, ALLOWED, ALLOWED[:1], HOOKS, ENABLED, SERVERS):
        node = at(text, path)
        if node is not None and node.value in ({}, []) and (made is None or f"made {'/'.join(path)}" in made):
            text = without(text, path)
    return _with_blanks(text, made or ())


def _with_blanks(text: str, made: Sequence[str]) -> str:
    """The settings with the blanks in empty objects and lists that stood there before a join."""
    for note in made:
        where, _, blank = note.removeprefix(_BLANK).partition("=")
        if not note.startswith(_BLANK) or blank.strip(" \t\r\n"):  # a receipt is a file, too, that anybody may edit
            continue
        node = at(text, tuple(where.split("/")) if where else ())
        if node is not None and text[node.start : node.end] in ("{}", "[]"):
            text = f"{text[: node.start + 1]}{blank}{text[node.end - 1 :]}"
    return text


def _settings_file_ours(text: str, name: str) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Path and value of each entry that calls our hook for `name` and does nothing else."""
    events = at(text, HOOKS)
    for event in events.keys if events is not None else ():
        for number, entry in enumerate(_list(text, (*HOOKS, event))):
            if _members(entry) == {name}:
                yield (*HOOKS, event, number), entry


def members_in(text: str) -> set[str]:
    """The members whose hooks are in the settings.

    Raises:
        NotEditable: They cannot be read.
    """
    events = at(text, HOOKS)
    entries = [entry for event in (events.keys if events is not None else ()) for entry in _list(text, (*HOOKS, event))]
    return {member for entry in entries for member in _members(entry) if member is not None}


def _refuse_others(text: str, name: str) -> None:
    others = members_in(text) - {name}
    if others:
        raise _taken(min(others))


def _members(entry: object) -> set[str | None]:
    """For whom the commands of an entry call our hook; None for commands of others."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [item.get("command") for item in hooks if isinstance(item, dict)] if isinstance(hooks, list) else [None]
    return {member_of(command) for command in commands}


def _taken(other: str) -> TeamError:
    text = f"sessions with these settings act as {other} already"
    return TeamError(Code.NOT_PERMITTED, text, f"First: team-console leave {other}. Or join in another project.")


def _list(text: str, path: tuple[str, ...]) -> list[Any]:
    """The list at a path, empty when nothing is there.

    Raises:
        NotEditable: Something else is there.
    """
    node = at(text, path)
    if node is None:
        return []
    if not isinstance(node.value, list):
        raise NotEditable(f"{'.'.join(path)} is not a list")
    return node.value


def _appended(text: str, path: tuple[str, ...], item: Any, made: Made) -> str:
    _note_containers(text, (*path, ""), made)
    return with_value(text, path, item if at(text, path) is not None else [item])


def _note_containers(text: str, path: tuple[str, ...], made: Made) -> None:
    """Note which objects and lists on the way have to be made, and what blanks stand in those that are empty."""
    for depth in range(len(path)):
        node, where = at(text, path[:depth]), "/".join(path[:depth])
        if node is None:
            made.append(f"made {where}")
        elif isinstance(node.value, (dict, list)) and not node.inner and node.end - node.start > 2:
            made.append(f"{_BLANK}{where}={text[node.start + 1 : node.end - 1]}")
