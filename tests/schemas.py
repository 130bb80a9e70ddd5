"""JSON Schemas (2020-12): of what each verb prints with `--json`, and of the settings of one user and of a team.

`python -m tests.schemas` writes them to `results.json` and `settings.json` in `console/cli/`, which verbs read. They
are made from the types in `console/json_results.py` and `console/preferences.py` and from the table of settings;
pydantic takes longer to import than any verb to run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
from pydantic import TypeAdapter
from team_console.console import cli, json_records, json_results
from team_console.console.actions import ACTIONS
from team_console.console.preferences import Preferences
from team_console.store.settings.table import SETTING_TABLE, Setting, ValueForm
from typing_extensions import get_original_bases, is_typeddict

Schema = dict[str, Any]
_TYPES = {**vars(json_records), **vars(json_results)}


def schemas() -> dict[str, Schema]:
    """Return the schema of what each verb prints, and of `error`."""
    return {
        verb: _document(f"team-console {verb} --json", merged(map(of_type, variants(verb))))
        for verb in json_results.RESULTS
    }


def variants(verb: str) -> tuple[Any, ...]:
    """Return the types of which the verb prints one."""
    result = json_results.RESULTS[verb]
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


# Settings: of one user, from the types of the preferences, and of a team, from its table.


def settings_schemas() -> dict[str, Schema]:
    """Return the schema of `config.toml`, and of `messenger-config.yaml`, in which BMAD's own keys are left alone."""
    schema = msgspec.json.schema(Preferences)
    keys = {"anyOf": [_TEXT, _WORDS]}
    own = schema["$defs"].pop(Preferences.__name__)
    own["properties"]["keys"] = _table({action.id: {**keys, "description": action.help} for action in ACTIONS})
    user = _document("team-console: the user's settings (config.toml)", {**own, "$defs": schema["$defs"]})
    team = _document("team-console: the team's settings (messenger-config.yaml)", _mapping(SETTING_TABLE, is_open=True))
    return {"user": user, "team": team}


def _document(title: str, schema: Schema) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _table(properties: Mapping[str, Any], *, is_open: bool = False) -> Schema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": is_open}


def _mapping(settings: Sequence[Setting], *, is_open: bool = False) -> Schema:
    return _table({key: _schema(setting) for setting in settings for key in setting.keys}, is_open=is_open)


def _schema(setting: Setting) -> Schema:
    shape = _SHAPES.get(setting.form, {"type": "string"})
    if setting.form is ValueForm.WORD:
        shape = {"enum": list(setting.choices)}
    elif setting.form is ValueForm.SECTION:
        shape = _mapping(setting.fields)
    elif setting.form in (ValueForm.ENTRIES, ValueForm.MEMBERS):
        one = _mapping(setting.fields, is_open=True)
        shape = {"type": "object", "additionalProperties": one}
        if setting.form is ValueForm.MEMBERS:
            shape = {"anyOf": [{"type": "array", "items": {"anyOf": [_TEXT, one]}}, shape]}
    return {**shape, "description": setting.meaning}


_TEXT: Schema = {"type": "string"}
_WORDS: Schema = {"type": "array", "items": _TEXT}
_SHAPES: Mapping[ValueForm, Schema] = {
    ValueForm.FLAG: {"type": "boolean"},
    ValueForm.COUNT: {"type": "integer", "minimum": 1},
    ValueForm.SECONDS: {"type": "number", "exclusiveMinimum": 0},
    **dict.fromkeys((ValueForm.TEXTS, ValueForm.KEYS, ValueForm.COMMAND), _WORDS),
    ValueForm.VALUES: {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
}
KEPT: Mapping[str, Callable[[], dict[str, Schema]]] = {"results": schemas, "settings": settings_schemas}
"""File in `console/cli/` -> what makes it."""


def main() -> None:
    """Write the files."""
    for name, make in KEPT.items():
        text = json.dumps(make(), indent=1, ensure_ascii=False)
        Path(cli.__path__[0], f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
