"""Asking: permissions and questions of agents put to the lead, and every request taken back by its asker (D20, D21).

Any number of permissions and questions of one agent may be open. Nothing here waits: `store.views.verdicts`
does. A request that expired, or was withdrawn, is never answered any more and never shown as approved.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import FieldDict, Fields, Message, Status, ids_of, without
from team_console.store.model.safe import is_blank
from team_console.store.protocol.checks import check_asked
from team_console.store.protocol.client_requests import FURTHER, WHY, FileExcerpt, permission_of, questions_of
from team_console.store.protocol.kinds import WITHDRAWN
from team_console.store.protocol.parsing import asks
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.tool_input import headline_of
from team_console.store.service.answerable import find_question, no_request, refuse_decided
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.compaction import tidy
from team_console.store.service.grants import answer_by_grant
from team_console.store.service.sending import confirm_ends
from team_console.store.service.writing import Draft, advise, check_known, new_request_id, write_drafts

LARGEST_BEFORE = 262_144
"""Bytes of the file as it was that go on record with a permission; a larger one is left out, and said to be unknown."""
_LONGEST_SUMMARY = 200


def ask_permission(
    caller: Caller,
    *,
    tool: str,
    input: Fields,
    directory: str | None = None,
    session: str | None = None,
    client: str | None = None,
    suggestions: Sequence[Any] = (),
    before: str | FileExcerpt | UnsetType | None = UNSET,
    is_private: bool = False,
    expires: datetime | str | None = None,
    summary: str | None = None,
    asker: str | None = None,
    denied: str | None = None,
    why: Fields | None = None,
) -> Receipt:
    """Ask the lead whether a tool may be used; `Receipt.request_id` names what was asked.

    Args:
        tool, input: What is to be used and with what, as the client gives it.
        directory: The folder it would work in.
        session, client: The client's own session, and its name: `claude-code`, `codex`, `mcp`, ...
        suggestions: What the client offers to allow from now on; the very object comes back when it is chosen.
        before: The file that would change, as it is now, or what has to be known of it; None when there is none yet.
        is_private: Whether the file is left out because others than its owner may not read it.
        expires: When the asker stops waiting; from then on the request is withdrawn as timed out.
        summary: One line; made from tool and input when left out.
        asker: The name under which the process that waits for the answer is present (`Team.announce`): once it is
            gone, the request is withdrawn.
        denied: Why the client denied it by itself already: nobody waits, and a yes lets the agent try once more.
        why: What was said and done before, as `client_requests.why_in` reads it.

    Raises:
        TeamError: `INVALID_FIELD`, `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    asked = {"tool": tool, "input": input, "suggestions": list(suggestions) or None, "denied": denied, WHY: why}
    body: FieldDict = {**asked, **origin_fields(client, session, directory, asker, expires)}
    text = before.text if isinstance(before, FileExcerpt) else before
    if text is not UNSET and len((text or "").encode("utf-8", "replace")) <= LARGEST_BEFORE:
        body |= before.as_recorded if isinstance(before, FileExcerpt) else {"before": text}
    if is_private:
        body["before_private"] = True
    check_asked("permission_request", body)
    line = summary or headline_of(permission_of(body), directory or "")
    asked_for = _ask(caller, "permission", body, line)
    with suppress(TeamError):  # what was asked stands, and waits for the human
        answer_by_grant(caller.team, asked_for.messages[0], wait=caller.wait)
    return asked_for


def ask_question(
    caller: Caller,
    *,
    questions: Sequence[Fields],
    directory: str | None = None,
    session: str | None = None,
    client: str | None = None,
    further: Fields | None = None,
    expires: datetime | str | None = None,
    summary: str | None = None,
    asker: str | None = None,
    why: Fields | None = None,
) -> Receipt:
    """Ask the lead one or more questions; `Receipt.request_id` names what was asked.

    Args:
        questions: Each with `question`, and as far as wanted `header`, `options` (each with `label` and
            `description`, and `preview`: a text to compare) and `multiSelect`. No two may ask the same: answers are
            told apart by their text.
        further: What else the client's tool was called with: shown, and not handed back.
        directory, session, client, expires, summary, asker, why: As for `ask_permission`.

    Raises:
        TeamError: `INVALID_FIELD`, `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    body: FieldDict = {
        "questions": [dict(item) if isinstance(item, Mapping) else item for item in questions],
        **origin_fields(client, session, directory, asker, expires),
        FURTHER: dict(further) if further else None,
        WHY: why,
    }
    check_asked("question_request", body)
    line = summary or "; ".join(question.text for question in questions_of(body))
    return _ask(caller, "question", body, line)


