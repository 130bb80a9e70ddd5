"""Edits of JSON as text: what is changed is written anew, and every other byte stays as somebody wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct
from team_console.store.model.json_object import distinct

Settings = dict[str, Any]
Notes = list[list[str]]
"""What a join made that was not there before: the ways to objects, lists and words in them, outer ones first."""

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_GAP = re.compile(r'": |, ')
_LAST_LINE = re.compile(r"\r?\n[^\n]*\Z")
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
        NotEditable: As for `read`.
    """
    if read(text) == settings:
        return text
    start, end = text.index("{"), text.rindex("}") + 1
    return text[:start] + _edited(text[start:end], settings, _Layout(text, text[start:end]), "") + text[end:]


class _Part(Struct):
    """A member of an object, or an item of a list, in its own words.

    Attributes:
        lead, trail: The white space before it and behind it, up to a bracket or a comma.
        name: Its key and the colon; empty for an item of a list.
        key: Its key; None for an item of a list.
        text: Its value as it is written.
    """

    lead: str
    name: str
    key: str | None
    value: Any
    text: str
    trail: str


class _Layout:
    """How a text is laid out.

    Attributes:
        newline: Its line ends.
        unit: The white space by which a level is indented.
        gap: What is written behind a comma and a colon within a line.
        is_one_line: Whether its object has members, and no line ends between them.
    """

    def __init__(self, text: str, root: str) -> None:
        indented = re.search(r"\n([ \t]+)\S", text)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.unit = indented[1] if indented is not None else _ONE_INDENTATION
        self.gap = " " if _GAP.search(text) else ""
        self.is_one_line = "\n" not in root and bool(_DECODER.decode(root))

    def value(self, value: Any, indentation: str | None) -> str:
        """Write a value that stands at this indentation; None for one within a line."""
        if indentation is None:
            text = json.dumps(value, ensure_ascii=False, separators=(f",{self.gap}", f":{self.gap}"))
        else:
            text = json.dumps(value, ensure_ascii=False, indent=self.unit)
            text = text.replace("\n", self.newline + indentation)
        # Half characters cannot be written as UTF-8.
        return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", text)


def _parts(text: str) -> tuple[list[_Part], str]:
    """Return the parts of an object or a list, and the white space that it has in place of parts."""
    parts: list[_Part] = []
    at = 1
    while True:
        start = _end(_BLANKS, text, at)
        if text[start] in "}]":
            return parts, text[at:start]
        key, opens = None, start
        if text[0] == "{":
            key, behind = _DECODER.raw_decode(text, start)
            opens = _end(_COLON, text, behind)
        value, end = _DECODER.raw_decode(text, opens)
        comma = _end(_BLANKS, text, end)
        parts.append(_Part(text[at:start], text[start:opens], key, value, text[opens:end], text[end:comma]))
        if text[comma] != ",":
            return parts, ""
        at = comma + 1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None
    return found.end()


def _edited(text: str, after: Any, layout: _Layout, indentation: str) -> str:
    """Return the text of an object or a list that is to be `after`.

    Args:
        indentation: Of the line on which it begins.
    """
    parts, blank = _parts(text)
    kept: list[_Part] = []
    for part in parts:
        if _stays(part, after, len(kept)):
            kept.append(part)
        elif kept:  # a part goes with one comma and the white space before that
            kept[-1].trail = part.trail
    if kept:
        kept[0].lead = parts[0].lead
    elif parts:
        blank = _LAST_LINE.sub("", parts[0].lead)  # of several lines, the one that came with the first part
    for part in kept:
        if part.key is not None and part.value != after[part.key]:
            part.text = _changed(part, after[part.key], layout, indentation)
    _add(kept, after, layout, indentation, blank)
    inner = ",".join(f"{part.lead}{part.name}{part.text}{part.trail}" for part in kept)
    return f"{text[0]}{inner if kept else blank}{text[-1]}"


def _stays(part: _Part, after: Any, count: int) -> bool:
    """Return whether a part stays, behind `count` others that do."""
    if part.key is not None:
        return part.key in after
    return count < len(after) and bool(part.value == after[count])


def _changed(part: _Part, value: Any, layout: _Layout, indentation: str) -> str:
    if isinstance(value, (dict, list)) and type(value) is type(part.value):
        own = part.lead.rpartition("\n")[2] if "\n" in part.lead else indentation
        return _edited(part.text, value, layout, own)
    return layout.value(value, None)


def _add(kept: list[_Part], after: Any, layout: _Layout, indentation: str, blank: str) -> None:
    """Add what `after` has more, behind what is there."""
    if isinstance(after, dict):
        known = {part.key for part in kept}
        new: list[tuple[str | None, Any]] = [(key, value) for key, value in after.items() if key not in known]
    else:
        new = [(None, value) for value in after[len(kept) :]]
    if not new:
        return
    own: str | None = None
    first, trail = blank, ""
    if kept:
        trail, kept[-1].trail = kept[-1].trail, ""
        own = kept[-1].lead.rpartition("\n")[2] if "\n" in kept[-1].lead else None
    elif not layout.is_one_line:
        own, trail = indentation + layout.unit, layout.newline + indentation
    lead = layout.gap if own is None else layout.newline + own
    if kept:
        first = lead
    elif own is not None:
        first += lead
    gap = layout.gap if own is None else " "
    for key, value in new:
        name = f"{layout.value(key, None)}:{gap}" if key is not None else ""
        kept.append(_Part(lead, name, key, value, layout.value(value, own), ""))
    kept[-len(new)].lead = first
    kept[-1].trail = trail
