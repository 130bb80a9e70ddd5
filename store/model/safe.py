"""The one place where text from a store is made safe to show: nothing in it can steer a terminal or hide.

Last, how many things there are, said in one way everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from unicodedata import category

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
"""Characters that can be part of a joined emoji; the modifiers of skin are among them."""
_STRAY_JOINER = f"(?<![{_EMOJI}\ufe0f])\u200d|\u200d(?![{_EMOJI}])"
"""A joiner that joins no emoji: it cannot be seen. One between two emoji makes them one, as in 👩 + joiner + 💻."""
_STRAY_SELECTOR = f"[\ufe00-\ufe0d]|[\ufe0e\ufe0f](?<![{_EMOJI}].)(?<![0-9#*]\ufe0f(?=\u20e3))"
"""A variation selector behind no emoji and in no keycap: it cannot be seen, and a row of them can spell any secret.
Each look behind ends with the selector itself, and says what may not stand before it."""
UNSAFE = (
    "["  # one class of characters
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers and selectors of scripts
    "\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"  # no width, line ends, direction of writing
    "\u3164\ufeff\uffa0\ufff0-\ufffb"  # fillers, the byte order mark, annotations
    "\ud800-\udfff"  # halves of characters
    "\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # signs that join others
    "\U000e0000-\U000e0fff"  # tags, which spell ASCII that nobody sees
    "]"
    f"|{_STRAY_JOINER}|{_STRAY_SELECTOR}"
)
"""Matches one character that steers a terminal or cannot be seen."""

_SKIN_TONES = "\U0001f3fb-\U0001f3ff"
_FIRST_EMOJI = f"(?:(?![{_SKIN_TONES}])[{_EMOJI}]|(?<![{_EMOJI}\ufe0f])\ufe0f*+[{_SKIN_TONES}])"
"""The first emoji of a chain. A skin tone may be one only where a run of skin tones begins: if each of a long run were
tried, the time would grow with the square of its length."""
_JOINER_AFTER_EMOJI = f"[\ufe0f{_SKIN_TONES}]*+\u200d"
_LONG_CHAIN = f"({_FIRST_EMOJI}{_JOINER_AFTER_EMOJI}(?:[{_EMOJI}]{_JOINER_AFTER_EMOJI}){{3}}[{_EMOJI}]\ufe0f?)\u200d"
"""Five emoji joined to one, more than a real one has (a family of four), and the joiner that would add another."""
_REPLACEMENT = "\ufffd"
"""Stands for what is not shown."""
_KEPT_CONTROLS = {ord("\n"): None, ord("\t"): None}
"""Newline and tab, which stay although they are not printable; `str.translate` takes them out."""


def safe_text(text: object) -> str:
    """Return text of several lines, safe for a terminal and of honest width.

    C0 controls and DEL become their pictures (U+2400 block), C1 controls, bidi controls, zero-width and
    invisible characters and lone surrogates become U+FFFD, a pile of combining marks is cut after the
    fourth, a chain of joined emoji after the fifth. Newline and tab stay; `\\r\\n` becomes a newline. The
    stored text is never changed.
    """
    plain = text if isinstance(text, str) else str(text)
    if plain.isascii() and (plain.isprintable() or plain.translate(_KEPT_CONTROLS).isprintable()):
        return plain
    # guard: control-characters
    shown = re.sub(UNSAFE, _sign_for, plain.replace("\r\n", "\n"))
    if "\u200d" in shown:
        shown = re.sub(_LONG_CHAIN, rf"\1{_REPLACEMENT}", shown)
    return cut_piles(shown, lambda marks: _REPLACEMENT)


def safe_line(text: object, limit: int | None = None) -> str:
    """Return what `safe_text` does, on one line: a newline as `⏎`, a tab as a space, cut at `limit` with `…`."""
    plain = text if isinstance(text, str) else str(text)
    end = ""
    if limit is not None and len(plain) > limit:
        plain, end = plain[: max(0, limit - 1)].rstrip("\u200d"), "…"
    if plain.isascii() and plain.isprintable():
        return plain + end
    plain += end
    return safe_text(plain).replace("\n", "⏎").replace("\t", " ")


_ODD_BLANKS = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"
"""Characters that look like a space and are none."""


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"})
"""Categories of Unicode of which nothing is seen by itself: controls, marks, separators."""
_INKLESS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs by their category, of which nothing is seen."""


def is_blank(text: str) -> bool:
    """Return whether nothing of a text can be seen: white space, controls, marks alone, letters without ink."""
    return all(category(character) in _UNSEEN or character in _INKLESS for character in text)


