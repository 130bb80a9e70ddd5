"""The JSON of the verbs by which real agents join and leave."""

from __future__ import annotations

from collections.abc import Mapping

from team_console.console.cli.manual.schema_words import Schema, array, flag, record, text, word

_FILE = record(
    {
        "path": text(),
        "change": word("created", "changed", "removed", "unchanged"),
        "diff": text("the change as a unified diff; empty for none"),
    }
)
_CHANGED: Mapping[str, Schema] = {
    "agent": text(),
    "member_changed": flag("the member was put into the team's settings, or taken out of them"),
    "files": array(_FILE, "every file of the client that is concerned"),
    "notes": array(text(), "what the user should know, as sentences"),
    "written": flag("it was done, and not only shown"),
}


def joining_schemas(acted: Mapping[str, Schema]) -> Mapping[str, Schema]:
    """Verb -> schema; `acted` is what every verb says that does something."""
    return {
        "join": record(acted, {**_CHANGED, "command": text("with --plugin: starts the client with the plugin")}),
        "leave": record({**acted, **_CHANGED}),
        "instructions": record({"agent": text(), "team": text(), "instructions": text("for the agent's model")}),
    }
