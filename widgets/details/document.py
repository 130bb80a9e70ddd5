"""What a detail view shows: facts, text and lists of one thing, and how they are laid out in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache

from msgspec import Struct
from team_console.store.protocol.seen import Seen
from team_console.widgets.details.code import code, diff
from team_console.widgets.details.prose import plain, prose, structured
from team_console.widgets.text.cells import Line, fit, pad, wrap

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


class Heading(Struct, frozen=True):
    """Begins a section."""

    text: str


class Lines(Struct, frozen=True):
    """Lines made elsewhere, wrapped with a hanging indent of `indent` cells."""

    lines: tuple[Line, ...]
    indent: int = 0


class Fact(Struct, frozen=True):
    """A label and what it says; facts in a row share one column of labels."""

    label: str
    line: Line


Block = Text | Heading | Lines | Fact


class Document(Struct, frozen=True):
    """One thing to read.

    Attributes:
        key: Which thing it is; a document with another key begins at its top.
        title: Safe text for the border.
        blocks: From top to bottom.
        token: What an answer must quote (the fingerprint of what is shown); empty when nothing can be answered.
        source: What `y` copies and the plain view shows; stored text, not made safe.
        seen: All that is shown of a request, for the record of whoever decides on it.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    token: str = ""
    source: str = ""
    seen: Seen | None = None


def lay_out(document: Document, width: int, *, raw: bool = False) -> list[Line]:
    """The document in lines of at most `width` cells; `raw` shows texts as they were written."""
    lines: list[Line] = []
    labels = _label_width(document)
    previous: Block | None = None
    for block in document.blocks:
        together = isinstance(previous, Heading) or (isinstance(block, Fact) and isinstance(previous, Fact))
        if previous is not None and not together:
            lines.append(())
        lines.extend(_block(block, width, labels, raw))
        previous = block
    return lines


def _block(block: Block, width: int, labels: int, raw: bool) -> Iterator[Line]:
    match block:
        case Fact(label, line):
            head = ((pad(label, labels), "muted"), (" ", ""))
            yield from wrap((*head, *line), width, rest=((" " * (labels + 1), ""),))
        case Heading(text):
            lead = f"── {text} "
            yield fit(((lead, "muted"), ("─" * max(0, width - len(lead)), "faint")), width)
        case Lines(lines, indent):
            for line in lines:
                yield from wrap(line, width, rest=((" " * indent, ""),))
        case Text(text, form):
            yield from _text(text, Form.SOURCE if raw and form not in _EXACT else form, width)


def _text(text: str, form: Form, width: int) -> Sequence[Line]:
    return _long_text(text, form, width) if len(text) > _LONG else tuple(_lines_of(text, form, width))


def _lines_of(text: str, form: Form, width: int) -> Iterator[Line]:
    most = _SHOWN_OF_DIFF if form is Form.DIFF else SHOWN_CHARACTERS
    yield from _READERS[form](text[:most].rstrip("\n"), width)
    if len(text) > most:
        yield ()
        yield (("✂ ", "warn"), (f"{len(text) - most:,} more characters are not shown here", "warn"))


@lru_cache(maxsize=8)
def _long_text(text: str, form: Form, width: int) -> Sequence[Line]:
    """Lines of a long text, remembered: a fact beside it that changes each minute must not lay it out anew."""
    return tuple(_lines_of(text, form, width))


_READERS: Mapping[Form, Callable[[str, int], Iterable[Line]]] = {
    Form.PROSE: prose,
    Form.SOURCE: plain,
    Form.STRUCTURED: structured,
    Form.CODE: code,
    Form.DIFF: diff,
}


def _label_width(document: Document) -> int:
    return max((len(block.label) for block in document.blocks if isinstance(block, Fact)), default=0)
