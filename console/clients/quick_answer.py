"""Quick answer to an event: most need nothing; a look at the team tells, before anything heavy is imported."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping

from team_console.console.clients.client_process import has_waker
from team_console.console.clients.run_record import AFTER_TOOL
from team_console.console.clients.session_files import (
    ALLOWED,
    ASKED,
    HANDED,
    LOOK,
    PASSED,
    RECORDED,
    REFUSED,
    STATE,
    TEAMMATE,
    TURN,
    EventData,
    SessionFiles,
    checksum_of,
    member_folder,
    passed_file,
)
from team_console.store.backends.locked_files import is_locked, open_folder
from team_console.store.backends.session_notes import write_note

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from typing import Any, NotRequired, TypedDict

    from team_console.console.clients.hook_invocation import Invocation

    Marks = dict[str, list[int]]
    """Kind of a team's file (`Team.places`) -> its inode, size and time of change in nanoseconds."""

    class Look(TypedDict):
        """What the last event that opened the team left: the marks of its files, and what followed from them."""

        version: int
        """`LOOK_VERSION` of the program that wrote it"""
        places: dict[str, str]
        """kind of file -> its path, as `Team.places`; empty for a team on a server"""
        marks: Marks
        at: float
        """when the marks were taken, in seconds of the system's clock"""
        urgent: bool
        """whether urgent mail waits for the session"""
        mail: bool
        """whether any mail waits for it"""
        handed: bool
        """whether an earlier session was handed mail and did not show that it had read it"""
        granted: bool
        """whether a grant may answer what the session asks"""
        wait: str
        """setting `wait_for_human` of the team: `always`, `present` or `never`"""
        ask_for: list[str]
        """rules of calls that the team wants to be asked for"""
        client: str
        """the name of the client; what follows are facts of its class"""
        shows_title: bool
        needs_waker: bool
        """whether only a process of ours can wake its sessions"""
        asks_by_tool: str
        attended_variable: str
        project_variable: str
        words: NotRequired[str]
        """what the model is told when a session starts; only in the look that a member's sessions share"""
        by: NotRequired[list[str]]
        """`caller_facts` of who made these words"""


_SERVER_PATIENCE = 5.0
"""Seconds for which a team on a server is not asked again: asking costs a connection."""
_TICK_OF_FILES = 0.01
"""Seconds within which two changes of a file may bear the same time."""
LOOK_VERSION = 2
"""Version of the keys that a look has; a look of another version counts as none."""


def marks_of(places: Mapping[str, str]) -> Marks:
    """Return the present state of a store's files, to compare for equality only.

    An empty log of a database is none: it comes and goes with whoever looks.
    """
    marks: Marks = {}
    for name in {"queue", "settings", "database", "log"} & places.keys():
        try:
            found = os.stat(places[name])
        except OSError:
            continue
        if name != "log" or found.st_size:
            marks[name] = [found.st_ino, found.st_size, found.st_mtime_ns]
    return marks


def settled_marks(places: Mapping[str, str]) -> Marks:
    """Return the marks once no change can come that would bear the time of the last one."""
    for _ in range(3):
        marks = marks_of(places)
        if _are_settled(marks, time.time()):
            break
        time.sleep(_TICK_OF_FILES)
    return marks


def _are_settled(marks: Marks, at: float) -> bool:
    """Return whether a change that comes after `at` shows in the marks: it bears another time than these do.

    A time without a fraction may be of a file system that counts whole seconds, or two of them.
    """
    for _, _, time_ns in marks.values():
        tick = _TICK_OF_FILES if time_ns % 10**9 else 2.0
        if time_ns / 1e9 > at - tick:
            return False
    return True


def has_changed(look: Look) -> bool:
    """Return whether something may wait for the clients of the look that did not when it was made."""
    places, at = look["places"], look["at"]
    if not places:
        return not 0 <= time.time() - at < _SERVER_PATIENCE
    if _has_files(places.get("drop", "")):
        return True
    # guard: unsettled-marks-not-trusted
    return not _are_settled(look["marks"], at) or look["marks"] != marks_of(places)


