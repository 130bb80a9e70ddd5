"""What a detail view shows: facts, text and lists of one thing, and how they are laid out in lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from msgspec import Struct
from team_console.store.protocol.verdicts import Seen
from team_console.widgets.text import Line, Part, cell_len, fit, pad, parts_within, pieces, text_of, width_of, wrap

CANNOT_BE_SHOWN = "✗ this cannot be shown"

_INLINE = re.compile(
    r"(?<![`\\])`([^`\n]+)`(?!`)"
    r"|(?<![*\\])\*\*([^*\s](?:[^*\n]*[^*\s\\])?)\*\*(?!\*)"
    r"|(?<![\w*\\])\*([^*\s](?:[^*\n]*[^*\s\\])?)\*(?![\w*])"
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)$")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(.*)$")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_QUOTE = re.compile(r"[ \t]{0,3}>[ ]?")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)$")
_RULE = re.compile(r"[ \t]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_BELOW_HEAD = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
"""The line below the head of a table."""
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(
    r"(?P<muted>(?<!\S)#.*|(?<![:/])//.*)"
    r"|(?P<good>\"{3}(?:(?!\"{3}).)*(?:\"{3})?|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<open>(?<!\w)\d[\w.]*)"
    r"|(?P<key>\b(?:and|as|async|await|break|case|catch|class|const|continue|def|del|do|done|elif|else|end|except|export"
    r"|false|False|fi|finally|fn|for|from|func|function|go|if|impl|import|in|interface|is|lambda|let|match|module|new|nil"
    r"|None|not|null|or|package|pass|private|public|raise|resource|return|self|static|struct|switch|then|this|throw|true"
    r"|True|try|type|use|var|variable|void|while|with|yield"
    r"|SELECT|FROM|WHERE|AND|OR|NOT|INSERT|INTO|VALUES|UPDATE|SET|DELETE|CREATE|TABLE|ALTER|ADD|COLUMN|INDEX|ON|DROP"
    r"|JOIN|LEFT|ORDER|GROUP|BY|NULL|DEFAULT|PRIMARY)\b)"
)
"""Comments, texts, numbers and words of the usual languages: a lexer of each takes 100 ms to be imported, and hostile
text can hold it up for ever."""
_NO_LANGUAGE = frozenset({"", "text", "txt", "plain", "output", "console", "md", "markdown", "mermaid"})
_EDGE, _GOES_ON = "│ ", "┊ "
"""What begins a line of code, and what begins the rest of one that is longer than the screen is wide."""
_DIFF_TONES = {"+": "good", "-": "bad"}
HEADS = frozenset({"head1", "head", "section"})
"""Tones that lines begin in which a reader jumps to."""
_NARROWEST = 4
"""Cells for each column of a table that it is drawn from on."""


Group = Sequence[Line]
"""What one line of a text becomes on the screen: several lines where it is too long, none where it only begins code."""


def prose(text: str, width: int) -> Iterator[Group]:
    """Yield the lines of safe Markdown `text` at `width` cells."""
    fence = language = ""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        edge = _FENCE.match(line)
        if fence:
            if edge and edge[1].startswith(fence) and not edge[2].strip():
                fence = ""
                yield ()
            else:
                yield _code(line, width, language)
        elif edge and "`" not in edge[2]:
            fence, language = edge[1], edge[2].strip()
            yield wrap(((_EDGE, "faint"), (language, "muted")), width) if language else ()
        elif (
            "|" in line
            and number + 1 < len(lines)
            and "|" in lines[number + 1]
            and _BELOW_HEAD.match(lines[number + 1])
        ):
            end = next((place for place in range(number, len(lines)) if "|" not in lines[place]), len(lines))
            yield from _table(lines[number:end], width)
            number = end - 1
        else:
            yield _prose_line(line, width)
        number += 1


def _table(lines: Sequence[str], width: int) -> Iterator[Group]:
    """Yield a table with its columns side by side; what does not fit into a cell goes on below."""
    rows = [[inline(cell.strip().replace("\\|", "|")) for cell in _cells(line)] for line in (lines[0], *lines[2:])]
    columns = max(map(len, rows))
    marks = [cell.strip() for cell in _cells(lines[1])] + [""] * columns
    widths = [max(width_of(row[place]) for row in rows if place < len(row)) for place in range(columns)]
    room = width - 3 * columns + 1
    if room < columns * _NARROWEST:  # nothing is cut that nobody could bring back
        yield from plain("\n".join(lines), width)
        return
    widths = _column_widths(
        room, widths, [max(_longest_word(row[place : place + 1]) for row in rows) for place in range(columns)]
    )
    for number, row in enumerate(rows):
        yield _table_row(row, widths, marks, width, is_head=number == 0)
        if number == 0:
            yield (fit((("─" + "─┼─".join("─" * wide for wide in widths) + "─", "faint"),), width),)


def _column_widths(room: int, wanted: Sequence[int], longest_words: Sequence[int]) -> list[int]:
    """Share the room among columns: each has what it wants, or as much as the others that go on below.

    No word is broken where that can be; one that is too long for it presses no other column.
    """
    least = list(longest_words)
    while sum(least) > room:
        least[least.index(max(least))] = 0
    both = list(zip(least, wanted, strict=True))
    widest = next(most for most in range(room, -1, -1) if sum(max(few, min(most, wide)) for few, wide in both) <= room)
    return [max(few, min(widest, wide)) for few, wide in both]


def _longest_word(cells: Sequence[Line]) -> int:
    return max((cell_len(word) for cell in cells for word in text_of(cell).split()), default=0)


def _table_row(row: Sequence[Line], widths: Sequence[int], marks: Sequence[str], width: int, *, is_head: bool) -> Group:
    """Return the lines of a row, its cells aligned as the marks below the head say."""
    cells = [wrap(cell, wide) for cell, wide in zip([*row, *[()] * len(widths)], widths, strict=False)]
    drawn: list[Line] = []
    for place in range(max(map(len, cells))):
        parts: list[Part] = []
        for cell, wide, mark in zip(cells, widths, marks, strict=False):
            said = cell[place] if place < len(cell) else ()
            space = (" " * max(0, wide - width_of(said)), "")
            bold = tuple((text, tone or "strong") for text, tone in said) if is_head else said
            parts += [(" │ ", "faint")] if parts else [(" ", "")]
            parts += [space, *bold] if mark.endswith(":") and not mark.startswith(":") else [*bold, space]
        drawn.append(fit(tuple(parts), width))
    return drawn


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a table; bars at its ends part nothing."""
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    return _BAR.split(line[:-1] if line.endswith("|") and not line.endswith("\\|") else line)


