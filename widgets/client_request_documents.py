"""What a client asks for: the call of a permission, questions with their options, and what an answer decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace
from team_console.store.model.message import Fields, Message, without
from team_console.store.model.safe import exact_text, safe_line, safe_text
from team_console.store.protocol.client_requests import (
    Option,
    Question,
    answers_of,
    denial_of,
    join_answers,
    modes_of,
    notes_of,
    origin_of,
    permission_of,
    questions_of,
    rest_of_input,
    rest_of_questions,
)
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.shown_when_decided import digest_of, seen_of
from team_console.store.protocol.titles import message_title
from team_console.store.protocol.tool_input import (
    EditablePart,
    editable_part,
    file_seen_from,
    structure,
    suggestion_words,
)
from team_console.store.views.differences import counts_of, line_difference
from team_console.store.views.proposals import Proposal, ProposalKind, input_text, proposal_of
from team_console.widgets.document import (
    Block,
    Fact,
    Heading,
    Lines,
    RequestPart,
    Text,
    TextForm,
    fact,
    one_line,
)
from team_console.widgets.text import Line, safe_name

_LONGEST = 2000
"""Characters of a fact in its line."""
_SET_IN = 6
"""Cells before what the agent says of one of several permissions."""
_LONGEST_HEADER = 40
"""Characters of the header of a question that its heading has room for."""
_OF_FILES = frozenset({ProposalKind.CHANGE, ProposalKind.NEW_FILE, ProposalKind.CONTENT})
"""Proposals whose subject is the path of a file."""


def source_of(message: Message) -> str:
    """Return the text of it that is worth copying: command, page, change or questions; empty for all other messages."""
    kind = parse_message(message).opens
    if kind is RequestKind.QUESTION:
        return "\n".join(question.text for question in questions_of(message.payload))
    if kind is not RequestKind.PERMISSION:
        return ""
    proposal = _proposal(message)
    return proposal.text or "\n".join(proposal.diff) or proposal.subject or input_text(proposal.rest)


def origin_facts(message: Message) -> Iterator[Fact]:
    """Yield tool, file, folder and client of a request, whether it was denied, and modes, as far as it names them."""
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
    blocks = [*asked_blocks(message), *origin_facts(message)]
    if offered := permission_of(message.payload).suggestions:
        # The form has `once` before these: a digit means the same there and here.
        words = [((safe_line(suggestion_words(item)), ""),) for item in offered]
        blocks += [Heading("may be allowed always"), _numbered(words, first=2)]
    return tuple(blocks)


def _numbered(lines: Sequence[Line], first: int) -> Lines:
    """Return lines with a number before each, from `first` on."""
    return Lines(tuple(((f"{number}. ", "muted"), *line) for number, line in enumerate(lines, first)), indent=3)


def asked_blocks(message: Message) -> tuple[Block, ...]:
    """Return the call of a permission, whole, then the rest of its input, and last the agent's description."""
    words = _proposal(message).words
    said_of_it = (Heading("what the agent says of it"), Text(safe_text(words))) if words else ()
    return (*_call_blocks(message), *said_of_it)


@lru_cache(maxsize=64)
def _call_blocks(message: Message) -> tuple[Block, ...]:
    """Return a heading, the call and its input, remembered: a change of many lines takes long to be made."""
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
        blocks += further_input(proposal.rest)
    elif proposal.kind is ProposalKind.OTHER:
        blocks.append(one_line("none", "muted"))
    return tuple(blocks)


def alike_part(message: Message, differs: tuple[int, int]) -> RequestPart:
    """Return what a page of several alike permissions shows of one: whose it is, and the call, whole.

    Args:
        differs: First character, and the one behind the last, in which its command is another than the others.
    """
    proposal, client = _proposal(message), safe_name(origin_of(message.payload).client)
    whose = Heading(" · ".join(filter(None, (safe_name(message.sender), client, str(proposal.kind)))))
    _, *call = _call_blocks(message)
    blocks = [replace(block, marked=differs) if isinstance(block, Text) and block.is_asked else block for block in call]
    if proposal.words:
        # Each line is set in, so that none of them passes for the head of another part.
        first, *others = safe_text(proposal.words).split("\n")
        lines: list[Line] = [(("says: ", "muted"), (first, ""))]
        lines += [((" " * _SET_IN, "muted"), (line, "")) for line in others]
        blocks.append(Lines(tuple(lines), indent=_SET_IN, is_close=True))
    return RequestPart(digest_of(message), seen_of(message), (whose, *_denied_fact(message), *blocks))


