"""Takes what a program wrote to a terminal apart: its own few sequences, and text that may not steer or hide."""

from __future__ import annotations

import base64
import re
import unicodedata
from dataclasses import dataclass, field

from tests.equipment.corpus import MARK

_MODES = "7|25|1000|1002|1003|1004|1006|1015|1049|2004|2026|2048"
_SCREEN = re.compile(
    rf"""\x1b(?:
      \[\?(?:{_MODES})[hl] | \[\?(?:2026|2048)\$p      # modes, and asking for two of them
    | \[6n                                             # asking where the cursor is, behind a frame
    | \[>\d+u | \[<u                                   # kitty keys on and off
    | \[\d{{1,3}}(?:;\d{{1,3}})?H | \[\d{{1,3}}[XCG]        # cursor, erase, skip, column
    | \[B\x08{{0,3}} | \[[EGCK]      # a row down, at most three cells back; its first column; on; the rest erased
    | \[\d{{1,3}};\d{{1,3}}r\x1b\[\d{{1,3}}d\x1b\[\d{{0,3}}[LM]\x1b\[r  # lines between two margins, moved
    | \[(?:0|(?:\d{{1,3}}(?:;\d{{1,3}})*))?m           # style
    | \[2[23];2t                                        # the title of before, kept and given back
    | \]2;\(\d+\)[ ][\w .-]+\x1b\\                       # our title: how many decisions wait, in which team
    | \]7501;(?:state=(?:idle|blocked|clear)|:(?:kind=question|app=team-console|msg=[A-Za-z0-9+/=]*))+(?:\x07|\x1b\\)
    | \]9;4;(?:4;100|0)(?:\x07|\x1b\\)                    # whether something waits, for terminals and task bars
    | \](?:22;[a-z-]+|52;c;(?P<copied>[A-Za-z0-9+/=]*))\x07
    ) | \r\n(?=\x1b\[\d+(?:;\d+)?H)                           # a line's end, before the next is begun at its place
    """,
    re.VERBOSE,
)
_PRINT = re.compile(r"\x1b\[(?:0|1|2|3[1-6])m|\r\n")
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0000-\U000e0fff]")
_PILE = 5
"""Marks on one character from which on they cover the lines around."""

_ENOUGH = 10
"""Faults of one stretch that are told."""


@dataclass
class Reading:
    """What was found.

    Attributes:
        text: Everything that is not a sequence of ours.
        copied: What was put on the clipboard, decoded.
        faults: What has no business there, with its surroundings.
    """

    text: str = ""
    copied: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def of_screen(output: bytes) -> Reading:
    """Judge what the console wrote."""
    return _read(output, _SCREEN)


def of_print(output: bytes) -> Reading:
    """Judge what a verb printed."""
    return _read(output, _PRINT)


def _read(output: bytes, ours: re.Pattern[str]) -> Reading:
    found = Reading()
    text, start, pieces = output.decode("utf-8"), 0, []
    for match in ours.finditer(text):
        pieces.append(text[start : match.start()])
        start = match.end()
        if MARK in match.group():
            found.faults.append(f"text of the store in a sequence: {match.group()!r}")
        if copied := match.groupdict().get("copied"):
            found.copied.append(base64.b64decode(copied, validate=True).decode("utf-8", "surrogatepass"))
    pieces.append(text[start:])
    found.text = "".join(pieces)
    for piece in pieces:
        found.faults += _faults(piece)
    return found


def _faults(text: str) -> list[str]:
    if text.isascii() and text.isprintable():
        return []
    marks, found = 0, []
    for place, item in enumerate(text):
        category = unicodedata.category(item)
        marks = marks + 1 if category in ("Mn", "Me", "Mc") else 0
        if _joins_emoji(text, place):
            continue
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp") or _IGNORABLE.match(item) or marks >= _PILE:
            found.append(f"U+{ord(item):04X} in {text[max(0, place - 30) : place + 30]!r}")
            if len(found) == _ENOUGH:
                break
    return found


def _joins_emoji(text: str, place: int) -> bool:
    """Whether a joiner stands between two pictures, where it is part of one character that can be seen."""
    if text[place] != "\u200d" or not 0 < place < len(text) - 1:
        return False
    before = text[:place].rstrip("\ufe0f")[-1:]
    return all(unicodedata.category(item) in ("So", "Sk") for item in (before, text[place + 1]) if item) and bool(
        before
    )
