"""Turns snapshots into views, one step for each message that changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from team_console.store.contract.team import Snapshot
from team_console.store.model.message import Message
from team_console.store.model.names import ALL
from team_console.store.model.recorded import RecordedFacts
from team_console.store.model.schedule import CLOCKS_DIFFER
from team_console.store.protocol.checks import TeamFacts
from team_console.store.protocol.entries import EARLIEST, Entry, NoRoomError, Queue, QueueDelta
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.deliveries import Deliveries
from team_console.store.views.facts import Facts
from team_console.store.views.findings import findings
from team_console.store.views.inboxes import Inboxes, LiveIds, Unanswered
from team_console.store.views.last_seen import LastReports, LastSeen
from team_console.store.views.needs import Attention
from team_console.store.views.roster import BoardState, Roster, names_of
from team_console.store.views.rows import RequestRow, View
from team_console.store.views.violations import DamagedRequests, Quotations, Violations

_Kept = LastSeen | LastReports | Quotations
"""What goes on counting messages that left the queue for the archive."""
_Fold = _Kept | LiveIds | Inboxes | Deliveries | Violations | Attention | Unanswered
"""What is told of each message that comes into the queue and leaves it."""


class Board:
    """Keeps what was learnt from earlier snapshots. Use it from one thread at a time.

    Args:
        requests_only: Whether only `requests` will be asked, which spares the rows of mail: they are most of the work.
    """

    def __init__(self, me: str, *, requests_only: bool = False) -> None:
        self._me = me
        self._requests_only = requests_only
        self._last_seen = LastSeen()
        self._reports = LastReports()
        self._quotations = Quotations()
        self._kept: tuple[_Kept, ...] = (self._last_seen, self._reports, self._quotations)
        self._past: dict[str, Entry] = {}
        self._left: set[str] = set()
        self._complete = True
        self._oldest = 0.0
        self._recorded: RecordedFacts | None = None
        self._start(TeamConfig())

    def update(
        self,
        snapshot: Snapshot,
        now: datetime,
        history: Iterable[Message] = (),
        *,
        bodies: bool = True,
        complete: bool = True,
        lists: bool = True,
    ) -> View:
        """The view of `snapshot` at the moment `now`.

        A store that cannot be read leaves the rows as they were; `View.stale` says so and its snapshot says why.

        Args:
            history: Archived messages, newest first, so that what was decided before counts; one that is also live
                counts once, as it is live. Needed only once: what leaves the queue later is remembered, unless the
                snapshot says that it is `missing`.
            bodies: Whether the bodies of sprint messages are checked field by field, which loads for 100 ms the
                first time; those left out are checked at the next update that asks for it.
            complete: Whether `history`, with that of earlier updates, is all there is. While it is not, nothing is
                called missing or unasked for that an archived message may explain.
            lists: Whether to make the lists of all deliveries and of what is in each inbox, which no judgement rests
                on; without them a look at many messages takes half the time.
        """
        self._take(snapshot, now, history, complete=complete)
        return self._freeze(snapshot, now, stale=not snapshot.is_known, bodies=bodies, lists=lists)

    def requests(
        self, snapshot: Snapshot, now: datetime, history: Iterable[Message] = (), *, complete: bool = False
    ) -> tuple[RequestRow, ...]:
        """The requests alone, as `update` has them; at less cost."""
        self._take(snapshot, now, history, complete=complete)
        self._facts.refresh(now, self._last_seen, complete=complete)
        return DamagedRequests(snapshot.damaged & self._left).requests(self._facts.requests.listed.rows)

    def _take(self, snapshot: Snapshot, now: datetime, history: Iterable[Message], *, complete: bool) -> None:
        stale = not snapshot.is_known
        if self._is_another(snapshot, now, stale=stale):
            self._recorded = self._recorded if stale else snapshot.recorded
            self._start(snapshot.config)
        self._judge_at(now)
        if not stale:
            # A damaged record still lies in the queue, though a repair would put it back from the ledger.
            self._apply(self._change(snapshot.messages, now), snapshot.missing - snapshot.damaged)
        for message in history:
            self._remember(message)
        self._complete = complete

    def _is_another(self, snapshot: Snapshot, now: datetime, *, stale: bool) -> bool:
        """Whether everything must be judged anew: by other settings, another audit trail, or a clock set back."""
        if snapshot.config is not self._config and snapshot.config != self._config:
            return True
        return not stale and (snapshot.recorded is not self._recorded or now + CLOCKS_DIFFER < self._now)

    def _start(self, config: TeamConfig) -> None:
        self._config = config
        self._now = EARLIEST
        self._queue = Queue()
        self._inboxes = Inboxes(config.ranks)
        self._deliveries = Deliveries()
        self._violations = Violations(config, self._recorded)
        self._attention = Attention(names_of(config, self._me))
        self._unanswered = Unanswered()
        self._roster = Roster()
        for fold in self._kept:
            fold.clear_live()
        self._ids = LiveIds()
        self._live: tuple[_Fold, ...] = (self._ids, self._last_seen, self._reports)
        if not self._requests_only:
            self._live += (self._inboxes, self._deliveries, self._violations, self._attention, self._unanswered)
            self._live += (self._quotations,)
        self._facts = Facts(config, self._recorded)
        for entry in self._past.values():
            self._facts.add(entry)

    def _judge_at(self, now: datetime) -> None:
        self._now = max(now, self._now)
        self._deliveries.judge_at(now)
        self._violations.judge_at(now)

    def _change(self, messages: Sequence[Message], now: datetime) -> QueueDelta:
        try:
            return self._queue.update(messages)
        except NoRoomError:
            self._start(self._config)
            self._judge_at(now)
            return self._queue.update(messages)

    def _apply(self, change: QueueDelta, missing: frozenset[str]) -> None:
        arriving = {entry.message.message_id for entry in change.added}
        for entry in change.removed:
            for fold in self._live:
                fold.remove(entry)
            message_id = entry.message.message_id
            self._leave(entry, counts=message_id not in arriving and message_id not in missing)
        for message_id in missing:
            self._quotations.forget(message_id)
        for message_id in self._left & missing:
            self._forget(message_id)
        for entry in change.added:
            self._forget(entry.message.message_id)
        for fold in self._live:
            for entry in change.added:
                fold.add(entry)
        self._facts.heard((*change.removed, *change.added))
        for entry in change.added:
            if entry.is_fact:
                self._facts.add(entry)

    def _leave(self, entry: Entry, *, counts: bool) -> None:
        """A message that left the queue was archived, so it still `counts`; one that was changed or lost does not."""
        message_id = entry.message.message_id
        gone = counts and not self._ids.is_live(message_id)
        for fold in self._kept if gone else ():
            fold.remember(entry)
        if not entry.is_fact:
            return
        if gone and message_id not in self._past:
            self._past[message_id] = entry
            self._left.add(message_id)
        else:
            self._facts.remove(entry)

    def _forget(self, message_id: str) -> None:
        """A message of the past is live again, or turns out to be lost."""
        self._left.discard(message_id)
        self._quotations.forget(message_id)
        entry = self._past.pop(message_id, None)
        if entry is not None:
            self._facts.remove(entry)

    def _remember(self, message: Message) -> None:
        if self._ids.is_live(message.message_id):
            return
        self._left.discard(message.message_id)
        known = self._past.get(message.message_id)
        if known is not None and (known.message is message or known.message.record == message.record):
            return
        self._oldest -= 1.0
        entry = Entry.of(message, known.place if known is not None else self._oldest)
        for fold in self._kept:
            fold.remember(entry)
        self._facts.heard((entry,))
        if known is not None:
            self._facts.remove(known)
            del self._past[message.message_id]
        if entry.is_fact:
            self._past[message.message_id] = entry
            self._facts.add(entry)

    def _freeze(self, snapshot: Snapshot, now: datetime, *, stale: bool, bodies: bool, lists: bool) -> View:
        facts = self._facts
        facts.refresh(now, self._last_seen, complete=self._complete)
        roles = {**facts.team.gone, **facts.team.roles}
        self._violations.refresh(TeamFacts(self._config, roles, facts.report_to, facts.plans), bodies=bodies)
        self._inboxes.meet(self._everybody())
        board = self._state(snapshot, now)
        rows = self._roster.rows(board)
        damaged = DamagedRequests(snapshot.damaged & self._left)
        return View(
            revision=snapshot.revision,
            now=now,
            me=self._me,
            snapshot=snapshot,
            roster=rows,
            inboxes=self._inboxes.frozen() if lists else {},
            requests=damaged.requests(board.requests.rows),
            attention=damaged.attention(self._attention.items(board)),
            deliveries=self._deliveries.rows if lists else (),
            failed=board.failed,
            batches=facts.sprint.batches,
            lifecycles=facts.lifecycles.rows,
            counts=self._inboxes.counts,
            findings=findings(board, rows),
            unanswered=board.unanswered,
            stale=stale,
        )

    def _everybody(self) -> frozenset[str]:
        """Who `all` addresses: the members, or everybody in traffic where none are declared."""
        members = frozenset(self._facts.team.roles)
        if self._config.declared:
            return members
        return members.union(self._last_seen.names, self._inboxes.named) - {ALL}

    def _state(self, snapshot: Snapshot, now: datetime) -> BoardState:
        return BoardState(
            config=self._config,
            now=now,
            me=self._me,
            mine=names_of(self._config, self._me),
            complete=self._complete,
            recorded=self._recorded,
            problems=snapshot.problems,
            dropped=snapshot.dropped,
            facts=self._facts,
            last_seen=self._last_seen,
            reports=self._reports,
            inboxes=self._inboxes.by_agent,
            unanswered=self._unanswered.by_reader(),
            failed=self._deliveries.failed,
            live=self._ids,
            violations=self._violations,
            quotations=self._quotations,
        )


def view_of(
    snapshot: Snapshot,
    *,
    me: str,
    now: datetime,
    history: Iterable[Message] = (),
    bodies: bool = True,
    complete: bool = True,
    lists: bool = True,
) -> View:
    """The view of one snapshot, made from scratch; arguments as for `Board.update`."""
    return Board(me).update(snapshot, now, history, bodies=bodies, complete=complete, lists=lists)
