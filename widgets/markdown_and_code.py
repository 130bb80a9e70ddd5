"""Texts as lines of the screen: code, differences and YAML as they are, then the Markdown that agents write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from team_console.widgets.text import Line, Part, cell_len, fit, text_of, width_of
from team_console.widgets.wrapping import parts_within, pieces, wrap

_TONED_CODE = re.compile(
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
"""Comments, texts, numbers and words of the usual languages, each as a group with the name of its tone. A lexer of each
language takes 100 ms to be imported, and hostile text can hold it up for ever."""
_NO_LANGUAGE = frozenset({"", "text", "txt", "plain", "output", "console", "md", "markdown", "mermaid"})
"""What stands behind the fence of a block in which no words are told apart."""
EDGE, _GOES_ON = "│ ", "┊ "
"""What begins a line of code, and what begins the rest of one that is longer than the screen is wide."""
_DIFF_TONES = {"+": "good", "-": "bad"}
_NO_LINE_END = "\\"
"""Begins the line of a difference that says that a file does not end with a line break."""
_DEEPEST = 12
"""Cells at most before the rest of a line of YAML."""
Group = Sequence[Line]
"""What one line of a text becomes on the screen: several lines where it is too long, none where it only begins code."""


def code_line(line: str, width: int, language: str) -> Group:
    """Return a line of code behind its edge; what is too long goes on in lines with another edge.

    Args:
        language: What stands behind the fence of its block, such as `python`; empty for a text of no known language.
    """
    line = line.expandtabs(4)
    ends = accumulate(map(len, pieces(line, width - len(EDGE))))
    toned = _toned_code(line, language.partition(" ")[0].lower())
    first, *others = parts_within(toned, pairwise((0, *ends)))
    return [((EDGE, "faint"), *first), *(((_GOES_ON, "faint"), *parts) for parts in others)]


def marked_code(line: str, start: int, end: int, width: int) -> Group:
    """Return a line of code without tabs, in which what stands from `start` to before `end` is set apart."""
    drawn: list[Line] = []
    begin = 0  # of the piece within the line
    for piece in pieces(line, width - len(EDGE)):
        first, last = (min(max(0, place - begin), len(piece)) for place in (start, end))
        parts = ((piece[:first], "code"), (piece[first:last], "hit"), (piece[last:], "code"))
        drawn.append(((_GOES_ON if begin else EDGE, "faint"), *(part for part in parts if part[0])))
        begin += len(piece)
    return drawn


def _toned_code(text: str, language: str) -> Line:
    """Return a line of code in parts, each with its tone."""
    if language == "diff":
        return ((text, _DIFF_TONES.get(text[:1], "code")),)
    if language in _NO_LANGUAGE:
        return ((text, "code"),)
    parts: list[Part] = []
    start = 0
    for match in _TONED_CODE.finditer(text):
        tone = match.lastgroup or ""
        parts += [(text[start : match.start()], ""), (match[0], tone)]
        start = match.end()
    return tuple(part for part in (*parts, (text[start:], "")) if part[0])


def code(text: str, width: int) -> Iterator[Group]:
    """Return the lines of safe `text` at `width` cells; each has an edge, so that one that goes on is no new line."""
    return (code_line(line, width, "") for line in text.split("\n"))


def diff(text: str, width: int) -> Iterator[Group]:
    """Yield the lines of a safe unified diff at `width` cells, with its signs."""
    for line in text.split("\n"):
        sign, rest = line[:1], line[1:]
        if sign in ("@", _NO_LINE_END):
            yield [((piece, "muted"),) for piece in pieces(line, width)]
            continue
        tone = _DIFF_TONES.get(sign, "")
        first, *others = pieces(rest, width - len(_GOES_ON))
        yield [((f"{sign or ' '} ", tone), (first, tone)), *(((_GOES_ON, "faint"), (piece, tone)) for piece in others)]


def plain(text: str, width: int) -> Iterator[Group]:
    """Return the lines of safe `text` as it was written."""
    return (wrap(((line, ""),), width) for line in text.split("\n"))


def structured(text: str, width: int) -> Iterator[Group]:
    """Yield the lines of safe YAML `text`, keys set apart from values; what is too long goes on set in."""
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        name = key.lstrip(" -")
        has_key = colon and name.strip() and not name.startswith(("'", '"')) and (not value or value[0] == " ")
        parts: Line = ((key + colon, "open"), (value, "")) if has_key else ((line, ""),)
        indent = len(line) - len(line.lstrip(" -"))
        yield wrap(parts, width, rest=((" " * min(indent + 2, _DEEPEST), ""),))


# A sign behind a backslash is itself and no mark, as everywhere in Markdown.
_INLINE = re.compile(
    r"(?<![`\\])`([^`\n]+)`(?!`)"
    r"|(?<![*\\])\*\*([^*\s](?:[^*\n]*[^*\s\\])?)\*\*(?!\*)"
    r"|(?<![\w*\\])\*([^*\s](?:[^*\n]*[^*\s\\])?)\*(?![\w*])"
)
"""`code`, **bold** or *italic*: the words of one of the three groups."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)$")
"""Its signs and its words."""
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(.*)$")
"""Indent, mark, space and words of an item of a list."""
_TASK = re.compile(r"\[([ xX])\][ \t]+")
"""The box at the beginning of an item, and what stands in it."""
_QUOTE = re.compile(r"[ \t]{0,3}>[ ]?")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)$")
"""The first or last line of a block of code: its fence, and the language behind the first."""
_RULE = re.compile(r"[ \t]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_BELOW_HEAD = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
"""The line below the head of a table: dashes for each column, with a colon at the side to which it is aligned."""
_BAR = re.compile(r"(?<!\\)\|")
"""What stands between two cells of a table."""
_NARROWEST = 4
"""Cells for each column of a table that it is drawn from on."""


def prose(text: str, width: int) -> Iterator[Group]:
    """Yield the lines of safe Markdown `text` at `width` cells."""
    open_fence = language = ""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        if open_fence:
            if fence and fence[1].startswith(open_fence) and not fence[2].strip():
                open_fence = ""
                yield ()
            else:
                yield code_line(line, width, language)
        elif fence and "`" not in fence[2]:
            open_fence, language = fence[1], fence[2].strip()
            yield wrap(((EDGE, "faint"), (language, "muted")), width) if language else ()
        elif _begins_table(*lines[number : number + 2]):
            end = next((place for place in range(number, len(lines)) if "|" not in lines[place]), len(lines))
            yield from _table(lines[number:end], width)
            number = end - 1
        else:
            yield _prose_line(line, width)
        number += 1


def _begins_table(head: str, below: str = "") -> bool:
    """Return whether a line is the head of a table, by the line below it."""
    return "|" in head and "|" in below and _BELOW_HEAD.match(below) is not None


def _table(lines: Sequence[str], width: int) -> Iterator[Group]:
    """Yield a table with its columns side by side; what does not fit into a cell goes on below.

    Args:
        lines: Its head, the line below that, and its other rows.
    """
    head, below_head, *others = lines
    rows = [[inline(cell.strip().replace("\\|", "|")) for cell in _cells(line)] for line in (head, *others)]
    number = max(map(len, rows))
    columns = [[row[place] for row in rows if place < len(row)] for place in range(number)]
    room = width - 3 * number + 1  # three cells between two columns, one at each end
    if room < number * _NARROWEST:  # nothing is cut that nobody could bring back
        yield from plain("\n".join(lines), width)
        return
    widths = _column_widths(
        room,
        [max(map(width_of, column)) for column in columns],
        [max(map(_longest_word, column)) for column in columns],
    )
    marks = [*map(str.strip, _cells(below_head)), *[""] * number]
    is_right = [mark.endswith(":") and not mark.startswith(":") for mark in marks]
    bold_head = [tuple((text, tone or "strong") for text, tone in cell) for cell in rows[0]]
    yield _table_row(bold_head, widths, is_right, width)
    yield (fit((("─" + "─┼─".join("─" * wide for wide in widths) + "─", "faint"),), width),)
    for row in rows[1:]:
        yield _table_row(row, widths, is_right, width)


def _column_widths(room: int, wanted: Sequence[int], longest_words: Sequence[int]) -> list[int]:
    """Share the room among columns: each has what it wants, or as much as the others that go on below.

    No word is broken where that can be; one that is too long for it presses no other column.
    """
    least = list(longest_words)
    while sum(least) > room:  # the longest word of all is broken, then the next one
        least[least.index(max(least))] = 0

    def widths_up_to(most: int) -> list[int]:
        """Return the widths where no column has more than `most`, unless its longest word needs that."""
        return [max(few, min(most, wide)) for few, wide in zip(least, wanted, strict=True)]

    return next(widths for most in range(room, -1, -1) if sum(widths := widths_up_to(most)) <= room)


def _longest_word(cell: Line) -> int:
    """Return the cells of the longest word in a cell of a table."""
    return max(map(cell_len, text_of(cell).split()), default=0)


def _table_row(row: Sequence[Line], widths: Sequence[int], is_right: Sequence[bool], width: int) -> Group:
    """Return the lines of a row; a cell of a column that `is_right` stands at the right end of its room."""
    with_missing = [*row, *[()] * (len(widths) - len(row))]
    cells = [wrap(cell, wide) for cell, wide in zip(with_missing, widths, strict=True)]
    drawn: list[Line] = []
    for number in range(max(map(len, cells))):
        parts: list[Part] = []
        for cell, wide, stands_right in zip(cells, widths, is_right, strict=False):
            said = cell[number] if number < len(cell) else ()
            space = (" " * max(0, wide - width_of(said)), "")
            parts += [(" │ ", "faint")] if parts else [(" ", "")]
            parts += [space, *said] if stands_right else [*said, space]
        drawn.append(fit(tuple(parts), width))
    return drawn


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a table; bars at its ends part nothing."""
    line = line.strip().removeprefix("|")
    return _BAR.split(line[:-1] if line.endswith("|") and not line.endswith("\\|") else line)


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
