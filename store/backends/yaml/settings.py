"""Settings file of a YAML team: read anew when it changed, and compared with what the ledger says was in force."""

from __future__ import annotations

import threading

from msgspec.structs import replace
from team_console.store.backends.yaml.audit_log import AuditLog
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import Layout
from team_console.store.model.errors import TeamError
from team_console.store.settings.in_force import InForce, Names, judge
from team_console.store.settings.settings_file import parse, read_text, stamp, with_trust
from team_console.store.settings.team_config import TeamConfig


class SettingsFile:
    """Reads the settings of one team; safe to use from several threads."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._guard = threading.Lock()
        self._disk = disk
        self._layout = layout
        self._ledger = AuditLog(disk, layout.audit)
        self._known: InForce | None = None
        self._seen: bytes | None = None

    def look(self) -> InForce:
        """Return the settings as they are now, with what is wrong with them; those in force before while they are
        lost.
        """
        with self._guard:
            return self._look()

    def config(self) -> TeamConfig:
        """See `Team.config`."""
        return self.look().checked()

    def _look(self) -> InForce:
        known = self._known
        mark = self._mark(known)
        # Of lost ones another process may have decided meanwhile.
        if known is None or known.mark != mark or known.error is not None or known.config.lost:
            known = self._read(mark)
            if (again := self._mark(known)) != mark:  # it names another key, whose mark was not taken before
                known = self._read(again)
            self._known = known
        return known

    def _read(self, mark: tuple[int, ...]) -> InForce:
        path, text = self._layout.config, None
        try:
            text = read_text(path)
            said: TeamConfig | TeamError = TeamConfig() if text is None else with_trust(parse(text, path), path)
        except TeamError as error:
            said = error
        last = self._known.config if self._known else TeamConfig()
        names = Names(str(path), str(path), str(path))
        before = self._in_force(text)
        found = judge(text, said, before=before, last=last, understand=self._understood, names=names)
        self._seen = found.seen(self._seen)
        return replace(found, mark=mark)

    def _understood(self, before: bytes) -> TeamConfig:
        """Its commands come out of the ledger now: who can write that would have them run."""
        # guard: settings-from-trusted-audit-only
        return with_trust(parse(before, self._layout.config), self._layout.audit)

    def _in_force(self, text: bytes | None) -> bytes | None:
        """Return the settings that were in force before, recorded or seen by this process; None when unknown."""
        try:
            recorded = self._ledger.settings()
        except OSError:
            recorded = None
        if recorded is not None and recorded == (text or b""):
            return recorded
        return self._seen if self._seen is not None else recorded

    def _mark(self, known: InForce | None) -> tuple[int, ...]:
        try:
            found = self._disk.stat(self._layout.config)
        except OSError:
            found = None
        key = known.config.key_path if known is not None else None
        marks = (found.mark if found else None, stamp(self._layout.config), stamp(key) if key is not None else None)
        return tuple(number for mark in marks for number in (mark or (0,)))
