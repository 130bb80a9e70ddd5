"""Remarks on the lines of a request, and a question back about it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from msgspec.structs import replace
from team_console.console.selection import ActionContext
from team_console.console.tui.commands.seen_request import SeenRequest, pending_write
from team_console.console.tui.main import MainScreen
from team_console.console.tui.pending_decisions import PendingDecision
from team_console.console.tui.toast_words import in_quotes
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.shown_when_decided import digest_of, seen_of
from team_console.store.service.decision import Decision
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.rows import RequestRow
from team_console.widgets.fields import FieldKind, OptionLine, words_of_a_decision
from team_console.widgets.prompt_form import Choice, Prompt, PromptAnswer


def _lines_of_request(screen: MainScreen, row: RequestRow) -> Sequence[str]:
    """Return the lines of a request that a remark can be on."""
    return lines_to_remark(row.question, screen.pane.listing.sources.content_of(row.question))


def remarks_to_send(screen: MainScreen, row: RequestRow) -> tuple[Remark, ...]:
    """Return the remarks that go with what is said to a request."""
    found = []
    for line, text in screen.drafts.remarks(row.request_id, digest_of(row.question)).items():
        with suppress(ValueError):
            found.append(remark_on(_lines_of_request(screen, row), int(line), text))
    return tuple(sorted(found, key=lambda one: one.line))


def with_remarks(remarks: tuple[Remark, ...]) -> str:
    """Return the number of attached remarks and their lines, in words; empty for none."""
    if not remarks:
        return ""
    lines = "line" if len(remarks) == 1 else "lines"
    return f"with {counted(len(remarks), 'remark')} on {lines} {', '.join(str(one.line) for one in remarks)}"


def remark(screen: MainScreen, context: ActionContext) -> None:
    """Point at a line of what is asked; on the line that is pointed at write a remark."""
    row, detail = context.selection.request, screen.pane.detail
    if row is None:
        return
    number = detail.pointed
    if number == 0:
        detail.focus()
        if detail.point():
            screen.toast("j and k choose a line, enter remarks on it, esc ends.")
        else:
            screen.toast("Nothing here has lines that a remark could be on.", severity="warning")
        return
    lines = _lines_of_request(screen, row)
    if not lines[number - 1 : number]:
        return  # the text is another one meanwhile
    digest = digest_of(row.question)
    typed = screen.drafts.remarks(row.request_id, digest)
    keep, take_away = Choice(OptionLine("keep"), "Keep"), Choice(OptionLine("take away"), "Take away")

    def keep_remark(decision: PromptAnswer) -> None:
        typed[str(number)] = decision.words if decision.choice == 0 else ""
        screen.drafts.keep_remarks(row.request_id, digest, typed)
        screen.pane.presenter.show_now()

    prompt = Prompt[PromptAnswer](
        f"Remark on line {number}",
        f"“{safe_line(lines[number - 1].strip(), 300)}”",
        lambda decision: decision,
        choices=(keep, take_away) if typed.get(str(number)) else (keep,),
        words=words_of_a_decision("remark", FieldKind.LINE, required=True, wanted="goes with what you answer"),
        draft={"words": typed.get(str(number), "")},
    )
    screen.ask(prompt, keep_remark)


def ask_back(screen: MainScreen, context: ActionContext) -> None:
    """Ask the asker something about the request under the cursor, which goes on waiting."""
    row = context.selection.request
    if row is None:
        return
    remarks, asker = remarks_to_send(screen, row), safe_line(row.asker, 64)
    purpose = f"askback:{row.request_id}"

    def words_about(known: RequestRow) -> str:
        lines = in_quotes(known.title), "The request goes on waiting for you.", with_remarks(remarks)
        return "\n".join(filter(None, lines))

    seen_request = SeenRequest(screen, row, context.selection.seen or seen_of(row.question), words_about)

    def question_back(words: str, view: Decision) -> PendingDecision:
        decision = replace(view, text=words or None, remarks=remarks, asks_back=True)
        write = pending_write(f"ask {asker} back: {in_quotes(words or with_remarks(remarks))}", decision)
        purposes = (purpose, f"remarks:{row.request_id}")
        return PendingDecision("ask back", (write,), f"asked {asker} back", purposes=purposes)

    prompt = Prompt[PendingDecision](
        f"Ask {asker} back",
        words_about(row),
        lambda made: seen_request.decide(partial(question_back, made.words)),
        choices=(Choice(OptionLine("ask"), "Ask"),),
        words=words_of_a_decision("question", required=not remarks),
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(prompt, about=row)
