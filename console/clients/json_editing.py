"""Edits of JSON as text: parts are put in and cut out, and every other byte stays as somebody wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct
from team_console.store.model.json_object import refuse_repeated_keys

Settings = dict[str, Any]
MadePaths = list[list[str]]
"""What a join made that was not there before: the paths to objects, lists and words in them, outer ones first."""


class EditedText(NamedTuple):
    """A text after an edit, and what the edit made in it; nothing where it took something out."""

    text: str
    made: MadePaths


class EditText(Protocol):
    """Puts our part into the text of a client's file, or takes it out."""

    def __call__(self, text: str, made: MadePaths | None, joins: bool) -> EditedText:
        """Return the text after the edit.

        Args:
            made: What an earlier join made there; None when nobody knows.
            joins: Whether our part is put in; else it is only taken out.

        Raises:
            NotEditable: The text has to be changed by hand.
        """


_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENTATION = re.compile(r"[ \t]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_GAP = re.compile(r'": |, ')
"""A blank behind a colon or a comma: then the text is written with such blanks."""
_LAST_LINE = re.compile(r"\r?\n[^\n]*\Z")
"""The last line of a text, with the line end before it."""
_ONE_INDENTATION = "  "
"""What a level is indented by in a text that does not show another."""


BYTE_ORDER_MARK = "\ufeff"
"""What editors on Windows write before a text."""


class NotEditable(ValueError):
    """The text is none that could be edited; it says why."""


def parse_object(text: str) -> Settings:
    """Parse a JSON object, perhaps behind a byte order mark.

    Raises:
        NotEditable: It is none, has a key twice, or what is no JSON.
    """
    try:
        value = json.loads(
            text.removeprefix(BYTE_ORDER_MARK), object_pairs_hook=refuse_repeated_keys, parse_constant=_refuse_constant
        )
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
        end: Behind its value.
    """

    start: int
    key: str | None
    value: int
    end: int


class _Brackets(Struct):
    """What stands between the brackets of an object or a list.

    Attributes:
        start: Behind the opening bracket.
        parts: Its members or items, in order.
        end: The place of the closing bracket.
    """

    start: int
    parts: list[_Span]
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

    def put(self, part: SettingsPart) -> MadePaths:
        """Put in a part, with the objects and the list on its path that are missing.

        Returns:
            The paths to what was not there: objects, lists, and a word; nothing where the list has the part.

        Raises:
            NotEditable: Something of another kind is there.
        """
        path, key, value = list(part.path), part.key, part.value
        made = [[*path, value]] if isinstance(value, str) else []
        while path and self.at(path) is None:  # then its holder gets it, with the part in it
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
        """Write a member or an item into the text, before all others that stand at the end of the path."""
        found = self._brackets_of(path)
        if found.parts:
            place = found.parts[0].start
            outer = indentation = self._indentation_at(place)
            has_own_line = "\n" in self.text[found.start : place]
        else:
            place = found.end
            outer = self._indentation_at(found.start)
            indentation = outer + self._unit
            has_own_line = not self._is_one_line
        if has_own_line:
            behind_colon, between = " ", self._newline + indentation
            words = json.dumps(value, ensure_ascii=False, indent=self._unit).replace("\n", between)
        else:
            behind_colon = between = self._gap
            words = json.dumps(value, ensure_ascii=False, separators=(f",{self._gap}", f":{self._gap}"))
        # Half characters cannot be written as UTF-8.
        words = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", words)
        if key is not None:
            words = f"{json.dumps(key)}:{behind_colon}{words}"
        if found.parts:
            words = f"{words},{between}"
        elif has_own_line:
            words = f"{between}{words}{self._newline}{outer}"
        self.text = self.text[:place] + words + self.text[place:]

    def _indentation_at(self, place: int) -> str:
        """Return the blanks with which the line of this place begins."""
        line = self.text[self.text.rfind("\n", 0, place) + 1 :]
        return line[: _end_of_match(_INDENTATION, line, 0)]

    def cut(self, path: Sequence[str | int], key: str | int) -> None:
        """Cut a member out of the object at the end of a path, or the item of this number out of the list there.

        Args:
            path: Keys, and numbers of items.
        """
        del self.at(path)[key]
        found = self._brackets_of(path)
        parts = found.parts
        number = key if isinstance(key, int) else next(at for at, part in enumerate(parts) if part.key == key)
        kept = ""
        if number + 1 < len(parts):  # with the comma behind it
            start, end = parts[number].start, parts[number + 1].start
        elif number:  # with the comma before it
            start, end = parts[number - 1].end, parts[number].end
        else:  # alone: all between the brackets, but of several lines only the one that came with it
            start, end = found.start, found.end
            kept = _LAST_LINE.sub("", self.text[start : parts[number].start])
        self.text = self.text[:start] + kept + self.text[end:]

    def _brackets_of(self, path: Sequence[str | int]) -> _Brackets:
        """Return what stands between the brackets of the object or the list at the end of a path."""
        found = _brackets_at(self.text, self.text.index("{"))
        for step in path:
            part = found.parts[step] if isinstance(step, int) else next(one for one in found.parts if one.key == step)
            found = _brackets_at(self.text, part.value)
        return found


def value_at(settings: Settings, path: Sequence[str | int]) -> Any:
    """Find the value at the end of a path; None for none."""
    value: Any = settings
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _brackets_at(text: str, bracket: int) -> _Brackets:
    """Return what stands between the bracket that opens at this place and the one that closes it."""
    parts: list[_Span] = []
    at = bracket + 1
    while True:
        start = _end_of_match(_BLANKS, text, at)
        if text[start] in "}]":
            return _Brackets(bracket + 1, parts, start)
        key, value = None, start
        if text[bracket] == "{":
            key, behind = _DECODER.raw_decode(text, start)
            value = _end_of_match(_COLON, text, behind)
        end = _DECODER.raw_decode(text, value)[1]
        parts.append(_Span(start, key, value, end))
        comma = _end_of_match(_BLANKS, text, end)
        if text[comma] != ",":
            return _Brackets(bracket + 1, parts, comma)
        at = comma + 1


def _end_of_match(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where the match of a pattern that begins at this place ends; the pattern has to match there."""
    found = pattern.match(text, at)
    assert found is not None
    return found.end()
