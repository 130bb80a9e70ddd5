"""Our part of a client's settings in JSON, beside what others put there: hooks, the MCP server and its allow rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from team_console.console.clients.hook_lines import HookCall, parse_hook_command
from team_console.console.clients.json_editing import (
    EditedText,
    JsonText,
    MadePaths,
    NotEditable,
    Settings,
    SettingsPart,
    parse_object,
    value_at,
)
from team_console.console.clients.session_files import EVERY_SESSION
from team_console.store.model.errors import Code, TeamError

SERVER = "team-console"
"""The name of our MCP server in clients."""
SERVERS = "mcpServers"
"""Where servers stand in the settings of clients."""
_SOMEBODY = "somebody else"
"""As whom a server acts that says no name."""

FindEarlier = Callable[[Settings], MadePaths]
"""Settings -> the paths to what a join of an earlier version put there."""


def edit_settings(
    text: str,
    name: str,
    ours: Sequence[SettingsPart],
    made: MadePaths | None,
    find_earlier: FindEarlier | None,
    *,
    joins: bool,
) -> EditedText:
    """Put our part of the member `name` into settings, or take it out; returns the text after, and what was made in it.

    Args:
        made: What an earlier join made there; None when nobody knows.
        find_earlier: Finds what joins of earlier versions made there, for when nobody knows; None for nothing more.

    Raises:
        NotEditable: They are no JSON that could be edited.
        TeamError: `NOT_PERMITTED` where they have the part of another member.
    """
    document, before = JsonText(text), parse_object(text)
    if joins:
        refuse_others(members_in(before) - {name})
    # A join of another version, or on another machine, left no receipt: then only what acts as the member counts.
    if made is not None:
        _take_out(document, name, made)
    elif name in members_in(before):
        _take_out(document, name, _paths_of(ours) + (find_earlier(before) if find_earlier else []))
    made_now: MadePaths = []
    if joins:
        for part in reversed(ours):  # each is put in before what is there: the first of them last
            made_now += document.put(part)
    return EditedText(text if document.value == before else document.text, made_now)


def _paths_of(parts: Sequence[SettingsPart]) -> MadePaths:
    """Return the paths to all that a join puts in where nothing of it is there."""
    paths = [list(part.path[: number + 1]) for part in parts for number in range(len(part.path))]
    return paths + [[*part.path, part.value] for part in parts if isinstance(part.value, str)]


def refuse_others(others: Collection[str]) -> None:
    """Refuse to join where these others have joined.

    Raises:
        TeamError: `NOT_PERMITTED` where there is any.
    """
    if others:
        other = who = leave = min(others)
        if other == EVERY_SESSION:
            who, leave = "members of their own", "--all"
        text = f"sessions with these settings act as {who} already"
        hint = f"First: team-console leave {leave}. Or join in another project."
        raise TeamError(
            Code.NOT_PERMITTED, text, hint if other != _SOMEBODY else f"Rename their server {SERVER} first."
        )


def _take_out(document: JsonText, name: str, made: MadePaths) -> None:
    """Take out hooks and server of the member `name`, and of what a join made the words and what is empty."""
    for entry in reversed([*_hook_entries(document.value)]):  # from the last, so that numbers stay those of the text
        ours = [at for at, call in enumerate(entry.calls) if call is not None and call.member == name]
        if len(ours) == len(entry.calls):
            document.cut(["hooks", entry.event], entry.number)
            continue
        # guard: hook-beside-ours-stays
        for at in reversed(ours):
            document.cut(["hooks", entry.event, entry.number, "hooks"], at)
    if server_member(document.at((SERVERS, SERVER))) == name:
        document.cut([SERVERS], SERVER)
    for *path, last in reversed(made):  # the inner ones first
        holder = document.at(path)
        if isinstance(holder, list) and last in holder:
            document.cut(path, holder.index(last))
        elif isinstance(holder, dict) and holder.get(last) in ({}, []):
            document.cut(path, last)


def server_member(server: object) -> str | None:
    """Return the member as whom an MCP server acts, by its entry in settings; None where it does not say."""
    name = value_at(server, ("env", "TEAM_CONSOLE_AS")) if isinstance(server, dict) else None
    return name if isinstance(name, str) else None


def members_in(settings: Settings) -> set[str]:
    """Return the members whose hooks or server are in the settings.

    Raises:
        NotEditable: They cannot be read.
    """
    found = {call.member for entry in _hook_entries(settings) for call in entry.calls if call is not None}
    server = value_at(settings, (SERVERS, SERVER))
    if server is not None:  # one that says no name is somebody else's
        found.add(server_member(server) or _SOMEBODY)
    return found


class MemberHook(NamedTuple):
    """A hook that acts as a member: the event at which it is called, its own settings, and how these call ours."""

    event: str
    settings: Settings
    call: HookCall


def hooks_of(settings: Settings, name: str) -> list[MemberHook]:
    """Return the hooks that act as the member `name`.

    Raises:
        NotEditable: They cannot be read.
    """
    return [
        MemberHook(entry.event, settings["hooks"][entry.event][entry.number]["hooks"][at], call)
        for entry in _hook_entries(settings)
        for at, call in enumerate(entry.calls)
        if call is not None and call.member == name
    ]


class _HookEntry(NamedTuple):
    """An entry of the hooks in settings, which may have several hooks.

    Attributes:
        number: Its place in the list of its event.
        calls: How each of its hooks calls ours; None for those of others.
    """

    event: str
    number: int
    calls: list[HookCall | None]


def _hook_entries(settings: Settings) -> Iterator[_HookEntry]:
    """Yield each entry of the hooks.

    Raises:
        NotEditable: They cannot be read.
    """
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise NotEditable("hooks is not an object")
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            raise NotEditable(f"hooks.{event} is not a list")
        for number, entry in enumerate(entries):
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            hooked = inner if isinstance(inner, list) and inner else [None]
            calls = [parse_hook_command(item.get("command") if isinstance(item, dict) else None) for item in hooked]
            yield _HookEntry(event, number, calls)
