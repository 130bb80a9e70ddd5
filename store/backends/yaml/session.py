"""The YAML team while its lock is held: recover what was left, hand out a transaction, commit it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.archives import Archives, Shortening, plan_shortening, shorten_archives
from team_console.store.backends.yaml.audit_trail import AuditTrail, TransactionLine
from team_console.store.backends.yaml.commit import (
    ConcurrentWriteError,
    LockedTeam,
    OutcomeUnknownError,
    commit_line,
    commit_note,
    line_of,
    make_folder,
    remove_files,
    write_failure,
)
from team_console.store.backends.yaml.disk import FORBIDDEN, Disk, rename_durably, shared_mode, write_new
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.lock import (
    hold_link_locks,
    hold_lock,
    holder_text,
    parse_released,
    read_text,
    released_text,
    text_as_left,
)
from team_console.store.backends.yaml.queue import QueueFile, QueueText, is_spelled_one_way
from team_console.store.backends.yaml.recovery import recover, remove_staging
from team_console.store.contract.snapshot import OUTCOME_UNKNOWN
from team_console.store.contract.transaction import ChangedError, Transaction
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import FieldDict, Message, ids_of
from team_console.store.model.names import ALL, is_name
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.parsing import carries, thread_of
from team_console.store.settings.in_force import SettingsInForce
from team_console.store.settings.settings_file import read_settings

_LOOKS_BEFORE_SEARCH = 4
"""After so many looks for messages in archives, the files are searched for all messages of the queue at once."""


class YamlTransaction(Transaction):
    """Buffered changes over the queue's text and the archives."""

    def __init__(self, team: LockedTeam) -> None:
        super().__init__(now=team.clock(), in_force=team.settings, recorded=team.recorded)
        self._team = team
        self._text = team.queue.text
        self._archives = team.archives
        self._candidates: dict[frozenset[str], Sequence[Message]] = {}
        self._looks = 0
        self.shortened: list[Shortening] = []
        """Archives that become shorter once the line that says so is durable."""
        self.notices = team.notices

    @property
    def damaged(self) -> int:
        return self._text.damaged_count

    def stored(self) -> Sequence[Message]:
        return self._text.messages()

    def stored_message(self, message_id: str) -> Message | None:
        return self._text.message(message_id)

    def stored_candidates(
        self, *, recipient: str | None, statuses: frozenset[str], types: frozenset[str]
    ) -> Sequence[Message] | None:
        """See `Transaction.stored_candidates`; found by one look at the bytes of each entry for each set of types."""
        if types and types not in self._candidates:
            self._candidates[types] = self._text.entries_with([word.encode("utf-8", "replace") for word in types])
        return self._candidates.get(types)

    def stored_naming(self, word: str) -> Sequence[Message] | None:
        """Return messages whose bytes hold an id, or what could hide it; see `Transaction.stored_naming`."""
        if not is_spelled_one_way(word):
            return None
        return list(dict.fromkeys([*self._text.entries_with([word.encode()]), *self.changes.replaced]))

    def archived_message(self, message_id: str) -> Message | None:
        return self._archives.find(message_id)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        return (message for message in self._archives.messages_with(request_id) if carries(message, request_id))

    def delete_archived(self, before: datetime) -> FieldDict:
        """Plan to shorten archives with the commit; see `Transaction.delete_archived`."""
        self.shortened = plan_shortening(
            self._team.disk, self._archives, before=before, keep=set(ids_of(self.stored()))
        )
        ids = frozenset[str]().union(*(item.ids for item in self.shortened))
        left = {item.path.name: len(item.data or b"") for item in self.shortened}
        return {"count": len(ids), "left": left} if ids else {}

    # guard: archived-once-per-agent
    def has_archived(self, message: Message, agent: str | None = None) -> bool:
        """See `Transaction.has_archived`; of all archives those of its recipients are looked at first."""
        self._looks += 1
        # A search for each of many messages in all of an archive takes the square of the time.
        if self._looks == _LOOKS_BEFORE_SEARCH:
            self._archives.expect(ids_of(self.stored()))
        likely = [name for name in message.recipients if agent is None and is_name(name) and name != ALL]
        return any(self._archives.has_copy_of(message, name) for name in (*likely, agent))

    def put_back(self, text: bytes) -> str:
        """See `Transaction.put_back`; the file is there before the line on the audit trail that says so."""
        self.to_record = text
        return put_settings(self._team, text, keep=True)

    def remove(self, message: Message, *, optional: bool = False) -> None:
        """See `Transaction.remove`.

        Raises:
            ValueError: No archive proves to hold it; a programming error that would lose the message.
        """
        if message.message_id not in self.changes.added and not self.is_archived(message):
            raise ValueError(f"{message.message_id} is in no archive; archive it before it leaves the queue")
        super().remove(message)


