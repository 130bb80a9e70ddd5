"""Documents of messages: what the reader shows of one, of what it asks for, and of what stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from msgspec.structs import replace
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Fields, Message, Priority, Status
from team_console.store.model.names import USER
from team_console.store.model.safe import counted, exact_text, first_of, safe_line, safe_text
from team_console.store.protocol.client_requests import (
    FURTHER,
    WHY,
    EditablePart,
    Option,
    answers_of,
    denial_of,
    editable_part,
    file_seen_from,
    join_answers,
    modes_of,
    notes_of,
    origin_of,
    permission_of,
    questions_of,
    rest_of_input,
    rest_of_questions,
    why_in,
)
from team_console.store.protocol.kinds import UNKNOWN, Family, RequestKind
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.suggestions import suggestion_words
from team_console.store.protocol.titles import message_title, structure, title_of
from team_console.store.protocol.verdicts import (
    EVIDENCE,
    REQUEST_DIGEST,
    SHOWN,
    SHOWN_BY,
    Seal,
    Seen,
    digest_of,
    seen_of,
)
from team_console.store.views.conversation import Delivery, Thread, Turn, turns_of
from team_console.store.views.differences import counts_of, line_difference
from team_console.store.views.proposals import Proposal, ProposalKind, input_text, proposal_of
from team_console.store.views.rows import Flag, RequestRow, StopRow, StopStage
from team_console.widgets.ages import ago, clock_time, short_ago, span
from team_console.widgets.document import (
    Block,
    Document,
    Fact,
    Heading,
    Lines,
    RequestPart,
    Text,
    TextForm,
    fact,
    one_line,
)
from team_console.widgets.signs import (
    KIND_NAMES,
    REQUESTS,
    Sign,
    priority_sign,
    severity_sign,
    sign_of_copy,
    status_sign,
)
from team_console.widgets.text import Line, Part, cell_len, pad


def safe_name(name: str | None) -> str:
    """Return a name from a store, made safe."""
    return safe_line(name or "", 64)


_LONGEST = 2000
"""Characters of a fact in its line."""
_SET_IN = 6
"""Cells before what the agent says of one of several permissions."""
_LONGEST_HEADER = 40
"""Characters of the header of a question that its heading has room for."""
_OF_FILES = frozenset({ProposalKind.CHANGE, ProposalKind.NEW_FILE, ProposalKind.CONTENT})


def source_of(message: Message) -> str:
    """Return the text that is worth copying: the command, the page, the change, the questions; empty for other
    kinds.
    """
    kind = parse_message(message).opens
    if kind is RequestKind.QUESTION:
        return "\n".join(question.text for question in questions_of(message.payload))
    if kind is not RequestKind.PERMISSION:
        return ""
    proposal = _proposal(message)
    return proposal.text or "\n".join(proposal.diff) or proposal.subject or input_text(proposal.rest)


def _origin_facts(message: Message) -> Iterator[Fact]:
    """Yield tool, folder and client of a request, as far as it names them."""
    origin = origin_of(message.payload)
    if parse_message(message).opens is RequestKind.PERMISSION:
        tool, proposal = permission_of(message.payload).tool, _proposal(message)
        yield fact("tool", safe_line(tool, 200) or "not named", "strong" if tool else "warn")
        if proposal.kind in _OF_FILES:
            yield fact("file", safe_line(file_seen_from(proposal.subject, origin.directory), _LONGEST), "")
    if origin.directory:
        yield fact("in", safe_line(origin.directory, _LONGEST), "")
    if origin.client or origin.session:
        session = f" · session {safe_line(origin.session, 100)}" if origin.session else ""
        yield Fact("client", ((safe_name(origin.client) or "not named", ""), (session, "muted")))
    yield from _denied_fact(message)
    if modes := modes_of(message.payload):
        yield fact("modes", safe_line(" or ".join(modes), 300), "")


def permission_blocks(message: Message) -> tuple[Block, ...]:
    """Return the call, whole and first; then its place, its asker, and the rules that the client offers to allow
    always.
    """
    blocks = [*asked_blocks(message), *_origin_facts(message)]
    if offered := permission_of(message.payload).suggestions:
        # The form has `once` before these: a digit means the same there and here.
        words = [((safe_line(suggestion_words(item)), ""),) for item in offered]
        blocks += [Heading("may be allowed always"), _numbered(words, first=2)]
    return tuple(blocks)


def _numbered(lines: Sequence[Line], first: int = 1) -> Lines:
    return Lines(tuple(((f"{number}. ", "muted"), *line) for number, line in enumerate(lines, first)), indent=3)


def asked_blocks(message: Message) -> tuple[Block, ...]:
    """Return the call, whole, then the rest of its input, and last the agent's description."""
    words = _proposal(message).words
    said_of_it = (Heading("what the agent says of it"), Text(safe_text(words))) if words else ()
    return (*_input_blocks(message), *said_of_it)


