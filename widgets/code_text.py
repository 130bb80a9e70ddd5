"""Code, commands, differences and YAML as lines of the screen: no character is dropped, and no break is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from team_console.widgets.text import Line, Part
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
