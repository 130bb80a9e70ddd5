"""The words of a JSON Schema: texts, numbers, lists and objects with keys of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def _kind(name: str, meaning: str = "", **more: Any) -> Schema:
    schema: Schema = {"type": name, **more}
    return {**schema, "description": meaning} if meaning else schema


def text(meaning: str = "") -> Schema:
    """A text."""
    return _kind("string", meaning)


def count(meaning: str = "") -> Schema:
    """A whole number."""
    return _kind("integer", meaning)


def number(meaning: str = "") -> Schema:
    """A number."""
    return _kind("number", meaning)


def flag(meaning: str = "") -> Schema:
    """True or false."""
    return _kind("boolean", meaning)


def word(*words: str, meaning: str = "") -> Schema:
    """One of these texts."""
    return _kind("string", meaning, enum=list(words))


def array(items: Schema, meaning: str = "") -> Schema:
    """A list."""
    return _kind("array", meaning, items=items)


def mapping(values: Schema, meaning: str = "") -> Schema:
    """An object whose keys are data."""
    return _kind("object", meaning, additionalProperties=values)


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, meaning: str = "") -> Schema:
    """An object with keys of its own."""
    properties = {**required, **(optional or {})}
    return _kind("object", meaning, properties=properties, required=list(required))


def or_null(schema: Schema) -> Schema:
    """The value, or null."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*kinds, "null"]}
