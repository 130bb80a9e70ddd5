"""What agents' clients ask for, shown for what it is: a command, a change of a file, a page, questions with options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import (
    EditablePart,
    Question,
    answers_of,
    editable_part,
    file_seen_from,
    modes_of,
    origin_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import Reading, reading
from team_console.store.views.proposals import (
    Proposal,
    Sort,
    counts_of,
    difference,
    input_text,
    proposal_of,
    suggestion_words,
)
from team_console.store.views.titles import structure
from team_console.widgets.details.document import Block, Fact, Form, Heading, Lines, Text
from team_console.widgets.text.cells import Line

CLIENT_FIELDS = frozenset({"client", "session", "directory", "modes", "expires"})
"""Fields of a client's request that are told as facts."""
_LONGEST = 2000
_OF_FILES = frozenset({Sort.CHANGE, Sort.NEW_FILE, Sort.CONTENT})


def client_blocks(message: Message, read: Reading) -> tuple[Block, ...]:
    """What a permission or question asks for; empty for all other kinds."""
    if read.opens is RequestKind.PERMISSION:
        return permission_blocks(message)
    if read.opens is RequestKind.QUESTION:
        return (*origin_facts(message), *question_blocks(questions_of(message.payload)))
    return ()


def source_of(message: Message) -> str:
    """The text that is worth copying: the command, the page, the change, the questions; empty for other kinds."""
    kind = reading(message).opens
    if kind is RequestKind.QUESTION:
        return "\n".join(question.text for question in questions_of(message.payload))
    if kind is not RequestKind.PERMISSION:
        return ""
    proposal = _proposal(message)
    return proposal.text or "\n".join(proposal.diff) or proposal.subject or input_text(proposal.rest)


def origin_facts(message: Message) -> tuple[Block, ...]:
    """Tool, folder and client of a request, as far as it names them."""
    origin, facts = origin_of(message.payload), []
    if reading(message).opens is RequestKind.PERMISSION:
        tool = permission_of(message.payload).tool
        facts.append(Fact("tool", ((safe_line(tool, 200) or "not named", "strong" if tool else "warn"),)))
        proposal = _proposal(message)
        if proposal.sort in _OF_FILES:
            facts.append(Fact("file", ((safe_line(file_seen_from(proposal.subject, origin.directory), _LONGEST), ""),)))
    if origin.directory:
        facts.append(Fact("in", ((safe_line(origin.directory, _LONGEST), ""),)))
    if origin.client or origin.session:
        session = f" · session {safe_line(origin.session, 100)}" if origin.session else ""
        facts.append(Fact("client", ((safe_line(origin.client, 64) or "not named", ""), (session, "muted"))))
    modes = modes_of(message.payload)
    if modes:
        facts.append(Fact("modes", ((safe_line(" or ".join(modes), 300), ""),)))
    return tuple(facts)


def permission_blocks(message: Message) -> tuple[Block, ...]:
    """What would be done, whole and first; where and for whom, and what the client offers to allow always."""
    offered = permission_of(message.payload).suggestions
    words = (safe_line(suggestion_words(item)) for item in offered)
    lines: list[Line] = [((f"{number} ", "key"), (text, "")) for number, text in enumerate(words, start=1)]
    more: list[Block] = [Heading("may be allowed always"), Lines(tuple(lines), indent=2)] if lines else []
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
        blocks.append(diff_text(proposal.diff))
    elif proposal.text:
        blocks.append(Text(_exact(proposal.text), Form.CODE))
    elif proposal.sort in (Sort.PAGE, Sort.SEARCH):
        blocks.append(Text(_exact(proposal.subject), Form.CODE))
    if proposal.rest:
        blocks += [Heading("further input")] if proposal.sort is not Sort.OTHER else []
        blocks.append(Text(structure(proposal.rest, limit=None), Form.STRUCTURED))
    elif proposal.sort is Sort.OTHER:
        blocks.append(Lines(((("none", "muted"),),)))
    if proposal.words:
        blocks += [Heading("what the agent says of it"), Text(safe_text(proposal.words))]
    return tuple(blocks)


def question_blocks(questions: Sequence[Question]) -> tuple[Block, ...]:
    """Questions with their options, numbered as the keys that choose them."""
    blocks: list[Block] = []
    for question in questions:
        head = safe_line(question.header, 60) or "question"
        how = " · one or more" if question.several and question.options else "" if question.options else " · in words"
        blocks += [Heading(f"{head}{how}"), Text(safe_text(question.text))]
        if question.options:
            blocks.append(Lines(tuple(_option_lines(question)), indent=2))
    return tuple(blocks) or (Lines(((("It holds no question that can be read.", "warn"),),)),)


def answer_blocks(question: Message, answer: Message, content: str | None = None) -> tuple[Block, ...]:
    """What an answer decides beyond yes and no: what was chosen, what is allowed always, what was edited.

    Args:
        content: The whole plan, where the question holds only its beginning.
    """
    payload = answer.payload
    blocks: list[Block] = []
    answers = answers_of(payload) if reading(answer).answers is RequestKind.QUESTION else {}
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
            (f"{number} ", "key"),
            (safe_line(option.label, 300), "strong"),
            (f" — {safe_line(option.description, _LONGEST)}" if option.description else "", "muted"),
        )
        for number, option in enumerate(question.options, start=1)
    ]


def _exact(text: str) -> str:
    """Safe text in which a carriage return at the end of a line is seen, too."""
    return "\n".join(map(safe_text, text.removesuffix("\n").split("\n")))
