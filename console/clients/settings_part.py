"""Our part of a client's settings in JSON, beside what others put there: hooks, the MCP server and its allow rule."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from team_console.console.clients.event import EventName
from team_console.console.clients.instructions import PROGRAM
from team_console.console.clients.json_editing import (
    JsonText,
    NotEditable,
    Notes,
    Settings,
    SettingsPart,
    parse_object,
    value_at,
)
from team_console.console.clients.session_files import EVERY_SESSION, QUIET, member_folder
from team_console.store.model.errors import Code, TeamError

# Hook lines: for which events, by which command, and how long the client waits for each.

A_DAY = 86_400
_USUAL_WAIT = 60
_WAIT_SECONDS = {
    EventName.PERMISSION: A_DAY,
    EventName.BEFORE_TOOL: A_DAY,
    EventName.DENIED: 180,
    EventName.SESSION_END: 5,
}
"""Seconds for events that take another time than usual: a human may take a day."""
_ASKING = "asking the human at the team's console"
_ASKED = {EventName.PERMISSION, EventName.DENIED}
"""Events while whose hook a client shows that somebody is asked, to a teammate's terminal too."""
HOLD = "team-console-hold-"
"""Begins the name of a script; behind it stands the member's."""


class HookLines(Struct, frozen=True):
    """How a client's hooks are written.

    Attributes:
        events: Those that it has and we answer.
        client: The client's name, where its events do not show whose they are.
        per_second: Its units of time in a second.
        patience: Seconds for which it waits at most, whatever a hook asks for.
        wakers: Events at which a hook begins to wait that wakes the session.
        waker_condition: Words for a shell before that hook's command: it starts nothing in a run without a terminal.
        says_asking: Whether it shows what a hook that waits is doing.
    """

    events: tuple[EventName, ...]
    client: str = ""
    per_second: int = 1
    patience: int = A_DAY
    wakers: tuple[EventName, ...] = ()
    waker_condition: str = ""
    says_asking: bool = False

    def entries(
        self, command: Sequence[str], *, held: Sequence[str] = (), condition: str = "", quiet: str = ""
    ) -> Iterator[SettingsPart]:
        """Yield the entries for the client's settings.

        Args:
            command: The words that call the hook, environment assignments before it included.
            held: Rules of calls for which another hook waits in any case.
            condition: Words for a shell before each command.
            quiet: Words for a shell that spare the hook before a tool where nobody is asked.
        """
        for event in self.events:
            wanted = _WAIT_SECONDS.get(event, _USUAL_WAIT)
            seconds = min(wanted, self.patience)
            words = [*command, *(["--timeout", str(seconds)] if wanted == A_DAY else ())]
            words += ["--held", ",".join(held)] if held and event == EventName.BEFORE_TOOL else []
            words += ["--client", self.client] if self.client else []
            shown = {"statusMessage": _ASKING} if self.says_asking and event in _ASKED else {}
            spared = quiet if event == EventName.BEFORE_TOOL else ""
            yield self._entry(event, condition + spared + shell_line(words), seconds, **shown)
        for event in self.wakers:
            line = condition + self.waker_condition + shell_line([*command, "--wake"])
            yield self._entry(event, line, 7 * A_DAY, asyncRewake=True)

    def held_entries(self, script: Path, rules: Sequence[str]) -> Iterator[SettingsPart]:
        """Yield entries that hold what the client's `rules` match until somebody decides: what ends without a verdict
        is a no.

        A client shows the model the command of a hook that failed: so it names a script, and not who acts for whom.
        """
        more = {"onFailure": "block", "statusMessage": _ASKING}
        line = f"sh {shlex.quote(str(script))}"
        yield from (self._entry(EventName.BEFORE_TOOL, line, A_DAY, **more, **{"if": rule}) for rule in rules)

    def _entry(self, event: EventName, line: str, seconds: int, **more: object) -> SettingsPart:
        hook = {"type": "command", "command": line, "timeout": seconds * self.per_second, **more}
        return SettingsPart(("hooks", event.value), {"hooks": [hook]})


def quiet_condition(places: Mapping[str, str], name: str, location: str) -> str:
    """Return words for a shell that go on only where a call may be asked for: a console is open, or the settings are
    not of the time at which a session last looked at them, be it later or earlier.

    The shell looks itself, since each call would wait for the start of a program that then says nothing.

    Args:
        places: Those of the team; only one in a folder shows in its files what its settings say.
    """
    if "queue" not in places:
        return ""
    quiet = shlex.quote(os.path.join(member_folder(name, location), QUIET))
    consoles, settings = shlex.quote(places["presence"]), shlex.quote(places["settings"])
    is_same = f"[ -e {quiet} ] && [ ! {quiet} -nt {settings} ] && [ ! {quiet} -ot {settings} ]"
    return f'set -- {consoles}/console-*; {is_same} && [ ! -e "$1" ] || '


