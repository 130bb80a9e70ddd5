"""One entry of a queue: its exact bytes, and the message in them, read by PyYAML under our own rules for scalars."""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

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


Anchors = dict[str, Node | None]


class Composer:
    r"""Builds nodes from the events of libyaml, with bounded depth and with the anchors of texts before this one.

    The composer of PyYAML knows no depth, and no anchor of another text. A pair of escapes for the halves of one
    character, as JSON writes an emoji, is an error to libyaml: it gets another character in place of the backslash.
    """

    # A backslash that no other backslash escapes, before the code of half a character: \ud83c, not \\ud83c.
    _HALF = re.compile(r"(?<!\\)((?:\\\\)*)\\(?=u[dD][89a-fA-F][0-9a-fA-F]{2})")

    def __init__(self, data: bytes, anchors: Anchors | None = None, *, limit: int = DEPTH + 1) -> None:
        import yaml  # 10 ms, and most queues need it for nothing

        self.anchors: Anchors = {} if anchors is None else anchors
        self.borrows = False
        self.level = 0
        self._limit = limit
        self._own: set[str] = set()
        self._data, self._mark = data, ""
        if b"\\ud" in data or b"\\uD" in data:
            text = data.decode(errors="replace")
            self._mark = next((sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in text), "")
            data = self._HALF.sub(rf"\1{self._mark}", text).encode() if self._mark else data
        self._fed = data
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
            node.value = self.anchors.get(anchor)
            self.borrows = self.borrows or anchor not in self._own
            return node
        if anchor is not None:
            self.anchors[anchor] = None
            self._own.add(anchor)
        node.tag = event.tag
        if kind == "ScalarEvent":
            node.kind, node.plain, node.flow = "scalar", event.implicit[0], event.style not in ("|", ">")
            node.value = self._original(event) if self._mark else event.value
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
            self.anchors[anchor] = node
        return node

    def item(self, event: Any) -> tuple[Node, bool]:
        """Build the value that `event` begins, and tell whether it takes values from before it.

        Raises:
            TextError: As `next`.
        """
        self.borrows, self._own = False, set()
        return self.node(event), self.borrows

    def close(self) -> None:
        """Let go of the buffers of the parser."""
        self._loader.dispose()

    def _original(self, event: Any) -> str:
        """Join the halves of characters, which are escapes in double quotes only."""
        value: str = event.value
        if self._mark not in value:
            return value
        if event.style != '"':
            return value.replace(self._mark, "\\")
        halves = re.sub(self._mark + "u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

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
                self._fed[: error.position].count(b"\n") + 1,
                hint='Write it in double quotes as an escape, such as "\\x1b".',
                kind=Kind.SYNTAX,
            )
        return TextError(f"the text cannot be read: {error}", 1, kind=Kind.SYNTAX)


def line_of(event: Any) -> int:
    """The 1-based line on which an event begins."""
    return int(event.start_mark.line) + 1


def compose(raw: bytes, anchors: Anchors | None = None) -> tuple[Node, bool]:
    """Build the node of the one item in the text of an entry, and tell whether it takes values from before it.

    Raises:
        TextError: The text is not YAML, or not exactly one item.
    """
    composer = Composer(raw, anchors)
    try:
        composer.expect("StreamStartEvent", "DocumentStartEvent", "SequenceStartEvent")
        node = composer.node()
        behind = "something follows that is not part of the message"
        composer.expect("SequenceEndEvent", "DocumentEndEvent", "StreamEndEvent", otherwise=behind)
    finally:
        composer.close()
    return node, composer.borrows


_TAG = "tag:yaml.org,2002:"
_SAME_TAGS = {
    **{"unicode": "str", "long": "int", "none": "null", "bytes": "binary"},
    **{"tuple": "seq", "list": "seq", "dict": "map"},
}
"""PyYAML's names for Python's own types that have another name in YAML."""
_TAGS = {
    "scalar": frozenset(("str", "int", "float", "bool", "null", "timestamp", "binary")),
    "sequence": frozenset(("seq", "omap", "pairs")),
    "mapping": frozenset(("map", "set")),
}
_NUMBER = re.compile(
    r"([-+]?)(?:0b(?P<b2>[01]+)|0x(?P<b16>[0-9a-fA-F]+)"
    r"|0o?(?P<b8>[0-7]+)"  # 010, which YAML 1.1 counts in eights, and 0o10
    r"|(?P<b10>0|[1-9][0-9]*))"
).fullmatch
_LONGEST_NUMBER = 100
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]").search


