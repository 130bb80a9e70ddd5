"""What the ledger says of archived messages, in the place of archives that cannot be read.

It tells which message an id or a request stands for. It is no copy: nothing may leave the queue on its word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.recovery.healing import replay
from team_console.store.backends.yaml.recovery.ledger import Line, line_of_bytes, whole_lines
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.reading import carries

_VOID = b'"void":'


class RecordedPart:
    """The messages of one ledger; read anew at each question, and only where the bytes hold the word asked for.

    Questions raise `trouble`, why an archive cannot be read, where the ledger cannot be read either.
    """

    def __init__(self, disk: Disk, path: Path, trouble: TeamError) -> None:
        self._disk = disk
        self._path = path
        self._trouble = trouble

    def proves(self, message_id: str) -> bool:
        """Never: what is recorded is no archived copy."""
        return False

    def keeps(self, message: Message) -> bool:
        """Never: what is recorded is no archived copy."""
        return False

    def message(self, message_id: str) -> Message | None:
        """The message with this id, as it was at last."""
        return next((message for message in self.holding(message_id)[::-1] if message.message_id == message_id), None)

    def thread(self, request_id: str) -> list[Message]:
        """Messages that carry `request_id`."""
        return [message for message in self.holding(request_id) if carries(message, request_id)]

    def holding(self, word: str) -> list[Message]:
        """Messages of lines that have `word` in their text, as they were at last; others may be among them."""
        needle = json.dumps(word, ensure_ascii=False)[1:-1].encode("utf-8", "backslashreplace")
        try:
            held, _ = replay(map(_with_archived, self._lines(needle)))
        except OSError:
            raise self._trouble from None
        return [message for messages in held.values() for message in messages]

    def _lines(self, needle: bytes) -> Iterator[Line]:
        for block in whole_lines(self._disk, self._path, 0):
            if needle in block or _VOID in block:
                for row in block.split(b"\n"):
                    line = line_of_bytes(row + b"\n") if needle in row or _VOID in row else None
                    if line is not None:
                        yield line


def _with_archived(line: Line) -> Line:
    """As if what it archived and took out were in the queue yet."""
    archived = tuple(record for _, _, record in line.archived if record is not None)
    return replace(line, writes=(*line.writes, *archived), removed=())
