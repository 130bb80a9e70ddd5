"""Why a client asks: read from the end of its transcript, to the word, whatever else stands in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from team_console.console.clients.programs import CLIENTS
from team_console.console.clients.transcript import MOST_READ, extract_for_request
from team_console.store.protocol.client_requests import MOST_BYTES

from tests.hook.recorded import ASKED, RECORDINGS, TRANSCRIPTS

Row = Mapping[str, Any]


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


def used(call: str, command: str, message: str = "msg_1") -> Row:
    """A command that the agent runs."""
    given = {"command": command, "description": "what the test wants"}
    return _assistant({"type": "tool_use", "id": call, "name": "Bash", "input": given}, message)


def result(call: str, text: Any = "done", *, error: bool = False) -> Row:
    """What a tool call gave."""
    return put([{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}], toolUseResult={})


def _assistant(block: Row, message: str, **more: Any) -> Row:
    return {"type": "assistant", "message": {"id": message, "role": "assistant", "content": [block]}, **more}


START = (typed("Make it ready"), said("I look first."))
END = (said("Now the pipe.", "msg_9"), used("t9", ASKED, "msg_9"))

ODD_ROWS: Mapping[str, Mapping[str, Any]] = json.loads((TRANSCRIPTS / "odd_rows.json").read_text(encoding="utf-8"))
"""Rows as Claude Code 2.1.330 and Codex 0.169 write them, which no recorded session has, and what is read of them."""


def write(folder: Path, rows: Sequence[Row], end: bytes = b"\n") -> str:
    path = folder / "transcript.jsonl"
    path.write_bytes(b"\n".join(json.dumps(row, ensure_ascii=False).encode() for row in rows) + end)
    return str(path)


def asks(path: str, client: str = "claude-code", **more: Any) -> dict[str, Any]:
    """The extract at a permission request of a client."""
    given = {"tool_name": "Bash", "tool_input": {"command": ASKED, "description": "what the test wants"}}
    event = {"hook_event_name": "PermissionRequest", **given, "transcript_path": path, "turn_id": "1", **more}
    return extract_for_request(CLIENTS[client].event_of(event), CLIENTS[client].take_row)


def told(why: Mapping[str, Any]) -> tuple[str, str, list[list[str]]]:
    """What the user and the agent said last, and the last calls."""
    return why["user"], why["agent"], [[call["tool"], call["subject"], call["state"]] for call in why["calls"]]


@pytest.mark.parametrize("name", ODD_ROWS)
def test_odd_rows_are_read_to_the_word(name: str, tmp_path: Path) -> None:
    odd = ODD_ROWS[name]
    assert told(asks(write(tmp_path, odd["rows"]), odd["client"])) == (odd["user"], odd["agent"], odd["calls"])


@pytest.mark.parametrize("name", RECORDINGS)
def test_what_a_real_client_wrote_is_read_to_the_word(name: str, tmp_path: Path) -> None:
    recording, path, more = RECORDINGS[name], TRANSCRIPTS / f"{name}.jsonl", {}
    if recording.is_subagent:
        own = tmp_path / "transcript" / "subagents" / "agent-a1.jsonl"
        own.parent.mkdir(parents=True)
        shutil.copy(path, own)
        path, more = tmp_path / "transcript.jsonl", {"agent_id": "a1", "agent_type": "general-purpose"}
    client = "claude-code" if name.startswith("claude") else "codex"
    calls = [list(call) for call in recording.calls]
    assert told(asks(str(path), client, **more)) == (recording.user, recording.agent, calls)


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
    assert asks(str(lead), **bob)["user"] == "team-lead: Make a pipe"
    assert "cannot be read" in asks(str(lead), **{**bob, "agent_id": "abob-2f"})["missing"]
    assert asks(str(lead), **{**bob, "agent_id": "../../transcript"})["missing"]


def test_no_transcript_is_said(tmp_path: Path) -> None:
    assert asks("") == {"missing": "the client named no transcript"}
    assert asks(str(tmp_path / "none"))["missing"] == "its transcript cannot be read: No such file or directory"
    assert "cannot be read" in asks(str(tmp_path))["missing"]
    assert asks(write(tmp_path, [{"type": "mode"}]))["missing"] == "nothing in its transcript could be read"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "cannot be read" in asks(str(pipe))["missing"]


def test_an_extract_is_small_safe_and_without_secrets(tmp_path: Path) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nMORE\n-----END RSA PRIVATE KEY-----\nafter"
    loud = "\x1b[31m\u202e" + '"\\\n' * 30_000
    rows = [typed(f"use {key} and password: hunter22\n{block}{loud}"), said("页" * 40_000 + "the end", "m2")]
    why = asks(write(tmp_path, [*rows, used("t1", f"curl -H {key} {'x' * 9000}"), used("t9", ASKED)]))
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
    why = asks(str(path))
    assert (why["user"], why["agent"]) == ("", "Now the pipe.")


@pytest.mark.parametrize(
    ("row", "is_headless"),
    [
        ('{"payload": {"source": "exec"}}', True),
        ('{"payload": {"originator": "codex_exec"}}', True),
        ('{"payload": {"originator": "codex_cli_rs"}}', False),
        ("", False),
    ],
)
def test_a_run_of_codex_without_a_terminal_says_so_in_its_first_row(
    row: str, is_headless: bool, tmp_path: Path
) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text(row, encoding="utf-8")
    codex = CLIENTS["codex"]
    assert codex.is_headless(codex.event_of({"hook_event_name": "Stop", "transcript_path": str(path)})) is is_headless
