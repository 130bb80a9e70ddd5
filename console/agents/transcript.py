"""Transcript of a client's session, read from its end: what the user and the agent said last, and what was run.

Formats are those of Claude Code 2.1 and Codex 0.169, as seen with the programs; a row that is not understood is passed
over, and nothing that stands in a transcript can make the hook fail.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from team_console.console.agents.clients import CODEX, Event
from team_console.console.agents.session_files import EXIT, SUBJECTS
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.checks import mask_secrets
from team_console.store.protocol.parsing import mapping, text_in
from team_console.store.protocol.why import MOST_BYTES

MOST_READ = 4 << 20
"""Bytes that are read from the end: an agent that goes on for hours adds about 70 KB a turn, mostly to be skipped."""
_FIRST_BLOCK = 64 << 10
_MOST_CALLS = 5
_LONGEST_TEXT = 64 << 10
"""Characters of one text that are looked at, before it is cut."""
_LATE = 0.06
"""Seconds after which a row is there that Claude Code had not written yet when its hook started (0 to 57 ms, seen)."""
_NOT_TYPED = re.compile(r"<|\[Request interrupted|# AGENTS\.md instructions")
"""Begins what clients put into the user's mouth: environment, reminders, output of commands."""
_EXIT_FIELD = re.compile(r'"exit_code":\s*(-?\d{1,3})')
_COMMAND = re.compile(r"<command-name>(/?[\w:.-]+)</command-name>(?:.*?<command-args>(.*?)</command-args>)?", re.DOTALL)
_TASK = re.compile(r'<teammate-message teammate_id="([^"]{1,64})"[^>]*>\s*(.*?)\s*</teammate-message>', re.DOTALL)


class _Row(Struct):
    """The fields of a row that matter; of all others, which may be long, no object is made."""

    type: Any = None
    message: Any = None
    payload: Any = None
    origin: Any = None
    promptSource: Any = None
    isMeta: Any = None
    isSidechain: Any = None
    isCompactSummary: Any = None
    lastPrompt: Any = None


class _Said(Struct):
    """What was found so far, while rows are read from the newest to the oldest."""

    asked: Event
    user: str = ""
    prompt: str = ""
    agent: list[str] = []
    agent_id: object = None
    is_agent_whole: bool = False
    results: dict[str, str] = {}
    calls: list[dict[str, str]] = []
    has_asked: bool = False


