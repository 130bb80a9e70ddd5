"""Make views of snapshots: one fold over the messages of the queue and of those that left it.

What one message says is remembered for as long as the message is there; everything else is worked out at each look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from datetime import datetime
from itertools import chain
from operator import attrgetter

from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.message import Message, by_id, from_record, ids_of
from team_console.store.model.names import ALL, USER
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.agent_stops import agent_stops
from team_console.store.protocol.client_sessions import SESSION
from team_console.store.protocol.judgement import judge_entries
from team_console.store.protocol.kinds import UNKNOWN
from team_console.store.protocol.membership import MEMBERSHIP, membership
from team_console.store.protocol.placed_message import PlacedMessage, when_created
from team_console.store.protocol.sprint_bodies import plans_of
from team_console.store.protocol.team_rules import TeamFacts, report_targets
from team_console.store.views.deliveries import delivery_rows
from team_console.store.views.facts import Facts, find_last_seen, requests_of
from team_console.store.views.findings import findings, mark_damaged, withhold_answers
from team_console.store.views.inboxes import inboxes, unanswered
from team_console.store.views.needs import action_items
from team_console.store.views.roster import roster, roster_drift
from team_console.store.views.rows import DeliveryState, View
from team_console.store.views.sprint import BATCH_FACTS, lifecycles, sprint

_WHEN = attrgetter("when")
_MOST_MESSAGES = 5_000
"""Messages without consequences that are kept after they left the queue, the newest: they show who wrote when."""


class Projection:
    """Makes views of one team for one reader; keeps the messages that left the queue, and nothing made from them.

    Use it from one thread at a time.
    """

    def __init__(self, me: str) -> None:
        self._me = me
        self._live: Sequence[Message] = ()
        self._past: dict[str, Message] = {}
        """Messages that left the queue, oldest first."""
        self._seen_leaving: set[str] = set()
        """Ids of those of the past that were seen in the queue: no archive was asked for them."""
        self._complete = True
        self._recorded: RecordedFacts | None = None

    def update(
        self,
        snapshot: Snapshot,
        now: datetime,
        history: Iterable[Message] = (),
        *,
        complete: bool = True,
    ) -> View:
        """Make the view of `snapshot` at the moment `now`.

        A store that cannot be read leaves the rows as they were; the snapshot of the view says so, and why.

        Args:
            history: Archived messages, newest first, so that what was decided before counts; one that is also live
                counts once, as it is live. Needed only once: what leaves the queue later is remembered, unless the
                snapshot says that it is `missing`.
            complete: Whether `history`, with that of earlier updates, is all there is. While it is not, nothing is
                called missing or unasked for that an archived message may explain.
        """
        self._learn_messages(snapshot, history, complete=complete)
        return self._make_view(snapshot, now)

    def is_of_another(self, snapshot: Snapshot) -> bool:
        """Return whether another audit trail is there now: of another team in its place, or of another time.

        What left the queue by that was not archived, and nothing that is known of before holds.
        """
        before, now = self._recorded, snapshot.recorded
        if not snapshot.is_known or before is None or now is None or before is now:
            return False
        known = ids_of((*self._live, *self._past.values()))
        # guard: nothing-waits-from-another-team
        return any(each in before and each not in now for each in known)

    def _learn_messages(self, snapshot: Snapshot, history: Iterable[Message], *, complete: bool) -> None:
        """Learn which messages there are; of a store that cannot be read nothing is learnt."""
        self._complete = complete
        if snapshot.is_known:
            self._learn_queue(snapshot)
        self._learn_archived(history)
        unimportant = [message for message in self._past.values() if not PlacedMessage.of(message, 0).is_fact]
        if len(unimportant) > 2 * _MOST_MESSAGES:
            unimportant.sort(key=when_created)
            self._forget(ids_of(unimportant[:-_MOST_MESSAGES]))

    def _learn_queue(self, snapshot: Snapshot) -> None:
        """Learn what is in the queue, and what left it: that was archived, so it still counts, unless it was lost."""
        # A damaged record is missing among the messages and still lies in the queue: it is not lost.
        lost = snapshot.missing - snapshot.damaged
        if snapshot.messages is not self._live:
            live = set(ids_of(snapshot.messages))
            for message in self._live:
                if message.message_id not in live and message.message_id not in lost:
                    self._seen_leaving.add(message.message_id)
                    self._past.setdefault(message.message_id, _detached_copy(message))
            self._live = snapshot.messages
            self._forget(self._past.keys() & live)
        self._recorded = snapshot.recorded
        self._forget(self._seen_leaving & lost)

    def _learn_archived(self, history: Iterable[Message]) -> None:
        """Learn archived messages, newest first; one that is in the queue counts as it is there."""
        live = set(ids_of(self._live)) if history else set()
        older: list[Message] = []
        for message in history:
            if message.message_id not in live:
                self._seen_leaving.discard(message.message_id)
                known = self._past.get(message.message_id)
                if known is None:
                    older.append(_detached_copy(message))
                elif known.record != message.record:
                    self._past[message.message_id] = _detached_copy(message)
        if older:
            self._past = by_id(reversed(older)) | self._past

    def _forget(self, ids: Iterable[str]) -> None:
        """Know these messages of the past no more: they are in the queue again, were lost, or are too many."""
        for message_id in ids:
            self._seen_leaving.discard(message_id)
            self._past.pop(message_id, None)

    def _make_view(self, snapshot: Snapshot, now: datetime) -> View:
        """Judge all that is known at the moment `now`, and make the rows of it."""
        config = snapshot.config
        # Places in the store: the queue counts from 0, all of the past stands before it, notes of sessions behind it.
        live, past = PlacedMessage.each(self._live), PlacedMessage.each(self._past.values(), -len(self._past))
        notes = PlacedMessage.each(snapshot.notes, len(live))
        live_by_age, every_by_age = sorted(live, key=_WHEN), sorted((*past, *live, *notes), key=_WHEN)
        seen = find_last_seen(every_by_age)
        # What has consequences: who is a member, who asked and decided what, what the sprint is.
        known = [entry for entry in every_by_age if entry.is_fact]
        members, batches = _facts_of_kinds(known, MEMBERSHIP), _facts_of_kinds(known, BATCH_FACTS)
        team = membership(config, members)
        judged = judge_entries(config, self._recorded, known, seen.spoken, team.arrived)
        requests = requests_of(judged, now)
        everybody = set(team.roles)
        if not config.declared:  # without a roster whoever writes or is written to is of the team
            named = (entry.message.recipients for entry in live if entry.message.type != SESSION)
            everybody |= {*seen.written, *chain.from_iterable(named)} - {ALL}
        boxes = inboxes(live_by_age, everybody, snapshot.finished)
        counts = Counter(entry.message.status for entry in live)
        # Finished messages are not among those that were read where the backend only counts them.
        for status, number in snapshot.finished.statuses.items() if snapshot.finished is not None else ():
            counts[status] = max(counts[status], number)
        deliveries = delivery_rows(live_by_age, now)
        roles = {**team.gone, **team.roles}
        facts = Facts(
            config=config,
            now=now,
            me=self._me,
            # The lead's seat is the human's, so what goes to `user` goes to the lead too (D6).
            mine=frozenset({self._me, USER} if self._me == config.lead else {self._me}),
            complete=self._complete,
            recorded=self._recorded,
            problems=snapshot.problems,
            dropped=snapshot.dropped,
            live=live,
            past=past,
            notes=notes,
            ids=frozenset(entry.message.message_id for entry in live),
            seen=seen,
            team=team,
            stops=agent_stops(config, team, judged, seen.spoken, self._recorded),
            requests=requests,
            sprint=sprint(batches),
            drift=tuple(roster_drift(config, team, members)),
            lifecycles=lifecycles(known, requests, roles, complete=self._complete),
            inboxes=boxes,
            unanswered=unanswered(live_by_age),
            failed=tuple([row for row in deliveries if row.state is DeliveryState.FAILED]),
        )
        reads = [entry.read for entry in batches]
        for_rules = TeamFacts(config, roles, report_targets(reads), plans_of(reads))
        rows = roster(facts)
        damaged = snapshot.damaged & self._seen_leaving
        return View(
            revision=snapshot.revision,
            now=now,
            me=self._me,
            snapshot=snapshot,
            roster=rows,
            inboxes={name: box.messages(config.ranks) for name, box in boxes.items()},
            requests=mark_damaged(requests.rows, damaged),
            attention=withhold_answers(action_items(facts), damaged),
            deliveries=deliveries,
            failed=facts.failed,
            batches=facts.sprint.batches,
            lifecycles=facts.lifecycles,
            counts=dict(sorted(counts.items())),
            unlisted={name: box.unlisted for name, box in boxes.items() if box.unlisted},
            findings=findings(facts, rows, for_rules),
            unanswered=facts.unanswered,
        )


def _detached_copy(message: Message) -> Message:
    """Return a copy of a message: one read with a whole queue keeps the text of all of it in memory."""
    return from_record(dict(message.record))


def _facts_of_kinds(known: Iterable[PlacedMessage], names: Set[str]) -> list[PlacedMessage]:
    """Return the facts of kinds with these names."""
    return [entry for entry in known if entry.read.kind is not UNKNOWN and entry.read.name in names]


def view_of(
    snapshot: Snapshot,
    *,
    me: str,
    now: datetime,
    history: Iterable[Message] = (),
    complete: bool = True,
) -> View:
    """Make the view of one snapshot; arguments as for `Projection.update`."""
    return Projection(me).update(snapshot, now, history, complete=complete)