def with_blanks_seen(text: str) -> str:
    """Return the text with a sign in place of each blank that looks like a space and is none."""
    # guard: odd-blanks-seen
    return re.sub(_ODD_BLANKS, "\u237d", text)


def exact_text(text: object) -> str:
    """Return safe text of what a machine will read, with a sign in place of each blank that only looks like a space."""
    return with_blanks_seen(safe_text(text))


def fenced(text: object, fence: str = "> ") -> list[str]:
    """Quote foreign text as safe lines that each begin with `fence`: none of them passes for a line of ours."""
    return [fence + line if line else fence.rstrip() for line in safe_text(text).split("\n")]


_RUN_BEYOND_ASCII = r"[^\n -~]+"
"""A run of anything but printable ASCII: only there can anything be unsafe, and looking for it costs ten times as much
for each character."""


def safe_json(text: str) -> str:
    """Return JSON in which what breaks a line, steers a terminal or cannot be seen is escaped, so that all that a
    message says stays between its quotes. It means the same.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_RUN_BEYOND_ASCII, lambda match: _escaped(match[0]), text)


def _escaped(text: str) -> str:
    """Return a run of text with escapes of JSON in place of what `safe_text` would replace."""
    # guard: json-escapes
    seen = re.sub(UNSAFE, lambda match: json.dumps(match.group())[1:-1], text)
    return cut_piles(seen, lambda marks: json.dumps(marks)[1:-1])


_BLOCKS_OF_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f"
    "\u3099\u309a\ua66f-\uabff\ud7b0-\ud7ff\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd-\U0001bfff\U0001cf00-\U0001d24f\U0001da00-\U0001efff"
)
"""Blocks that hold all marks, and letters beside them."""
_JOINED_VOWELS = "\u1160-\u11ff\ud7b0-\ud7ff"
"""Vowels and ends of Korean syllables, which take no cell of their own as marks do, and are letters."""
_POSSIBLE_PILE = rf"(?=[{_BLOCKS_OF_MARKS}])(?:[^\w\x00-\u02ff]|[{_JOINED_VOWELS}]){{5,}}"
"""Five or more characters in a row that may be marks. Hardly any text has such a run; only there is each looked at."""
_MARK_CATEGORIES = frozenset({"Mn", "Me", "Mc", "Cn"})
"""Categories of marks, and of what Unicode knew nothing of when this Python was made."""
_MOST_MARKS = 4
"""Marks on one character that are shown."""


def cut_piles(text: str, replacement: Callable[[str], str]) -> str:
    """Return a text with at most four marks on one character.

    Args:
        replacement: Returns what stands for the marks beyond the fourth, which would cover the lines around.
    """
    return re.sub(_POSSIBLE_PILE, lambda match: "".join(_with_piles_cut(match.group(), replacement)), text)


def _with_piles_cut(run: str, replacement: Callable[[str], str]) -> Iterator[str]:
    """Yield the parts of a run, marks and others in turn, with what is beyond the fourth mark replaced."""
    for is_mark, group in groupby(run, _is_mark):
        marks = "".join(group)
        if is_mark and len(marks) > _MOST_MARKS:
            yield marks[:_MOST_MARKS] + replacement(marks[_MOST_MARKS:])
        else:
            yield marks


@lru_cache(maxsize=1024)
def _is_mark(character: str) -> bool:
    """Return whether a character stands on the one before; what is newer than our tables is taken for a mark."""
    return (
        category(character) in _MARK_CATEGORIES
        or "\u1160" <= character <= "\u11ff"
        or "\ud7b0" <= character <= "\ud7ff"
    )


def _sign_for(match: re.Match[str]) -> str:
    """Return what stands for an unsafe character: the picture of a control, else the sign for what is not shown."""
    point = ord(match.group())
    if point < 0x20:
        return chr(0x2400 + point)
    return "\u2421" if point == 0x7F else _REPLACEMENT


# Plural words: `1 message`, `2 messages`, `no messages`; one way to say a number of things everywhere.


def counted(number: int, name: str) -> str:
    """Write a number of things, whose `name` is a regular noun: `1 delivery`, `2 deliveries`, `5,000 messages`."""
    return f"{number:,} {name if number == 1 else plural(name)}"


def first_of(items: Sequence[str], most: int) -> str:
    """Name at most so many of them: `a, b and 3 more`."""
    left = len(items) - most
    return ", ".join(items[:most]) + (f" and {left} more" if left > 0 else "")


def plural(word: str) -> str:
    """Return the regular plural of an English noun."""
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
