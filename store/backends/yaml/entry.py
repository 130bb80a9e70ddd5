"""One entry of a list: its exact bytes, and the message in them, read under our own rules for scalars."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct
from team_console.store.backends.yaml import entry_format
from team_console.store.backends.yaml.entry_format import (
    INTEGERS,
    PLAIN_INTEGERS,
    TEXT_KEYS,
    Reach,
    TextError,
    envelope_text,
    is_same_value,
    typed_value,
)
from team_console.store.backends.yaml.nodes import Node, check_text, compose
from team_console.store.model.message import MAX_DEPTH, FieldDict, Fields, Message, from_record

LARGEST = 16 << 20
"""Bytes of one entry that are still understood; a larger one counts as damaged."""
MOST_BY_ALIAS = 20_000
"""Weight of all values that the aliases of one entry may stand for: one each, and one more for every 100 characters."""
MOST_BY_ALIAS_IN_FILE = 1_000_000
LIST_KEYS = frozenset({"to", "to_agents", "recipient", "to_agent"})
MAP_KEYS = frozenset({"read_by", "delivered_to", "handed_to"})
"""Keys whose values are one name or several, and keys that say of each agent when."""
_LONGEST_NAME = 80
"""Characters of a name that an error shows."""
_CHARACTERS = 100
"""Characters of a text that weigh as much as one more value."""


def _item_node(raw: bytes) -> tuple[Node, str]:
    """Return the node of the one item, or of the record without a dash, in the text of an entry, with that text."""
    if len(raw) > LARGEST:
        text = f"a message of {len(raw):,} bytes, more than {LARGEST:,}"
        raise TextError(text, 1, hint="Keep it in a file instead.")
    check_text(raw)
    root, text = compose(raw.rstrip().removesuffix(b",") if _is_object(raw) else raw)
    if root is not None and root.kind == "mapping":
        return root, text
    if root is None or root.kind != "sequence":
        raise TextError("expected a list item", 1, reach=Reach.SYNTAX)
    if len(root.value) != 1:
        line = root.value[1].line if root.value else 1
        raise TextError("something follows that is not part of the message", line, reach=Reach.SYNTAX)
    return root.value[0], text


_TAG = "tag:yaml.org,2002:"
_TAGS = {
    "scalar": frozenset(("str", "int", "float", "bool", "null", "timestamp")),
    "sequence": frozenset(("seq",)),
    "mapping": frozenset(("map",)),
}
"""Tags that change nothing, or say which kind of number is meant; others are refused."""


class ValueBuilder:
    """Turns nodes into values: envelope values as text, the rest typed, aliases as what they stand for."""

    def __init__(self) -> None:
        self._spent = self._spent_on_item = 0

    def record(self, node: Node) -> FieldDict:
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
        """Build the value of a node.

        Args:
            as_text: Whether scalars in it are texts of the envelope; None for a record, where each key decides.
            alias: By which the node was reached.
        """
        node, alias = self._resolved(node, alias)
        line = (alias or node).line
        if depth > MAX_DEPTH:
            raise TextError(f"nesting deeper than {MAX_DEPTH}", line)
        tag = _tag_name(node, line)
        if node.kind == "mapping":
            return self._mapping(node, as_text, depth, alias)
        if node.kind == "scalar":
            return _scalar_value(node, tag, line, as_text=bool(as_text))
        return [self.value(item, as_text=bool(as_text), depth=depth + 1, alias=alias) for item in node.value]

    def _resolved(self, node: Node, alias: Node | None) -> tuple[Node, Node | None]:
        """Return the node that an alias stands for, and the alias; its weight is counted."""
        while node.kind == "alias":
            alias = alias or node
            if node.value is None:
                text = f"alias *{_shortened(str(node.tag))}, and no complete value named so stands before it,"
                raise TextError(text, alias.line, hint="Write the value out where it is used.", reach=Reach.ALIAS)
            node = node.value
        if alias is not None:
            weight = 1 + (len(node.value) // _CHARACTERS if node.kind == "scalar" else 0)
            self._spent, self._spent_on_item = self._spent + weight, self._spent_on_item + weight
            if self._spent_on_item > MOST_BY_ALIAS or self._spent > MOST_BY_ALIAS_IN_FILE:
                text = f"aliases such as *{_shortened(str(alias.tag))} that stand for more than a message may hold"
                raise TextError(text, alias.line, hint="Write the value out where it is used, and shorter.")
        return node, alias

    def _mapping(self, node: Node, as_text: bool | None, depth: int, alias: Node | None) -> FieldDict:
        """Return the object in a node, each key once, with what it merges by `<<`."""
        found: FieldDict = {}
        lines: dict[str, int] = {}
        merged: FieldDict = {}
        for key_node, value_node in node.value:
            key, by = self._resolved(key_node, alias)
            line = (by or key).line
            if key.kind != "scalar":
                raise TextError("a key that is not text", line)
            _tag_name(key, line)
            if key.plain and key.tag is None and key.value == "<<":
                for name, value in self._merged(value_node, as_text, depth, alias):
                    merged.setdefault(name, value)
                continue
            name = str(key.value)
            if name in found:
                raise TextError(f"key {_shortened(name)!r} twice", lines[name], line)
            lines[name] = line
            text = name in TEXT_KEYS if as_text is None else as_text
            found[name] = self.value(value_node, as_text=text, depth=depth + 1, alias=alias)
        return merged | found

    def _merged(self, node: Node, as_text: bool | None, depth: int, alias: Node | None) -> Iterator[tuple[str, Any]]:
        """Yield the pairs of a mapping, or of a list of them, of which the first to have a key counts."""
        target = node.value if node.kind == "alias" and node.value is not None else node
        for part in target.value if target.kind == "sequence" else [node]:
            mapping = self.value(part, as_text=as_text, depth=depth + 1, alias=alias)
            if not isinstance(mapping, dict):
                raise TextError("a merge key << without a mapping", node.line, hint="Write the merged keys out.")
            yield from mapping.items()


def _tag_name(node: Node, line: int) -> str | None:
    """Return the name of the tag that is written, if it is one of those that are understood."""
    if node.tag is None:
        return None
    tag = "str" if node.tag == "!" else node.tag.removeprefix(_TAG)
    if tag not in _TAGS[node.kind]:
        written = tag if tag.startswith("!") else f"!!{tag}"
        raise TextError(f"tag {_shortened(written)}", line, hint="Remove the tag; write the value as text.")
    return tag


def _scalar_value(node: Node, tag: str | None, line: int, *, as_text: bool) -> Any:
    """Return the value of a scalar: text for the envelope, else typed as it is written or as its tag says.

    Raises:
        TextError: It is no value of its tag.
    """
    text: str = node.value
    if tag is None:
        return text if not node.plain else envelope_text(text) if as_text else typed_value(text)
    if tag == "null":
        return None
    if as_text or tag in ("str", "timestamp"):
        return envelope_text(text) if as_text and tag != "str" else text
    import yaml  # loaded already, by whatever composed the node

    try:
        value = getattr(yaml.constructor.SafeConstructor(), f"construct_yaml_{tag}")(yaml.ScalarNode("", text))
    except (ValueError, KeyError, IndexError):
        raise TextError(f"a value tagged !!{tag} that is none", line, hint="Correct the value.") from None
    # Infinities and what is no number stay text, and so do large numbers: from `INTEGERS` on, and from
    # `PLAIN_INTEGERS` on where they are not written as we write them.
    return value if abs(value) < (INTEGERS if text == str(value) else PLAIN_INTEGERS) else text


def _shortened(name: str) -> str:
    """Return a name as an error shows it."""
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def parse_record(raw: bytes) -> FieldDict:
    """Read the record in the text of one list item, at whatever indentation it stands.

    Raises:
        TextError: The text is not one readable mapping; lines are counted from the first of `raw`.
    """
    record = entry_format.read_item(raw)
    return read_record(raw) if record is None else record


def read_record(raw: bytes) -> FieldDict:
    """Read it by PyYAML alone: as `parse_record`, which it proves."""
    return ValueBuilder().record(_item_node(raw)[0])


class Entry(Struct, eq=False, gc=False):
    """One list item; it may be shared by every parsed text it appears in. Nothing of it changes.

    Attributes:
        raw: The exact bytes, from the line of its dash to before the next item.
        understood: What `outcome` returns, once it was asked for.
        has_aliases: Whether its text takes values from others or gives them some, by aliases.
    """

    raw: bytes
    understood: Message | TextError | None = None
    has_aliases: bool = False

    @property
    def outcome(self) -> Message | TextError:
        """The message, or why there is none, with lines counted from its own first line.

        The text is a list item, a record without a dash, or an object with its comma.
        """
        if self.understood is None:
            try:
                self.understood = to_message(parse_record(self.raw), self.raw)
            except TextError as error:
                self.understood = error.below(0)  # a copy, since a raised error keeps every frame it passed alive
        return self.understood

    @classmethod
    def not_an_entry(cls, raw: bytes, *, is_prose: bool) -> Entry:
        """Take a piece of the file that is no entry: what holds entries together, or prose."""
        line = 1 + raw[: len(raw) - len(raw.lstrip())].count(b"\n")
        if is_prose:
            return cls(raw, TextError("what stands here is no entry", line, hint=_KEPT, reach=Reach.SYNTAX))
        return cls(raw, TextError(f"{_frame(raw)} between entries", line, hint=_KEPT, reach=Reach.FRAME))

    @property
    def is_alone(self) -> bool:
        """Whether it is a message that needs no other text."""
        return not self.has_aliases and isinstance(self.outcome, Message)

    @property
    def is_frame(self) -> bool:
        """Whether it is no entry, and hides none."""
        return isinstance(self.outcome, TextError) and self.outcome.reach is Reach.FRAME

    @property
    def is_damaged(self) -> bool:
        """Whether a message may be in it that cannot be read."""
        return isinstance(self.outcome, TextError) and self.outcome.reach is not Reach.FRAME

    @property
    def is_object(self) -> bool:
        """Whether it stands in braces without a dash, as in lines of JSON."""
        return _is_object(self.raw)

    @property
    def message(self) -> Message | None:
        """The message; None when the entry is damaged."""
        return self.outcome if isinstance(self.outcome, Message) else None

    @property
    def error(self) -> TextError | None:
        """The reason why the entry is damaged; None when it is not."""
        return self.outcome if isinstance(self.outcome, TextError) else None


_KEPT = "It is kept as it is; the entries around it are read. Remove it, or make an entry of it."
_MARKS = (b"---", b"...", b"%")


def _is_object(raw: bytes) -> bool:
    return raw.removeprefix(BOM_UTF8).lstrip().startswith(b"{")


def _frame(raw: bytes) -> str:
    """Name what frames entries in a few words."""
    text = raw.removeprefix(BOM_UTF8).lstrip()
    if text.startswith(_MARKS):
        return "the mark of a document"
    return "a bracket" if text[:1] in b"[]{}," else "a key of the file"


def to_message(record: Fields, raw: bytes) -> Message:
    """Make the message of a record that was read from `raw`.

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
    wanted = "be a mapping" if key in MAP_KEYS else "be text or a list" if key in LIST_KEYS else "be text"
    if isinstance(value, dict if key in MAP_KEYS else list) and wanted != "be text":
        if not any(isinstance(item, (dict, list)) for item in (value.values() if isinstance(value, dict) else value)):
            return
        wanted = "hold plain text only"
    lines = enumerate(raw.split(b"\n"), start=1)
    line = next((number for number, line in lines if line.lstrip(b" -{'\"").startswith(key.encode())), 1)
    raise TextError(f"{key} must {wanted}", line, hint="Correct the value.")


