"""A team that lives in this process: the contract without a disk, for tests and trials."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.contract.snapshot import Condition, LockHolder, Snapshot
from team_console.store.contract.team import Attendance, AuditLine, Page, Presence, Team, WatchHint, WatchState
from team_console.store.contract.transaction import Changes, Transaction
from team_console.store.model.clock import Clock, to_text, utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import FieldDict, Message, is_copy
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.parsing import carries
from team_console.store.protocol.trail_facts import fact_of
from team_console.store.settings.editing import settings_as_yaml
from team_console.store.settings.in_force import SettingsInForce
from team_console.store.settings.settings_file import parse_settings
from team_console.store.settings.team_config import Agent, TeamConfig


class _State(Struct):
    messages: tuple[Message, ...] = ()
    archives: dict[str, list[Message]] = field(default_factory=dict)
    audit: list[AuditLine] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)
    inboxes: dict[str, list[Message]] = field(default_factory=dict)
    revision: int = 0
    present: set[tuple[Presence, str]] = field(default_factory=set)


def _is_older(message: Message, moment: datetime) -> bool:
    created = message.created_at
    return created is not None and created < moment


def put_on_record(
    recorded: RecordedFacts | None, message: Message, *, line: int, at: datetime, by_desk: bool = True
) -> None:
    """Put a message on the trail of a team that keeps one, as it is now."""
    raw = json.dumps(dict(message.record)).encode()
    fact = fact_of(raw, message.record, line=line, at=at, by_desk=by_desk, in_time=by_desk)
    if fact is not None and recorded is not None:
        recorded.add(fact)


class _Transaction(Transaction):
    def __init__(self, team: MemoryTeam) -> None:
        super().__init__(now=team.clock(), in_force=team.settings_in_force(), recorded=lambda: team.recorded)
        self._state = team._state

    def stored(self) -> Sequence[Message]:
        return self._state.messages

    def stored_message(self, message_id: str) -> Message | None:
        return next((message for message in self._state.messages if message.message_id == message_id), None)

    def archived_message(self, message_id: str) -> Message | None:
        return next((message for message in self._archived() if message.message_id == message_id), None)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        return [message for message in self._archived() if carries(message, request_id)]

    def delete_archived(self, before: datetime) -> FieldDict:
        archives = self._state.archives
        old = {message.message_id for message in self._archived() if _is_older(message, before)}
        old -= {message.message_id for message in self.everything()}
        for agent, page in archives.items():
            archives[agent] = [message for message in page if message.message_id not in old]
        return {"count": len(old)} if old else {}

    def has_archived(self, message: Message, agent: str | None = None) -> bool:
        copies = self._archived() if agent is None else self._state.archives.get(agent, ())
        return any(is_copy(copy, message) for copy in copies)

    def _archived(self) -> Iterator[Message]:
        for messages in self._state.archives.values():
            yield from messages


class MemoryTeam(Team):
    """A team in memory with the same promises as one on disk, durability excepted."""

    root = None
    kind = "memory"

    def __init__(
        self,
        *,
        config: TeamConfig | None = None,
        messages: Iterable[Message] = (),
        clock: Clock = utc_now,
        read_only: bool = False,
        name: str = "trial",
        keeps_trail: bool = False,
    ) -> None:
        """Open it; a team that `keeps_trail` knows of each request and answer that it wrote it."""
        self.location = f"memory:{name}"
        self.clock = clock
        self.read_only = read_only
        self._config = config or TeamConfig()
        self.recorded = RecordedFacts() if keeps_trail else None
        self._state = _State(messages=tuple(messages))
        self._lock = threading.Lock()
        self._holder: LockHolder | None = None
        self._changed = threading.Event()

    def settings_in_force(self) -> SettingsInForce:
        text = settings_as_yaml(self._config).encode()
        return SettingsInForce(self._config, text=text, text_in_force=text)

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        state, now = self._state, self.clock()
        return Snapshot(
            revision=str(state.revision),
            taken_at=now,
            changed_at=now if state.messages else None,
            config=self._config,
            messages=tuple(state.messages),
            condition=Condition.OK if state.messages else Condition.EMPTY,
            holder=self._holder,
            recorded=self.recorded,
        )

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        if self.read_only:
            raise TeamError(Code.READ_ONLY, f"{self.location} is open read-only", "Open it without --read-only.")
        if not self._lock.acquire(timeout=wait):
            raise TeamError(Code.STORE_LOCKED, f"{self.location} is locked", "Try again.")
        try:
            self._holder = LockHolder(None, "", to_text(self.clock()), action, True)
            transaction = _Transaction(self)
            yield transaction
            changes = transaction.finish()
            if changes is not None:
                self._commit(changes, actor)
        finally:
            self._holder = None
            self._lock.release()

    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        names = [agent] if agent else list(self._state.archives)
        unique = {archive.message_id: archive for name in names for archive in self._state.archives.get(name, ())}
        newest = sorted(unique.values(), key=lambda message: message.created)[::-1]
        start = int(cursor or 0)
        end = start + limit
        return Page(tuple(newest[start:end]), str(end) if end < len(newest) else None)

    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        return self._state.audit[::-1][:limit]

    def attachment(self, reference: str) -> bytes:
        try:
            return self._state.attachments[reference]
        except KeyError:
            raise TeamError(Code.INVALID_FIELD, f"no attachment {reference!r}") from None

    @contextmanager
    def announce(self, presence: Presence, name: str) -> Iterator[bool]:
        self._state.present.add((presence, name))
        try:
            yield True
        finally:
            self._state.present.discard((presence, name))

    def attendance(self, presence: Presence) -> Attendance:
        return Attendance(frozenset(name for kind, name in self._state.present if kind is presence))

    async def watch(self) -> AsyncIterator[WatchHint]:
        yield WatchHint(WatchState.LIVE)
        seen = self._state.revision
        while True:
            await asyncio.sleep(0.02)
            if self._state.revision != seen:
                seen = self._state.revision
                yield WatchHint(WatchState.LIVE)

    def set_member(self, agent: Agent) -> None:
        """Have this on the roster, in place of who has its name."""
        agents = {**self._config.agents, agent.name: agent}
        self._config = replace(self._config, agents=MappingProxyType(agents))

    def _commit(self, changes: Changes, actor: str) -> None:
        state = self._state
        for agent, message in changes.archived:
            state.archives.setdefault(agent, []).append(message)
        for agent, message in changes.pushed:
            state.inboxes.setdefault(agent, []).append(message)
        state.attachments.update(changes.attachments)
        for action, facts in changes.records:
            state.audit.append(AuditLine(len(state.audit) + 1, to_text(self.clock()), actor, action, facts))
            if self.recorded is not None:
                self.recorded.add_action(len(state.audit), action, facts)
        for message in changes.added.values() if self.recorded is not None else ():
            put_on_record(self.recorded, message, line=len(state.audit), at=self.clock())
        if changes.settings is not None:
            self._config = parse_settings(changes.settings.encode(), Path("settings"))
        state.messages = changes.apply(state.messages)
        state.revision += 1
