"""Why a client asks: read from the end of its transcript, to the word, whatever else stands in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from team_console.console.clients.table import CLIENTS
from team_console.console.clients.transcript import MOST_READ, why_of
from team_console.store.protocol.client_requests import MOST_BYTES

from tests.hook import recorded
from tests.hook.conftest import Client, Human
from tests.hook.recorded import ASKED

Row = Mapping[str, Any]
Call = tuple[str, str, str]


# Rows as Claude Code 2.1.330 writes them.


def typed(text: str, **more: Any) -> Row:
    """A prompt of the user."""
    human = {"origin": {"kind": "human"}, "promptSource": "typed"}
    return {"type": "user", "isSidechain": False, "message": {"role": "user", "content": text}, **human, **more}


def put(content: Any, **more: Any) -> Row:
    """A row in the user's name that nobody typed."""
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def said(text: str, message: str = "msg_1", **more: Any) -> Row:
    """Words of the agent: a row of their own, with the id of the message."""
    return _assistant({"type": "text", "text": text}, message, **more)


def used(call: str, command: str, message: str = "msg_1", tool: str = "Bash") -> Row:
    """A tool call."""
    key = "command" if tool == "Bash" else "file_path"
    return _assistant({"type": "tool_use", "id": call, "name": tool, "input": {key: command}}, message)


def result(call: str, text: Any = "done", *, error: bool = False) -> Row:
    """What a tool call gave."""
    return put([{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}], toolUseResult={})


def _assistant(block: Row, message: str, **more: Any) -> Row:
    return {"type": "assistant", "message": {"id": message, "role": "assistant", "content": [block]}, **more}


NOISE: Sequence[Row] = (
    {"type": "api-request-shape", "shape": {"tools": ["x" * 44_000]}},
    {"type": "attachment", "attachment": {"type": "prompt_snapshot", "text": '{"type":"user"}' * 4_000}},
    {"type": "last-prompt", "lastPrompt": "never typed", "leafUuid": "1"},
    {"type": "mode", "mode": "normal"},
)
START = (typed("Make it ready"), said("I look first."))
END = (said("Now the pipe.", "msg_9"), used("t9", ASKED, "msg_9"))

CLAUDE: Mapping[str, tuple[Sequence[Row], str, str, Sequence[Call]]] = {
    "noise between": ([*START, *NOISE, *END, *NOISE], "Make it ready", "Now the pipe.", []),
    "thinking is not said": (
        [*START, _assistant({"type": "thinking", "thinking": "secret plan"}, "m2"), used("t9", ASKED, "m2")],
        "Make it ready",
        "I look first.",
        [],
    ),
    "a result in blocks": (
        [*START, used("t1", "false"), result("t1", [{"type": "text", "text": "Exit code 1"}], error=True), *END],
        "Make it ready",
        "Now the pipe.",
        [("Bash", "false", "exit 1")],
    ),
    "rows that nobody typed": (
        [
            *START,
            put("Caveat: ...", isMeta=True),
            put("<system-reminder>no</system-reminder>"),
            put("[Request interrupted by user]"),
            put("Summary ...", isCompactSummary=True),
            put("sub", isSidechain=True),
            *END,
        ],
        "Make it ready",
        "Now the pipe.",
        [],
    ),
    "an older build": ([put("Make it"), *END], "Make it", "Now the pipe.", []),
    "only the last prompt is known": (
        [{"type": "last-prompt", "lastPrompt": "Go"}, *END],
        "Go",
        "Now the pipe.",
        [],
    ),
}


# Rows as Codex 0.169 writes them.


def item(kind: str, **fields: Any) -> Row:
    """An item of the conversation."""
    return {"timestamp": "2026-11-25T18:35:53Z", "type": "response_item", "payload": {"type": kind, **fields}}


def message(role: str, text: str) -> Row:
    """Words of either side."""
    sort = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": sort, "text": text}])


def ran(call: str, command: str, output: Any = None) -> list[Row]:
    """A command, and what it gave."""
    rows = [item("function_call", name="exec_command", arguments=json.dumps({"cmd": command}), call_id=call)]
    return [*rows, *([item("function_call_output", call_id=call, output=output)] if output is not None else [])]