# One session with the lock. A send reads from `open_session` on: take the lock, recover what was left, hand out a
# transaction, commit it (`commit.py`), leave a clean mark.

_TRIES = 100
"""How often we begin anew because a program that does not lock wrote meanwhile; `_PATIENCE` ends most sooner."""
_PATIENCE = 3
"""Tries that begin anew when somebody writes meanwhile. After that we swap all the same and merge what the swap
displaced, so that a busy writer cannot keep us from ever finishing."""


class LockedSession(Struct):
    """Work on the queue while its lock is held."""

    team: LockedTeam

    def enter(self) -> None:
        """Recover what was left and take in `drop/`, before anything is asked."""
        self._agree_and(None)
        team = self.team
        try:
            if team.disk.stat(team.layout.drop) is not None:
                from team_console.store.backends.yaml.drop import DropFolder  # with all that judges requests: 8 ms

                DropFolder(team, self.write).take_in()
        except OSError as error:
            raise write_failure(team.layout.queue, error) from error

    @contextmanager
    def transaction(self, *, actor: str) -> Iterator[YamlTransaction]:
        """Open a transaction on the queue as it is now; it is committed when the block ends without an exception."""
        team, owner = self.team, os.getpid()
        tx = YamlTransaction(team)
        yield tx
        changes = tx.finish()
        if changes is None:
            return
        if os.getpid() != owner:
            raise RuntimeError("a transaction must end in the process that began it")
        with replaced_settings(team, changes.settings):
            line = line_of(changes, actor=actor)
            self.write(line, changes.attachments, settings=tx.to_record, rests_on=tx.expected)
        if tx.shortened:
            team.archives.forget()
            shorten_archives(team.disk, team.layout, tx.shortened, mode=team.queue.mode_beside)

    def write(
        self,
        line: TransactionLine,
        attachments: Mapping[str, bytes] | None = None,
        *,
        settings: bytes | None = None,
        rests_on: Sequence[Message] = (),
    ) -> None:
        """Commit `line`, and have everything agree again if another program wrote at that very moment.

        Args:
            settings: Text of those in force, None while that is not known.

        Raises:
            ChangedError: A message that the line `rests_on` was changed by a program that does not lock, since it was
                read.
        """

        def commit(patient: bool) -> None:
            # guard: foreign-write-before-verdict
            _refuse_changed(self.team.queue.text, rests_on)
            commit_line(self.team, line, attachments or {}, patient=patient, settings=settings)

        self._agree_and(commit)
        with contextlib.suppress(TeamError):  # Ours is done; what is left of theirs is for the next session.
            self._agree_and(None)

    def _agree_and(self, step: Callable[[bool], None] | None) -> None:
        """Recover, then do `step`; both again as often as a program that does not lock writes meanwhile.

        Raises:
            TeamError: As `recover` and `commit_line` do; `STORE_FAILED` when it never ends.
        """
        team = self.team
        for number in range(_TRIES):
            patient = number < _PATIENCE
            try:
                remedy = None if team.agrees else recover(team)
                if remedy is not None and remedy.is_note:
                    commit_note(team, remedy)
                elif remedy is not None:
                    commit_line(team, remedy, {}, patient=patient)
                    if not team.agrees:
                        continue
                team.agree()
                return step(patient) if step is not None else None
            except ConcurrentWriteError:
                team.agrees = False
            except OutcomeUnknownError as error:
                what = f"{team.layout.queue}: {error}; the outcome is unknown"
                hint = "Repeat it with the same id: what was done is not done twice."
                raise TeamError(Code.STORE_FAILED, what, hint, **{OUTCOME_UNKNOWN: True}) from error
            except OSError as error:
                raise write_failure(team.layout.queue, error) from error
        text = f"{team.layout.queue} was rewritten {_TRIES} times by a program that does not lock"
        hint = "Nothing was changed. Stop that program, or let it write through 'team-console' or 'drop/'."
        raise TeamError(Code.STORE_FAILED, text, hint)


