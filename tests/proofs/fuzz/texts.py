"""Texts of agents, long and nasty, through everything that reads them: time grows no faster than the text.

Every reader is tried on every unit, repeated to two lengths. What is counted is processor time of this process, the
least of three.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from team_console.store.backends.locations import passwords_in, redact
from team_console.store.model.clock import from_text
from team_console.store.model.errors import TeamError
from team_console.store.model.json_text import without_comments
from team_console.store.model.message import Message, from_record
from team_console.store.model.names import as_name
from team_console.store.model.safe import fenced, safe_line, safe_text
from team_console.store.protocol.checks import problems_of
from team_console.store.protocol.free_text import mask_secrets, secret_warnings, summary_warnings
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.state_reports import report_of
from team_console.store.protocol.suggestions import suggestion_words
from team_console.store.protocol.titles import message_title
from team_console.store.views.alike import simple_words
from team_console.store.views.differences import line_difference
from team_console.store.views.evidence import claimed_checks, named_files, named_stories, other_stories
from team_console.store.views.search import parse_query, searchable_message
from team_console.widgets.document import code, diff, laid_out, plain, prose
from team_console.widgets.message_documents import message_document
from team_console.widgets.text import crop, marked_hits, wrap

from tests.equipment.cases import constant
from tests.proofs.fuzz.inputs import FRAGMENTS

NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)
_KNOWN = ("3-1", "4-2")
_SHORT, _LONG = 20_000, 400_000
"""Characters of the shorter of two texts, and of one that is only read to its end."""


def message_of(content: str, **payload: Any) -> Message:
    """Return a message with this content, whatever it holds."""
    record = {"message_id": "M1", "type": "message", "from": "a", "to": "ceo", "created": "2026-02-24T10:00:00Z"}
    return from_record({**record, "payload": {"content": content, **payload}})


def permission_of(command: str) -> Message:
    """Return a permission request for this command."""
    payload = {"request_id": "R1", "tool": "Bash", "tool_input": {"command": command}, "summary": command}
    return from_record({"message_id": "M1", "type": "permission_request", "from": "a", "to": "ceo", "payload": payload})


def _searched(text: str) -> None:
    parse_query('deploy -word "exact text" from:a', now=NOW).fits(searchable_message(message_of(text)))


READERS: Mapping[str, Callable[[str], object]] = {
    "safe text": safe_text,
    "safe line": safe_line,
    "safe line, cut": lambda text: safe_line(text, 80),
    "fenced": fenced,
    "passwords covered": redact,
    "passwords found": passwords_in,
    "secrets masked": mask_secrets,
    "secrets found": secret_warnings,
    "summary": lambda text: summary_warnings(text, language="en"),
    "message": lambda text: problems_of(parse_message(message_of(text))),
    "sprint message": lambda text: parse_message(message_of(f"AGENT_CREATE_REQUEST {text}")),
    "title": lambda text: message_title(message_of(text)),
    "title of a permission": lambda text: message_title(permission_of(text)),
    "report": lambda text: report_of(message_of(text, summary=text)),
    "name": as_name,
    "time": from_text,
    "comments": without_comments,
    "JSON": lambda text: without_comments(json.dumps({"a": text})),
    "search": _searched,
    "query": lambda text: parse_query(text, now=NOW),
    "claimed checks": claimed_checks,
    "named files": named_files,
    "named stories": lambda text: named_stories(text, _KNOWN),
    "other stories": lambda text: other_stories(text, _KNOWN),
    "difference": lambda text: line_difference(text, text[: len(text) // 2] + "\nx\n" + text[len(text) // 2 :]),
    "rule": lambda text: suggestion_words({"type": "addRules", "rules": [{"toolName": text, "ruleContent": text}]}),
    "prose": lambda text: prose(text, 80),
    "plain": lambda text: plain(text, 80),
    "code": lambda text: code(text, 80),
    "diff": lambda text: diff(text, 80),
    "document": lambda text: laid_out(message_document(message_of(text), now=NOW), 80),
    "document of a permission": lambda text: laid_out(message_document(permission_of(text), now=NOW), 80),
    "wrapped": lambda text: wrap(((text.replace("\n", " "), ""),), 80),
    "cropped": lambda text: crop(text, 40),
    "hits": lambda text: marked_hits(((text, ""),), ("a", "be")),
    "simple command": simple_words,
}
"""Everything that reads a text of an agent without being asked how long it is."""

UNITS = (*FRAGMENTS, *constant(__file__, "UNITS", list[str]))


def texts(length: int, seed: int, mixed: int) -> Iterator[tuple[str, str]]:
    """Yield the name of each text, and the text: every unit by itself, then `mixed` runs of some of them."""
    for unit in UNITS:
        yield repr(unit), unit * (length // len(unit))
    random = Random(seed)
    for _ in range(mixed):
        parts = random.choices(UNITS, k=random.randint(2, 3))
        joined = "".join(parts)
        head = random.choice(UNITS)
        yield f"{head!r} + {joined!r}", head + joined * (length // len(joined))


def seconds(read: Callable[[str], object], text: str, tries: int = 3) -> float:
    """Return the least processor time of some tries."""
    least = float("inf")
    for _ in range(tries):
        began = time.process_time()
        try:
            found = read(text)
            if isinstance(found, Iterator):  # it reads when it is asked for what it found
                deque(found, maxlen=0)
        except (TeamError, ValueError) as error:  # refused with words: a query, a regular expression
            _ = error
        least = min(least, time.process_time() - began)
    return least


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each reader that takes more than in proportion for a text of 8 times the length."""
    for reader, read in READERS.items():
        both = (texts(length, seed, count) for length in (_SHORT, _SHORT * 8))
        for (name, short), (_, long) in zip(*both, strict=True) if only in reader else ():
            first = seconds(read, long, 1)
            if first < 0.2:
                continue
            grown = min(first, seconds(read, long, 1)) / max(seconds(read, short), 0.001)
            if grown > 16 or first > 10:
                yield f"{reader}: {name}: {grown:.0f} times the time for 8 times the text, {first:.2f} s"


def read_some(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Give `count` readers a text each, drawn by `seed`, and say which before it is read: who hangs is the last."""
    for place, (reader, unit) in enumerate([*ONCE_SLOW, *Random(seed).sample(EACH, count)]):
        print(place, reader, repr(unit), flush=True)
        seconds(READERS[reader], unit * (_LONG // len(unit)), 1)
    yield from ()


_ONCE_SLOW = constant(__file__, "ONCE_SLOW", dict[str, list[str]])
ONCE_SLOW = [(reader, unit) for reader, units in _ONCE_SLOW.items() for unit in units]
"""Pairs that took time by the square of the length."""
EACH = [(reader, unit) for reader in READERS for unit in UNITS]
