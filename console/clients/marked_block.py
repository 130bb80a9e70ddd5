"""A marked block: lines of ours in a text file of somebody else, which a number tells from lines that were changed."""

from __future__ import annotations

import re
import zlib

from team_console.console.clients.json_editing import NotEditable

_BLOCK = r"<!-- team-console: {0} (\w+) [^\n]*-->\n(.*?)\n<!-- /team-console: {0} -->"
"""The block of a member: its number, and its lines."""


def block_of(name: str, body: str) -> str:
    """Return the lines of a block of the member `name`, between comments of Markdown."""
    opening = f"<!-- team-console: {name} {_number(body)} (this block is written by 'team-console join') -->"
    return f"{opening}\n{body.rstrip()}\n<!-- /team-console: {name} -->"


def _number(body: str) -> str:
    """Return what tells the lines of a block from changed ones: their checksum."""
    return f"{zlib.crc32(body.rstrip().encode()):08x}"


def with_block(text: str, block: str) -> str:
    """Return the text with the block at its end, behind a line end that goes with it."""
    return f"{text}\n{block}\n" if text else f"{block}\n"


def put_together(before: str, behind: str) -> str:
    """Join the texts before and behind our lines; a last line without a line end gets one."""
    return f"{before}\n{behind}" if before and behind and not before.endswith("\n") else before + behind


def without_block(text: str, name: str) -> str:
    """Return the text without the block of the member `name`, and without the line end that was put before it.

    Raises:
        NotEditable: Somebody changed the block.
    """
    found = re.search(rf"\n?{_BLOCK.format(re.escape(name))}\n?", text, re.DOTALL)
    if found is None or found[1] != _number(found[2]):
        if name in members_named(text):
            raise NotEditable("what a join wrote was changed there; take it out by hand")
        return text
    return put_together(text[: found.start()], text[found.end() :])


def members_named(text: str) -> list[str]:
    """Return the members whose blocks stand in the text."""
    return re.findall(r"^<!-- /?team-console: (\S+)", text, re.MULTILINE)
