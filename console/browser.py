"""Tells whether this console is a page in a browser, as `serve` shows it to whoever has the address."""

from __future__ import annotations

import os


def is_page() -> bool:
    """Return whether the screen is in a browser: it runs no program, and shows the team that is served alone."""
    # textual-serve sets it for the process of each page.
    return bool(os.environ.get("TEXTUAL_DRIVER"))
