"""What verbs print for people: tables, messages, outcomes, changes, findings."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from team_console.console.cli.call import Call
from team_console.console.cli.output import columns, is_terminal
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team, attached_content
from team_console.store.model.clock import in_units, is_real_time
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import TRUST, Message
from team_console.store.model.safe import counted, fenced, safe_line, safe_text
from team_console.store.protocol.client_requests import WHY, answers_of, join_answers, notes_of
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.remarks import remarks_in
from team_console.store.protocol.shown_when_decided import EVIDENCE, REQUEST_DIGEST, SHOWN_BY
from team_console.store.protocol.shown_when_decided import SHOWN as SHOWN_DIGEST
from team_console.store.protocol.titles import said_in, trimmed_text_in
from team_console.store.protocol.tool_input import structure, suggestion_words
from team_console.store.protocol.trust import TrustMark, trust_words
from team_console.store.protocol.verdicts import SIGNATURE

# Views are imported where one is made: 10 ms, which a receive has no use for.
if TYPE_CHECKING:
    from team_console.store.service.caller import Receipt
    from team_console.store.service.inbox import Received
    from team_console.store.views.rows import RequestRow, View


_GAP = "  "
_WIDEST = 64
"""Cells up to which a column is as wide as its widest cell: those of the longest name."""


Cells = Mapping[str, str]
"""A row of a table: heading -> cell, the same headings in each row of one table."""


def print_table(call: Call, rows: Sequence[Cells]) -> None:
    """Print at least one row under the headings. Cells are stored text; they are made safe here.

    The last column takes the cut.

    A cell wider than any name is whole, and out of line in its own row alone: it must not push the ids of all the
    others out of the screen.
    """
    heads, cells = list(rows[0]), [[safe_line(cell) for cell in row.values()] for row in rows]
    lines = [heads, *cells]
    widths = [max(wide for line in lines if (wide := cell_width(line[at])) <= _WIDEST) for at in range(len(heads))]
    limit = columns() if is_terminal(sys.stdout) else None
    call.say(_table_line(heads, widths, limit), style="bold")
    for row in cells:
        call.say(_table_line(row, widths, limit))


def view_now(call: Call) -> View:
    """Return everything views know about the team now, for the actor.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    snapshot = call.snapshot()
    from team_console.store.views.status import view_of_team

    return view_of_team(call.team, snapshot, me=call.viewer(snapshot))


def doubts(call: Call, snapshot: Snapshot, problems: Sequence[Problem] = ()) -> list[str]:
    """Say why what is listed may not be all: lost, damaged, or of a team whose settings are gone (D16).

    Args:
        problems: What else kept the list from being whole.
    """
    from team_console.store.views.status import assess

    reasons = assess(snapshot, call.team.clock()).doubts
    sentences = [problem.sentence for problem in problems] + [reason.sentence for reason in reasons]
    # guard: dropped-mail-not-empty
    if snapshot.dropped:
        sentences.append(waiting_in_drop(snapshot))
    return list(dict.fromkeys(sentences))


def waiting_in_drop(snapshot: Snapshot) -> str:
    """Return how many messages wait in `drop/`, which no list has."""
    number = len(snapshot.dropped)
    waits = f"{counted(number, 'message')} {'waits' if number == 1 else 'wait'}"
    return f"{waits} to be taken in from drop/, with the next write"


def print_list(call: Call, listed: Mapping[str, Any], snapshot: Snapshot, problems: Sequence[Problem] = ()) -> None:
    """Print a list as JSON, with `doubt`: why it may not be all, or null."""
    call.json({**listed, "doubt": " ".join(doubts(call, snapshot, problems)) or None})


def print_rows(call: Call, listed: Mapping[str, Any], snapshot: Snapshot, rows: Sequence[Cells], nothing: str) -> None:
    """Print a list as JSON, as a table, or as the words for none; then why it may not be all."""
    if call.as_json:
        print_list(call, listed, snapshot)
    elif rows:
        print_table(call, rows)
    else:
        call.say(nothing)
    call.warn(doubts(call, snapshot))
    call.warn_of_stranger(snapshot)


