"""Changing values inside an entry's text: only the lines of what changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from store.backends.yamlteam.codec.emitter import emit_record
from store.backends.yamlteam.codec.frame import Style

_TRAILING = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?(?:\n|\Z))*\Z")


def patch(raw: bytes, old: Mapping[str, Any], new: Mapping[str, Any], style: Style) -> bytes:
    """The text `raw` of record `old`, changed so that it holds `new`."""
    from store.backends.yamlteam.codec.editing import in_style

    return in_style(emit_record(new), style)
