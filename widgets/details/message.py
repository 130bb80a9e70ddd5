"""A message to read: who wrote it to whom, where it is on its way, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Priority, Status
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.kinds import Family
from team_console.store.protocol.parsing import Reading, reading
from team_console.store.protocol.seen import Seen
from team_console.store.protocol.team_signature import Seal
from team_console.store.views.titles import structure, title_of
from team_console.widgets.details.client_request import CLIENT_FIELDS, client_blocks, origin_facts, source_of
from team_console.widgets.details.document import Block, Document, Fact, Form, Heading, Lines, Text
from team_console.widgets.text.ages import ago, clock_time, short_ago
from team_console.widgets.text.cells import Line, Part
from team_console.widgets.text.glyphs import SEVERITIES, priority_sign, status_sign

_IN_HEAD = frozenset({"content", "summary", "request_id", "in_reply_to", "approve", "attachment"})
_WHOLE_TITLE = 200
"""Characters of a summary of one line that the title says whole (`titles.title_of`)."""
_PROSE_KEYS = ("content", "issue", "question", "message", "topic", "context_summary")
_LONGEST_ERROR = 2_000
"""Characters shown of what the last try failed with: a failure is judged by all its words."""


def message_document(
    message: Message,
    *,
    now: datetime,
    content: str | None = None,
    token: str = "",
    problems: tuple[Problem, ...] = (),
    seal: Seal | None = None,
    seen: Seen | None = None,
    above: tuple[Block, ...] = (),
    below: tuple[Block, ...] = (),
) -> Document:
    """What there is to read of `message`.

    Args:
        content: The whole content when the stored one is only its beginning.
        token: What an answer must quote.
        problems: Where it departs from its protocol, as far as findings know.
        seal: What its signature tells, None when the team has no key.
        seen: All that is shown of the request that it asks, `above` and `below` included.
        above, below: Evidence above and below its text.
    """
    read = reading(message)
    return Document(
        key=f"message:{message.message_id}",
        title=f"{safe_line(kind_words(read), 60)} · {safe_line(message.sender, 64)}",
        headline=safe_line(title_of(read), 400),
        facts=head_facts(message, now, seal),
        more=more_facts(message, read, now),
        blocks=(
            *above,
            *content_blocks(message, read, content),
            *below,
            *problem_blocks(problems or read.frame_problems),
        ),
        token=token,
        seen=seen,
        source=content if content is not None else message.content or source_of(message) or structure(message.payload),
    )


def kind_words(read: Reading) -> str:
    """The kind in words a reader knows: `Plan`, `Shutdown request`, `task_assignment`."""
    words = {"plan_approval_request": "Plan", "plan_approval_response": "Answer to a plan"}
    name = words.get(read.name)
    if name:
        return name
    return read.name.replace("_", " ").capitalize() if read.name.isupper() or read.kind else read.name


def head_facts(message: Message, now: datetime, seal: Seal | None = None) -> Line:
    """Who wrote it to whom, how long ago, where it is on its way, and what is out of the ordinary."""
    priority = priority_sign(message)
    facts: list[Part] = [(f"{safe_line(message.sender, 64)} → {_recipients(message)}", "")]
    facts.append((short_ago(message.created_at, now), "muted"))
    facts += [(text.strip(" ·"), tone) for text, tone in seal_line(message, seal)]
    facts += [(text.strip(" ·"), tone) for text, tone in state_line(message, now)]
    if message.priority != Priority.MEDIUM:
        facts.append((f"{priority.glyph} {priority.word}".strip(), priority.tone))
    return tuple(facts)


def more_facts(message: Message, read: Reading, now: datetime) -> tuple[Fact, ...]:
    """What is asked for rarely: the exact moment, the kind and the ids."""
    facts = [
        Fact("written", ((ago(message.created_at, now), "muted"),)),
        Fact("kind", ((safe_line(read.name, 64), "muted"),)),
        Fact("id", ((safe_line(message.message_id, 120), "muted"),)),
    ]
    if read.request_id and read.request_id != message.message_id:
        facts.append(Fact("request", ((safe_line(read.request_id, 200), "muted"),)))
    return tuple(facts)


def state_line(message: Message, now: datetime) -> Line:
    """Where the message is on its way, in the word that is known to be true (decision D15)."""
    sign = status_sign(message)
    parts: list[Part] = [(f"{sign.glyph} {sign.word}", sign.tone)]
    for status, key in ((Status.READ, "read_at"), (Status.DELIVERED, "delivered_at"), (Status.RECALLED, "recalled_at")):
        moment = from_text(str(message.envelope(key) or ""))
        if message.status == status and moment is not None:
            parts.append((f" {clock_time(moment, now)}", "muted"))
    if message.read_by:
        names = ", ".join(safe_line(item, 64) for item in list(message.read_by)[:6])
        parts.append((f" · read by {names}", "muted"))
    error = message.envelope("error_message")
    if error and message.status in (Status.FAILED, Status.RETRY):
        parts.append((f" · {safe_line(error, _LONGEST_ERROR)}", "bad"))
    return tuple(parts)


def content_blocks(message: Message, read: Reading, content: str | None = None) -> tuple[Block, ...]:
    """Summary, content and the rest of the payload; what a client asks for as what it is."""
    if asked := client_blocks(message, read):
        return asked
    blocks: list[Block] = list(origin_facts(message)) if read.opens is not None else []
    summary, title = message.payload.get("summary"), safe_line(title_of(read), 400)
    sprint = read.kind is not None and read.kind.family is Family.SPRINT and read.carried is not None
    text = "" if sprint else content if content is not None else message.content
    if isinstance(summary, str) and not _is_whole_in_title(summary) and summary.strip() != text.strip():
        blocks.append(Lines(tuple(((line, ""),) for line in safe_text(summary.strip()).split("\n"))))
    if sprint:
        blocks.append(
            Text(structure({key: item for key, item in read.body.items() if key != "msg_type"}), Form.STRUCTURED)
        )
    elif text and safe_text(text.strip()) != title:
        blocks.append(Text(safe_text(text)))
    rest = _rest(message, sprint=sprint)
    for key in _PROSE_KEYS:
        if isinstance(value := rest.get(key), str) and value.strip() and key != "content":
            if safe_text(value.strip()) != title:
                blocks += [Heading(key.replace("_", " ")), Text(safe_text(value))]
            del rest[key]
    if rest:
        blocks += [Heading("further fields"), Text(structure(rest), Form.STRUCTURED)]
    blocks += _attachment(message, content)
    if not blocks and not text and title == safe_line(read.name):
        blocks.append(Lines(((("This message has no content.", "muted"),),)))
    return tuple(blocks)


def _is_whole_in_title(summary: str) -> bool:
    return len(summary) <= _WHOLE_TITLE and "\n" not in summary.strip()


def _rest(message: Message, *, sprint: bool) -> dict[str, Any]:
    hidden = _IN_HEAD if not sprint else _IN_HEAD | {"content"}
    if message.type == "plan_approval_request":
        hidden |= CLIENT_FIELDS
    rest = {key: value for key, value in message.payload.items() if key not in hidden}
    if isinstance(message.payload.get("approve"), bool):
        rest = {"approve": message.payload["approve"], **rest}
    return rest


def _attachment(message: Message, content: str | None) -> list[Block]:
    value = message.payload.get("attachment")
    if not isinstance(value, Mapping) or content is not None:
        return []
    place, size = safe_line(value.get("path", ""), 200), safe_line(value.get("bytes", "?"), 20)
    words = f"Only the beginning is shown; the whole of it ({size} bytes) is in {place}."
    return [Lines(((("✂ ", "warn"), (words, "warn")),))]


def problem_blocks(problems: tuple[Problem, ...]) -> tuple[Block, ...]:
    """The section of problems, when there are any."""
    if not problems:
        return ()
    lines = tuple(_problem(problem) for problem in problems)
    return Heading("departs from its protocol"), Lines(lines, indent=2)


def _problem(problem: Problem) -> Line:
    sign = SEVERITIES.get(problem.severity, SEVERITIES["notice"])
    return ((f"{sign.glyph} {safe_line(problem.code)} ", sign.tone), (safe_line(problem.message), ""))


def _recipients(message: Message) -> str:
    names = [safe_line(recipient, 64) for recipient in message.recipients[:8]]
    more = len(message.recipients) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def seal_line(message: Message, seal: Seal | None) -> Line:
    """What the signature tells, as far as it could be checked."""
    if seal is None:
        return ((" · signed, not checked here", "muted"),) if message.envelope("signature") else ()
    return {
        Seal.SIGNED: ((" · ✓ signed", "good"),),
        Seal.UNSIGNED: ((" · △ unsigned", "warn"),),
        Seal.BROKEN: ((" · ‼ its signature is broken", "alarm"),),
    }[seal]
