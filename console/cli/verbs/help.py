"""`help`: explains a verb, or prints a part of the reference."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import asdict
from team_console.console.cli.arguments import find_verb, overview, parser_for
from team_console.console.cli.call import Call
from team_console.console.cli.manual.settings_reference import (
    EXAMPLE,
    SettingRow,
    nearest_setting,
    setting_rows,
    settings_text,
)
from team_console.console.cli.printing.output import is_terminal, to_json
from team_console.console.cli.reference import (
    ENVIRONMENT,
    EXIT_STATUSES,
    FILES,
    Rows,
    error_rows,
    key_rows,
)
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import nearest


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what to explain."""
    parser.description = (
        "Explain a verb, or print a part of the reference. Examples:\n\n"
        "  team-console help send\n"
        "  team-console help settings retention   # the team's settings (messenger-config.yaml)\n"
        "  team-console help config               # your own settings (config.toml)\n"
        "  team-console help keys                 # the keys of the console\n"
        "  team-console help environment          # variables; also: files, exit-codes\n"
        "  team-console help json status          # the JSON Schema of what status --json prints"
    )
    parser.add_argument(
        "topic", nargs="*", metavar="VERB|settings [NAME]|keys|environment|files|exit-codes|json [VERB]"
    )


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
        explain = _TOPICS.get(words[0])
        if explain is None:
            call.out.say(parser_for(find_verb(words[0])).format_help().rstrip("\n"))
        else:
            explain(call)
    return 0


def _explain_environment(call: Call) -> None:
    _say_rows(call, "environment", "Variables of the environment that are read:", ENVIRONMENT)


def _explain_files(call: Call) -> None:
    _say_rows(call, "files", "Files of a team in a folder, and of one user:", FILES)


def _explain_exit_codes(call: Call) -> None:
    errors = list(error_rows())
    if call.out.as_json:
        call.out.json({"exit_codes": dict(EXIT_STATUSES), "errors": dict(errors)})
        return
    _say_rows(call, "exit_codes", "Exit statuses:", EXIT_STATUSES)
    _say_rows(call, "errors", "\nError codes, in the field `error` of --json and behind the message without:", errors)


def _explain_keys(call: Call) -> None:
    rows = [(key, f"{meaning} ({modes})") for key, meaning, modes in key_rows()]
    _say_rows(call, "keys", "Keys of the console; ? shows those of the present place:", rows)


_TOPICS: Mapping[str, Callable[[Call], None]] = {
    "environment": _explain_environment,
    "files": _explain_files,
    "exit-codes": _explain_exit_codes,
    "keys": _explain_keys,
}


def _say_rows(call: Call, name: str, title: str, rows: Rows) -> None:
    if call.out.as_json:
        call.out.json({name: dict(rows)})
        return
    call.out.say(title)
    width = max(len(word) for word, _ in rows) + 2
    for word, meaning in rows:
        call.out.say(f"  {word.ljust(width)}{meaning}")


def _settings(call: Call, words: Sequence[str]) -> None:
    _refuse_more(words[1:])
    topic = words[0] if words else ""
    rows = setting_rows(topic)
    if not rows:
        meant = nearest_setting(topic)
        hint = f"Did you mean {meant!r}?" if meant else "team-console help settings lists them all."
        raise TeamError(Code.USAGE, f"there is no setting {topic!r}", hint)
    _say_settings(call, rows)
    if not topic and not call.out.as_json:
        call.out.say("\nThey stand in messenger-config.yaml of the team, in YAML. An example:\n\n" + EXAMPLE.rstrip())


def _say_settings(call: Call, rows: Sequence[SettingRow]) -> None:
    if call.out.as_json:
        call.out.json({"settings": [asdict(row) for row in rows]})
        return
    for line in settings_text(rows):
        call.out.say(line)


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
