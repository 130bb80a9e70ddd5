"""Edits of JSON text that leave every other character as it is, so that a settings file keeps its style."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

Path = Sequence[str | int]
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_DEEPEST = 64


class NotEditable(ValueError):
    """The text is not JSON that could be edited; it says why."""


class Node(Struct, frozen=True):
    """A value and where it stands.

    Attributes:
        value: As Python has it.
        keys: Of an object: its keys, as they stand.
        starts: Of an object: where each member begins, with its key; of an array: where each item does.
        inner: The nodes of its values.
    """

    start: int
    end: int
    value: Any
    keys: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    inner: tuple[Node, ...] = ()


def read(text: str) -> Node:
    """The one object that a text holds.

    Raises:
        NotEditable: It holds something else, or a key twice.
    """
    try:
        node = _value(text, _skip(text, 0), 0)
    except (ValueError, IndexError) as error:
        raise NotEditable(_trouble(error)) from error
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
    number = holder.inner.index(node)
    if len(holder.inner) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if number == 0:
        return text[: holder.starts[0]] + text[holder.starts[1] :]
    return text[: holder.inner[number - 1].end] + text[node.end :]


def _value(text: str, start: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if text[start] == "{":
        return _object(text, start, depth)
    if text[start] == "[":
        return _array(text, start, depth)
    value, end = _DECODER.raw_decode(text, start)
    return Node(start, end, value)


def _object(text: str, start: int, depth: int) -> Node:
    keys: list[str] = []
    starts: list[int] = []
    inner: list[Node] = []
    place = _skip(text, start + 1)
    while text[place] != "}" or keys:
        starts.append(place)
        key, place = _DECODER.raw_decode(text, place)
        if not isinstance(key, str) or key in keys:
            raise ValueError(f"the key {key!r} stands there twice" if isinstance(key, str) else f"{key!r} is no key")
        place = _expect(text, _skip(text, place), ":")
        inner.append(_value(text, place, depth + 1))
        keys.append(key)
        place = _skip(text, inner[-1].end)
        if text[place] == "}":
            break
        place = _expect(text, place, ",")
    values = {key: node.value for key, node in zip(keys, inner, strict=True)}
    return Node(start, place + 1, values, tuple(keys), tuple(starts), tuple(inner))


def _array(text: str, start: int, depth: int) -> Node:
    inner: list[Node] = []
    place = _skip(text, start + 1)
    while text[place] != "]" or inner:
        inner.append(_value(text, place, depth + 1))
        place = _skip(text, inner[-1].end)
        if text[place] == "]":
            break
        place = _expect(text, place, ",")
    starts = tuple(node.start for node in inner)
    return Node(start, place + 1, [node.value for node in inner], (), starts, tuple(inner))


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match is not None else place


def _expect(text: str, place: int, sign: str) -> int:
    if text[place] != sign:
        raise ValueError(f"expected {sign!r} in line {text.count(chr(10), 0, place) + 1}")
    return _skip(text, place + 1)


def _trouble(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in line {error.lineno}"
    return "it ends in the middle" if isinstance(error, IndexError) else str(error)


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
