"""Edits of JSON as text: what is changed is written anew, and every other byte stays as somebody wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from team_console.store.model.json_object import distinct

Settings = dict[str, Any]


_ONE_INDENTATION = "  "
"""What a level is indented by in a text that does not show another."""


class NotEditable(ValueError):
    """The text is none that could be edited; it says why."""


def read(text: str) -> Settings:
    """Parse a JSON object.

    Raises:
        NotEditable: It is none, has a key twice, or what is no JSON.
    """
    try:
        value = json.loads(text, object_pairs_hook=distinct, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        comment = ", perhaps a comment" if re.search(r"^\s*(//|/\*)", text, re.MULTILINE) else ""
        raise NotEditable(f"it is not JSON{comment}: {error}") from error
    if not isinstance(value, dict):
        raise NotEditable("it is not a JSON object")
    return value


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no value of JSON")


def written(text: str, settings: Settings) -> str:
    """Write `settings` into the JSON object of `text`.

    Members and items that are gone are cut out; new ones are added behind the last one, in the layout found there. What
    is added and cut out again leaves the bytes from before.

    Raises:
        NotEditable: As for `read`; they are nested too deeply.
    """
    before = read(text)
    if before == settings:
        return text
    try:
        document = _Document(text)
        kept = _Document(_apply(text, _cuts(document, document.root, before, settings)))
        return _apply(kept.text, _additions(kept, kept.root, read(kept.text), settings))
    except RecursionError as error:
        raise NotEditable("it is nested too deeply") from error


# Places of values in the text.

_TOKEN = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)
_SPACED = re.compile(r'": |, ')


class _Value(Struct):
    """Where a value stands.

    Attributes:
        start: Its first character, that of its key for a member of an object.
        opens: Its first character without the key.
        end: Behind its last character.
        key: Its key; None for an item of a list.
        parts: The values in it.
    """

    start: int
    opens: int
    end: int
    key: str | None
    parts: list[_Value]


class _Document:
    """A text that is a JSON object, and how it is laid out.

    Attributes:
        text: All of it.
        root: The object.
        newline: Its line ends.
        unit: The white space by which a level is indented.
        gap: What stands behind a comma and a colon within a line.
        is_one_line: Whether it has members, and no line ends between them.
    """

    def __init__(self, text: str) -> None:
        self.text, self.root = text, _root(text)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        indented = re.search(r"\n([ \t]+)\S", text)
        self.unit = indented[1] if indented is not None else _ONE_INDENTATION
        self.gap = " " if _SPACED.search(text) else ""
        self.is_one_line = bool(self.root.parts) and "\n" not in text[self.root.opens : self.root.end]


def _root(text: str) -> _Value:
    """Find the object of a text that is known to be JSON, and all values in it."""
    holders = [_Value(0, 0, len(text), None, [])]
    key: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if token[2] is not None:
            key = token
        elif mark in ("}", "]"):
            holders.pop().end = token.end()
        elif mark != ",":
            name, start = (json.loads(key[1]), key.start()) if key is not None else (None, token.start())
            value, key = _Value(start, token.start(), token.end(), name, []), None
            holders[-1].parts.append(value)
            if mark in ("{", "["):
                holders.append(value)
    return holders[0].parts[0]


# Edits of the text: a piece of it, and what stands there instead.

_Edit = tuple[int, int, str]


def _apply(text: str, edits: Iterator[_Edit]) -> str:
    pieces, done = [], 0
    for start, end, instead in sorted(edits):
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])


def _cuts(document: _Document, place: _Value, before: Any, after: Any) -> Iterator[_Edit]:
    """Cut out what `after` has not, and write anew what is no object or list and has changed."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _cuts_between(document.text, place, [part.key in after for part in place.parts])
        for part in place.parts:
            if part.key in after and before[part.key] != after[part.key]:
                yield from _cuts(document, part, before[part.key], after[part.key])
    elif isinstance(before, list) and isinstance(after, list):
        yield from _cuts_between(document.text, place, _stays(before, after))
    else:
        yield place.opens, place.end, _dumped(document, after, None)


