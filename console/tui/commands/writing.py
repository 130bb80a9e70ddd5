"""Writing to agents: a message, a broadcast, a correction, the roster; and the remedies for what was not delivered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.selection import MESSAGE, ActionContext, Mode
from team_console.console.tui.main import MainScreen
from team_console.console.tui.outcomes import in_quotes, names_listed, receipt_words
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite, names_on_record
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import URGENT, Message
from team_console.store.model.names import ALL, USER
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.checks import count_words, summary_warnings
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.titles import said_in
from team_console.store.service import agents, deliveries, inbox, sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.deliveries import Remedy, RemedyForecast
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import View
from team_console.widgets.compose_form import Compose, WrittenMessage
from team_console.widgets.fields import Ask, FieldKind, OptionLine, words_of_a_decision
from team_console.widgets.form_results import AskAgain
from team_console.widgets.line_field import with_name
from team_console.widgets.prompt_form import Choice, Confirm, Prompt
from team_console.widgets.signs import signs_of


def message(screen: MainScreen, context: ActionContext) -> None:
    """Write to the agents chosen, quoting the message under the cursor when it is theirs."""
    quoted, view = _message_answered(context), screen.view
    config = view.snapshot.config if view is not None else TeamConfig()
    purpose = f"message:{quoted.message_id if quoted else ','.join(context.selection.agents)}"
    kept = screen.drafts.of_form(purpose)
    kept["draft"] = kept["draft"] or _first_draft(context, quoted, config.language)
    shown: dict[tuple[str, ...], tuple[str, ...]] = {}  # what was typed -> who the form says is meant by it

    def foresee(names: tuple[str, ...]) -> str:
        try:
            meant = names_meant(screen.view, screen.caller.actor, names)
        except TeamError as error:
            return f"△ {error.message}. {error.hint}"
        words = _preview_words(sending.preview(screen.caller, to=meant))
        shown[names] = meant
        return words

    def send(written: WrittenMessage) -> PendingDecision:
        meant = names_meant(screen.view, context.me, written.to)
        if meant != written.to:
            refuse_unshown(shown.get(written.to, ()), meant)
        pending = _pending_message(context, quoted, replace(written, to=meant), purpose)
        return screen.pending_decisions.prepare(pending)

    form = Compose[PendingDecision](
        f"Reply to {safe_line(quoted.sender, 64)}" if quoted else "Message",
        send,
        names=partial(names_to_write_to, screen, context),
        foresee=foresee,
        words=partial(_summary_words, config.language),
        quote=f"answers {in_quotes(_first_words(quoted))}" if quoted is not None else "",
        **kept,
    )
    about = context.selection.request if context.wants_words and quoted is not None else None
    screen.ask_to_decide(form, about=about)


def _first_words(quoted: Message) -> str:
    """Return what a message says in one line: all of a short one, of a longer one its title."""
    content = quoted.content.strip()
    return content if content and "\n" not in content else said_in(quoted)


def names_to_write_to(screen: MainScreen, context: ActionContext) -> tuple[str, ...]:
    """Return names a message may go to."""
    rows, signs = screen.situation.roster, signs_of(screen.view)
    names = [row.name for row in rows if row.name != context.me and row.is_addressable]
    states = dict.fromkeys(f"@{signs[name].word}" for name in names if name in signs)
    return (*names, *states, ALL)


def names_meant(view: View | None, me: str, to: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are meant: `@backend*` for those whose names fit, `@working` for those in that state.

    A state is the word that Agents shows, or that of `AgentState`.

    Raises:
        TeamError: `INVALID_FIELD` for a group that nobody is in.
    """
    found, signs = list[str](), signs_of(view)
    for name in to:
        if not name.startswith("@"):
            found.append(name)
            continue
        others = [row for row in (view.roster if view else ()) if row.name not in (me, USER) and row.is_addressable]
        word = name[1:]
        fits = [
            row.name
            for row in others
            if fnmatchcase(row.name, word) or word in (signs[row.name].word, row.state.partition(" ")[0])
        ]
        if not fits:
            hint = "A group is @ with a state (@idle, @working) or a part of names (@backend*)."
            raise TeamError(Code.INVALID_FIELD, f"{safe_line(name, 60)}: nobody is in this group", hint)
        found += fits
    return tuple(dict.fromkeys(found))


