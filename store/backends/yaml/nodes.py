"""A text as nodes of YAML: each value with the place where it stands, composed from the events of libyaml."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct
from team_console.store.backends.yaml.entry_format import Reach, TextError
from team_console.store.model.message import MAX_DEPTH


class Node(Struct):
    """A value where it stands in a text; offsets count characters, a line counts from 1.

    Attributes:
        kind: `scalar`, `sequence`, `mapping` or `alias`.
        value: The text of a scalar, the items of a sequence, the pairs of a mapping; what an alias stands for, None
            when nothing complete has its name.
        end: Where its last visible part ends.
        tag: The tag that is written, or the name of an alias.
        plain: Whether a scalar is written without quotes, so that its text may be more than text.
        flow: Whether it is written in brackets, or a scalar on as many lines as it likes.
    """

    kind: str
    value: Any
    start: int
    end: int
    line: int
    column: int
    tag: str | None = None
    plain: bool = False
    flow: bool = False


class _Composer(Struct):
    """Builds nodes from the events of libyaml, with bounded depth.

    The composer of PyYAML knows no depth (30,000 nested brackets end the process), nor where an alias stands.

    Attributes:
        yaml: PyYAML, which is loaded only where a text is not of our own form.
    """

    yaml: Any
    data: bytes
    limit: int
    level: int = 0
    anchors: dict[str, Node | None] = {}
    loader: Any = None

    def root(self) -> Node | None:
        """Return the node of the one document in the text; None for an empty one."""
        try:
            self.loader = getattr(self.yaml, "CSafeLoader", self.yaml.SafeLoader)(self.data)
        except (self.yaml.YAMLError, ValueError) as error:
            raise self._explained(error) from None
        try:
            self._next()
            if isinstance(self._next(), self.yaml.StreamEndEvent):
                return None
            root = self._node(self._next())
            self._next()
            behind = self._next()
            if not isinstance(behind, self.yaml.StreamEndEvent):
                raise TextError("a second document begins", _line_of(behind), reach=Reach.SYNTAX)
            return root
        finally:
            self.loader.dispose()

    def _next(self) -> Any:
        """Return the next event of the text, unless it is nested too deeply."""
        try:
            event = self.loader.get_event()
        except MemoryError:
            raise
        except Exception as error:
            raise self._explained(error) from None
        if isinstance(event, self.yaml.ScalarEvent):  # as nearly all are
            return event
        if isinstance(event, self.yaml.CollectionStartEvent):
            self.level += 1
            if self.level > self.limit:
                raise TextError(f"nesting deeper than {MAX_DEPTH}", _line_of(event), reach=Reach.SYNTAX)
        elif isinstance(event, self.yaml.CollectionEndEvent):
            self.level -= 1
        return event

    def _node(self, event: Any) -> Node:
        """Return the node that begins with an event, with all nodes in it."""
        mark, end = event.start_mark, event.end_mark.index
        node = Node("alias", None, mark.index, end, mark.line + 1, mark.column, event.anchor)
        anchor: str | None = event.anchor
        if isinstance(event, self.yaml.AliasEvent):
            node.value = self.anchors.get(str(anchor))
            return node
        node.tag = event.tag
        if anchor is not None:
            self.anchors[anchor] = None  # not complete yet
        if isinstance(event, self.yaml.ScalarEvent):
            node.kind, node.value = "scalar", event.value
            node.plain, node.flow = event.implicit[0], event.style not in ("|", ">")
        else:
            items: list[Node] = []
            inner = self._next()
            while not isinstance(inner, self.yaml.CollectionEndEvent):
                items.append(self._node(inner))
                inner = self._next()
            last: Any = inner
            node.flow = bool(event.flow_style)
            node.end = last.end_mark.index if node.flow else max([end, *(item.end for item in items)])
            node.kind, node.value = "sequence", items
            if isinstance(event, self.yaml.MappingStartEvent):
                node.kind, node.value = "mapping", list(zip(items[::2], items[1::2], strict=True))
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def _explained(self, error: Any) -> TextError:
        """Return an error of the reader of YAML with our words and the place in the text."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark is not None:
            where, text = mark, f"{error.problem} ({error.context})" if error.context else str(error.problem)
            if mark.index >= len(self.data.decode(errors="replace").rstrip("\0")):  # it names where a quote began
                where = error.context_mark or mark
                text = f"{str(error.context or 'the text').removeprefix('while ')}: {error.problem}; it begins"
            return TextError(text, where.line + 1, column=where.column + 1, reach=Reach.SYNTAX)
        if isinstance(getattr(error, "position", None), int):
            character = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
            text = f"character U+{character:04X} may not stand in YAML unescaped"
            line = self.data[: error.position].count(b"\n") + 1
            hint = 'Write it in double quotes as an escape, such as "\\x1b".'
            return TextError(text, line, hint=hint, reach=Reach.SYNTAX)
        return TextError(f"the text cannot be read: {error}", 1, reach=Reach.SYNTAX)


def _line_of(event: Any) -> int:
    return int(event.start_mark.line) + 1


# A backslash that no other backslash escapes, before the codes of half a character or both: \ud83c\udf89, not \\ud83c.
_HALVES = rb"(?<!\\)((?:\\\\)*)((?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})+)"


def _with_whole_characters(data: bytes) -> bytes:
    """Join the halves in which JSON escapes an emoji, an error to libyaml; half a character becomes U+FFFD."""

    def joined(match: re.Match[bytes]) -> bytes:
        halves = "".join(chr(int(code, 16)) for code in match[2].split(b"\\u")[1:])
        return match[1] + halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()

    return re.sub(_HALVES, joined, data)


def compose(data: bytes, *, limit: int = MAX_DEPTH + 1) -> tuple[Node | None, str]:
    """Build the node of the one document in `data`, None for nothing, with the text that its offsets count in.

    Raises:
        TextError: The text is not YAML, more than one document, or nested deeper than `limit`.
    """
    import yaml  # 15 ms, which a queue of our own form does not need

    try:
        return _Composer(yaml, data, limit).root(), data.decode().removeprefix("\ufeff")
    except UnicodeError:
        raise TextError("the text is not UTF-8", 1, reach=Reach.SYNTAX) from None
    except TextError:
        again = _with_whole_characters(data)
        if again == data:
            raise
        return compose(again, limit=limit)


def has_alias(raw: bytes) -> bool:
    """Return whether an entry names a value or takes one by name, `&a` or `*a` outside of texts; True if unclear."""
    import yaml

    scanner = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    names = (yaml.AnchorToken, yaml.AliasToken)
    try:
        return any(isinstance(token, names) for token in yaml.scan(_with_whole_characters(raw), scanner))
    except (yaml.YAMLError, ValueError):
        return True


def check_text(data: bytes) -> None:
    """Refuse bytes that are not UTF-8.

    Raises:
        TextError: Naming line and column of the first.
    """
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode()) + 1
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte 0x{data[error.start]:02x} is not UTF-8 (perhaps Latin-1)"
        raise TextError(what, line, column=column, hint="Save the file as UTF-8.", reach=Reach.SYNTAX) from None
