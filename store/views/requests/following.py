"""Request followed from one look at the team to the next, until it is answered, superseded or taken back."""

from __future__ import annotations

from team_console.store.contract.team import Snapshot, Team
from team_console.store.desk.inbox import readable
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.entries import EARLIEST
from team_console.store.views.board import Board
from team_console.store.views.rows import RequestRow


class RequestFollower:
    """Looks at one request as often as asked; each look costs what has changed. Use it from one thread at a time."""

    def __init__(self, team: Team, request_id: str, *, me: str) -> None:
        self._team = team
        self._request_id = request_id
        self._me = me
        self._board = Board(me, requests_only=True)

    def look(self) -> RequestRow:
        """The request as it stands now.

        Raises:
            TeamError: `INVALID_REQUEST_ID` when the team knows no such request, `STORE_UNREADABLE` when the queue
                or the record of the request cannot be read.
        """
        snapshot = readable(self._team.snapshot())
        row = self._row(snapshot, ())
        if row is None or (row.is_open and row.question not in snapshot.messages):
            row = self._row(snapshot, self._archived())
        if row is None:
            raise self._unknown(snapshot)
        return row

    def _row(self, snapshot: Snapshot, history: tuple[Message, ...]) -> RequestRow | None:
        """The row of this id, the own one first where several agents chose the same id."""
        requests = self._board.requests(snapshot, self._team.clock(), history)
        rows = [row for row in requests if row.request_id == self._request_id]
        return min(rows, key=lambda row: row.asker != self._me, default=None)

    def _archived(self) -> tuple[Message, ...]:
        """What the archives know of the request, newest first; the answer may have gone there between two looks."""
        messages = self._team.archived(self._request_id)
        return tuple(sorted(messages, key=lambda message: message.created_at or EARLIEST, reverse=True))

    def _unknown(self, snapshot: Snapshot) -> TeamError:
        facts = {"request_id": self._request_id}
        if self._request_id in snapshot.damaged:
            text = f"the record of request {self._request_id} in the queue is damaged"
            return TeamError(Code.STORE_UNREADABLE, text, "'team-console check' names file and line.", **facts)
        hint = "List the requests with: team-console requests"
        return TeamError(Code.INVALID_REQUEST_ID, f"no request {self._request_id}", hint, **facts)
