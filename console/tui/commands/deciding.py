"""Deciding on one request: the form of a verdict, of answers, a grant or a question back, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec.structs import replace
from team_console.console.selection import ActionContext
from team_console.console.tui.commands.deciding_many import decide_many
from team_console.console.tui.commands.seen_request import SeenRequest, decision_in_view, pending_write
from team_console.console.tui.commands.writing import message
from team_console.console.tui.main import MainScreen
from team_console.console.tui.outcomes import in_quotes
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.protocol.client_requests import (
    ALWAYS,
    join_answers,
    modes_of,
    origin_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.grants import scope_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.shown_when_decided import Seen, digest_of, seen_of, seen_of_words
from team_console.store.protocol.tool_input import editable_part, headline_of, suggestion_words
from team_console.store.service import grants, requests
from team_console.store.service.decision import Decision
from team_console.store.views.alike import decided_before
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.roster import asker_words, mode_words
from team_console.store.views.rows import RequestRow
from team_console.widgets.answer_form import AnswerForm, Answers, Notes
from team_console.widgets.fields import Ask, FieldKind, OptionLine, whole_text, words_of_a_decision
from team_console.widgets.form_results import DeferredResult
from team_console.widgets.prompt_form import Choice, Prompt, PromptAnswer
from team_console.widgets.text import short_ago

_LONGEST_RULE = 120
"""Characters of a rule that stand in the line of its answer."""
UNTIL = Choice(OptionLine("until …", "the very same, by a grant with an end; all of it is shown next"), "Go on")
"""The answer to a permission that makes a grant."""


def approve(screen: MainScreen, context: ActionContext) -> None:
    """Ask for a note and say yes to what was drawn; a question is answered in words."""
    if context.wants_words and not context.selection.marked:
        message(screen, context)
    else:
        _ask_for_verdict(screen, context, approving=True)


def reject(screen: MainScreen, context: ActionContext) -> None:
    """Ask for the reason and say no to what was drawn."""
    _ask_for_verdict(screen, context, approving=False)


def undo(screen: MainScreen, context: ActionContext) -> None:
    """Take back what was decided last."""
    if not screen.pending_decisions.undo():
        screen.toast("It is being written already.", severity="warning")


def _ask_for_verdict(screen: MainScreen, context: ActionContext, *, approving: bool) -> None:
    """Open the form of a verdict on the request under the cursor, or on all that are marked."""
    if context.selection.marked:
        decide_many(screen, context, approving=approving)
        return
    row, token = context.selection.request, context.selection.token
    if row is None:
        return
    if not token or token != digest_of(row.question):
        screen.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    seen = context.selection.seen or seen_of(row.question)
    if approving and row.kind is RequestKind.QUESTION:
        answer_questions(screen, row, SeenRequest(screen, row, seen, partial(request_and_place, with_title=False)))
    elif approving:
        _Approval(screen, row, seen, context).ask()
    else:
        _Verdict(screen, row, seen).ask()


class _Verdict:
    """A verdict on one request, a no: what its form asks, and what becomes of the answer."""

    VERB = "reject"
    APPROVES = False

    def __init__(self, screen: MainScreen, row: RequestRow, seen: Seen) -> None:
        """Begin a verdict on what was `seen` of the request in `row`."""
        self.screen, self.row = screen, row
        self.remarks = remarks_to_send(screen, row)
        self.seen_request = SeenRequest(screen, row, seen, self._words_about)
        self.choices: Sequence[Choice] = (Choice(OptionLine(self.VERB), self.VERB.capitalize()),)

    def _words_about(self, row: RequestRow) -> str:
        """Return what the form says of the request as it is by now, in safe lines."""
        lines = (request_and_place(row), facts_before_deciding(self.screen, row), with_remarks(self.remarks))
        return "\n".join(filter(None, lines))

    def ask(self) -> None:
        """Open the form."""
        prompt = Prompt[PendingDecision | GrantOffer](
            title_of_verdict(self.row, self.APPROVES),
            self._words_about(self.row),
            self.decide,
            choices=self.choices,
            says_enough=bool(self.remarks),
            about_now=lambda: self._words_about(self.seen_request.row),
            **self.fields(),
            **self.screen.drafts.of_form(f"{self.VERB}:{self.row.request_id}"),
        )
        self.screen.ask(prompt, self._go_on, about=self.row)

    def fields(self) -> dict[str, Any]:
        """Return what the form asks for, by the names of its arguments."""
        return {
            "words": words_of_a_decision("reason", required=not self.remarks),
            "second": Ask("second", "suggest", wanted="what would be accepted instead"),
        }

    def decide(self, answer: PromptAnswer) -> PendingDecision | GrantOffer:
        """Check what was answered in the form and make it a decision; runs in a thread.

        Raises:
            TeamError: It is refused, or the request changed; the form says so and stays.
        """
        return self.seen_request.decide(partial(self.pending, self.choices[answer.choice], answer))

    def pending(self, choice: Choice, answer: PromptAnswer, view: Decision) -> PendingDecision:
        """Return the decision that an answer makes, in `view` of the request: in words and as it is written."""
        return _pending_verdict(self.seen_request.row, choice, answer, self.remarks, self.APPROVES, view)

    def _go_on(self, result: PendingDecision | GrantOffer) -> None:
        if isinstance(result, GrantOffer):
            offer_grant(self.screen, result, about=self.row)
        else:
            self.screen.decided(result)


class _Approval(_Verdict):
    """A yes to one request; of a permission it may be a no as well, or the offer of a grant."""

    VERB = "approve"
    APPROVES = True

    def __init__(self, screen: MainScreen, row: RequestRow, seen: Seen, context: ActionContext) -> None:
        super().__init__(screen, row, seen)
        if row.kind is RequestKind.PERMISSION:
            self.choices = _choices_for_permission(row, context)
        elif row.kind is RequestKind.PLAN:
            self.choices = _choices_for_plan(row)

    def fields(self) -> dict[str, Any]:
        """Return what the form asks for: a note, an edited text, a name, and what it says will happen."""
        screen, row = self.screen, self.row
        found: dict[str, Any] = {"words": words_of_a_decision("note")}
        if row.kind in (RequestKind.PERMISSION, RequestKind.PLAN):
            whole = screen.pane.listing.sources.content_of(row.question)
            found["part"] = editable_part(row.question, whole=whole)
        if row.kind is RequestKind.CREATE:
            found["second"] = Ask("second", "agent name", wanted="made from its type when left empty")
        if row.kind in (RequestKind.CREATE, RequestKind.DESTROY):
            found["foresee"] = partial(consequences_of_approval, screen, row)
        return found

    def decide(self, answer: PromptAnswer) -> PendingDecision | GrantOffer:
        """See `_Verdict.decide`; where a grant was chosen the permission is checked alone, and its end asked for."""
        if self.choices[answer.choice] is not UNTIL:
            return super().decide(answer)
        if answer.edited is not None:
            text = "what you edited is allowed once; a grant answers what was asked"
            raise TeamError(Code.INVALID_FIELD, text, "Choose once, or take your edit back.")
        approval = self.seen_request.check(partial(self.pending, self.choices[0], replace(answer, choice=0)))
        return grant_to_offer(self.screen, self.seen_request.row, approval)


def _choices_for_permission(row: RequestRow, context: ActionContext) -> Sequence[Choice]:
    """Return the answers to a permission: once, always by each suggestion, no, and by a grant where one can be made."""
    always = []
    for rule in map(suggestion_words, permission_of(row.question.payload).suggestions):
        # The end of a long rule may be its widest part.
        line = OptionLine("always", safe_line(rule, _LONGEST_RULE), whole_text(rule, _LONGEST_RULE))
        always.append(Choice(line, "Allow always"))
    no = Choice(OptionLine("no", "and the agent reads your words"), "Refuse", refuses=True)
    until = (UNTIL,) if context.me == context.lead and scope_of(row.question) is not None else ()
    return Choice(OptionLine("once", "this call alone"), "Allow once"), *always, no, *until


def _choices_for_plan(row: RequestRow) -> Sequence[Choice]:
    """Return the ways to approve a plan: in the mode that the session came from, or in one that the client offers."""
    modes = modes_of(row.question.payload)
    choices = [Choice(OptionLine(f"go on in {safe_line(mode)}", mode_words(mode)), "Approve") for mode in modes]
    as_it_was = OptionLine("go on as it was", "in the mode from which it began to plan")
    return (Choice(as_it_was, "Approve"), *choices) if choices else (Choice(OptionLine("approve"), "Approve"),)


def _pending_verdict(
    row: RequestRow,
    choice: Choice,
    answer: PromptAnswer,
    remarks: tuple[Remark, ...],
    approving: bool,
    view: Decision,
) -> PendingDecision:
    """Return the verdict on one request, in words and as it is written: what was answered in the form, in `view` of it.

    Args:
        choice: What was chosen; a refusal may be one of the choices of a permission.
    """
    asker = safe_line(row.asker, 64)
    if approving and not choice.refuses:
        verb, told = "approve", f"approved the {row.kind} of {asker}"
        words, decision = _approval(row, choice, answer, view)
        if decision.scope == ALWAYS:
            told += ", always"
        if answer.edited is not None:
            words += ", as edited"
            told += ", as edited"
    else:
        verb, told = "reject", f"rejected the {row.kind} of {asker}"
        words = f"{'refuse' if approving else 'reject'} {asker}'s {row.kind}"
        decision = replace(view, approve=False, text=answer.words, suggestion=answer.second or None)
    if answer.words:
        words += f": {in_quotes(answer.words)}"
    if remarks:
        words += f" {with_remarks(remarks)}"
    return PendingDecision(
        verb,
        (pending_write(words, replace(decision, remarks=remarks)),),
        told,
        purposes=(f"{'approve' if approving else 'reject'}:{row.request_id}", f"remarks:{row.request_id}"),
    )


def _approval(row: RequestRow, choice: Choice, answer: PromptAnswer, view: Decision) -> tuple[str, Decision]:
    """Return a yes in words, and the decision with all that was chosen."""
    asker, modes, number = safe_line(row.asker, 64), modes_of(row.question.payload), answer.choice
    text, agent_name = answer.words or None, answer.second or None
    decision = replace(view, approve=True, text=text, agent_name=agent_name, updated=answer.edited)
    if row.kind is not RequestKind.PERMISSION:
        words = f"approve {asker}'s {row.kind}"
        words += f", {choice.line.label}" if modes else ""
        return words, replace(decision, mode=modes[number - 1] if number else None)
    if number:
        rule = choice.line.description.removeprefix("allow ")
        return f"allow ALWAYS {rule} for {asker}", replace(decision, scope=ALWAYS, number=number)
    return f"allow once {in_quotes(row.title)} for {asker}", decision


def answer_questions(screen: MainScreen, row: RequestRow, seen_request: SeenRequest) -> None:
    """Open the form that answers the questions of a client."""
    questions = questions_of(row.question.payload)
    if not questions:
        screen.toast("It holds no question that can be read; r refuses it.", severity="warning")
        return
    purpose, asker = f"answer:{row.request_id}", safe_line(row.asker, 64)

    def answered(answers: Answers, notes: Notes, view: Decision) -> PendingDecision:
        given = {text: [each] if isinstance(each, str) else each for text, each in answers.items()}
        told = (join_answers(each) + (f" ({notes[text]})" if text in notes else "") for text, each in given.items())
        chosen = "; ".join(told)
        decision = replace(view, approve=True, answers=answers, notes=notes)
        write = pending_write(f"answer {asker}: {in_quotes(chosen)}", decision)
        return PendingDecision("answer", (write,), f"answered the question of {asker}", purposes=(purpose,))

    form = AnswerForm[PendingDecision](
        f"Answer {asker}",
        request_and_place(row, with_title=False),
        questions,
        lambda answers, notes: seen_request.decide(partial(answered, answers, notes)),
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(form, about=row)


_LONGEST_PLACE = 300
"""Characters of a folder that stand in the words of a form."""


def title_of_verdict(row: RequestRow, approving: bool) -> str:
    """Return the decision as a title for its form."""
    asker = safe_line(row.asker, 64)
    subject = safe_line(parse_message(row.question).subject or "", 64)
    if row.kind is RequestKind.PERMISSION and approving:
        return f"Let {asker} do this?"
    if row.kind is RequestKind.CREATE and subject:
        article = "an" if subject[0].lower() in "aeiou" else "a"
        return f"Let {asker} have {article} {subject}" if approving else f"No {subject} for {asker}"
    if row.kind is RequestKind.DESTROY and subject:
        return f"End {subject}, as {asker} asks" if approving else f"Keep {subject}"
    return f"{'Approve' if approving else 'Reject'} the {row.kind} of {asker}"


def request_and_place(row: RequestRow, *, with_title: bool = True) -> str:
    """Return the request and its place, as safe lines."""
    payload = row.question.payload
    origin, title = origin_of(payload), row.title
    if row.kind is RequestKind.PERMISSION:
        title = headline_of(permission_of(payload), origin.directory)
    words = in_quotes(title) if with_title else ""
    where = f"in {safe_line(origin.directory, _LONGEST_PLACE)}" if origin.directory else ""
    return " ".join(filter(None, (words, where)))


def facts_before_deciding(screen: MainScreen, row: RequestRow) -> str:
    """Return the facts to know before deciding: how much was read, what is missing, whether the asker is there."""
    screen.keep_painted()
    token = digest_of(row.question)
    painted, facts = screen.cache.painted.get(token), []
    if painted is not None and painted.text_lines:
        facts.append(screen.cache.unseen(token) or "shown to its end")
    if missing := screen.cache.missing_for(row):
        facts.append(f"{counted(missing, 'thing')} it names {'is' if missing == 1 else 'are'} missing")
    agent = next((each for each in screen.situation.roster if each.name == row.asker), None)
    if screen.view is not None and (words := asker_words(screen.view, row)):
        facts.append(f"the asker {words}")
    elif agent is not None and agent.last_seen is not None:
        facts.append(f"asker seen {short_ago(agent.last_seen, screen.caller.team.clock())}")
    return " · ".join(facts)


def consequences_of_approval(screen: MainScreen, row: RequestRow, agent_name: str) -> str:
    """Return who will be created or ended and who will be told, or why it cannot be, where that is known already."""
    if screen.view is None:
        return ""
    try:
        name = agent_name if row.kind is RequestKind.CREATE and agent_name else None
        lines = requests.approval_forecast(screen.view.snapshot, request_id=row.request_id, agent_name=name)
    except TeamError as error:
        return f"✗ {safe_line(error.message, 200)}"
    return "\n".join(safe_line(line, 300) for line in lines)


class GrantOffer(DeferredResult, frozen=True):
    """A permission that will be allowed together with a grant, once its end is chosen: its approval, and the trial."""

    approval: PendingDecision
    trial: grants.GrantTrial


_LONGEST_SCOPE = 300
"""Characters of what a grant answers that stand in its words."""
_ENDS = (
    ("for 2 hours", timedelta(hours=2), None),
    ("for 10 times, at most a day", timedelta(days=1), 10),
    ("for a day", timedelta(days=1), None),
)
"""How a grant may end: in words, after how long, and after how many uses; None for as many as come."""


def grant_to_offer(screen: MainScreen, row: RequestRow, approval: PendingDecision) -> GrantOffer:
    """Return the offer of a grant beside an approval that was checked; runs in a thread.

    Raises:
        TeamError: There can be no such grant.
    """
    before = decided_before(row, screen.situation.requests)
    approved = [each.request_id for each in before if each.is_approved and each.asker == row.asker]
    trial = grants.trial_of(screen.caller, approved, asked=row.question)
    grants.refuse_contradiction(trial)
    return GrantOffer(approval, trial)


def offer_grant(screen: MainScreen, offer: GrantOffer, *, about: RequestRow) -> None:
    """Show what the grant would answer and ask for its end; the permission is allowed together with it."""
    trial, approval = offer.trial, offer.approval

    def decide_with_grant(answer: PromptAnswer) -> PendingDecision:
        label, lasts, uses = _ENDS[answer.choice]
        screen.keep_painted()
        view = decision_in_view(screen, about.request_id, seen_of_words(trial.scope.words), with_others=True)
        do = partial(grants.start_grant, trial=trial, lasts=lasts, uses=uses, view=view)
        words = f"GRANT {safe_line(trial.scope.words, _LONGEST_SCOPE)}, {label}"
        adds, recorded = f", and the same {label}", ("grant", about.request_id)
        grant = PendingWrite(about.request_id, words, do, follows=True, adds=adds, recorded=recorded)
        together = replace(approval, writes=(*approval.writes, grant))
        return screen.pending_decisions.prepare(together)

    prompt = Prompt[PendingDecision](
        "Allow it now, and the very same until …",
        f"{trial.words}. Every answer of the grant is on record as the grant's.",
        decide_with_grant,
        whole=(seen_of_words(trial.scope.words).question, safe_text(trial.scope.words)),
        choices=tuple(Choice(OptionLine(label), "Grant") for label, _, _ in _ENDS),
    )
    screen.ask_to_decide(prompt, about=about)


# Remarks on the lines of a request, and a question back about it.


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
