"""The parts of README.md that are made from code or by running it; `python -m tests.readme` writes them anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from team_console.store.protocol.kinds.kind import Kind

README = Path(__file__).resolve().parents[1] / "README.md"


def kinds() -> str:
    """Every kind of message."""
    from team_console.store.protocol.kinds.registry import KINDS

    return _table(("Kind", "Family", "Direction", "Opens or answers", "Door"), map(_kind_row, KINDS.values()))


def keys() -> str:
    """Every key of the console."""
    from team_console.console.input.action import written_key
    from team_console.console.input.actions import ACTIONS
    from team_console.console.input.subject import Mode

    def where(modes: Collection[Mode]) -> str:
        return ", ".join(mode.label for mode in Mode if mode in modes) or "everywhere"

    rows = ((f"`{written_key(action.keys[0])}`", action.help, where(action.modes)) for action in ACTIONS)
    return _table(("Key", "Action", "Where"), rows)


def verbs() -> str:
    """Every verb of the command line."""
    from team_console.console.cli.registry import VERBS

    return _table(("Verb", "Does"), ((f"`{verb.name}`", verb.help) for verb in VERBS if verb.group))


def settings() -> str:
    """Every setting of a team."""
    from team_console.console.cli.manual.settings_reference import setting_rows

    rows = (
        (", ".join(f"`{name}`" for name in (row.path, *row.also)), row.value, row.default, row.meaning)
        for row in setting_rows()
    )
    return _table(("Setting", "Value", "Without it", "Does"), rows)


def tools() -> str:
    """Every tool of the MCP server."""
    from team_console.console.mcp.acting_agent import ActingAgent
    from team_console.console.mcp.server import make_server

    described = asyncio.run(make_server(ActingAgent("anybody")).list_tools())
    rows = ((f"`{tool.name}`", (tool.description or "").strip().partition("\n")[0]) for tool in described)
    return _table(("Tool", "Does"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, ending with a newline."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


def _kind_row(kind: Kind) -> tuple[str, ...]:
    role = f"opens {kind.opens}" if kind.opens else f"answers {kind.answers}" if kind.answers else ""
    doors = ", ".join(f"`{door}`" for door in kind.entry_point.split(", ")) if kind.entry_point else "read only"
    return f"`{kind.name}`", str(kind.family), kind.direction.replace("->", "→"), role, doors


PARTS: Mapping[str, Callable[[], str]] = {
    "verbs": verbs,
    "keys": keys,
    "kinds": kinds,
    "settings": settings,
    "tools": tools,
}


def with_parts(text: str) -> str:
    """`text` with every marked part made anew."""
    for name, make in PARTS.items():
        opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if text.count(opening) != 1 or text.count(closing) != 1:
            raise ValueError(f"README.md must mark the part {name!r} exactly once")
        before, _, rest = text.partition(opening)
        text = before + opening + make() + closing + rest.partition(closing)[2]
    return text


def main() -> None:
    """Write README.md with its parts and its transcripts made anew."""
    from tests.transcripts import with_transcripts

    README.write_text(with_transcripts(with_parts(README.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