def alike_facts(message: Message) -> Iterator[Fact]:
    """Yield what alike permissions have in common beside their commands: tool, file and folder."""
    yield from (each for each in origin_facts(message) if each.label in ("tool", "file", "in"))


def _denied_fact(message: Message) -> Iterator[Fact]:
    """Yield why the client itself denied the call, if it did."""
    if denied := denial_of(message.payload):
        yield fact("denied", safe_line(denied, _LONGEST), "warn")


@lru_cache(maxsize=64)
def _proposal(message: Message) -> Proposal:
    """Return what a permission proposes, remembered per message: comparing two long texts at each look is felt."""
    return proposal_of(permission_of(message.payload))


def question_blocks(message: Message) -> Iterator[Block]:
    """Yield questions with their options, numbered as in the form that answers them, and all else that they say.

    The text of a single one is left out where the headline of the document says all of it.
    """
    questions = questions_of(message.payload)
    headline = safe_line(message_title(message), 400)
    for place, question in enumerate(questions):
        yield from _heading_of_question(question)
        if len(questions) > 1 or safe_text(question.text) != headline:
            yield Text(safe_text(question.text))
        is_list = not any(option.preview or option.rest for option in question.options)
        for number, option in enumerate(question.options, start=1):
            yield from _option_blocks(option, number, anchor_of(place, number - 1), is_close=is_list and number > 1)
        yield from further_input(question.rest)
    if not questions:
        yield one_line("It holds no question that can be read.", "warn")
    if unread := rest_of_questions(message.payload):
        yield from further_input({"questions": unread})
    yield from further_input(rest_of_input(message.payload))


def _heading_of_question(question: Question) -> Iterator[Block]:
    """Yield its header with how it is answered; below that the whole header where it was cut."""
    header = safe_line(question.header)
    how = " · in words"
    if question.options:
        how = " · one or more" if question.several else ""
    yield Heading(f"{header[:_LONGEST_HEADER] or 'question'}{how}")
    if len(header) > _LONGEST_HEADER:
        yield fact("header", header)


def anchor_of(question: int, option: int) -> str:
    """Return the name of the place on the page of a request where an option of a question stands, both from 0."""
    return f"option {question} {option}"


def _option_blocks(option: Option, number: int, anchor: str, *, is_close: bool) -> Iterator[Block]:
    """Yield an option: what it is called and means, the text to compare, and every further field of it.

    Args:
        anchor: By which the page is scrolled to it.
        is_close: Whether it stands directly below the option before it.
    """
    meaning = f" — {safe_line(option.description)}" if option.description else ""
    line: Line = ((f"{number}. ", "muted"), (safe_line(option.label), "strong"), (meaning, "muted"))
    yield Lines((line,), indent=3, anchor=anchor, is_close=is_close)
    # guard: previews-shown
    if option.preview:
        yield Text(_exact_lines(option.preview), TextForm.CODE, is_close=True)
    if option.rest:
        yield Lines((((f"further input of {number}", "muted"),),), is_close=True)
        yield Text(structure(option.rest), TextForm.STRUCTURED, is_close=True)


def further_input(rest: Fields) -> Iterator[Block]:
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
    """Return whether what was asked and what was approved differ in nothing but the text of one part."""
    key = part.key or ""
    return isinstance(given.get(key), str) and without(asked, (key,)) == without(given, (key,))


def diff_text(lines: Sequence[str]) -> Text:
    """Return a difference as a block."""
    return Text("\n".join(map(exact_text, lines)), TextForm.DIFF)


def _exact_lines(text: str) -> str:
    """Return safe text in which a carriage return at the end of a line is seen, too."""
    # guard: carriage-returns-seen
    return "\n".join(map(exact_text, text.removesuffix("\n").split("\n")))
