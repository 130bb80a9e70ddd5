"""Edit before approval: the part of a request that a human may change in an editor, and the request with it changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import origin_of, permission_of
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import reading

_UNCHANGEABLE = frozenset({"codex"})
"""Clients that refuse a call whose input a human changed (Codex fails closed on `updatedInput`)."""
_PARTS = ("command", "content", "new_string", "new_source")
"""Keys of a tool's input that hold what a human would edit; without any of them it is the whole input, as JSON."""
_SUFFIXES = {"command": ".sh"}
_LONGEST_SUFFIX = 12


class EditablePart(Struct, frozen=True):
    """What is put into the editor.

    Attributes:
        text: As the asker wrote it.
        suffix: Ending of a file name that tells an editor what it holds, such as `.sh`.
        key: The key of the tool's input it stands under; None for a plan and for a whole input as JSON.
    """

    text: str
    suffix: str
    key: str | None = None


def editable_part(question: Message, *, whole: str | None = None) -> EditablePart | None:
    """What may be edited before this request is approved; None where the client takes nothing but a yes or no.

    Args:
        whole: The whole text of a plan of which the message holds only the beginning.
    """
    kind = reading(question).opens
    if origin_of(question.payload).client in _UNCHANGEABLE:
        return None
    if kind is RequestKind.PLAN:
        return EditablePart(question.content if whole is None else whole, ".md")
    if kind is not RequestKind.PERMISSION:
        return None
    given = permission_of(question.payload).input
    key = next((key for key in _PARTS if isinstance(given.get(key), str)), None)
    if key is None:
        return EditablePart(json.dumps(dict(given), indent=2, ensure_ascii=False) + "\n", ".json")
    return EditablePart(given[key], _SUFFIXES.get(key) or _suffix_of_file(given), key)


def edited_text(part: EditablePart, text: str) -> str | None:
    """What an editor left, without the line end that editors put behind it; None when nothing was changed."""
    if text.endswith("\n") and not part.text.endswith("\n"):
        text = text[:-1]
    return None if text == part.text else text


def edited_input(question: Message, part: EditablePart, text: str) -> Mapping[str, Any]:
    """The input of the tool with the part replaced by `text`.

    Raises:
        ValueError: The whole input was edited, and `text` is not one JSON object; the text says where.
    """
    if part.key is not None:
        return {**permission_of(question.payload).input, part.key: text}
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def _suffix_of_file(given: Mapping[str, Any]) -> str:
    names = (given.get("file_path"), given.get("notebook_path"), given.get("path"))
    name = next((name for name in names if isinstance(name, str)), "")
    suffix = PurePath(name.replace("\\", "/")).suffix
    return suffix if suffix.isascii() and suffix[1:].isalnum() and len(suffix) <= _LONGEST_SUFFIX else ".txt"
