"""What is shown of one thing to read: a document of facts, texts and lists, however wide the screen is."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from team_console.store.protocol.shown_when_decided import Seen
from team_console.widgets.text import Line

CANNOT_BE_SHOWN = "✗ this cannot be shown"
"""What stands in the place of something that a defect keeps from being drawn."""
HEADS = frozenset({"head1", "head", "section"})
"""Tones of headings: a line that begins in one of them is one that a reader jumps to."""


class TextForm(Enum):
    """How a block of text is read: as Markdown, as it was written, as YAML, as code, as a unified diff."""

    PROSE = "prose"
    SOURCE = "source"
    STRUCTURED = "structured"
    CODE = "code"
    DIFF = "diff"


class Text(Struct, frozen=True):
    """A block of safe text; `form` says how to read it.

    Attributes:
        is_evidence: Whether it stands beside what is asked, and is no part of it; so in all blocks.
        is_asked: Whether its lines are those that remarks are on, numbered from 1.
        marked: First character and the one behind the last of what is set apart in code of one line; the same twice
            for nothing.
        is_close: Whether no line is left free above it.
    """

    text: str
    form: TextForm = TextForm.PROSE
    is_evidence: bool = False
    is_asked: bool = False
    marked: tuple[int, int] = (0, 0)
    is_close: bool = False


class Heading(Struct, frozen=True):
    """Begins a section."""

    text: str
    is_evidence: bool = False


class Lines(Struct, frozen=True):
    """Lines made elsewhere, wrapped with a hanging indent of `indent` cells; in a table each stays one line, cut.

    Attributes:
        anchor: A name by which its first line is found; empty for none.
        is_close: Whether no line is left free above it.
        is_cut: Whether it says that more is there than can be shown.
    """

    lines: tuple[Line, ...]
    indent: int = 0
    is_table: bool = False
    is_evidence: bool = False
    anchor: str = ""
    is_close: bool = False
    is_cut: bool = False


class Fact(Struct, frozen=True):
    """A label and what it says; facts in a row share one column of labels."""

    label: str
    line: Line


def one_line(text: str, tone: str = "") -> Lines:
    """Return one line of safe text."""
    return Lines((((text, tone),),))


def fact(label: str, text: str, tone: str = "muted") -> Fact:
    """Return a label and one safe text."""
    return Fact(label, ((text, tone),))


Block = Text | Heading | Lines | Fact


class Remarked(Struct, frozen=True):
    """A remark on a line of what is asked.

    Attributes:
        line: Where it stands in the text, from 1; 0 where its line is gone, so that it stands above the text.
        words: What is said, safe text.
    """

    line: int
    words: str


class RequestPart(Struct, frozen=True):
    """What a page of several shows of one request.

    Attributes:
        token: The digest of its question, under which its painted lines are counted.
        seen: All that is shown of it, for the record of whoever decides on it.
        blocks: From top to bottom; those that are no evidence are what is asked.
    """

    token: str
    seen: Seen
    blocks: tuple[Block, ...]


class Document(Struct, frozen=True):
    """One thing to read.

    Attributes:
        key: Which thing it is; a document with another key begins at its top.
        title: Safe text for the row above it: which kind of thing it is.
        headline: Safe text its first line says: what it is about.
        banner: What became of it while it was read, safe text; stands above the text, however far that is scrolled.
        facts: The line below: who, when, how late; each part is one fact.
        more: Facts that are shown on demand: ids and the like.
        blocks: From top to bottom.
        token: What an answer must quote (the digest of what is shown); empty when nothing can be answered.
        source: What `y` copies and the plain view shows; stored text, not made safe.
        seen: All that is shown of a request, for the record of whoever decides on it.
        remarks: Those on lines of what is asked; each is drawn below its line.
        parts: On a page of several, each request below the blocks; the page itself has no token then.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    headline: str = ""
    banner: str = ""
    facts: Line = ()
    more: tuple[Fact, ...] = ()
    token: str = ""
    source: str = ""
    seen: Seen | None = None
    remarks: tuple[Remarked, ...] = ()
    parts: tuple[RequestPart, ...] = ()
