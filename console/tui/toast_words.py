"""The wording of toasts: what was done, in the words of what is known (written, never delivered), and what failed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from team_console.store.model.errors import TeamError
from team_console.store.model.safe import first_of, safe_line, safe_text
from team_console.store.service.caller import Receipt
from team_console.widgets.form_results import UNSURE, Stopped

_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
"""The signs of a heading, which say nothing where all stands in one line."""


def receipt_words(what: str, *receipts: Receipt) -> str:
    """Return the toast for receipts: what was done, to whom, warnings and repairs.

    Args:
        what: A past participle, such as `sent` or `asked to stop`; it begins the sentence.
    """
    messages = [message for receipt in receipts for message in receipt.messages]
    names = list(dict.fromkeys(name for message in messages for name in message.recipients))
    head = what[:1].upper() + what[1:]
    if all(receipt.repeated for receipt in receipts) and receipts:
        head = f"✓ {head}: it was there already, nothing was written"
    elif not messages:
        head = f"✓ {head}"
    elif what == "sent":
        head = f"✓ Sent to {names_listed(names)}"
    else:
        head = f"✓ {head} · written for {names_listed(names)}"
    notes = [note for receipt in receipts for note in receipt.told]
    follows = [safe_line(note, 300) for receipt in receipts for note in receipt.notes]
    return "\n".join([head, *dict.fromkeys(follows), *(f"△ {safe_line(note, 300)}" for note in dict.fromkeys(notes))])


def in_quotes(text: str) -> str:
    """Return the first words of what is answered, as safe text in quotation marks."""
    line = safe_line(" ".join(_HEADING.sub("", text).split()), 160)
    return f"“{line}”" if line else ""


def names_listed(names: Iterable[str], most: int = 6) -> str:
    """Return names in a sentence, the many cut short; safe text."""
    return first_of([safe_line(name, 64) for name in names], most)


def error_text(error: BaseException) -> str:
    """Return the error and the next step, as safe text; of an unexpected error only its kind, never its words."""
    if not isinstance(error, TeamError):
        return f"✗ Unexpected: {reason_of(error)}. {UNSURE}"
    if isinstance(error, Stopped):
        return f"✗ {safe_line(error.message, 300)}"
    hint = f"\n{safe_text(error.hint)}" if error.hint else ""
    return f"✗ {error.code}: {safe_text(error.message)}{hint}"


def reason_of(error: BaseException) -> str:
    """Return the error in one safe line.

    Words of foreign exceptions may quote messages and tokens (a database driver quotes the values it was given), so
    only their kind is told, and of a system error what the system says.
    """
    if isinstance(error, TeamError):
        return safe_line(error.message, 300)
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if isinstance(error.filename, str) else ""
        return safe_line(f"{error.strerror}{place}", 300)
    return type(error).__name__
