"""Documents of things: what the reader shows of a request, a message, a delivery, a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from msgspec.structs import replace
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Priority, Status
from team_console.store.model.names import USER
from team_console.store.model.safe import counted, fenced, safe_line, safe_text
from team_console.store.protocol.client_requests import (
    EditablePart,
    Question,
    answers_of,
    denial_of,
    editable_part,
    file_seen_from,
    modes_of,
    origin_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.kinds import Family, RequestKind
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.remarks import Placed, Remark, placed, remarks_in
from team_console.store.protocol.titles import structure, title_of
from team_console.store.protocol.verdicts import Seal, Seen
from team_console.store.protocol.why import WHY, why_in, why_lines
from team_console.store.views.conversation import Conversation, Delivery, Turn
from team_console.store.views.decisions import Decision
from team_console.store.views.evidence import Evidence, Mark, Piece, Section
from team_console.store.views.proposals import (
    Proposal,
    Sort,
    counts_of,
    difference,
    input_text,
    lines_to_remark,
    proposal_of,
    suggestion_words,
)
from team_console.store.views.roster import Stage, StopRow
from team_console.store.views.rows import (
    ActionItem,
    Batch,
    DeliveryRow,
    DeliveryState,
    Flag,
    Lifecycle,
    RequestRow,
    RequestState,
    Step,
    Story,
    StoryState,
)
from team_console.widgets.document import Block, Document, Fact, Form, Heading, Lines, Remarked, Text
from team_console.widgets.rows import PROOFS, STEPS, SessionRow, last_step, progress, trouble_of
from team_console.widgets.signs import (
    DELIVERIES,
    REQUESTS,
    SEVERITIES,
    STATUSES,
    STORIES,
    Sign,
    priority_sign,
    status_sign,
)
from team_console.widgets.text import Line, Part, ago, clock_time, pad, short_ago, span


def _named(name: str | None) -> str:
    """A name from a store, made safe."""
    return safe_line(name or "", 64)


def _said(text: str, tone: str = "") -> Lines:
    """One line of safe text."""
    return Lines((((text, tone),),))


CLIENT_FIELDS = frozenset({"client", "session", "directory", "modes", "expires"})
"""Fields of a client's request that are told as facts."""
_LONGEST = 2000
_OF_FILES = frozenset({Sort.CHANGE, Sort.NEW_FILE, Sort.CONTENT})


def client_blocks(message: Message, read: ParsedMessage) -> tuple[Block, ...]:
    """What a permission or question asks for; empty for all other kinds."""
    if read.opens is RequestKind.PERMISSION:
        return permission_blocks(message)
    if read.opens is RequestKind.QUESTION:
        return (*origin_facts(message), *question_blocks(questions_of(message.payload)))
    return ()


def source_of(message: Message) -> str:
    """The text that is worth copying: the command, the page, the change, the questions; empty for other kinds."""
    kind = parse_message(message).opens
    if kind is RequestKind.QUESTION:
        return "\n".join(question.text for question in questions_of(message.payload))
    if kind is not RequestKind.PERMISSION:
        return ""
    proposal = _proposal(message)
    return proposal.text or "\n".join(proposal.diff) or proposal.subject or input_text(proposal.rest)


def origin_facts(message: Message) -> tuple[Block, ...]:
    """Tool, folder and client of a request, as far as it names them."""
    origin, facts = origin_of(message.payload), []
    if parse_message(message).opens is RequestKind.PERMISSION:
        tool = permission_of(message.payload).tool
        facts.append(Fact("tool", ((safe_line(tool, 200) or "not named", "strong" if tool else "warn"),)))
        proposal = _proposal(message)
        if proposal.sort in _OF_FILES:
            facts.append(Fact("file", ((safe_line(file_seen_from(proposal.subject, origin.directory), _LONGEST), ""),)))
    if origin.directory:
        facts.append(Fact("in", ((safe_line(origin.directory, _LONGEST), ""),)))
    if origin.client or origin.session:
        session = f" · session {safe_line(origin.session, 100)}" if origin.session else ""
        facts.append(Fact("client", ((_named(origin.client) or "not named", ""), (session, "muted"))))
    denied = denial_of(message.payload)
    if denied:
        facts.append(Fact("denied", ((safe_line(denied, _LONGEST), "warn"),)))
    modes = modes_of(message.payload)
    if modes:
        facts.append(Fact("modes", ((safe_line(" or ".join(modes), 300), ""),)))
    return tuple(facts)


def permission_blocks(message: Message) -> tuple[Block, ...]:
    """What would be done, whole and first; where and for whom, and what the client offers to allow always."""
    offered = permission_of(message.payload).suggestions
    words = (safe_line(suggestion_words(item)) for item in offered)
    # The form has `once` before these: a digit means the same there and here.
    lines: list[Line] = [((f"{number}. ", "muted"), (text, "")) for number, text in enumerate(words, start=2)]
    more: list[Block] = [Heading("may be allowed always"), Lines(tuple(lines), indent=3)] * bool(lines)
    return (*asked_blocks(message), *origin_facts(message), *more)


@lru_cache(maxsize=64)
def asked_blocks(message: Message) -> tuple[Block, ...]:
    """What would be done, whole; remembered per message, since a change of many lines takes long to be made."""
    return proposal_blocks(_proposal(message))


def proposal_blocks(proposal: Proposal) -> tuple[Block, ...]:
    """A proposal with its heading, everything else in its input, and last what the agent says of it."""
    blocks: list[Block] = [Heading(_heading(proposal))]
    blocks += [Lines(((("△ ", "warn"), (note, "warn")),)) for note in proposal.notes]
    if proposal.diff:
        blocks.append(replace(diff_text(proposal.diff), is_asked=True))
    elif proposal.text:
        blocks.append(Text(_exact(proposal.text), Form.CODE, is_asked=True))
    elif proposal.sort in (Sort.PAGE, Sort.SEARCH):
        blocks.append(Text(_exact(proposal.subject), Form.CODE))
    if proposal.rest:
        blocks += [Heading("further input")] if proposal.sort is not Sort.OTHER else []
        blocks.append(Text(structure(proposal.rest, limit=None), Form.STRUCTURED))
    elif proposal.sort is Sort.OTHER:
        blocks.append(_said("none", "muted"))
    if proposal.words:
        blocks += [Heading("what the agent says of it"), Text(safe_text(proposal.words))]
    return tuple(blocks)