def _stays(before: Sequence[Any], after: Sequence[Any]) -> list[bool]:
    """Return of each item whether `after` begins with it and those before it that stay."""
    stays, count = [], 0
    for item in before:
        stays.append(count < len(after) and item == after[count])
        count += stays[-1]
    return stays


def _cuts_between(text: str, place: _Value, stays: Sequence[bool]) -> Iterator[_Edit]:
    """Cut the parts that go out of an object or a list, each with one comma and the white space on its side."""
    parts = place.parts
    if not parts or all(stays):
        return
    if not any(stays):
        inner = text[place.opens + 1 : parts[0].start]
        line = re.search(r"\r?\n[^\n]*\Z", inner)  # of several, the one that came with the first part
        yield place.opens + 1 + (line.start() if line is not None else len(inner)), place.end - 1, ""
        return
    kept = [number for number, part_stays in enumerate(stays) if part_stays]
    if kept[0] > 0:
        yield parts[0].start, parts[kept[0]].start, ""
    for one, following in zip(kept, [*kept[1:], len(parts)], strict=True):
        if following - one > 1:
            yield parts[one].end, parts[following - 1].end, ""


def _additions(document: _Document, place: _Value, before: Any, after: Any) -> Iterator[_Edit]:
    """Add what `after` has more, behind what is there."""
    if isinstance(before, dict):
        new: list[tuple[str | None, Any]] = [(key, value) for key, value in after.items() if key not in before]
        for part in place.parts:
            if before[part.key] != after[part.key]:
                yield from _additions(document, part, before[part.key], after[part.key])
    else:
        new = [(None, value) for value in after[len(before) :]]
    if new:
        yield _addition(document, place, new)


def _addition(document: _Document, place: _Value, new: Sequence[tuple[str | None, Any]]) -> _Edit:
    text, parts = document.text, place.parts
    begin = parts[-2].end if len(parts) > 1 else place.opens + 1
    before = text[begin : parts[-1].start] if parts else ""
    is_within_line = "\n" not in before if parts else document.is_one_line
    if is_within_line:
        written = [_member(document, key, value, None) for key, value in new]
        at, between = parts[-1].end if parts else place.end - 1, f",{document.gap}"
        whole = between.join(written)
        return at, at, f"{between}{whole}" if parts else whole
    if parts:
        indentation = _indentation(before.rpartition("\n")[2])
    else:
        indentation = _indentation(text[text.rfind("\n", 0, place.opens) + 1 :]) + document.unit
    line = f"{document.newline}{indentation}"
    whole = f",{line}".join(_member(document, key, value, indentation) for key, value in new)
    if parts:
        return parts[-1].end, parts[-1].end, f",{line}{whole}"
    return place.end - 1, place.end - 1, f"{line}{whole}{line.removesuffix(document.unit)}"


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _member(document: _Document, key: str | None, value: Any, indentation: str | None) -> str:
    """Write a member of an object, or an item of a list, which has no key; None for one within a line."""
    gap = " " if indentation is not None else document.gap
    name = f"{_escaped(json.dumps(key, ensure_ascii=False))}:{gap}" if key is not None else ""
    return name + _dumped(document, value, indentation)


def _dumped(document: _Document, value: Any, indentation: str | None) -> str:
    if indentation is None:
        separators = f",{document.gap}", f":{document.gap}"
        return _escaped(json.dumps(value, ensure_ascii=False, separators=separators))
    lines = json.dumps(value, ensure_ascii=False, indent=document.unit).split("\n")
    return _escaped(f"{document.newline}{indentation}".join(lines))


def _escaped(text: str) -> str:
    """Escape half characters, which cannot be written as UTF-8."""
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", text)