@lru_cache(maxsize=64)
def _input_blocks(message: Message) -> tuple[Block, ...]:
    """Return the call and its input, remembered per message: a change of many lines takes long to be made."""
    proposal = _proposal(message)
    blocks: list[Block] = [Heading(f"{proposal.kind}{f' · {counts_of(proposal.diff)}' if proposal.diff else ''}")]
    blocks += [Lines(((("△ ", "warn"), (note, "warn")),)) for note in proposal.notes]
    if proposal.diff:
        blocks.append(replace(diff_text(proposal.diff), is_asked=True))
    elif proposal.text:
        blocks.append(Text(_exact_lines(proposal.text), TextForm.CODE, is_asked=True))
    elif proposal.kind in (ProposalKind.PAGE, ProposalKind.SEARCH):
        blocks.append(Text(_exact_lines(proposal.subject), TextForm.CODE))
    if proposal.rest and proposal.kind is ProposalKind.OTHER:
        blocks.append(Text(structure(proposal.rest), TextForm.STRUCTURED))
    elif proposal.rest:
        blocks += _further_input(proposal.rest)
    elif proposal.kind is ProposalKind.OTHER:
        blocks.append(one_line("none", "muted"))
    return tuple(blocks)


def alike_part(message: Message, differs: tuple[int, int]) -> RequestPart:
    """Return what a page of several alike permissions shows of one: whose it is, and the call, whole.

    Args:
        differs: From where to where its command is another than those of the others.
    """
    proposal, client = _proposal(message), safe_name(origin_of(message.payload).client)
    words = " · ".join(filter(None, (safe_name(message.sender), client, str(proposal.kind))))
    _, *rest = _input_blocks(message)
    blocks = [replace(block, marked=differs) if isinstance(block, Text) and block.is_asked else block for block in rest]
    if proposal.words:
        # Each line is set in, so that none of them passes for the head of another part.
        told = safe_text(proposal.words).split("\n")
        leads = ("says: ", *[" " * _SET_IN] * len(told))
        lines = tuple(((lead, "muted"), (line, "")) for lead, line in zip(leads, told, strict=False))
        blocks.append(Lines(lines, indent=_SET_IN, is_close=True))
    return RequestPart(digest_of(message), seen_of(message), (Heading(words), *_denied_fact(message), *blocks))


def alike_facts(message: Message) -> Iterator[Fact]:
    """Yield what alike permissions have in common beside their commands: tool, file and folder."""
    yield from (each for each in _origin_facts(message) if each.label in ("tool", "file", "in"))


def _denied_fact(message: Message) -> Iterator[Fact]:
    if denied := denial_of(message.payload):
        yield fact("denied", safe_line(denied, _LONGEST), "warn")


@lru_cache(maxsize=64)
def _proposal(message: Message) -> Proposal:
    """Return what a permission proposes, remembered per message: comparing two long texts at each look is felt."""
    return proposal_of(permission_of(message.payload))


