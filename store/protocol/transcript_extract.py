"""Why a request was made: the extract of its client's transcript that the hook stored with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from team_console.store.model.message import Fields
from team_console.store.model.safe import fenced, safe_line
from team_console.store.protocol.foreign_fields import mappings_in, text_in

WHY = "why"
"""Field of a request's payload that holds the extract; part of what `digest_of` covers, and so of what is signed."""
MOST_BYTES = 16_384
"""Bytes of one extract as JSON, at most."""


class ToolCall(Struct, frozen=True):
    """A tool that the agent used before it asked.

    Attributes:
        subject: The command, the file, the page; one line.
        state: How it ended: `ok`, `failed`, `exit 1`, or `no result yet`.
    """

    tool: str
    subject: str = ""
    state: str = ""


class Why(Struct, frozen=True):
    """What was said and done before a request; empty where the transcript does not say.

    Attributes:
        user: The last words of the user of the session.
        agent: The last words of the agent before the call.
        calls: Its last tool calls, oldest first, without the one that it asks about.
        missing: Why there is no extract; empty where there is one.
    """

    user: str = ""
    agent: str = ""
    calls: tuple[ToolCall, ...] = ()
    missing: str = ""


def why_in(payload: Fields) -> Why | None:
    """Read the extract of a request; None where nobody stored one."""
    given = payload.get(WHY)
    if not isinstance(given, Mapping):
        return None
    listed = mappings_in(given, "calls")
    calls = [ToolCall(*(text_in(item, key) for key in ("tool", "subject", "state"))) for item in listed]
    return Why(text_in(given, "user"), text_in(given, "agent"), tuple(calls), text_in(given, "missing"))


def why_lines(why: Why | None) -> Iterator[str]:
    """Yield safe lines for people: what is known, and what is not."""
    if why is None or why.missing:
        yield safe_line(f"not known: {why.missing if why is not None else 'it was not asked by the hook of a client'}")
        return
    for head, words in (("the user said last", why.user), ("the agent said last", why.agent)):
        yield f"{head}:" if words else f"{head}: nothing is in the part of the transcript that was read"
        yield from fenced(words) if words else ()
    yield "its last tool calls:" if why.calls else "its last tool calls: none"
    for call in why.calls:
        yield safe_line(
            f"  {call.tool}: {call.subject} · {call.state}" if call.subject else f"  {call.tool} · {call.state}"
        )
