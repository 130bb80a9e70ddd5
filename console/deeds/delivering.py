"""The failure desk on the screen: try again, redirect, discard, recall, one or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.deeds.telling import count
from console.deeds.writing import known_names
from console.subject import Subject
from store.desk import failures
from store.desk.failures import Forecast, Remedy
from store.desk.seat import Receipt
from store.message import Message
from store.safe import safe_line

if TYPE_CHECKING:
    from console.screens.main import MainScreen

Act = Callable[[Sequence[str], str], Receipt]

_SAYS = {
    Remedy.RETRY: ("Try again", "is put back as if it had never been tried", "tried again"),
    Remedy.REDIRECT: ("Redirect", "goes to another agent instead", "redirected"),
    Remedy.DISCARD: ("Discard", "leaves the queue; its record and your reason stay in the archive", "discarded"),
    Remedy.RECALL: ("Recall", "is taken back, unless somebody reads it first", "recalled"),
}


def retry(screen: MainScreen, subject: Subject) -> None:
    """Deliver again."""
    _treat(screen, subject, Remedy.RETRY, lambda ids, _: failures.retry(screen.seat, ids=ids))


def redirect(screen: MainScreen, subject: Subject) -> None:
    """Send to somebody else."""
    _treat(screen, subject, Remedy.REDIRECT, lambda ids, to: failures.redirect(screen.seat, ids=ids, to=to), field="to")


def discard(screen: MainScreen, subject: Subject) -> None:
    """Set aside, with a reason."""
    _treat(
        screen,
        subject,
        Remedy.DISCARD,
        lambda ids, why: failures.discard(screen.seat, ids=ids, reason=why),
        field="reason",
    )


def recall(screen: MainScreen, subject: Subject) -> None:
    """Take back."""
    _treat(screen, subject, Remedy.RECALL, lambda ids, _: failures.recall(screen.seat, ids=ids))


def _treat(screen: MainScreen, subject: Subject, remedy: Remedy, act: Act, *, field: str = "") -> None:
    ids = list(dict.fromkeys(one.message_id for one in subject.messages))
    names = partial(known_names, screen, subject) if field == "to" else None
    screen.act(
        partial(failures.forecast, screen.seat, remedy, ids),
        None,
        then=lambda seen: _confirm(screen, seen, act, field, names),
    )


def _confirm(
    screen: MainScreen, seen: Forecast, act: Act, field: str, names: Callable[[], tuple[str, ...]] | None
) -> None:
    from widgets.forms.confirm import Confirm

    title, effect, told = _SAYS[seen.remedy]
    fit = [one.message_id for one in seen.possible]
    if not fit:
        screen.toast("\n".join(safe_line(why, 300) for why in seen.refused.values()), severity="warning")
        return
    lines = [f"{count(len(fit), 'message')}: each {effect}."]
    lines += [_named(one) for one in seen.possible[:5]]
    if len(fit) > 5:
        lines.append(f"  and {len(fit) - 5} more")
    lines += [f"△ left alone: {safe_line(why, 160)}" for why in list(seen.refused.values())[:3]]
    purpose = f"{seen.remedy}:{','.join(fit)}"
    form = Confirm[Receipt](
        title,
        tuple(lines),
        lambda words: act(fit, words),
        verb=f"{title} {len(fit)}",
        field=field,
        required=bool(field),
        names=names,
        draft=screen.drafts.get(purpose),
        on_draft=partial(screen.drafts.keep, purpose),
    )
    screen.ask(form, lambda receipt: f"✓ {count(len(receipt.messages), 'message')} {told}{_warned(receipt)}")


def _named(message: Message) -> str:
    """What the message is, where it goes, and its id."""
    what = f"{safe_line(message.summary, 60)} → {safe_line(', '.join(message.recipients), 60)}"
    return f"• {what}\n  {safe_line(message.message_id, 120)}"


def _warned(receipt: Receipt) -> str:
    return "".join(f"\n△ {safe_line(one, 300)}" for one in receipt.warnings)


DEEDS = {"retry": retry, "redirect": redirect, "discard": discard, "recall": recall}
