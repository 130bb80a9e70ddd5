"""Show what a client wants to use a tool on: the command, file or fields of its input, and all of it in lines.

Below: what the client offers to allow always, and the part of its request that a human may change before approving.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from team_console.store.model.json_object import refuse_repeated_keys
from team_console.store.model.message import FieldDict, Fields, Message, without
from team_console.store.model.safe import safe_line, safe_text, with_blanks_seen
from team_console.store.protocol.client_requests import Permission, origin_of, permission_of
from team_console.store.protocol.foreign_fields import items_in, text_in, texts_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message


def headline_of(permission: Permission, directory: str = "") -> str:
    """Return the request in one line: the tool and its object; a file as seen from its folder.

    Made of tool and input alone: what the asker says of it may be anything.
    """
    given = permission.input
    subject = _first_line(command_in(given)) or file_seen_from(path_of_input(given), directory)
    subject = subject or next((line for key in _SUBJECTS if (line := _first_line(given.get(key)))), "")
    subject = subject or ", ".join(islice(_fields_in_words(given), _MOST_FIELDS))
    tool = tool_in_line(permission.tool)
    return with_blanks_seen(f"{tool}: {subject}" if subject else tool)


_LONGEST_TOOL = 80


def tool_in_line(tool: str) -> str:
    """Return the name of a tool as a title begins with it: it neither ends the line nor fills it."""
    # guard: tool-hides-no-input
    return safe_line(tool, _LONGEST_TOOL)


def command_in(given: Fields) -> str | None:
    """Return the command of an input as a shell reads it; a list of words is quoted as one. None without one."""
    value = given.get("command")
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return value if isinstance(value, str) else None


def acting_input(tool: str, given: Fields) -> FieldDict:
    """Return what of an input says what a tool does: what a model says about its command for a shell does not.

    A tool of a server may do anything with any field.
    """
    # guard: description-of-a-command-alone
    is_said = isinstance(given.get("command"), str) and not tool.startswith("mcp__")
    return without(given, ("description",) if is_said else ())


def _fields_in_words(given: Fields) -> Iterator[str]:
    """Yield each field with its value, what the asker says of it last."""
    for key in sorted(given, key=lambda key: key == "description"):
        value = given[key]
        yield f"{key}: {_first_line(value if isinstance(value, str) else json.dumps(value, default=str))}"


PATH_KEYS = ("file_path", "notebook_path", "path")
"""Keys of a tool's input that name the file it changes, the first that is there."""
_SUBJECTS = ("url", "query", "pattern")
"""Further keys that say what a tool is used on."""
_MOST_FIELDS = 20
"""Fields of an input of an unknown kind that a title looks at."""


def path_of_input(given: Fields) -> str:
    """Return the file that an input of a tool names; empty when it names none."""
    return next(filter(None, (text_in(given, key) for key in PATH_KEYS)), "")


def file_seen_from(path: str, directory: str) -> str:
    """Return the path of a file within the folder an agent works in, whole where it is elsewhere or not plain."""
    inside = path.startswith(directory.rstrip("/") + "/") if directory else False
    return path if not inside or ".." in path.split("/") else path[len(directory.rstrip("/")) + 1 :]


def _first_line(value: Any) -> str:
    """Return the first line of a text, with `…` where more follow; empty for what is no text."""
    first, _, rest = value.strip().partition("\n") if isinstance(value, str) else ("", "", "")
    return f"{first} …" if rest else first


# A value of JSON in lines of safe text, as deep as it is nested.

_DEPTH = 40
"""Levels below which nesting has no lines of its own; what we write ourselves is never that deep."""


def structure(value: Any) -> str:
    """Return `value` in lines of safe text."""
    return "\n".join(value_lines(value, 0))


def value_lines(value: Any, depth: int) -> Iterator[str]:
    """Yield a value of JSON in lines of safe text, as deep as it stands."""
    pad = "  " * depth
    if depth > _DEPTH:  # the rest in one line: what is shown is all that there is
        try:
            yield pad + safe_line(json.dumps(value, ensure_ascii=False, default=str))
        except RecursionError:
            yield f"{pad}… nested deeper than can be shown"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry_lines(f"{pad}{safe_line(key, 200)}:", item, depth)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _entry_lines(f"{pad}-", each, depth)
    else:
        yield pad + _scalar(value)


