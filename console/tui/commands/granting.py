"""Granting: a permission is allowed together with a decision that answers the very same again, until an end."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from msgspec.structs import replace
from team_console.console.tui.commands.seen_request import decision_in_view
from team_console.console.tui.main import MainScreen
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.seen import seen_of_words
from team_console.store.service import grants
from team_console.store.views.alike import decided_before
from team_console.store.views.rows import RequestRow
from team_console.widgets.fields import OptionLine
from team_console.widgets.form_results import DeferredResult
from team_console.widgets.prompt_form import Choice, Prompt, PromptAnswer


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
