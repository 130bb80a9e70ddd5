"""One entry of a queue: its exact bytes, and the message in them, read by PyYAML under our own rules for scalars."""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Lock
from typing import Any

import yaml
from msgspec import Struct
from team_console.store.backends.yaml import own_form
from team_console.store.backends.yaml.own_form import (
    INTEGERS,
    PLAIN_INTEGERS,
    TEXT_KEYS,
    Kind,
    TextError,
    same,
    text_only,
    typed,
)
from team_console.store.model.message import Message, from_record

LARGEST = 16 << 20
"""Bytes of one entry that are still understood; a larger one counts as damaged."""
DEPTH = 64
"""Levels of nesting in a message; deeper texts are refused before any recursive code sees them."""
MOST_BY_ALIAS = 20_000
"""Weight of all values that the aliases of one entry may stand for: one each, and one more for every 100 characters."""
MOST_BY_ALIAS_IN_FILE = 1_000_000
SIGN = re.compile(rb"(?:^|[\s,\[{:?-])[&*][0-9A-Za-z_-]")
"""What may be an anchor or an alias: `to: &id001`, `[*id001`; but not `a & b`, `AT&T`, `* item`."""
LIST_KEYS = frozenset({"to", "to_agents", "recipient", "to_agent"})
MAP_KEYS = frozenset({"read_by", "delivered_to", "handed_to"})
_ONE_AT_A_TIME = Lock()
_LONGEST_NAME = 80
_CHARACTERS = 100


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


class Composer:
    """Builds nodes from the events of libyaml, with bounded depth.

    The composer of PyYAML knows no depth (30,000 nested brackets end the process), nor where an alias stands.
    """

    def __init__(self, data: bytes, *, limit: int = DEPTH + 1) -> None:
        self.level = 0
        self._anchors: dict[str, Node | None] = {}
        self._limit = limit
        self._data = data
        try:
            self._loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(data)
        except (yaml.YAMLError, ValueError) as error:
            raise self._explained(error) from None

    def next(self) -> Any:
        """Take the next event; its class name tells what it is.

        Raises:
            TextError: The text is not YAML, or nested deeper than the limit.
        """
        try:
            event = self._loader.get_event()
        except MemoryError:
            raise
        except Exception as error:
            raise self._explained(error) from None
        if event is None:
            raise TextError("the text ends", 1, kind=Kind.SYNTAX)
        name = type(event).__name__
        if name in ("SequenceStartEvent", "MappingStartEvent"):
            self.level += 1
            if self.level > self._limit:
                raise TextError(f"nesting deeper than {DEPTH}", line_of(event), kind=Kind.SYNTAX)
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            self.level -= 1
        return event

    def expect(self, *names: str, otherwise: str = "expected a list item") -> None:
        """Take events of these names.

        Raises:
            TextError: Another one comes, or as `next`.
        """
        for name in names:
            event = self.next()
            if type(event).__name__ != name:
                raise TextError(otherwise, line_of(event), kind=Kind.SYNTAX)

    def node(self, event: Any = None) -> Node:
        """Build the value that `event` begins, or the next one does.

        Raises:
            TextError: As `next`.
        """
        event = event or self.next()
        kind, mark, anchor = type(event).__name__, event.start_mark, event.anchor
        node = Node("alias", None, mark.index, event.end_mark.index, mark.line + 1, mark.column, anchor)
        if kind == "AliasEvent":
            node.value = self._anchors.get(anchor)
            return node
        if anchor is not None:
            self._anchors[anchor] = None
        node.tag = event.tag
        if kind == "ScalarEvent":
            node.kind, node.plain, node.flow = "scalar", event.implicit[0], event.style not in ("|", ">")
            node.value = event.value
        else:
            node.kind, node.flow = kind.removesuffix("StartEvent").lower(), bool(event.flow_style)
            node.value = []
            while not type(event := self.next()).__name__.endswith("EndEvent"):
                item: Any = self.node(event)
                node.end = max(node.end, item.end)
                if node.kind == "mapping":
                    item = item, self.node()
                    node.end = max(node.end, item[1].end)
                node.value.append(item)
            if node.flow:
                node.end = event.end_mark.index
        if anchor is not None:
            self._anchors[anchor] = node
        return node

    def close(self) -> None:
        """Let go of the buffers of the parser."""
        self._loader.dispose()

    def _explained(self, error: Any) -> TextError:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark is not None:
            where = error.context_mark or mark
            if mark.index >= len(self._data.decode(errors="replace").rstrip("\0")):
                text = f"{str(error.context or 'the text').removeprefix('while ')}: {error.problem}; it begins"
                return TextError(text, where.line + 1, column=where.column + 1, kind=Kind.OPEN)
            text = f"{error.problem} ({error.context})" if error.context else str(error.problem)
            return TextError(text, mark.line + 1, column=mark.column + 1, kind=Kind.SYNTAX)
        if isinstance(getattr(error, "position", None), int):
            character = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
            return TextError(
                f"character U+{character:04X} may not stand in YAML unescaped",
                self._data[: error.position].count(b"\n") + 1,
                hint='Write it in double quotes as an escape, such as "\\x1b".',
                kind=Kind.SYNTAX,
            )
        return TextError(f"the text cannot be read: {error}", 1, kind=Kind.SYNTAX)


