"""The pen of a terminal: the style and the place it writes in, and the shortest way to others."""

from __future__ import annotations

from functools import lru_cache

PLAIN = ""
"""The style of a terminal nobody told anything."""
_STEPS = 3
"""Steps back that are shorter than naming the place."""


class Pen:
    """The style the terminal writes in at the moment, and where it writes as far as that is sure.

    The column is sure after plain text only: terminals differ in the width of other characters, and in what a move
    does after the last column was written. `ahead` are cells erased with the pen still before them.
    """

    def __init__(self) -> None:
        self.style: str | None = PLAIN
        self._row, self._column, self._ahead = 0, 0, 0

    def copy(self) -> Pen:
        """Another one in the same state, to try a way with."""
        other = Pen()
        other.style, other._row, other._column, other._ahead = self.style, self._row, self._column, self._ahead
        return other

    def lose(self) -> None:
        """Know nothing of the terminal's state any more."""
        self.style = None
        self.lift()

    def lift(self, *, row: int = 0) -> None:
        """Know nothing of the place any more, or only the row."""
        self._row, self._column, self._ahead = row, 0, 0

    def to(self, style: str) -> str:
        """Change to `style` and return the sequence for that."""
        before, self.style = self.style, style
        if before is None:
            return f"\x1b[0;{style}m" if style else "\x1b[m"
        return change(before, style)

    def move(self, row: int, column: int) -> str:
        """Go to a place, counted from 1, in few bytes."""
        before, self._row, self._column, self._ahead = (self._row, self._column), row, column, 0
        back = before[1] - column
        if row == before[0]:
            return _within_row(before[1], column)
        if before[0] and row == before[0] + 1:
            if before[1] and 0 <= back <= _STEPS:
                return "\x1b[B" + "\b" * back
            return min("\x1b[E" + (_ahead(column - 1) if column > 1 else ""), _there(row, column), key=len)
        return _there(row, column)

    def write(self, text: str) -> str:
        """Write characters."""
        skip, self._ahead = self._ahead, 0
        self._column = self._column + skip + len(text) if self._column and text.isascii() else 0
        return (_ahead(skip) if skip else "") + text

    def erase(self, cells: int) -> str:
        """Make the next cells blank; the pen goes over them when more is written."""
        skip, self._ahead = self._ahead, cells
        self._column += skip if self._column else 0
        return (_ahead(skip) if skip else "") + f"\x1b[{cells}X"

    def to_blank(self, style: str) -> str:
        """Change so that blanks look as in `style`; of letters everything else stays, so that they cost less after."""
        if self.style is None or self.blanks_like(style):
            return "" if self.style is not None else self.to(style)
        (here, front, _), (there, _, back) = parts_of(self.style), parts_of(style)
        if not SHOWS_ON_BLANKS.isdisjoint((*here, *there)):
            return self.to(style)
        return self.to(";".join(filter(None, (*here, front, back))))

    def blanks_like(self, style: str) -> bool:
        """Whether spaces look the same in the present style as in `style`."""
        return self.style is not None and are_blanks_alike(self.style, style)


def are_blanks_alike(style: str, other: str) -> bool:
    """Whether spaces look the same in both styles."""
    (here, _, back), (there, _, behind) = parts_of(style), parts_of(other)
    return back == behind and SHOWS_ON_BLANKS.isdisjoint(here) and SHOWS_ON_BLANKS.isdisjoint(there)


def _within_row(column: int, target: int) -> str:
    """The way along a row; `column` is 0 where nobody knows where it begins.

    No control byte alone moves the cursor, though it would be shorter: whoever reads what reaches the terminal can tell
    our moves from such bytes in a text that was not made safe.
    """
    if column == target:
        return ""
    there = f"\x1b[{target}G" if target > 1 else "\x1b[G"
    if column and column < target:
        return min(there, _ahead(target - column), key=len)
    return there


def _there(row: int, column: int) -> str:
    return f"\x1b[{row};{column}H" if column > 1 else f"\x1b[{row}H"


def _ahead(cells: int) -> str:
    return f"\x1b[{cells}C" if cells > 1 else "\x1b[C"


@lru_cache(maxsize=4096)
def change(pen: str, style: str) -> str:
    """The shortest sequence from one style to another: what differs, or everything anew."""
    if pen == style:
        return ""
    codes = _different(parts_of(pen), parts_of(style))
    anew = f"0;{style}" if style else ""
    if codes == "" and style:
        return ""
    return f"\x1b[{anew if codes is None or len(anew) <= len(codes) else codes}m"


def _different(old: _Parts, new: _Parts) -> str | None:
    """The parameters of what is new in a style and of what has to end; None when something cannot be ended alone."""
    ended = [code for code in old[0] if code not in new[0]]
    if any(code not in _ENDS for code in ended):
        return None
    codes = [_ENDS[code] for code in ended]
    codes += [code for code in new[0] if ended or code not in old[0]]
    if new[1] != old[1]:
        codes.append(new[1] or "39")
    if new[2] != old[2]:
        codes.append(new[2] or "49")
    return ";".join(codes)


SHOWS_ON_BLANKS = frozenset({"4", "5", "7", "9", "21", "53"})
"""Attributes that are seen where nothing stands."""
_ENDS = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}
_Parts = tuple[tuple[str, ...], str, str]


@lru_cache(maxsize=4096)
def parts_of(style: str) -> _Parts:
    """Attributes, foreground and background of SGR parameters."""
    codes = style.split(";") if style else []
    attributes: list[str] = []
    front, back = "", ""
    while codes:
        code = codes.pop(0)
        if code in ("38", "48") and codes:
            count = 4 if codes[0] == "2" else 2
            colour = ";".join([code, *codes[:count]])
            del codes[:count]
        else:
            colour = code
        number = int(code) if code.isdigit() else 0
        if 30 <= number <= 39 or 90 <= number <= 97:
            front = colour
        elif 40 <= number <= 49 or 100 <= number <= 107:
            back = colour
        else:
            attributes.append(code)
    return tuple(attributes), front, back