def question_blocks(questions: Sequence[Question]) -> tuple[Block, ...]:
    """Questions with their options, numbered as in the form that answers them."""
    blocks: list[Block] = []
    for question in questions:
        head = safe_line(question.header, 60) or "question"
        how = " · one or more" if question.several and question.options else "" if question.options else " · in words"
        blocks += [Heading(f"{head}{how}"), Text(safe_text(question.text))]
        if question.options:
            blocks.append(Lines(tuple(_option_lines(question)), indent=3))
    return tuple(blocks) or (_said("It holds no question that can be read.", "warn"),)


def answer_blocks(question: Message, answer: Message, content: str | None = None) -> tuple[Block, ...]:
    """What an answer decides beyond yes and no: what was chosen, what is allowed always, what was edited.

    Args:
        content: The whole plan, where the question holds only its beginning.
    """
    payload = answer.payload
    blocks: list[Block] = []
    answers = answers_of(payload) if parse_message(answer).answers is RequestKind.QUESTION else {}
    for text, words in answers.items():
        chosen = safe_line(", ".join(words), _LONGEST)
        blocks.append(Lines((((f"{safe_line(text, 300)} ", "muted"), (chosen, "strong")),)))
    if payload.get("scope") == "always":
        always = safe_line(suggestion_words(payload.get("suggestion")), _LONGEST)
        blocks.append(Lines(((("always: ", "strong"), (always, "")),)))
    if isinstance(mode := payload.get("mode"), str):
        blocks.append(Lines(((("goes on in ", ""), (safe_line(mode, 60), "strong")),)))
    edited = edited_difference(question, answer, content)
    if edited is not None:
        blocks += [Heading(f"edited before it was approved · {counts_of(edited)}"), diff_text(edited)]
    return tuple(blocks)


def edited_difference(question: Message, answer: Message, content: str | None = None) -> tuple[str, ...] | None:
    """How the approved version differs from what was asked for; None when nothing was edited."""
    plan, given = answer.payload.get("updated_plan"), answer.payload.get("updated_input")
    if isinstance(plan, str):
        return difference(question.content if content is None else content, plan)
    if not isinstance(given, Mapping):
        return None
    part, asked = editable_part(question), permission_of(question.payload).input
    if part is not None and part.key is not None and _same_otherwise(asked, given, part):
        return difference(part.text, str(given[part.key]))
    return difference(input_text(asked), input_text(given))


def diff_text(lines: Sequence[str]) -> Text:
    """A difference as a block."""
    return Text("\n".join(map(safe_text, lines)), Form.DIFF)


def _same_otherwise(asked: Mapping[str, object], given: Mapping[str, object], part: EditablePart) -> bool:
    rest = ({key: value for key, value in fields.items() if key != part.key} for fields in (asked, given))
    return isinstance(given.get(part.key or ""), str) and next(rest) == next(rest)


@lru_cache(maxsize=64)
def _proposal(message: Message) -> Proposal:
    """Remembered per message: comparing two long texts at each look would be felt."""
    return proposal_of(permission_of(message.payload))


def _heading(proposal: Proposal) -> str:
    return f"{proposal.sort}{f' · {counts_of(proposal.diff)}' if proposal.diff else ''}"


def _option_lines(question: Question) -> list[Line]:
    return [
        (
            (f"{number}. ", "muted"),
            (safe_line(option.label, 300), "strong"),
            (f" — {safe_line(option.description, _LONGEST)}" if option.description else "", "muted"),
        )
        for number, option in enumerate(question.options, start=1)
    ]


def _exact(text: str) -> str:
    """Safe text in which a carriage return at the end of a line is seen, too."""
    # guard: carriage-returns-seen
    return "\n".join(map(safe_text, text.removesuffix("\n").split("\n")))


# A decision to look into: who decided what, on which digest, with which words and evidence, and what is not proved.

_UNKNOWN: Line = (("not known", "warn"),)


def decision_document(decision: Decision, *, now: datetime, problems: tuple[Problem, ...] = ()) -> Document:
    """What the ledger knows of a decision; `problems` are what keeps it from being whole or proved."""
    what = decision.title or f"request {decision.request_id}"
    return Document(
        key=f"decision:{decision.key}",
        title=f"{safe_line(decision.verdict, 20).capitalize()} · {_named(decision.by)}",
        headline=safe_line(what, 400),
        facts=tuple(_facts(decision, now)),
        more=tuple(_ids(decision)),
        blocks=tuple(_blocks(decision, problems)),
        source=decision.words or decision.title,
    )


def _blocks(decision: Decision, problems: tuple[Problem, ...]) -> Iterator[Block]:
    if "\n" in decision.title.strip():
        yield Heading("what was asked")
        yield Text(safe_text(decision.title))
    yield Heading("note")
    yield Text(safe_text(decision.words)) if decision.words else _said("none", "muted")
    yield Heading("what was shown")
    yield from _shown(decision)
    gaps = [*decision.gaps, *(problem.sentence for problem in problems)]
    if gaps:
        yield Heading("not proved")
        yield Lines(tuple((("△ ", "warn"), (safe_line(gap, 500), "")) for gap in gaps), indent=2)