def _entry_lines(head: str, value: Any, depth: int) -> Iterator[str]:
    """Yield a key or a dash with its value, on one line where it fits."""
    if isinstance(value, (Mapping, list, tuple)):
        if not value:
            yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
        elif head.endswith("-") and isinstance(value, Mapping):
            inner = list(value_lines(value, depth + 1))
            yield f"{head} {inner[0].lstrip()}"
            yield from inner[1:]
        else:
            yield head
            yield from value_lines(value, depth + 1)
    elif isinstance(value, str) and "\n" in value:
        yield f"{head} |"
        pad = "  " * (depth + 1)
        yield from (pad + line for line in safe_text(value).rstrip("\n").split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _scalar(value: Any) -> str:
    """Return a value that is neither list nor object, as safe text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return safe_line(value) if value != "" else "''"


# What a client offers with a permission to allow always, each in one line.

_REACH = {
    "session": "for this session",
    "localSettings": "in this project, for you alone",
    "projectSettings": "in this project, for everybody",
    "userSettings": "in all your projects",
}


def suggestion_words(suggestion: Any) -> str:
    """Return one line for a suggestion of a client: its own rules as it writes them; what is not understood as JSON.

    Whole, however long it is: the widest rule may be the last.

    A rule of Claude Code reads `allow Bash(npm test *) for this session`.
    """
    if isinstance(suggestion, str):
        return suggestion
    if not isinstance(suggestion, Mapping):
        return _json(suggestion)
    what = _effect_words(suggestion)
    # guard: rules-told-whole
    if not what or suggestion.keys() - _TOLD_FIELDS[str(suggestion["type"])]:
        return _json(suggestion)
    destination = suggestion.get("destination", "")
    if not isinstance(destination, str):
        return _json(suggestion)
    reach = _REACH.get(destination, f"in {destination}") if destination else ""
    return f"{what} {reach}".strip()


_TOLD_FIELDS = {
    "setMode": {"type", "mode", "destination"},
    "addDirectories": {"type", "directories", "destination"},
    "addRules": {"type", "behavior", "rules", "destination"},
}
"""Fields of a suggestion that its words tell of; with any other it is told as it is."""


def _effect_words(suggestion: Fields) -> str:
    """Return what a suggestion changes, in words; empty for one that is not understood."""
    kind, behavior = suggestion.get("type"), suggestion.get("behavior")
    if kind == "setMode" and isinstance(suggestion.get("mode"), str):
        return f"mode {suggestion['mode']}"
    if kind == "addDirectories":
        given = suggestion.get("directories")
        folders = texts_in(suggestion, "directories")
        return f"work in {', '.join(folders)}" if folders and folders == tuple(given or ()) else ""
    if kind == "addRules" and behavior in ("allow", "deny", "ask"):
        rules = ", ".join(_rule_words(suggestion))
        return f"{behavior} {rules}" if rules else ""
    return ""


_RULE_FIELDS = {"toolName", "ruleContent"}


def _rule_words(suggestion: Fields) -> Iterator[str]:
    """Yield each rule of a suggestion as its client writes it, `Bash(npm test *)`; one of another form as JSON."""
    for item in items_in(suggestion, "rules"):
        if isinstance(item, Mapping) and text_in(item, "toolName") and not item.keys() - _RULE_FIELDS:
            content = item.get("ruleContent", "")
            named = f"{item['toolName']}({content})" if "ruleContent" in item else item["toolName"]
            yield named if isinstance(content, str) else _json(item)
        else:
            yield _json(item)


def _json(value: Any) -> str:
    """Return JSON of any value, what JSON does not know as its text."""
    return json.dumps(value, ensure_ascii=False, default=str)


# The part of a request that may be changed before it is approved, and the request with it changed.

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
    """Return the suffix of the file that an input names, `.txt` where it has none that an editor could know."""
    suffix = PurePath(path_of_input(given).replace("\\", "/")).suffix
    return suffix if suffix.isascii() and suffix[1:].isalnum() and len(suffix) <= _LONGEST_SUFFIX else ".txt"
