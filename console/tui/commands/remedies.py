"""The failure desk: messages that were not delivered are tried again, redirected, discarded or recalled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct
from team_console.console.selection import ActionContext
from team_console.console.tui.commands.writing import look_and_say, names_to_write_to
from team_console.console.tui.main import MainScreen
from team_console.store.model.safe import counted, safe_line
from team_console.store.service import deliveries
from team_console.store.service.caller import Receipt
from team_console.store.service.deliveries import Remedy, RemedyForecast
from team_console.widgets.fields import Ask, FieldKind, words_of_a_decision
from team_console.widgets.line_field import with_name
from team_console.widgets.prompt_form import Confirm


class _RemedyWords(Struct, frozen=True):
    """What is said and asked of one remedy; `field` is what it wants typed, `wanted` stands there while it is empty."""

    title: str
    effect: str
    told: str
    field: str = ""
    wanted: str = ""


_REMEDY_WORDS = {
    Remedy.RETRY: _RemedyWords("Try again", "starts again with all its tries", "tried again"),
    Remedy.REDIRECT: _RemedyWords(
        "Redirect", "goes to another agent instead", "redirected", "to", "the agent it goes to instead"
    ),
    Remedy.DISCARD: _RemedyWords(
        "Discard",
        "leaves the queue; its record and your reason stay in the archive",
        "discarded",
        "reason",
        "stays with its record in the archive",
    ),
    Remedy.RECALL: _RemedyWords("Recall", "is taken back, unless somebody reads it first", "recalled"),
}


def treat(remedy: Remedy, screen: MainScreen, context: ActionContext) -> None:
    """Look what the remedy would do to the chosen messages, and ask before it does."""
    ids = list(dict.fromkeys(message.message_id for message in context.selection.messages))
    look = partial(deliveries.remedy_forecast, screen.caller, remedy, ids)
    screen.background.run(look, partial(_confirm_remedy, screen, context))


def _confirm_remedy(screen: MainScreen, context: ActionContext, seen: RemedyForecast) -> None:
    """Say what a remedy does to which messages, and do it once that is confirmed."""

    how = _REMEDY_WORDS[seen.remedy]
    fit = [message.message_id for message in seen.possible]
    if not fit:
        screen.toast("\n".join(safe_line(why, 300) for why in seen.refused.values()), severity="warning")
        return
    lines = [f"It {how.effect}." if len(fit) == 1 else f"{counted(len(fit), 'message')}: each {how.effect}."]
    for item in seen.possible[:5]:
        lines.append(f"• {safe_line(item.summary, 60)} → {safe_line(', '.join(item.recipients), 60)}")
        lines.append(f"  {safe_line(item.message_id, 120)}")
    lines += [f"  and {len(fit) - 5} more"] if len(fit) > 5 else []
    lines += [f"△ left alone: {safe_line(why, 160)}" for why in list(seen.refused.values())[:3]]

    def treat_all(words: str) -> Receipt:
        more = {how.field: words} if how.field else {}
        return deliveries.apply_remedy(screen.caller, seen.remedy, fit, **more)

    def told(receipt: Receipt) -> None:
        warned = "".join(f"\n△ {safe_line(warning, 300)}" for warning in receipt.warnings)
        look_and_say(screen, f"✓ {counted(len(receipt.messages), 'message')} {how.told}{warned}")
        screen.lists.step_on(fit)

    form = Confirm[Receipt](
        how.title,
        tuple(lines),
        treat_all,
        verb=f"{how.title} {len(fit)}",
        words=_ask_of_remedy(how, partial(names_to_write_to, screen, context)),
        **screen.drafts.of_form(f"{seen.remedy}:{','.join(fit)}"),
    )
    screen.ask(form, told)


def _ask_of_remedy(how: _RemedyWords, names: Callable[[], tuple[str, ...]]) -> Ask | None:
    """Return what must be typed for a remedy; a recipient is completed by `names`."""
    if not how.field:
        return None
    complete = (lambda typed: with_name(typed, names())) if how.field == "to" else None
    return words_of_a_decision(how.field, FieldKind.LINE, required=True, wanted=how.wanted, complete=complete)
