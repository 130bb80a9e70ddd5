"""Settings file of a YAML team, and what the ledger has of it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.yaml.audit_log import AuditLog
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import Layout
from team_console.store.settings.in_force import Names
from team_console.store.settings.settings_file import parse, read_text, stamp, with_trust
from team_console.store.settings.team_config import TeamConfig


class SettingsFile(Struct, frozen=True):
    """See `StoredSettings`."""

    disk: Disk
    layout: Layout

    @property
    def names(self) -> Names:
        """See `StoredSettings.names`."""
        path = str(self.layout.config)
        return Names(path, path, path)

    def mark(self, key: Path | None) -> object:
        """See `StoredSettings.mark`."""
        return stamp(self.layout.config), key and stamp(key)

    def text(self) -> bytes | None:
        """See `StoredSettings.text`."""
        return read_text(self.layout.config)

    def understand(self, text: bytes, *, on_record: bool = False) -> TeamConfig:
        """See `StoredSettings.understand`. Commands out of the ledger are run for whoever alone can write that."""
        # guard: settings-from-trusted-audit-only
        return with_trust(parse(text, self.layout.config), self.layout.audit if on_record else self.layout.config)

    def digest_on_record(self) -> str:
        """See `StoredSettings.digest_on_record`."""
        with contextlib.suppress(OSError):
            return str(AuditLog(self.disk, self.layout.audit).tip().settings.get("sha256", ""))
        return ""

    def text_on_record(self) -> bytes | None:
        """See `StoredSettings.text_on_record`."""
        with contextlib.suppress(OSError):
            return AuditLog(self.disk, self.layout.audit).settings()
        return None
