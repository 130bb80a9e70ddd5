"""Patterns that are compiled when they are first used: that takes up to milliseconds, and most starts need few."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import AnyStr, Generic


class LazyPattern(Generic[AnyStr]):
    """A regular expression with the methods of a compiled one."""

    def __init__(self, text: AnyStr, flags: int = 0) -> None:
        self._text: AnyStr = text
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[AnyStr]:
        return re.compile(self._text, self._flags)

    def search(self, text: AnyStr) -> re.Match[AnyStr] | None:
        """The first place in `text` that matches."""
        return self._compiled.search(text)

    def match(self, text: AnyStr, start: int = 0) -> re.Match[AnyStr] | None:
        """What matches at `start`."""
        return self._compiled.match(text, start)

    def fullmatch(self, text: AnyStr) -> re.Match[AnyStr] | None:
        """The whole of `text`, if it matches."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: AnyStr, start: int = 0) -> Iterator[re.Match[AnyStr]]:
        """All places from `start` on that match."""
        return self._compiled.finditer(text, start)

    def findall(self, text: AnyStr) -> list[AnyStr]:
        """What stands at all places that match: their one group, or all of the match."""
        return self._compiled.findall(text)

    def sub(self, new: AnyStr | Callable[[re.Match[AnyStr]], AnyStr], text: AnyStr) -> AnyStr:
        """`text` with every place that matches replaced."""
        return self._compiled.sub(new, text)
