"""Parser of texts for a shell: tree-sitter with the grammar of bash, at a third of what importing both would cost."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tree_sitter import Node, Tree

_PARSERS: list[Any] = []


def parse(source: bytes) -> Tree:
    """Parse a text as bash reads it."""
    if not _PARSERS:
        binding = _extension("tree_sitter")
        _PARSERS.append(binding.Parser(binding.Language(_extension("tree_sitter_bash").language())))
    tree: Tree = _PARSERS[0].parse(source)
    return tree


def nodes_in(root: Node) -> Iterator[Node]:
    """Yield every node that has children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (child for child in node.children if child.child_count)


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


def is_read(node: Node) -> bool:
    """Return whether a redirection says what a command reads."""
    is_input = node.type == "file_redirect" and any(child.type[:1] == "<" for child in node.children)
    return is_input or node.type == "herestring_redirect"


def stands_for_file(node: Node) -> bool:
    """Return whether an argument is what other commands print."""
    return node.type == "process_substitution" and node.children[0].type[:1] == "<"