def _question_blocks(message: Message) -> Iterator[Block]:
    """Yield questions with their options, numbered as in the form that answers them, and all else that they say.

    The text of a single one is left out where the headline of the document says all of it.
    """
    questions = questions_of(message.payload)
    headline = safe_line(message_title(message), 400)
    for place, question in enumerate(questions):
        if question.several and question.options:
            how = " · one or more"
        elif question.options:
            how = ""
        else:
            how = " · in words"
        header = safe_line(question.header)
        yield Heading(f"{header[:_LONGEST_HEADER] or 'question'}{how}")
        if len(header) > _LONGEST_HEADER:
            yield fact("header", header)
        if len(questions) > 1 or safe_text(question.text) != headline:
            yield Text(safe_text(question.text))
        is_list = not any(option.preview or option.rest for option in question.options)
        for number, option in enumerate(question.options, start=1):
            yield from _option_blocks(option, number, anchor_of(place, number - 1), is_close=is_list and number > 1)
        yield from _further_input(question.rest)
    if not questions:
        yield one_line("It holds no question that can be read.", "warn")
    if unread := rest_of_questions(message.payload):
        yield from _further_input({"questions": unread})
    yield from _further_input(rest_of_input(message.payload))


def anchor_of(question: int, option: int) -> str:
    """Return the name of the place on the page of a request where an option of a question stands, both from 0."""
    return f"option {question} {option}"


def _option_blocks(option: Option, number: int, anchor: str, *, is_close: bool) -> Iterator[Block]:
    """Yield an option: what it is called and means, the text to compare, and every further field of it."""
    meaning = f" — {safe_line(option.description)}" if option.description else ""
    line: Line = ((f"{number}. ", "muted"), (safe_line(option.label), "strong"), (meaning, "muted"))
    yield Lines((line,), indent=3, anchor=anchor, is_close=is_close)
    # guard: previews-shown
    if option.preview:
        yield Text(_exact_lines(option.preview), TextForm.CODE, is_close=True)
    if option.rest:
        yield Lines((((f"further input of {number}", "muted"),),), is_close=True)
        yield Text(structure(option.rest), TextForm.STRUCTURED, is_close=True)


def _further_input(rest: Fields) -> Iterator[Block]:
    """Yield what a client's tool was called with and no other block tells."""
    if rest:
        yield Heading("further input")
        yield Text(structure(rest), TextForm.STRUCTURED)


def answer_blocks(question: Message, answer: Message, content: str | None) -> Iterator[Block]:
    """Yield what an answer decides beyond yes and no: the choice, the rule allowed always, the edits.

    Args:
        content: The whole plan, where the question holds only its beginning.
    """
    payload = answer.payload
    answers = answers_of(payload) if parse_message(answer).answers is RequestKind.QUESTION else {}
    notes = notes_of(payload)
    for text, words in answers.items():
        chosen = safe_line(join_answers(words), _LONGEST)
        yield Lines((((f"{safe_line(text, 300)} ", "muted"), (chosen, "strong")),))
        if text in notes:
            yield Lines((((f"  with the words: {safe_line(notes[text], _LONGEST)}", ""),),), is_close=True)
    if payload.get("scope") == "always":
        always = safe_line(suggestion_words(payload.get("suggestion")), _LONGEST)
        yield Lines(((("always: ", "strong"), (always, "")),))
    if isinstance(mode := payload.get("mode"), str):
        yield Lines(((("goes on in ", ""), (safe_line(mode, 60), "strong")),))
    edited = _edited_difference(question, answer, content)
    if edited is not None:
        yield Heading(f"edited before it was approved · {counts_of(edited)}")
        yield diff_text(edited)