def is_headless(path: str) -> bool:
    """Whether a session of Codex is a run without a terminal, as the first row of its transcript says."""
    try:
        with open(path, "rb") as file:
            about = json.loads(file.readline(MOST_READ))["payload"]
        return "exec" in (about.get("source"), str(about.get("originator")).rpartition("_")[2])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def why_of(event: Event) -> dict[str, Any]:
    """The extract for a request as its payload keeps it: at most 16 KB, safe, without secrets that the checks know.

    A transcript that is not there, or cannot be read, is said under `missing`.
    """
    if not event.transcript:
        return {"missing": "the client named no transcript"}
    try:
        said = _read(event)
        if not said.has_asked:
            time.sleep(_LATE)
            said = _read(event)
    except (OSError, ValueError) as error:
        return {"missing": f"its transcript cannot be read: {getattr(error, 'strerror', None) or 'it is no file'}"}
    user = said.user or said.prompt
    if not (user or said.agent or said.calls):
        return {"missing": "nothing in its transcript could be read"}
    why: dict[str, Any] = {}
    for most in (5_000, 2_500, 1_200):
        calls = [{key: _cut(safe_line(value), most // 10) for key, value in call.items()} for call in said.calls[::-1]]
        agent = _cut("\n\n".join(said.agent[::-1]), most, is_end=True)
        why = {"user": _cut(user, most), "agent": agent, "calls": calls}
        if len(json.dumps(why, ensure_ascii=False).encode()) <= MOST_BYTES:
            break
    return why


def _read(event: Event) -> _Said:
    said = _Said(event)
    take = _take_codex if event.client == CODEX else _take_claude
    for line in _lines(event.transcript):
        try:
            row = msgspec.json.decode(line, type=_Row)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            continue  # a line that was cut, or is being written
        take(said, row)
        if said.user and said.is_agent_whole and said.has_asked and len(said.calls) >= _MOST_CALLS:
            break
    return said


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a file from the last to the first; blocks grow, so that a long line is not joined ever again."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no file")
        end, least, block, rest = found.st_size, max(0, found.st_size - MOST_READ), _FIRST_BLOCK, b""
        while end > least:
            start = max(least, end - block)
            file.seek(start)
            first, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from reversed(lines)
            end, block, rest = start, block * 2, first
        if not least:
            yield rest


# Claude Code: one row for each block of a message, all with the id of the message.


def _take_claude(said: _Said, row: _Row) -> None:
    if row.type == "last-prompt" and isinstance(row.lastPrompt, str):
        said.prompt = said.prompt or _clean(row.lastPrompt)
    message = row.message
    if not isinstance(message, Mapping) or row.isMeta or row.isCompactSummary:
        return
    if row.isSidechain and not said.asked.thread:  # a subagent's work in the file of the session itself
        return
    content = message.get("content")
    texts = [content] if isinstance(content, str) else _texts(content, "text")
    if row.type == "user":
        _end_words(said)
        for item in _blocks(content, "tool_result"):
            said.results.setdefault(text_in(item, "tool_use_id"), _result(item))
        is_typed = isinstance(row.origin, Mapping) and row.origin.get("kind") == "human"
        is_handed_in = row.promptSource in ("typed", "sdk")  # by the keyboard, or by a program
        said.user = said.user or _typed("\n".join(filter(None, texts)), is_typed, is_handed_in)
    elif row.type == "assistant":
        if said.agent and message.get("id") != said.agent_id:
            said.is_agent_whole = True
        for item in reversed(_blocks(content, "tool_use")):
            _take_call(said, text_in(item, "name"), mapping(item, "input"), text_in(item, "id"))
        _say(said, texts, message.get("id"))


def _blocks(content: object, kind: str) -> list[Mapping[str, Any]]:
    items = content if isinstance(content, list) else ()
    return [item for item in items if isinstance(item, Mapping) and item.get("type") == kind]


def _texts(content: object, kind: str) -> list[str]:
    return [text_in(item, "text") for item in _blocks(content, kind)]


def _result(item: Mapping[str, Any]) -> str:
    content = item.get("content")
    text = content if isinstance(content, str) else "".join(_texts(content, "text"))
    if item.get("is_error") is not True:
        return "ok"
    match = EXIT.search(text[:40])
    return f"exit {match[1]}" if match is not None else "failed"


# Codex: items of the conversation; what the model calls, and what came out, share a `call_id`.


def _take_codex(said: _Said, row: _Row) -> None:
    item = row.payload
    if row.type != "response_item" or not isinstance(item, Mapping):
        return
    kind, call = text_in(item, "type"), text_in(item, "call_id")
    if kind.endswith("call_output"):
        said.results.setdefault(call, _output(item.get("output")))
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        _take_call(said, text_in(item, "name") or "shell", _arguments(item), call)
    elif kind == "message" and item.get("role") == "assistant":
        _say(said, _texts(item.get("content"), "output_text"), None)
        _end_words(said)
    elif kind == "message" and item.get("role") == "user":
        _end_words(said)
        kinds = mapping(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
        is_typed = isinstance(kinds, list) and set(map(str, kinds)) == {"user.text"}
        texts = _texts(item.get("content"), "input_text")
        texts = texts if is_typed else [text for text in texts if not _NOT_TYPED.match(text)]
        said.user = said.user or _typed("\n".join(texts), is_typed)


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    given = item.get("arguments", item.get("input", item.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {"description": given}
    if not isinstance(given, Mapping):
        return {}
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = command[2] if len(command) == 3 and command[1] in ("-c", "-lc") else shlex.join(command)
    return {**given, "command": command} if isinstance(command, str) else given


def _output(value: object) -> str:
    if not isinstance(value, str):
        return "failed" if isinstance(value, Mapping) and value.get("success") is False else "ok"
    match = EXIT.search(value[:400].partition("Output:")[0]) or _EXIT_FIELD.search(value[-400:])
    return f"exit {match[1]}" if match is not None else "ok"


# What both clients' rows come to.


def _take_call(said: _Said, tool: str, given: Mapping[str, Any], call: str) -> None:
    state = said.results.get(call, "no result yet")
    asked = said.asked
    # Codex names its shell in other ways than its hook does, and runs one call at a time: the newest is the one.
    is_asked = asked.client == CODEX or (tool == asked.tool and dict(given) == dict(asked.input))
    if not said.has_asked and call not in said.results and is_asked:
        said.has_asked = True
    elif len(said.calls) < _MOST_CALLS:
        subject = next((given[key] for key in SUBJECTS if isinstance(given.get(key), str) and given[key]), "")
        said.calls.append({"tool": tool, "subject": _clean(subject), "state": state})


def _say(said: _Said, texts: Sequence[str], message_id: object) -> None:
    words = [clean for text in texts if (clean := _clean(text))]
    if words and not said.is_agent_whole:
        said.agent += reversed(words)
        said.agent_id = message_id


def _end_words(said: _Said) -> None:
    said.is_agent_whole = bool(said.agent)


def _typed(text: str, is_typed: bool, is_handed_in: bool = False) -> str:
    """What the user typed or a program handed in, or what a teammate was told; empty for what a client put there."""
    if is_typed:
        return _clean(text)
    command, task = _COMMAND.search(text), _TASK.match(text)
    if command is not None:
        return _clean(f"{command[1]} {command[2] or ''}")
    if task is not None:
        return _clean(f"{task[1]}: {task[2]}")
    return "" if _NOT_TYPED.match(text) and not is_handed_in else _clean(text)


def _clean(text: str) -> str:
    return safe_text(mask_secrets(text[:_LONGEST_TEXT])).strip()


def _cut(text: str, most: int, *, is_end: bool = False) -> str:
    """At most so many bytes of it, its beginning or its end."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    kept = (data[-most:] if is_end else data[:most]).decode("utf-8", "ignore")
    return f"… {kept}" if is_end else f"{kept} …"
