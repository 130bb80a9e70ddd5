"""What a detail view shows: facts, text and lists of one thing, and how they are laid out in lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from itertools import count, islice

from msgspec import Struct
from team_console.store.protocol.verdicts import Seen
from team_console.widgets.text import Line, Part, fit, pad, pieces, width_of, wrap
from textual.message import Message

CANNOT_BE_SHOWN = "✗ this cannot be shown"


class NotShown(Message):
    """A record could not be drawn; what stands beside it goes on."""

    def __init__(self, error: Exception) -> None:
        """`error` is what its drawing raised."""
        super().__init__()
        self.error = error


_INLINE = re.compile(
    r"`([^`\n]+)`|\*\*([^*\s](?:[^*\n]*[^*\s])?)\*\*|(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])"
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)$")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(.*)$")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_QUOTE = re.compile(r"[ \t]{0,3}>[ ]?")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)$")
_RULE = re.compile(r"[ \t]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_FENCE_EDGE = "│ "


def prose(text: str, width: int) -> Iterator[Line]:
    """The lines of safe Markdown `text` at `width` cells."""
    fence = ""
    for line in text.split("\n"):
        edge = _FENCE.match(line)
        if fence:
            if edge and edge[1].startswith(fence) and not edge[2].strip():
                fence = ""
            else:
                yield from _code(line, width)
        elif edge and "`" not in edge[2]:
            fence = edge[1]
            if edge[2].strip():
                yield from wrap(((_FENCE_EDGE, "faint"), (edge[2].strip(), "faint")), width)
        else:
            yield from _block(line, width)


def plain(text: str, width: int) -> Iterator[Line]:
    """The lines of safe `text` as it was written."""
    for line in text.split("\n"):
        yield from wrap(((line, ""),), width)


def structured(text: str, width: int) -> Iterator[Line]:
    """The lines of safe YAML `text`, keys set apart from values."""
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        indent = len(line) - len(line.lstrip(" -"))
        if colon and key.strip() and (not value or value[0] == " ") and not key.lstrip(" -").startswith(("'", '"')):
            parts: Line = ((key + colon, "open"), (value, ""))
        else:
            parts = ((line, ""),)
        yield from wrap(parts, width, rest=((" " * min(indent + 2, 12), ""),))


def inline(text: str, tone: str = "") -> Line:
    """One line with its emphasis and code set in tones."""
    parts: list[Part] = []
    start = 0
    for match in _INLINE.finditer(text):
        if match.start() > start:
            parts.append((text[start : match.start()], tone))
        code, bold, italic = match.groups()
        parts.append((code, "code") if code else (bold, "strong") if bold else (italic, "italic"))
        start = match.end()
    if start < len(text):
        parts.append((text[start:], tone))
    return tuple(parts)


def _code(line: str, width: int) -> list[Line]:
    return wrap(((_FENCE_EDGE, "faint"), (line, "code")), width, rest=((_FENCE_EDGE, "faint"),))


def _block(line: str, width: int) -> list[Line]:
    if match := _HEADING.match(line):
        return wrap(inline(match[2], "head"), width)
    if _RULE.match(line):
        return [(("─" * width, "faint"),)]
    if match := _QUOTE.match(line):
        return wrap((("▎ ", "muted"), *inline(line[match.end() :], "muted")), width, rest=(("▎ ", "muted"),))
    if match := _ITEM.match(line):
        return _item(match, width)
    return wrap(inline(line), width)


def _item(match: re.Match[str], width: int) -> list[Line]:
    indent, mark, _, text = match.groups()
    sign = "•" if mark in "-*+" else mark
    tone = "muted"
    if task := _TASK.match(text):
        done = task[1] != " "
        sign, tone, text = ("☑", "good", text[task.end() :]) if done else ("☐", "muted", text[task.end() :])
    lead = indent.expandtabs(4)
    rest = " " * (len(lead) + len(sign) + 1)
    return wrap(((lead, ""), (sign + " ", tone), *inline(text)), width, rest=((rest, ""),))


# Reads commands, contents and differences into lines for the screen: nothing is dropped, no break is hidden.

_EDGE, _GOES_ON = "│ ", "┊ "
"""What begins a line, and what begins the rest of one that is longer than the screen is wide."""
_SIGNS = {"+": "good", "-": "bad"}
_LINE_END = "\\"


def code(text: str, width: int) -> Iterator[Line]:
    """The lines of safe `text` at `width` cells, each with an edge, so that a line that goes on is no new line."""
    for line in text.split("\n"):
        for number, piece in enumerate(pieces(line, width - len(_EDGE))):
            yield (_GOES_ON if number else _EDGE, "faint"), (piece, "code")


def diff(text: str, width: int) -> Iterator[Line]:
    """The lines of a safe unified diff at `width` cells, with its signs."""
    for line in text.split("\n"):
        sign, rest = line[:1], line[1:]
        if sign == "@" or sign == _LINE_END:
            yield from (((piece, "muted"),) for piece in pieces(line, width))
            continue
        tone = _SIGNS.get(sign, "")
        for number, piece in enumerate(pieces(rest, width - 2)):
            head = ("┊ ", "faint") if number else (f"{sign or ' '} ", tone)
            yield head, (piece, tone)


SHOWN_CHARACTERS = 100_000
"""Longer texts are cut on the screen, and the cut is said."""
_SHOWN_OF_DIFF = 2_000_000
"""The same for a difference: what is left out of it is what a human would not decide on."""


class Form(Enum):
    """How a block of text is read."""

    PROSE = "prose"
    SOURCE = "source"
    STRUCTURED = "structured"
    CODE = "code"
    DIFF = "diff"


_LONG = 10_000
"""Characters from which on the lines of a text are remembered."""
_EXACT = frozenset({Form.CODE, Form.DIFF})
"""Readings that show a text as it was written anyway."""


class Text(Struct, frozen=True):
    """A block of safe text; `form` says how to read it."""

    text: str
    form: Form = Form.PROSE
    beside: bool = False


class Heading(Struct, frozen=True):
    """Begins a section."""

    text: str
    beside: bool = False


class Lines(Struct, frozen=True):
    """Lines made elsewhere, wrapped with a hanging indent of `indent` cells; in a table each stays one line, cut."""

    lines: tuple[Line, ...]
    indent: int = 0
    is_table: bool = False
    beside: bool = False


class Fact(Struct, frozen=True):
    """A label and what it says; facts in a row share one column of labels."""

    label: str
    line: Line


Block = Text | Heading | Lines | Fact
"""Those that are `beside` are evidence: no part of what is asked."""


class Place(Enum):
    """Which part of a document a line belongs to."""

    HEAD = "head"
    TEXT = "text"
    BESIDE = "beside"


class Document(Struct, frozen=True):
    """One thing to read.

    Attributes:
        key: Which thing it is; a document with another key begins at its top.
        title: Safe text for the row above it: which kind of thing it is.
        headline: Safe text its first line says: what it is about.
        facts: The line below: who, when, how late; each part is one fact.
        more: Facts that are shown on demand: ids and the like.
        blocks: From top to bottom.
        token: What an answer must quote (the digest of what is shown); empty when nothing can be answered.
        source: What `y` copies and the plain view shows; stored text, not made safe.
        seen: All that is shown of a request, for the record of whoever decides on it.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    headline: str = ""
    facts: Line = ()
    more: tuple[Fact, ...] = ()
    token: str = ""
    source: str = ""
    seen: Seen | None = None


