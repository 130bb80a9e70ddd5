"""What waits and is alike, as one row: news that says the same, and permissions of one cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace
from team_console.store.model.counted import first_of
from team_console.store.views.alike import causes_of
from team_console.store.views.needs import ItemPart, group_of, part_of
from team_console.store.views.rows import ActionItem, Need, RequestRow

_FOLDED_FROM = 3
"""News, ends that do not come and permissions of one cause, from which on they are one row."""

FoldedRow = tuple[ActionItem, tuple[ActionItem, ...]]
"""A row, and the items that it stands for; none where it is an item of its own."""


def is_open_permission(item: ActionItem) -> bool:
    """Return whether it is a permission that waits: those that are alike can be decided together."""
    return item.need is Need.PERMIT and item.request is not None and item.request.is_open


def fold_alike(items: Iterable[ActionItem], unfolded: AbstractSet[str]) -> Sequence[FoldedRow]:
    """Return the rows of a list: items of their own, and one for each lot of alike ones, where its first item stood.

    Args:
        unfolded: Keys of rows that were opened: their items are rows of their own.
    """
    listed = list(items)
    causes = _causes_of_permissions(listed)
    lots: dict[str, list[ActionItem]] = {}
    for item in listed:
        lots.setdefault(_key_of_lot(item, causes), []).append(item)
    rows: list[FoldedRow] = []
    for key, lot in lots.items():
        if len(lot) < _FOLDED_FROM or key in unfolded:
            rows += [(item, ()) for item in lot]
        else:
            rows.append((_row_of_lot(key, lot, causes.get(lot[0].key)), tuple(lot)))
    return rows


def _causes_of_permissions(items: Iterable[ActionItem]) -> Mapping[str, str]:
    """Return for the key of each permission that waits its cause: what it shares with others of its group."""
    groups: dict[str, dict[str, RequestRow]] = {}
    for item in items:
        if item.request is not None and is_open_permission(item):
            groups.setdefault(group_of(item), {})[item.key] = item.request
    found: dict[str, str] = {}
    for asked in groups.values():
        causes = causes_of(asked.values())
        found |= {key: causes[request.key] for key, request in asked.items()}
    return found


def _key_of_lot(item: ActionItem, causes: Mapping[str, str]) -> str:
    """Return the key that alike items share; an item's own key where it is neither a permission nor news nor late."""
    if item.key in causes:
        return f"alike:{group_of(item)} alike {causes[item.key]}"
    is_news = part_of(item) is ItemPart.INFORMATION and not item.key.startswith("drop:")
    if is_news or item.need is Need.OVERDUE:
        return f"alike:{item.need}:{item.why}:{item.title}"
    return item.key


def _row_of_lot(key: str, lot: Sequence[ActionItem], cause: str | None) -> ActionItem:
    """Return the row that stands for alike items, with the `cause` of permissions as its title."""
    names = list(dict.fromkeys(item.who for item in lot))
    if cause is not None:
        shared = cause.rpartition(" #")[0]  # behind it stands a digest that tells causes apart
        return replace(lot[0], who=first_of(names, 1), title=f"{len(lot):,} alike: {shared}", key=key)
    who = f"{len(names):,} agents" if len(names) == len(lot) else f"{len(lot):,} times"
    return replace(lot[0], who=who, key=key)
