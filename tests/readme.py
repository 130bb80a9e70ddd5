"""The parts of README.md that are made from code or by running it; `python -m tests.readme` writes them anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def kinds() -> str:
    """Every kind of message."""
    from team_console.store.protocol.kinds.kind_table import kinds_table

    return kinds_table()


def keys() -> str:
    """Every key of the console."""
    from team_console.console.input.actions import keys_table

    return keys_table()


def verbs() -> str:
    """Every verb of the command line."""
    from team_console.console.cli.registry import VERBS

    lines = ["| Verb | Does |", "| --- | --- |"]
    lines += [f"| `{verb.name}` | {verb.help} |" for verb in VERBS if verb.group]
    return "\n".join(lines) + "\n"


def settings() -> str:
    """Every setting of a team."""
    from team_console.console.cli.manual.settings_reference import settings_markdown

    return settings_markdown()


def tools() -> str:
    """Every tool of the MCP server."""
    from team_console.console.mcp.seat import Seat
    from team_console.console.mcp.server import make_server

    described = asyncio.run(make_server(Seat("anybody")).list_tools())
    first = [(tool.name, (tool.description or "").strip().partition("\n")[0]) for tool in described]
    return "\n".join(["| Tool | Does |", "| --- | --- |", *(f"| `{name}` | {words} |" for name, words in first)]) + "\n"


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
