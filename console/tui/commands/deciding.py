"""Deciding: verdicts on one request and on many, remarks, questions back, grants, and messages that are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec.structs import replace
from team_console.console.selection import DONE, ActionContext
from team_console.console.tui.commands.writing import message
from team_console.console.tui.decisions import PendingDecision, PendingWrite
from team_console.console.tui.evidence import EvidenceRequest, gather
from team_console.console.tui.main import MainScreen
from team_console.console.tui.words import in_quotes
from team_console.store.contract.team import attachment_of
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, first_of, safe_line, safe_text
from team_console.store.protocol.client_requests import (
    ALWAYS,
    ONCE,
    editable_part,
    headline_of,
    joined,
    modes_of,
    origin_of,
    permission_of,
    questions_of,
    tool_in_line,
)
from team_console.store.protocol.grants import scope_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.suggestions import suggestion_words
from team_console.store.protocol.titles import message_title
from team_console.store.protocol.verdicts import Seen, digest_of, seen_of, seen_of_words
from team_console.store.service import grants, inbox, requests
from team_console.store.service.decision import Decision
from team_console.store.views.alike import causes_of, decided_before, spans_that_differ
from team_console.store.views.evidence import Evidence, Mark, shown_text
from team_console.store.views.proposals import line_difference, lines_to_remark, mode_words
from team_console.store.views.rows import AgentState, RequestRow
from team_console.widgets.fields import Ask, FieldKind, OptionLine, whole_text, words_of_a_decision
from team_console.widgets.form import AskAgain, Later
from team_console.widgets.forms import Answered, AnswerForm, Answers, Choice, Notes, Prompt
from team_console.widgets.many import Item, Many
from team_console.widgets.text import short_ago

_LONGEST = 300
_LONGEST_RULE = 120
"""Characters of a rule that stand in the line of its answer."""
UNTIL = Choice(OptionLine("until …", "the very same, by a grant with an end; all of it is shown next"), "Go on")
"""The answer to a permission that makes a grant."""


class GrantOffer(Later, frozen=True):
    """A permission that will be allowed together with a grant, once its end is chosen: its approval, and the trial."""

    approval: PendingDecision
    trial: grants.Trial


def approve(screen: MainScreen, context: ActionContext) -> None:
    """Ask for a note and say yes to what was drawn; a question is answered in words."""
    if context.wants_words and not context.selection.marked:
        message(screen, context)
    else:
        _verdict(screen, context, approving=True)


def reject(screen: MainScreen, context: ActionContext) -> None:
    """Ask for the reason and say no to what was drawn."""
    _verdict(screen, context, approving=False)


def undo(screen: MainScreen, context: ActionContext) -> None:
    """Take back what was decided last."""
    if not screen.pending_decisions.undo():
        screen.toast("It is being written already.", severity="warning")


def _verdict(screen: MainScreen, context: ActionContext, *, approving: bool) -> None:
    if context.selection.marked:
        _decide_many(screen, context, approving=approving)
        return
    row, token = context.selection.request, context.selection.token
    if row is None:
        return
    if not token or token != digest_of(row.question):
        screen.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    seen = context.selection.seen or seen_of(row.question)
    if approving and row.kind is RequestKind.QUESTION:
        _answer_questions(screen, row, SeenRequest(screen, row, seen, partial(_about, with_title=False)))
        return
    verb, remarks = "approve" if approving else "reject", remarks_to_send(screen, row)

    def about(known: RequestRow) -> str:
        return "\n".join(filter(None, (_about(known), _known_before(screen, known), with_remarks(remarks))))

    shown = SeenRequest(screen, row, seen, about)
    ways: Sequence[Choice] = (Choice(OptionLine(verb), verb.capitalize()),)
    part, second = None, None if approving else Ask("second", "suggest", wanted="what would be accepted instead")
    if approving and row.kind in (RequestKind.PERMISSION, RequestKind.PLAN):
        ways = _ways_of_permission(row, context) if row.kind is RequestKind.PERMISSION else _ways_of_plan(row)
        part = editable_part(row.question, whole=screen.pane.listing.sources.content_of(row.question))
    elif approving and row.kind is RequestKind.CREATE:
        second = Ask("second", "agent name", wanted="made from its type when left empty")
    foreseen = approving and row.kind in (RequestKind.CREATE, RequestKind.DESTROY)

    def decided(made: Answered) -> PendingDecision | GrantOffer:
        if ways[made.way] is not UNTIL:
            return shown.decide(lambda view: _agreed(shown.row, ways, made, remarks, approving, view))
        if made.edited is not None:
            text = "what you edited is allowed once; a grant answers what was asked"
            raise TeamError(Code.INVALID_FIELD, text, "Choose once, or take your edit back.")
        once = replace(made, way=0)
        approval = shown.check(lambda view: _agreed(shown.row, ways, once, remarks, approving, view))
        trial = grants.trial_of(screen.caller, _approved_before(screen, shown.row), asked=shown.row.question)
        grants.refuse_contradiction(trial)
        return GrantOffer(approval, trial)

    def then(result: PendingDecision | GrantOffer) -> None:
        if isinstance(result, GrantOffer):
            _offer_grant(screen, result, about=row)
        else:
            screen.decided(result)

    prompt = Prompt[PendingDecision | GrantOffer](
        _title(row, approving),
        about(row),
        decided,
        ways=ways,
        words=words_of_a_decision("note") if approving else words_of_a_decision("reason", required=not remarks),
        says_enough=bool(remarks),
        second=second,
        foresee=partial(_foresee, screen, row) if foreseen else None,
        part=part,
        **screen.drafts.of_form(f"{verb}:{row.request_id}"),
    )
    screen.ask(prompt, then, about=row)


def _ways_of_permission(row: RequestRow, context: ActionContext) -> Sequence[Choice]:
    """Once, always by each suggestion of the client, no, and until an end where a grant can be made of it."""
    always = []
    for rule in map(suggestion_words, permission_of(row.question.payload).suggestions):
        # The end of a long rule may be its widest part.
        line = OptionLine("always", safe_line(rule, _LONGEST_RULE), whole_text(rule, _LONGEST_RULE))
        always.append(Choice(line, "Allow always"))
    no = Choice(OptionLine("no", "and the agent reads your words"), "Refuse", refuses=True)
    until = (UNTIL,) if context.me == context.lead and scope_of(row.question) is not None else ()
    return Choice(OptionLine("once", "this call alone"), "Allow once"), *always, no, *until


def _ways_of_plan(row: RequestRow) -> Sequence[Choice]:
    """Yes in the mode that the session came from, or in one the client offers; a plan without any is said yes to."""
    modes = modes_of(row.question.payload)
    ways = [Choice(OptionLine(f"go on in {safe_line(mode)}", mode_words(mode)), "Approve") for mode in modes]
    as_it_was = OptionLine("go on as it was", "in the mode from which it began to plan")
    return (Choice(as_it_was, "Approve"), *ways) if ways else (Choice(OptionLine("approve"), "Approve"),)


def _agreed(
    row: RequestRow,
    ways: Sequence[Choice],
    made: Answered,
    remarks: tuple[Remark, ...],
    approving: bool,
    view: Decision,
) -> PendingDecision:
    """Return the verdict on one request: its words, and the decision with all that was chosen, in `view` of it."""
    way, asker, modes = ways[made.way], safe_line(row.asker, 64), modes_of(row.question.payload)
    told = f"the {row.kind} of {asker}"
    if not approving or way.refuses:
        verb, told = "reject", f"rejected {told}"
        words = f"{'refuse' if approving else 'reject'} {asker}'s {row.kind}"
        decision = replace(view, approve=False, text=made.words, suggestion=made.second or None, remarks=remarks)
    else:
        verb, told = "approve", f"approved {told}"
        is_permission = row.kind is RequestKind.PERMISSION
        is_always = is_permission and made.way > 0
        if is_always:
            words = f"allow ALWAYS {way.line.description.removeprefix('allow ')} for {asker}"
            told += ", always"
        elif is_permission:
            words = f"allow once {in_quotes(row.title)} for {asker}"
        else:
            words = f"approve {asker}'s {row.kind}"
            if modes:
                words += f", {way.line.label}"
        if made.edited is not None:
            words += ", as edited"
            told += ", as edited"
        decision = replace(
            view,
            approve=True,
            text=made.words or None,
            agent_name=made.second or None,
            scope=ALWAYS if is_always else ONCE,
            number=made.way if is_always else None,
            mode=modes[made.way - 1] if made.way and not is_permission else None,
            updated=made.edited,
            remarks=remarks,
        )
    if made.words:
        words += f": {in_quotes(made.words)}"
    if remarks:
        words += f" {with_remarks(remarks)}"
    return PendingDecision(
        verb,
        (pending_write(words, decision),),
        told,
        purposes=(f"{'approve' if approving else 'reject'}:{row.request_id}", f"remarks:{row.request_id}"),
    )


def pending_write(words: str, decision: Decision) -> PendingWrite:
    """Return the write of a decision, in safe words."""
    recorded = (decision.action, decision.request_id)
    return PendingWrite(decision.request_id, words, partial(requests.decide, verdict=decision), recorded=recorded)


def in_view(screen: MainScreen, request_id: str, seen: Seen, *, with_others: bool = False) -> Decision:
    """Return what is decided with the last key that decided, as far as it is known before what was chosen.

    Raises:
        TeamError: Nothing of the request was on the screen when that key was pressed.
    """
    frame, key = screen.frames.decided
    caller = screen.caller
    return Decision(
        request_id,
        None,
        seen=screen.cache.as_painted(seen, frame),
        by=caller.actor,
        key=key,
        is_signed=caller.team.config().must_be_signed(caller.actor),
        is_with_others=with_others,
    )


def _title(row: RequestRow, approving: bool) -> str:
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


def _about(row: RequestRow, *, with_title: bool = True) -> str:
    """Return the request and its place, as safe lines."""
    payload = row.question.payload
    origin, title = origin_of(payload), row.title
    if row.kind is RequestKind.PERMISSION:
        title = headline_of(permission_of(payload), origin.directory)
    words = in_quotes(title) if with_title else ""
    where = f"in {safe_line(origin.directory, _LONGEST)}" if origin.directory else ""
    return " ".join(filter(None, (words, where)))


def _known_before(screen: MainScreen, row: RequestRow) -> str:
    """Return the facts to know before deciding: how much was read, what is missing, whether the asker is there."""
    painted, known = screen.cache.painted.get(digest_of(row.question)), screen.cache.evidence.get(row.key)
    facts = []
    if painted is not None and painted.text_lines:
        facts.append("shown to its end" if painted.is_whole else screen.cache.unseen(digest_of(row.question)))
    sections = known.evidence.sections if known is not None and known.evidence is not None else ()
    missing = sum(piece.mark is Mark.MISSING for section in sections for piece in section.pieces)
    if missing:
        facts.append(f"{counted(missing, 'thing')} it names {'is' if missing == 1 else 'are'} missing")
    agent = next((each for each in screen.situation.roster if each.name == row.asker), None)
    if agent is not None and agent.state is AgentState.STOPPED:
        facts.append("the asker has ended")
    elif agent is not None and agent.last_seen is not None:
        facts.append(f"asker seen {short_ago(agent.last_seen, screen.caller.team.clock())}")
    return " · ".join(facts)


def _foresee(screen: MainScreen, row: RequestRow, agent_name: str) -> str:
    """Return who will be created or ended and who will be told, or why it cannot be, where that is known already."""
    if screen.view is None:
        return ""
    try:
        name = agent_name if row.kind is RequestKind.CREATE and agent_name else None
        lines = requests.foresee(screen.view.snapshot, request_id=row.request_id, agent_name=name)
    except TeamError as error:
        return f"✗ {safe_line(error.message, 200)}"
    return "\n".join(safe_line(line, 300) for line in lines)


def _answer_questions(screen: MainScreen, row: RequestRow, shown: SeenRequest) -> None:
    questions = questions_of(row.question.payload)
    if not questions:
        screen.toast("It holds no question that can be read; r refuses it.", severity="warning")
        return
    purpose, asker = f"answer:{row.request_id}", safe_line(row.asker, 64)

    def answered(answers: Answers, notes: Notes, view: Decision) -> PendingDecision:
        given = {text: [each] if isinstance(each, str) else each for text, each in answers.items()}
        told = (joined(each) + (f" ({notes[text]})" if text in notes else "") for text, each in given.items())
        chosen = "; ".join(told)
        decision = replace(view, approve=True, answers=answers, notes=notes)
        write = pending_write(f"answer {asker}: {in_quotes(chosen)}", decision)
        return PendingDecision("answer", (write,), f"answered the question of {asker}", purposes=(purpose,))

    form = AnswerForm[PendingDecision](
        f"Answer {asker}",
        _about(row, with_title=False),
        questions,
        lambda answers, notes: shown.decide(partial(answered, answers, notes)),
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(form, about=row)


# Messages to the human that only have to be read.


def done(screen: MainScreen, context: ActionContext) -> None:
    """Mark the chosen messages as read: the marked ones, else the one under the cursor."""
    if context.selection.marked > 1:
        messages = {message.message_id: message for message in context.to_read}
        _ask_about_many(
            screen,
            context,
            DONE,
            [_item(key, "message", item.sender, item.summary) for key, item in messages.items()],
            lambda keys, _: _reading(context, [messages[key] for key in keys]),
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
    # guard: held-key-marks-one-message
    if frames.is_repeat:
        screen.toast("A key that is held down counts once. Press it again.", severity="warning")
        return
    frames.decide()
    # guard: nothing-read-that-was-never-shown
    seen = [message for message in messages if not _unseen_message(screen, message, frames.pressed)]
    if left := len(messages) - len(seen):
        who = first_of([safe_line(each.sender, 64) for each in messages if each not in seen], _REASONS)
        screen.toast(f"{counted(left, 'message')} not on the screen yet left unread: {who}", severity="warning")
    if seen:
        screen.decide(_reading(context, seen))


def _unseen_message(screen: MainScreen, message: Message, frame: int) -> str:
    """Return why a message is not marked as read: neither its text nor its row was held up to a frame; else empty."""
    painted = screen.cache.painted.get(digest_of(message))
    at = painted.shown if painted is not None else None
    is_seen = (at is not None and at <= frame) or screen.pane.shows_row(message.message_id, frame)
    return "" if is_seen else "not shown yet"


def _reading(context: ActionContext, messages: Sequence[Message]) -> PendingDecision:
    """Return the decision to mark messages as read."""
    readers = [(message, reader) for message in messages if (reader := context.reader_of(message)) is not None]
    writes = []
    for letter, reader in readers:
        do = partial(inbox.read_message, agent=reader, message_id=letter.message_id)
        writes.append(PendingWrite(letter.message_id, f"done: {safe_line(letter.summary, 60)}", do))
    told = f"read: {safe_line(readers[0][0].summary, 60)}" if len(writes) == 1 else "read {n}"
    return PendingDecision(DONE, tuple(writes), told, noun="message")


# Deciding on many things at once: every marked request, every marked message.

_REASONS = 3
"""Reasons for leaving rows alone that are told; the others are counted."""


def _decide_many(screen: MainScreen, context: ActionContext, *, approving: bool) -> None:
    """Ask once for the same verdict on every marked request; each gets an answer of its own.

    Only what was shown whole is among them; what is scrolled into sight while the form stands there joins them.
    """
    verb, cache = "approve" if approving else "reject", screen.cache
    rows = {row.request_id: row for row in context.to_decide(approving=approving)}
    seen = {key: context.selection.looked_at.get(digest_of(row.question)) for key, row in rows.items()}

    def unseen(key: str) -> str:
        screen.cache.keep_painted(screen.pane.detail)
        return cache.unseen(digest_of(rows[key].question))

    def decided(key: str, words: str) -> PendingWrite:
        row = rows[key]
        view = in_view(screen, key, seen[key] or seen_of(row.question), with_others=True)
        decision = replace(view, approve=approving, text=words or None)
        return pending_write(f"{verb} {safe_line(row.asker, 64)}'s {row.kind}", decision)

    def pending(keys: Sequence[str], words: str) -> PendingDecision:
        done = f"{{n}} {'approved' if approving else 'rejected'}"
        return PendingDecision(verb, tuple(decided(key, words) for key in keys), done)

    items = _items_of(rows)
    wanted = "if you like; each asker reads it" if approving else "each asker reads it"
    words = words_of_a_decision("note" if approving else "reason", required=not approving, wanted=wanted)
    _ask_about_many(screen, context, verb, items, pending, words=words, unseen=unseen)


def _items_of(rows: Mapping[str, RequestRow]) -> list[Item]:
    """Return what the form lists of each request; of alike ones with the word set apart that differs."""
    items = [_item(key, str(row.kind), row.asker, row.title) for key, row in rows.items()]
    if len(set(causes_of(rows.values()).values())) != 1:
        return items
    spans = spans_that_differ([row.question for row in rows.values()])
    behind = [len(tool_in_line(permission_of(row.question.payload).tool)) + len(": ") for row in rows.values()]
    return [
        replace(item, differs=(start + lead, end + lead)) if end else item
        for item, lead, (start, end) in zip(items, behind, spans, strict=True)
    ]


def _item(key: str, kind: str, who: str, what: str) -> Item:
    return Item(key, kind, safe_line(who, 64), safe_line(what, 200))


def _ask_about_many(
    screen: MainScreen,
    context: ActionContext,
    verb: str,
    items: Sequence[Item],
    pending: Callable[[Sequence[str], str], PendingDecision],
    **more: Any,
) -> None:
    form = Many[PendingDecision](
        items,
        lambda keys, words: screen.pending_decisions.prepare(pending(keys, words)),
        verb=verb.capitalize(),
        notes=_left_alone(context, len(items), verb),
        **more,
    )
    screen.ask_to_decide(form)


def _left_alone(context: ActionContext, meant: int, verb: str) -> tuple[str, ...]:
    """Return how many marked rows are left out and why: each reason once, with its number of rows."""
    left = context.selection.marked - meant
    if left <= 0:
        return ()
    meant_ids = {row.request_id for row in context.to_decide(approving=verb == "approve")}
    others = [row for row in context.selection.requests if row.request_id not in meant_ids and verb != DONE]
    reasons = Counter(context.no_verdict_on(row) or "it wants an answer of its own" for row in others)
    if (rest := left - len(others)) > 0 and verb != DONE:
        reasons["it is not a request"] = rest
    told = reasons.most_common(_REASONS)
    why = [f"{number:,} × {reason}" if number > 1 else reason for reason, number in told]
    if others_left := reasons.total() - sum(number for _, number in told):
        why.append(f"{others_left:,} for other reasons")
    return (": ".join(filter(None, (f"{counted(left, 'marked row')} left alone", " · ".join(why)))),)


# Decide on what was seen: when that changed, the form shows what is new and asks again.


class SeenRequest:
    """A request as it was shown to whoever decides on it; what a form shows anew is seen from then on.

    `decide` runs in a thread; the form is looked at between two of its calls.

    Attributes:
        row: The request as it was shown last.
    """

    def __init__(self, screen: MainScreen, row: RequestRow, seen: Seen, about: Callable[[RequestRow], str]) -> None:
        """Begin with what was `seen`; `about` makes what the form says of a request, as safe text."""
        self._screen, self._seen, self._about = screen, seen, about
        self.row = row
        self._content = screen.pane.listing.sources.content_of(row.question)
        self._request = screen.pane.listing.sources.evidence_request(row)
        known = screen.cache.evidence.get(row.key)
        self._evidence = known.evidence if known is not None and known.seen == seen else None

    def decide(self, make: Callable[[Decision], PendingDecision]) -> PendingDecision:
        """Check the decision that `make` makes in view of what was seen, or write it without an undo delay.

        Raises:
            AskAgain: It changed; nothing was written.
            TeamError: It is refused.
        """
        return self._in_view(make, self._screen.pending_decisions.prepare)

    def check(self, make: Callable[[Decision], PendingDecision]) -> PendingDecision:
        """Check it alone, because more is asked before it is written; raises as `decide` does."""
        return self._in_view(make, self._screen.pending_decisions.check)

    def _in_view(
        self,
        make: Callable[[Decision], PendingDecision],
        prepare: Callable[[PendingDecision], PendingDecision],
    ) -> PendingDecision:
        if self._evidence is not None and self._request is not None:  # without the lock, and before it is taken
            now = gather(self._screen.caller.team, self._request)
            if tuple(now.lines) != tuple(self._evidence.lines):
                raise self._ask_again(self.row.question, self._request, now)
        self._screen.keep_painted()
        try:
            return prepare(make(in_view(self._screen, self.row.request_id, self._seen)))
        except ChangedError as error:
            raise self._changed(error.now) from error

    def _changed(self, question: Message | None) -> AskAgain:
        if question is None:
            return AskAgain((), why="it is gone; nothing was written")
        whole, why = attachment_of(question), ""
        if whole is not None and whole != attachment_of(self.row.question):
            why = "it changed, and its new text is stored beside the queue; nothing was written"
        elif _ways_of(question) != _ways_of(self.row.question):
            why = "it changed, and with it what you can choose; nothing was written"
        if why:
            return AskAgain(self._diff(question, self._evidence), why=why)
        request = self._request
        if request is not None:
            row = replace(self.row, question=question)
            request = replace(request, message=question, row=row, text=question.content)
        is_known = request is not None and self._evidence is not None
        evidence = gather(self._screen.caller.team, request) if request is not None and is_known else None
        return self._ask_again(question, request, evidence)

    def _ask_again(self, question: Message, request: EvidenceRequest | None, evidence: Evidence | None) -> AskAgain:
        """Show what changed since the form opened, and count it as seen; the form takes no key before."""
        diff = self._diff(question, evidence)
        self.row = replace(self.row, question=question, title=message_title(question))
        self._request, self._evidence = request, evidence
        before, lines = (evidence.before, evidence.lines) if evidence is not None else ((), iter(()))
        self._seen = seen_of(question, before=before, evidence=lines)
        return AskAgain(diff, of=digest_of(question), about=self._about(self.row))

    def _diff(self, question: Message, evidence: Evidence | None) -> tuple[str, ...]:
        content = self._content if attachment_of(question) is not None else None
        before = shown_text(self.row.question, self._evidence, self._content)
        return line_difference(before, shown_text(question, evidence, content))


def _ways_of(question: Message) -> object:
    """Return the choices that a form offers for the question, and whom it is about."""
    payload = question.payload
    return modes_of(payload), permission_of(payload).suggestions, questions_of(payload), parse_message(question).subject


# A grant: a decision that answers the very same again, until an end.

_ENDS = (
    ("for 2 hours", timedelta(hours=2), None),
    ("for 10 times, at most a day", timedelta(days=1), 10),
    ("for a day", timedelta(days=1), None),
)


def _approved_before(screen: MainScreen, row: RequestRow) -> list[str]:
    """Return the ids of the same requests of this asker that were approved before."""
    before = decided_before(row, screen.situation.requests)
    return [each.request_id for each in before if each.is_approved and each.asker == row.asker]


def _offer_grant(screen: MainScreen, offer: GrantOffer, *, about: RequestRow) -> None:
    """Show what the grant would answer and ask for its end; the permission is allowed together with it."""
    trial, approval = offer.trial, offer.approval

    def started(decision: Answered) -> PendingDecision:
        label, lasts, uses = _ENDS[decision.way]
        screen.keep_painted()
        view = in_view(screen, about.request_id, seen_of_words(trial.scope.words), with_others=True)
        do = partial(grants.start_grant, trial=trial, lasts=lasts, uses=uses, view=view)
        words = f"GRANT {safe_line(trial.scope.words, _LONGEST)}, {label}"
        adds, recorded = f", and the same {label}", ("grant", about.request_id)
        grant = PendingWrite(about.request_id, words, do, follows=True, adds=adds, recorded=recorded)
        together = replace(approval, writes=(*approval.writes, grant))
        return screen.pending_decisions.prepare(together)

    prompt = Prompt[PendingDecision](
        "Allow it now, and the very same until …",
        f"{trial.words}. Every answer of the grant is on record as the grant's.",
        started,
        whole=(seen_of_words(trial.scope.words).question, safe_text(trial.scope.words)),
        ways=tuple(Choice(OptionLine(label), "Grant") for label, _, _ in _ENDS),
    )
    screen.ask_to_decide(prompt, about=about)


# Remarks on lines, and a question back.


def _lines_asked(screen: MainScreen, row: RequestRow) -> Sequence[str]:
    """Return the lines of a request that a remark can be on."""
    return lines_to_remark(row.question, screen.pane.listing.sources.content_of(row.question))


def remarks_to_send(screen: MainScreen, row: RequestRow) -> tuple[Remark, ...]:
    """Return the remarks that go with what is said to a request."""
    found = []
    for line, text in screen.drafts.remarks(row.request_id, digest_of(row.question)).items():
        with suppress(ValueError):
            found.append(remark_on(_lines_asked(screen, row), int(line), text))
    return tuple(sorted(found, key=lambda one: one.line))


def with_remarks(remarks: tuple[Remark, ...]) -> str:
    """Return the number of attached remarks and their lines, in words; empty for none."""
    if not remarks:
        return ""
    lines = "line" if len(remarks) == 1 else "lines"
    return f"with {counted(len(remarks), 'remark')} on {lines} {', '.join(str(one.line) for one in remarks)}"


_GOES_WITH = "goes with what you answer"


def remark(screen: MainScreen, context: ActionContext) -> None:
    """Point at a line of what is asked; on the line that is pointed at write a remark."""
    row, detail = context.selection.request, screen.pane.detail
    if row is None:
        return
    at = detail.pointed
    if at == 0:
        detail.focus()
        if detail.point():
            screen.toast("j and k choose a line, enter remarks on it, esc ends.")
        else:
            screen.toast("Nothing here has lines that a remark could be on.", severity="warning")
        return
    lines = _lines_asked(screen, row)
    if not lines[at - 1 : at]:
        return  # the text is another one meanwhile
    of = digest_of(row.question)
    typed = screen.drafts.remarks(row.request_id, of)
    keep, away = Choice(OptionLine("keep"), "Keep"), Choice(OptionLine("take away"), "Take away")

    def kept(decision: Answered) -> None:
        typed[str(at)] = decision.words if decision.way == 0 else ""
        screen.drafts.keep_remarks(row.request_id, of, typed)
        screen.pane.presenter.show_now()

    prompt = Prompt[Answered](
        f"Remark on line {at}",
        f"“{safe_line(lines[at - 1].strip(), 300)}”",
        lambda decision: decision,
        ways=(keep, away) if typed.get(str(at)) else (keep,),
        words=words_of_a_decision("remark", FieldKind.LINE, required=True, wanted=_GOES_WITH),
        draft={"words": typed.get(str(at), "")},
    )
    screen.ask(prompt, kept)


def ask_back(screen: MainScreen, context: ActionContext) -> None:
    """Ask the asker something about the request under the cursor, which goes on waiting."""
    row = context.selection.request
    if row is None:
        return
    remarks, asker = remarks_to_send(screen, row), safe_line(row.asker, 64)
    purpose = f"askback:{row.request_id}"

    def about(known: RequestRow) -> str:
        lines = in_quotes(known.title), "The request goes on waiting for you.", with_remarks(remarks)
        return "\n".join(filter(None, lines))

    shown = SeenRequest(screen, row, context.selection.seen or seen_of(row.question), about)

    def asked(words: str, view: Decision) -> PendingDecision:
        decision = replace(view, text=words or None, remarks=remarks, asks_back=True)
        write = pending_write(f"ask {asker} back: {in_quotes(words or with_remarks(remarks))}", decision)
        purposes = (purpose, f"remarks:{row.request_id}")
        return PendingDecision("ask back", (write,), f"asked {asker} back", purposes=purposes)

    prompt = Prompt[PendingDecision](
        f"Ask {asker} back",
        about(row),
        lambda made: shown.decide(partial(asked, made.words)),
        ways=(Choice(OptionLine("ask"), "Ask"),),
        words=words_of_a_decision("question", required=not remarks),
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(prompt, about=row)