def _edited_difference(question: Message, answer: Message, content: str | None) -> tuple[str, ...] | None:
    """Return the diff between the request and the approved version; None when nothing was edited."""
    plan, given = answer.payload.get("updated_plan"), answer.payload.get("updated_input")
    if isinstance(plan, str):
        return line_difference(question.content if content is None else content, plan)
    if not isinstance(given, Mapping):
        return None
    part, asked = editable_part(question), permission_of(question.payload).input
    if part is not None and part.key is not None and _same_otherwise(asked, given, part):
        return line_difference(part.text, str(given[part.key]))
    return line_difference(input_text(asked), input_text(given))


def _same_otherwise(asked: Mapping[str, object], given: Mapping[str, object], part: EditablePart) -> bool:
    rest = ({key: value for key, value in fields.items() if key != part.key} for fields in (asked, given))
    return isinstance(given.get(part.key or ""), str) and next(rest) == next(rest)


def diff_text(lines: Sequence[str]) -> Text:
    """Return a difference as a block."""
    return Text("\n".join(map(exact_text, lines)), TextForm.DIFF)


def _exact_lines(text: str) -> str:
    """Return safe text in which a carriage return at the end of a line is seen, too."""
    # guard: carriage-returns-seen
    return "\n".join(map(exact_text, text.removesuffix("\n").split("\n")))


# A message to read: who wrote it to whom, where it is on its way, and what it says.

CLIENT_FIELDS = frozenset({"client", "session", "directory", "modes", "expires", "asker"})
"""Fields of a client's request that are told as facts, and the mark of the process that waits for the answer."""
_IN_HEAD = frozenset({"content", "summary", "request_id", "in_reply_to", "approve", "attachment"})
_WHOLE_TITLE = 200
"""Characters of a summary of one line that the title says whole (`titles.title_of`)."""
_ON_RECORD = frozenset({REQUEST_DIGEST, SHOWN, SHOWN_BY, EVIDENCE})
"""Fields of a verdict that say what was shown; they are told on demand."""
_PROSE_KEYS = ("issue", "question", "message", "topic", "context_summary")
_LONGEST_ERROR = 2_000
"""Characters shown of what the last try failed with: a failure is judged by all its words."""


def message_document(
    message: Message,
    *,
    now: datetime,
    reader: str = "",
    content: str | None = None,
    token: str = "",
    problems: tuple[Problem, ...] = (),
    seal: Seal | None = None,
    seen: Seen | None = None,
    above: tuple[Block, ...] = (),
    below: tuple[Block, ...] = (),
) -> Document:
    """Return the document of `message`.

    Args:
        reader: Who looks at it; it goes without saying that this reader has not picked it up yet.
        content: The whole content when the stored one is only its beginning.
        token: What an answer must quote.
        problems: Where it departs from its protocol, as far as findings know.
        seal: What its signature tells, None when the team has no key.
        seen: All that is shown of the request that it asks, `above` and `below` included.
        above, below: Evidence above and below its text.
    """
    read = parse_message(message)
    more = [
        fact("written", ago(message.created_at, now)),
        fact("kind", safe_name(read.name)),
        fact("id", safe_line(message.message_id, 120)),
    ]
    if read.request_id and read.request_id != message.message_id:
        more.append(fact("request", safe_line(read.request_id, 200)))
    if read.answers is not None:
        more += _record_facts(message)
    return Document(
        key=f"message:{message.message_id}",
        title=f"{safe_line(kind_words(read), 60)} · {safe_name(message.sender)}",
        headline=safe_line(title_of(read), 400),
        facts=tuple(_head_facts(message, now, seal, reader)),
        more=tuple(more),
        blocks=(
            *above,
            *content_blocks(message, read, content),
            *below,
            *_problem_blocks(problems or read.frame_problems),
        ),
        token=token,
        seen=seen,
        source=content if content is not None else message.content or source_of(message) or structure(message.payload),
    )


def _record_facts(message: Message) -> Iterator[Fact]:
    """Yield what a verdict says of what was shown."""
    for key, told in message.payload.items():
        if key in _ON_RECORD:
            words = "; ".join(map(str, told)) if isinstance(told, list) else str(told)
            yield fact(key.replace("_", " "), safe_line(words or "nothing", _LONGEST))