def _has_files(folder: str) -> bool:
    """Return whether messages lie there that somebody who cannot lock handed in."""
    try:
        return any(name != "rejected" for name in os.listdir(folder))
    except OSError:
        return False


def look_of(call: Invocation, files: SessionFiles) -> Look | None:
    """Return the look at the team that an event before left: of this session, else of any of its member."""
    look: Any = files.read(LOOK) or member_files(call).read(look_name(call))
    return look if look is not None and look.get("version") == LOOK_VERSION else None


def member_files(call: Invocation) -> SessionFiles:
    """Return the files that all sessions of a member share."""
    return SessionFiles(member_folder(call.actor, call.location))


def look_name(call: Invocation) -> str:
    """Return the name of the look of one kind of client."""
    return f"{LOOK}-{checksum_of(call.client):08x}"


def caller_facts() -> list[str]:
    """Return by which program this is called, and where a shell finds one: commands in instructions rest on it."""
    return [sys.argv[0], os.environ.get("PATH", "")]


WAKE = 2
"""Exit status by which a waiting hook wakes its session; only `--wake` gives it."""
NUDGE = "team-console: other members of the team have written to "
"""Begins the prompt by which a client is told that mail has come, where no hook wakes its session."""


def _is_anybody_there(look: Look, prefix: str, *, locked: bool) -> bool | None:
    """Return whether a presence file begins with `prefix` and is locked or not; None when files cannot tell, as for a
    team on a server.

    Args:
        locked: True looks for a process that lives and is not stopped, False for one that ended without taking its
            file away.
    """
    try:
        folder = open_folder(look["places"]["presence"])
    except FileNotFoundError:
        return False
    except (OSError, KeyError):
        return None
    try:
        return any(
            is_locked(folder, name, awake=locked) is locked for name in os.listdir(folder) if name.startswith(prefix)
        )
    finally:
        os.close(folder)


_STATE_AFTER = {
    "SessionStart": "started",
    "UserPromptSubmit": "working",
    "Stop": "idle",
    "Interrupt": "idle",
    "SessionEnd": "ended",
}
"""Events by which a session begins, works, rests and ends, and what it does then."""
_TEAMMATE_AFTER = {"SubagentStart": "working", "SubagentStop": "", "TeammateIdle": "idle"}
"""Events of teammates, and what a teammate is known to be doing when they say nothing new; the end of a turn always is
new."""
_ALWAYS_OPENED = frozenset({"PermissionDenied", "ConfigChange"})
"""Events for which the team always has to be opened."""
_OPENED_FOR = {
    # The call may be one that the human allowed once. What was handed or asked stays as it is: a call that only
    # begins shows nothing of it as read or decided.
    "PreToolUse": (ALLOWED,),
    # A tool that was used shows that mail handed before was read, and may be what was asked for. So does the end of a
    # teammate's or subagent's turn. Calls that were let pass (`PASSED`) and refused ones (`REFUSED`) wait for the turn
    # of the session itself; what a tool that was used ends of them is about that tool alone, and is done here.
    **dict.fromkeys((*AFTER_TOOL, *_TEAMMATE_AFTER), (HANDED, ASKED)),
    # A turn that is over puts on record what the client refused, and takes away what was let pass and not used. That
    # some of these events do so with only one of both kinds is not told apart: it costs them time and nothing else.
    **dict.fromkeys(_STATE_AFTER, (HANDED, ASKED, REFUSED, PASSED)),
}
"""Event -> how the names of files begin that leave work for it which only an open team can do: `hook.py` says what."""