def _pending_message(
    context: ActionContext, quoted: Message | None, written: WrittenMessage, purpose: str
) -> PendingDecision:
    """Return the decision to send what was written; what it answers shows that an answer is under way."""
    if ALL in written.to:
        raise TeamError(
            Code.INVALID_FIELD, "a message goes to some, not to everyone", "Use broadcast (b) to write to everyone."
        )
    request = context.selection.request if quoted is not None else None
    is_done = request is None or not request.is_open or context.wants_words
    reader = context.reader_of(quoted) if quoted is not None and is_done else None

    def do(caller: Caller) -> Receipt:
        receipt = sending.send(
            caller,
            to=written.to,
            type="message",
            content=written.content,
            summary=written.summary or None,
            priority=URGENT if written.is_urgent else None,
            in_reply_to=quoted.message_id if quoted else None,
        )
        if quoted is not None and reader is not None:
            with suppress(TeamError):  # the answer is written, whatever became of the question meanwhile
                inbox.read_message(caller, agent=reader, message_id=quoted.message_id)
        return receipt

    if request is not None:
        about = request.request_id
    elif quoted is not None:
        about = quoted.message_id
    else:
        about = purpose
    words = f"message to {names_listed(written.to or ('the human',))}"
    write = PendingWrite(about, words, do, recorded=("send", names_on_record(written.to)))
    return PendingDecision(MESSAGE, (write,), "sent", purposes=(purpose,))


def _message_answered(context: ActionContext) -> Message | None:
    """Return the message a reply answers: the one under the cursor, when it alone is meant and another wrote it."""
    item = context.selection.message
    if item is None or context.selection.marked or item.sender == context.me or context.mode is Mode.DELIVERIES:
        return None
    return item


def _first_draft(context: ActionContext, quoted: Message | None, language: str) -> Mapping[str, str]:
    names = (quoted.sender,) if quoted else context.selection.agents
    summary = ""
    if quoted:
        former = safe_line(said_in(quoted), 120)
        head = phrase(language, "{}: {}", phrase(language, "Re"), "")
        summary = former if former.startswith(head) else f"{head}{former}"
    return {"to": ", ".join(safe_line(name, 64) for name in names), "summary": summary}


def _preview_words(seen: sending.Preview) -> str:
    parts = [f"{counted(len(seen.recipients), 'delivery')}: {names_listed(seen.recipients)}"]
    if seen.not_listening:
        parts.append(f"not listening: {names_listed(seen.not_listening)}")
    parts += [safe_line(warning, 120) for warning in seen.warnings]
    return " · ".join(parts)


def _summary_words(language: str, summary: str) -> tuple[int, list[str]]:
    return count_words(summary), summary_warnings(summary, language=language)


def broadcast(screen: MainScreen, context: ActionContext) -> None:
    """Write to everybody; how many that is and who is not listening comes before it is written."""
    look = partial(sending.preview, screen.caller, to=ALL)
    screen.background.run(look, partial(_write_broadcast, screen, look))


def _write_broadcast(screen: MainScreen, look: Callable[[], sending.Preview], seen: sending.Preview) -> None:
    """Open the form of a broadcast; what is written goes on to be confirmed."""

    keep, view = partial(screen.drafts.keep, "broadcast"), screen.view

    def with_summary(written: WrittenMessage) -> WrittenMessage:
        if not written.summary:
            hint = "Say in five to ten words what it is about."
            raise TeamError(Code.MISSING_SUMMARY, "a broadcast needs a summary", hint)
        return written

    form = Compose[WrittenMessage](
        "Broadcast",
        with_summary,
        foresee=lambda _: _preview_words(seen),
        words=partial(_summary_words, view.snapshot.config.language if view else "any"),
        to=f"everybody · {counted(len(seen.recipients), 'delivery')}",
        verb="Go on",
        draft=screen.drafts.get("broadcast"),
        on_draft=lambda draft: keep(draft) if draft else None,
    )
    # Counted again: who is in the team may be others than when the writing began.
    screen.ask(form, partial(_confirm_broadcast, screen, look))