def kind_words(read: ParsedMessage) -> str:
    """Return the kind in words a reader knows: `Plan`, `Shutdown request`, `task_assignment`; of another program, as
    `claude:idle_notification`, in its words.
    """
    if read.name in KIND_NAMES:
        return KIND_NAMES[read.name].capitalize()
    program, _, name = read.name.rpartition(":")
    is_known = name.isupper() or read.kind is not UNKNOWN or program
    return name.replace("_", " ").capitalize() if is_known else name


def _head_facts(message: Message, now: datetime, seal: Seal | None, reader: str) -> Iterator[Part]:
    """Yield the sender and recipients, the age, the delivery state, and what is out of the ordinary."""
    names = [safe_name(recipient) for recipient in message.recipients[:8]]
    others = len(message.recipients) - len(names)
    yield f"{safe_name(message.sender)} → {', '.join(names)}{f' and {others} more' if others > 0 else ''}", ""
    yield short_ago(message.created_at, now), "muted"
    yield from seal_facts(message, seal)
    if message.status != Status.PENDING or not {reader, USER} & {*message.recipients}:
        yield from ((text.strip(" ·"), tone) for text, tone in state_line(message, now))
    if message.priority != Priority.MEDIUM:
        yield priority_sign(message).part


def state_line(message: Message, now: datetime) -> Line:
    """Return the delivery state in the word that is known to be true (decision D15)."""
    parts: list[Part] = [status_sign(message).part]
    moment = from_text(str(message.envelope(f"{message.status}_at") or ""))
    if message.status in (Status.READ, Status.DELIVERED, Status.RECALLED) and moment is not None:
        parts.append((f" {clock_time(moment, now)}", "muted"))
    if message.read_by:
        parts.append((f" · read by {', '.join(map(safe_name, list(message.read_by)[:6]))}", "muted"))
    error = message.envelope("error_message")
    if error and message.status in (Status.FAILED, Status.RETRY):
        parts.append((f" · {safe_line(error, _LONGEST_ERROR)}", "bad"))
    return tuple(parts)


def sprint_body(read: ParsedMessage) -> Text | None:
    """Return the fields of a sprint message that carries them as JSON; None for every other message."""
    if read.kind.family is not Family.SPRINT or read.carried is None:
        return None
    body = {key: item for key, item in read.body.items() if key != "msg_type"}
    return Text(structure(body), TextForm.STRUCTURED)


def content_blocks(message: Message, read: ParsedMessage, content: str | None = None) -> tuple[Block, ...]:
    """Return summary, content and the rest of the payload; what a client asks for as what it is."""
    if read.opens is RequestKind.PERMISSION:
        return permission_blocks(message)
    blocks: list[Block] = list(_origin_facts(message)) if read.opens is not None else []
    if read.opens is RequestKind.QUESTION:
        return (*blocks, *_question_blocks(message))
    summary, title = message.payload.get("summary"), safe_line(title_of(read), 400)
    body = sprint_body(read)
    if body is not None:
        text = ""
    elif content is not None:
        text = content
    else:
        text = message.content
    is_whole = isinstance(summary, str) and len(summary) <= _WHOLE_TITLE and "\n" not in summary.strip()
    if isinstance(summary, str) and not is_whole and summary.strip() != text.strip():
        blocks.append(Lines(tuple(((line, ""),) for line in safe_text(summary.strip()).split("\n"))))
    if body is not None:
        blocks.append(body)
    elif text and safe_text(text.strip()) != title:
        blocks.append(Text(safe_text(text), is_asked=read.opens is not None))
    rest = _fields_not_shown(message, read)
    if read.opens is RequestKind.PLAN and (further := rest_of_input(message.payload)):
        del rest[FURTHER]
        blocks += _further_input(further)
    for key in _PROSE_KEYS:
        if isinstance(value := rest.get(key), str) and value.strip():
            if safe_text(value.strip()) != title:
                blocks += [Heading(key.replace("_", " ")), Text(safe_text(value))]
            del rest[key]
    if rest:
        blocks += [Heading("details"), Text(structure(rest), TextForm.STRUCTURED)]
    blob = message.payload.get("attachment")
    if isinstance(blob, Mapping) and content is None:
        place, size = safe_line(blob.get("path", ""), 200), safe_line(blob.get("bytes", "?"), 20)
        words = f"Only the beginning is shown; the whole of it ({size} bytes) is in {place}."
        blocks.append(Lines(((("✂ ", "warn"), (words, "warn")),), is_cut=True))
    if not blocks and not text and title == safe_line(read.name):
        blocks.append(one_line("This message has no content.", "muted"))
    return tuple(blocks)


