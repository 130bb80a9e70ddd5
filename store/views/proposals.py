"""Proposals: what an agent's tool would do, shown for what it is: a command, a change of a file, a page, a search.

Told by the fields of the tool's input, not by its name: tools of other makers use the same ones. Nothing is left out:
what has no place of its own is in `rest`. All texts are as they were written; make them safe where they are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from team_console.store.model.message import Fields, Message, without
from team_console.store.protocol.client_requests import FileExcerpt, Permission, permission_of
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.tool_input import PATH_KEYS, command_in
from team_console.store.views.differences import hunks_of, line_difference, lines_of


class ProposalKind(StrEnum):
    """What a proposal is; the word shown above it."""

    COMMAND = "command"
    CHANGE = "change"
    NEW_FILE = "new file"
    CONTENT = "content"
    """A file's content where nobody knows what stands there now."""
    PAGE = "page"
    SEARCH = "search"
    OTHER = "input"


class Proposal(Struct, frozen=True):
    """What would be done.

    Attributes:
        subject: The file, page or search; empty for a command, which is `text`.
        words: What the agent says it is for; empty when it says nothing.
        text: The command, or a content.
        diff: The change as lines of a unified diff, each with its sign.
        notes: What the reader should know of the change, as sentences.
        rest: Every other field of the input.
    """

    kind: ProposalKind
    subject: str = ""
    words: str = ""
    text: str = ""
    diff: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rest: Fields = MappingProxyType({})


PRIVATE = "What stands there now is not shown: the file is readable by its owner only"
_MOST_PLACES = 200
"""Places of a text to be replaced that an excerpt of the file keeps."""
Edit = tuple[str, str, bool]
"""A text to be replaced, what takes its place, and whether that is done everywhere it stands."""
_SHOWN_TYPES: Mapping[str, tuple[type, ...]] = {"command": (str, list), "edits": (list,), "replace_all": (bool,)}
"""Sorts of values that are shown, by key; of all others it is text."""


def proposal_of(permission: Permission) -> Proposal:
    """Return the proposal of a permission, told by its input."""
    given = permission.input
    command = command_in(given)
    if command is not None:
        rest = _fields_besides(given, "command", "description")
        return Proposal(ProposalKind.COMMAND, words=text_in(given, "description"), text=command, rest=rest)
    path = next((key for key in PATH_KEYS if text_in(given, key)), None)
    if path is not None:
        change = _file_proposal(permission, path)
        if change is not None:
            return change
    for key, kind in (("url", ProposalKind.PAGE), ("query", ProposalKind.SEARCH), ("pattern", ProposalKind.SEARCH)):
        if text_in(given, key):
            rest = _fields_besides(given, key, "prompt")
            return Proposal(kind, subject=text_in(given, key), words=text_in(given, "prompt"), rest=rest)
    return Proposal(ProposalKind.OTHER, words=text_in(given, "description"), rest=_fields_besides(given, "description"))


def excerpt_of(permission: Permission) -> FileExcerpt | UnsetType:
    """Return the part of the file to record (`permission.before`) so that the change can be shown; UNSET without one.

    The lines that change and three around each, and wherever else the text stands that is to be replaced.
    """
    before, edits = permission.before, tuple(_edits_in(permission.input))
    content = permission.input.get("content")
    if not isinstance(before, str) or not (edits or isinstance(content, str)):
        return UNSET
    after = _apply_edits(before, edits)[0] if edits else content
    places = [place for old, _, everywhere in edits if old and not everywhere for place in _line_spans_of(before, old)]
    hunks = hunks_of(before, before if after is None else after, more=places[: _MOST_PLACES + 1])
    lines = lines_of(before)
    excerpt = FileExcerpt(
        "".join(line for start, size, _, _ in hunks for line in lines[start : start + size]), tuple(hunks)
    )
    kept = permission_of({"tool": permission.tool, "input": permission.input, **excerpt.as_recorded})
    return excerpt if proposal_of(kept) == proposal_of(permission) else UNSET