def withdraw(caller: Caller, *, request_id: str, reason: str, gone: str | None = None) -> Receipt:
    """Take back an open request of the actor's own, of any kind; doing it again writes nothing (`repeated`).

    A question that nobody has got yet is recalled with it, so that it waits in no inbox. After `ALREADY_ANSWERED` the
    answer counts: a client whose time is over finds out here whether a verdict came in time all the same.

    Args:
        reason: Why it needs no answer; hooks say `answered in the session`, `session ended`, `timed out` or
            `nobody was there`.
        gone: Its asker, who is known to be gone and in whose name the actor takes it back. Then only the queue is
            looked at: a request that has left it is over, and to find it would read the archives while everybody waits.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (with who and when), `NOT_PERMITTED` for a request of
            somebody else, `MISSING_REASON`.
    """
    asker = gone or caller.actor
    if is_blank(reason):
        raise TeamError(Code.MISSING_REASON, "a withdrawal needs a reason", "Give it with --reason TEXT.")
    by = {"by": caller.actor} if caller.actor != asker else {}
    with caller.transaction("withdraw") as tx:
        if gone and not any(asks(message, request_id) for message in tx.naming(request_id)):
            raise no_request(request_id)
        case, _ = find_question(tx, request_id, asker=asker)
        question = case.question
        if question.sender != asker:
            text = f"{request_id} was asked by {question.sender}, so {asker} cannot take it back"
            raise TeamError(Code.NOT_PERMITTED, text, "Only its asker can.", request_id=request_id)
        refuse_decided(case)
        if case.taken_back is not None:
            return receipt(tx, "withdraw", [case.taken_back], (), request_id, repeated=True)
        notice = _take_back(tx, question, request_id, reason)
        tx.record(
            "withdraw",
            ids=[notice.message_id],
            request_id=request_id,
            kind=str(case.kind),
            question=question.message_id,
            reason=reason,
            **by,
        )
        tidy(tx)
    return receipt(tx, "withdraw", [notice], (), request_id)


def ask_lead(
    caller: Caller, *, action: str, type: str, prefix: str, what: str, payload: Fields, unchecked: Collection[str]
) -> Receipt:
    """Put a request to the lead, under an id of its own.

    Args:
        prefix: What its id begins with.
        what: What the lead answers, and does not ask, in words.
        unchecked: Fields made here, which no advice to the writer is about.

    Raises:
        TeamError: `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    config, asker = caller.team.config(), caller.actor
    if asker == config.lead:
        text = f"{asker} leads the team and answers {what}"
        raise TeamError(Code.NOT_PERMITTED, text, "An agent asks: --as AGENT.")
    to = (config.lead,)
    told = without(payload, unchecked)
    warnings = Draft(type, asker, to, {**told, "request_id": "new"}).check(config)
    with caller.transaction(action) as tx:
        check_known(tx, [*to, asker])
        request_id = new_request_id(tx, prefix, asker, config.name)
        messages = write_drafts(tx, Draft(type, asker, to, {"request_id": request_id, **payload}))
        warnings += advise(tx, messages)
        tx.record(action, ids=ids_of(messages), to=list(to), request_id=request_id)
        confirm_ends(tx)
    return receipt(tx, action, messages, warnings, request_id)


def _ask(caller: Caller, what: str, body: Fields, line: str) -> Receipt:
    """Ask the lead for what a client asks, a permission or a question, with its summary cut to one line."""
    payload = {"summary": line.strip()[:_LONGEST_SUMMARY], **body}
    return ask_lead(
        caller,
        action=f"ask_{what}",
        type=f"{what}_request",
        prefix=what,
        what=f"{what} requests",
        payload={key: value for key, value in payload.items() if value is not None or key == "before"},
        unchecked=("summary", WHY),
    )


def origin_fields(
    client: str | None, session: str | None, directory: str | None, asker: str | None, expires: datetime | str | None
) -> dict[str, str]:
    """Return the fields that say where a request comes from, those that are known, and when it ends by itself.

    A folder's name need not be UTF-8.

    Raises:
        TeamError: `INVALID_FIELD` for an end that is not a time.
    """
    named = {"client": client, "session": session, "directory": directory, "asker": asker}
    known = {key: value.encode("utf-8", "replace").decode() for key, value in named.items() if value}
    moment = from_text(expires) if isinstance(expires, str) else expires
    if moment is None and expires is not None:
        text = f"expires: {expires!s:.60} is not a time"
        raise TeamError(Code.INVALID_FIELD, text, "Write it as 2026-02-24T10:30:00Z.")
    return known if moment is None else {**known, "expires": to_text(moment)}


def _take_back(tx: Transaction, question: Message, request_id: str, reason: str) -> Message:
    """Write the notice of a withdrawal; where nobody has got the question, nobody gets the notice either."""
    to = question.recipients[0]
    at = to_text(tx.now)
    live = tx.get(question.message_id)
    unseen = live if live is not None and live.is_pending_for(to) else None
    gone = {"status": Status.RECALLED.value, "recalled_at": at} if unseen is not None and not unseen.is_group else {}
    summary = phrase(tx.config.language, "{}: {}", phrase(tx.config.language, "Needs no answer any more"), reason)
    payload = {"summary": summary[:120], "request_id": request_id, "reason": reason}
    (notice,) = write_drafts(tx, Draft(WITHDRAWN, question.sender, (to,), payload), **gone)
    if gone and unseen is not None:
        recalled = unseen.with_changes(**gone, next_attempt_at=None)
        tx.replace(unseen, recalled)
        for message in (recalled, notice):
            tx.archive(to, message)
    return notice
