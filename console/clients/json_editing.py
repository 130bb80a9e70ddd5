"""Edits of JSON as text: parts are put in and cut out, and every other byte stays as somebody wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from team_console.store.model.json_object import refuse_repeated_keys

Settings = dict[str, Any]
Notes = list[list[str]]
"""What a join made that was not there before: the paths to objects, lists and words in them, outer ones first."""

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENTATION = re.compile(r"[ \t]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_GAP = re.compile(r'": |, ')
_LAST_LINE = re.compile(r"\r?\n[^\n]*\Z")
_ONE_INDENTATION = "  "
"""What a level is indented by in a text that does not show another."""


class NotEditable(ValueError):
    """The text is none that could be edited; it says why."""


def parse_object(text: str) -> Settings:
    """Parse a JSON object.

    Raises:
        NotEditable: It is none, has a key twice, or what is no JSON.
    """
    try:
        value = json.loads(text, object_pairs_hook=refuse_repeated_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        comment = ", perhaps a comment" if re.search(r"^\s*(//|/\*)", text, re.MULTILINE) else ""
        raise NotEditable(f"it is not JSON{comment}: {error}") from error
    if not isinstance(value, dict):
        raise NotEditable("it is not a JSON object")
    return value


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no value of JSON")


class SettingsPart(Struct, frozen=True):
    """What is put into a JSON object.

    Attributes:
        path: The keys that lead to the object or the list in which it stands.
        key: Of a member of an object; None for an item of a list.
    """

    path: Sequence[str]
    value: Any
    key: str | None = None


class _Span(Struct):
    """A member of an object, or an item of a list: where it stands in the text.

    Attributes:
        start: Of its key, or of an item of a list.
        key: None for an item of a list.
        value: Where its value starts.
    """

    start: int
    key: str | None
    value: int
    end: int


class JsonText:
    """A JSON object as text and as value, both edited together.

    What is put in stands before what is there, in the layout found there. What is put in and cut out again leaves the
    bytes from before.

    Raises:
        NotEditable: As for `read`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.value = parse_object(text)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        indented = re.search(r"\n([ \t]+)\S", text)
        self._unit = indented[1] if indented is not None else _ONE_INDENTATION
        self._gap = " " if _GAP.search(text) else ""
        self._is_one_line = bool(self.value) and "\n" not in text.strip()

    def at(self, path: Sequence[str | int]) -> Any:
        """Find the value at the end of a path; None for none."""
        return value_at(self.value, path)

    def put(self, part: SettingsPart) -> Notes:
        """Put in a part, with the objects and the list on its path that are missing.

        Returns:
            The paths to what was not there: objects, lists, and a word; nothing where the list has the part.

        Raises:
            NotEditable: Something of another kind is there.
        """
        path, key, value = list(part.path), part.key, part.value
        made = [[*path, value]] if isinstance(value, str) else []
        while path and self.at(path) is None:
            made.insert(0, path)
            key, value, path = path[-1], [value] if key is None else {key: value}, path[:-1]
        holder = self.at(path)
        if key is None and isinstance(holder, list):
            if value in holder:
                return []
            holder.insert(0, value)
        elif key is not None and isinstance(holder, dict) and key not in holder:
            holder[key] = value
        else:
            raise NotEditable(f"{'.'.join(part.path)} is not {'a list' if part.key is None else 'an object'}")
        self._insert(path, key, value)
        return made

    def _insert(self, path: Sequence[str], key: str | None, value: Any) -> None:
        at, parts, end = self._inside(path)
        place, own = parts[0].start if parts else end, None
        line = self.text[self.text.rfind("\n", 0, place if parts else at) + 1 :]
        indentation = line[: _end_of_match(_INDENTATION, line, 0)]
        if parts and "\n" in self.text[at:place]:
            own = indentation
        elif not parts and not self._is_one_line:
            own = indentation + self._unit
        if own is None:
            gap, apart = self._gap, self._gap
            words = json.dumps(value, ensure_ascii=False, separators=(f",{gap}", f":{gap}"))
        else:
            gap, apart = " ", self._newline + own
            words = json.dumps(value, ensure_ascii=False, indent=self._unit).replace("\n", apart)
        # Half characters cannot be written as UTF-8.
        words = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", words)
        words = f"{json.dumps(key)}:{gap}{words}" if key is not None else words
        if parts:
            words = f"{words},{apart}"
        elif own is not None:
            words = f"{apart}{words}{self._newline}{indentation}"
        self.text = self.text[:place] + words + self.text[place:]

    def cut(self, path: Sequence[str | int], key: str | int) -> None:
        """Cut a member out of the object at the end of a path, or the item of this number out of the list there.

        Args:
            path: Keys, and numbers of items.
        """
        del self.at(path)[key]
        at, parts, end = self._inside(path)
        number = key if isinstance(key, int) else next(at for at, part in enumerate(parts) if part.key == key)
        start, end_of_cut, between = parts[number].start, parts[number].end, ""
        if number + 1 < len(parts):
            end_of_cut = parts[number + 1].start
        elif number:
            start = parts[number - 1].end
        else:  # of several lines, the one goes that came with it
            between = _LAST_LINE.sub("", self.text[at:start])
            start, end_of_cut = at, end
        self.text = self.text[:start] + between + self.text[end_of_cut:]

    def _inside(self, path: Sequence[str | int]) -> tuple[int, list[_Span], int]:
        """Return where an object or a list begins behind its bracket, its parts, and where the other bracket is."""
        at, parts, end = _spans_inside(self.text, self.text.index("{"))
        for step in path:
            part = parts[step] if isinstance(step, int) else next(part for part in parts if part.key == step)
            at, parts, end = _spans_inside(self.text, part.value)
        return at, parts, end


def value_at(settings: Settings, path: Sequence[str | int]) -> Any:
    """Find the value at the end of a path; None for none."""
    value: Any = settings
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _spans_inside(text: str, bracket: int) -> tuple[int, list[_Span], int]:
    parts: list[_Span] = []
    first = at = bracket + 1
    while True:
        start = _end_of_match(_BLANKS, text, at)
        if text[start] in "}]":
            return first, parts, start
        key, value = None, start
        if text[bracket] == "{":
            key, behind = _DECODER.raw_decode(text, start)
            value = _end_of_match(_COLON, text, behind)
        end = _DECODER.raw_decode(text, value)[1]
        parts.append(_Span(start, key, value, end))
        comma = _end_of_match(_BLANKS, text, end)
        if text[comma] != ",":
            return first, parts, comma
        at = comma + 1


def _end_of_match(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None
    return found.end()
