"""Transcript of a client's session, read from its end: what the user and the agent said last, and what was run."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from team_console.console.clients.event import Event
from team_console.console.clients.run_record import SUBJECTS
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import MOST_BYTES
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.secrets_in_text import mask_secrets

MOST_READ = 4 << 20
"""Bytes that are read from the end: an agent that goes on for hours adds about 70 KB a turn, mostly to be skipped."""
_FIRST_BLOCK = 64 << 10
"""Bytes of the last block; each one before it is twice as large."""
_MOST_CALLS = 5
_BYTES_OF_TEXT = (5_000, 2_500, 1_200)
"""Bytes of each text of an extract, tried in turn until all of it is within `MOST_BYTES`."""
_LONGEST_TEXT = 64 << 10
"""Characters of one text that are looked at, before it is cut."""
_LATE = 0.06
"""Seconds after which a row is there that Claude Code had not written yet when its hook started (0 to 57 ms, seen)."""
NOT_TYPED = re.compile(r"<|\[Request interrupted|# AGENTS\.md instructions")
"""Begins what clients put into the user's mouth: environment, reminders, output of commands."""
_COMMAND = re.compile(r"<command-name>(/?[\w:.-]+)</command-name>(?:.*?<command-args>(.*?)</command-args>)?", re.DOTALL)
"""A slash command that the user typed, as a client keeps it: its name, and what was given to it."""
_TASK = re.compile(r'<teammate-message teammate_id="([^"]{1,64})"[^>]*>\s*(.*?)\s*</teammate-message>', re.DOTALL)
"""What a teammate was given to do: by whom, and the text."""


class TranscriptRow(Struct):
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


class TranscriptExtract(Struct):
    """What was found so far, while rows are read from the newest to the oldest.

    Attributes:
        asked: The event for which it is read.
        user: What the user typed last.
        prompt: The last prompt, where the client keeps it in a row of its own.
        agent: What the agent said last, the newest words first.
        agent_id: The client's own id of the message that these words are of.
        is_agent_whole: Whether all of the last words of the agent were found.
        results: Id of a call -> what came of it.
        calls: What was called last, the newest first: `tool`, `subject` and `state` of each.
        has_asked: Whether the call that is asked for was found.
    """

    asked: Event
    user: str = ""
    prompt: str = ""
    agent: list[str] = []
    agent_id: object = None
    is_agent_whole: bool = False
    results: dict[str, str] = {}
    calls: list[dict[str, str]] = []
    has_asked: bool = False

    def add_call(self, tool: str, given: Mapping[str, Any], call: str, *, is_newest: bool = False) -> None:
        """Add what the model called.

        Args:
            call: The client's own id of it.
            is_newest: Whether the newest without a result is the one that is asked for, however it is written.
        """
        state = self.results.get(call, "no result yet")
        is_asked = is_newest or (tool == self.asked.tool and dict(given) == dict(self.asked.input))
        if not self.has_asked and call not in self.results and is_asked:
            self.has_asked = True
        elif len(self.calls) < _MOST_CALLS:
            subject = next((given[key] for key in SUBJECTS if isinstance(given.get(key), str) and given[key]), "")
            self.calls.append({"tool": tool, "subject": clean_text(subject), "state": state})

    def add_words(self, said: Sequence[str], message_id: object) -> None:
        """Add words of the agent, of which a message may have several rows."""
        words = [found for text in said if (found := clean_text(text))]
        if words and not self.is_agent_whole:
            self.agent += reversed(words)
            self.agent_id = message_id

    def end_words(self) -> None:
        """Take no older words of the agent: what it said last is whole."""
        self.is_agent_whole = bool(self.agent)


TakeRow = Callable[[TranscriptExtract, TranscriptRow], None]
"""Puts into an extract what a row in the form of one client says (`Client.take_row`)."""


def extract_for_request(event: Event, take: TakeRow) -> dict[str, Any]:
    """Return the extract for a request as its payload keeps it: at most 16 KB, safe, without secrets that the checks
    know.

    A transcript that is not there, or cannot be read, is said under `missing`.

    Args:
        take: Reads a row in the client's form.
    """
    if not event.transcript:
        return {"missing": "the client named no transcript"}
    try:
        extract = _read(event, take)
        if not extract.has_asked:
            time.sleep(_LATE)
            extract = _read(event, take)
    except (OSError, ValueError) as error:
        return {"missing": f"its transcript cannot be read: {getattr(error, 'strerror', None) or 'it is no file'}"}
    user = extract.user or extract.prompt
    if not (user or extract.agent or extract.calls):
        return {"missing": "nothing in its transcript could be read"}
    why: dict[str, Any] = {}
    for most in _BYTES_OF_TEXT:
        calls = [
            {key: _cut(safe_line(value), most // 10) for key, value in call.items()} for call in extract.calls[::-1]
        ]
        agent = _cut("\n\n".join(extract.agent[::-1]), most, is_end=True)
        why = {"user": _cut(user, most), "agent": agent, "calls": calls}
        if len(json.dumps(why, ensure_ascii=False).encode()) <= MOST_BYTES:
            break
    return why


def _read(event: Event, take: TakeRow) -> TranscriptExtract:
    """Read rows from the newest on, until all is found that an extract has, or `MOST_READ` bytes are read."""
    extract = TranscriptExtract(event)
    for line in _lines(event.transcript):
        try:
            row = msgspec.json.decode(line, type=TranscriptRow)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            continue  # a line that was cut, or is being written
        take(extract, row)
        if extract.user and extract.is_agent_whole and extract.has_asked and len(extract.calls) >= _MOST_CALLS:
            break
    return extract


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


def items_of(content: object, kind: str) -> list[Mapping[str, Any]]:
    """Return the items of one kind in the content of a message."""
    items = content if isinstance(content, list) else ()
    return [item for item in items if isinstance(item, Mapping) and item.get("type") == kind]


def texts_of_kind(content: object, kind: str) -> list[str]:
    """Return the texts of the items of one kind."""
    return [text_in(item, "text") for item in items_of(content, kind)]


def typed_text(text: str, is_typed: bool, is_handed_in: bool = False) -> str:
    """Return the text that the user typed, a program handed in or a teammate was given; empty for text of the client's
    own.
    """
    if is_typed:
        return clean_text(text)
    command, task = _COMMAND.search(text), _TASK.match(text)
    if command is not None:
        return clean_text(f"{command[1]} {command[2] or ''}")
    if task is not None:
        return clean_text(f"{task[1]}: {task[2]}")
    return "" if NOT_TYPED.match(text) and not is_handed_in else clean_text(text)


def clean_text(text: str) -> str:
    """Return a text safe, without secrets that the checks know."""
    return safe_text(mask_secrets(text[:_LONGEST_TEXT])).strip()


def _cut(text: str, most: int, *, is_end: bool = False) -> str:
    """Return at most so many bytes of it, its beginning or its end."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    kept = (data[-most:] if is_end else data[:most]).decode("utf-8", "ignore")
    return f"… {kept}" if is_end else f"{kept} …"