def _facts(decision: Decision, now: datetime) -> Iterator[Part]:
    """Who asked whom, when it was decided and how soon, and what vouches for it."""
    asker = _named(decision.asked_by) if decision.asked_by else "asker not known"
    yield f"{asker} → {_named(decision.by)}", ""
    yield (safe_line(decision.kind, 40), "muted") if decision.kind else ("kind not known", "warn")
    yield (ago(decision.at, now), "muted") if decision.at else ("when is not known", "warn")
    if decision.after_seconds is not None:
        yield f"after {span(decision.after_seconds)}", "muted"
    sign = PROOFS[decision.proof]
    line = f", line {decision.audit_line} of the audit trail" if decision.audit_line is not None else ""
    glyph = f"{sign.glyph} " if sign.glyph != "·" else ""
    yield f"{glyph}{sign.word}{line}", sign.tone


def _ids(decision: Decision) -> Iterator[Fact]:
    yield Fact("id", ((safe_line(decision.request_id, 200), "muted"),))
    yield Fact("request", _digest(decision.request_sha256))
    yield Fact("shown", _digest(decision.shown_sha256))


def _digest(text: str) -> Line:
    return (("sha256 ", "muted"), (_named(text), "muted")) if text else _UNKNOWN


def _shown(decision: Decision) -> Iterator[Block]:
    if decision.shown_by:
        yield _said(safe_line(decision.shown_by, 300))
    if decision.evidence:
        yield Lines(tuple(((safe_line(piece, 300), ""),) for piece in decision.evidence), indent=2)
    elif decision.shown_sha256:
        yield _said("the question alone", "muted")
    elif not decision.shown_by:
        yield Lines((_UNKNOWN,))


# Evidence beside a request or a report: each piece with its mark and where it comes from.

MARKS: Mapping[Mark, Sign] = {
    Mark.THERE: Sign("·", "there"),
    Mark.MISSING: Sign("∅", "missing", "warn"),
    Mark.CHANGED: Sign("△", "changed since it was written", "warn"),
    Mark.RAN: Sign("✓", "ran", "good"),
    Mark.FAILED: Sign("✗", "failed", "bad"),
    Mark.NOT_RUN: Sign("✗", "did not run", "bad"),
    Mark.TOLD: Sign("·", ""),
    Mark.NOT_KNOWN: Sign("?", "not known", "warn"),
}
_EVIDENCE_LONGEST = 400


def compared_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """What differs from the version that was rejected, with the words of the rejection."""
    if not evidence.compared:
        return ()
    blocks: list[Block] = []
    if evidence.words:
        blocks += [Heading("why the version before was rejected"), Text(safe_text(evidence.words))]
    # The record names the version by its id; on the screen ids stand behind a key.
    blocks.append(Heading(f"what is new: {safe_line(evidence.compared.partition(' against ')[0], _EVIDENCE_LONGEST)}"))
    blocks.append(diff_text(evidence.diff) if evidence.diff else _said("not a line differs", "warn"))
    return _beside(blocks)


def _beside(blocks: list[Block]) -> tuple[Block, ...]:
    return tuple(block if isinstance(block, Fact) else replace(block, beside=True) for block in blocks)