def laid_out(document: Document, width: int, *, raw: bool = False, full: bool = False) -> Iterator[tuple[Place, Line]]:
    """The same line by line: of a long text only what is asked for is made."""
    head, labels = _head(document, width), _label_width(document)
    previous: Block | None = None
    if full and document.more:
        head.extend(line for fact in document.more for line in _document_block(fact, width, labels, raw))
    if head and document.blocks:
        head.append(())
    yield from ((Place.HEAD, line) for line in head)
    for block in document.blocks:
        place = Place.BESIDE if not isinstance(block, Fact) and block.beside else Place.TEXT
        together = isinstance(previous, Heading) or (isinstance(block, Fact) and isinstance(previous, Fact))
        if previous is not None and not together:
            yield place, ()
        for line in _document_block(block, width, labels, raw):
            yield place, line
        previous = block


def _head(document: Document, width: int) -> list[Line]:
    """Headline and facts; a fact that does not fit into the line goes to the next one as a whole."""
    lines = wrap(((document.headline, "strong"),), width) if document.headline else []
    parts: list[Part] = []
    for text, tone in document.facts:
        apart: Part = (" · ", "muted")
        if parts and width_of((*parts, apart, (text, tone))) > width:
            lines += wrap(tuple(parts), width)
            parts = []
        parts += [apart, (text, tone)] if parts else [(text, tone)]
    return lines + wrap(tuple(parts), width) if parts else lines