@contextmanager
def open_session(
    disk: Disk,
    layout: Layout,
    *,
    clock: Clock,
    action: str,
    wait: float,
    known: QueueFile | None,
    archives: Archives,
    settings: Callable[[], SettingsInForce],
    recorded: Callable[[], RecordedFacts | None],
) -> Iterator[LockedSession]:
    """Hold the lock over a queue that agrees with everything; leave it marked as clean when it does so at the end.

    Args:
        known: The queue as this process last saw it; None where it never did.
        archives: The team's; what was known of them in the session before is forgotten.
        settings: Reads the settings, once the lock is there; all that is done in this session goes by them.
        recorded: As in `LockedTeam`.

    Raises:
        TeamError: `STORE_LOCKED`, `STORE_UNREADABLE`, `STORE_FAILED` or `READ_ONLY`.
    """
    mode = shared_mode(disk.stat(layout.queue))
    with (
        hold_link_locks(disk, layout, wait=wait, mode=mode) as left_to_wait,
        hold_lock(disk, layout.lock, wait=left_to_wait, mode=mode) as lock,
    ):
        before = read_text(disk, layout.lock)
        released = parse_released(before)
        with contextlib.suppress(OSError):
            lock.write(holder_text(since=to_text(clock()), action=action))
        seen = known or QueueFile(QueueText.empty(), None)
        read = settings()
        archives.forget()
        trail = AuditTrail(disk, layout.audit, read.config.key)
        team = LockedTeam(disk, layout, lock, clock, trail, archives, read, recorded, seen, seen, released)
        session = LockedSession(team)
        try:
            session.enter()
            yield session
        finally:
            # Whoever comes after a session that was given up must not take us for a holder that died in it.
            text = text_as_left(before)
            # guard: lost-trail-kept-without-write
            if team.agrees and team.released is not None and team.lost_lines is None:
                text = released_text(replace(team.released, listed=team.agreed_queue.text.list_digest))
            with contextlib.suppress(OSError):
                lock.write(text)


def _refuse_changed(text: QueueText, rests_on: Sequence[Message]) -> None:
    """Refuse to commit what rests on a message that says something else by now."""
    if not rests_on:
        return
    from team_console.store.protocol.shown_when_decided import digest_of  # with all that judges requests: 8 ms

    for message in rests_on:
        now = text.message(message.message_id)
        if now is None or digest_of(now) != digest_of(message):
            raise ChangedError(thread_of(message), now)


# The settings file of a YAML team, replaced as a whole while the lock is held, and put back when the commit fails.

_MODE_OF_SETTINGS = 0o644
"""For its owner to write alone: settings that others can write run no command."""


@contextmanager
def replaced_settings(team: LockedTeam, text: str | None) -> Iterator[None]:
    """Put `text` in the place of the settings for what happens in the block; an error there puts the old ones back.

    The file is there before the line on the audit trail: a crash between the two leaves whole settings.

    Raises:
        TeamError: As `put_settings` does.
    """
    if text is None:
        yield
        return
    path = team.layout.config
    before = read_settings(path) if team.disk.stat(path) is not None else None
    put_settings(team, text.encode())
    try:
        yield
    except BaseException:
        with contextlib.suppress(TeamError, OSError):
            if before is not None:
                # guard: settings-put-back
                put_settings(team, before.encode())
            else:
                team.disk.unlink(path)
        raise


def put_settings(team: LockedTeam, text: bytes, *, keep: bool = False) -> str:
    """Replace the settings, durable; with `keep` what was there stays, under the name that is returned.

    Raises:
        TeamError: `READ_ONLY` or `STORE_FAILED`, with what was there still in its place or kept under another name.
    """
    disk, path, aside = team.disk, team.layout.config, ""
    if not keep:
        path = Path(os.path.realpath(path))  # A link stays a link: what it names is replaced.
    staged = path.with_name(team.layout.stage().name)
    try:
        make_folder(team, path.parent, mode=_MODE_OF_SETTINGS)
        remove_staging(team, path.parent)
        old = disk.stat(path)
        if old is not None and old.kind == "file":
            mode, group = old.mode, old.group
        else:
            # The rights of a link say nothing of a file: everybody has all of them.
            mode, group = team.queue.mode & ~0o022 if keep else _MODE_OF_SETTINGS, -1
        write_new(disk, staged, text, mode=mode, group=group)
        if keep and old is not None:
            aside = f"{path.name}.lost-{team.stamp()}"
            disk.rename(path, path.with_name(aside))
        rename_durably(disk, staged, path)
    except OSError as error:
        remove_files(disk, staged)
        code = Code.READ_ONLY if error.errno in FORBIDDEN else Code.STORE_FAILED
        what = f"{error.filename or path}: {error.strerror or error}; the settings were not changed"
        raise TeamError(code, what, "Make the folder writable for you and repeat it.") from error
    return aside
