"""Reads Markdown as agents write it into lines for the screen, so that nothing written is left out.

A human approves what stands here: comments, link targets and HTML stay visible, only the marks of
emphasis, headings and code are taken for what they mean. `plain` shows the source itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from team_console.widgets.text.cells import Line, Part, wrap

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
