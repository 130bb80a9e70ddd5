"""The events of a YAML text, one after the other: places, levels, anchors, and every failure as a `CodecError`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.parsing.anchors import (
    MOST_IN_ENTRY,
    MOST_IN_FILE,
    NO_ANCHORS,
    AnchorBook,
    Anchors,
)
from team_console.store.backends.yaml.codec.parsing.surrogates import StandIn

DEPTH = 64
"""Levels of nesting in a message; deeper texts are refused before any recursive code sees them."""
_LONGEST_NAME = 80


class Events:
    """A stream of libyaml's parser events that knows its level and turns every failure into a `CodecError`.

    Attributes:
        level: How many lists and mappings are open.
        offset: Characters up to the end of the last event of the text itself.
        anchors: What each name stands for at this place; `known` before the text begins.
        spent: The weight of everything that aliases stood for so far, that of texts before this one included.
    """

    def __init__(self, data: bytes, *, limit: int, known: Anchors = NO_ANCHORS, spent: int = 0) -> None:
        import yaml

        self._data = data
        self._limit = limit
        self.level = 0
        self.offset = 0
        self.anchors = AnchorBook(known)
        self._replays: list[tuple[Iterator[Any], int]] = []
        self._spent, self._spent_before = 0, spent
        self.stand_in = StandIn.of(data)
        fed = self._fed = self.stand_in.fed if self.stand_in else data
        try:
            self._loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(fed)
        except (yaml.YAMLError, ValueError) as error:
            raise self._explain(error) from None

    def next(self) -> Any:
        """The next event, of the text or of what an alias stands for; its class name tells what it is.

        Raises:
            CodecError: The text is not YAML, or nested deeper than the limit.
        """
        event = self._replayed() if self._replays else None
        if event is None:
            event = self._parsed()
        name = type(event).__name__
        if name in ("SequenceStartEvent", "MappingStartEvent"):
            self.level += 1
            if self.level > self._limit:
                raise CodecError(f"nesting deeper than {DEPTH}", self.line(event), kind=Kind.SYNTAX)
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            self.level -= 1
        return event

    def resolved(self, event: Any) -> Any:
        """The event itself, or for an alias the first one of what it stands for; the others come next.

        Raises:
            CodecError: Nothing before the alias has that name, or the aliases stand for more than the limit.
        """
        while type(event).__name__ == "AliasEvent":
            line, node = self.line(event), event.node
            if node is None:
                raise CodecError(
                    f"alias *{short(event.anchor)}, and no complete value named so stands before it,",
                    line,
                    hint="Write the value out where it is used.",
                    kind=Kind.ALIAS,
                )
            self._spent += node.weight
            if node.weight > MOST_IN_ENTRY or self._spent > MOST_IN_ENTRY or self.spent > MOST_IN_FILE:
                raise CodecError(
                    f"aliases such as *{short(event.anchor)} that stand for more than a message may hold",
                    line,
                    hint="Write the value out where it is used, and shorter.",
                )
            self._replays.append((iter(node.events), line))
            event = self.next()
        return event

    def begin_entry(self) -> None:
        """Begin to count what aliases stand for anew: the limit is one entry's."""
        self._replays.clear()
        self._spent_before, self._spent = self.spent, 0

    def line(self, event: Any) -> int:
        """The 1-based line on which an event begins; inside what an alias stands for, that of the alias."""
        return self._replays[0][1] if self._replays else line_of(event)

    @property
    def spent(self) -> int:
        """The weight of everything that aliases stood for so far."""
        return self._spent_before + self._spent

    def _replayed(self) -> Any:
        while self._replays:
            event = next(self._replays[-1][0], None)
            if event is not None:
                return event
            self._replays.pop()
        return None

    def _parsed(self) -> Any:
        try:
            event = self._loader.get_event()
        except MemoryError:
            raise
        except Exception as error:
            raise self._explain(error) from None
        if event is None:
            raise CodecError("the text ends", 1, kind=Kind.SYNTAX)
        name = type(event).__name__
        self.offset = event.end_mark.index
        if self.stand_in is not None and name == "ScalarEvent":
            event.value = self.stand_in.original(event.value, quoted=event.style == '"')
        if name == "AliasEvent":
            event = self.anchors.look_up(event)
        if self.anchors.recording or (name != "AliasEvent" and getattr(event, "anchor", None) is not None):
            self.anchors.note(event, name)
        return event

    def skip_to(self, level: int) -> int:
        """Pass over what is left of a collection until `level` is reached again; the offset reached so far."""
        while self.level > level:
            self.next()
        self._replays.clear()
        return self.offset

    def close(self) -> None:
        """Let go of the parser's buffers."""
        self._loader.dispose()

    def _explain(self, error: Exception) -> CodecError:
        if getattr(error, "problem_mark", None) or getattr(error, "context_mark", None):
            return self._marked(error)
        if isinstance(getattr(error, "position", None), int):
            return self._unreadable(error)
        return CodecError(f"the text cannot be read: {error}", 1, kind=Kind.SYNTAX)

    def _marked(self, error: Any) -> CodecError:
        mark = error.problem_mark or error.context_mark
        where = error.context_mark or mark
        ended = mark.index >= len(self._data.decode(errors="replace").rstrip("\0"))
        if ended:
            text = f"{str(error.context or 'the text').removeprefix('while ')}: {error.problem}; it begins"
            return CodecError(text, where.line + 1, column=where.column + 1, kind=Kind.OPEN)
        text = f"{error.problem} ({error.context})" if error.context else str(error.problem)
        return CodecError(text, mark.line + 1, column=mark.column + 1, kind=Kind.SYNTAX)

    def _unreadable(self, error: Any) -> CodecError:
        before = self._fed[: error.position]
        character = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
        return CodecError(
            f"character U+{character:04X} may not stand in YAML unescaped",
            before.count(b"\n") + 1,
            hint='Write it in double quotes as an escape, such as "\\x1b".',
            kind=Kind.SYNTAX,
        )


def line_of(event: Any) -> int:
    """The 1-based line on which an event begins."""
    return int(event.start_mark.line) + 1


def short(name: str) -> str:
    """A name of the text, fit for a message."""
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
