r"""Surrogate pairs: `"\ud83c\udf89"`, as JSON writes one emoji, which libyaml takes for an error."""

from __future__ import annotations

import re

from msgspec import Struct

# A backslash that no other backslash escapes, before the code of half a character: \ud83c, not \\ud83c.
_HALF = re.compile(r"(?<!\\)(?P<escaped>(?:\\\\)*)\\(?=u[dD][89a-fA-F][0-9a-fA-F]{2})")
_FIRST, _LAST = 0xE000, 0xF8FF


class StandIn(Struct, frozen=True):
    """A text in which the backslash of each such escape is another character, one for one, so that places stay.

    Only after parsing it is known whether an escape stood in double quotes or was plain text.

    Attributes:
        fed: The text for libyaml.
        mark: The character in place of the backslashes; the text has it nowhere else.
    """

    fed: bytes
    mark: str

    @classmethod
    def of(cls, data: bytes) -> StandIn | None:
        """The text for libyaml; None when `data` has no such escapes and can be read as it is."""
        if b"\\ud" not in data and b"\\uD" not in data:
            return None
        text = data.decode(errors="replace")
        mark = next((chr(point) for point in range(_FIRST, _LAST + 1) if chr(point) not in text), None)
        if mark is None:
            return None
        fed = _HALF.sub(rf"\g<escaped>{mark}", text)
        return cls(fed.encode(), mark) if fed != text else None

    def original(self, value: str, *, quoted: bool) -> str:
        """A scalar as it was meant; `quoted` in double quotes, where halves that belong together are one character."""
        if self.mark not in value:
            return value
        if not quoted:
            return value.replace(self.mark, "\\")
        halves = re.sub(self.mark + "u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def lone_half(value: str) -> str | None:
    """The first half of a character that stands without the other."""
    return next((character for character in value if 0xD800 <= ord(character) <= 0xDFFF), None)
