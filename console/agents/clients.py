"""Languages of clients: their hook events read into one shape, and verdicts answered in their own words.

Facts are those of Claude Code 2.1 and Codex 0.169, seen with the programs. Pure functions: an event as JSON in, an
`Event` out; a verdict in, the client's own answer out.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from team_console.console.agents.quick import CODEX_QUESTION, teammate_of
from team_console.console.agents.session_files import EXIT, SUBJECTS
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.checks import mask_secrets
from team_console.store.protocol.client_requests import MOST_BYTES, answers_of, answers_text
from team_console.store.protocol.parsing import mapping, mappings, text_in

# Transcript of a client's session, read from its end: what the user and the agent said last, and what was run.

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
    """Return whether a session of Codex is a run without a terminal, as the first row of its transcript says."""
    try:
        with open(path, "rb") as file:
            about = json.loads(file.readline(MOST_READ))["payload"]
        return "exec" in (about.get("source"), str(about.get("originator")).rpartition("_")[2])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def why_of(event: Event) -> dict[str, Any]:
    """Return the extract for a request as its payload keeps it: at most 16 KB, safe, without secrets that the checks
    know.

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
    """Yield the lines of a file from the last to the first; blocks grow, so that a long line is not joined ever
    again.
    """
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
    """Return the text that the user typed, a program handed in or a teammate was given; empty for text of the client's
    own.
    """
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
    """Return at most so many bytes of it, its beginning or its end."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    kept = (data[-most:] if is_end else data[:most]).decode("utf-8", "ignore")
    return f"… {kept}" if is_end else f"{kept} …"


CLAUDE, CODEX = "claude-code", "codex"
PLAN_TOOL = "ExitPlanMode"
_QUESTION_TOOLS = ("AskUserQuestion", CODEX_QUESTION)
MODES = ("auto", "acceptEdits", "default")
"""Modes in which a session can go on after its plan: its check decides, edits are accepted, or each is asked for."""
_CRITICAL = 120.0
"""Seconds after which Claude Code refuses by itself to delete what is critical: home, root, the project."""
LONGEST_CONTEXT = 9_500
"""Characters of text that a hook may add; clients cut at 10,000."""
MOST_BLOCKS = 8
"""How often in a row a hook may keep a turn from ending: a model's patience, where the client has no limit."""


class EventName(StrEnum):
    """Events that something follows from; all others need nothing."""

    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    PROMPT = "UserPromptSubmit"
    BEFORE_TOOL = "PreToolUse"
    AFTER_TOOL = "PostToolUse"
    AFTER_FAILED_TOOL = "PostToolUseFailure"
    PERMISSION = "PermissionRequest"
    DENIED = "PermissionDenied"
    STOP = "Stop"
    SUBAGENT_START = "SubagentStart"
    SUBAGENT_STOP = "SubagentStop"
    TEAMMATE_IDLE = "TeammateIdle"
    CONFIG_CHANGE = "ConfigChange"


class Wish(StrEnum):
    """What a client wants of a human."""

    PERMISSION = "permission"
    PLAN = "plan"
    QUESTION = "question"


class Event(Struct, frozen=True):
    """One event.

    Attributes:
        client: `claude-code` or `codex`.
        name: As the client calls it; an `EventName` where something follows from it.
        session: The client's own id of its session; empty when it gave none.
        directory: The folder the agent works in.
        tool, input: The tool that is, was or would be used, and what with.
        thread: What tells a teammate or subagent from the session itself; empty for the session itself.
        teammate: The name of the teammate whose event it is; None for the session itself and for a nameless subagent.
        suggestions: What the client offers to allow from now on, its own objects.
        wish: What is asked for, or would be by asking for a tool that is about to be used; None when nothing is.
        last_words: What was said last before a turn ended.
        keeps_going: Whether a turn goes on only because a hook wanted it to.
        reason: Why a tool was denied, or the session ended.
        mode: In which the session decides on tools: `default`, `auto`, `plan`, ...; empty when not said.
        patience: Seconds after which the client says no by itself; None when it does not.
        teammates_work: Whether the client says that teammates are still there; None when it says nothing.
        transcript: The file that holds what was said and done in the session, or in its teammate; empty for none.
    """

    client: str
    name: str
    session: str
    directory: str
    tool: str
    input: Mapping[str, Any]
    thread: str
    teammate: str | None
    suggestions: tuple[Mapping[str, Any], ...]
    wish: Wish | None
    last_words: str
    keeps_going: bool
    reason: str
    mode: str
    patience: float | None
    teammates_work: bool | None
    transcript: str


