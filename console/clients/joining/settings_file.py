"""Settings of a client in JSON: our hooks, our MCP server and its allow rule beside what others put there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from team_console.console.clients.joining.hook_table import member_of
from team_console.console.clients.joining.json_edit import NotEditable, at, with_value, without
from team_console.store.model.errors import Code, TeamError

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
    for path, entry in reversed(list(_ours(text, name))):
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
    for path, _ in reversed(list(_ours(text, name))):
        text = without(text, path)
    return text


def has_hooks(text: str, name: str) -> bool:
    """Whether the member's hooks are there."""
    return any(True for _ in _ours(text, name))


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


def _ours(text: str, name: str) -> Iterator[tuple[tuple[str | int, ...], object]]:
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
