"""Deciding on many things at once: every marked request, every marked message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from team_console.console.app.unwritten import Act, Agreed, Outcome
from team_console.console.app.workspace import Workspace
from team_console.console.display.wording import error_text
from team_console.console.handlers.agreeing import receipts_of
from team_console.console.input.subject import DONE, Subject
from team_console.console.panes.attachments import AttachmentCache
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.client_requests import modes_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.seen import Seen, digest_of, seen_title
from team_console.store.service import inbox, requests
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.rows import RequestRow

if TYPE_CHECKING:
    from team_console.widgets.forms.many import Item, State


_REASONS = 3
"""Reasons for leaving rows alone that are told; the others are counted."""


def decide_many(workspace: Workspace, subject: Subject, *, approving: bool) -> None:
    """Ask once for the same verdict on every marked request; each gets an answer of its own."""
    from team_console.widgets.forms.many import Item

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
    from team_console.widgets.forms.many import Item

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
        Act(letter.message_id, f"done: {safe_line(letter.summary, 60)}", partial(_read, letter, reader))
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
    from team_console.widgets.forms.many import Many

    def act(keys: Sequence[str], words: str) -> Agreed:
        return workspace.unwritten.prepare(replace(agreed(keys, words), then=lambda every: show(every)))

    def take(result: Agreed) -> None:
        show(result.refused)
        workspace.step_on(result.subjects)
        workspace.unwritten.take(result)

    form = Many(
        items,
        act,
        verb=verb.capitalize(),
        label=label,
        required=required,
        notes=_left_alone(subject, len(items), verb),
        on_result=take,
        take_back=workspace.unwritten.undo,
        write_now=workspace.unwritten.write_now,
    )

    def show(outcomes: Sequence[Outcome]) -> None:
        form.show_states(_states(outcomes))

    workspace.ask(form, None)


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
    return "" if painted is None or painted.is_whole else f"read {len(painted.text):,} of {painted.text_lines:,} lines"


def _seen_before(shelf: AttachmentCache, row: RequestRow, subject: Subject) -> Seen:
    """All that was on the screen of a request when it was looked at; its title in the list where it never was."""
    token = digest_of(row.question)
    shown = subject.selection.looked_at.get(token)
    return shelf.as_painted(token, shown) if shown else seen_title(row.question, safe_line(row.title, 200))


def _verdict_on(row: RequestRow, words: str, seen: Seen, *, approving: bool) -> Act:
    asker = safe_line(row.asker, 64)

    def do(caller: Caller) -> Receipt:
        if not approving:
            return requests.reject(caller, request_id=row.request_id, reason=words, seen=seen)
        modes = modes_of(row.question.payload) if row.kind is RequestKind.PLAN else ()
        mode = modes[0] if modes else None
        return requests.approve(caller, request_id=row.request_id, note=words or None, seen=seen, mode=mode)

    return Act(row.request_id, f"{'approve' if approving else 'reject'} the {row.kind} of {asker}", do)


def _read(letter: Message, reader: str, caller: Caller) -> object:
    return inbox.read_message(caller, agent=reader, message_id=letter.message_id, seen=letter)


def _states(outcomes: Sequence[Outcome]) -> Mapping[str, State]:
    from team_console.widgets.forms.many import State

    return {
        outcome.act.subject: State("✓ written", "good")
        if outcome.error is None
        else State(f"✗ not written · {error_text(outcome.error).removeprefix('✗ ').partition(chr(10))[0]}", "bad")
        for outcome in outcomes
    }


def _told_of_verdicts(done: str, outcomes: Sequence[Outcome]) -> str:
    names = dict.fromkeys(message.recipients[0] for item in receipts_of(outcomes) for message in item.messages)
    listed = ", ".join(safe_line(name, 40) for name in list(names)[:8]) + (" …" if len(names) > 8 else "")
    return f"✓ {counted(len(outcomes), 'request')} {done} · written for {listed}"


def _told_of_reading(outcomes: Sequence[Outcome]) -> str:
    if len(outcomes) == 1:
        return f"✓ Read: {outcomes[0].act.words.removeprefix('done: ')}"
    return f"✓ Read {counted(len(outcomes), 'message')}"