def answer_quickly(call: Invocation, files: SessionFiles) -> str | None:
    """Return what is said to this event, empty for nothing; None where the team has to be opened for it."""
    name = call.event_name
    if name in AFTER_TOOL and files.names(REFUSED):  # the client let the call run after all
        files.remove(_refused_file(call.data))
    if name in _ALWAYS_OPENED or files.names(_OPENED_FOR.get(name, ())):
        return None
    if name in _STATE_AFTER:
        return _answer_turn(call, files)
    is_done = True  # of an event that is none of ours there is nothing to do
    if name == "PreToolUse":
        is_done = not _is_asked_for(call, files)
    elif name in _TEAMMATE_AFTER:
        is_done = not _concerns_teammate(name, call.data, files)
    elif name in AFTER_TOOL:
        is_done = _use_up_passed(call, files)
    elif name == "PermissionRequest":
        is_done = _leave_to_client(call, files)
    return "" if is_done else None


def _use_up_passed(call: Invocation, files: SessionFiles) -> bool:
    """Take away that the call which ran now was let pass; False where the team has to be opened, which does the same.

    Of a team on a server nobody knows here whether an asker is gone. That alone costs no connection: tools are used
    often, the end of the turn looks, and so does the first tool after some seconds (`has_changed`).
    """
    look, data = look_of(call, files), call.data
    # Urgent mail is handed over between two tools; a process that asked and is gone may have left its request open.
    if look is None or look["urgent"] or _is_anybody_there(look, "asker-", locked=False) or has_changed(look):
        return False
    files.take(passed_file(data.get("tool_name"), data.get("tool_input"), data.get("agent_id")))
    return True


def _leave_to_client(call: Invocation, files: SessionFiles) -> bool:
    """Leave to the client what it asks for, and keep what it then refuses; False where somebody may answer it here."""
    look = look_of(call, files)
    # A process that asked and is gone may have left its request open.
    if look is None or _is_anybody_there(look, "asker-", locked=False) or not _asks_nobody(look):
        return False
    if os.environ.get(look["attended_variable"]) == "0":
        note_unasked(call, files)
    return True


def _answer_turn(call: Invocation, files: SessionFiles) -> str | None:
    """Note what the session does now, and return the reply; None where mail waits or an earlier event left work."""
    name = call.event_name
    look, kept = look_of(call, files), files.names("")
    if look is None or _has_work_left(call, files, look, kept):
        return None
    reply = ""
    if name == "SessionStart":
        # Each is told to the model; the words may be those of another program, or name it where it is not found.
        if look["handed"] or look["mail"] or look.get("by") != caller_facts():
            return None
        reply = _welcome_reply(call, look)
    elif name == "Stop" and look["mail"]:
        return None
    elif name == "UserPromptSubmit":
        gives_title = call.has_own_name and TURN not in kept
        if gives_title or call.text("prompt").startswith(NUDGE):
            return None
    is_compaction = name == "SessionStart" and call.data.get("source") == "compact"
    words = call.text("last_assistant_message") if name == "Stop" else ""
    about = {"client": look["client"], "mode": call.text("permission_mode"), "last_words": words}
    # What cannot be noted beside the messages has to be noted in the store. A compaction is in the middle of a session.
    if not is_compaction and not note_state(call, files, look["places"], state=_STATE_AFTER[name], **about):
        return None
    if name == "SessionEnd":
        files.forget()
    if name == "UserPromptSubmit":
        files.write(TURN, {"blocks": 0})
    return reply


def _has_work_left(call: Invocation, files: SessionFiles, look: Look, kept: list[str]) -> bool:
    """Return whether only an open team can do what this event of a turn, or an earlier one, leaves to be done.

    Args:
        kept: The names of the session's files.
    """
    is_end = call.event_name == "SessionEnd"
    if call.data.get("agent_id"):  # a subagent's turn: what the session itself does now, it does not say
        return True
    # The end takes back what the store has of the session (`RECORDED`) and its own name. Without its state the files
    # were lost, so that nobody knows here what the store has.
    if is_end and (RECORDED in kept or STATE not in kept or call.has_own_name):
        return True
    # Of a team on a server nobody knows here whether an asker is gone: a turn is worth the connection that tells.
    # guard: changed-store-is-opened
    if has_changed(look) or _is_anybody_there(look, "asker-", locked=False) is not False:
        return True
    return not is_end and look["needs_waker"] and not has_waker(files)


