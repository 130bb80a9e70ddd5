"""The text codec of the YAML queue: text in, messages out, and back without touching what did not change."""

from __future__ import annotations

from team_console.store.backends.yaml.codec.editing.emitter import emit
from team_console.store.backends.yaml.codec.entry import QueueEntry, parse_entry
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.queue_text import QueueText

__all__ = ["CodecError", "QueueEntry", "QueueText", "emit", "parse_entry"]
