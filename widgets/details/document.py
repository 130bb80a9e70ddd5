"""What a detail view shows: facts, text and lists of one thing, and how they are laid out in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from itertools import count, islice

from msgspec import Struct
from team_console.store.protocol.seen import Seen
from team_console.widgets.details.code import code, diff
from team_console.widgets.details.prose import plain, prose, structured
from team_console.widgets.text.cells import Line, Part, fit, pad, width_of, wrap

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
        head.extend(line for fact in document.more for line in _block(fact, width, labels, raw))
    if head and document.blocks:
        head.append(())
    yield from ((Place.HEAD, line) for line in head)
    for block in document.blocks:
        place = Place.BESIDE if not isinstance(block, Fact) and block.beside else Place.TEXT
        together = isinstance(previous, Heading) or (isinstance(block, Fact) and isinstance(previous, Fact))
        if previous is not None and not together:
            yield place, ()
        for line in _block(block, width, labels, raw):
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


def _block(block: Block, width: int, labels: int, raw: bool) -> Iterator[Line]:
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