def plain(text: str, width: int) -> Iterator[Group]:
    """Return the lines of safe `text` as it was written."""
    return (wrap(((line, ""),), width) for line in text.split("\n"))


def structured(text: str, width: int) -> Iterator[Group]:
    """Yield the lines of safe YAML `text`, keys set apart from values."""
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        indent = len(line) - len(line.lstrip(" -"))
        if colon and key.strip() and (not value or value[0] == " ") and not key.lstrip(" -").startswith(("'", '"')):
            parts: Line = ((key + colon, "open"), (value, ""))
        else:
            parts = ((line, ""),)
        yield wrap(parts, width, rest=((" " * min(indent + 2, 12), ""),))


def inline(text: str, tone: str = "") -> Line:
    """Return one line with its emphasis and code set in tones."""
    parts: list[Part] = []
    start = 0
    for match in _INLINE.finditer(text):
        if match.start() > start:
            parts.append((text[start : match.start()], tone))
        code, bold, italic = match.groups()
        if code:
            parts.append((code, "code"))
        elif bold:
            parts.append((bold, "strong"))
        else:
            parts.append((italic, "italic"))
        start = match.end()
    if start < len(text):
        parts.append((text[start:], tone))
    return tuple(parts)


def _code(line: str, width: int, language: str) -> Group:
    """Return a line of code, told apart from one that goes on."""
    line = line.expandtabs(4)
    ends = list(accumulate(map(len, pieces(line, width - len(_EDGE)))))
    parts = _code_parts(line, language.partition(" ")[0].lower())
    drawn = parts_within(parts, pairwise((0, *ends)))
    return [((_GOES_ON if number else _EDGE, "faint"), *parts) for number, parts in enumerate(drawn)]