def line_of(event: Any) -> int:
    """The 1-based line on which an event begins."""
    return int(event.start_mark.line) + 1


# A backslash that no other backslash escapes, before the codes of half a character or both: \ud83c\udf89, not \\ud83c.
_HALVES = re.compile(rb"(?<!\\)((?:\\\\)*)((?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})+)")


def with_whole_characters(data: bytes) -> bytes:
    """Join the halves in which JSON escapes an emoji, an error to libyaml; half a character becomes U+FFFD."""

    def joined(match: re.Match[bytes]) -> bytes:
        halves = "".join(chr(int(code, 16)) for code in match[2].split(b"\\u")[1:])
        return match[1] + halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()

    return _HALVES.sub(joined, data)


def compose(raw: bytes) -> tuple[Node, str]:
    """Build the node of the one item in the text of an entry, with the text that its offsets count in.

    Raises:
        TextError: The text is too long, not YAML, or not exactly one item.
    """
    if len(raw) > LARGEST:
        text = f"a message of {len(raw):,} bytes, more than {LARGEST:,}"
        raise TextError(text, 1, hint="Keep it in a file instead.")
    try:
        return _item(raw), raw.decode()
    except UnicodeError:
        raise TextError("the text is not UTF-8", 1, kind=Kind.SYNTAX) from None
    except TextError:
        again = with_whole_characters(raw)
        if again == raw:
            raise
        return _item(again), again.decode()


def _item(raw: bytes) -> Node:
    composer = Composer(raw)
    try:
        composer.expect("StreamStartEvent", "DocumentStartEvent", "SequenceStartEvent")
        node = composer.node()
        behind = "something follows that is not part of the message"
        composer.expect("SequenceEndEvent", "DocumentEndEvent", "StreamEndEvent", otherwise=behind)
    finally:
        composer.close()
    return node


_TAG = "tag:yaml.org,2002:"
_TAGS = {
    "scalar": frozenset(("str", "int", "float", "bool", "null", "timestamp")),
    "sequence": frozenset(("seq",)),
    "mapping": frozenset(("map",)),
}
"""Tags that change nothing, or say which kind of number is meant; others are refused."""