BEGUN = (message("developer", "You are a1"), message("user", "<environment_context>..."), message("user", "Make it"))
CODEX: Mapping[str, tuple[Sequence[Row], str, str, Sequence[Call]]] = {
    "statuses": (
        [
            *BEGUN,
            *ran("c1", "ls", "Chunk ID: 1\nProcess exited with code 0\nOutput:\nexit code 9"),
            *ran("c2", "false", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n"),
            *ran("c3", "old", '{"output":"x","metadata":{"exit_code":3,"duration_seconds":0.1}}'),
            message("assistant", "Now."),
            *ran("c9", ASKED),
        ],
        "Make it",
        "Now.",
        [("exec_command", "ls", "exit 0"), ("exec_command", "false", "exit 1"), ("exec_command", "old", "exit 3")],
    ),
    "words of the system": (
        [*BEGUN, message("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>"), *ran("c9", ASKED)],
        "Make it",
        "",
        [],
    ),
    "a patch and a list": (
        [
            *BEGUN,
            item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c1"),
            item("custom_tool_call_output", call_id="c1", output="Success"),
            item("local_shell_call", action={"command": ["bash", "-lc", "ls | wc"]}, call_id="c2", status="completed"),
            *ran("c9", ASKED),
        ],
        "Make it",
        "",
        [("apply_patch", "*** Begin Patch", "ok"), ("shell", "ls | wc", "no result yet")],
    ),
}


def write(folder: Path, rows: Sequence[Row], end: bytes = b"\n") -> str:
    path = folder / "transcript.jsonl"
    path.write_bytes(b"\n".join(json.dumps(row, ensure_ascii=False).encode() for row in rows) + end)
    return str(path)


def extract(data: Mapping[str, Any], client: str) -> dict[str, Any]:
    return why_of(CLIENTS[client].event_of(data), CLIENTS[client].take_row)


def claude_asks(path: str, **more: Any) -> dict[str, Any]:
    """The extract at a permission request of Claude Code."""
    event = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": ASKED}}
    return extract({**event, "transcript_path": path, **more}, "claude-code")


def codex_asks(path: str) -> dict[str, Any]:
    event = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": ASKED}}
    return extract({**event, "transcript_path": path, "turn_id": "1"}, "codex")


def calls_of(why: Mapping[str, Any]) -> list[Call]:
    return [(call["tool"], call["subject"], call["state"]) for call in why["calls"]]


@pytest.mark.parametrize("name", [*CLAUDE, *CODEX])
def test_a_transcript_is_read_to_the_word(name: str, tmp_path: Path) -> None:
    rows, user, agent, calls = {**CLAUDE, **CODEX}[name]
    why = (claude_asks if name in CLAUDE else codex_asks)(write(tmp_path, rows))
    assert (why["user"], why["agent"], calls_of(why)) == (user, agent, list(calls))


@pytest.mark.parametrize("name", recorded.CLAUDE)
def test_what_the_real_claude_code_wrote_is_read_to_the_word(name: str, tmp_path: Path) -> None:
    recording, path = recorded.CLAUDE[name], recorded.TRANSCRIPTS / f"{name}.jsonl"
    more = {}
    if recording.is_subagent:
        own = tmp_path / "transcript" / "subagents" / "agent-a1.jsonl"
        own.parent.mkdir(parents=True)
        shutil.copy(path, own)
        path, more = tmp_path / "transcript.jsonl", {"agent_id": "a1", "agent_type": "general-purpose"}
    why = claude_asks(str(path), tool_input=recorded.bash(ASKED).input, **more)
    assert (why["user"], why["agent"], calls_of(why)) == (recording.user, recording.agent, list(recording.calls))


@pytest.mark.parametrize("name", recorded.CODEX)
def test_what_the_real_codex_wrote_is_read_to_the_word(name: str) -> None:
    recording = recorded.CODEX[name]
    why = codex_asks(str(recorded.TRANSCRIPTS / f"{name}.jsonl"))
    assert (why["user"], why["agent"], calls_of(why)) == (recording.user, recording.agent, list(recording.calls))


def test_a_teammate_is_read_from_its_own_file_never_from_the_leads(tmp_path: Path) -> None:
    lead = tmp_path / "transcript.jsonl"
    write(tmp_path, [typed("The lead's words"), *END])
    own = tmp_path / "transcript" / "subagents"
    own.mkdir(parents=True)
    task = '<teammate-message teammate_id="team-lead" summary="x">\nMake a pipe\n</teammate-message>'
    rows = [put(task, isSidechain=True), *({**row, "isSidechain": True} for row in END)]
    write(own, rows)
    (own / "transcript.jsonl").rename(own / "agent-abob-1f.jsonl")
    bob = {"agent_id": "abob-1f", "agent_type": "bob"}
    assert claude_asks(str(lead), **bob)["user"] == "team-lead: Make a pipe"
    assert "cannot be read" in claude_asks(str(lead), **{**bob, "agent_id": "abob-2f"})["missing"]
    assert claude_asks(str(lead), **{**bob, "agent_id": "../../transcript"})["missing"]


def test_no_transcript_is_said(tmp_path: Path) -> None:
    assert claude_asks("") == {"missing": "the client named no transcript"}
    assert claude_asks(str(tmp_path / "none"))["missing"] == "its transcript cannot be read: No such file or directory"
    assert "cannot be read" in claude_asks(str(tmp_path))["missing"]
    assert claude_asks(write(tmp_path, [{"type": "mode"}]))["missing"] == "nothing in its transcript could be read"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "cannot be read" in claude_asks(str(pipe))["missing"]


def test_an_extract_is_small_safe_and_without_secrets(tmp_path: Path) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nMORE\n-----END RSA PRIVATE KEY-----\nafter"
    loud = "\x1b[31m\u202e" + '"\\\n' * 30_000
    rows = [typed(f"use {key} and password: hunter22\n{block}{loud}"), said("页" * 40_000 + "the end", "m2")]
    why = claude_asks(write(tmp_path, [*rows, used("t1", f"curl -H {key} {'x' * 9000}"), used("t9", ASKED)]))
    text = json.dumps(why, ensure_ascii=False)
    assert len(text.encode()) <= MOST_BYTES
    for hidden in (key, "hunter22", "MIIEow", "\x1b", "\u202e"):
        assert hidden not in text
    assert why["user"].startswith("use [an AWS access key] and password: [a password or key]\n[a private key]\nafter")
    assert why["agent"].endswith("the end")


def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path) -> None:
    """What is read is bounded by bytes: a hundred megabytes cost no more than four."""
    path = Path(write(tmp_path, [typed("Long ago")]))
    with path.open("ab") as file:
        filler = json.dumps({"type": "api-request-shape", "shape": "x" * (1 << 20)}).encode() + b"\n"
        for _ in range((MOST_READ >> 20) + 1):
            file.write(filler)
        file.write(b"\n".join(json.dumps(row).encode() for row in END))
    why = claude_asks(str(path))
    assert (why["user"], why["agent"]) == ("", "Now the pipe.")


def test_the_hook_stores_why_it_asks_and_show_says_it(client: Client, human: Human, tmp_path: Path) -> None:
    path = write(tmp_path, [*START, used("t1", "ls"), result("t1"), said("Now the pipe.", "msg_9")])
    with human.at_console():
        hook = client.begin("claude: PermissionRequest", transcript_path=path)
        (asked,) = human.asked()
        request = asked["request_id"]
        shown = human.command.ok("show", request, "--json").json
        assert shown["why"] == {
            "user": "Make it ready",
            "agent": "Now the pipe.",
            "calls": [{"tool": "Bash", "subject": "ls", "state": "ok"}],
            "missing": "",
        }
        lines = human.command.ok("show", request, "--why").out.splitlines()
        assert lines == [
            *("the user said last:", "> Make it ready", "the agent said last:", "> Now the pipe."),
            *("its last tool calls:", "  Bash: ls · ok"),
        ]
        assert "── why it asks " in human.command.ok("show", request).out
        human.command.ok("approve", request, "--seen", shown["seen"])
        client.end(hook)
