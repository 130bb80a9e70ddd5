"""Edits of JSON text that leave every other character as it is, so that a settings file keeps its style."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

Path = Sequence[str | int]
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NotEditable(ValueError):
    """The text is not JSON that could be edited; it says why."""


class Node:
    """A value and where it stands; what is inside it is looked at when it is asked for.

    Attributes:
        value: As Python has it.
        end: Where the text goes on behind it.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text, self.start = text, start
        self.value, self.end = _DECODER.raw_decode(text, start)

    @cached_property
    def inner(self) -> tuple[Node, ...]:
        """The nodes of its values."""
        return tuple(node for _, node in self._members)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each member of an object begins, with its key, or each item of an array."""
        return tuple(start for start, _ in self._members)

    @property
    def keys(self) -> tuple[str, ...]:
        """Of an object: its keys, as they stand."""
        return tuple(self.value) if isinstance(self.value, dict) else ()

    @cached_property
    def _members(self) -> list[tuple[int, Node]]:
        found = list[tuple[int, Node]]()
        place = _skip(self._text, self.start + 1)
        for _ in self.value if isinstance(self.value, (dict, list)) else ():
            start = place
            if isinstance(self.value, dict):
                _, place = _DECODER.raw_decode(self._text, place)
                place = _skip(self._text, _skip(self._text, place) + 1)
            found.append((start, Node(self._text, place)))
            place = _skip(self._text, _skip(self._text, found[-1][1].end) + 1)
        return found


@lru_cache(maxsize=2)
def read(text: str) -> Node:
    """The one object that a text holds; kept for the next question about the same text.

    Raises:
        NotEditable: It holds something else, or a key twice.
    """
    try:
        _STRICT.raw_decode(text, _skip(text, 0))
        node = Node(text, _skip(text, 0))
    except json.JSONDecodeError as error:
        raise NotEditable(f"{error.msg} in line {error.lineno}") from error
    except (ValueError, RecursionError) as error:
        raise NotEditable(str(error)) from error
    if _skip(text, node.end) != len(text):
        raise NotEditable(f"more than one JSON value: line {text.count(chr(10), 0, node.end) + 1}")
    if not isinstance(node.value, dict):
        raise NotEditable("it is not a JSON object")
    return node


def at(text: str, path: Path) -> Node | None:
    """The value at a path of keys and numbers; None when there is none."""
    node = read(text)
    for step in path:
        if isinstance(step, str) and step in node.keys:
            node = node.inner[node.keys.index(step)]
        elif isinstance(step, int) and isinstance(node.value, list) and step < len(node.inner):
            node = node.inner[step]
        else:
            return None
    return node


def with_value(text: str, path: Path, value: Any) -> str:
    """The text with a member of an object, or with one more item of a list; missing objects on the way are made.

    Args:
        path: To the member; to a list, to append to it.

    Raises:
        NotEditable: Something else stands in the way.
    """
    for depth in range(len(path)):
        node = at(text, path[: depth + 1])
        if node is None:
            holder = at(text, path[:depth])
            if holder is None or not isinstance(holder.value, dict):
                raise NotEditable(f"{_named(path[:depth])} is not an object")
            return _inserted(text, holder, str(path[depth]), _nested(path[depth + 1 :], value))
    node = at(text, path)
    if node is None or not isinstance(node.value, list):
        raise NotEditable(f"{_named(path)} is there already")
    return _inserted(text, node, None, value)


def without(text: str, path: Path) -> str:
    """The text without the member or item at the path."""
    holder, node = at(text, path[:-1]), at(text, path)
    if holder is None or node is None:
        return text
    number = path[-1] if isinstance(path[-1], int) else holder.keys.index(path[-1])
    if len(holder.inner) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if number == 0:
        return text[: holder.starts[0]] + text[holder.starts[1] :]
    return text[: holder.inner[number - 1].end] + text[node.end :]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return found


_STRICT = json.JSONDecoder(object_pairs_hook=_object)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match is not None else place


def _nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {str(step): value}
    return value


def _inserted(text: str, holder: Node, key: str | None, value: Any) -> str:
    """The value as the last one of its holder, in the style of those before it."""
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    if holder.inner and "\n" not in text[holder.start : holder.starts[0]]:
        end = holder.inner[-1].end
        return f"{text[:end]}, {name}{json.dumps(value, ensure_ascii=False)}{text[end:]}"
    outer = _indent_of(text, holder.start)
    margin = _indent_of(text, holder.starts[-1]) if holder.inner else outer + _unit(text)
    line = "\r\n" if "\r\n" in text else "\n"
    body = json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", f"{line}{margin}")
    if holder.inner:
        end = holder.inner[-1].end
        return f"{text[:end]},{line}{margin}{name}{body}{text[end:]}"
    return f"{text[: holder.start + 1]}{line}{margin}{name}{body}{line}{outer}{text[holder.end - 1 :]}"


def _indent_of(text: str, place: int) -> str:
    """The blanks at the beginning of the line that has this place."""
    begin = text.rfind("\n", 0, place) + 1
    match = re.compile(r"[ \t]*").match(text, begin)
    return match.group() if match is not None else ""


def _unit(text: str) -> str:
    """One step of the indentation of this text; two blanks where it has none."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match.group(1) if match is not None else "  "


def _named(path: Path) -> str:
    return ".".join(map(str, path)) or "the whole"