class Values:
    """Turns nodes into values: envelope values as text, the rest typed, aliases as what they stand for."""

    def __init__(self) -> None:
        self._spent = self._spent_on_item = 0

    def record(self, node: Node) -> dict[str, Any]:
        """Build the record in the node of an item.

        Raises:
            TextError: It is no mapping; unknown tags and aliases, duplicate keys, keys that are not scalars, too much
                by aliases.
        """
        self._spent_on_item = 0
        record = self.value(node, as_text=None)
        if not isinstance(record, dict):
            raise TextError("expected a message (a mapping of keys)", node.line)
        return record

    def value(self, node: Node, *, as_text: bool | None, depth: int = 0, alias: Node | None = None) -> Any:
        """Build the value of a node; with `as_text` None a mapping is read as a record, whose keys decide.

        Args:
            alias: By which the node was reached.
        """
        node, alias = self._resolved(node, alias)
        line = (alias or node).line
        if depth > DEPTH:
            raise TextError(f"nesting deeper than {DEPTH}", line)
        if node.kind == "mapping":
            return self._mapping(node, as_text, depth, alias)
        tag = _tag(node, line)
        if node.kind == "scalar":
            return _scalar(node, tag, line, as_text=bool(as_text))
        return [self.value(item, as_text=bool(as_text), depth=depth + 1, alias=alias) for item in node.value]

    def _resolved(self, node: Node, alias: Node | None) -> tuple[Node, Node | None]:
        while node.kind == "alias":
            alias = alias or node
            if node.value is None:
                raise TextError(
                    f"alias *{_short(str(node.tag))}, and no complete value named so stands before it,",
                    alias.line,
                    hint="Write the value out where it is used.",
                    kind=Kind.ALIAS,
                )
            node = node.value
        if alias is not None:
            weight = 1 + (len(node.value) // _CHARACTERS if node.kind == "scalar" else 0)
            self._spent, self._spent_on_item = self._spent + weight, self._spent_on_item + weight
            if self._spent_on_item > MOST_BY_ALIAS or self._spent > MOST_BY_ALIAS_IN_FILE:
                text = f"aliases such as *{_short(str(alias.tag))} that stand for more than a message may hold"
                raise TextError(text, alias.line, hint="Write the value out where it is used, and shorter.")
        return node, alias

    def _mapping(self, node: Node, as_text: bool | None, depth: int, alias: Node | None) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: dict[str, Any] = {}
        _tag(node, (alias or node).line)
        for key_node, value_node in node.value:
            key, by = self._resolved(key_node, alias)
            line = (by or key).line
            if key.kind != "scalar":
                raise TextError("a key that is not text", line)
            _scalar(key, _tag(key, line) and "str", line, as_text=True)
            if key.plain and key.tag is None and key.value == "<<":
                self._merge(value_node, merged, as_text, depth, alias)
                continue
            name = str(key.value)
            if name in found:
                raise TextError(f"key {_short(name)!r} twice", lines[name], line)
            lines[name] = line
            text = name in TEXT_KEYS if as_text is None else as_text
            found[name] = self.value(value_node, as_text=text, depth=depth + 1, alias=alias)
        return merged | found if merged else found

    def _merge(self, node: Node, merged: dict[str, Any], as_text: bool | None, depth: int, alias: Node | None) -> None:
        """Take in a mapping, or a list of them, of which the first to have a key counts."""
        target = node.value if node.kind == "alias" and node.value is not None else node
        parts = target.value if target.kind == "sequence" else [node]
        for part in parts:
            mapping = self.value(part, as_text=as_text, depth=depth + 1, alias=alias)
            if not isinstance(mapping, dict):
                raise TextError("a merge key << without a mapping", node.line, hint="Write the merged keys out.")
            for key, value in mapping.items():
                merged.setdefault(key, value)


def _tag(node: Node, line: int) -> str | None:
    """The name of the tag that is written, if it is one of those that are understood."""
    if node.tag is None:
        return None
    tag = "str" if node.tag == "!" else node.tag.removeprefix(_TAG)
    if tag not in _TAGS[node.kind]:
        written = tag if tag.startswith("!") else f"!!{tag}"
        raise TextError(f"tag {_short(written)}", line, hint="Remove the tag; write the value as text.")
    return tag


def _scalar(node: Node, tag: str | None, line: int, *, as_text: bool) -> Any:
    text: str = node.value
    if tag is None:
        return text if not node.plain else text_only(text) if as_text else typed(text)
    if tag == "null":
        return None
    if as_text or tag in ("str", "timestamp"):
        return text_only(text) if as_text and tag != "str" else text
    try:
        value = getattr(yaml.constructor.SafeConstructor(), f"construct_yaml_{tag}")(yaml.ScalarNode("", text))
    except (ValueError, KeyError, IndexError):
        raise TextError(f"a value tagged !!{tag} that is none", line, hint="Correct the value.") from None
    # Infinities and what is no number stay text, and integers that are not written as we write them.
    return value if abs(value) < (INTEGERS if text == str(value) else PLAIN_INTEGERS) else text


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def parse_record(raw: bytes) -> dict[str, Any]:
    """Read the record in the text of one list item.

    Raises:
        TextError: The text is not one readable mapping.
    """
    record = own_form.read(raw)
    return Values().record(compose(raw)[0]) if record is None else record


def parse_entry(raw: bytes) -> Message:
    """Read the message in the text of one list item, dash included, at whatever indentation it stands.

    Raises:
        TextError: Naming the line, counted from the first line of `raw`.
    """
    return to_message(parse_record(raw), raw)


class Entry(Struct, eq=False, gc=False):
    """One list item; never changed, so it may be shared by every parsed text it appears in.

    Attributes:
        raw: The exact bytes, from the line of its dash to before the next item.
        known: The outcome, None before anybody asked for it.
        tied: Whether its text takes values from others or gives them some, by aliases.
    """

    raw: bytes
    known: Message | TextError | None = None
    tied: bool = False

    @property
    def outcome(self) -> Message | TextError:
        """The message, or why there is none; always the same object."""
        return self.known or self._look()

    @property
    def message(self) -> Message | None:
        """The message, always the same object; None when the entry is damaged."""
        outcome = self.known or self._look()
        return outcome if isinstance(outcome, Message) else None

    @property
    def error(self) -> TextError | None:
        """Why the entry is damaged, with lines counted from its own first line; None when it is not."""
        outcome = self.known or self._look()
        return outcome if isinstance(outcome, TextError) else None

    def _look(self) -> Message | TextError:
        outcome: Message | TextError
        try:
            outcome = parse_entry(self.raw)
        except TextError as error:
            outcome = error.below(0)  # a copy, since a raised error keeps every frame it passed alive
        with _ONE_AT_A_TIME:
            if self.known is None:
                self.known = outcome
            return self.known


def to_message(record: Mapping[str, Any], raw: bytes) -> Message:
    """Understand a record read from `raw`.

    Raises:
        TextError: Id, type, sender or recipient is missing, or an envelope value has the wrong shape.
    """
    for key, value in record.items():
        if value.__class__ is not str and isinstance(value, (dict, list)) and key in TEXT_KEYS:
            _check_shape(key, value, raw)
    try:
        return from_record(record)
    except ValueError as error:
        raise TextError(f"not a message: {error}", 1, hint="Add what is missing, or remove the entry.") from None


def _check_shape(key: str, value: Any, raw: bytes) -> None:
    """Refuse lists or mappings where the envelope has texts."""
    if key in MAP_KEYS and isinstance(value, dict):
        flat = list(value.values())
    elif key in LIST_KEYS and isinstance(value, list):
        flat = value
    else:
        wanted = "a mapping" if key in MAP_KEYS else "text or a list" if key in LIST_KEYS else "text"
        raise TextError(f"{key} must be {wanted}", _line_of_key(raw, key), hint="Correct the value.")
    if any(isinstance(item, (dict, list)) for item in flat):
        raise TextError(f"{key} must hold plain text only", _line_of_key(raw, key), hint="Correct the value.")


def _line_of_key(raw: bytes, key: str) -> int:
    lines = enumerate(raw.split(b"\n"), start=1)
    return next((number for number, line in lines if line.lstrip(b" -{'\"").startswith(key.encode())), 1)


def emit(message: Message) -> bytes:
    """Write one message: block style, UTF-8, LF, ending with a newline; proven by reading it back.

    Raises:
        TextError: The message cannot be written so that we and other YAML loaders read it back the same.
    """
    record = message.record
    raw = own_form.write(record)
    found = own_form.read(raw)
    if found is None or not same(found, record):
        found = Values().record(compose(raw)[0])
        try:
            elsewhere = yaml.load(raw, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise TextError(f"another YAML reader refuses the message: {error}", hint="Send it as text.") from None
        if not same(elsewhere, [record]):
            raise TextError("another YAML reader would not read the message back as written", hint="Send it as text.")
    if not same(found, record):
        changed = [key for key, value in record.items() if key not in found or not same(value, found[key])]
        what = f"the value of {', '.join(map(repr, changed))}" if changed else "the message"
        raise TextError(f"{what} does not read back as written", hint="Send it as text.")
    to_message(found, raw)
    return raw


class Style(Struct, frozen=True):
    """How a file writes its list: the column of the dashes and the line end."""

    indent: int = 0
    eol: bytes = b"\n"

    def of(self, raw: bytes) -> bytes:
        """Text at column 0 with LF, moved to the column and line end of the file."""
        if self.indent:
            raw = re.sub(rb"(?m)^(?=[^\n])", b" " * self.indent, raw)
        return raw.replace(b"\n", self.eol) if self.eol != b"\n" else raw


_ABSENT = object()


class _NotByLines(Exception):
    """The change cannot be made in place."""


def replaced(entry: Entry, message: Message, style: Style) -> Entry:
    """Write `message` into the text of an entry: only the lines of values that differ change.

    Where lines alone cannot make the change, the entry is written anew and the comments behind it stay.

    Raises:
        TextError: The message cannot be written.
    """
    old = entry.message
    assert old is not None
    if same(old.record, message.record):
        return Entry(entry.raw, message)
    return Entry(patch(entry.raw, old.record, message.record, style), message)


def patch(raw: bytes, old: Mapping[str, Any], new: Mapping[str, Any], style: Style) -> bytes:
    """The text `raw` of the record `old`, changed so that it holds `new`; what is equal in both stays byte for byte.

    Raises:
        TextError: `new` cannot be written.
    """
    node, text = compose(raw)
    try:
        changed = _Patch(text, style).apply(node, old, new).encode()
        found = parse_record(changed)
        if same(found, new):
            to_message(found, changed)
            return changed
    except (_NotByLines, TextError):
        pass
    rest = text[_line_end(text, node.end) :].encode()
    return style.of(emit(from_record(new))) + rest


class _Patch:
    """Replacements collected for one text."""

    def __init__(self, text: str, style: Style) -> None:
        self._text = text
        self._eol = style.eol.decode()
        self._changes: list[tuple[int, int, str]] = []

    def apply(self, node: Node, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
        """The text with every difference between `old` and `new` written into it."""
        self._mapping(node, old, new)
        pieces, position = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            if start < position:
                raise _NotByLines
            pieces += [self._text[position:start], text]
            position = end
        return "".join(pieces) + self._text[position:]

    def _mapping(self, node: Node, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        pairs = {key.value: (key, value) for key, value in node.value if key.kind == "scalar"}
        for key, before in old.items():
            after = new.get(key, _ABSENT)
            if after is not _ABSENT and same(before, after):
                continue
            if key not in pairs:
                raise _NotByLines  # an alias or a merge brought it in
            if after is _ABSENT:
                self._remove(node, *pairs[key])
            else:
                self._change(node, *pairs[key], before, after)
        added = {key: value for key, value in new.items() if key not in old}
        if added:
            self._add(node, pairs, old, new, added)

    def _change(self, node: Node, key: Node, value: Node, before: Any, after: Any) -> None:
        if value.kind == "mapping" and isinstance(after, Mapping) and after and before:
            self._mapping(value, before, after)
            return
        written = self._one_line(after, flow=node.flow)
        if _is_scalar(value) and written is not None:
            gap = " " if self._text[value.start - 1 : value.start] == ":" else ""
            self._changes.append((value.start, value.end, gap + written))
        elif not node.flow:
            self._changes.append((key.start, self._last(value), self._lines(key.value, after, key.column)))
        else:
            raise _NotByLines

    def _remove(self, node: Node, key: Node, value: Node) -> None:
        start = key.start
        line = self._text.rfind("\n", 0, start) + 1
        if node.flow:
            raise _NotByLines
        if self._text[line:start].strip(" "):
            following = min((other.start for other, _ in node.value if other.start > start), default=start)
            if self._text[self._last(value) : following].strip():
                raise _NotByLines
            self._changes.append((start, following, ""))
        else:
            self._changes.append((line, _line_end(self._text, self._last(value)), ""))

    def _add(
        self,
        node: Node,
        pairs: Mapping[str, tuple[Node, Node]],
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        added: Mapping[str, Any],
    ) -> None:
        """Put new keys behind the last single-line key that stays, in the envelope behind `status`."""
        stay = [
            name
            for name, (key, value) in pairs.items()
            if name in new
            and _is_scalar(value)
            and "\n" not in self._text[key.start : value.end]
            and (same(old[name], new[name]) or self._one_line(new[name], flow=False) is not None)
        ]
        if node.flow or not stay:
            raise _NotByLines
        key, value = pairs["status" if "status" in stay else stay[-1]]
        at = _line_end(self._text, value.end)
        pad = " " * key.column
        lines = "".join(pad + self._lines(name, item, key.column) + self._eol for name, item in added.items())
        self._changes.append((at, at, lines if self._text[:at].endswith("\n") else self._eol + lines))

    def _lines(self, key: str, value: Any, column: int) -> str:
        """The lines of a pair without the spaces before the first and the line end after the last."""
        return own_form.pair(key, value, column)[column:].replace("\n", self._eol)

    def _last(self, value: Node) -> int:
        """The end of a value without the blank lines that a block scalar counts as its own."""
        return value.start + len(self._text[value.start : value.end].rstrip(" \r\n"))

    @staticmethod
    def _one_line(value: Any, *, flow: bool) -> str | None:
        if isinstance(value, (Mapping, list, tuple)) and value:
            return None
        written = own_form.scalar(value, "", flow=flow)
        return None if "\n" in written else written


def _is_scalar(node: Node) -> bool:
    return node.kind == "alias" or (node.kind == "scalar" and node.flow)


def _line_end(text: str, position: int) -> int:
    """Where the line after the one that holds the character before `position` begins."""
    if position and text[position - 1] == "\n":
        return position
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
