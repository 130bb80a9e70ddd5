"""Turns snapshots into views, one step for each message that changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from store.config import TeamConfig
from store.message import Message
from store.names import ALL
from store.protocol.entries import Change, Entry, NoRoomError, Queue
from store.protocol.kinds import RequestKind
from store.team import Condition, Snapshot
from store.views.attention import Attention, Waiting
from store.views.blocking import Blocking
from store.views.deliveries import Deliveries
from store.views.departures import Departures
from store.views.facts import Facts
from store.views.findings import Evidence, findings
from store.views.harmed import Harmed
from store.views.inboxes import Inboxes
from store.views.roster import Scene, names_of, roster
from store.views.rows import RosterRow, View
from store.views.voices import Voices

_READABLE = (Condition.OK, Condition.EMPTY)


class Board:
    """Keeps what was learnt from earlier snapshots. Use it from one thread at a time."""

    def __init__(self, me: str) -> None:
        self._me = me
        self._voices = Voices()
        self._past: dict[str, Entry] = {}
        self._left: set[str] = set()
        self._complete = True
        self._oldest = 0.0
        self._start(TeamConfig())

    def update(
        self,
        snapshot: Snapshot,
        now: datetime,
        history: Iterable[Message] = (),
        *,
        bodies: bool = True,
        complete: bool = True,
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
        """
        if snapshot.config is not self._config and snapshot.config != self._config:
            self._start(snapshot.config)
        self._deliveries.judge_at(now)
        stale = snapshot.condition not in _READABLE
        if not stale:
            self._apply(self._change(snapshot.messages), snapshot.missing)
        for message in history:
            self._remember(message)
        self._complete = complete
        return self._freeze(snapshot, now, stale=stale, bodies=bodies)

    def _start(self, config: TeamConfig) -> None:
        self._config = config
        self._queue = Queue()
        self._inboxes = Inboxes(config.ranks)
        self._deliveries = Deliveries()
        self._departures = Departures(config)
        self._attention = Attention(names_of(config, self._me))
        self._live = (self._inboxes, self._deliveries, self._departures, self._attention)
        self._voices.clear_live()
        self._facts = Facts(config)
        for entry in self._past.values():
            self._facts.add(entry)

    def _change(self, messages: tuple[Message, ...]) -> Change:
        try:
            return self._queue.update(messages)
        except NoRoomError:
            self._start(self._config)
            return self._queue.update(messages)

    def _apply(self, change: Change, missing: frozenset[str]) -> None:
        arriving = {entry.message.message_id for entry in change.added}
        for entry in change.removed:
            for fold in self._live:
                fold.remove(entry)
            self._voices.remove(entry)
            self._facts.heard(entry)
            message_id = entry.message.message_id
            self._leave(entry, counts=message_id not in arriving and message_id not in missing)
        for message_id in self._left & missing:
            self._forget(message_id)
        for entry in change.added:
            self._forget(entry.message.message_id)
            for fold in self._live:
                fold.add(entry)
            self._voices.add(entry)
            self._facts.heard(entry)
            if entry.is_fact:
                self._facts.add(entry)

    def _leave(self, entry: Entry, *, counts: bool) -> None:
        """A message that left the queue was archived, so it still `counts`; one that was changed or lost does not."""
        message_id = entry.message.message_id
        gone = counts and not self._departures.is_live(message_id)
        if gone:
            self._voices.remember(entry)
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
        entry = self._past.pop(message_id, None)
        if entry is not None:
            self._facts.remove(entry)

    def _remember(self, message: Message) -> None:
        if self._departures.is_live(message.message_id):
            return
        self._left.discard(message.message_id)
        known = self._past.get(message.message_id)
        if known is not None and (known.message is message or known.message.record == message.record):
            return
        self._oldest -= 1.0
        entry = Entry(message, known.place if known is not None else self._oldest)
        self._voices.remember(entry)
        self._facts.heard(entry)
        if known is not None:
            self._facts.remove(known)
            del self._past[message.message_id]
        if entry.is_fact:
            self._past[message.message_id] = entry
            self._facts.add(entry)

    def _freeze(self, snapshot: Snapshot, now: datetime, *, stale: bool, bodies: bool) -> View:
        facts, ledger = self._facts, self._facts.ledger
        facts.refresh(now, self._voices, complete=self._complete)
        self._departures.refresh({**facts.team.gone, **facts.team.roles}, bodies=bodies)
        self._inboxes.meet(self._everybody())
        scene = self._scene(now)
        rows = roster(scene)
        harmed = Harmed(snapshot.damaged & self._left)
        return View(
            revision=snapshot.revision,
            now=now,
            me=self._me,
            snapshot=snapshot,
            roster=rows,
            inboxes=self._inboxes.frozen(),
            requests=harmed.requests(ledger.rows),
            attention=harmed.attention(self._attention.items(self._waiting(scene, snapshot))),
            deliveries=self._deliveries.rows,
            batches=facts.sprint.batches,
            lifecycles=facts.lives.rows,
            counts=self._inboxes.counts,
            findings=findings(self._evidence(snapshot, rows)),
            stale=stale,
        )

    def _everybody(self) -> frozenset[str]:
        """Who `all` addresses: the members, or everybody in traffic where none are declared."""
        members = frozenset(self._facts.team.roles)
        if self._config.declared:
            return members
        return members.union(self._voices.names, self._inboxes.named) - {ALL}

    def _scene(self, now: datetime) -> Scene:
        facts = self._facts
        return Scene(
            config=self._config,
            now=now,
            me=self._me,
            team=facts.team,
            stops=facts.stops,
            voices=self._voices,
            inboxes=self._inboxes.by_agent,
            open=facts.ledger.open,
            plans=facts.ledger.plan_states(),
            work=facts.sprint.work,
        )

    def _waiting(self, scene: Scene, snapshot: Snapshot) -> Waiting:
        ledger = self._facts.ledger
        return Waiting(
            scene=scene,
            blocking=Blocking(ledger.open, self._facts.sprint),
            open=ledger.open,
            flagged=ledger.flagged.values(),
            failed=self._deliveries.failed,
            problems=snapshot.problems,
            twins=[entry for entries in ledger.twins.values() for entry in entries],
            shutdown=lambda request_id: ledger.row(request_id, RequestKind.SHUTDOWN),
        )

    def _evidence(self, snapshot: Snapshot, rows: tuple[RosterRow, ...]) -> Evidence:
        ledger = self._facts.ledger
        return Evidence(
            config=self._config,
            problems=snapshot.problems,
            departures=self._departures,
            roster=rows,
            flagged=ledger.flagged.values(),
            orphans=ledger.orphans,
            twins=ledger.twins,
            lifecycles=self._facts.lives.rows,
            drift=self._facts.drift,
            complete=self._complete,
        )


def view_of(
    snapshot: Snapshot,
    *,
    me: str,
    now: datetime,
    history: Iterable[Message] = (),
    bodies: bool = True,
    complete: bool = True,
) -> View:
    """The view of one snapshot, made from scratch; arguments as for `Board.update`."""
    return Board(me).update(snapshot, now, history, bodies=bodies, complete=complete)