def evidence_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Everything else that stands beside it; a source is named once where pieces share it."""
    blocks: list[Block] = []
    for section in evidence.sections:
        blocks += [Heading(section.heading), Lines(tuple(_section_lines(section)), indent=2)]
    return _beside(blocks)


def looking_block() -> tuple[Block, ...]:
    """Stands in the place of evidence that is still looked for."""
    return _beside([Heading("evidence"), _said("◔ looking for what it names, and for what ran", "muted")])


def _section_lines(section: Section) -> list[Line]:
    lines: list[Line] = []
    source = ""
    for piece in section.pieces:
        if piece.source != source:
            source = piece.source
            lines.append((("from ", "faint"), (safe_line(source, _EVIDENCE_LONGEST), "muted")))
        lines.append(_piece_line(piece))
    return lines


def _piece_line(piece: Piece) -> Line:
    sign = MARKS[piece.mark]
    word = f" · {sign.word}" if sign.word and piece.mark not in (Mark.RAN, Mark.FAILED) else ""
    return ((f"{sign.glyph} ", sign.tone), (safe_line(piece.text, _EVIDENCE_LONGEST), ""), (word, sign.tone or "muted"))


# A message to read: who wrote it to whom, where it is on its way, and what it says.

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
    read = parse_message(message)
    return Document(
        key=f"message:{message.message_id}",
        title=f"{safe_line(kind_words(read), 60)} · {_named(message.sender)}",
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


def kind_words(read: ParsedMessage) -> str:
    """The kind in words a reader knows: `Plan`, `Shutdown request`, `task_assignment`."""
    words = {"plan_approval_request": "Plan", "plan_approval_response": "Answer to a plan"}
    name = words.get(read.name)
    if name:
        return name
    return read.name.replace("_", " ").capitalize() if read.name.isupper() or read.kind else read.name


def head_facts(message: Message, now: datetime, seal: Seal | None = None) -> Line:
    """Who wrote it to whom, how long ago, where it is on its way, and what is out of the ordinary."""
    priority = priority_sign(message)
    facts: list[Part] = [(f"{_named(message.sender)} → {_recipients(message)}", "")]
    facts.append((short_ago(message.created_at, now), "muted"))
    facts += [(text.strip(" ·"), tone) for text, tone in seal_line(message, seal)]
    facts += [(text.strip(" ·"), tone) for text, tone in state_line(message, now)]
    if message.priority != Priority.MEDIUM:
        facts.append((f"{priority.glyph} {priority.word}".strip(), priority.tone))
    return tuple(facts)


def more_facts(message: Message, read: ParsedMessage, now: datetime) -> tuple[Fact, ...]:
    """What is asked for rarely: the exact moment, the kind and the ids."""
    facts = [
        Fact("written", ((ago(message.created_at, now), "muted"),)),
        Fact("kind", ((_named(read.name), "muted"),)),
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
        names = ", ".join(_named(item) for item in list(message.read_by)[:6])
        parts.append((f" · read by {names}", "muted"))
    error = message.envelope("error_message")
    if error and message.status in (Status.FAILED, Status.RETRY):
        parts.append((f" · {safe_line(error, _LONGEST_ERROR)}", "bad"))
    return tuple(parts)


def content_blocks(message: Message, read: ParsedMessage, content: str | None = None) -> tuple[Block, ...]:
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
        blocks.append(Text(safe_text(text), is_asked=read.opens is not None))
    rest = _rest(message, sprint=sprint)
    for key in _PROSE_KEYS:
        if isinstance(value := rest.get(key), str) and value.strip() and key != "content":
            if safe_text(value.strip()) != title:
                blocks += [Heading(key.replace("_", " ")), Text(safe_text(value))]
            del rest[key]
    if rest:
        blocks += [Heading("details"), Text(structure(rest), Form.STRUCTURED)]
    blocks += _attachment(message, content)
    if not blocks and not text and title == safe_line(read.name):
        blocks.append(_said("This message has no content.", "muted"))
    return tuple(blocks)


def _is_whole_in_title(summary: str) -> bool:
    return len(summary) <= _WHOLE_TITLE and "\n" not in summary.strip()


def _rest(message: Message, *, sprint: bool) -> dict[str, Any]:
    hidden = _IN_HEAD if not sprint else _IN_HEAD | {"content"}
    if message.type == "plan_approval_request":
        hidden |= CLIENT_FIELDS
    if parse_message(message).opens is not None and why_in(message.payload) is not None:
        hidden |= {WHY}
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
    names = [_named(recipient) for recipient in message.recipients[:8]]
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


# A conversation to read: each thing said with who said it to whom, what became of it, and its deliveries.

_NAME = 20


def conversation_document(
    conversation: Conversation, *, now: datetime, contents: Mapping[str, str] | None = None
) -> Document:
    """What there is to read of a conversation; `contents` are whole texts stored beside the queue, by message id."""
    first = conversation.turns[0].message
    topic = safe_line(title_of(parse_message(first)), 400)
    blocks = [block for turn in conversation.turns for block in _turn(turn, topic, now, contents or {})]
    if not conversation.is_whole:
        blocks.append(_said("△ more belongs to it than is shown here", "warn"))
    return Document(
        key=f"conversation:{conversation.word}",
        title="Conversation",
        headline=topic,
        blocks=tuple(blocks),
        source="\n\n".join(turn.message.content for turn in conversation.turns),
    )


def _turn(turn: Turn, topic: str, now: datetime, contents: Mapping[str, str]) -> Iterator[Block]:
    """One thing that was said; its title only where it is another than that of the whole."""
    message, read = turn.message, parse_message(turn.message)
    names = dict.fromkeys(delivery.recipient for delivery in turn.deliveries)
    to = f"{len(names)} agents" if len(names) > 1 else safe_line(next(iter(names), "nobody"), 64)
    which = f" {turn.version} of {turn.versions}" if turn.version else ""
    kind = f"{safe_line(kind_words(read), 40)}{' · version' if which else ''}{which}"
    yield Heading(f"{clock_time(message.created_at, now)} · {_named(message.sender)} → {to} · {kind}")
    facts = tuple(_conversation_facts(turn, now))
    if facts:
        yield Lines(facts, indent=2)
    title, said = safe_line(title_of(read), 400), content_blocks(message, read, contents.get(message.message_id))
    if title != topic or not said:
        yield _said(title, "strong")
    yield from said
    yield Lines(tuple(_delivery(delivery, now) for delivery in turn.deliveries), indent=2)


def _conversation_facts(turn: Turn, now: datetime) -> Iterator[Line]:
    """What became of the request it opens, and what its answer said."""
    row, approve = turn.request, parse_message(turn.message).approve
    if row is not None:
        sign = REQUESTS[row.state]
        who = f" by {_named(row.answered_by)} {clock_time(row.answered_at, now)}" if row.answered_by else ""
        reason = f": {safe_line(row.reason, 300)}" if row.reason else ""
        yield (f"{sign.glyph} {sign.word}", sign.tone), (f"{who}{reason}", "")
    elif approve is not None:
        yield (("✓ approved", "good"),) if approve else (("✗ rejected", "bad"),)
    if not turn.is_live:
        yield (("in the archive", "muted"),)


def _delivery(delivery: Delivery, now: datetime) -> Line:
    """Where one copy is, when it got there, and what was tried."""
    try:
        sign = STATUSES[Status(delivery.status)]
    except (KeyError, ValueError):
        sign = Sign("?", safe_line(delivery.status, 24), "warn")
    parts: list[Part] = [
        (f"{sign.glyph} ", sign.tone),
        (f"{_named(delivery.recipient):<{_NAME}} ", ""),
        (sign.word, sign.tone),
    ]
    if (at := from_text(delivery.at)) is not None:
        parts.append((f" {clock_time(at, now)}", "muted"))
    if delivery.tries:
        parts.append((f" · {delivery.tries} of {delivery.most_tries} tries", "muted"))
    if (upcoming := from_text(delivery.next_try)) is not None:
        parts.append((f" · next {clock_time(upcoming, now)}", "warn"))
    if delivery.error:
        parts.append((f" · {safe_line(delivery.error, 200)}", "bad"))
    return tuple(parts)


# Who got a copy of a broadcast, and how far each of them is.

_LONGEST_NAME = 32


def copies_blocks(copies: Sequence[Message], now: datetime) -> tuple[Block, ...]:
    """How many of them are where on their way, and below each recipient with its state; empty for a single message."""
    if len(copies) < 2:
        return ()
    counts = Counter(status_sign(copy) for copy in copies)
    total: Line = tuple(
        part
        for sign, count in counts.most_common()
        for part in ((f"{sign.glyph} {count} {sign.word}", sign.tone), ("   ", ""))
    )
    names = [_named(copy.recipients[0]) for copy in copies]
    width = min(_LONGEST_NAME, max(map(len, names)))
    rows = [((pad(name, width) + "  ", ""), *state_line(copy, now)) for name, copy in zip(names, copies, strict=True)]
    return Heading(f"{len(copies)} recipients"), Lines((total[:-1], *rows), indent=2)


# A message on its way out: its tries, its clock and its errors, then the message itself.


def delivery_document(
    row: DeliveryRow, *, now: datetime, content: str | None = None, token: str = "", seal: Seal | None = None
) -> Document:
    """What there is to know of a delivery; parameters as for `message_document`."""
    base = message_document(row.message, now=now, content=content, token=token, seal=seal)
    return Document(
        key=f"delivery:{row.key}",
        title=f"To {_named(row.recipient)}",
        headline=base.headline,
        facts=(*_delivery_facts(row, now), *base.facts),
        more=base.more,
        blocks=(*_error(row), *base.blocks),
        token=token,
        source=base.source,
    )


def _delivery_facts(row: DeliveryRow, now: datetime) -> Line:
    sign = DELIVERIES[row.state]
    facts = [(f"{sign.glyph} {sign.word}", sign.tone)]
    if row.attempts:
        facts.append((f"{row.attempts} of {row.max_attempts} tries", ""))
    if row.next_attempt_at is not None:
        left = (row.next_attempt_at - now).total_seconds()
        when = f"{clock_time(row.next_attempt_at, now)}, in {span(left)}" if left > 0 else "is due"
        facts.append((f"next try {when}", "muted"))
    if row.expires_at is not None:
        left = (row.expires_at - now).total_seconds()
        words = f"expires in {span(left)}" if left > 0 else f"expired {ago(row.expires_at, now)}"
        facts.append((words, "muted" if left > 0 else "warn"))
    return tuple(facts)


def _error(row: DeliveryRow) -> tuple[Block, ...]:
    """What the last try failed with, where the message does not say it."""
    if not row.error or row.error == row.message.envelope("error_message"):
        return ()
    tone = "bad" if row.state is DeliveryState.FAILED else "warn"
    return (Lines((((safe_line(row.error, 400), tone),),)),)


# A request to decide on: what is asked, its clock, who answered, and how the same plan fared before.

_MEANINGS = {
    Flag.OVERDUE: "nobody answered in time",
    Flag.CONTRADICTORY: "answers contradict each other; the first one stands",
    Flag.UNAUTHORISED: "somebody answered who may not; that answer decides nothing",
    Flag.SUPERSEDED: "a newer request of the same author took its place",
    Flag.ANSWERED_TWICE: "answered more than once; the first answer stands",
    Flag.STILL_ALIVE: "it agreed to stop and still writes",
    Flag.DAMAGED: "its record in the queue is damaged; shown is what was read before, and it cannot be answered",
    Flag.UNVERIFIED: "an answer was not written by team-console; ask whoever it names before you act on it",
    Flag.FORGED: "an answer is forged or broken: it is not signed as it must be, and decides nothing",
    Flag.STOPPING: "the agent was asked to stop; AGENT_DESTROYED follows its answer, or the end of its time",
    Flag.REFUSED: "the agent was asked to stop and refused; decide again",
    Flag.ALTERED: "an answer was changed after it was written; what the audit trail says of it counts",
}
_EARLIER = 8
_JUST = 10.0
"""Seconds for which a question counts as just asked."""


def request_document(
    row: RequestRow,
    *,
    now: datetime,
    earlier: tuple[RequestRow, ...] = (),
    content: str | None = None,
    token: str = "",
    item: ActionItem | None = None,
    seal: Seal | None = None,
    me: str = "",
    seen: Seen | None = None,
    above: tuple[Block, ...] = (),
    below: tuple[Block, ...] = (),
    before: Sequence[tuple[RequestRow, str]] = (),
) -> Document:
    """What there is to read of a request.

    Args:
        earlier: Former plans of the same author, newest first.
        content: The whole content when the stored one is only its beginning.
        token: What an answer must quote.
        item: Why it stands in the list of what waits, when it does.
        seal: What the signature of the question tells, None when the team has no key.
        me: Who looks at it; it goes without saying that this reader has not read it yet.
        seen: All that is shown, `above` and `below` included.
        above, below: Evidence above and below the text.
        before: What was decided on the same before, newest first, each with what came of it.
    """
    read = parse_message(row.question)
    return Document(
        key=f"request:{row.key}",
        title=f"{str(row.kind).capitalize()} · {_named(row.asker)}",
        headline=safe_line(row.title, 400),
        facts=_request_facts(row, now, item, seal, me),
        more=_more(row, now, item),
        blocks=(
            *_notes(row),
            *above,
            *content_blocks(row.question, read, content),
            *below,
            *why_blocks(row.question),
            *talk_blocks(row, now),
            *before_blocks(before, now),
            *_answers(row, now, content),
            *_history(row, earlier, now),
        ),
        token=token,
        seen=seen,
        source=content if content is not None else row.question.content or source_of(row.question) or row.title,
    )


def why_blocks(question: Message) -> tuple[Block, ...]:
    """What user and agent said last before it was asked, and what was run; nothing where no hook asked."""
    why = why_in(question.payload)
    if why is None:
        return ()
    return Heading("why it asks"), Lines(tuple(((line, ""),) for line in why_lines(why)))


def talk_blocks(row: RequestRow, now: datetime) -> tuple[Block, ...]:
    """What was asked back about it, and what its asker said to that."""
    lines: list[Line] = []
    for said in row.talk:
        lines.append(((f"{_named(said.sender)}, {ago(said.created_at, now)}", "muted"),))
        lines += [((line, ""),) for line in fenced(said.content)]
    return (Heading("asked back"), Lines(tuple(lines))) if lines else ()


def before_blocks(before: Sequence[tuple[RequestRow, str]], now: datetime) -> tuple[Block, ...]:
    """What was decided on the same before, when, with which words, and what came of it."""
    lines: list[Line] = []
    for row, outcome in before:
        sign = REQUESTS[row.state]
        who = f" by {_named(row.answered_by)} {ago(row.answered_at, now)}" if row.answered_by else ""
        words = f": {safe_line(row.reason, 300)}" if row.reason else ""
        came = f" · then {safe_line(outcome, 40)}" if outcome else ""
        title: Part = (f"  {safe_line(row.title, 200)}", "muted")
        lines.append(((f"{sign.glyph} {sign.word}", sign.tone), (f"{who}{words}{came}", ""), title))
    return (Heading("decided on the same before"), Lines(tuple(lines), indent=2)) if lines else ()


def remarks_on(
    row: RequestRow,
    earlier: Sequence[RequestRow] = (),
    content: str | None = None,
    *,
    typed: Mapping[str, str],
    ticked: Container[str] = (),
) -> tuple[Remarked, ...]:
    """Remarks on lines of a request: those sent with what was said to it and its former versions, and those `typed`.

    Args:
        earlier, content: As for `request_document`.
        typed: Line number -> remark that is still to be sent.
        ticked: Those sent before that the human took as answered, as `tick_of` names them.
    """
    found = []
    for number, one in enumerate(sent_remarks(row, earlier, content), start=1):
        where = "" if one.now == one.remark.line else f"{one.words} · “{one.remark.quote}” · "
        words = safe_line(f"{where}{one.remark.text}", _LONGEST)
        found.append(Remarked(one.now or 0, words, number, tick_of(one.remark) in ticked))
    lines = ((int(line), text) for line, text in typed.items() if line.isdecimal())
    return (*found, *(Remarked(line, safe_line(text, _LONGEST)) for line, text in lines))


def sent_remarks(row: RequestRow, earlier: Sequence[RequestRow], content: str | None) -> list[Placed]:
    """The remarks that were sent, oldest first, held against the text of this version."""
    versions = (*reversed(earlier), row)
    said = (message for each in versions for message in (*each.talk, *((each.verdict,) if each.verdict else ())))
    remarks = [remark for message in said for remark in remarks_in(message.payload)]
    return placed(remarks, lines_to_remark(row.question, content)) if remarks else []


def tick_of(remark: Remark) -> str:
    """What names a remark that was sent, whatever was said since."""
    return f"{remark.line} {remark.text}"


def earlier_plans(row: RequestRow, requests: tuple[RequestRow, ...]) -> tuple[RequestRow, ...]:
    """The plans that `row` came after, newest first: the chain of `supersedes`, else the author's answered ones."""
    by_id: Mapping[str, RequestRow] = {request.request_id: request for request in requests if request.kind is row.kind}
    chain: list[RequestRow] = []
    step = by_id.get(row.supersedes) if row.supersedes else None
    while step is not None and step not in chain and len(chain) < _EARLIER:
        chain.append(step)
        step = by_id.get(step.supersedes) if step.supersedes else None
    return tuple(chain)


