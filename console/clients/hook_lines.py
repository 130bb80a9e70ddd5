"""Hook lines: at which events a client calls our hook, by which command of a shell, and how long it waits for it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from team_console.console.clients.event import EventName
from team_console.console.clients.instructions import PROGRAM
from team_console.console.clients.json_editing import (
    SettingsPart,
)
from team_console.console.clients.session_files import QUIET, member_folder

A_DAY = 86_400
_USUAL_WAIT = 60
"""Seconds for which a client waits for a hook that asks nobody."""
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
"""Begins the name of the script that holds calls; behind it stands the member's."""


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
            words, before, shown = [*command], condition, {}
            if wanted == A_DAY:  # a human may be asked, for as long as the client waits
                words += ["--timeout", str(seconds)]
            if event == EventName.BEFORE_TOOL:
                before += quiet
                words += ["--held", ",".join(held)] if held else []
            if self.client:
                words += ["--client", self.client]
            if self.says_asking and event in _ASKED:
                shown = {"statusMessage": _ASKING}
            yield self._entry(event, before + shell_line(words), seconds, **shown)
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
        """Return the entry of one hook.

        Args:
            line: Its command, for a shell.
            seconds: For which the client waits for it.
            more: What the client wants to know of it beside that.
        """
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


def shell_line(words: Sequence[str]) -> str:
    """Return a line for a shell; assignments before the command keep their equals sign outside of quotes."""
    parts = []
    for word in words:
        name, equals, value = word.partition("=")
        is_assignment = bool(equals) and name.startswith("TEAM_CONSOLE_")
        parts.append(f"{name}={shlex.quote(value)}" if is_assignment else shlex.quote(word))
    return " ".join(parts)


class HookCall(NamedTuple):
    """How a command calls our hook.

    Attributes:
        member: For whom.
        program: The words of the program; none for the script of what is held.
        held: The rules by which it holds calls.
    """

    member: str
    program: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


def parse_hook_command(command: object) -> HookCall | None:
    """Return how a command in settings calls our hook; None for a command of anybody else."""
    if not isinstance(command, str):
        return None
    script = re.search(rf"/{HOLD}([^/\s']+)'?$", command)  # at the end of a line such as: sh '/PATH/{HOLD}NAME'
    if script is not None:
        return HookCall(script[1])
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    names = [word.partition("=")[2] for word in words if word.startswith("TEAM_CONSOLE_AS=")]
    if not names or "hook" not in words or not any(word.endswith((PROGRAM, "team_console.console")) for word in words):
        return None
    start = next((at for at, word in enumerate(words, 1) if word.startswith("TEAM_CONSOLE_TEAM=")), len(words))
    called = words[start:]
    end = called.index("hook") if "hook" in called else 0
    held = "".join(behind for word, behind in pairwise(called) if word == "--held")
    return HookCall(names[0], tuple(called[:end]), tuple(filter(None, held.split(","))))