def _fields_not_shown(message: Message, read: ParsedMessage) -> dict[str, Any]:
    """Return the fields of the payload that nothing else shows."""
    hidden = _IN_HEAD
    if message.type == "plan_approval_request":
        hidden |= CLIENT_FIELDS
    if read.opens is not None and why_in(message.payload) is not None:
        hidden |= {WHY}
    if read.answers is not None:
        hidden |= _ON_RECORD
    rest = {key: value for key, value in message.payload.items() if key not in hidden}
    approve = message.payload.get("approve")
    return {"approve": approve, **rest} if isinstance(approve, bool) else rest


def _problem_blocks(problems: tuple[Problem, ...]) -> tuple[Block, ...]:
    """Return the section of problems, when there are any."""
    lines: list[Line] = []
    for problem in problems:
        sign = severity_sign(problem)
        lines.append(((f"{sign.glyph} {safe_line(problem.code)} ", sign.tone), (safe_line(problem.message), "")))
    return (Heading("what is wrong with it"), Lines(tuple(lines), indent=2)) if lines else ()


def seal_facts(message: Message, seal: Seal | None) -> Line:
    """Return the state of the signature, as far as it could be checked."""
    if seal is None:
        return (("signed, not checked here", "muted"),) if message.envelope("signature") else ()
    return {
        Seal.SIGNED: (("✓ signed", "good"),),
        Seal.UNSIGNED: (("△ unsigned", "warn"),),
        Seal.BROKEN: (("‼ its signature is broken", "alarm"),),
    }[seal]


# A conversation to read: each thing said with who said it to whom, what became of it, and its deliveries.

_NAME, _LONGEST_NAME = 20, 32
"""Cells of a name in the shutdown of a team, and beside a delivery at most."""


def conversation_document(thread: Thread, rows: Sequence[RequestRow], *, now: datetime) -> Document:
    """Return the document of a conversation, with what became of the requests among `rows`."""
    turns = tuple(turns_of(thread, rows))
    topic = safe_line(title_of(parse_message(turns[0].message)), 400)
    blocks = [block for turn in turns for block in _turn_blocks(turn, topic, now)]
    if not thread.is_whole:
        blocks.append(one_line("△ more belongs to it than is shown here", "warn"))
    return Document(
        key=f"conversation:{thread.request_id or thread.message.message_id}",
        title="Conversation",
        headline=topic,
        blocks=tuple(blocks),
        source="\n\n".join(turn.message.content for turn in turns),
    )


