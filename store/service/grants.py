"""Grants: made of what a human decided, tried on the ledger first, and used under the lock when the same is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, by_id, without_none
from team_console.store.model.recorded_facts import RECALL_GRANT
from team_console.store.protocol.client_answer import sent_back
from team_console.store.protocol.grants import (
    ANSWER,
    GRANT,
    GRANTED,
    MOST_USES,
    GrantScope,
    answer_by,
    scope_in,
    scope_of,
)
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.request_row import RequestRow, RequestState
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.protocol.trust import shown_by_grant
from team_console.store.service.answerable import close_question, find_question, requests_in
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.compaction import tidy
from team_console.store.service.decision import Decision, refuse_unbound
from team_console.store.service.running_grants import all_grants, grants_for, in_force, write_recall, write_to_self
from team_console.store.service.signing import MadeVerdict, put_signed, signed_record
from team_console.store.service.writing import Draft, write_drafts


class GrantTrial(Struct, frozen=True):
    """A grant that is proposed, tried on the human's own ledger.

    Attributes:
        of: Ids of the approved requests that it is made of.
        question: One of those requests.
        would_answer: How many decisions it would have answered.
        rejected: Ids of the requests in its scope that were rejected.
    """

    scope: GrantScope
    of: tuple[str, ...]
    question: Message
    would_answer: int
    rejected: tuple[str, ...]

    @property
    def words(self) -> str:
        """The result of the trial, in words."""
        return f"would have answered {self.would_answer}, differed from you in {len(self.rejected)}"


def trial_of(caller: Caller, request_ids: Sequence[str], *, asked: Message | None = None) -> GrantTrial:
    """Return the grant that these approved requests make, tried on all that the actor decided.

    Args:
        asked: An open request, for a grant that is made together with its approval, as it was asked.

    Raises:
        TeamError: `INVALID_FIELD` for what no grant can be made of, `INVALID_REQUEST_ID`.
    """
    snapshot = caller.team.snapshot()
    archived = caller.team.archived("permission_request", "permission_response")
    messages = by_id((*archived, *snapshot.messages)).values()
    cases = requests_in(snapshot, messages).values()
    own = _decided_by_hand(cases, caller.actor)
    known = {case.request_id: case for case in own}
    made_of = [_approved_question(known.get(request_id), request_id) for request_id in request_ids]
    if asked is not None:
        made_of.insert(0, asked)
    scopes = [_scope_of(question) for question in made_of]
    first = scopes[0]
    if any(each.place != first.place for each in scopes):
        text = "these requests differ in more than their input: agent, tool, folder or client"
        raise TeamError(Code.INVALID_FIELD, text, "Make a grant of each.")
    rules = tuple(rule for request_id in request_ids for rule in _rules_allowed_with(known[request_id]))
    scope = GrantScope(*first.place, tuple(given for each in scopes for given in each.inputs), rules)
    ids = tuple(parse_message(question).request_id or "" for question in made_of)
    return _try_on(own, GrantTrial(scope, ids, made_of[0], 0, ()))


def _try_on(own: Sequence[RequestRow], trial: GrantTrial) -> GrantTrial:
    """Return the trial on these decisions."""
    fits = [case for case in own if trial.scope.covers(case.question)]
    no = tuple(case.request_id for case in fits if case.state is RequestState.REJECTED)
    return replace(trial, would_answer=len(fits), rejected=no)


def _approved_question(case: RequestRow | None, request_id: str) -> Message:
    """Return the question of a permission that was approved as it was asked; refuse any other."""
    if case is None:
        text = f"you decided on no permission {request_id}"
        raise TeamError(Code.INVALID_REQUEST_ID, text, "List them with: team-console decisions", request_id=request_id)
    verdict = case.verdict
    if verdict is None or case.state is not RequestState.APPROVED or "updated_input" in verdict.payload:
        text = f"{request_id} was not approved as it was asked, so no grant can be made of it"
        raise TeamError(
            Code.INVALID_FIELD, text, "Name a permission that you approved unchanged.", request_id=request_id
        )
    return case.question


def _scope_of(question: Message) -> GrantScope:
    scope, request_id = scope_of(question), parse_message(question).request_id or ""
    if scope is None:
        text = f"{request_id} changes a file or was denied by its client, which is decided each time"
        raise TeamError(Code.INVALID_FIELD, text, "Name a command, a page or a search.", request_id=request_id)
    return scope


def _rules_allowed_with(case: RequestRow) -> tuple[Any, ...]:
    """Return what the client was allowed always with this permission."""
    return sent_back(case.question, case.verdict.payload).rules if case.verdict is not None else ()


def _decided_by_hand(cases: Iterable[RequestRow], actor: str) -> list[RequestRow]:
    """Return the permissions that the actor decided without a grant."""
    return [
        case
        for case in cases
        if case.kind is RequestKind.PERMISSION
        and case.verdict is not None
        and case.verdict.sender == actor
        and GRANTED not in case.verdict.payload
    ]


def start_grant(
    caller: Caller,
    trial: GrantTrial,
    *,
    lasts: timedelta | None = None,
    uses: int | None = None,
    view: Decision | None = None,
) -> Receipt:
    """Put a grant in force.

    Args:
        lasts, uses: Its end, by time or by count; one of them at least.
        view: What was shown of its scope, and to whom; without it nothing was.

    Raises:
        TeamError: `INVALID_FIELD` without an end, `NOT_PERMITTED` for one that contradicts a rejection or by anybody
            but the lead, `SIGNATURE_FAILED`.
    """
    team = caller.team
    request_id = parse_message(trial.question).request_id or ""
    view = view if view is not None else Decision(request_id, None)
    refuse_unbound(view, actor=caller.actor, must_be_signed=team.config().must_be_signed(caller.actor))
    if caller.actor != team.config().lead:
        text = f"{caller.actor} does not decide on permissions, so no grant can be {caller.actor}'s"
        raise TeamError(Code.NOT_PERMITTED, text, "Only the lead of the team can make one.")
    is_endless = lasts is None and uses is None
    is_over = (lasts is not None and lasts <= timedelta()) or (uses is not None and not 1 <= uses <= MOST_USES)
    if is_endless or is_over:
        text = f"a grant needs an end: a time above 0, or 1 to {MOST_USES} uses"
        raise TeamError(Code.INVALID_FIELD, text, "Give --for 2h or --uses 10.")
    end = team.clock() + lasts if lasts is not None else None
    payload = {
        "request_id": request_id,
        "summary": f"Grant: {trial.scope.words}"[:120],
        **trial.scope.as_recorded,
        "ends": to_text(end) if end is not None else None,
        "uses": uses,
        "of": list(trial.of),
    }

    def put(tx: Transaction) -> MadeVerdict:
        cases = requests_in(tx, tx.everything()).values()
        refuse_contradiction(_try_on(_decided_by_hand(cases, caller.actor), trial))
        _refuse_ended(tx, end)
        return MadeVerdict(write_to_self(tx, GRANT, caller.actor, without_none(payload)), trial.question)

    refuse_contradiction(trial_of(caller, trial.of))
    signed = signed_record(caller, put, action="grant")
    with caller.transaction("grant") as tx:
        message = put_signed(tx, put(tx), signed)
        tx.archive(caller.actor, message)
        facts = {**trial.scope.as_recorded, **view.shown, **view.as_recorded}
        tx.record("grant", ids=[message.message_id], request_id=request_id, **facts)
        tidy(tx)
    return receipt(tx, "grant", [message], (), message.message_id, notes=[trial.words])


def _refuse_ended(tx: Transaction, end: datetime | None) -> None:
    """Refuse a grant whose end lies before a line of the trail: it would never answer (`grants_among`).

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    latest = tx.recorded.latest() if tx.recorded is not None else None
    # guard: grant-begins-before-its-end
    if end is not None and latest is not None and latest >= end:
        text = f"the audit trail has a line of {to_text(latest)}, so a grant until {to_text(end)} is over already"
        hint = "Some clock is or was ahead. Count its uses instead: team-console grant REQUEST --uses 10 --yes"
        raise TeamError(Code.INVALID_FIELD, text, hint)


