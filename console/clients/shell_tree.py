"""Trees of texts for a shell: tree-sitter with the grammar of bash, at a third of what importing both would cost.

Here-documents are taken out of a text before it is parsed, for the grammar reads several of one line wrongly.
"""

from __future__ import annotations

import re
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tree_sitter import Node, Tree

_LARGEST = 6_000
"""Characters of the largest text that is parsed, without white space and here-documents: a text made for it takes time
and memory with the square of them."""
_MOST_FAILED = 40_000
"""Characters that are parsed in vain, altogether."""
_MOST_HERE_DOCUMENTS = 100
"""Here-documents, and what only looks like one, altogether."""
_JOINED_BEGINNING = re.compile(r"^[ \t]*(?:\\\n[ \t]*)+", re.MULTILINE)
"""Joined lines of which the first is empty: the grammar would join them with the line before."""
_BACKQUOTED = re.compile(r"(?<!\\)`((?:\\.|[^`\\])*)`", re.DOTALL)
_ESCAPED_IN_BACKQUOTES = re.compile(r"\\([$`\\])")
_MOST_BACKQUOTES = 4
"""Substitutions between backquotes within one another that are found."""
_NO_ARITHMETIC = re.compile(r"\((?=\((?![^()]*\)\)))")
"""Begins, before another parenthesis, what may be a subshell in another, or in a substitution."""
_SHIFT = re.compile(r"(\(\([^()\n]*)<<(?=[^()\n]*\)\))")
"""An operator of arithmetic, which the grammar may take for a here-document."""
_BEFORE_BLOCK = re.compile(
    r"(?<![^\s;&|(])(?:(?:!|time(?:[ \t]+-p)?|coproc(?:[ \t]+[A-Za-z_]\w*)?)[ \t]+){1,4}"
    r"(?=[{(]|case\s|function\s|[\w.:-]+[ \t]*\(\))"
    r"|(?<![^\s;&|(])[\w.:-]+[ \t]*\(\)\s*(?=(?:case|while|until|select)\s)"
)
"""Words before a block that the grammar does not know there; also the name of a function of which the body is no block:
it is read as if it ran at once.
"""
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(-?)(?![<=])[ \t]*((?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()'\"\\])+)")
_EXPANDED = re.compile(r"\$[{(]|`")
"""Begins what may run something in a here-document; the value of a variable alone runs nothing."""
_HERE_DOCUMENT_NODE = "heredoc_redirect"
_LAST_LINE = "\4"
"""Ends a here-document, since no line of one is this."""
_PARSERS: list[Any] = []
"""The one parser, once it was needed."""


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


def expansions_in(document: str) -> list[str]:
    """Return what is expanded in a here-document that is not quoted; all of it where that cannot be told."""
    if _EXPANDED.search(document) is None:
        return []
    if len(document) > _LARGEST:
        return [document]
    source = _encoded(f"cat <<{_LAST_LINE}\n{document}\n{_LAST_LINE}\n")
    root = parse(source).root_node
    body = next((node for node in _nodes_in(root) if node.type == "heredoc_body"), None)
    if root.has_error:
        return [document]
    parts = body.named_children if body is not None else []
    return [_text_of(source, node) for node in parts if node.type != "heredoc_content"]


class ParsedText:
    """A text for a shell and its tree.

    Attributes:
        number: Tells its nodes from those of other texts.
        source: The text without its here-documents.
        documents: Place of the operator in the source, in bytes -> the here-document, and whether it is quoted.
        root: The whole tree.
        redirections: From files and into files, and here-documents that were not taken out.
        is_whole: Whether the tree has all of the text.
    """

    def __init__(self, number: int, source: bytes, documents: dict[int, tuple[str, bool]]) -> None:
        self.number, self.source, self.documents = number, source, documents
        self.root = parse(source).root_node
        nodes = [*_nodes_in(self.root)]
        self.redirections = [node for node in nodes if node.type in ("file_redirect", _HERE_DOCUMENT_NODE)]
        # The grammar takes a here-string behind another redirection for a file, and its sign for an error.
        suspects = [child for node in nodes if node.has_error for child in (node, *node.children)]
        wrong = [node for node in suspects if node.is_error or node.is_missing]
        self.is_whole = all(self.text_of(node) == "<<" for node in wrong) and all(
            node.type != _HERE_DOCUMENT_NODE for node in self.redirections
        )

    def text_of(self, node: Node) -> str:
        """Return what stands in the source for a node."""
        return _text_of(self.source, node)


class TextParser:
    """Parses texts for a shell, until that takes too long: what it parses has a largest size."""

    def __init__(self) -> None:
        self._text_count = self._failed_size = self._document_count = 0

    def parse(self, text: str) -> ParsedText | None:
        """Return the tree of a text; None where it would take too long."""
        for _ in range(_MOST_BACKQUOTES):  # of which the grammar knows but the simplest
            text = _BACKQUOTED.sub(_in_parentheses, text)
        parsed = self._parse_once(text)
        if parsed is not None and not parsed.is_whole and "((" in text:
            again = self._parse_once(_NO_ARITHMETIC.sub("( ", text))
            parsed = again if again is not None and again.is_whole else parsed
        return parsed

    def _parse_once(self, text: str) -> ParsedText | None:
        """Return the tree of a text after what the grammar reads wrongly is written otherwise; None as for `parse`.

        An operator of a here-document that the tree has as something else, as in a string, begins none: it is put back
        into the text, which is parsed again.
        """
        text = _JOINED_BEGINNING.sub(lambda match: match[0].replace("\\\n", "  "), text)
        text = _SHIFT.sub(r"\1+ ", text)
        text = _BEFORE_BLOCK.sub(lambda match: " " * len(match[0]), text)
        plain: set[int] = set()  # operators that after all begin no here-document
        while True:
            source, documents = self._without_documents(text, plain)
            size = sum(map(len, source.split()))
            # guard: shell-large-text-cut
            if size > _LARGEST or self._document_count > _MOST_HERE_DOCUMENTS or self._failed_size > _MOST_FAILED:
                return None
            self._text_count += 1
            operators = {len(_encoded(source[:at])): at for at in documents}  # place in bytes -> in characters
            by_byte = {byte: documents[at] for byte, at in operators.items()}
            parsed = ParsedText(self._text_count, _encoded(source), by_byte)
            seen = {child.start_byte for node in parsed.redirections for child in node.children}
            wrong = next((at for byte, at in operators.items() if byte not in seen), None)
            if wrong is None:
                self._failed_size += 0 if parsed.is_whole else size
                return parsed
            plain.add(wrong)

    def _without_documents(self, text: str, plain: set[int]) -> tuple[str, dict[int, tuple[str, bool]]]:
        """Blank out the here-documents of a text.

        Args:
            plain: Places where no here-document begins, though it looks so.

        Returns:
            The text with blanks in their place; place of each operator -> the here-document, and whether it is quoted.
        """
        pieces: list[str] = []
        documents: dict[int, tuple[str, bool]] = {}
        at = 0
        while at < len(text):  # a line, with those that are joined to it, and the documents that follow it
            end = text.find("\n", at) + 1 or len(text)
            while text.endswith("\\\n", at, end) and end < len(text):
                end = text.find("\n", end) + 1 or len(text)
            behind = end  # where the line, or the last document of it, ends
            for match in _HERE_DOCUMENT.finditer(text, at, end):
                word = re.sub(r"['\"\\]", "", match[2])
                if match.start() in plain or self._document_count > _MOST_HERE_DOCUMENTS:
                    continue
                self._document_count += 1
                tabs = r"\t*" if match[1] else ""
                ending = re.compile(rf"^{tabs}{re.escape(word)}$", re.MULTILINE).search(text, behind)
                if ending is None:
                    continue
                documents[match.start()] = (
                    text[behind : ending.start()],
                    word != match[2],
                )  # quoted: a sign was left out
                behind = min(ending.end() + 1, len(text))
                operator = f"<<{match[1]}"  # in its place `<` reads from a file of this name
                pieces += [text[at : match.start()], "<".ljust(len(operator))]
                at = match.start() + len(operator)
            pieces += [text[at:end], " " * (behind - end)]
            at = behind
        return "".join(pieces), documents


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _in_parentheses(backquoted: re.Match[str]) -> str:
    inner = _ESCAPED_IN_BACKQUOTES.sub(r"\1", backquoted[1])
    return f"$( {inner})"


def _text_of(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _nodes_in(root: Node) -> Iterator[Node]:
    """Yield every node that has children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (child for child in node.children if child.child_count)
