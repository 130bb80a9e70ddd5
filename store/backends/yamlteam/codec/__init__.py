"""The text codec of the YAML queue: text in, messages out, and back without touching what did not change."""

from __future__ import annotations

from store.backends.yamlteam.codec.emitter import emit
from store.backends.yamlteam.codec.entry import Entry, parse_entry
from store.backends.yamlteam.codec.errors import CodecError
from store.backends.yamlteam.codec.queue_text import QueueText

__all__ = ["CodecError", "Entry", "QueueText", "emit", "parse_entry"]
