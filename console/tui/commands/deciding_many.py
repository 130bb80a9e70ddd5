"""Deciding on many things at once: every marked request and message, and the messages that are only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace
from team_console.console.selection import DONE, ActionContext
from team_console.console.tui.commands.seen_request import decision_in_view, pending_write
from team_console.console.tui.main import MainScreen
from team_console.console.tui.outcomes import request_outcome
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, first_of, safe_line
from team_console.store.protocol.client_requests import permission_of
from team_console.store.protocol.shown_when_decided import digest_of, seen_of
from team_console.store.protocol.tool_input import tool_in_line
from team_console.store.service import inbox
from team_console.store.views.alike import causes_of, spans_that_differ
from team_console.store.views.roster import asker_words
from team_console.store.views.rows import RequestRow
from team_console.widgets.fields import words_of_a_decision
from team_console.widgets.many_form import ManyForm, ManyItem


def done(screen: MainScreen, context: ActionContext) -> None:
    """Mark the chosen messages as read: the marked ones, else the one under the cursor."""
    if context.selection.marked > 1:
        messages = {message.message_id: message for message in context.to_read}
        _ask_about_many(
            screen,
            context,
            DONE,
            [_listed_item(key, "message", item.sender, item.summary) for key, item in messages.items()],
            lambda keys, _: _pending_read(context, [messages[key] for key in keys]),
            unseen=lambda key: _unseen_message(screen, messages[key], screen.frames.held),
        )
    elif context.to_read:
        _mark_read(screen, context, context.to_read)


def dismiss(screen: MainScreen, context: ActionContext) -> None:
    """Mark everything that is only for information as read, as far as it was on the screen."""
    _mark_read(screen, context, context.to_dismiss)


def _mark_read(screen: MainScreen, context: ActionContext, messages: Sequence[Message]) -> None:
    """Mark at once what was on the screen when the key was pressed; what was not stays, and that is said."""
    frames = screen.frames
    frames.note_decision()
    # guard: nothing-read-that-was-never-shown
    seen = [message for message in messages if not _unseen_message(screen, message, frames.pressed)]
    if left := len(messages) - len(seen):
        who = first_of([safe_line(each.sender, 64) for each in messages if each not in seen], _MOST_REASONS)
        screen.toast(f"{counted(left, 'message')} not on the screen yet left unread: {who}", severity="warning")
    if seen:
        screen.decide(_pending_read(context, seen))


def _unseen_message(screen: MainScreen, message: Message, frame: int) -> str:
    """Return why a message is not marked as read: neither its text nor its row was held up to a frame; else empty."""
    painted = screen.cache.painted.get(digest_of(message))
    at = painted.first_frame if painted is not None else None
    is_seen = (at is not None and at <= frame) or screen.pane.shows_row(message.message_id, frame)
    return "" if is_seen else "not shown yet"


def _pending_read(context: ActionContext, messages: Sequence[Message]) -> PendingDecision:
    """Return the decision to mark messages as read."""
    readers = [(message, reader) for message in messages if (reader := context.reader_of(message)) is not None]
    writes = []
    for message, reader in readers:
        do = partial(inbox.read_message, agent=reader, message_id=message.message_id)
        writes.append(PendingWrite(message.message_id, f"done: {safe_line(message.summary, 60)}", do))
    told = f"read: {safe_line(readers[0][0].summary, 60)}" if len(writes) == 1 else "read {n}"
    return PendingDecision(DONE, tuple(writes), told, noun="message")


_MOST_REASONS = 3
"""Reasons for leaving rows alone that are told; the others are counted."""


def decide_many(screen: MainScreen, context: ActionContext, *, approving: bool) -> None:
    """Ask once for the same verdict on every marked request; each gets an answer of its own.

    Only what was shown whole is among them; what is scrolled into sight while the form stands there joins them.
    """
    verb = "approve" if approving else "reject"
    rows = {row.request_id: row for row in context.to_decide(approving=approving)}
    seen = {key: context.selection.looked_at.get(digest_of(row.question)) for key, row in rows.items()}

    def unseen(key: str) -> str:
        screen.keep_painted()
        return screen.cache.unseen(digest_of(rows[key].question))

    def outcome(key: str) -> str:
        return request_outcome(rows[key], screen.view, screen.now)

    def write_for(key: str, words: str) -> PendingWrite:
        row = rows[key]
        view = decision_in_view(screen, key, seen[key] or seen_of(row.question), with_others=True)
        decision = replace(view, approve=approving, text=words or None)
        return pending_write(f"{verb} {safe_line(row.asker, 64)}'s {row.kind}", decision)

    def decide(keys: Sequence[str], words: str) -> PendingDecision:
        done = f"{{n}} {'approved' if approving else 'rejected'}"
        return PendingDecision(verb, tuple(write_for(key, words) for key in keys), done)

    items = _items_of(rows)
    wanted = "if you like; each asker reads it" if approving else "each asker reads it"
    words = words_of_a_decision("note" if approving else "reason", required=not approving, wanted=wanted)
    _ask_about_many(screen, context, verb, items, decide, words=words, unseen=unseen, outcome=outcome)


def _items_of(rows: Mapping[str, RequestRow]) -> list[ManyItem]:
    """Return what the form lists of each request; of alike ones with the word set apart that differs."""
    items = [_listed_item(key, str(row.kind), row.asker, row.title) for key, row in rows.items()]
    if len(set(causes_of(rows.values()).values())) != 1:
        return items
    spans = spans_that_differ([row.question for row in rows.values()])
    behind = [len(tool_in_line(permission_of(row.question.payload).tool)) + len(": ") for row in rows.values()]
    return [
        replace(item, differs=(start + lead, end + lead)) if end else item
        for item, lead, (start, end) in zip(items, behind, spans, strict=True)
    ]


def _listed_item(key: str, kind: str, who: str, what: str) -> ManyItem:
    return ManyItem(key, kind, safe_line(who, 64), safe_line(what, 200))


def _ask_about_many(
    screen: MainScreen,
    context: ActionContext,
    verb: str,
    items: Sequence[ManyItem],
    pending: Callable[[Sequence[str], str], PendingDecision],
    **more: Any,
) -> None:
    """Open the form of one decision about several things, with what is left alone and why, and what befell askers."""
    form = ManyForm[PendingDecision](
        items,
        lambda keys, words: screen.pending_decisions.prepare(pending(keys, words)),
        verb=verb.capitalize(),
        notes=lambda: (*_words_on_left_alone(context, len(items), verb), _words_on_askers(screen, items)),
        **more,
    )
    screen.ask_to_decide(form)


def _words_on_askers(screen: MainScreen, items: Sequence[ManyItem]) -> str:
    """Return what became of those who ask, as far as that is to be known before; empty for nothing."""
    asked = {item.subject for item in items}
    rows = [row for row in screen.situation.requests if row.request_id in asked]
    told = [
        f"{safe_line(row.asker, 64)} {words}"
        for row in rows
        if screen.view is not None and (words := asker_words(screen.view, row))
    ]
    return first_of(list(dict.fromkeys(told)), _MOST_REASONS)


def _words_on_left_alone(context: ActionContext, meant: int, verb: str) -> tuple[str, ...]:
    """Return how many marked rows are left out and why: each reason once, with its number of rows."""
    left = context.selection.marked - meant
    if left <= 0:
        return ()
    meant_ids = {row.request_id for row in context.to_decide(approving=verb == "approve")}
    others = [row for row in context.selection.requests if row.request_id not in meant_ids and verb != DONE]
    reasons = Counter(context.no_verdict_on(row) or "it wants an answer of its own" for row in others)
    if (rest := left - len(others)) > 0 and verb != DONE:
        reasons["it is not a request"] = rest
    most = reasons.most_common(_MOST_REASONS)
    why = [f"{number:,} × {reason}" if number > 1 else reason for reason, number in most]
    if others_left := reasons.total() - sum(number for _, number in most):
        why.append(f"{others_left:,} for other reasons")
    told = f"{counted(left, f'{context.selection.chosen_as} row')} left alone"
    return (": ".join(filter(None, (told, " · ".join(why)))),)
