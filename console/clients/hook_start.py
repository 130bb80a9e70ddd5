"""Start of `team-console hook`: one event of a client in, its answer or nothing out, and never a no by accident.

A client takes the exit status 2 of a hook for a refusal, and would show any other as an error. So whatever goes wrong
here ends with status 0 and without output: then the client goes on as if there were no hook.

With `--hold` it ends with status 1 instead. Only the entry that `hook_lines.HookLines.held_entries` writes calls it so,
and that entry tells the client to refuse the call whenever its hook fails: there the user chose a no.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from team_console.console.clients.client_process import become_waker
from team_console.console.clients.hook_invocation import Invocation, options_of
from team_console.console.clients.quick_answer import answer_quickly
from team_console.console.clients.run_record import note_run
from team_console.console.clients.session_files import EVERY_SESSION, SessionFiles, files_of, name_of_session
from team_console.store.model.json_object import refuse_repeated_keys

_MOST_INPUT = 32 << 20
"""Bytes of an event that are read; a longer one is no JSON then, and says nothing."""
_DEEPEST = 10_000
"""Frames of Python for an event whose input is deeply nested."""


def run_hook(words: Sequence[str]) -> int:
    """Answer one event; returns the exit status, 0 whatever went wrong; with `--hold` then 1."""
    try:
        return _run(words)
    except BaseException as error:  # a refusal must never come of a defect, an interrupt or a lack of memory
        if os.environ.get("TEAM_CONSOLE_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)
        # guard: hook-exits-zero
        return 1 if "--hold" in words else 0


def _quick_answer(call: Invocation, files: SessionFiles) -> str | None:
    """Return what is said to an event without a look at the team; None where that takes one.

    A harmed file of an earlier event says nothing: in silence a call would pass that is to be asked for.
    """
    try:
        return answer_quickly(call, files)
    except Exception:
        # guard: harmed-hint-is-none
        return None


def _run(words: Sequence[str]) -> int:
    """Answer one event quickly, or else by opening the team; returns the exit status.

    Raises:
        Exception: Whatever goes wrong; `run_hook` keeps it from the client.
    """
    options = options_of(words)
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEPEST)  # what is nested deeper than Python reads would pass unasked
    data = json.loads(sys.stdin.buffer.read(_MOST_INPUT), object_pairs_hook=refuse_repeated_keys)
    sys.setrecursionlimit(usual)
    if not isinstance(data, dict):
        return 0
    call = Invocation(options, data)
    if not call.session:
        return 0
    if call.actor == EVERY_SESSION:  # a hook for all sessions of a machine, each of which has a name of its own
        name = name_of_session(call.session)
        if name is None:
            from team_console.console.clients.joined import name_session

            name = name_session(call)
        call.actor, call.has_own_name = name, True
    if not call.actor:
        return 0
    note_run(data, session=call.session, agent=call.actor, location=call.location)
    files = files_of(call.session, call.actor, call.location)
    if call.wake:
        if data.get("agent_id"):  # a subagent is woken by the session that it works in
            return 0
        call.waker = become_waker(files, data)  # None where another process waits for this session's mail
        if call.waker is None:
            return 0
    elif not call.is_held and (reply := _quick_answer(call, files)) is not None:
        if reply:
            sys.stdout.buffer.write(f"{reply}\n".encode("utf-8", "backslashreplace"))
            sys.stdout.buffer.flush()
        return 0
    from team_console.console.clients.hook import answer_event

    return answer_event(call, files)
