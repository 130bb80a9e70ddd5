"""Say what a tool is used on: the command, file or fields of its input, and all of it in one line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Any

from team_console.store.model.message import FieldDict, Fields
from team_console.store.model.safe import safe_line, with_blanks_seen
from team_console.store.protocol.client_requests import Permission
from team_console.store.protocol.foreign_fields import text_in


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
    return {key: value for key, value in given.items() if key != "description" or not is_said}


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
    first, _, rest = value.strip().partition("\n") if isinstance(value, str) else ("", "", "")
    return f"{first} …" if rest else first