class Reading:
    """Turns nodes into values: envelope values as text, the rest typed, aliases as what they stand for.

    Attributes:
        spent: The weight of everything that aliases stood for.
    """

    def __init__(self) -> None:
        self.spent = 0
        self._alias: Node | None = None

    def value(self, node: Node, *, as_text: bool | None, depth: int = 0) -> Any:
        """Build the value of a node; with `as_text` None a mapping is read as a record, whose keys decide.

        Raises:
            TextError: Unknown tags and aliases, duplicate keys, keys that are not scalars, too much by aliases.
        """
        outer = self._alias
        try:
            node = self._resolved(node)
            if depth > DEPTH:
                raise TextError(f"nesting deeper than {DEPTH}", self._line(node))
            tag = self._tag(node)
            if node.kind == "scalar":
                return self._scalar(node, tag, as_text=bool(as_text))
            if node.kind == "mapping":
                mapping = self._mapping(node, as_text, depth)
                return list(mapping) if tag == "set" else mapping
            items = [self.value(item, as_text=bool(as_text), depth=depth + 1) for item in node.value]
            return self._checked(_ordered, "omap", node, items) if tag == "omap" else items
        finally:
            self._alias = outer

    def _resolved(self, node: Node) -> Node:
        while node.kind == "alias":
            name = _short(str(node.tag))
            self._alias = self._alias or node
            if node.value is None:
                raise TextError(
                    f"alias *{name}, and no complete value named so stands before it,",
                    self._line(node),
                    hint="Write the value out where it is used.",
                    kind=Kind.ALIAS,
                )
            node = node.value
        if self._alias is not None:
            self.spent += 1 + (len(node.value) // _CHARACTERS if node.kind == "scalar" else 0)
            if self.spent > MOST_BY_ALIAS:
                raise too_much(self._alias)
        return node

    def _line(self, node: Node) -> int:
        return (self._alias or node).line

    def _tag(self, node: Node) -> str | None:
        if node.tag is None:
            return None
        tag = "str" if node.tag == "!" else node.tag
        if tag.startswith(_TAG):
            name = tag.removeprefix(_TAG)
            plain = name.removeprefix("python/")
            tag = _SAME_TAGS.get(plain, plain) if plain != name else name
            written = f"!!{name}"
        else:
            written = tag if tag.startswith("!") else f"!!{tag}"
        if tag not in _TAGS[node.kind]:
            raise TextError(f"tag {_short(written)}", self._line(node), hint="Remove the tag; write the value as text.")
        return tag

    def _scalar(self, node: Node, tag: str | None, *, as_text: bool) -> Any:
        text: str = node.value
        if not text.isascii():
            half = next((sign for sign in text if 0xD800 <= ord(sign) <= 0xDFFF), None)
            if half is not None:
                what = f"the escape \\u{ord(half):04x} is half a character"
                raise TextError(what, self._line(node), hint="Write the whole character.")
        if tag is None:
            return text if not node.plain else text_only(text) if as_text else typed(text)
        if tag == "null":
            return None
        if tag == "binary":
            return self._checked(_binary, tag, node, text)
        if as_text or tag in ("str", "timestamp"):
            return text_only(text) if as_text and tag != "str" else text
        return self._checked({"bool": _bool, "int": _int, "float": _float}[tag], tag, node, text)

    def _checked(self, read: Any, tag: str, node: Node, written: Any) -> Any:
        try:
            return read(written)
        except ValueError as error:
            what = f"a value tagged !!{tag} that {error}"
            raise TextError(what, self._line(node), hint="Correct the value.") from None

    def _mapping(self, node: Node, as_text: bool | None, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            outer = self._alias
            key = self._resolved(key_node)
            line = self._line(key)
            if key.kind != "scalar":
                raise TextError("a key that is not text", line)
            self._scalar(key, self._tag(key) and "str", as_text=True)
            self._alias = outer
            if key.plain and key.tag is None and key.value == "<<":
                self._merge(value_node, merged, as_text, depth)
                continue
            name = str(key.value)
            if name in found:
                raise TextError(f"key {_short(name)!r} twice", lines[name], line)
            lines[name] = line
            text = name in TEXT_KEYS if as_text is None else as_text
            found[name] = self.value(value_node, as_text=text, depth=depth + 1)
        return merged | found if merged else found

    def _merge(self, node: Node, merged: dict[str, Any], as_text: bool | None, depth: int) -> None:
        """Take in a mapping, or a list of them, of which the first to have a key counts."""
        target = node.value if node.kind == "alias" and node.value is not None else node
        parts = target.value if target.kind == "sequence" else [node]
        for part in parts:
            mapping = self.value(part, as_text=as_text, depth=depth + 1)
            if not isinstance(mapping, dict):
                raise TextError("a merge key << without a mapping", node.line, hint="Write the merged keys out.")
            for key, value in mapping.items():
                merged.setdefault(key, value)


def too_much(alias: Node) -> TextError:
    """The error for aliases that make a small text large."""
    return TextError(
        f"aliases such as *{_short(str(alias.tag))} that stand for more than a message may hold",
        alias.line,
        hint="Write the value out where it is used, and shorter.",
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def _ordered(items: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, dict) or len(item) != 1 or not found.keys().isdisjoint(item):
            raise ValueError("is not a list of single pairs, each key once")
        found.update(item)
    return found


def _bool(written: str) -> bool:
    word = written.lower()
    if word not in ("y", "yes", "true", "on", "n", "no", "false", "off"):
        raise ValueError("is neither true nor false")
    return word in ("y", "yes", "true", "on")


def _int(written: str) -> Any:
    if len(written) > _LONGEST_NUMBER:
        return written
    match = _NUMBER(written.replace("_", ""))
    if match is None or match.lastgroup is None:
        raise ValueError("is not a whole number")
    value = int(match[1] + match[match.lastgroup], int(match.lastgroup[1:]))
    # A larger one only as we write it: what was read as text until now, in another spelling, stays text.
    return value if abs(value) < (INTEGERS if written == str(value) else PLAIN_INTEGERS) else written


def _float(written: str) -> Any:
    plain = written.replace("_", "").lower()
    if plain.lstrip("+-") in (".inf", ".nan"):
        return written
    try:
        value = float(plain)
    except ValueError:
        raise ValueError("is not a number") from None
    return value if value - value == 0 else written


def _binary(written: str) -> str:
    """The text that the bytes are, else base64 without line breaks, since a message holds text only."""
    packed = "".join(written.split())
    try:
        text = binascii.a2b_base64(packed, strict_mode=True).decode()
    except binascii.Error:
        raise ValueError("is not base64") from None
    except UnicodeDecodeError:
        return packed
    return packed if _CONTROLS(text) else text


def as_record(node: Node) -> tuple[dict[str, Any], int]:
    """Turn the node of an item into a record; the second tells the weight of what its aliases stand for.

    Raises:
        TextError: As `Reading.value`, and for an item that is not a mapping.
    """
    reading = Reading()
    record = reading.value(node, as_text=None)
    if not isinstance(record, dict):
        raise TextError("expected a message (a mapping of keys)", node.line)
    return record, reading.spent


def parse_record(raw: bytes) -> dict[str, Any]:
    """Read the record in the text of one list item.

    Raises:
        TextError: The text is not one readable mapping.
    """
    record = own_form.read(raw)
    return as_record(_composed(raw, None)[0])[0] if record is None else record


def _composed(raw: bytes, anchors: Anchors | None) -> tuple[Node, bool]:
    if len(raw) > LARGEST:
        text = f"a message of {len(raw):,} bytes, more than {LARGEST:,}"
        raise TextError(text, 1, hint="Keep it in a file instead.")
    try:
        return compose(raw, anchors)
    except UnicodeError:
        raise TextError("the text is not UTF-8", 1, kind=Kind.SYNTAX) from None


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
        borrows: Whether its aliases take values from text before it.
        spent: The weight of everything that its aliases stand for.
    """

    raw: bytes
    known: Message | TextError | None = None
    borrows: bool = False
    spent: int = 0

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
            record = own_form.read(self.raw)
            if record is None:
                record, self.spent = as_record(_composed(self.raw, None)[0])
            outcome = to_message(record, self.raw)
        except TextError as error:
            outcome = error.below(0)  # a copy, since a raised error keeps every frame it passed alive
        with _ONE_AT_A_TIME:
            if self.known is None:
                self.known = outcome
            return self.known


def tied(entry: Entry, anchors: Anchors) -> Entry:
    """Read an entry with the anchors that stand before it, to which its own are added."""
    if not SIGN.search(entry.raw) or len(entry.raw) > LARGEST:
        return entry
    borrows, spent = False, 0
    outcome: Message | TextError
    try:
        node, borrows = compose(entry.raw, anchors)
        record, spent = as_record(node)
        outcome = to_message(record, entry.raw)
    except TextError as error:
        outcome = error.below(0)
    before = entry.known
    if isinstance(before, Message) and isinstance(outcome, Message) and same(before.record, outcome.record):
        outcome = before
    return Entry(entry.raw, outcome, borrows, spent)


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
        found = as_record(compose(raw)[0])[0]
        if not same(_load_elsewhere(raw), [record]):
            raise TextError("another YAML reader would not read the message back as written", hint="Send it as text.")
    if not same(found, record):
        changed = [key for key, value in record.items() if key not in found or not same(value, found[key])]
        what = f"the value of {', '.join(map(repr, changed))}" if changed else "the message"
        raise TextError(f"{what} does not read back as written", hint="Send it as text.")
    to_message(found, raw)
    return raw


def _load_elsewhere(raw: bytes) -> Any:
    import yaml  # as in `Composer`

    try:
        return yaml.load(raw, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise TextError(f"another YAML reader refuses the message: {error}", hint="Send it as text.") from None


class Style(Struct, frozen=True):
    """How a file writes its list: the column of the dashes and the line end."""

    indent: int = 0
    eol: bytes = b"\n"

    def of(self, raw: bytes) -> bytes:
        """Text at column 0 with LF, moved to the column and line end of the file."""
        if self.indent:
            raw = re.sub(rb"(?m)^(?=[^\n])", b" " * self.indent, raw)
        return raw.replace(b"\n", self.eol) if self.eol != b"\n" else raw


def written_out(raw: bytes, anchors: Anchors) -> bytes:
    """Write the values that aliases stand for in their places, in the words of JSON, which is YAML.

    Raises:
        TextError: The text is not YAML, or an alias stands for nothing.
    """
    composer = Composer(raw, anchors, limit=DEPTH + 3)
    try:
        composer.expect("StreamStartEvent", "DocumentStartEvent")
        root = composer.node()
    finally:
        composer.close()
    text = raw.decode()
    for node in sorted(_aliases(root), key=lambda node: -node.start):
        value = json.dumps(Reading().value(node, as_text=False), ensure_ascii=False)
        text = text[: node.start] + value + text[node.end :]
    return text.encode()


def _aliases(node: Node) -> Iterator[Node]:
    if node.kind == "alias":
        yield node
    elif node.kind == "sequence":
        for item in node.value:
            yield from _aliases(item)
    elif node.kind == "mapping":
        for pair in node.value:
            for item in pair:
                yield from _aliases(item)


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
    quick = _by_lines(raw, old, new) if style == Style() else None
    if quick is not None:
        return quick
    node = compose(raw)[0]
    text = raw.decode()
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


_LINE = re.compile(rb"(?m)^(?:- |  )(?=[^ \n-])")


def _by_lines(raw: bytes, old: Mapping[str, Any], new: Mapping[str, Any]) -> bytes | None:
    """The change made in an entry of our own form, where every value that changes is written as we write it."""
    keys = list(old)
    places = [match.start() for match in _LINE.finditer(raw)]
    if own_form.read(raw) is None or len(places) != len(keys) or keys[0] not in new:
        return None
    behind = "status" if "status" in old and "status" in new else [key for key in keys if key in new][-1]
    changed = b""
    for key, at, end in zip(keys, places, [*places[1:], len(raw)], strict=True):
        piece, kept = raw[at:end], key in new and same(old[key], new[key])
        if (not kept or key == behind) and piece[2:] != _written(key, old[key])[2:]:
            return None
        changed += piece if kept else piece[:2] + _written(key, new[key])[2:] if key in new else b""
        if key == behind:
            changed += b"".join([_written(name, value) for name, value in new.items() if name not in old])
    found = own_form.read(changed)
    if found is None or not same(found, new):
        return None
    to_message(found, changed)
    return changed


def _written(key: str, value: Any) -> bytes:
    return (own_form.pair(key, value, 2) + "\n").encode()


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
