"""Parse the YAML of settings to plain mappings, lists and texts, with the line of each; nothing is checked yet.

Tried first is the simple form that most settings have, here, which costs no import; what is of any other form is read
by PyYAML. In this file PyYAML stands first.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from msgspec import Struct

DEEPEST = 16
"""Levels of nesting that are read."""
_MOST_VALUES = 100_000
"""Values read at most, shared ones each time they are used: aliases of aliases end here."""
_TOP_KEY = re.compile(r"^(?=[^\s#\-\]}])", re.MULTILINE)
"""Where a line begins in the first column with something other than a comment, a list entry or a closing bracket."""
_MERGE = "tag:yaml.org,2002:merge"
_EMPTY = ("", "~", "null")


class NotYamlError(ValueError):
    """The text is not YAML; `line` counts from 1."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.line = line


class ParsedYaml(Struct, frozen=True):
    """The plain values of a text of settings.

    Attributes:
        value: A mapping, a list, a text, or None for nothing; every scalar is the text as it is written.
        lines: Path of each value (`lead`, `agents[1].role`) -> its line, from 1.
        repeated: Paths of keys that are given twice with the lines of the later ones; the first one counts.
    """

    value: Any
    lines: dict[str, int]
    repeated: tuple[tuple[str, int], ...] = ()


def parse_yaml(text: str, *, before: int = 0) -> ParsedYaml:
    """Return the values of a text, which is a whole or begins behind `before` lines of one.

    Raises:
        NotYamlError: It is not YAML, or nested too deep.
    """
    try:
        return _SimpleForm(text, before).read()
    except _NotSimpleError:
        node = _compose(text, before)
        composer = _PlainValues(before)
        value = composer.plain(node, node, "", 0) if node is not None else None
        return ParsedYaml(value, composer.lines, tuple(composer.repeated))


def parse_parts(text: str) -> Iterator[ParsedYaml | str]:
    """Yield each setting at the top of a text that is not YAML as a whole: its values, or of what cannot be read its
    key.
    """
    for start, end in pairwise([*(match.start() for match in _TOP_KEY.finditer(text)), len(text)]):
        part, before = text[start:end], text.count("\n", 0, start)
        first_line = part.partition("\n")[0]
        try:
            yield parse_yaml(part, before=before)
        except NotYamlError:
            # Lines that belong to nothing may follow a setting of one line.
            yield _parse_one_line(first_line, before) or first_line.partition(":")[0].strip().strip("'\"")


def _parse_one_line(line: str, before: int) -> ParsedYaml | None:
    """Return a setting with its value in one line; None where it is none."""
    try:
        found = parse_yaml(line, before=before)
    except NotYamlError:
        return None
    return found if isinstance(found.value, dict) and None not in found.value.values() else None


# YAML of any form, by PyYAML.


def _compose(text: str, before: int) -> Any:
    """Return the root node that PyYAML makes of the text, None for no text; refuses what is nested too deep."""
    import yaml  # 14 ms, which settings of the simple form below do not need

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        events: Any = yaml.parse(text, loader)
        for event in events:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise NotYamlError(before + int(event.start_mark.line) + 1, f"nesting deeper than {DEEPEST}")
        return yaml.compose(text, loader)
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        words = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        raise NotYamlError(before + (0 if mark is None else int(mark.line)) + 1, str(words)) from error


class _PlainValues:
    """Makes plain values of the nodes of PyYAML."""

    def __init__(self, before: int) -> None:
        self.lines: dict[str, int] = {}
        self.repeated: list[tuple[str, int]] = []
        self._before = before
        self._nodes = 0

    def plain(self, node: Any, mark: Any, path: str, depth: int) -> Any:
        """Return the value of a node, whose line is that of `mark`; None where it is empty, or the last of too many."""
        self.lines[path] = self._before + int(mark.start_mark.line) + 1
        self._nodes += 1
        if self._nodes > _MOST_VALUES or depth > DEEPEST:  # an alias may stand inside of what it names
            return None
        if node.id == "scalar":
            return None if not node.style and node.value in _EMPTY else str(node.value)
        if node.id == "sequence":
            items = enumerate(node.value)
            return [self.plain(item, item, f"{path}[{number}]", depth + 1) for number, item in items]
        pairs = self._pairs(node, path).items()
        return {word: self.plain(value, key, path_of(path, word), depth + 1) for word, (key, value) in pairs}

    def _pairs(self, node: Any, path: str) -> dict[str, tuple[Any, Any]]:
        """Return key and value of each word in a mapping; one that stands twice counts the first time."""
        pairs: dict[str, tuple[Any, Any]] = {}
        merged: list[Any] = []
        for key, value in node.value:
            word = key.value if isinstance(key.value, str) else ""
            if key.tag == _MERGE:
                merged += value.value if value.id == "sequence" else [value]
            elif word in pairs:
                self.repeated.append((path_of(path, word), self._before + int(key.start_mark.line) + 1))
            else:
                pairs[word] = key, value
        for source in merged[:DEEPEST]:
            for key, value in source.value if source.id == "mapping" else ():
                pairs.setdefault(str(key.value), (key, value))
        return pairs


