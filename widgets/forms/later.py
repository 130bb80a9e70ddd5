"""Results of a form that are agreed on and not done yet."""

from __future__ import annotations

from msgspec import Struct


class Later(Struct, frozen=True):
    """The base of a result that is done later: what was typed is kept until then."""
