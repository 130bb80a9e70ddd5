"""Texts of agents, long and nasty, through everything that reads them: none takes time by the square of its length."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
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
from team_console.store.protocol.checks import problems_of, summary_warnings
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.secrets_in_text import mask_secrets, secret_warnings
from team_console.store.protocol.state_reports import report_of
from team_console.store.protocol.titles import message_title
from team_console.store.protocol.tool_input import suggestion_words
from team_console.store.views.alike import simple_words
from team_console.store.views.differences import line_difference
from team_console.store.views.evidence import claimed_checks, named_files, named_stories, other_stories
from team_console.store.views.search import parse_query, searchable_message
from team_console.widgets.document import laid_out
from team_console.widgets.markdown_and_code import code, diff, plain, prose
from team_console.widgets.message_documents import message_document
from team_console.widgets.text import crop, marked_hits
from team_console.widgets.wrapping import wrap

from tests.equipment.cases import constant
from tests.proofs.fuzz.inputs import FRAGMENTS

NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)
_KNOWN = ("3-1", "4-2")
_LENGTH = 400_000
"""Characters of a text."""
_LONG = 20.0
"""Seconds of the processor that no reader needs for one, even below a tracer."""


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
    **{form.__name__: partial(form, width=80) for form in (prose, plain, code, diff)},
    "document": lambda text: laid_out(message_document(message_of(text), now=NOW), 80),
    "document of a permission": lambda text: laid_out(message_document(permission_of(text), now=NOW), 80),
    "wrapped": lambda text: wrap(((text.replace("\n", " "), ""),), 80),
    "cropped": lambda text: crop(text, 40),
    "hits": lambda text: marked_hits(((text, ""),), ("a", "be")),
    "simple command": simple_words,
}
"""Everything that reads a text of an agent without being asked how long it is."""

UNITS = (*FRAGMENTS, *constant(__file__, "UNITS", list[str]))


_ONCE_SLOW = constant(__file__, "ONCE_SLOW", dict[str, list[str]])
ONCE_SLOW = [(reader, unit) for reader, units in _ONCE_SLOW.items() for unit in units]
"""Pairs that took time by the square of the length."""
EACH = [(reader, unit) for reader in READERS for unit in UNITS]


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return the processor time that reading takes."""
    began = time.process_time()
    with suppress(TeamError, ValueError):  # refused with words: a query, a regular expression
        found = read(text)
        if isinstance(found, Iterator):  # it reads when it is asked for what it found
            deque(found, maxlen=0)
    return time.process_time() - began


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each reader that takes long for a text; `count` of them are drawn, and half as many of units mixed.

    Each is named before it is read: what hangs is the last. By the square of the length it would take hours.
    """
    random = Random(seed)
    alone = random.sample(EACH, min(count, len(EACH)))
    mixed = ((random.choice(list(READERS)), "".join(random.choices(UNITS, k=3))) for _ in range(count // 2))
    for place, (reader, unit) in enumerate([*ONCE_SLOW, *alone, *mixed]):
        if only in reader:
            print(place, reader, repr(unit), flush=True)
            took = seconds(READERS[reader], unit * (_LENGTH // len(unit)))
            if took > _LONG:
                yield f"{reader}: {unit!r}: {took:.1f} s for {_LENGTH:,} characters"
