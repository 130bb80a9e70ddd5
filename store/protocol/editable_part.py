"""Edit a request before it is approved: the part that may be changed, and the request with it changed."""

from __future__ import annotations

import json
from pathlib import PurePath

from msgspec import Struct
from team_console.store.model.json_object import refuse_repeated_keys
from team_console.store.model.message import Fields, Message
from team_console.store.protocol.client_requests import origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.tool_input import path_of_input

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
    """Return the part that may be edited before approval; None where the client takes only a yes or no.

    Args:
        whole: The whole text of a plan of which the message holds only the beginning.
    """
    kind = parse_message(question).opens
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
    """Return the text that an editor left, without the line end it appended; None when nothing changed."""
    if text.endswith("\n") and not part.text.endswith("\n"):
        text = text[:-1]
    return None if text == part.text else text


def edited_input(question: Message, part: EditablePart, text: str) -> Fields:
    """Return the input of the tool with the part replaced by `text`.

    Raises:
        ValueError: The whole input was edited, and `text` is not one JSON object; the text says where.
    """
    if part.key is not None:
        return {**permission_of(question.payload).input, part.key: text}
    value = json.loads(text, object_pairs_hook=refuse_repeated_keys)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def _suffix_of_file(given: Fields) -> str:
    suffix = PurePath(path_of_input(given).replace("\\", "/")).suffix
    return suffix if suffix.isascii() and suffix[1:].isalnum() and len(suffix) <= _LONGEST_SUFFIX else ".txt"