def hook_command(program: Sequence[str], *, name: str, location: str) -> list[str]:
    """Return the words that call the hook for a member of a team."""
    return [f"TEAM_CONSOLE_AS={name}", f"TEAM_CONSOLE_TEAM={location}", *program, "hook"]


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


# The edit that puts our part in, or takes it out.

SERVER = "team-console"
"""The name of our MCP server in clients."""
SERVERS = "mcpServers"
"""Where servers stand in the settings of clients."""
_SOMEBODY = "somebody else"
"""As whom a server acts that says no name."""


Earlier = Callable[[Settings], Notes]
"""Settings -> the paths to what a join of an earlier version put there."""


def find_nothing_earlier(settings: Settings) -> Notes:
    """Find nothing: earlier versions put no more there than this one."""
    return []


def edit_settings(
    text: str, name: str, ours: Sequence[SettingsPart], notes: Notes | None, earlier: Earlier, *, joins: bool
) -> tuple[str, Notes]:
    """Put our part of the member `name` into settings, or take it out; returns the text after, and what was made in it.

    Args:
        notes: What an earlier join made there; None when nobody knows.
        earlier: Finds what joins of earlier versions made there, for when nobody knows.

    Raises:
        NotEditable: They are no JSON that could be edited.
        TeamError: `NOT_PERMITTED` where they have the part of another member.
    """
    document, before = JsonText(text), parse_object(text)
    if joins:
        refuse_others(members_in(before) - {name})
    is_known = notes is not None
    if notes is None:  # nobody knows, so what nobody else would write
        notes = [list(part.path[: number + 1]) for part in ours for number in range(len(part.path))]
        notes += [[*part.path, part.value] for part in ours if isinstance(part.value, str)]
        notes += earlier(before)
    _take_out(document, name, notes, is_known=is_known)
    # What is put in comes first, so the first of it comes last.
    made = [note for part in reversed(ours) for note in document.put(part)] if joins else []
    return text if document.value == before else document.text, made


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


def _take_out(document: JsonText, name: str, notes: Notes, *, is_known: bool) -> None:
    """Take out hooks and server of the member `name`, and what `notes` say.

    Args:
        is_known: Whether a join of this member left the notes; else nothing is taken out where nothing acts as it.
    """
    if not is_known and name not in members_in(document.value):
        return
    for event, number, members in reversed([*_hook_entries(document.value)]):
        if set(members) == {name}:
            document.cut(["hooks", event], number)
            continue
        # guard: hook-beside-ours-stays
        for place in (place for place in reversed(range(len(members))) if members[place] == name):
            document.cut(["hooks", event, number, "hooks"], place)
    if server_member(document.at((SERVERS, SERVER))) == name:
        document.cut([SERVERS], SERVER)
    for *path, last in reversed(notes):
        holder = document.at(path)
        if isinstance(holder, list) and last in holder:
            document.cut(path, holder.index(last))
        elif isinstance(holder, dict) and holder.get(last) in ({}, []):
            document.cut(path, last)


def server_member(server: object) -> str | None:
    """Return the member as whom an MCP server acts."""
    name = value_at(server, ("env", "TEAM_CONSOLE_AS")) if isinstance(server, dict) else None
    return name if isinstance(name, str) else None


def members_in(settings: Settings) -> set[str]:
    """Return the members whose hooks or server are in the settings.

    Raises:
        NotEditable: They cannot be read.
    """
    found = {member for _, _, members in _hook_entries(settings) for member in members}
    server = value_at(settings, (SERVERS, SERVER))
    # A server that says no name is somebody else's.
    found |= {server_member(server) or _SOMEBODY} if server is not None else set()
    return {member for member in found if member is not None}


def hooks_of(settings: Settings, name: str) -> list[tuple[str, Settings]]:
    """Return the hooks that act as the member `name`, each with its event.

    Raises:
        NotEditable: They cannot be read.
    """
    return [
        (event, settings["hooks"][event][number]["hooks"][place])
        for event, number, members in _hook_entries(settings)
        for place, member in enumerate(members)
        if member == name
    ]


def parse_hook_command(command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the program that a command of ours calls, and the rules by which it holds calls; no program for the script
    of what is held.
    """
    words = shlex.split(command)
    start = next((at for at, word in enumerate(words, 1) if word.startswith("TEAM_CONSOLE_TEAM=")), len(words))
    called = words[start:]
    end = called.index("hook") if "hook" in called else 0
    held = "".join(behind for word, behind in pairwise(called) if word == "--held")
    return tuple(called[:end]), tuple(filter(None, held.split(",")))


def _hook_entries(settings: Settings) -> Iterator[tuple[str, int, list[str | None]]]:
    """Yield event and number of each entry of the hooks, and for whom each of its commands calls ours; None for those
    of others.
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
            yield event, number, [member_of(item.get("command") if isinstance(item, dict) else None) for item in hooked]