def write_entry(message: Message) -> bytes:
    """Write one message: block style, UTF-8, LF, ending with a newline; proven by reading it back.

    Raises:
        TextError: The message cannot be written so that it reads back the same.
    """
    record = message.record
    raw = entry_format.write_item(record)
    found = parse_record(raw)
    if not is_same_value(found, record):
        changed = [key for key, value in record.items() if key not in found or not is_same_value(value, found[key])]
        what = f"the value of {', '.join(map(repr, changed))}" if changed else "the message"
        raise TextError(f"{what} does not read back as written", hint="Send it as text.")
    to_message(found, raw)
    return raw


def write_object(message: Message) -> bytes:
    """Write one message as an object on one line, proven by reading it back.

    Raises:
        TextError: The message cannot be written so that it reads back the same.
    """
    try:
        raw = json.dumps(dict(message.record), ensure_ascii=False).encode()
    except (TypeError, ValueError):
        raise TextError("the message cannot be written as JSON", hint="Send it as text.") from None
    if not is_same_value(parse_record(raw), message.record):
        raise TextError("the message does not read back as written", hint="Send it as text.")
    return raw


def behind_object(raw: bytes) -> bytes:
    """Return what stands behind an object in its text: a comma, line ends."""
    return raw[len(raw.rstrip(b", \t\r\n")) :]


