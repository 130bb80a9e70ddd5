"""Look up the verdict on one request, or wait for it until the store's own change notice ends the wait.

It is judged by the same views as everything else: what does not count on the screen does not count here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import NOTES
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import when_created
from team_console.store.protocol.request_row import Flag
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, digest_of
from team_console.store.protocol.trust import TrustMark, trust_words
from team_console.store.service.answerable import no_request, refuse_damaged
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import read_message
from team_console.store.service.waiting import TICK, Tell, UnavailableStore, tell_nobody, until
from team_console.store.views.projection import Projection
from team_console.store.views.rows import RequestRow

_STOP_TICK = 0.5
"""Seconds after which a wait that may be told to stop asks whether it was; in a database each costs a look."""
_DECIDING = ("remarks", "answers", NOTES, "scope", "suggestion", "mode", "updated_plan", "updated_input")
"""Fields of an answer that its asker acts on."""


def verdict_of(team: Team, request_id: str, *, me: str = "") -> RequestRow:
    """Return the request as it is now.

    Args:
        me: Whose request it is, where several agents chose the same id.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
    """
    return FollowedVerdict(team, request_id, me=me).look()


def await_verdict(
    team: Team,
    request_id: str,
    *,
    timeout: float | None,
    stop: Callable[[], bool] | None = None,
    me: str = "",
    asked: Message | None = None,
    tell: Tell = tell_nobody,
    heeds: bool = False,
) -> RequestRow:
    """Wait until the request is not open any more; how it stands when `timeout` seconds are over or `stop` says so.

    Each look costs what has changed. Nothing is polled where the store tells of changes; a request that expires is
    noticed when it does.

    Args:
        timeout: Seconds; None waits as long as it takes.
        stop: Asked twice a second, and after every change, whether to give up.
        asked: What the caller asked, as it was written: an answer to anything else is none to it.
        tell: Is told of a store that is away, and that it is back.
        heeds: Whether a question back that comes meanwhile ends the wait, so that the asker can answer it.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, also for what was rewritten since it was `asked`; what kept the last look from
            its answer, `STORE_UNREADABLE` for example; `USAGE` in a thread whose event loop runs.
    """
    followed = FollowedVerdict(team, request_id, me=me, asked=asked, tell=tell)

    def settled() -> tuple[RequestRow | None] | None:
        """Return what ends the wait, in a tuple since it is None where the store is away; None while it goes on."""
        outcome = followed.look_again()
        is_over = outcome is not None and (not outcome.is_open or (heeds and outcome.asked_back not in (None, known)))
        return (outcome,) if is_over or (stop is not None and stop()) else None

    def tick() -> float | None:
        """Return the seconds until the next look without a change; None where only a change can end the wait."""
        left = followed.seconds_left()
        return left if stop is None else min(_STOP_TICK, _STOP_TICK if left is None else left)

    outcome = followed.look_again()
    known = outcome.asked_back if outcome is not None else None
    if outcome is None or outcome.is_open:
        ended = until(team, settled, timeout=timeout, tick=tick)
        outcome = ended[0] if ended is not None else None
    return outcome or followed.end()


class FollowedVerdict:
    """How a request stands, as often as asked; each look costs what has changed. Use it from one thread at a time.

    Args:
        asked: As for `await_verdict`; whoever asked just now knows that there is such a request.
        tell: As for `await_verdict`.
    """

    def __init__(
        self, team: Team, request_id: str, *, me: str = "", asked: Message | None = None, tell: Tell = tell_nobody
    ) -> None:
        self._team, self._request_id, self._me, self._asked = team, request_id, me, asked
        self._projection = Projection(me)
        self._row: RequestRow | None = None
        self._outage = UnavailableStore(tell, known=asked is not None)

    def look(self) -> RequestRow:
        """Return the request as it is now.

        Raises:
            TeamError: `INVALID_REQUEST_ID` when the team knows no such request, also for what was rewritten since it
                was asked; `STORE_UNREADABLE` when the queue or the record of the request cannot be read.
        """
        snapshot = self._team.snapshot().require_known()
        row = self._row_in(snapshot, ())
        if row is None or (row.is_open and row.question not in snapshot.messages):
            # The answer may have gone to the archives between two looks; what they know comes newest first.
            archived = self._team.archived(self._request_id)
            row = self._row_in(snapshot, sorted(archived, key=when_created, reverse=True))
        if row is None:
            refuse_damaged(snapshot, self._request_id)
            raise no_request(self._request_id, "List the requests with: team-console requests")
        self._row = row
        _refuse_other(row, self._asked)
        return row

    def _row_in(self, snapshot: Snapshot, history: Sequence[Message]) -> RequestRow | None:
        """Return the row of this id, the own one first where several agents chose the same id."""
        view = self._projection.update(snapshot, self._team.clock(), history, complete=False)
        rows = [row for row in view.requests if row.request_id == self._request_id]
        return min(rows, key=lambda row: row.asker != self._me, default=None)

    def look_again(self) -> RequestRow | None:
        """Look once more; None while a store that was read before cannot be.

        Raises:
            TeamError: As `look`.
        """
        return self._outage.look(self.look)

    def end(self) -> RequestRow:
        """Look at the end of a wait: a store that is away is not asked once more.

        Raises:
            TeamError: As `look`, or what the last look ran into.
        """
        if self._outage.error is not None:
            raise self._outage.error
        return self.look()

    def seconds_left(self) -> float | None:
        """Return the seconds until it may stand otherwise without a change that is told; None when it cannot."""
        if self._outage.error is not None:
            return TICK
        if self._row is None or self._row.expires_at is None:
            return None
        # A millisecond more than is left: at the very moment the clock may not have come there yet.
        return max(0.0, (self._row.expires_at - self._team.clock()).total_seconds()) + 0.001


def _refuse_other(row: RequestRow, asked: Message | None) -> None:
    """Refuse an answer to something else: whoever asked acts on what it asked, not on what the store says now."""
    if asked is None or row.verdict is None:
        return
    digest = digest_of(asked)
    if digest_of(row.question) == row.verdict.payload.get(REQUEST_DIGEST, digest) == digest:
        return
    text = f"request {row.request_id} was rewritten, and its answer is not to what was asked"
    hint = "Do not act on it. Find out who writes there besides team-console, and ask again."
    raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=row.request_id, changed=True)


def mark_of_answer(team: Team, row: RequestRow) -> TrustMark | None:
    """Return what is wrong with the answer that stands, or with what it was given on; None where nothing is."""
    answer = row.verdict
    if answer is None:
        return None
    # guard: answer-to-other-words-marked
    if row.question.message_id in team.reworded():
        return TrustMark.CHANGED
    # guard: unverified-answer-marked
    if answer.message_id in row.unverified:
        return TrustMark.FOREIGN if Flag.FOREIGN in row.flags else TrustMark.UNVERIFIED
    return None


def mark_words(row: RequestRow, mark: TrustMark) -> str:
    """Return the sentence for whoever waited for the answer."""
    if mark is TrustMark.CHANGED:
        text = f"what {row.request_id} asks was changed by another program after it was written"
        return f"{text}; ask {row.answered_by} before you act on the answer"
    about = row.verdict.message_id if row.verdict is not None else row.request_id
    return f"the answer {about} is {trust_words(mark)}"


def outcome_json(row: RequestRow, mark: TrustMark | None) -> dict[str, Any]:
    """Return the request as JSON: with an answer, its yes or no, its words, and what it decides beyond that.

    Args:
        mark: What is wrong with the answer (`mark_of_answer`).
    """
    answer = row.verdict
    payload = answer.payload if answer is not None else {}
    return {
        "request_id": row.request_id,
        "state": row.outcome,
        "approve": parse_message(answer).approve if answer is not None else None,
        "reason": row.reason or None,
        "message_id": answer.message_id if answer is not None else None,
        "answered_by": row.answered_by,
        "answered_at": answer.created if answer is not None else None,
        "asked_back": asked.content if (asked := row.asked_back) is not None else None,
        **({"trust": str(mark)} if mark is not None else {}),
        **{key: payload[key] for key in _DECIDING if key in payload},
    }


def mark_verdict_read(caller: Caller, answer: Message | None) -> None:
    """Mark the answer as read by the actor, as `receive` would; nothing for whom it is not to, or in a read-only team.

    Raises:
        TeamError: The store's own.
    """
    team = caller.team
    if answer is None or team.read_only:
        return
    live = (message for message in team.snapshot().messages if message.message_id == answer.message_id)
    if any(message.is_unread_by(caller.actor) for message in live):
        read_message(caller, agent=caller.actor, message_id=answer.message_id)