def event_of(data: Mapping[str, Any], client: str = "") -> Event:
    """Read one event: of the client that is named, else of the one it looks like.

    Codex names turns, and keeps its transcripts in a folder of its own.
    """
    if client not in (CLAUDE, CODEX):
        client = CODEX if "turn_id" in data or "/.codex/" in text_in(data, "transcript_path") else CLAUDE
    name, tool, given = text_in(data, "hook_event_name"), text_in(data, "tool_name"), mapping(data, "tool_input")
    asks_questions = tool in _QUESTION_TOOLS and mappings(given, "questions")
    is_plan = tool == PLAN_TOOL and text_in(given, "plan").strip()
    wish = Wish.PLAN if is_plan else Wish.QUESTION if asks_questions else Wish.PERMISSION
    asks = bool(tool) and name in (EventName.PERMISSION, EventName.BEFORE_TOOL)
    tasks = mappings(data, "background_tasks")
    works = any(task.get("type") == "teammate" and task.get("status") == "running" for task in tasks)
    # A request to delete what is critical has this empty list, and no other of a shell has (seen with 2.1.331).
    is_critical = wish is Wish.PERMISSION and tool == "Bash" and data.get("permission_suggestions") == []
    return Event(
        client=client,
        name=name,
        session=text_in(data, "session_id"),
        directory=text_in(data, "cwd"),
        tool=tool,
        input=given,
        thread=text_in(data, "agent_id"),
        teammate=teammate_of(dict(data)) if client == CLAUDE else None,
        suggestions=mappings(data, "permission_suggestions"),
        wish=wish if asks else None,
        last_words=text_in(data, "last_assistant_message"),
        keeps_going=data.get("stop_hook_active") is True,
        reason=text_in(data, "reason"),
        mode=text_in(data, "permission_mode"),
        patience=_CRITICAL if is_critical else None,
        teammates_work=works if isinstance(data.get("background_tasks"), list) else None,
        transcript=_transcript(text_in(data, "transcript_path"), text_in(data, "agent_id"), client),
    )


def _transcript(path: str, thread: str, client: str) -> str:
    """Return the transcript of who acts: a teammate of Claude Code has a file of its own, and events name the
    session's.
    """
    if not thread or client == CODEX:
        return path
    is_name = path.endswith(".jsonl") and "/" not in thread and "\0" not in thread
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{thread}.jsonl" if is_name else ""


Reply = dict[str, Any]
"""What a client is told: one JSON object on standard output."""


def specific_reply(event: Event, **fields: Any) -> Reply:
    """Return a reply that is about this event: `additionalContext` is text that the model reads with what comes
    next.
    """
    return {"hookSpecificOutput": {"hookEventName": event.name, **fields}}


def permission_reply(event: Event, verdict: Mapping[str, Any]) -> Reply | None:
    """Return the answer to what is asked for; None where the verdict decides nothing here.

    Args:
        verdict: The payload of the message that answers the request.
    """
    approve, is_codex = verdict.get("approve"), event.client == CODEX
    if approve is False:
        return _refusal(event, text_in(verdict, "content") or "The human refused.")
    # guard: clients-need-a-yes-or-no
    if approve is not True:
        return None
    if event.wish is Wish.QUESTION and is_codex:
        # The words of a refusal are all that reaches the model, as the result of its question.
        return _refusal(event, f"The human answered in the console: {answers_text(verdict)}")
    if event.wish is Wish.QUESTION:
        # Several labels are joined, as the client's own dialog does.
        answers = {question: ", ".join(words) for question, words in answers_of(verdict).items()}
        return _yes(event, {**event.input, "answers": answers}) if answers else None
    if event.wish is Wish.PLAN:
        return _approved_plan(event, verdict)
    updated, suggestion = verdict.get("updated_input"), verdict.get("suggestion")
    changed = dict(updated) if isinstance(updated, Mapping) else None
    if is_codex and event.name == EventName.BEFORE_TOOL:  # a bare yes is not understood there, and its rules go on
        return _yes(event, changed) if changed else None
    if is_codex:  # which takes no other input in answer to a request
        return _yes(event) if changed in (None, event.input) else ask_instead(event, changed or {})
    always = verdict.get("scope") == "always" and isinstance(suggestion, Mapping)
    return _yes(event, changed, [suggestion] if always else [])


def allow_reply(event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
    """Let a tool be used without asking; with another input, where the human changed it before the yes.

    None for such a one in Codex, which does not take it.
    """
    changed: Reply = {} if instead is None else {"updatedInput": dict(instead)}
    if event.client == CODEX:
        return None if changed else specific_reply(event, permissionDecision="allow")
    why = "allowed once by the human"
    return specific_reply(event, permissionDecision="allow", permissionDecisionReason=why, **changed)


def ask_instead(event: Event, approved: Mapping[str, Any]) -> Reply:
    """Return a no to what must not run in place of what was approved, with the words that the model asks for that."""
    return _refusal(
        event, f"Approved in another form; ask for this instead: {json.dumps(approved, ensure_ascii=False)}"
    )


def _refusal(event: Event, words: str) -> Reply:
    if event.name != EventName.PERMISSION:
        return specific_reply(event, permissionDecision="deny", permissionDecisionReason=words)
    more = {} if event.client == CODEX else {"interrupt": False}
    return specific_reply(event, decision={"behavior": "deny", "message": words, **more})


def _yes(event: Event, updated: Mapping[str, Any] | None = None, rules: list[Any] | None = None) -> Reply:
    changed = {} if updated is None else {"updatedInput": updated}
    if event.name != EventName.PERMISSION:
        return specific_reply(event, permissionDecision="allow", **changed)
    return specific_reply(
        event, decision={"behavior": "allow", **changed, **({"updatedPermissions": rules} if rules else {})}
    )


def _approved_plan(event: Event, verdict: Mapping[str, Any]) -> Reply:
    """A bare yes to a plan is ignored: the input has to come back with it, changed or not."""
    plan, mode = text_in(verdict, "updated_plan"), text_in(verdict, "mode")
    if words := text_in(verdict, "content"):  # a yes has no place for words but the plan itself, which the model reads
        plan = f"{plan or text_in(event.input, 'plan')}\n\n## The human's words with the approval\n\n{words}\n"
    modes = [{"type": "setMode", "mode": mode, "destination": "session"}] if mode else []
    return _yes(event, {**event.input, **({"plan": plan} if plan else {})}, modes)