def _request_facts(row: RequestRow, now: datetime, item: ActionItem | None, seal: Seal | None, me: str = "") -> Line:
    """Who asks whom, how long it waits and what it holds up."""
    sign = REQUESTS[row.state]
    addressee = "you" if me and row.addressee in (me, USER) else _named(row.addressee)
    facts: list[Part] = [(f"{_named(row.asker)} → {addressee}", ""), _waited(row, now)]
    if not row.is_open:
        facts.insert(1, (f"{sign.glyph} {sign.word}", sign.tone))
    facts += [(text.strip(" ·"), tone) for text, tone in seal_line(row.question, seal)]
    facts += _clocks(row, now)
    if row.is_open:
        facts += [(text, tone) for text, tone in _seen(row, now, me)]
    if row.state is RequestState.WITHDRAWN and row.reason:
        facts.append((safe_line(row.reason, 200), ""))
    blocked = [_named(name) for name in item.blocks[:12] if name != row.asker] if item is not None else []
    if blocked:
        facts.append((f"blocks {', '.join(blocked)}", "warn"))
    return tuple(facts)


def _waited(row: RequestRow, now: datetime) -> Part:
    waited = span(row.waiting_seconds(now))
    if not row.is_open:
        return f"took {waited}", "muted"
    return ("just asked" if row.waiting_seconds(now) < _JUST else f"waits for {waited}"), "muted"