def _line_spans_of(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Yield the lines, from where to where, in which a part of a text stands, as far as there are not too many."""
    line = last = 0
    place = text.find(part)
    for _ in range(_MOST_PLACES + 1):
        if place < 0:
            return
        line, last = line + text.count("\n", last, place), place
        yield line, line + part.count("\n") + (not part.endswith("\n"))
        place = text.find(part, place + len(part))


def lines_to_remark(question: Message, whole: str | None) -> list[str]:
    """Return the lines of a request that remarks are on, numbered from 1: a plan's text, a diff, a command.

    Args:
        whole: The whole content of a message that holds only its beginning.
    """
    if parse_message(question).opens is not RequestKind.PERMISSION:
        return (question.content if whole is None else whole).split("\n")
    proposal = proposal_of(permission_of(question.payload))
    return list(proposal.diff) or proposal.text.split("\n")


def input_text(given: Fields) -> str:
    """Return a whole input as text, to be compared with another."""
    return json.dumps(dict(given), indent=2, ensure_ascii=False, default=str) + "\n"


def _file_proposal(permission: Permission, path: str) -> Proposal | None:
    """Return the change of a file, None when the input holds none."""
    given, subject = permission.input, text_in(permission.input, path)
    edits = tuple(_edits_in(given))
    if edits:
        rest = _fields_besides(given, path, "old_string", "new_string", "replace_all", "edits")
        return _edit_proposal(subject, permission.before, edits, rest, is_private=permission.is_private)
    content = given.get("content", given.get("new_source"))
    if not isinstance(content, str):
        return None
    rest = _fields_besides(given, path, "content" if "content" in given else "new_source")
    if permission.before is UNSET or "new_source" in given:
        note = f"{PRIVATE}." if permission.is_private else "What stands there now is not on record."
        return Proposal(ProposalKind.CONTENT, subject=subject, text=content, notes=(note,), rest=rest)
    old = permission.before if isinstance(permission.before, str) else ""
    kind = ProposalKind.NEW_FILE if permission.before is None else ProposalKind.CHANGE
    return _text_proposal(kind, subject, old, content, (), rest)


def _apply_edits(text: str, edits: Sequence[Edit]) -> tuple[str | None, tuple[str, ...]]:
    """Return the text after these edits, None where one of them does not fit; and what the reader should know of
    them.
    """
    notes = []
    for old, new, everywhere in edits:
        count = text.count(old) if old else int(not text)
        if not count:
            return None, ()
        if count > 1 and not everywhere:
            notes.append(f"The text to be replaced stands there {count} times; the first is shown replaced.")
        text = text.replace(old, new, -1 if everywhere else 1) if old else new
    return text, tuple(notes)


def _edit_proposal(subject: str, before: Any, edits: Sequence[Edit], rest: Fields, *, is_private: bool) -> Proposal:
    """Return the change that edits make of a file; without the file as it was only what they replace is compared."""
    if isinstance(before, str) or before is None:
        text, notes = _apply_edits(before or "", edits)
        if text is not None:
            kind = ProposalKind.NEW_FILE if before is None else ProposalKind.CHANGE
            return _text_proposal(kind, subject, before or "", text, notes, rest)
        note = "The text to be replaced is not in the file as it was when this was asked."
    else:
        note = f"{PRIVATE if is_private else 'The file as it was is not on record'}; only what is replaced is shown."
    lines = tuple(line for old, new, _ in edits for line in line_difference(old, new))
    everywhere_note = ("It is replaced wherever it stands.",) if any(edit[2] for edit in edits) else ()
    return Proposal(ProposalKind.CHANGE, subject=subject, diff=lines, notes=(note, *everywhere_note), rest=rest)


def _text_proposal(
    kind: ProposalKind, subject: str, old: str, new: str, notes: tuple[str, ...], rest: Fields
) -> Proposal:
    """Return the change from one whole text to another."""
    nothing = ("Nothing would change.",) if old == new and kind is ProposalKind.CHANGE else ()
    empty = ("The file would be empty.",) if not new and old != new else ()
    return Proposal(kind, subject=subject, diff=line_difference(old, new), notes=(*notes, *nothing, *empty), rest=rest)


def _edits_in(given: Fields) -> Iterator[Edit]:
    """Yield the edits that an input asks for; none where one of them is not understood."""
    several = given.get("edits")
    items = several if isinstance(several, list) else [given]
    found = []
    for item in items:
        if not isinstance(item, Mapping):
            return
        old, new = item.get("old_string"), item.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str):
            return
        found.append((old, new, item.get("replace_all") is True))
    yield from found


def _fields_besides(given: Fields, *keys: str) -> Fields:
    """Return the fields that are shown nowhere else; one of these keys whose value is of an unknown type is among
    them.
    """
    hidden = {key for key in keys if isinstance(given.get(key), _SHOWN_TYPES.get(key, str))}
    return without(given, hidden)