def _turn_blocks(turn: Turn, topic: str, now: datetime) -> Iterator[Block]:
    """Yield one thing that was said; its title only where it is another than that of the whole."""
    message, read = turn.message, parse_message(turn.message)
    names = dict.fromkeys(delivery.recipient for delivery in turn.deliveries)
    to = f"{len(names)} agents" if len(names) > 1 else safe_line(next(iter(names), "nobody"), 64)
    version = f" · version {turn.version} of {turn.versions}" if turn.version else ""
    kind = f"{safe_line(kind_words(read), 40)}{version}"
    yield Heading(f"{clock_time(message.created_at, now)} · {safe_name(message.sender)} → {to} · {kind}")
    lines: list[Line] = []
    if (row := turn.request) is not None:
        who = f" by {safe_name(row.answered_by)} {clock_time(row.answered_at, now)}" if row.answered_by else ""
        reason = f": {safe_line(row.reason, 300)}" if row.reason else ""
        lines.append((REQUESTS[row.state].part, (f"{who}{reason}", "")))
    elif read.approve is not None:
        lines.append((("✓ approved", "good"),) if read.approve else (("✗ rejected", "bad"),))
    if not turn.is_live:
        lines.append((("in the archive", "muted"),))
    if lines:
        yield Lines(tuple(lines), indent=2)
    title, told = safe_line(title_of(read), 400), content_blocks(message, read)
    if title != topic or not told:
        yield one_line(title, "strong")
    yield from told
    yield delivery_lines(turn.deliveries, now)


def delivery_lines(deliveries: Iterable[Delivery], now: datetime) -> Lines:
    """Return a line for each copy of a message: where it is, and what was tried."""
    copies = tuple(deliveries)
    width = min(_LONGEST_NAME, max((cell_len(safe_name(copy.recipient)) for copy in copies), default=0))
    return Lines(tuple(tuple(_delivery_parts(copy, width, now)) for copy in copies), indent=2)


def _delivery_parts(delivery: Delivery, width: int, now: datetime) -> Iterator[Part]:
    """Yield the place of one copy, its time of arrival, and the tries made."""
    sign = sign_of_copy(delivery.status, (delivery.recipient,))
    yield sign.mark
    yield f"{pad(safe_name(delivery.recipient), width)}  ", ""
    yield sign.word, sign.tone
    if (at := from_text(delivery.at)) is not None:
        yield f" {clock_time(at, now)}", "muted"
    if delivery.tries:
        yield f" · {delivery.tries} of {delivery.most_tries} tries", "muted"
    if (upcoming := from_text(delivery.next_try)) is not None:
        yield f" · next {clock_time(upcoming, now)}", "warn"
    if delivery.error:
        yield f" · {safe_line(delivery.error, 200)}", "bad"


# The shutdown of a team to watch: one line per agent with the moment of each step, and who is left.

STAGES: Mapping[StopStage, Sign] = {
    StopStage.NOT_ASKED: Sign("·", "not asked", "muted"),
    StopStage.WRITTEN: Sign("○", "written", "warn"),
    StopStage.DELIVERED: Sign("◑", "delivered", "warn"),
    StopStage.SEEN: Sign("◕", "seen", "warn"),
    StopStage.REFUSED: Sign("⊘", "refused", "bad"),
    StopStage.AGREED: Sign("✓", "agreed", "good"),
    StopStage.ENDED: Sign("■", "ended", "muted"),
    StopStage.WITHDRAWN: Sign("↶", "taken back", "muted"),
}
_WAITING = (StopStage.WRITTEN, StopStage.DELIVERED, StopStage.SEEN)
_GROUPS = {
    "refused": (StopStage.REFUSED,),
    "asked, no answer yet": _WAITING,
    "agreed, still there": (StopStage.AGREED,),
    "not asked": (StopStage.NOT_ASKED, StopStage.WITHDRAWN),
    "ended": (StopStage.ENDED,),
}
_STAGE = 11
"""Cells of the word for a stage."""
_TO_THE_SECOND = 120.0
"""Seconds up to which a step is told to the second."""
_INDENT = 4
"""Cells before what does not fit into the line of an agent."""


