"""What every verb prints with `--json` is what its schema says: each key it has, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from team_console.console.cli.help_and_config import read_schemas
from team_console.console.cli.main import VERBS
from team_console.console.json_results import RESULTS

from tests.equipment.command_line import CommandLine, Result, next_line
from tests.equipment.scripts import Script, values
from tests.schemas import variants

pytestmark = pytest.mark.slow

SCHEMAS = read_schemas("results")
NO_JSON = {"completions", "_complete", "hook", "mcp"}
"""Verbs that print a script, words, what a client reads or a protocol of its own, whatever the flags."""


def departures(value: Any, verb: str) -> list[str]:
    """What keeps a value from being exactly one of what the verb may print; nothing where it is."""
    found = []
    for variant in variants(verb):
        try:
            TypeAdapter(variant).validate_python(value, strict=True, extra="forbid")
        except ValidationError as error:
            found.append(f"{variant.__name__}: {error}")
        else:
            return []
    return found


DAY = Path(__file__).with_name("day.txt").read_text(encoding="utf-8").splitlines()
"""The commands of a day in which every verb is used, as a script has them."""


class Day(Script):
    """A day of a team.

    Attributes:
        printed: What each verb printed.
    """

    def __init__(self, command: CommandLine) -> None:
        super().__init__(command)
        self.printed: dict[str, list[Any]] = {}

    def run(self, line: str) -> Result:
        """Run the command of a line; its JSON is kept for the verb, whatever its status is."""
        result = super().run(line)
        printed = values(result)
        refused = any(value.get("success") is False and "error" in value for value in printed)
        if printed:
            verb = line.partition(": ")[2].split()[0]
            self.printed.setdefault("error" if refused else verb, []).extend(printed)
        return result

    def watch(self, verb: str, *arguments: str, meanwhile: str = "") -> None:
        """Keep the first line of a verb that goes on until it is ended; once it says that it is there, do something."""
        with self.command.running(verb, *arguments, "--json") as process:
            if meanwhile:
                next_line(process.stderr)
                self.run(meanwhile)
            self.printed[verb] = [json.loads(next_line(process.stdout))]


def test_what_a_verb_prints_is_of_its_type(elsewhere: CommandLine) -> None:
    day = Day(elsewhere)
    for line in DAY:
        if line and not line.startswith("#"):
            day.run(line)
    day.watch("watch", meanwhile="$ ceo: send --to a1 --summary 'Something new for you today' --content x")
    day.watch("serve", "--port", "0")
    (elsewhere.folder / "messenger-config.yaml").write_text("")
    for verb in ("status", "check", "check --heal"):
        day.run(f"$ ceo: {verb}")
    printed = day.printed
    assert sorted(printed) == sorted(RESULTS), "the day does not use every verb"
    for value in printed.pop("error"):
        assert departures({key: value[key] for key in value if key in SCHEMAS["error"]["properties"]}, "error") == []
    for verb, results in printed.items():
        assert [found for value in results if (found := departures(value, verb))] == [], verb


def test_every_verb_with_json_has_a_schema_and_help_prints_it(elsewhere: CommandLine) -> None:
    assert set(SCHEMAS) == {verb.name for verb in VERBS} - NO_JSON | {"error"}
    for verb in ("status", "error"):
        assert elsewhere.ok("help json", verb).json == SCHEMAS[verb]
    assert elsewhere.ok("help json").out.split("Verbs:")[1].split() == list(SCHEMAS)
    refused = elsewhere("help json statsu --json")
    assert (refused.status, "status" in refused.json["hint"]) == (2, True)


def fields(schema: Mapping[str, Any], place: str) -> Iterator[str]:
    """What may be promised of each key at any depth: its place, its kind, and that it is always there, if it is."""
    inner = schema.get("items", schema)
    required = inner.get("required", ())
    for name, shape in inner.get("properties", {}).items():
        here = f"{place}.{name}"
        kinds = "|".join([shape["type"]] if isinstance(shape.get("type"), str) else shape.get("type", ["any"]))
        words = " ".join(shape.get("enum", ()))
        yield f"{here} {kinds} maybe {words}".rstrip()
        if name in required:
            yield f"{here} {kinds} {words}".rstrip()
        yield from fields(shape, here)
    if isinstance(more := inner.get("additionalProperties"), Mapping):
        yield from fields(more, f"{place}.*")


FROZEN = Path(__file__).with_name("json_fields.txt")
"""Every field that was ever promised; lines are added, none is changed or taken away."""


def test_no_field_that_was_promised_is_gone_or_another() -> None:
    current = {line for name, schema in SCHEMAS.items() for line in fields(schema, name)}
    promised = FROZEN.read_text(encoding="utf-8").splitlines()
    assert len(promised) > 700
    assert [line for line in promised if line not in current] == []