def _welcome_reply(call: Invocation, look: Look) -> str:
    """Return what a client is told at the start of a session, as one line of JSON: what its model must know."""
    more = {"sessionTitle": call.actor} if call.has_own_name and look["shows_title"] else {}
    reply = {"hookEventName": "SessionStart", "additionalContext": look["words"], **more}
    return json.dumps({"hookSpecificOutput": reply}, ensure_ascii=False)


def note_state(call: Invocation, files: SessionFiles, places: Mapping[str, str], *, state: str, **about: str) -> bool:
    """Keep what a session does: for its own events, and beside the team's messages for everybody.

    Args:
        about: `client`, `mode` and `last_words`.

    Returns:
        Whether it could be kept there.
    """
    files.write(STATE, {"doing": state, "at": time.time()})
    if "presence" not in places:
        return False
    note = {"member": call.actor, "session": call.session, "state": state, **about}
    return write_note(places["presence"], note, like=places.get("queue") or places.get("database", ""))


def note_unasked(call: Invocation, files: SessionFiles) -> None:
    """Remember what the client refuses by itself, since nobody is at its terminal and nobody at a console."""
    keys = ("tool_name", "tool_input", "cwd", "agent_id")
    files.write(_refused_file(call.data), {key: call.data.get(key) for key in keys})


def _refused_file(data: EventData) -> str:
    """Return the name of the file that keeps a call which the client refused by itself."""
    return f"{REFUSED}{checksum_of([data.get('tool_name'), data.get('tool_input')]):08x}"


def teammate_of(data: EventData) -> str | None:
    """Return the teammate whose event this is: its name stands in `agent_type`, and in its id with a letter before
    it.

    A subagent has the name of its kind there instead, and an id that does not say it.
    """
    named, kind, thread = data.get("teammate_name"), data.get("agent_type"), data.get("agent_id")
    if isinstance(named, str) and named:
        return named
    if isinstance(kind, str) and isinstance(thread, str) and kind and thread.startswith(f"a{kind}-"):
        return kind
    return None


def _is_asked_for(call: Invocation, files: SessionFiles) -> bool:
    """Return whether a call is one of those that the team wants to be asked for, or a question, while somebody is
    there.
    """
    look = look_of(call, files)
    if look is None:  # then the team says it
        return True
    is_awaited = not _asks_nobody(look)
    if is_awaited and call.text("tool_name") == look["asks_by_tool"]:
        return True
    rules = [*call.held_rules, *(look["ask_for"] if is_awaited else ())]
    return bool(rules) and call.rule_for(rules, project_of(call.data, look["project_variable"])) != ""


def project_of(data: EventData, variable: str) -> str:
    """Return the folder that a session works in, as the variable of its client says, else its event."""
    return os.environ.get(variable) or str(data.get("cwd") or os.curdir)


def _asks_nobody(look: Look) -> bool:
    """Return whether a request would wait for nobody, since no human is there and the team waits for none."""
    places = look["places"]
    if not places or look["granted"]:
        return False
    before, now = look["marks"], marks_of(places)
    # The settings of a team in a folder are a file of their own; in a database any change may be one of them.
    has_settings_file = "queue" in places
    if before.get("settings") != now.get("settings") or (before != now and not has_settings_file):
        return False
    if look["wait"] == "present":
        return _is_anybody_there(look, "console-", locked=True) is False
    return look["wait"] == "never"


def _concerns_teammate(name: str, data: EventData, files: SessionFiles) -> bool:
    """Return whether an event says anything new of a teammate."""
    teammate = teammate_of(data)
    if teammate is None:
        return False
    known = files.read(TEAMMATE + teammate)
    return known is None or known.get("doing") != _TEAMMATE_AFTER[name]