class Style(Struct, frozen=True):
    """How a file writes its entries: the column of the dashes and the line end, or one object of JSON a line."""

    indent: int = 0
    eol: bytes = b"\n"
    is_json: bool = False

    def write(self, message: Message) -> bytes:
        """Return the text of a new entry.

        Raises:
            TextError: The message cannot be written so that it reads back the same.
        """
        return write_object(message) + self.eol if self.is_json else self.shift(write_entry(message))

    def shift(self, raw: bytes) -> bytes:
        """Return text at column 0 with LF, moved to the column and line end of the file."""
        if self.indent:
            raw = re.sub(rb"(?m)^(?=[^\n])", b" " * self.indent, raw)
        return raw.replace(b"\n", self.eol) if self.eol != b"\n" else raw


class EntryText(Struct):
    """A text of entries as read.

    Attributes:
        head, tail: What stands before the first entry and behind the last.
        entries: All entries, in order.
        style: How the file writes its list.
        needs_rewrite: Whether columns do not tell where entries are (brackets, an unusual frame, aliases behind the
            list), so that the first change writes the list in our own form.
    """

    head: bytes
    entries: Sequence[Entry]
    tail: bytes
    style: Style
    needs_rewrite: bool = False


# A change of one entry: the lines of the values that differ are written anew, where lines alone can make the change.