def _confirm_broadcast(screen: MainScreen, look: Callable[[], sending.Preview], written: WrittenMessage) -> None:
    """Say whom a broadcast reaches, and send it once that is confirmed."""

    def tell(seen: sending.Preview) -> tuple[list[str], str]:
        number = len(seen.recipients)
        lines = [
            f"“{safe_line(written.summary, 120)}”",
            f"{counted(number, 'delivery')}: {names_listed(seen.recipients, 16)}.",
        ]
        lines += warnings_on_reach(seen.not_listening, seen.left_out)
        lines.append("Everybody is interrupted. For one agent or a few, a message is better.")
        return lines, f"Send {counted(number, 'message')}"

    def decide(names: tuple[str, ...], _: str) -> PendingDecision:
        do = partial(sending.broadcast, summary=written.summary, content=written.content, to=names)
        said = f"broadcast to {counted(len(names), 'agent')}"
        write = PendingWrite("broadcast", said, do, recorded=("broadcast", ""))
        return PendingDecision("broadcast", (write,), "sent", purposes=("broadcast",))

    confirm_reach(screen, "Broadcast", look, tell, decide)


def confirm_reach(
    screen: MainScreen,
    title: str,
    look: Callable[[], sending.Preview],
    tell: Callable[[sending.Preview], tuple[list[str], str]],
    decide: Callable[[tuple[str, ...], str], PendingDecision],
    **more: Any,
) -> None:
    """Look who is meant, show them and decide on them; where others are meant by then, show those first.

    Args:
        look: Says who is meant now; runs in a thread.
        tell: Makes the safe lines of the form and what its button says.
        decide: Takes those who were shown, and what was typed.
    """

    def ask(seen: sending.Preview) -> None:
        def act(typed: str) -> PendingDecision:
            nonlocal seen
            before, seen = seen, look()
            lines, verb = tell(seen)
            refuse_unshown(before.recipients, seen.recipients, about="\n".join(lines), verb=verb)
            return screen.pending_decisions.prepare(decide(seen.recipients, typed))

        lines, verb = tell(seen)
        screen.ask_to_decide(Confirm[PendingDecision](title, tuple(lines), act, verb=verb, **more))

    screen.background.run(look, ask)


def refuse_unshown(shown: Sequence[str], meant: Sequence[str], *, about: str = "", verb: str = "") -> None:
    """Refuse to act on others than those who were shown, naming who is new and who is not meant any more.

    Raises:
        AskAgain: Others are meant; its form says `about` and `verb` from now on.
    """
    changes = {"new": set(meant).difference(shown), "no longer": set(shown).difference(meant)}
    named = "; ".join(f"{word}: {names_listed(sorted(names))}" for word, names in changes.items() if names)
    # guard: those-shown-are-those-meant
    if named:
        raise AskAgain((), about=about, verb=verb, changed=f"others are meant than were shown ({named})")


def warnings_on_reach(silent: Sequence[str], left_out: Sequence[str] = ()) -> list[str]:
    lines = []
    if silent:
        lines.append(f"△ Not listening: {names_listed(silent)}. What they get waits in their inbox.")
    if left_out:
        lines.append(f"△ Left out, because it is no name that could be written to: {names_listed(left_out)}.")
    return lines


def look_and_say(screen: MainScreen, text: str) -> None:
    """Look at the store again, and say what was done."""
    screen.look()
    screen.toast(text)


def correct_course(screen: MainScreen, context: ActionContext) -> None:
    """Ask the scrum master to plan again (requirement 185)."""
    prompt = Prompt[Receipt](
        "Correct the course",
        "CC_TRIGGER goes to the scrum master, who plans the sprint again.",
        lambda made: sending.trigger_course_correction(screen.caller, user_input=made.words),
        choices=(Choice(OptionLine("trigger"), "Trigger"),),
        words=words_of_a_decision("change", required=True),
        **screen.drafts.of_form("correct_course"),
    )
    screen.ask(
        prompt, lambda receipt: look_and_say(screen, receipt_words("asked for a correction of the course", receipt))
    )


def send_roster(screen: MainScreen, context: ActionContext) -> None:
    """Send the residents the complete roster (requirement 178)."""
    view = screen.view
    residents = [row.name for row in view.roster if row.role == "resident"] if view is not None else []
    form = Confirm[Receipt](
        "Send roster",
        (f"The complete roster goes to {names_listed(residents) or 'nobody: the team has no residents'}.",),
        lambda _: agents.send_roster(screen.caller),
        verb="Send",
    )
    screen.ask(form, lambda receipt: look_and_say(screen, receipt_words("sent the roster", receipt)))


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
