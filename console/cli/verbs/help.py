"""`help`: explains a verb, the settings of a team, or the JSON of a verb."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from msgspec.structs import asdict
from team_console.console.cli.arguments import find_verb, overview, parser_for
from team_console.console.cli.call import Call
from team_console.console.cli.printing.output import is_terminal, to_json
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import nearest


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what to explain."""
    parser.description = (
        "Explain a verb, the settings of a team, or the JSON of a verb. Examples:\n\n"
        "  team-console help send\n"
        "  team-console help settings retention\n"
        "  team-console help json status      # a JSON Schema of what status --json prints"
    )
    parser.add_argument("topic", nargs="*", metavar="VERB|settings [NAME]|json [VERB]", help="what to explain")


def run(call: Call) -> int:
    """Print the explanation."""
    words = call.options.topic
    if not words:
        call.out.say(overview())
    elif words[0] == "settings":
        _settings(call, words[1:])
    elif words[0] == "json":
        _schema(call, words[1:])
    else:
        _refuse_more(words[1:])
        call.out.say(parser_for(find_verb(words[0])).format_help().rstrip("\n"))
    return 0


def _settings(call: Call, words: Sequence[str]) -> None:
    from team_console.console.cli.manual.settings_reference import EXAMPLE, nearest_setting, setting_rows, settings_text

    _refuse_more(words[1:])
    topic = words[0] if words else ""
    lines = settings_text(topic)
    if lines is None:
        meant = nearest_setting(topic)
        hint = f"Did you mean {meant!r}?" if meant else "team-console help settings lists them all."
        raise TeamError(Code.USAGE, f"there is no setting {topic!r}", hint)
    if call.out.as_json:
        call.out.json({"settings": [asdict(row) for row in setting_rows() if settings_text(row.path) is not None]})
        return
    for line in lines:
        call.out.say(line)
    if not topic:
        call.out.say("\nThey stand in messenger-config.yaml of the team, in YAML. An example:\n\n" + EXAMPLE.rstrip())


def _schema(call: Call, words: Sequence[str]) -> None:
    from team_console.console.cli.manual.schemas import SCHEMAS, schema_of

    _refuse_more(words[1:])
    if not words:
        call.out.say("team-console help json VERB prints the JSON Schema of what VERB --json prints. Verbs:")
        call.out.say("  " + " ".join(SCHEMAS))
        return
    if words[0] not in SCHEMAS:
        meant = nearest(words[0], SCHEMAS)
        hint = f"Did you mean {meant!r}?" if meant else "team-console help json lists the verbs with JSON."
        raise TeamError(Code.USAGE, f"{words[0]} prints no JSON of its own", hint)
    indent = 2 if is_terminal(sys.stdout) else None
    call.out.say(to_json(schema_of(words[0]), indent=indent))


def _refuse_more(words: Sequence[str]) -> None:
    if words:
        raise TeamError(Code.USAGE, f"help: {words[0]!r} is one word too many", "team-console help --help says more.")
