"""The parts of README.md and docs/ that are made from code or by running it; `python -m tests.readme` writes them.

A part stands between `<!-- name -->` and `<!-- /name -->`; transcripts are the console blocks that begin with `$`.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from team_console.console.cli.help_and_config import (
    CONFIG,
    ENVIRONMENT,
    ERRORS,
    EXIT_STATUSES,
    FILES,
    SettingRow,
    key_rows,
    keyless_rows,
    read_schemas,
    setting_rows,
)
from team_console.console.cli.main import VERBS, Verb, parser_for
from team_console.console.mcp.acting import ActingAgent
from team_console.console.mcp.server import make_server
from team_console.console.tui.commands.stopping import STAGES
from team_console.console.tui.evidence import MARKS
from team_console.console.tui.modes.decisions import PROOFS
from team_console.store.protocol.kinds import KINDS, MessageKind
from team_console.widgets import bars, signs

from tests.equipment.transcripts import with_transcripts
from tests.man_page import PAGE as MAN_PAGE
from tests.man_page import man_page, own_arguments, value_of

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
Shape = Mapping[str, Any]


def pages() -> list[Path]:
    """README.md and every page below docs/."""
    return [README, *sorted((ROOT / "docs").rglob("*.md"))]


def legend() -> str:
    """Every sign of the console, by what it is a sign of."""
    tables: tuple[tuple[str, Iterable[signs.Sign]], ...] = (
        ("the screen", (signs.Sign(pulse.glyph, pulse.word) for pulse in _PULSES)),
        ("what needs you", signs.NEEDS.values()),
        ("agent", (*signs.AGENTS.values(), signs.FAILING)),
        ("request", signs.REQUESTS.values()),
        ("message", signs.STATUSES.values()),
        ("priority", signs.PRIORITIES.values()),
        ("delivery", signs.DELIVERIES.values()),
        ("story of a sprint", signs.STORIES.values()),
        ("finding", signs.SEVERITIES.values()),
        ("proof of a decision", PROOFS.values()),
        ("evidence", (sign for sign in MARKS.values() if sign.word)),
        ("shutdown of the team", STAGES.values()),
    )
    rows = ((f"`{sign.glyph}`", owner, sign.word) for owner, group in tables for sign in group)
    return _table(("Sign", "Of", "Means"), (row for row in rows if row[0].strip("` ")))


_PULSES = (
    *(bars.LIVE, bars.READING, bars.POLLING, bars.STALE, bars.LOCKED, bars.DOUBT),
    *(bars.SETTINGS, bars.UNREADABLE, bars.VANISHED),
)


def schemas() -> str:
    """What every verb prints with --json, field by field."""
    parts = []
    for name, schema in read_schemas("results").items():
        rows = list(_fields(schema))
        body = _table(("Field", "Value", "Means"), rows) if rows else "One value for each line; see the guide.\n"
        parts.append(f"## {name}\n\n{body}")
    return "\n".join(parts)


def _command(verb: Verb) -> str:
    parser, own = parser_for(verb), own_arguments(verb)
    explained = f"```text\n{(parser.description or '').strip()}\n```\n"
    return f"## {verb.name}\n\n{explained}" + (f"\n{_arguments(own)}" if own else "")


def _arguments(actions: Iterable[argparse.Action]) -> str:
    rows = ((f"`{written(action)}`", (action.help or "").replace("%%", "%")) for action in actions)
    return _table(("Argument", "Does"), rows)


def written(action: argparse.Action) -> str:
    """An argument as a user types it: `-t, --team LOCATION`."""
    value = value_of(action)
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + (
        "" if action.nargs == 0 else f" [{value}]" if action.nargs == "?" else f" {value}"
    )


def _settings(rows: Iterable[SettingRow]) -> str:
    cells = (
        (", ".join(f"`{name}`" for name in (row.path, *row.also)), row.value, row.default, row.meaning) for row in rows
    )
    return _table(("Setting", "Value", "Without it", "Does"), cells)


def _fields(schema: Shape, path: str = "", depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """The fields of an object; those of objects in it two steps deep."""
    required = schema.get("required", ())
    for name, shape in schema.get("properties", {}).items():
        inner = shape.get("items", shape) if shape.get("type") == "array" else shape
        here = f"{path}{name}" + ("[]" if inner is not shape else "")
        value = _value(shape) + ("" if name in required else ", may be missing")
        yield f"`{here}`", value, shape.get("description", "")
        if depth < 2:
            yield from _fields(inner, f"{here}.", depth + 1)


def _value(shape: Shape) -> str:
    kinds = shape.get("type", "anything")
    names = [_WORDS.get(kind, str(kind)) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    if shape.get("format") == "date-time":
        names[0] = "time"
    if "enum" in shape:
        names[0] = ", ".join(f"`{word}`" for word in shape["enum"])
    return " or ".join(names)


_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "array": "list", "object": "object"}


def _named(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    return _table(head, ((", ".join(f"`{name}`" for name in names.split(", ")), meaning) for names, meaning in rows))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, ending with a newline."""
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *cells))