_ABSENT = object()
_Change = tuple[int, int, str]
"""From where to where a text is replaced, and by what."""


class _NotByLines(Exception):
    """The change cannot be made in place."""


def patch_entry(raw: bytes, old: Fields, new: Fields, style: Style) -> bytes:
    """Return the text `raw` of the record `old`, changed so that it holds `new`; what is equal in both stays byte
    for byte.

    Where lines alone cannot make the change, the entry is written anew and the comments behind it stay.

    Raises:
        TextError: `new` cannot be written.
    """
    if is_same_value(old, new):
        return raw
    with suppress(TextError):
        if entry_format.write_item(old) == raw:  # as nearly always: no other reader is loaded for it
            return write_entry(from_record(_new_behind_status(old, new)))
    node, text = _item_node(raw)
    with suppress(_NotByLines, TextError):
        changed = _replaced(text, sorted(_Patch(text, style.eol.decode()).changes(node, old, new))).encode()
        found = parse_record(changed)
        if is_same_value(found, new):
            to_message(found, changed)
            return changed
    return style.shift(write_entry(from_record(new))) + text[_line_end(text, node.end) :].encode()


def _new_behind_status(old: Fields, new: Fields) -> FieldDict:
    """Return the record `new` in the order of `old`; keys that are new stand behind the status, before long texts."""
    kept = [name for name in old if name in new]
    at = kept.index("status") + 1 if "status" in kept else len(kept)
    added = [name for name in new if name not in old]
    return {name: new[name] for name in (*kept[:at], *added, *kept[at:])}


def _replaced(text: str, changes: list[_Change]) -> str:
    """Return a text with these stretches of it written anew."""
    pieces, position = [], 0
    for start, end, written in changes:
        if start < position:
            raise _NotByLines
        pieces += [text[position:start], written]
        position = end
    return "".join(pieces) + text[position:]