def _clocks(row: RequestRow, now: datetime) -> list[Part]:
    """When an open request is due and when it ends by itself; twice as late as allowed is worse than late."""
    clocks: list[Part] = []
    if row.is_open and row.due_at is not None:
        left = (row.due_at - now).total_seconds()
        allowed = (row.due_at - row.asked_at).total_seconds() if row.asked_at is not None else 0.0
        late = "alarm" if -left >= allowed else "alert"
        clocks.append((f"due in {span(left)}", "muted") if left > 0 else (f"◷ overdue for {span(-left)}", late))
    if row.is_open and row.talk:
        word = "asked back" if row.is_asked_back else "answered back"
        clocks.append((f"{word} {span((now - (row.talk[-1].created_at or now)).total_seconds())} ago", "strong"))
    if row.is_open and row.expires_at is not None:
        clocks.append((f"ends in {span((row.expires_at - now).total_seconds())}", "warn"))
    return clocks


def _more(row: RequestRow, now: datetime, item: ActionItem | None) -> tuple[Fact, ...]:
    """What is asked for rarely: the exact moment, the id, and why it stands where it stands."""
    sign = REQUESTS[row.state]
    facts = [
        Fact("asked", ((ago(row.asked_at, now), "muted"),)),
        Fact("state", ((f"{sign.glyph} {sign.word}", sign.tone),)),
        Fact("id", ((safe_line(row.request_id, 200), "muted"),)),
    ]
    if item is not None and item.why:
        facts.append(Fact("why here", ((safe_line(item.why, 300), "muted"),)))
    return tuple(facts)


def _notes(row: RequestRow) -> tuple[Block, ...]:
    """What is odd about it."""
    flags = [flag for flag in row.flags if flag is not Flag.OVERDUE]
    lines: list[Line] = [((f"‼ {flag}: ", "alert"), (_MEANINGS[flag], "")) for flag in flags]
    return (Lines(tuple(lines), indent=2),) if lines else ()


