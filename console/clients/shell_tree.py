"""Pieces of a text for a shell, parsed by tree-sitter, which knows the grammar of bash."""

from __future__ import annotations

import re
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from typing import Any

    from tree_sitter import Node, Tree

DOCUMENT = re.compile(r"(?<!<)<<(-?)(?![<=])[ \t]*((?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()'\"\\])+)")
_KEYWORD = re.compile(rb"(?:time(?:[ \t]+-p)?|coproc(?:[ \t]+\w+(?=[ \t]+[{(]))?)(?=\s)")
"""Keywords that the grammar takes for commands, so that it misses what they hold."""
_MOST_KEYWORDS = 8
"""Times that a piece is parsed anew without its keywords: each may stand behind another."""


class Piece:
    """A piece of a text as it was parsed.

    Attributes:
        source: Its bytes, with here-documents taken out.
        bodies: Place of each operator of a here-document -> its text, and whether it was quoted.
    """

    def __init__(self, source: str, documents: list[tuple[int, str, bool]]) -> None:
        self.source = source.encode("utf-8", "replace")
        self.bodies = {len(source[:at].encode("utf-8", "replace")): (body, quoted) for at, body, quoted in documents}


def document_at(text: str, at: int, match: re.Match[str]) -> tuple[str, int] | None:
    """Return a here-document that begins at the line `at`, and where the text goes on; None where it has no end."""
    word = re.sub(r"['\"\\]", "", match[2])
    tabs = r"\t*" if match[1] else ""
    found = re.compile(rf"^{tabs}{re.escape(word)}$", re.MULTILINE).search(text, at)
    if found is None:
        return None
    return text[at : found.start()], min(found.end() + 1, len(text))


def parse_piece(piece: Piece) -> Tree:
    """Parse a piece, with what stands before a whole command blanked out."""
    for _ in range(_MOST_KEYWORDS):
        tree = parse(piece.source)
        source = bytearray(piece.source)
        waiting = [tree.root_node]
        while waiting:
            node = waiting.pop()
            match = _KEYWORD.match(piece.source, node.start_byte) if node.type == "command_name" else None
            if match is not None:
                source[match.start() : match.end()] = b" " * len(match[0])
            waiting += (child for child in node.children if child.child_count)
        if source == piece.source:
            break
        piece.source = bytes(source)
    return tree


def operators_in(root: Node) -> dict[int, str]:
    """Return the kinds of redirections of input, by the place of their operator."""
    found: dict[int, str] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in ("file_redirect", "heredoc_redirect"):
            found |= {child.start_byte: node.type for child in node.children if child.type[:1] == "<"}
        waiting += (child for child in node.children if child.child_count)
    return found


_PARSERS: list[Any] = []


def parse(source: bytes) -> Tree:
    """Parse a text as bash reads it."""
    if not _PARSERS:
        binding = _extension("tree_sitter")
        _PARSERS.append(binding.Parser(binding.Language(_extension("tree_sitter_bash").language())))
    tree: Tree = _PARSERS[0].parse(source)
    return tree


def _extension(package: str) -> Any:
    """Import the compiled half of a package alone: the rest of both imports what costs three times as much."""
    found = PathFinder.find_spec(package)
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    inner = PathFinder.find_spec(f"{package}._binding", folders)
    if inner is None or inner.loader is None:
        raise ImportError(f"no compiled half of {package} in {folders} for {sys.implementation.cache_tag}")
    module = inner.loader.create_module(inner)
    assert module is not None
    inner.loader.exec_module(module)
    return module
