"""A team in a folder of YAML files: lock-free snapshots, exclusive transactions, history, audit, watch."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.presence_folder import PresentInFolder
from team_console.store.backends.yaml.audit_trail import AuditTrail
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import (
    Layout,
    is_private_path,
    is_private_to_other,
    private_problem,
    refuse_way_out,
    why_not_writable,
)
from team_console.store.backends.yaml.lock import not_readable
from team_console.store.contract.snapshot import PRIVATE, Snapshot
from team_console.store.contract.team import Addressed, AuditLine, Page, Progress, WatchHint, opened_read_only
from team_console.store.model.clock import Clock, utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, by_id
from team_console.store.settings.in_force import SettingsInForce, SettingsNames, SettingsReader
from team_console.store.settings.settings_file import (
    parse_settings,
    settings_bytes,
    settings_version,
    with_command_trust,
)
from team_console.store.settings.team_config import TeamConfig

if TYPE_CHECKING:
    from team_console.store.backends.yaml.archives import Archives, WholeArchive
    from team_console.store.backends.yaml.queue import QueueFile
    from team_console.store.backends.yaml.session import LockedSession
    from team_console.store.backends.yaml.snapshot import SnapshotReader
    from team_console.store.contract.transaction import Transaction

_REFERENCE = r"attachments/[0-9A-Za-z][0-9A-Za-z_-]{0,127}(\.[0-9A-Za-z]{1,8})?"


class SettingsFile(Struct, frozen=True):
    """The settings file of a YAML team, and what the trail has of it: see `StoredSettings`."""

    disk: Disk
    layout: Layout

    @property
    def names(self) -> SettingsNames:
        """See `StoredSettings.names`."""
        path = str(self.layout.config)
        return SettingsNames(path, path, path)

    def mark(self, key: Path | None) -> object:
        """See `StoredSettings.mark`."""
        return settings_version(self.layout.config), key and settings_version(key)

    def text(self) -> bytes | None:
        """See `StoredSettings.text`."""
        return settings_bytes(self.layout.config)

    def understand(self, text: bytes, *, on_record: bool = False) -> TeamConfig:
        """See `StoredSettings.understand`. Commands out of the trail are run for whoever alone can write that."""
        # guard: settings-from-trusted-audit-only
        return with_command_trust(
            parse_settings(text, self.layout.config), self.layout.audit if on_record else self.layout.config
        )

    def digest_on_record(self) -> str:
        """See `StoredSettings.digest_on_record`."""
        with suppress(OSError):
            return str(AuditTrail(self.disk, self.layout.audit).tip().settings.get("sha256", ""))
        return ""

    def text_on_record(self) -> bytes | None:
        """See `StoredSettings.text_on_record`."""
        with suppress(OSError):
            return AuditTrail(self.disk, self.layout.audit).settings()
        return None


class YamlTeam(PresentInFolder):
    """The team whose queue is `queue`. Nothing is created before the first transaction that writes."""

    kind = "yaml"

    def __init__(
        self,
        root: Path,
        *,
        queue: Path,
        archive_dir: Path,
        config_path: Path,
        read_only: bool = False,
        clock: Clock = utc_now,
        disk: Disk | None = None,
    ) -> None:
        self.root: Path = root
        self.location = str(root)
        self.read_only = read_only
        self.clock = clock
        self.layout = Layout.of(queue, archive_dir, config_path)
        self._disk = disk or Disk()
        self._settings = SettingsReader()
        self._whole_archive: WholeArchive = {}
        self._was_there = self.layout.folder_exists(self._disk)
        self._last_queue: QueueFile | None = None  # as our last write left it: the next reading need not parse it
        self._snapshots: SnapshotReader | None = None
        self.keep_presence_in(self.layout.presence)

    @property
    def _reader(self) -> SnapshotReader:
        """The reader of snapshots; a team that is only written to never makes one."""
        if self._snapshots is None:
            from team_console.store.backends.yaml.snapshot import SnapshotReader  # 18 ms with PyYAML

            self._snapshots = SnapshotReader(
                self._disk,
                self.layout,
                self.clock,
                settings=self.settings_in_force,
                folder_seen=self._was_there,
            )
            if self._last_queue is not None:
                self._snapshots.remember_end_of_turn(self._last_queue)
        return self._snapshots

    def snapshot(self, *, progress: Progress | None = None) -> Snapshot:
        """See `Team.snapshot`."""
        self._was_there = self._was_there or self.layout.folder_exists(self._disk)
        return replace(self._reader.snapshot(progress), notes=self.session_notes())

    def obstacle(self) -> str:
        """See `Team.obstacle`."""
        return "" if self.read_only else why_not_writable(self.layout)

    def addressed(self, agent: str) -> Addressed | None:
        """See `Team.addressed`."""
        return self._reader.addressed(agent)

    def reworded(self) -> frozenset[str]:
        """See `Team.reworded`."""
        with suppress(OSError):
            return self._reader.reworded()
        return frozenset()

    def settings_in_force(self) -> SettingsInForce:
        """See `Team.settings_in_force`."""
        return self._settings.look(SettingsFile(self._disk, self.layout))

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        """See `Team.transaction`."""
        with self._session(action, wait) as session, session.transaction(actor=actor) as tx:
            tx.session_notes = self.session_notes
            yield tx

    @contextmanager
    def _session(self, action: str, wait: float) -> Iterator[LockedSession]:
        """Hold the lock over a recovered queue, and remember what it ended with."""
        from team_console.store.backends.yaml.session import open_session  # 18 ms with PyYAML

        self._check_writable()
        held = open_session(
            self._disk,
            self.layout,
            clock=self.clock,
            action=action,
            wait=wait,
            known=self._snapshots.generation if self._snapshots is not None else self._last_queue,
            archives=self._locked_archives,
            settings=self.settings_in_force,
            recorded=lambda: self._reader.recorded(),
        )
        with held as session:
            try:
                yield session
            finally:
                self._last_queue, self._was_there = session.team.queue, True
                if self._snapshots is not None:
                    self._snapshots.remember_end_of_turn(self._last_queue)

    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        """See `Team.history`."""
        if is_private_path(self.layout.archives):
            page = Page((), None)
        else:
            from team_console.store.backends.yaml.archives import ArchivePages

            pages = ArchivePages(self._disk, self._archives(), self._whole_archive)
            page = pages.page(agent=agent, cursor=cursor, limit=limit)
        if cursor is not None:
            return page
        from team_console.store.backends.yaml.folder_health import history_losses

        lost, closed = history_losses(self._disk, self.layout), private_problem(self.layout)
        return replace(page, problems=(*page.problems, *lost, *((closed,) if closed else ())))

    def archived(self, *words: str) -> list[Message]:
        """See `Team.archived`; nothing where the archives are another user's own, which the snapshot tells."""
        if is_private_path(self.layout.archives):
            return []
        archives = self._archives()  # the same for all words: each file is read and searched once
        archives.expect(words)
        found = (message for word in words for message in archives.messages_with(word))
        return list(by_id(found).values())

    def _archives(self) -> Archives:
        from team_console.store.backends.yaml.archives import Archives

        return Archives(self._disk, self.layout)

    @cached_property
    def _locked_archives(self) -> Archives:
        """The archives for whoever holds the lock, one at a time."""
        return self._archives()

    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        """See `Team.audit`."""
        return self._reader.trail.last(limit, self.settings_in_force().config.key)

    def attachment(self, reference: str) -> bytes:
        """See `Team.attachment`."""
        if re.fullmatch(_REFERENCE, reference) is None:
            raise TeamError(Code.INVALID_FIELD, f"{reference!r} is not a reference to an attachment")
        path = self.layout.folder / reference
        try:
            refuse_way_out(self._disk, self.layout, path.parent)
            return self._disk.read(path)[0]
        except OSError as error:
            text = f"{path} cannot be read: {error.strerror or error}"
            facts = {PRIVATE: True} if is_private_to_other(error) else {}
            hint = "The message that names it may have been copied."
            raise TeamError(Code.INVALID_FIELD, text, hint, **facts) from error

    def watch(self) -> AsyncIterator[WatchHint]:
        """See `Team.watch`."""
        from team_console.store.backends.yaml.watch import watch

        return watch(self.layout)

    def mode_beside(self) -> int | None:
        """See `PresentInFolder.mode_beside`."""
        try:
            folder = self._disk.stat(self.layout.folder)
            found = self._disk.stat(self.layout.queue) or self._disk.stat(self.layout.config) or folder
        except OSError:
            return None
        return found.mode if folder is not None and found is not None else None

    def places(self) -> Mapping[str, str]:
        """See `Team.places`."""
        layout = self.layout
        paths = {"queue": layout.queue, "drop": layout.drop, "settings": layout.config, "presence": layout.presence}
        return {name: os.path.abspath(path) for name, path in paths.items()}

    def _check_writable(self) -> None:
        """Refuse to write to a read-only team, and to make a team where none is (only `init` does)."""
        if self.read_only:
            raise opened_read_only(self.location)
        try:
            self._disk.stat(self.layout.queue)
        except OSError as error:  # the folder was closed since the team was opened
            raise not_readable(self.layout.queue, error) from error
        if not self.root.exists():
            hint = "Make a team with 'team-console init', or put the folder back."
            raise TeamError(Code.TEAM_NOT_FOUND, f"{self.root} does not exist", hint)
        folder = self.layout.folder
        if self._disk.stat(folder) is not None:
            return
        if self._was_there or self._disk.stat(self.layout.config) is None:
            what = "was there and is gone" if self._was_there else "does not exist"
            hint = "Make a team with 'team-console init', or put the folder back. Nothing was made in its place."
            raise TeamError(Code.TEAM_NOT_FOUND, f"{folder} {what}", hint)
        folder.mkdir(parents=True, mode=0o700)
