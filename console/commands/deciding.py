"""Answering what waits: approve, reject, done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from team_console.console.commands.agreeing import SeenRequest, agree, ask, at_once, receipts_of, single
from team_console.console.commands.understanding import remarks_to_send, with_remarks
from team_console.console.commands.writing import message
from team_console.console.decisions import Act, Agreed, Outcome, Workspace
from team_console.console.editor import edit_text
from team_console.console.modes.pane import AttachmentCache, Gathered
from team_console.console.selection import DONE, Subject
from team_console.console.words import quoted, written
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.client_requests import (
    ALWAYS,
    ONCE,
    editable_part,
    headline_of,
    modes_of,
    origin_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.remarks import Remark
from team_console.store.protocol.verdicts import Seen, digest_of, seen_title
from team_console.store.service import inbox, requests
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.evidence import Mark
from team_console.store.views.proposals import mode_words, suggestion_words
from team_console.store.views.rows import AgentState, RequestRow
from team_console.widgets.detail import Painted
from team_console.widgets.text import short_ago

if TYPE_CHECKING:
    from team_console.widgets.forms import Answers, Decision, Item, Way


OWN_FORMS = frozenset({RequestKind.PLAN, RequestKind.PERMISSION, RequestKind.QUESTION})
"""Kinds of request that are said yes to with a form of their own."""
_LONGEST = 300


def ask_for_yes(workspace: Workspace, row: RequestRow, shown: SeenRequest) -> None:
    """Open the form in which a request of one of these kinds is answered."""
    if row.kind is RequestKind.QUESTION:
        _answer_questions(workspace, row, shown)
    else:
        _approve(workspace, row, shown)


def _approve(workspace: Workspace, row: RequestRow, shown: SeenRequest) -> None:
    from team_console.widgets.forms import Prompt

    purpose = f"approve:{row.request_id}"
    is_permission = row.kind is RequestKind.PERMISSION
    part = editable_part(row.question, whole=workspace.pane.content_of(row.question))
    ways = _ways_of_permission(row) if is_permission else _ways_of_plan(row)
    asker, remarks = safe_line(row.asker, 64), remarks_to_send(workspace, row)
    form = Prompt[Agreed](
        f"Let {asker} do this?" if is_permission else f"Approve the plan of {asker}",
        "\n".join(filter(None, (_about(row), _standing(workspace, row), with_remarks(remarks)))),
        lambda decision: shown.act(lambda seen: agree(workspace, _agreed(row, seen, ways, decision, remarks))),
        ways=ways,
        says_enough=bool(remarks),
        text=part.text if part is not None else None,
        edit=partial(edit_text, workspace.app, suffix=part.suffix) if part is not None else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, form, about=row)


def _ways_of_permission(row: RequestRow) -> Sequence[Way]:
    """Once, always by each suggestion of the client, and no."""
    from team_console.widgets.fields import OptionLine
    from team_console.widgets.forms import Way

    suggested = permission_of(row.question.payload).suggestions
    always = [Way(OptionLine("always", _offered(suggestion)), "Allow always") for suggestion in suggested]
    no = Way(OptionLine("no", "and the agent reads your words"), "Refuse", refuses=True)
    return Way(OptionLine("once", "this call alone"), "Allow once"), *always, no


def _offered(suggestion: Any) -> str:
    """What would be allowed always, as a safe line; one that is cut says so: its widest rule may be the last."""
    words = suggestion_words(suggestion)
    cut = f" [cut: all {len(words):,} characters stand with the request]" if len(words) > _LONGEST else ""
    return safe_line(words, _LONGEST) + cut


def _ways_of_plan(row: RequestRow) -> Sequence[Way]:
    """Yes in the mode that the session came from, or in one the client offers; a plan without any is said yes to."""
    from team_console.widgets.fields import OptionLine
    from team_console.widgets.forms import Way

    modes = modes_of(row.question.payload)
    ways = [Way(OptionLine(f"go on in {safe_line(mode, 40)}", mode_words(mode)), "Approve") for mode in modes]
    as_it_was = OptionLine("go on as it was", "in the mode from which it began to plan")
    return (Way(as_it_was, "Approve"), *ways) if ways else (Way(OptionLine("approve"), "Approve"),)


def _agreed(
    row: RequestRow, seen: Seen | str, ways: Sequence[Way], decision: Decision, remarks: tuple[Remark, ...]
) -> Agreed:
    way = ways[decision.way]
    return single(
        row.request_id,
        "reject" if way.refuses else "approve",
        " ".join(filter(None, (_words_of(row, way, decision), with_remarks(remarks)))),
        partial(_decide, row, seen, way.refuses, decision, remarks),
        told=partial(_told, row),
        purposes=_drafts_of("approve", row),
    )


def _drafts_of(verb: str, row: RequestRow) -> tuple[str, ...]:
    """The drafts that a verdict on a request makes needless."""
    return f"{verb}:{row.request_id}", f"remarks:{row.request_id}"


def _words_of(row: RequestRow, way: Way, decision: Decision) -> str:
    """The whole decision in a line: what is approved, how, for whom and with which words."""
    asker, edited = safe_line(row.asker, 64), ", as edited" if decision.edited is not None else ""
    note = f": {quoted(decision.words)}" if decision.words else ""
    if way.refuses:
        return f"refuse {asker}'s {row.kind}{note}"
    if row.kind is not RequestKind.PERMISSION:
        mode = f", {way.line.label}" if modes_of(row.question.payload) else ""
        return f"approve {asker}'s {row.kind}{mode}{edited}{note}"
    if decision.way:
        rule = way.line.description.removeprefix("allow ")
        return f"allow ALWAYS {rule} for {asker}{edited}{note}"
    return f"allow once {quoted(row.title)} for {asker}{edited}{note}"


def _standing(workspace: Workspace, row: RequestRow) -> str:
    """What whoever decides should know first: how much was read, what is missing, whether the asker is there."""
    shelf, view = workspace.pane.shelf, workspace.view
    painted, known = shelf.painted.get(digest_of(row.question)), shelf.evidence.get(row.key)
    facts = []
    if painted is not None and painted.text_lines:
        facts.append("read to its end" if painted.is_whole else _read(painted))
    sections = known.evidence.sections if isinstance(known, Gathered) else ()
    missing = sum(piece.mark is Mark.MISSING for section in sections for piece in section.pieces)
    facts += [f"{counted(missing, 'thing')} it names {'is' if missing == 1 else 'are'} missing"] if missing else []
    agent = next((each for each in view.roster if each.name == row.asker), None) if view is not None else None
    if agent is not None and agent.state is AgentState.STOPPED:
        facts.append("the asker has ended")
    elif agent is not None and agent.last_seen is not None and view is not None:
        facts.append(f"asker seen {short_ago(agent.last_seen, workspace.caller.team.clock())}")
    return " · ".join(facts)


def _read(painted: Painted) -> str:
    return f"read {len(painted.text):,} of {painted.text_lines:,} lines"


def _decide(
    row: RequestRow,
    seen: Seen | str,
    refuses: bool,
    decision: Decision,
    remarks: tuple[Remark, ...],
    caller: Caller,
) -> Receipt:
    words = decision.words
    if refuses:
        return requests.reject(caller, request_id=row.request_id, reason=words, seen=seen, remarks=remarks)
    is_permission, modes = row.kind is RequestKind.PERMISSION, modes_of(row.question.payload)
    number = decision.way if is_permission and decision.way else None
    return requests.approve(
        caller,
        request_id=row.request_id,
        note=words or None,
        seen=seen,
        scope=ONCE if number is None else ALWAYS,
        suggestion=number,
        mode=modes[decision.way - 1] if decision.way and not is_permission else None,
        updated=decision.edited,
        remarks=remarks,
    )


def _answer_questions(workspace: Workspace, row: RequestRow, shown: SeenRequest) -> None:
    from team_console.widgets.forms import AnswerForm

    questions = questions_of(row.question.payload)
    if not questions:
        workspace.toast("It holds no question that can be read; r refuses it.", severity="warning")
        return
    purpose = f"answer:{row.request_id}"
    form = AnswerForm[Agreed](
        f"Answer {safe_line(row.asker, 64)}",
        _about(row, with_title=False),
        questions,
        lambda answers: shown.act(lambda seen: agree(workspace, _answered(row, seen, answers, purpose))),
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, form, about=row)


def _answered(row: RequestRow, seen: Seen | str, answers: Answers, purpose: str) -> Agreed:
    def do(caller: Caller) -> Receipt:
        return requests.answer(caller, request_id=row.request_id, answers=answers, seen=seen)

    chosen = "; ".join(", ".join(each) if isinstance(each, list) else each for each in answers.values())
    words = f"answer {safe_line(row.asker, 64)}: {quoted(chosen)}"
    return single(row.request_id, "answer", words, do, told=partial(_told, row), purposes=(purpose,))


def _about(row: RequestRow, *, with_title: bool = True) -> str:
    """What is asked and where, as safe lines."""
    payload = row.question.payload
    origin, title = origin_of(payload), row.title
    if row.kind is RequestKind.PERMISSION:
        title = headline_of(permission_of(payload), origin.directory)
    words = [quoted(title)] if with_title else []
    words += [f"in {safe_line(origin.directory, _LONGEST)}"] if origin.directory else []
    return " ".join(words)


def _told(row: RequestRow, receipt: Receipt) -> str:
    payload = receipt.messages[0].payload if receipt.messages else {}
    asker = safe_line(row.asker, 64)
    if row.kind is RequestKind.QUESTION:
        return written(f"answered the question of {asker}", receipt)
    word = "approved" if payload.get("approve") else "rejected"
    edited = ", as edited" if "updated_input" in payload or "updated_plan" in payload else ""
    always = ", always" if payload.get("scope") == ALWAYS else ""
    return written(f"{word} the {row.kind} of {asker}{always}{edited}", receipt)


# Deciding on many things at once: every marked request, every marked message.

_REASONS = 3
"""Reasons for leaving rows alone that are told; the others are counted."""


def decide_many(workspace: Workspace, subject: Subject, *, approving: bool) -> None:
    """Ask once for the same verdict on every marked request; each gets an answer of its own."""
    from team_console.widgets.forms import Item

    shelf = workspace.pane.shelf
    rows = {row.request_id: row for row in subject.to_decide(approving=approving)}
    looked = {key: digest_of(row.question) in subject.selection.looked_at for key, row in rows.items()}
    items = [
        Item(key, str(row.kind), safe_line(row.asker, 64), safe_line(row.title, 200), looked[key], _unread(shelf, row))
        for key, row in rows.items()
    ]
    seen = {key: _seen_before(shelf, row, subject) for key, row in rows.items()}
    verb = "approve" if approving else "reject"

    def agreed(keys: Sequence[str], words: str) -> Agreed:
        acts = tuple(_verdict_on(rows[key], words, seen[key], approving=approving) for key in keys)
        return Agreed(verb, acts, partial(_told_of_verdicts, "approved" if approving else "rejected"))

    label = "note" if approving else "reason"
    _ask(workspace, subject, verb, items, agreed, label=label, required=not approving)


def read_many(workspace: Workspace, subject: Subject) -> None:
    """Ask once before every marked message to the human is marked as read."""
    from team_console.widgets.forms import Item

    letters = {letter.message_id: letter for letter in subject.to_read}
    items = [
        Item(
            key,
            "message",
            safe_line(letter.sender, 64),
            safe_line(letter.summary, 200),
            digest_of(letter) in subject.selection.looked_at,
        )
        for key, letter in letters.items()
    ]
    _ask(
        workspace,
        subject,
        DONE,
        items,
        lambda keys, _: reading_of(workspace, subject, [letters[key] for key in keys]),
    )


def reading_of(workspace: Workspace, subject: Subject, letters: Sequence[Message]) -> Agreed:
    """The decision to mark messages as read."""
    readers = [(letter, reader) for letter in letters if (reader := subject.reader_of(letter)) is not None]
    acts = tuple(
        Act(letter.message_id, f"done: {safe_line(letter.summary, 60)}", partial(_mark_read, letter, reader))
        for letter, reader in readers
    )
    return Agreed(DONE, acts, _told_of_reading)


def _ask(
    workspace: Workspace,
    subject: Subject,
    verb: str,
    items: Sequence[Item],
    agreed: Callable[[Sequence[str], str], Agreed],
    *,
    label: str = "",
    required: bool = False,
) -> None:
    from team_console.widgets.forms import Many

    form = Many[Agreed](
        items,
        lambda keys, words: agree(workspace, agreed(keys, words)),
        verb=verb.capitalize(),
        label=label,
        required=required,
        notes=_left_alone(subject, len(items), verb),
    )
    ask(workspace, form)


def _left_alone(subject: Subject, meant: int, verb: str) -> tuple[str, ...]:
    """How many marked rows it is not about, and why not: each reason once, with how many it holds for."""
    left = subject.selection.marked - meant
    if left <= 0:
        return ()
    meant_ids = {row.request_id for row in subject.to_decide(approving=verb == "approve")}
    others = [row for row in subject.selection.requests if row.request_id not in meant_ids and verb != DONE]
    reasons = Counter(subject.no_verdict_on(row) or "it wants an answer of its own" for row in others)
    if (rest := left - len(others)) > 0 and verb != DONE:
        reasons["it is not a request"] = rest
    told = reasons.most_common(_REASONS)
    why = [f"{number:,} × {reason}" if number > 1 else reason for reason, number in told]
    if others_left := reasons.total() - sum(number for _, number in told):
        why.append(f"{others_left:,} for other reasons")
    return (": ".join(filter(None, (f"{counted(left, 'marked row')} left alone", " · ".join(why)))),)


def _unread(shelf: AttachmentCache, row: RequestRow) -> str:
    """How much of a request was on the screen, where that is not all; empty where it is."""
    painted = shelf.painted.get(digest_of(row.question))
    return "" if painted is None or painted.is_whole else _read(painted)


def _seen_before(shelf: AttachmentCache, row: RequestRow, subject: Subject) -> Seen:
    """All that was on the screen of a request when it was looked at; its title in the list where it never was."""
    token = digest_of(row.question)
    shown = subject.selection.looked_at.get(token)
    # guard: title-is-no-text
    return shelf.as_painted(token, shown) if shown else seen_title(row.question, safe_line(row.title, 200))


def _verdict_on(row: RequestRow, words: str, seen: Seen, *, approving: bool) -> Act:
    asker = safe_line(row.asker, 64)

    def do(caller: Caller) -> Receipt:
        if not approving:
            return requests.reject(caller, request_id=row.request_id, reason=words, seen=seen)
        return requests.approve(caller, request_id=row.request_id, note=words or None, seen=seen)

    return Act(row.request_id, f"{'approve' if approving else 'reject'} {asker}'s {row.kind}", do)


def _mark_read(letter: Message, reader: str, caller: Caller) -> object:
    return inbox.read_message(caller, agent=reader, message_id=letter.message_id)


def _told_of_verdicts(done: str, outcomes: Sequence[Outcome]) -> str:
    names = dict.fromkeys(message.recipients[0] for item in receipts_of(outcomes) for message in item.messages)
    listed = ", ".join(safe_line(name, 40) for name in list(names)[:8]) + (" …" if len(names) > 8 else "")
    return f"✓ {counted(len(outcomes), 'request')} {done} · written for {listed}"


def _told_of_reading(outcomes: Sequence[Outcome]) -> str:
    if len(outcomes) == 1:
        return f"✓ Read: {outcomes[0].act.words.removeprefix('done: ')}"
    return f"✓ Read {counted(len(outcomes), 'message')}"


def approve(workspace: Workspace, subject: Subject) -> None:
    """Ask for a note and say yes to what was drawn; a question is answered in words."""
    if subject.wants_words and not subject.selection.marked:
        message(workspace, subject)
        return
    _verdict(workspace, subject, approving=True)


def reject(workspace: Workspace, subject: Subject) -> None:
    """Ask for the reason and say no to what was drawn."""
    _verdict(workspace, subject, approving=False)


def done(workspace: Workspace, subject: Subject) -> None:
    """Mark the chosen messages as read: the marked ones, else the one under the cursor."""
    letters = subject.to_read
    if subject.selection.marked > 1:
        read_many(workspace, subject)
        return
    if letters:
        at_once(workspace, reading_of(workspace, subject, letters))


def dismiss(workspace: Workspace, subject: Subject) -> None:
    """Mark everything that is only for information as read."""
    at_once(workspace, reading_of(workspace, subject, subject.to_dismiss))


def undo(workspace: Workspace, subject: Subject) -> None:
    """Take back what was decided last."""
    if not workspace.unwritten.undo():
        workspace.toast("It is being written already.", severity="warning")


def write_now(workspace: Workspace, subject: Subject) -> None:
    """Write what was decided without waiting any longer."""
    workspace.unwritten.write_now()


def _verdict(workspace: Workspace, subject: Subject, *, approving: bool) -> None:
    from team_console.widgets.fields import OptionLine
    from team_console.widgets.forms import Prompt, Second, Way

    if workspace.pane.is_complete:
        workspace.pane.detail.lay_out_rest()  # of how many lines some were painted, is kept with the verdict
    if subject.selection.marked:
        decide_many(workspace, subject, approving=approving)
        return
    row = subject.selection.request
    if row is None:
        return
    if not subject.selection.token or subject.selection.token != digest_of(row.question):
        workspace.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    shown = SeenRequest(workspace, row, subject.selection.seen or subject.selection.token)
    if approving and row.kind in OWN_FORMS:
        ask_for_yes(workspace, row, shown)
        return
    word = "Approve" if approving else "Reject"
    purpose = f"{word.lower()}:{row.request_id}"
    creates, remarks = approving and row.kind is RequestKind.CREATE, remarks_to_send(workspace, row)
    second = Second("agent name", "made from its type when left empty") if creates else None
    prompt = Prompt[Agreed](
        _title(row, word),
        "\n".join(filter(None, (quoted(row.title), _standing(workspace, row), with_remarks(remarks)))),
        lambda made: shown.act(
            lambda seen: agree(workspace, _deciding_agreed(row, seen, approving, made.words, made.second, remarks))
        ),
        ways=(Way(OptionLine(word.lower()), word),),
        label="note" if approving else "reason",
        required=not approving and not remarks,
        says_enough=bool(remarks),
        second=second if approving else Second("suggest", "what would be accepted instead"),
        foresee=partial(_foresee, workspace, row) if approving and row.kind in _FORESEEN else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, prompt, about=row)


def _deciding_agreed(
    row: RequestRow, seen: Seen | str, approving: bool, words: str, second: str, remarks: tuple[Remark, ...]
) -> Agreed:
    verb, asker = "approve" if approving else "reject", safe_line(row.asker, 64)

    def do(caller: Caller) -> Receipt:
        if approving:
            name, note = second or None, words or None
            return requests.approve(
                caller, request_id=row.request_id, note=note, agent_name=name, seen=seen, remarks=remarks
            )
        return requests.reject(
            caller, request_id=row.request_id, reason=words, suggest=second or None, seen=seen, remarks=remarks
        )

    told = f"{'approved' if approving else 'rejected'} the {row.kind} of {asker}"
    return single(
        row.request_id,
        verb,
        " ".join(
            filter(None, (f"{verb} {asker}'s {row.kind}" + f": {quoted(words)}" * bool(words), with_remarks(remarks)))
        ),
        do,
        told=partial(written, told),
        purposes=_drafts_of(verb, row),
    )


_FORESEEN = (RequestKind.CREATE, RequestKind.DESTROY)
"""Requests whose approval does more than send an answer to the asker."""


def _title(row: RequestRow, word: str) -> str:
    """What is decided, as a sentence would say it."""
    asker = safe_line(row.asker, 64)
    subject = safe_line(parse_message(row.question).subject or "", 64)
    if row.kind is RequestKind.CREATE and subject:
        article = "an" if subject[0].lower() in "aeiou" else "a"
        return f"Let {asker} have {article} {subject}" if word == "Approve" else f"No {subject} for {asker}"
    if row.kind is RequestKind.DESTROY and subject:
        return f"End {subject}, as {asker} asks" if word == "Approve" else f"Keep {subject}"
    return f"{word} the {row.kind} of {asker}"


def _foresee(workspace: Workspace, row: RequestRow, agent_name: str) -> str:
    """Who is created or ended, and who will be told; why not, where that is known already."""
    if workspace.view is None:
        return ""
    try:
        name = agent_name if row.kind is RequestKind.CREATE and agent_name else None
        lines = requests.foresee(workspace.view.snapshot, request_id=row.request_id, agent_name=name)
    except TeamError as error:
        return f"✗ {safe_line(error.message, 200)}"
    return "\n".join(safe_line(line, 300) for line in lines)


HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "approve": approve,
    "reject": reject,
    "done": done,
    "dismiss": dismiss,
    "undo": undo,
    "write_now": write_now,
}