class _Patch(Struct, frozen=True):
    """Finds what to replace in the text of one entry."""

    text: str
    eol: str

    def changes(self, node: Node, old: Fields, new: Fields) -> Iterator[_Change]:
        """Yield each difference between two mappings, of which `node` is the one that stands there.

        Of `status: pending` and a record that is `read` now, with a new key: the value `pending` is written anew as
        `read`, and behind its line comes `read_at: '2026-02-24T10:30:00Z'`.
        """
        pairs: dict[str, tuple[Node, Node]] = {key.value: (key, value) for key, value in node.value}
        # Values that are on one line, and will be: behind one of them new pairs can stand.
        stay: dict[str, Node] = {}
        for name, before in old.items():
            after = new.get(name, _ABSENT)
            is_kept = after is not _ABSENT and is_same_value(before, after)
            if name not in pairs:  # an alias or a merge brought it in
                if not is_kept:
                    raise _NotByLines
                continue
            key, value = pairs[name]
            is_line = _is_within_lines(value) and "\n" not in self.text[key.start : value.end]
            if is_line and (is_kept or (after is not _ABSENT and _one_line(after, flow=False) is not None)):
                stay[name] = value
            if after is _ABSENT:
                yield self._removal(node, key, value)
            elif not is_kept:
                yield from self._change(node, key, value, before, after)
        # Keys that are new stand behind the status, else behind the last line that stays.
        added = [(name, value) for name, value in new.items() if name not in old]
        if added and node.flow:
            written = [f", {name}: {_one_line(value, flow=True)}" for name, value in added]
            at = max((value.end for _, value in node.value), default=node.start)
            # What has no form of one line becomes the word `None`: another value when it is read back, and refused.
            yield at, at, "".join(written)
        elif added:
            last = stay.get("status") or next(reversed(stay.values()), None)
            if last is None:
                raise _NotByLines
            at, column = _line_end(self.text, last.end), node.value[0][0].column
            lines = "".join(" " * column + self._lines(name, value, column) + self.eol for name, value in added)
            yield at, at, lines if self.text[:at].endswith("\n") else self.eol + lines

    def _change(self, node: Node, key: Node, value: Node, before: Any, after: Any) -> Iterator[_Change]:
        """Yield the stretches to write anew so that a key has another value."""
        written = _one_line(after, flow=node.flow)
        if value.kind == "mapping" and isinstance(after, Mapping) and after and before:
            yield from self.changes(value, before, after)
        elif _is_within_lines(value) and written is not None:
            yield value.start, value.end, (" " if self.text[value.start - 1 : value.start] == ":" else "") + written
        elif node.flow:
            raise _NotByLines
        else:
            yield key.start, self._last(value), self._lines(key.value, after, key.column)

    def _removal(self, node: Node, key: Node, value: Node) -> _Change:
        """Return the stretch to take out so that a key is gone."""
        line = self.text.rfind("\n", 0, key.start) + 1
        if node.flow:
            raise _NotByLines
        if not self.text[line : key.start].strip(" "):
            return line, _line_end(self.text, self._last(value)), ""
        following = min((other.start for other, _ in node.value if other.start > key.start), default=key.start)
        if self.text[self._last(value) : following].strip():
            raise _NotByLines
        return key.start, following, ""

    def _lines(self, key: str, value: Any, column: int) -> str:
        """Return the lines of a pair without the spaces before the first and the line end after the last."""
        return entry_format.write_pair(key, value, column)[column:].replace("\n", self.eol)

    def _last(self, value: Node) -> int:
        """Return the end of a value without the blank lines that a block scalar counts as its own."""
        return value.start + len(self.text[value.start : value.end].rstrip(" \r\n"))


def _one_line(value: Any, *, flow: bool) -> str | None:
    """Write a value on one line; None where it needs several."""
    if isinstance(value, (Mapping, list, tuple)) and value:
        return None
    written = entry_format.write_scalar(value, "", flow=flow)
    return None if "\n" in written else written


def _is_within_lines(node: Node) -> bool:
    """Return whether a value begins and ends within its lines, so that another takes its place without touching what
    is around it: a quoted or plain scalar (`flow`: no block behind `|` or `>`), or an alias.
    """
    return node.kind == "alias" or (node.kind == "scalar" and node.flow)


def _line_end(text: str, position: int) -> int:
    """Return the start of the line behind the one with the character before `position`."""
    if position and text[position - 1] == "\n":
        return position
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