def stopping_document(rows: Sequence[StopRow], *, now: datetime, busy: str) -> Document:
    """Return the document of a shutdown; `busy` names, as safe text, the agent being asked now."""
    blocks: list[Block] = []
    if busy:
        blocks.append(Lines((((f"◌ {busy}", "warn"), (" · x stops asking", "muted")),)))
    for title, stages in _GROUPS.items():
        group = [row for row in rows if row.stage in stages]
        if group:
            blocks.append(Heading(f"{title} · {len(group)}"))
        if told := [row for row in group if row.stage is not StopStage.NOT_ASKED]:
            blocks.append(Lines(tuple(line for row in told for line in _stop_lines(row, now)), indent=_INDENT))
        # Those that were never asked have nothing to tell but their names.
        if names := [safe_name(row.agent) for row in group if row.stage is StopStage.NOT_ASKED]:
            blocks.append(one_line(" · ".join(names), "muted"))
    left = [safe_line(row.agent, 40) for row in rows if row.is_left]
    return Document(
        key="stopping",
        title="Shutdown of the team",
        headline=f"{counted(len(left), 'agent')} left: {first_of(left, 6)}" if left else "Nobody is left",
        facts=tuple(_stop_counts(rows)),
        blocks=tuple(blocks),
    )


def _stop_counts(rows: Sequence[StopRow]) -> Iterator[Part]:
    """Yield how many agents were asked, and how many agreed, refused, are late or ended."""
    asked = [row.stage for row in rows if row.stage not in _GROUPS["not asked"] and row.request]
    yield f"{len(asked)} of {len(rows)} asked", ""
    for number, words, tone in (
        (sum(stage in (StopStage.AGREED, StopStage.ENDED) for stage in asked), "agreed", "good"),
        (asked.count(StopStage.REFUSED), "refused", "bad"),
        (sum(stage in _WAITING for stage in asked), "not answered yet", "warn"),
        (sum(row.request is not None and Flag.OVERDUE in row.request.flags for row in rows), "overdue", "alert"),
        (sum(row.stage is StopStage.ENDED for row in rows), "ended", "muted"),
    ):
        if number:
            yield f"{number} {words}", tone


def _stop_lines(row: StopRow, now: datetime) -> Iterator[Line]:
    """Yield the state, the time of each step, the wait and its end, and below it the reason of a refusal."""
    sign, parts, request = STAGES[row.stage], list[Part](), row.request
    is_urgent = row.stage in (*_WAITING, StopStage.REFUSED)
    moments = request and (
        ("asked", request.asked_at),
        ("delivered", row.delivered_at),
        ("seen", request.seen_at),
        ("refused" if row.stage is StopStage.REFUSED else "agreed", request.answered_at),
        ("last seen", row.ended_at),
    )
    known = [f"{word} {_moment(moment, row, now)}" for word, moment in moments or () if moment is not None]
    if row.stage in _WAITING and request is not None and request.asked_at is not None:
        parts.append((f" · waits {span((now - request.asked_at).total_seconds())}", "warn"))
        if request.due_at is not None:
            left = (request.due_at - now).total_seconds()
            late = (f" · ◷ overdue for {span(-left)}", "alert")
            parts.append((f" · due in {span(left)}", "muted") if left > 0 else late)
    if request is not None and Flag.STILL_ALIVE in request.flags:
        parts.append((" · ‼ still writes", "alert"))
    name = (pad(safe_name(row.agent), _NAME) + " ", "strong" if is_urgent else "")
    yield sign.mark, name, (f"{sign.word:<{_STAGE}}", sign.tone), (" · ".join(known), "muted"), *parts
    if row.stage is StopStage.REFUSED and request is not None:
        yield (
            (" " * _INDENT, ""),
            (f"“{safe_line(request.reason, 300)}”" if request.reason else "gave no reason", "bad"),
        )


def _moment(moment: datetime, row: StopRow, now: datetime) -> str:
    """Return a step, as what passed since it was asked."""
    asked_at = row.request.asked_at if row.request is not None else None
    since = (moment - asked_at).total_seconds() if asked_at is not None else 0.0
    if since <= 0:
        return clock_time(moment, now)
    return f"+{since:.0f} s" if since < _TO_THE_SECOND else f"+{span(since)}"
