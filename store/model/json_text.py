"""JSON that somebody handed in: parsed, and what is wrong with it said in words that are not Python's.

Last, the one JSON text of a value, of which a signature is made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_object import RepeatedKeyError, refuse_repeated_keys
from team_console.store.model.message import Fields

_TEXT_OR_COMMENT = r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*'
"""A text first, also one without an end: what looks like a comment in it is part of it."""

_PLAIN_WORDS = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Illegal trailing comma before end of object": "a comma stands before the closing brace",
    "Illegal trailing comma before end of array": "a comma stands before the closing bracket",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Unterminated string starting at": "a text begins here and does not end",
    "Extra data": "something follows after the end",
    "Invalid control character at": "a control character stands in a text; write it as \\n or \\u0000",
    "Invalid \\escape": "this backslash begins no escape of JSON",
    "Invalid \\uXXXX escape": "\\u needs four hexadecimal digits",
}
"""What Python's parser says -> what a person is told."""


def parse_json(text: str, *, what: str, hint: str) -> Any:
    """Return the JSON value in `text`.

    Args:
        what: Names the text in an error, such as `standard input`.
        hint: Says what is wanted.

    Raises:
        TeamError: `INVALID_FIELD` with line and column, with the key that an object names twice, or saying that there
            is nothing at all.
    """
    return _parse_with(partial(json.loads, object_pairs_hook=refuse_repeated_keys), text, what=what, hint=hint)


def parse_json_sequence(text: str, *, what: str, hint: str) -> list[Any]:
    """Parse the JSON values in `text`, one after the other over any number of lines; all of them or none.

    Raises:
        TeamError: As `parse_json`.
    """
    return list(_parse_with(_parse_sequence, text, what=what, hint=hint))


def without_comments(text: str) -> str:
    """Remove `// comments` outside of texts; lines and columns of what is left stay."""
    if "//" not in text:
        return text
    return re.sub(_TEXT_OR_COMMENT, lambda found: found[0] if found[0][0] == '"' else "", text)


def _parse_sequence(text: str) -> list[Any]:
    """Parse JSON values that follow each other, with white space between."""
    values: list[Any] = []
    decoder, at = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys), 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values


def _parse_with(parse: Callable[[str], Any], text: str, *, what: str, hint: str) -> Any:
    """Return what `parse` makes of the text; raises `TeamError` as `parse_json`."""
    if not text.strip():
        raise TeamError(Code.INVALID_FIELD, f"{what} is empty", hint)
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        raise TeamError(Code.INVALID_FIELD, f"{what}, {json_trouble(error)}", hint) from None
    except RecursionError:
        raise TeamError(Code.INVALID_FIELD, f"{what} is nested too deeply", "Flatten it.") from None
    except RepeatedKeyError as error:
        raise TeamError(Code.INVALID_FIELD, f"{what}: {error}", "Say it once in each object.") from None
    except ValueError as error:
        raise TeamError(Code.INVALID_FIELD, f"{what} holds a number that is too long", hint) from error


def json_trouble(error: json.JSONDecodeError) -> str:
    """Return where and why the text stops being JSON."""
    return f"line {error.lineno} column {error.colno}: {_PLAIN_WORDS.get(error.msg, error.msg)}"


# How a wrong value is named in an error: as JSON, short, on one line, never so deep that naming it fails.

_LONGEST_VALUE = 80


def value_words(value: object) -> str:
    """Return a text, number, true, false or null as JSON writes it, cut at 80 characters; of all else only the sort."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None or isinstance(value, (str, int, float)):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
    return f"{value!s:.80}"


# The one JSON text of a value, of which a signature is made.


def canonical_json(said: Fields) -> str:
    """Return the one JSON text of what is signed; texts keep their characters, keys become texts."""
    return json.dumps(_json_value(said), sort_keys=True, separators=(",", ":"))


def _json_value(value: Any) -> Any:
    """Return a value of what is signed in the types of JSON; what is of another type as its text."""
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