def print_csv(call: Call, fields: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Print rows as comma-separated values below their fields; stored text is made safe here."""
    from team_console.store.views.history import csv_text

    safe = ({name: safe_text(value) for name, value in row.items()} for row in rows)
    call.write(csv_text(fields, safe).rstrip("\n"))


def _table_line(cells: Sequence[str], widths: Sequence[int], limit: int | None) -> str:
    padded = [cell + " " * (wide - cell_width(cell)) for cell, wide in zip(cells, widths, strict=True)]
    text = _GAP.join(padded).rstrip()
    return text if limit is None else cut_to_cells(text, limit)


def cell_width(text: str) -> int:
    """Return the terminal cells that `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # with its tables 5 ms, for tables with other scripts alone

    return cell_len(text)


def cut_to_cells(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, ending with `…` when something was left out."""
    if cell_width(text) <= cells:
        return text
    from rich.cells import set_cell_size  # with its tables 5 ms, for what does not fit alone

    return set_cell_size(text, cells - 1).rstrip() + "…"


def age_words(seconds: float | None) -> str:
    """`12 s`, `4 min`, `30 h`, `2 d`; `-` for None."""
    if seconds is None:
        return "-"
    number, unit = in_units(seconds)
    return f"{number} {unit}"


def age_since(moment: datetime | None, now: datetime) -> str:
    """Return the age of `moment` at `now`; `-` for None."""
    return age_words(max(0.0, (now - moment).total_seconds()) if is_real_time(moment) else None)


# A message as lines of safe text: what `receive` prints of its payload, never raw JSON.

_INDENT = "  "
_FRAME_LIKE = re.compile(r"\W|_|(?:ID|Received|TRUST|Messages for)\b", re.IGNORECASE)
"""Begins a line that could be taken for one around a message."""
_KEYS_WITH_LINES = frozenset({"content", "summary", "request_id", "requestId", "attachment"})
"""Payload keys that have lines of their own."""
_DECISION_AIDS = frozenset({WHY, "before", "before_at", "before_private"})
"""What a request carries for whoever decides on it; `show` prints it."""
MACHINE_FIELDS = frozenset({REQUEST_DIGEST, SHOWN_DIGEST, EVIDENCE, SHOWN_BY, SIGNATURE})
"""What a verdict keeps for whoever checks it later; it is no part of what the agent is told."""


def whole_content(team: Team, message: Message) -> str | None:
    """Return the content that was stored beside the queue because of its size; None when there is none to be had."""
    try:
        return attached_content(team, message)
    except TeamError:
        return None


def summary_line(message: Message) -> str:
    """`said_in` as a safe line that nobody can take for one of the frame around a message."""
    line = safe_line(said_in(message))
    return _INDENT + line if _FRAME_LIKE.match(line) else line


def payload_lines(message: Message, content: str | None) -> list[str]:
    """Return the rest of the payload below `summary_line`: content, the id an answer must quote, and every other
    field.

    Indented, so that no content can pretend to be a further message. `content` replaces a content of which the
    message itself holds only the beginning.
    """
    return [
        line for text in _rest_of_payload(message, parse_message(message), content) for line in fenced(text, _INDENT)
    ]


def _rest_of_payload(message: Message, read: ParsedMessage, content: str | None) -> Iterator[str]:
    carried = bool(read.carried)  # a sprint message whose content is JSON that could be read
    if not carried:
        yield from _content_lines(message, message.content if content is None else content)
    if message.request_id is not None:
        yield f"request_id: {safe_line(message.request_id)}"
    is_verdict = not message.payload.keys().isdisjoint((REQUEST_DIGEST, SHOWN_BY))
    apart = _KEYS_WITH_LINES
    if is_verdict:
        apart |= MACHINE_FIELDS
    elif read.opens is not None:
        apart |= _DECISION_AIDS
    fields = {key: value for key, value in message.payload.items() if key not in apart}
    if carried:
        fields = {key: value for key, value in fields.items() if key not in read.body or read.body[key] != value}
        # guard: carried-fields-shown
        yield from _carried_lines(read)
        if fields.keys() & read.body.keys():
            fields = {"further fields": fields}  # what decides is in the JSON, and must not be taken for its namesake
    if fields:
        yield from structure(fields).split("\n")
    yield from _attachment_lines(message, content)


def _carried_lines(read: ParsedMessage) -> Iterator[str]:
    yield f"kind: {safe_line(read.name)}"
    body = {key: value for key, value in read.body.items() if key != "msg_type"}
    yield from structure(body).split("\n") if body else ()


def _content_lines(message: Message, content: str) -> list[str]:
    """Return the content, without what stands in the line above it already: all of it, or as its title its whole
    first line.

    A title may be cut, or made of another field; then nothing of the content stands there.
    """
    text = safe_text(content).strip("\n").rstrip()
    above = safe_text(said_in(message))
    if text.strip() == above:
        return []
    first, _, rest = text.lstrip().partition("\n")
    # guard: first-line-shown
    if not trimmed_text_in(message.payload, "summary") and first.rstrip() == above:
        text = rest
    return text.split("\n") if text else []


def _attachment_lines(message: Message, content: str | None) -> Iterator[str]:
    place = message.payload.get("attachment")
    if not isinstance(place, Mapping):
        return
    path, size = safe_line(place.get("path", "")), safe_line(place.get("bytes", "?"), 20)
    if content is None:
        yield f"only the beginning is shown: the whole ({size} bytes) should be in {path} and cannot be read"
    else:
        yield f"attachment: {path} ({size} bytes)"


# What `receive` prints: the display block of seed 000.


def received_text(received: Received, team: Team) -> str:
    """Return each message with the rest of its payload, also when the message itself holds only its beginning; the
    sentence alone when there is none.
    """
    blocks = [_message_block(message, whole_content(team, message)) for message in received.messages]
    return "\n".join([safe_line(received.status_message), *blocks])


def _message_block(message: Message, content: str | None) -> str:
    lines = [
        f"[{message.priority}] {message.type} from {message.sender}",
        f"ID: {message.message_id}",
        f"Received: {message.created}",
        summary_line(message),
    ]
    if (mark := message.record.get(TRUST)) is not None:  # below the four lines of the source and before its content
        lines.append(f"TRUST: {trust_words(TrustMark(mark))}")
    return "\n".join(["---", *map(safe_line, lines), *payload_lines(message, content), "---"])


# The outcome of a request as lines for people and scripts: what was decided, in whose words, and what was edited.


def outcome_lines(outcome: RequestRow) -> Iterator[str]:
    """Yield lines. An answered question gives its answer alone, one line for each choice, for scripts; words beside it
    follow.
    """
    payload = outcome.verdict.payload if outcome.verdict is not None else {}
    answers = answers_of(payload)
    if outcome.state == "answered" and answers:
        notes = notes_of(payload)
        if len(answers) == 1:
            yield from next(iter(answers.values()))
            yield from (f"note: {words}" for words in notes.values())
        else:
            yield from (f"{text} {join_answers(words)}" for text, words in answers.items())
            yield from (f"note on {text} {words}" for text, words in notes.items())
        return
    head = str(outcome.state)
    if outcome.state == "approved" and payload.get("mode"):
        head += f", in mode {payload['mode']}"
    if outcome.reason:
        head += f": {outcome.reason}"
    if remarks_in(payload):  # each on a line of its own, for a model to follow
        yield from fenced(head, "")
    else:
        yield head
    if outcome.state == "approved" and outcome.verdict is not None:
        yield from approval_lines(outcome.verdict)


def approval_lines(answer: Message) -> Iterator[str]:
    """Yield what an approval says beyond yes: the rule that is allowed always, and the edits made before."""
    payload = answer.payload
    if payload.get("scope") == "always":
        yield f"always: {suggestion_words(payload.get('suggestion'))}"
    plan, given = payload.get("updated_plan"), payload.get("updated_input")
    if isinstance(plan, str):
        yield "edited before it was approved; the plan that counts:"
        yield from plan.rstrip("\n").split("\n")
    elif isinstance(given, Mapping):
        yield "edited before it was approved; what is allowed:"
        yield from json.dumps(dict(given), indent=2, ensure_ascii=False).split("\n")


# Says in one line what an answer decided, on whose request.

_THINGS = {
    "plan_approval_response": "the plan of",
    "shutdown_response": "the shutdown asked by",
    "permission_response": "what was asked by",
    "question_response": "the question of",
}


def decision_lines(word: str, receipt: Receipt) -> list[str]:
    """`approved the plan of task-manager (plan_approval-...)`, then the records written."""
    if not receipt.messages:
        return [f"{word} {receipt.request_id}"]
    answer = receipt.messages[0]
    # A message of this type from an approval goes to the agent that is to end, not to whoever asked for its end.
    thing = "the end of" if answer.type == "shutdown_request" else _THINGS.get(answer.type, "the request of")
    head = f"{word} {thing} {', '.join(answer.recipients)} ({receipt.request_id})"
    return [
        head,
        *receipt.notes,
        *approval_lines(answer),
        *(f"written: {message.message_id} -> {message.recipients[0]}" for message in receipt.messages),
    ]