def _document_block(block: Block, width: int, labels: int, raw: bool) -> Iterator[Line]:
    match block:
        case Fact(label, line):
            head = ((pad(label, labels), "muted"), (" ", ""))
            yield from wrap((*head, *line), width, rest=((" " * (labels + 1), ""),))
        case Heading(text):
            lead = f"── {text} "
            yield fit(((lead, "muted"), ("─" * max(0, width - len(lead)), "faint")), width)
        case Lines(lines, indent, is_table):
            for line in lines:
                yield from (fit(line, width),) if is_table else wrap(line, width, rest=((" " * indent, ""),))
        case Text(text, form):
            yield from _text(text, Form.SOURCE if raw and form not in _EXACT else form, width)


def _text(text: str, form: Form, width: int) -> Iterable[Line]:
    return _long_text(text, form, width) if len(text) > _LONG else _lines_of(text, form, width)


def _lines_of(text: str, form: Form, width: int) -> Iterator[Line]:
    most = _SHOWN_OF_DIFF if form is Form.DIFF else SHOWN_CHARACTERS
    yield from _READERS[form](text[:most].rstrip("\n"), width)
    if len(text) > most:
        yield ()
        yield (("✂ ", "warn"), (f"{len(text) - most:,} more characters are not shown here", "warn"))


@lru_cache(maxsize=8)
def _long_text(text: str, form: Form, width: int) -> Iterable[Line]:
    """Lines of a long text, remembered: a fact beside it that changes each minute must not lay it out anew."""
    return _Remembered(_lines_of(text, form, width))


class _Remembered:
    """Lines that are made when they are first asked for, and kept. Use it from one thread at a time."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._rest = lines
        self._made: list[Line] = []
        self._failure: Exception | None = None

    def __iter__(self) -> Iterator[Line]:
        for number in count():
            if number == len(self._made) and not self._made_more():
                return
            yield self._made[number]

    def _made_more(self) -> bool:
        # A generator that failed ends like one that is through: the text would stand there cut, and nobody would know.
        if self._failure is not None:
            raise self._failure
        before = len(self._made)
        try:
            self._made += islice(self._rest, 1)
        except Exception as error:
            self._failure = error
            raise
        return len(self._made) > before


_READERS: Mapping[Form, Callable[[str, int], Iterable[Line]]] = {
    Form.PROSE: prose,
    Form.SOURCE: plain,
    Form.STRUCTURED: structured,
    Form.CODE: code,
    Form.DIFF: diff,
}


def _label_width(document: Document) -> int:
    facts = [block for block in (*document.more, *document.blocks) if isinstance(block, Fact)]
    return max((len(block.label) for block in facts), default=0)
