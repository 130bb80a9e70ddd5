"""Answers of the terminal: when it holds a frame, in the order of what is typed.

Behind a frame the terminal is asked where its cursor is. It answers once it has taken all that was written before, and
what is typed later comes behind the answer: over a slow line as well. Of a terminal that never answers it counts that
the frame has left and that nothing typed before that is still unread.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import IO, Any

ASK = "\x1b[6n"
"""Asks the terminal for the place of its cursor."""
_PATIENCE = 3.0
"""Seconds after which an answer counts as lost."""
_MOST_UNANSWERED = 20
"""Questions of which none was answered, after which a terminal is asked no more."""


class FrameMark(str):
    """What is written behind a frame; its number is told once it has left."""

    number = 0


class HeldFrames:
    """The frames that are on their way to one terminal.

    Attributes:
        reading: Held by the thread that reads while it reads, and by the one that writes while it notes what it sent.
    """

    def __init__(self, hold: Callable[[int], None]) -> None:
        """`hold` is told the number of each frame that is held, in the order of what is typed; from any thread."""
        self._hold = hold
        self.reading = Lock()
        self._asked: deque[tuple[int, float]] = deque()
        self._has_answered = False
        self._unanswered = self._sent_behind_keys = 0

    def begin(self) -> None:
        """Begin anew: the terminal was given away, and what it was asked before is not answered any more."""
        self._asked.clear()
        self._has_answered, self._unanswered = False, 0

    def mark(self, number: int) -> FrameMark:
        """Return what to write behind the frame with this number."""
        asks = self._unanswered < _MOST_UNANSWERED
        if asks:
            self._asked.append((number, monotonic()))
            self._unanswered += 1
        mark = FrameMark(ASK if asks else "")
        mark.number = number
        return mark

    def note_sent(self, number: int, file: int) -> None:
        """Note, in the thread that writes, that a frame and its mark were taken by the terminal's line."""
        with self.reading:
            # guard: held-by-its-answer
            if self._answers_tell():
                return
            # guard: typed-before-the-frame-is-read-first
            if select.select([file], [], [], 0)[0]:
                self._sent_behind_keys = number
            else:
                # guard: held-without-an-answer
                self._hold(number)

    def note_read(self) -> None:
        """Note, in the thread that reads and has the lock, that all was read that had been typed by now."""
        number, self._sent_behind_keys = self._sent_behind_keys, 0
        if number:
            self._hold(number)

    def take_answer(self) -> None:
        """Take the answer to the oldest question."""
        self._has_answered, self._unanswered = True, 0
        if self._asked:
            self._hold(self._asked.popleft()[0])

    @property
    def is_asked(self) -> bool:
        """Whether an answer is on its way, as far as is known."""
        return self._has_answered and bool(self._asked)

    def _answers_tell(self) -> bool:
        """Give up answers that seem to be lost; return whether answers tell of frames: not before the first came, and
        not behind a lost one until the next.
        """
        # guard: lost-answer-is-not-waited-for
        while self._asked and monotonic() - self._asked[0][1] > _PATIENCE:
            self._asked.popleft()
            self._has_answered = False
        return self._has_answered


class MarkedFile:
    """The terminal as a file, which tells when a `FrameMark` has left."""

    def __init__(self, file: IO[str], tell_sent: Callable[[int], None]) -> None:
        self._file = file
        self._tell_sent = tell_sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> None:
        """Write a text; behind a mark all of it is sent on at once."""
        if text:
            self._file.write(text)
        if isinstance(text, FrameMark):
            self._file.flush()
            self._tell_sent(text.number)