def _marked_code(line: str, start: int, end: int, width: int) -> Group:
    """Return a line of code without tabs, in which what stands from `start` to before `end` is set apart."""
    drawn: list[Line] = []
    at = 0
    for piece in pieces(line, width - len(_EDGE)):
        first, last = (min(max(0, place - at), len(piece)) for place in (start, end))
        parts = ((piece[:first], "code"), (piece[first:last], "hit"), (piece[last:], "code"))
        drawn.append(((_GOES_ON if at else _EDGE, "faint"), *(part for part in parts if part[0])))
        at += len(piece)
    return drawn


def _code_parts(text: str, language: str) -> Line:
    """Return a line of code in parts, each with its tone."""
    if language == "diff":
        return ((text, _DIFF_TONES.get(text[:1], "code")),)
    if language in _NO_LANGUAGE:
        return ((text, "code"),)
    parts: list[Part] = []
    start = 0
    for match in _CODE.finditer(text):
        parts += [(text[start : match.start()], ""), (match[0], match.lastgroup or "")]
        start = match.end()
    return tuple(part for part in (*parts, (text[start:], "")) if part[0])


def _prose_line(line: str, width: int) -> list[Line]:
    """Return the lines of a heading, rule, quote, list item or paragraph."""
    if match := _HEADING.match(line):
        return wrap(inline(match[2], "head1" if match[1] == "#" else "head"), width)
    if _RULE.match(line):
        return [(("─" * width, "faint"),)]
    if match := _QUOTE.match(line):
        return wrap((("▎ ", "muted"), *inline(line[match.end() :], "muted")), width, rest=(("▎ ", "muted"),))
    if match := _ITEM.match(line):
        return _list_item(match, width)
    return wrap(inline(line), width)


def _list_item(match: re.Match[str], width: int) -> list[Line]:
    """Return the lines of a list item, those after the first set in."""
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

_LINE_END = "\\"


def code(text: str, width: int) -> Iterator[Group]:
    """Return the lines of safe `text` at `width` cells, each with an edge, so that a line that goes on is no new
    line.
    """
    return (_code(line, width, "") for line in text.split("\n"))


def diff(text: str, width: int) -> Iterator[Group]:
    """Yield the lines of a safe unified diff at `width` cells, with its signs."""
    for line in text.split("\n"):
        sign, rest = line[:1], line[1:]
        if sign == "@" or sign == _LINE_END:
            yield [((piece, "muted"),) for piece in pieces(line, width)]
            continue
        tone = _DIFF_TONES.get(sign, "")
        heads = ((f"{sign or ' '} ", tone), ("┊ ", "faint"))
        yield [(heads[number > 0], (piece, tone)) for number, piece in enumerate(pieces(rest, width - 2))]


SHOWN_CHARACTERS = 100_000
"""Longer texts are cut on the screen, and the cut is said."""
_SHOWN_EXACTLY = 2_000_000
"""The same for what a machine reads: what is left out of it is what a human would not decide on."""


class TextForm(Enum):
    """How a block of text is read."""

    PROSE = "prose"
    SOURCE = "source"
    STRUCTURED = "structured"
    CODE = "code"
    DIFF = "diff"


_EXACT = frozenset({TextForm.CODE, TextForm.DIFF})
"""Readings that show a text as it was written anyway."""