def _seen(row: RequestRow, now: datetime, me: str) -> Line:
    if row.seen_at is None and row.addressee in (me, USER):
        return ()
    if row.seen_at is None:
        return ((f"not read by {_named(row.addressee)} yet", "muted"),)
    return ((f"read {clock_time(row.seen_at, now)}", "muted"),)


def _answers(row: RequestRow, now: datetime, content: str | None) -> tuple[Block, ...]:
    if not row.answers:
        return ()
    blocks: list[Block] = [Heading("answers" if len(row.answers) > 1 else "answer")]
    for answer in row.answers:
        blocks.append(Lines((_answer_line(answer, row, now),), indent=2))
        if answer.content:
            blocks.append(Text(safe_text(answer.content)))
        blocks += answer_blocks(row.question, answer, content)
    return tuple(blocks)


def _answer_line(message: Message, row: RequestRow, now: datetime) -> Line:
    approve = parse_message(message).approve
    yes = ("✓ answered", "good") if row.kind is RequestKind.QUESTION else ("✓ approved", "good")
    word, tone = {True: yes, False: ("✗ rejected", "bad"), None: ("✓ answered", "good")}[approve]
    stands = message is row.verdict
    if not stands:
        tone = "muted"
    who = f" by {_named(message.sender)} {clock_time(message.created_at, now)}"
    return (
        (word, tone),
        (who, "" if stands else "muted"),
        (" · forged" if message.message_id in row.forged else "", "alert"),
        ("" if stands else " · decides nothing", "warn"),
    )


def _history(row: RequestRow, earlier: tuple[RequestRow, ...], now: datetime) -> tuple[Block, ...]:
    lines: list[Line] = []
    if row.superseded_by:
        lines.append((("↷ a newer plan took its place: ", "warn"), (safe_line(row.superseded_by, 200), "")))
    for request in earlier:
        sign = REQUESTS[request.state]
        lines.append(
            (
                (f"{sign.glyph} {sign.word} ", sign.tone),
                (f"{clock_time(request.answered_at or request.asked_at, now)} ", "muted"),
                (safe_line(request.reason or request.title, 300), ""),
            )
        )
    return (Heading("history of this plan"), Lines(tuple(lines), indent=2)) if lines else ()


# A batch with its stories and what they wait for, or the eleven steps of a temporary agent's life.


def session_document(row: SessionRow) -> Document:
    """What there is to know of a session: its batches, each with how far it is."""
    lines = tuple(
        (
            (pad(safe_line(batch.batch_id, 32), 12) + " ", ""),
            *progress(batch, 24),
            (f"  {_named(batch.slave)}", "muted"),
        )
        for batch in row.batches
    )
    return Document(
        key=f"session:{row.session_id}",
        title="Session",
        headline=f"Session {_named(row.session_id)}",
        facts=((f"{row.count(StoryState.DONE)} of {row.total} stories done", ""),),
        blocks=(Heading("batches"), Lines(lines, indent=4)),
    )


def batch_document(batch: Batch) -> Document:
    """What there is to know of a batch."""
    done, total = batch.count(StoryState.DONE), len(batch.stories)
    blocks: list[Block] = [
        Lines(((*progress(batch, 24), (f"  {done} of {total} stories done", "")),)),
        Heading("stories"),
        Lines(tuple(_story(story) for story in batch.stories), indent=4),
    ]
    if batch.report:
        blocks += [Heading("report"), Text(safe_text(batch.report))]
    name = safe_line(batch.batch_id, 32)
    state: Part = ("✓ reported complete", "good") if batch.complete else ("◐ not reported complete yet", "muted")
    return Document(
        key=f"batch:{batch.key}",
        title="Batch",
        headline=f"Batch {name}",
        facts=((_named(batch.slave) or "no agent yet", ""), state),
        more=(Fact("session", ((_named(batch.session_id), "muted"),)),),
        blocks=tuple(blocks),
        source=batch.report,
    )


def life_document(life: Lifecycle, *, now: datetime) -> Document:
    """What there is to know of a temporary agent."""
    step, trouble = last_step(life), trouble_of(life)
    at = f"step {step.number} of {STEPS}: {safe_line(step.title, 60)}" if step is not None else "no step seen yet"
    name = _named(life.agent)
    facts: list[Part] = [("■ ended", "muted") if life.ended else ("● at work", "good"), (at, "")]
    facts += [(f"‼ {trouble}", "warn")] if trouble else []
    return Document(
        key=f"life:{life.key}",
        title="Agent",
        headline=name,
        facts=(*facts, (f"for {_named(life.slave) or 'nobody known'}", "")),
        blocks=(
            Heading("the eleven steps"),
            Lines(tuple(_step(item, life, now) for item in life.steps), indent=4),
        ),
        source=life.agent,
    )


def _story(story: Story) -> Line:
    sign = STORIES[story.state]
    parts: list[Part] = [(f"{sign.glyph} {pad(safe_line(story.key, 24), 8)} {pad(sign.word, 8)} ", sign.tone)]
    if story.agent:
        parts.append((_named(story.agent) + "  ", ""))
    if story.blocked_by:
        parts.append((f"waits for {_keys(story.blocked_by)}", "warn"))
    elif story.depends_on:
        parts.append((f"after {_keys(story.depends_on)}", "muted"))
    return tuple(parts)


def _keys(keys: tuple[str, ...]) -> str:
    return ", ".join(safe_line(key, 24) for key in keys)


def _step(step: Step, life: Lifecycle, now: datetime) -> Line:
    mark, tone = ("✓", "good") if step.at else ("·", "faint")
    note = ""
    for words, numbers in (("missing", life.missing), ("out of order", life.out_of_order), ("twice", life.doubled)):
        if step.number in numbers:
            mark, tone, note = ("✗" if words == "missing" else "‼"), "warn", f"  {words}"
    when = clock_time(step.at, now) if step.at else ""
    return (
        (f"{mark} {step.number:>2}  ", tone),
        (pad(safe_line(step.title, 60), 34) + " ", "" if step.at else "muted"),
        (when, "muted"),
        (note, "warn"),
    )


