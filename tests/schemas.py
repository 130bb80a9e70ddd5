"""The JSON Schema (2020-12) of what each verb prints with `--json`, made from the types in `console/results.py`.

`python -m tests.schemas` writes them to `console/cli/results.json`, which verbs read: pydantic, which makes them, takes
longer to import than any verb to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import TypeAdapter
from team_console.console import records, results
from team_console.console.cli.tools import SCHEMAS
from typing_extensions import get_original_bases, is_typeddict

Schema = dict[str, Any]
_TYPES = {**vars(records), **vars(results)}


def schemas() -> dict[str, Schema]:
    """Return the schema of what each verb prints, and of `error`."""
    return {verb: merged(map(of_type, variants(verb))) for verb in results.RESULTS}


def variants(verb: str) -> tuple[Any, ...]:
    """Return the types of which the verb prints one."""
    result = results.RESULTS[verb]
    return get_args(result) or (result,)


def merged(schemas: Iterable[Schema]) -> Schema:
    """Return the schema of an object that is one of several: it has the keys of all, and must have those in each."""
    found = list(schemas)
    properties = {key: inner for one in reversed(found) for key, inner in one["properties"].items()}
    required = [key for key in found[0]["required"] if all(key in one["required"] for one in found)]
    words = "; or ".join(one["description"] for one in found if "description" in one)
    described = {"description": words} if words else {}
    return {"type": "object", "properties": _required_first(properties, required), "required": required, **described}


def of_type(record: Any) -> Schema:
    """Return the schema of a TypedDict, those of other records written out; pydantic knows only a class's own words."""
    made = TypeAdapter(record).json_schema()
    inherited: Schema = {}
    for base in filter(is_typeddict, get_original_bases(record)):
        inherited |= of_type(base)["properties"]
    properties = {key: {**inherited.get(key, {}), **_plain(inner)} for key, inner in made["properties"].items()}
    required = made.get("required", [])
    described = {"description": made["description"]} if "description" in made else {}
    properties = _required_first(properties, required)
    return {"type": "object", "properties": properties, "required": required, **described}


def _required_first(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    return dict(sorted(properties.items(), key=lambda item: item[0] not in required))


def _plain(made: Schema) -> Schema:
    """Return a schema of pydantic without titles and references; of a value or null with both in `type`."""
    schema = {key: value for key, value in made.items() if key not in ("title", "$ref", "anyOf")}
    if "$ref" in made:
        return {**of_type(_TYPES[made["$ref"].rpartition("/")[2]]), **schema}
    if "anyOf" in made:
        inner = _plain(made["anyOf"][0])
        return {**inner, "type": [inner["type"], "null"], **schema}
    if "items" in schema:
        schema["items"] = _plain(schema["items"])
    if isinstance(more := schema.get("additionalProperties"), dict):
        schema["additionalProperties"] = _plain(more) or True
    return schema


def main() -> None:
    """Write the file."""
    text = json.dumps(schemas(), indent=1, ensure_ascii=False)
    with open(SCHEMAS, "w", encoding="utf-8") as file:
        file.write(text + "\n")


if __name__ == "__main__":
    main()