def refuse_contradiction(trial: GrantTrial) -> None:
    """Refuse a grant whose scope holds what was rejected. Raises `TeamError` `NOT_PERMITTED`."""
    # guard: grant-contradicts-no-rejection
    if trial.rejected:
        text = f"this grant contradicts you: you rejected {', '.join(trial.rejected[:3])} in its scope"
        raise TeamError(Code.NOT_PERMITTED, text, "Allow it once, or leave that input out of the grant.")


def recall_grant(caller: Caller, grant_id: str) -> Receipt:
    """End a grant now; what it answered stands.

    Raises:
        TeamError: `INVALID_FIELD` for an id that no grant of the actor has, or of one that is over.
    """
    with caller.transaction(RECALL_GRANT) as tx:
        found = next((one for one in all_grants(tx) if one.grant.message_id == grant_id), None)
        if found is None or found.grant.sender != caller.actor or found.over:
            why = f"is over: {found.over}" if found is not None and found.over else "is no grant of yours"
            raise TeamError(Code.INVALID_FIELD, f"{grant_id} {why}", "List them with: team-console grants")
        message = write_recall(tx, caller.actor, grant_id)
        tidy(tx)
    return receipt(tx, RECALL_GRANT, [message], (), grant_id)


def is_granted(team: Team, agent: str) -> bool:
    """Return whether any grant in force is for this agent; a look without a lock."""
    return bool(grants_for(team.snapshot(), agent))


def answer_by_grant(team: Team, question: Message, *, wait: float) -> bool:
    """Answer a permission that a grant in force covers; whether it did.

    Raises:
        TeamError: The store's own.
    """
    scope = scope_of(question)
    if scope is None or not is_granted(team, question.sender):
        return False
    lead = team.config().lead
    request_id = parse_message(question).request_id or ""
    with team.transaction(actor=lead, action="approve", wait=wait) as tx:
        case, _ = find_question(tx, request_id, digest_of(question))
        asked = case.question
        running = in_force(tx) if case.is_open else []
        one = next((one for one in running if scope_in(one.grant).covers(asked)), None)
        if one is None or digest_of(asked) != digest_of(question):
            return False
        grant_id = one.grant.message_id
        shown = shown_by_grant(grant_id, asked)
        payload = answer_by(one.grant, asked, one.used + 1, shown)
        (message,) = write_drafts(tx, Draft(ANSWER, lead, (asked.sender,), payload))
        close_question(tx, asked, actor=lead)
        tx.record(
            "approve",
            request_id=request_id,
            kind=str(case.kind),
            asker=asked.sender,
            question=asked.message_id,
            ids=[message.message_id],
            grant=grant_id,
            **shown,
        )
        tidy(tx)
    return True