# The shutdown of a team to watch: one line per agent with the moment of each step, and who is left.

STAGES: Mapping[Stage, Sign] = {
    Stage.NOT_ASKED: Sign("·", "not asked", "muted"),
    Stage.WRITTEN: Sign("○", "written", "warn"),
    Stage.DELIVERED: Sign("◑", "delivered", "warn"),
    Stage.SEEN: Sign("◕", "seen", "warn"),
    Stage.REFUSED: Sign("⊘", "refused", "bad"),
    Stage.AGREED: Sign("✓", "agreed", "good"),
    Stage.ENDED: Sign("■", "ended", "muted"),
    Stage.WITHDRAWN: Sign("↶", "taken back", "muted"),
}
_STOPPING_NAME, _STAGE = 20, 11
_TO_THE_SECOND = 120.0
"""Seconds up to which a step is told to the second."""
_INDENT = 4
"""Cells before what does not fit into the line of an agent."""


def stopping_document(rows: Sequence[StopRow], *, now: datetime, busy: str = "") -> Document:
    """What there is to see of a shutdown; `busy` says, as safe text, whom the console asks just now."""
    blocks: list[Block] = []
    if busy:
        blocks.append(Lines((((f"◌ {busy}", "warn"), (" · x asks nobody else", "muted")),)))
    for title, stages in _GROUPS:
        if group := [row for row in rows if row.stage in stages]:
            blocks += [Heading(f"{title} · {len(group)}"), *_block(group, now)]
    return Document(
        key="stopping",
        title="Shutdown of the team",
        headline=_headline(rows),
        facts=tuple(_counts(rows)),
        blocks=tuple(blocks),
    )


_WAITING = (Stage.WRITTEN, Stage.DELIVERED, Stage.SEEN)
_GROUPS = (
    ("refused", (Stage.REFUSED,)),
    ("asked, no answer yet", _WAITING),
    ("agreed, still there", (Stage.AGREED,)),
    ("not asked", (Stage.NOT_ASKED, Stage.WITHDRAWN)),
    ("ended", (Stage.ENDED,)),
)


def _block(rows: Sequence[StopRow], now: datetime) -> Iterator[Block]:
    """A line for each; those that were never asked have nothing to tell but their names."""
    told = [row for row in rows if row.stage is not Stage.NOT_ASKED]
    if told:
        yield Lines(tuple(line for row in told for line in _lines(row, now)), indent=_INDENT)
    if names := [_named(row.agent) for row in rows if row.stage is Stage.NOT_ASKED]:
        yield _said(" · ".join(names), "muted")


def _headline(rows: Sequence[StopRow]) -> str:
    left = [safe_line(row.agent, 40) for row in rows if row.is_left]
    if not left:
        return "Nobody is left"
    names = ", ".join(left[:6]) + (f" and {len(left) - 6} more" if len(left) > 6 else "")
    return f"{counted(len(left), 'agent')} left: {names}"


def _counts(rows: Sequence[StopRow]) -> Iterator[Part]:
    asked = [row for row in rows if row.stage not in (Stage.NOT_ASKED, Stage.WITHDRAWN) and row.asked_at]
    yield f"{len(asked)} of {len(rows)} asked", ""
    for stages, words, tone in (
        ((Stage.AGREED, Stage.ENDED), "agreed", "good"),
        ((Stage.REFUSED,), "refused", "bad"),
        (_WAITING, "not answered yet", "warn"),
    ):
        if number := sum(row.stage in stages for row in asked):
            yield f"{number} {words}", tone
    if late := sum(row.is_overdue for row in rows):
        yield f"{late} overdue", "alert"
    if ended := sum(row.stage is Stage.ENDED for row in rows):
        yield f"{ended} ended", "muted"


def _lines(row: StopRow, now: datetime) -> Iterator[Line]:
    """Where it stands and when each step was, and below it why it refused."""
    sign = STAGES[row.stage]
    head: Line = (
        (f"{sign.glyph} ", sign.tone),
        (
            pad(_named(row.agent), _STOPPING_NAME) + " ",
            "strong" if row.stage in (*_WAITING, Stage.REFUSED) else "",
        ),
        (f"{sign.word:<{_STAGE}}", sign.tone),
    )
    writes: Line = ((" · ‼ still writes", "alert"),) if row.still_writes else ()
    yield (*head, *_steps(row, now), *_clock(row, now), *writes)
    if row.stage is Stage.REFUSED:
        words = f"“{safe_line(row.reason, 300)}”" if row.reason else "gave no reason"
        yield (" " * _INDENT, ""), (words, "bad")


def _steps(row: StopRow, now: datetime) -> Iterator[Part]:
    """The moments that are known, in their order, later ones as what passed since it was asked."""
    moments = (
        ("asked", row.asked_at),
        ("delivered", row.delivered_at),
        ("seen", row.seen_at),
        ("refused" if row.stage is Stage.REFUSED else "agreed", row.answered_at),
        ("last seen", row.ended_at),
    )
    known = [(word, moment) for word, moment in moments if moment is not None]
    if known:
        yield " · ".join(f"{word} {_moment(moment, row, now)}" for word, moment in known), "muted"


def _moment(moment: datetime, row: StopRow, now: datetime) -> str:
    since = (moment - row.asked_at).total_seconds() if row.asked_at is not None else 0.0
    if since <= 0:
        return clock_time(moment, now)
    return f"+{since:.0f} s" if since < _TO_THE_SECOND else f"+{span(since)}"


def _clock(row: StopRow, now: datetime) -> Iterator[Part]:
    """How long it waits, and until when it should have answered."""
    if row.stage not in _WAITING or row.asked_at is None:
        return
    yield f" · waits {span((now - row.asked_at).total_seconds())}", "warn"
    if row.due_at is not None:
        left = (row.due_at - now).total_seconds()
        yield (f" · due in {span(left)}", "muted") if left > 0 else (f" · ◷ overdue for {span(-left)}", "alert")
