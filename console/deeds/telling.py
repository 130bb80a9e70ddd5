"""Says what was done, in the words of what is known: written, never delivered (decision D15)."""

from __future__ import annotations

from collections.abc import Iterable

from store.desk.seat import Receipt
from store.safe import safe_line


def written(what: str, *receipts: Receipt) -> str:
    """The toast for receipts: what was done, how many records, warnings and repairs."""
    messages = [message for receipt in receipts for message in receipt.messages]
    names = list(dict.fromkeys(name for message in messages for name in message.recipients))
    if all(receipt.repeated for receipt in receipts) and receipts:
        head = f"✓ {what}: it was there already, nothing was written"
    elif not messages:
        head = f"✓ {what}"
    else:
        head = f"✓ {what} · written for {listed(names)}"
    notes = [note for receipt in receipts for note in (*receipt.warnings, *(one.message for one in receipt.notices))]
    follows = [safe_line(note, 300) for receipt in receipts for note in receipt.notes]
    return "\n".join([head, *dict.fromkeys(follows), *(f"△ {safe_line(note, 300)}" for note in dict.fromkeys(notes))])


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names in a sentence, the many cut short; safe text."""
    found = [safe_line(name, 64) for name in names]
    if len(found) > most:
        return ", ".join(found[:most]) + f" and {len(found) - most} more"
    return ", ".join(found)


def count(number: int, word: str) -> str:
    """`1 delivery`, `2 deliveries`."""
    many = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{number:,} {word if number == 1 else many}"