def path_of(path: str, word: str) -> str:
    """Return the path of a key in the mapping at `path`."""
    return f"{path}.{word}" if path else word


# The simple form, as `init` and `member` write it: blocks of `key: value` and `- value`, and comments on lines of their
# own. It must be read as PyYAML reads it; whatever is not certain is left to PyYAML.

_PLAIN = r"[A-Za-z0-9_./](?:[ !\"$-9;-~]|:(?=[!-~]))*(?<![ :])"
"""Printable ASCII without a sign first, without `#`, and with `:` only inside of a word."""
_SCALAR = rf"{_PLAIN}|'[ -&(-~]*'|\"[ !#-\[\]-~]*\""
"""That, or printable ASCII in quotes: without the same quote, in double ones without a backslash too, which escapes."""
_PAIR = re.compile(rf"([A-Za-z_][A-Za-z0-9_-]{{0,99}}):(?: +({_SCALAR}))?")
"""A key, perhaps with its value on the same line."""
_SCALAR_ALONE = re.compile(_SCALAR)
_DASH = "-"
_LAST_COLUMN = 12
"""Column up to which the simple form is read here: it is never nested deeper than `DEEPEST`."""


class _NotSimpleError(Exception):
    """The text has something that the simple form does not know."""


class _SimpleRow(Struct, frozen=True):
    """A key, a dash (`key` is `_DASH`), or a scalar alone (`key` is empty), with its column."""

    column: int
    line: int
    key: str
    value: str | None = None


class _SimpleForm:
    """Makes plain values of a text in the simple form."""

    def __init__(self, text: str, before: int) -> None:
        self._rows = deque(_rows(text, before))
        self._lines: dict[str, int] = {}

    def read(self) -> ParsedYaml:
        """Return the values.

        Raises:
            _NotSimpleError: The text is not of the simple form.
        """
        value = self._block(-1, "")
        if self._rows or not isinstance(value, dict | None):
            raise _NotSimpleError
        return ParsedYaml(value, self._lines)

    def _block(self, above: int, path: str) -> Any:
        """Take the rows of the value that stands further in than the column `above`; None where there is none."""
        if not self._rows or self._rows[0].column <= above:
            return None
        first = self._rows[0]
        if not first.key:
            return self._rows.popleft().value
        is_list = first.key == _DASH
        values: dict[str, Any] = {}
        while self._rows and self._rows[0].column == first.column and (self._rows[0].key == _DASH) == is_list:
            row = self._rows.popleft()
            name = str(len(values)) if is_list else row.key
            if not name or name in values:  # a scalar among keys, or a key that stands twice
                raise _NotSimpleError
            place = f"{path}[{name}]" if is_list else path_of(path, name)
            self._lines[place] = row.line
            # The dashes of a list may be in the column of its key.
            is_level = not is_list and bool(self._rows) and self._rows[0].key == _DASH
            values[name] = self._block(first.column - is_level, place) if row.value is None else row.value
        return list(values.values()) if is_list else values


def _rows(text: str, before: int) -> Iterator[_SimpleRow]:
    """Yield keys, dashes and scalars of a text in the simple form, line by line."""
    for line, written in enumerate(text.split("\n"), start=before + 1):
        content = written.lstrip(" ")
        column = len(written) - len(content)
        if not (content.isascii() and content.isprintable()) or column > _LAST_COLUMN:
            raise _NotSimpleError
        if not content or content.startswith("#"):
            continue
        while content.startswith("- "):
            yield _SimpleRow(column, line, _DASH)
            rest = content[2:].lstrip(" ")
            column += len(content) - len(rest)
            content = rest
        if (pair := _PAIR.fullmatch(content)) is not None:
            yield _SimpleRow(column, line, pair[1], pair[2] and _unquote(pair[2]))
        elif _SCALAR_ALONE.fullmatch(content):
            yield _SimpleRow(column, line, "", _unquote(content))
        else:
            raise _NotSimpleError


def _unquote(scalar: str) -> str:
    """Return what a scalar says, without its quotes. Raises `_NotSimpleError` for one that is empty."""
    if scalar in _EMPTY:
        raise _NotSimpleError
    return scalar[1:-1] if scalar[0] in "'\"" else scalar