def _kind_row(kind: MessageKind) -> tuple[str, ...]:
    role = f"opens {kind.opens}" if kind.opens else f"answers {kind.answers}" if kind.answers else ""
    doors = ", ".join(f"`{door}`" for door in kind.entry_point.split(", ")) if kind.entry_point else "read only"
    return f"`{kind.name}`", str(kind.family), kind.direction.replace("->", "→"), role, doors


def _tools() -> Iterator[tuple[str, str]]:
    for tool in asyncio.run(make_server(ActingAgent("anybody", None)).list_tools()):
        yield tool.name, (tool.description or "").strip().partition("\n")[0]


PARTS: Mapping[str, Callable[[], str]] = {
    "verbs": lambda: _named(("Verb", "Does"), ((verb.name, verb.help) for verb in VERBS if verb.group)),
    "commands": lambda: "\n".join(_command(verb) for verb in VERBS if verb.group),
    "everywhere": lambda: _arguments(parser_for(None)._actions),
    "keys": lambda: _table(("Key", "Action", "Where"), ((f"`{key}`", *more) for key, *more in key_rows())),
    "named": lambda: _table(("Name", "Action", "Where"), ((f"`{name}`", *more) for name, *more in keyless_rows())),
    "legend": legend,
    "kinds": lambda: _table(
        ("Kind", "Family", "Direction", "Opens or answers", "Entry point"), map(_kind_row, KINDS.values())
    ),
    "settings": lambda: _settings(setting_rows("")),
    "config": lambda: _settings(CONFIG),
    "environment": lambda: _named(("Variable", "Does"), ENVIRONMENT.items()),
    "files": lambda: _named(("File", "Is"), FILES.items()),
    "exit-statuses": lambda: _named(("Status", "Means"), EXIT_STATUSES.items()),
    "errors": lambda: _named(("Code", "Means"), ERRORS.items()),
    "schemas": schemas,
    "tools": lambda: _named(("Tool", "Does"), _tools()),
}
"""What is made from code: every verb, setting, key and so on, each as a table."""


def parts_in(text: str) -> list[str]:
    """The names of the parts that `text` marks.

    Raises:
        ValueError: When a part is opened and not closed, or marked twice.
    """
    found = []
    for name in PARTS:
        opened, closed = text.count(f"<!-- {name} -->\n"), text.count(f"<!-- /{name} -->")
        if opened != closed or opened > 1:
            raise ValueError(f"a page must mark the part {name!r} once, from <!-- {name} --> to <!-- /{name} -->")
        found += [name] * opened
    return found


def with_parts(text: str) -> str:
    """`text` with every part that it marks made anew."""
    for name in parts_in(text):
        opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(opening)
        text = before + opening + PARTS[name]() + closing + rest.partition(closing)[2]
    return text


def main() -> None:
    """Write every page with its parts and its transcripts made anew, and the man page."""
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = with_transcripts(with_parts(before))
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(ROOT))
    MAN_PAGE.write_text(man_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