class Text(Struct, frozen=True):
    """A block of safe text; `form` says how to read it.

    Attributes:
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
"""Those of which `is_evidence` holds stand beside what is asked, and are no part of it."""


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


class DocumentPart(Enum):
    """Which part of a document a line belongs to."""

    HEAD = "head"
    TEXT = "text"
    EVIDENCE = "evidence"


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


class LaidLine(NamedTuple):
    """One line of the screen.

    Attributes:
        text_line: Its line in the text that is asked, from 1; else 0.
        token: The token of the request that it shows.
        is_cut: Whether it says that more is there than can be shown.
        anchor: The name by which it is found; empty for none.
    """

    place: DocumentPart
    line: Line
    text_line: int = 0
    token: str = ""
    is_cut: bool = False
    anchor: str = ""


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
    for laid in _own_lines(document, width, raw=raw, full=full, whole=whole):
        yield laid._replace(token=document.token)
    for number, part in enumerate(document.parts):
        if number or document.blocks:
            yield LaidLine(DocumentPart.HEAD, ())
        shown = Document(key=document.key, title="", blocks=part.blocks, token=part.token)
        for laid in _own_lines(shown, width, raw=raw, full=full, whole=whole):
            yield laid._replace(token=part.token)


def _own_lines(document: Document, width: int, *, raw: bool, full: bool, whole: bool) -> Iterator[LaidLine]:
    """Yield the lines of a document without those of its parts: head, then blocks with their remarks."""
    head, labels = _head(document, width), _label_width(document, full)
    previous: Block | None = None
    has_text = False
    for fact in document.more if full else ():
        for group in _groups_of_block(fact, width, labels, raw, whole):
            head += group
    if head and (document.blocks or document.parts):
        head.append(())
    yield from (LaidLine(DocumentPart.HEAD, line) for line in head)
    for block in document.blocks:
        place = DocumentPart.EVIDENCE if not isinstance(block, Fact) and block.is_evidence else DocumentPart.TEXT
        is_asked = isinstance(block, Text) and block.is_asked
        if not _stands_close(block, previous):
            # The free line above what is asked is a line of the evidence above it, which may be read later: the number
            # of lines that are asked is told before, and must not change.
            yield LaidLine(place if has_text else DocumentPart.EVIDENCE, ())
        has_text = has_text or place is DocumentPart.TEXT
        if is_asked and (gone := list(_remark_lines(document, 0, width))):
            yield from (*gone, LaidLine(DocumentPart.HEAD, ()))
        anchor = block.anchor if isinstance(block, Lines) else ""
        is_cut = isinstance(block, Lines) and block.is_cut
        for number, group in enumerate(_groups_of_block(block, width, labels, raw, whole), start=1):
            text_line = number if is_asked else 0
            for line in group:
                yield LaidLine(place, line, text_line, is_cut=is_cut or line[:1] == _CUT, anchor=anchor)
                anchor = ""
            if is_asked and document.remarks:
                yield from _remark_lines(document, number, width)
        previous = block


def _stands_close(block: Block, previous: Block | None) -> bool:
    """Return whether no line is left free between a block and the one before it."""
    if previous is None or isinstance(previous, Heading):
        return True
    if isinstance(block, Fact):
        return isinstance(previous, Fact)
    return not isinstance(block, Heading) and block.is_close


def _remark_lines(document: Document, number: int, width: int) -> Iterator[LaidLine]:
    """Yield the remarks below a line; they are no part of the request."""
    for remark in document.remarks:
        if remark.line != number:
            continue
        lead = (("  ✎ ", "open"), (remark.words, "strong"))
        for line in wrap(lead, width, rest=(("    ", ""),)):
            yield LaidLine(DocumentPart.HEAD, line)


def _head(document: Document, width: int) -> list[Line]:
    """Return banner, headline and facts; a fact that does not fit into the line goes to the next one as a whole.

    A text that begins with the headline as its title says it itself.
    """
    lines = wrap(((document.banner, "alert"),), width) if document.banner else []
    first = next(iter(document.blocks), None)
    is_title = isinstance(first, Text) and first.text.partition("\n")[0] == f"# {document.headline}"
    lines += wrap(((document.headline, "strong"),), width) if document.headline and not is_title else []
    parts: list[Part] = []
    for text, tone in document.facts:
        apart: Part = (" · ", "muted")
        if parts and width_of((*parts, apart, (text, tone))) > width:
            lines += wrap(tuple(parts), width)
            parts = []
        parts += [apart, (text, tone)] if parts else [(text, tone)]
    return lines + wrap(tuple(parts), width) if parts else lines


def _groups_of_block(block: Block, width: int, labels: int, raw: bool, whole: bool) -> Iterable[Group]:
    """Yield the screen lines of each line of a block."""
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
                return (_marked_code(text, start, end, width),)
            return _lines_of(text, TextForm.SOURCE if raw and form not in _EXACT else form, width, whole)


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


def _label_width(document: Document, full: bool) -> int:
    shown = (*document.more, *document.blocks) if full else document.blocks
    facts = [block for block in shown if isinstance(block, Fact)]
    return max((len(block.label) for block in facts), default=0)
