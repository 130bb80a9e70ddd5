"""A document, what is shown of one thing to read: facts, texts and lists; below, the lines it takes on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from msgspec import Struct
from team_console.store.protocol.shown_when_decided import Seen
from team_console.widgets.markdown_and_code import Group, code, diff, marked_code, plain, prose, structured
from team_console.widgets.text import Line, Part, cell_len, fit, pad, width_of
from team_console.widgets.wrapping import wrap

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
    banner: Line = ()
    facts: Line = ()
    more: tuple[Fact, ...] = ()
    token: str = ""
    source: str = ""
    seen: Seen | None = None
    remarks: tuple[Remarked, ...] = ()
    parts: tuple[RequestPart, ...] = ()


# The document laid out in lines of the screen: its head, its blocks and what is remarked on them.

SHOWN_CHARACTERS = 100_000
"""Longer texts are cut on the screen, and the cut is said."""
_SHOWN_EXACTLY = 2_000_000
"""The same for what a machine reads: what is left out of it is what a human would not decide on."""
_EXACT = frozenset({TextForm.CODE, TextForm.DIFF})
"""Forms in which a text is shown as it was written anyway."""


class DocumentArea(Enum):
    """Where in a document a line stands: in its head, in what is asked or told, or in the evidence beside that."""

    HEAD = "head"
    TEXT = "text"
    EVIDENCE = "evidence"


class LaidLine(NamedTuple):
    """One line of the screen.

    Attributes:
        area: Which area of its document it belongs to.
        text_line: Its line in the text that is asked, from 1; else 0.
        token: The token of the request that it shows.
        is_cut: Whether it says that more is there than can be shown.
        anchor: The name by which it is found; empty for none.
    """

    area: DocumentArea
    line: Line
    text_line: int = 0
    token: str = ""
    is_cut: bool = False
    anchor: str = ""


class _Room(NamedTuple):
    """What blocks are laid out in: the cells of a line, those of the labels of facts, and how texts are shown.

    Attributes:
        raw, whole: As for `laid_out`.
    """

    width: int
    labels: int
    raw: bool
    whole: bool


def laid_out(
    document: Document,
    width: int,
    *,
    raw: bool = False,
    full: bool = False,
    whole: bool = False,
) -> Iterator[LaidLine]:
    """Yield the lines of a document, those of its own before those of its parts.

    Args:
        raw: Show texts as they were written.
        full: Show the facts that are shown on demand, too.
        whole: Cut no text, however long it is.
    """
    more = document.more if full else ()
    room = _Room(width, _label_width((*more, *document.blocks)), raw, whole)
    own = chain(_head_lines(document, more, room), _block_lines(document.blocks, document.remarks, room))
    yield from (laid._replace(token=document.token) for laid in own)
    for number, part in enumerate(document.parts):
        if number or document.blocks:
            yield LaidLine(DocumentArea.HEAD, ())
        room = room._replace(labels=_label_width(part.blocks))
        yield from (laid._replace(token=part.token) for laid in _block_lines(part.blocks, (), room))


def _head_lines(document: Document, more: Sequence[Fact], room: _Room) -> Iterator[LaidLine]:
    """Yield banner, headline, facts and `more` facts; below them a free line where something follows."""
    head = _head(document, room.width)
    for each in more:
        head += chain.from_iterable(_groups_of_block(each, room))
    if head and (document.blocks or document.parts):
        head.append(())
    yield from (LaidLine(DocumentArea.HEAD, line) for line in head)


def _block_lines(blocks: Sequence[Block], remarks: Sequence[Remarked], room: _Room) -> Iterator[LaidLine]:
    """Yield the lines of blocks with the free lines between them; in the text that is asked each with its remarks."""
    previous: Block | None = None
    is_text_above = False
    for block in blocks:
        area = DocumentArea.EVIDENCE if not isinstance(block, Fact) and block.is_evidence else DocumentArea.TEXT
        if not _stands_close(block, previous):
            # The free line above what is asked is a line of the evidence above it, which may be read later: the number
            # of lines that are asked is told before, and must not change.
            yield LaidLine(area if is_text_above else DocumentArea.EVIDENCE, ())
        is_text_above = is_text_above or area is DocumentArea.TEXT
        if isinstance(block, Text) and block.is_asked:
            yield from _asked_lines(block, area, remarks, room)
        else:
            anchor = block.anchor if isinstance(block, Lines) else ""
            is_cut = isinstance(block, Lines) and block.is_cut
            for line in chain.from_iterable(_groups_of_block(block, room)):
                yield LaidLine(area, line, is_cut=is_cut or line[:1] == _CUT, anchor=anchor)
                anchor = ""  # the first line alone has it
        previous = block


def _asked_lines(block: Text, area: DocumentArea, remarks: Sequence[Remarked], room: _Room) -> Iterator[LaidLine]:
    """Yield the lines of the text that is asked: below each its remarks, above all those whose line is gone."""
    if gone := list(_remark_lines(remarks, 0, room.width)):
        yield from (*gone, LaidLine(DocumentArea.HEAD, ()))
    for number, group in enumerate(_groups_of_block(block, room), start=1):
        for line in group:
            yield LaidLine(area, line, number, is_cut=line[:1] == _CUT)
        yield from _remark_lines(remarks, number, room.width)


def _stands_close(block: Block, previous: Block | None) -> bool:
    """Return whether no line is left free between a block and the one before it."""
    if previous is None or isinstance(previous, Heading):
        return True
    if isinstance(block, Fact):
        return isinstance(previous, Fact)
    return not isinstance(block, Heading) and block.is_close


def _remark_lines(remarks: Sequence[Remarked], number: int, width: int) -> Iterator[LaidLine]:
    """Yield the remarks on the line with this number; they are no part of the request."""
    for remark in remarks:
        if remark.line == number:
            said = (("  ✎ ", "open"), (remark.words, "strong"))
            yield from (LaidLine(DocumentArea.HEAD, line) for line in wrap(said, width, rest=(("    ", ""),)))


def _head(document: Document, width: int) -> list[Line]:
    """Return banner, headline and facts; a fact that does not fit into the line goes to the next one as a whole."""
    lines = wrap(document.banner, width) if document.banner else []
    first = next(iter(document.blocks), None)
    says_headline = isinstance(first, Text) and first.text.partition("\n")[0] == f"# {document.headline}"
    if document.headline and not says_headline:
        lines += wrap(((document.headline, "strong"),), width)
    apart: Part = (" · ", "muted")
    parts: list[Part] = []
    for each in document.facts:
        if parts and width_of((*parts, apart, each)) > width:
            lines += wrap(tuple(parts), width)
            parts = []
        parts += [apart, each] if parts else [each]
    return lines + wrap(tuple(parts), width) if parts else lines


def _groups_of_block(block: Block, room: _Room) -> Iterable[Group]:
    """Return for each line of a block the lines that it takes on the screen."""
    width, labels = room.width, room.labels
    match block:
        case Fact(label, line):
            head = ((pad(label, labels), "muted"), (" ", ""))
            return (wrap((*head, *line), width, rest=((" " * (labels + 1), ""),)),)
        case Heading(text):
            lead = f"── {text} "
            return ((fit(((lead, "section"), ("─" * max(0, width - cell_len(lead)), "faint")), width),),)
        case Lines(lines, indent, is_table):
            hanging = ((" " * indent, ""),)
            return ((fit(line, width),) if is_table else wrap(line, width, rest=hanging) for line in lines)
        case Text(text, form, marked=(start, end)):
            if start < end:
                return (marked_code(text, start, end, width),)
            return _lines_of(text, TextForm.SOURCE if room.raw and form not in _EXACT else form, width, room.whole)


_CUT: Line = (("✂ ", "warn"),)
"""What the line begins with that stands for what is not shown; no text is written in these parts."""


@lru_cache(maxsize=8)
def _lines_of(text: str, form: TextForm, width: int, whole: bool) -> Sequence[Group]:
    """Return the lines of a text, remembered: a fact beside it that changes each minute must not lay it out anew."""
    most = SHOWN_CHARACTERS if form in (TextForm.PROSE, TextForm.SOURCE) else _SHOWN_EXACTLY
    most = len(text) if whole else most
    lines = list(_READERS[form](text[:most].rstrip("\n"), width))
    if len(text) > most:
        lines.append(((), (*_CUT, (f"{len(text) - most:,} more characters are not shown here", "warn"))))
    return lines


_READERS: Mapping[TextForm, Callable[[str, int], Iterable[Group]]] = {
    TextForm.PROSE: prose,
    TextForm.SOURCE: plain,
    TextForm.STRUCTURED: structured,
    TextForm.CODE: code,
    TextForm.DIFF: diff,
}


def _label_width(blocks: Iterable[Block]) -> int:
    """Return the cells of the longest label of a fact among blocks."""
    return max((len(block.label) for block in blocks if isinstance(block, Fact)), default=0)
