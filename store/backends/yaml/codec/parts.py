"""The pieces of a queue: they join to its bytes."""

from __future__ import annotations

from msgspec import Struct
from team_console.store.backends.yaml.codec.cutting.frame import Style
from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.model.chunked import Chunked


class Parts(Struct, frozen=True):
    """A queue cut into head, entries and tail.

    Attributes:
        whole: Whether the file had to be read as one YAML document to find the entries.
        flow: Whether the list is not written with dashes (brackets, null, or an unusual frame without items).
        joined: Whether every entry was understood and open ones were joined.
        blank: Whether the file has no list, nor anything else but comments.
        has_open: Whether, after that, an entry is left whose quotes or brackets nothing closes.
    """

    head: bytes
    entries: Chunked[QueueEntry]
    tail: bytes
    style: Style
    whole: bool = False
    flow: bool = False
    joined: bool = False
    has_open: bool = False
    blank: bool = False
