"""What comes from the terminal, with nothing in a paste taken for a key.

Textual collects a paste, but an escape sequence in it that it does not know is handed out as single keys: a log with
colours typed into a form would hand it in and go on to decide what comes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from textual._time import get_time
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.events import Paste
from textual.message import Message

_ESC, _SUBSTITUTE = "\x1b", "\x1a"
"""Of the characters of control the second stands for one that could not be passed on."""
_STYLES = re.compile(r"\x1a\[[0-?]*[ -/]*[@-~]|\x1a\][^\x07\x1a]*(?:\x07|\x1a\\)")
"""Sequences that colour what is printed, move the cursor or name a window or a link: no part of the text."""


class PasteParser(XTermParser):
    """Textual's parser of what a terminal sends; what stands between the marks of a paste is text, whatever it is."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._is_pasting = False
        self._before = self._held = ""

    def feed(self, data: str) -> Iterable[Message]:
        """The events that `data` completes; empty `data` is the end."""
        passed = "".join(self._without_escapes(data))
        if data and not passed:  # all of it may be the end of a paste; without data it would be the end of all
            return
        for message in super().feed(passed):
            if isinstance(message, Paste):
                message.text = _plain(message.text)
            yield message

    def undecided_for(self) -> float | None:
        """Seconds after which `tick` decides on what may be the beginning of a sequence; None when nothing may be."""
        return None if self._timeout_time is None else max(0.0, self._timeout_time - get_time())

    def _without_escapes(self, data: str) -> Iterator[str]:
        """The same, with another character for each escape in a paste; marks may come in two pieces."""
        data, self._held = self._held + data, ""
        while data:
            if self._is_pasting:
                pasted, end, data = data.partition(BRACKETED_PASTE_END)
                if not end:
                    kept = len(pasted) - _begun(pasted, BRACKETED_PASTE_END)
                    pasted, self._held = pasted[:kept], pasted[kept:]
                yield pasted.replace(_ESC, _SUBSTITUTE) + end
                self._is_pasting, self._before = not end, ""
            else:
                place = (self._before + data).find(BRACKETED_PASTE_START)
                typed = place + len(BRACKETED_PASTE_START) - len(self._before) if place >= 0 else len(data)
                yield data[:typed]
                self._before = (self._before + data)[1 - len(BRACKETED_PASTE_START) :]
                self._is_pasting, data = place >= 0, data[typed:]


def _begun(text: str, mark: str) -> int:
    """How many characters at the end of `text` may be the beginning of `mark`."""
    return next(size for size in range(len(mark) - 1, -1, -1) if text.endswith(mark[:size]))


def _plain(pasted: str) -> str:
    return _STYLES.sub("", pasted).replace(_SUBSTITUTE, _ESC)
