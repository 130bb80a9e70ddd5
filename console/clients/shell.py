"""Commands in a text for a shell: every command that it can run, as far as the text itself says it.

The text is read by tree-sitter, which knows the grammar of bash. What does not parse is cut at everything that can end
a command, so that rather too many commands are seen than too few. Time and memory grow with the length of the text:
pieces that are parsed have a largest size, and repeated expansions an end; what goes beyond is cut as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from team_console.console.clients.shell_programs import (
    UNKNOWN,
    arguments_of,
    program_of,
    reads_commands,
    started_by,
    subcommand_at,
)
from team_console.console.clients.shell_tree import DOCUMENT, Piece, document_at, operators_in, parse, parse_piece

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from tree_sitter import Node

_PIECE = 3_000
"""Characters from which on a piece is parsed at the next end of a line."""
_LARGEST_PIECE = 6_000
"""Characters of the largest piece that is parsed: a text made for it takes time and memory with the square of them."""
_MOST_FAILED = 40_000
"""Characters that are parsed in vain, altogether."""
_MOST_DOCUMENTS = 100
"""Here-documents in one piece."""
_DEEPEST = 8
"""Texts within texts, functions within functions, wrappers within wrappers that are followed."""
_MOST_WORDS = 2_000
"""Words of what does not parse at which a command may begin."""
_MOST_CHOICES = 64
"""Values of variables that are tried in one command."""
_JOINED_BEGINNING = re.compile(r"^[ \t]*(?:\\\n[ \t]*)+", re.MULTILINE)
"""Joined lines of which the first is empty: the grammar would join them with the line before."""
_ENDS = re.compile(r"[;|&()\n`]|[{}](?=[\s;]|$)|(?<=\s)\{")
_REDIRECTION = re.compile(r"\d*[<>]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ESCAPED = re.compile(r"\\(\n?)(.?)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_VARIABLE = re.compile(r"\$\{?(\w+|[@*])(\[[^\]]*\])?(:?[-=+])?")
_ESCAPED_IN_DOCUMENT = re.compile(r"\\([$`\\])")
_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "f": "\f", "v": "\v"}
_TEXT_IN = re.compile(r"(?:\w+_)?(?:COMMAND|EDITOR|PAGER|VISUAL|ASKPASS|EXTERNAL_DIFF)$")
"""Variables whose value other programs run."""
_MAYBE = frozenset(
    ("if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement", "list")
)
"""What may run or not: a variable may have its value of before all the same."""
_INNER_SHELL = frozenset(("subshell", "command_substitution", "process_substitution"))
_STATEMENTS = frozenset(("pipeline", "redirected_statement", "command"))


class Command:
    """One command of a shell.

    Attributes:
        words: From the program on; `UNKNOWN` stands in them for what is known only when it runs.
        targets: Files into which its output is redirected.
        folder: In which it runs.
    """

    def __init__(self, words: list[str], targets: list[str], folder: str) -> None:
        self.words, self.targets, self.folder = words, targets, folder

    def is_of(self, wanted: Sequence[str]) -> bool:
        """Return whether this is the `wanted` command: program, subcommands, and options anywhere behind them."""
        words, at = self.words, 0
        for number, name in enumerate(wanted):
            if name[:1] == "-":
                if not any(_is_option(word, name) for word in words[at:]):
                    return False
                continue
            at = subcommand_at(words, at) if number else 0
            if at >= len(words) or words[at].replace(UNKNOWN, "") != name:
                return False
            at += 1
        return True


def commands_in(text: str, folder: str) -> list[Command]:
    """Return the commands of a text for a shell that begins in `folder`, with those that they start."""
    reader = _Reader(len(text), folder)
    reader.read(text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n"))
    return reader.found


def _is_option(word: str, wanted: str) -> bool:
    """Return whether a word is this option, joined with others, or shortened as programs of GNU and git allow."""
    if wanted[:2] == "--":
        return len(word) > 4 and wanted.startswith(word.partition("=")[0])
    is_letter = len(wanted) == 2 and word[:1] == "-" != word[1:2]
    return word == wanted or (is_letter and wanted[1] in word)


class _Statement:
    """One pipeline: the texts that its commands read, whether one runs them, and the commands that take their words."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_run = False
        self.takers: list[list[str]] = []


class _Reader:
    """Reads texts for a shell, one within another."""

    def __init__(self, length: int, folder: str) -> None:
        self.found: list[Command] = []
        self._folder = folder
        self._budget = 8 * length + 100_000
        self._failed = self._unended = 0
        self._depth = 0
        self._maybe = 0
        self._statement: _Statement | None = None
        self._piece = Piece("", [])
        self._variables: dict[str, list[list[str]]] = {"HOME": [[os.path.expanduser("~")]], "PWD": [[folder]]}
        self._changes: list[tuple[str, list[list[str]] | None]] = []
        self._functions: dict[str, tuple[Piece, Node]] = {}
        self._aliases: dict[str, str] = {}
        self._words_behind: dict[int, list[Node]] = {}
        self._choice = self._choices = 0
        self._chosen: dict[str, list[str]] = {}

    def read(self, text: str) -> None:
        """Find the commands of a text."""
        # guard: shell-work-bounded
        if self._depth >= _DEEPEST or self._budget < 0:
            self._cut(text)
            return
        self._budget -= len(text)
        text = _JOINED_BEGINNING.sub(lambda match: match[0].replace("\\\n", "  "), text)
        kept = self._piece, self._statement
        self._depth += 1
        start = 0
        while start < len(text):
            start = self._read_piece(text, start)
        self._depth -= 1
        self._piece, self._statement = kept

    def _read_piece(self, text: str, start: int) -> int:
        """Read the piece of `text` that begins at `start`; returns where the next begins."""
        plain: set[int] = set()  # operators that after all begin no here-document
        least = _PIECE
        while True:
            source, documents, places, end = self._gathered(text, start, plain, least)
            is_too_large = len(source) > _LARGEST_PIECE or len(documents) > _MOST_DOCUMENTS
            # guard: shell-large-text-cut
            if is_too_large or self._unended > _MOST_DOCUMENTS or self._failed > _MOST_FAILED:
                self._cut(text[start:])
                return len(text)
            piece = Piece(source, documents)
            root = parse_piece(piece).root_node
            operators = operators_in(root)
            is_read = not root.has_error and "heredoc_redirect" not in operators.values()
            wrong = [place for at, place in zip(piece.bodies, places, strict=True) if at not in operators]
            self._failed += 0 if is_read else len(source)
            if wrong:
                plain.add(wrong[0])
            elif is_read:
                self._walk(piece, root)
                return end
            elif end < len(text) and len(source) < _LARGEST_PIECE:
                least = len(source) + 1
            else:
                self._walk(piece, root)
                self._cut(text[start:end])
                return end

    def _gathered(
        self, text: str, start: int, plain: set[int], least: int
    ) -> tuple[str, list[tuple[int, str, bool]], list[int], int]:
        """Gather whole lines, with here-documents taken out.

        Args:
            plain: Places in `text` where no here-document begins, though it looks so.
            least: Characters to gather, as far as there are so many.

        Returns:
            The lines; of each here-document its place there, its text, and whether it is quoted; their places in
            `text`; and where the next piece begins.
        """
        lines: list[str] = []
        documents: list[tuple[int, str, bool]] = []
        places: list[int] = []
        length, at = 0, start
        while at < len(text) and length < least:
            end = text.find("\n", at) + 1 or len(text)
            while text.endswith("\\\n", at, end) and end < len(text):
                end = text.find("\n", end) + 1 or len(text)
            line, at_line, at = text[at:end], at, end
            for match in DOCUMENT.finditer(line):
                place = at_line + match.start()
                is_plain = place in plain or self._unended > _MOST_DOCUMENTS or len(documents) > _MOST_DOCUMENTS
                found = None if is_plain else document_at(text, at, match)
                if found is None:
                    self._unended += not is_plain
                    continue
                body, at = found
                word = match[2]
                documents.append((length + match.start(), body, any(mark in word for mark in "'\"\\")))
                places.append(place)
                mask = "<".ljust(2 + len(match[1]))
                line = line[: match.start()] + mask + line[match.start() + len(mask) :]
            lines.append(line)
            length += len(line)
        return "".join(lines), documents, places, at

    # Texts that do not parse.

    def _cut(self, text: str) -> None:
        """Take what follows on anything that can end a command for a command, whatever quotes and comments say."""
        plain = re.sub(r"['\"\\]", "", text.replace("\\\n", ""))
        for piece in _ENDS.split(_BRACES.sub(lambda match: match[1].replace(",", " "), plain)):
            words = [word for word in piece.replace("$", " ").split() if _REDIRECTION.match(word) is None]
            at = 0
            while at < len(words) and re.match(r"\w+=|[{!]$", words[at]):
                at += 1
            is_started = False
            for first in range(at, min(at + _MOST_WORDS, len(words))):
                command = [program_of(words[first]), *words[first + 1 : first + 64]]
                self.found.append(Command(command, [], self._folder))
                is_started = is_started or next(started_by(command), None) is not None
                if not is_started:
                    break

    # Texts that parse: a walk over the tree, without recursion, for it may be deep.

    def _walk(self, piece: Piece, node: Node) -> None:
        before, self._piece = self._piece, piece
        open_nodes: list[Node | Callable[[], None]] = [node]
        while open_nodes:
            current = open_nodes.pop()
            if callable(current):
                current()
                continue
            ends, children = self._visit(current)
            open_nodes += ends
            open_nodes += reversed(children)
        self._piece = before

    def _visit(self, node: Node) -> tuple[list[Callable[[], None]], list[Node]]:
        """Read one node; returns what is to be done once its children are read, and those of them that are to be."""
        kind, ends = node.type, list[Callable[[], None]]()
        children = [child for child in node.children if child.child_count]
        if kind in _STATEMENTS and self._statement is None:
            ends.append(self._begin_statement())
        if kind in _INNER_SHELL or kind == "function_definition":
            ends.append(self._begin_shell())
        if kind in _MAYBE:
            self._maybe += 1
            ends.append(self._end_maybe)
        if kind == "command":
            self._read_command(node)
        elif kind == "variable_assignment":
            self._read_assignment(node)
        elif kind == "declaration_command":
            self._read_declaration(node)
        elif kind == "for_statement":
            self._read_loop(node)
        elif kind == "expansion":
            self._read_default(node)
        elif kind == "function_definition":
            self._read_function(node)
        elif kind == "redirected_statement":
            self._read_redirected(node)
        elif kind == "file_redirect":
            self._read_redirection(node)
        elif kind == "herestring_redirect" and self._statement is not None:
            self._statement.texts += (" ".join(fields) for fields in self._values(node.children[1:]))
        return ends, children

    def _begin_statement(self) -> Callable[[], None]:
        statement = self._statement = _Statement()

        def end() -> None:
            self._statement = None
            for text in statement.texts if statement.is_run else ():
                self.read(text)
            for words in statement.takers[:_MOST_CHOICES]:
                for text in statement.texts[:_MOST_CHOICES]:
                    self._start([*words, *text.split()])

        return end

    def _begin_shell(self) -> Callable[[], None]:
        mark, folder = len(self._changes), self._folder

        def end() -> None:
            self._folder = folder
            while len(self._changes) > mark:
                name, value = self._changes.pop()
                if value is None:
                    self._variables.pop(name, None)
                else:
                    self._variables[name] = value

        return end

    def _end_maybe(self) -> None:
        self._maybe -= 1

    def _set(self, name: str, values: list[list[str]], *, more: bool = False) -> None:
        before = self._variables.get(name)
        self._changes.append((name, before))
        kept = before if before is not None and (more or self._maybe) else []
        self._variables[name] = [*kept, *values][-_MOST_CHOICES:]

    def _text(self, node: Node) -> str:
        return self._piece.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _read_assignment(self, node: Node, *, more: bool = False) -> None:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if named is None:
            return
        name, is_added = self._text(named).partition("[")[0], node.children[1].type == "+="
        if value is not None and value.type == "array":
            values = list(self._values(value.children[1:-1]))
        else:
            values = [[" ".join(fields)] for fields in self._values([value], is_quoted=True)] if value else [[""]]
        if is_added:
            before = self._variables.get(name, [[]])[-1]
            is_list = value is not None and value.type == "array"
            values = [[*before, *more] if is_list else ["".join((*before, *more))] for more in values]
        self._set(name, values, more=more)
        if _TEXT_IN.match(name):
            for fields in values:
                self.read(" ".join(fields))

    def _read_declaration(self, node: Node) -> None:
        for child in node.children:
            if child.type in ("string", "raw_string", "concatenation"):
                for fields in self._values([child]):
                    name, equals, value = "".join(fields).partition("=")
                    if equals:
                        self._set(name, [[value]])

    def _read_default(self, node: Node, *, is_command: bool = False) -> None:
        """Read what stands in for a variable without a value; the grammar takes all of it for words."""
        match = _VARIABLE.match(self._text(node))
        if match is not None and match[3]:
            text = self._text(node)[match.end() : -1]
            if is_command or any(mark in text for mark in ("$(", "`", "<(", ">(")):
                self.read(text)

    def _read_loop(self, node: Node) -> None:
        named = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        if named is not None and values:
            words = {field: None for fields in self._values(values) for field in fields}
            self._set(self._text(named), [[word] for word in list(words)[:_MOST_CHOICES]])

    def _read_function(self, node: Node) -> None:
        named, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if named is not None and body is not None:
            self._functions[self._text(named)] = self._piece, body
        self._set_arguments("", [UNKNOWN])

    def _set_arguments(self, name: str, arguments: list[str]) -> None:
        self._changes += [(key, self._variables.get(key)) for key in ("@", "*", *"0123456789")]
        for number in range(10):
            known = [name, *arguments][number : number + 1]
            self._variables[str(number)] = [known or ([UNKNOWN] if UNKNOWN in arguments else [""])]
        self._variables["@"] = self._variables["*"] = [list(arguments)]

    def _read_redirected(self, node: Node) -> None:
        """Note the words of a command that stand behind its redirections: the grammar takes them for more files."""
        body = node.child_by_field_name("body")
        if body is not None and body.type == "command":
            files = [child.children_by_field_name("destination") for child in node.children]
            self._words_behind[body.start_byte] = [word for words in files for word in words[1:]]

    def _read_redirection(self, node: Node) -> None:
        operator = next((child for child in node.children if "<" in child.type or ">" in child.type), None)
        if operator is None:
            return
        body = self._piece.bodies.get(operator.start_byte)
        if body is not None:
            text, is_quoted = body
            if self._statement is not None:
                self._statement.texts.append(text)
            if not is_quoted:
                self._read_expansions(text)
            return
        if ">" in operator.type:
            for fields in self._values(node.children_by_field_name("destination")[:1]):
                if fields and not fields[0].isdigit() and fields[0] != "-":
                    self.found.append(Command([""], fields[:1], self._folder))

    def _read_expansions(self, text: str) -> None:
        """Read the substitutions in the text of a here-document that is not quoted."""
        kept, self._statement = self._statement, None
        text = _ESCAPED_IN_DOCUMENT.sub(lambda match: match[0] if match[1] == "\\" else "  ", text)
        parts = text.split("`")  # the grammar does not know them here
        is_plain = len(parts) % 2 and "$(" not in text
        for part in parts[1::2] if is_plain else parts[:] if len(parts) > 1 else ():
            self.read(part)
        if "$(" in text:
            self._read_document(text)
        self._statement = kept

    def _read_document(self, text: str) -> None:
        word = "END_OF_THE_DOCUMENT"
        source = f"cat <<{word}\n{text}\n{word}\n"
        if len(source) > _LARGEST_PIECE or word in text or self._failed > _MOST_FAILED:
            self._cut(text)
            return
        tree = parse(source.encode("utf-8", "replace"))
        if tree.root_node.has_error:
            self._failed += len(source)
            self._cut(text)
        self._walk(Piece(source, []), tree.root_node)

    # Commands.

    def _read_command(self, node: Node) -> None:
        parts: list[Node] = []
        for child in node.children:
            if child.type == "variable_assignment":
                self._read_assignment(child, more=True)
            elif child.type == "command_name":
                parts += child.children or [child]
            elif "redirect" not in child.type and child.type != "$":
                parts.append(child)
        parts += self._words_behind.pop(node.start_byte, ())
        if parts and parts[0].type == "expansion":
            self._read_default(parts[0], is_command=True)
        for words in self._values(parts):
            if words:
                self._start(words)

    def _start(self, words: list[str]) -> None:
        """Note a command, and what it starts."""
        waiting = [(words, 0)]
        while waiting:
            given, level = waiting.pop()
            self._budget -= len(given)
            if not given or level > 2 * _DEEPEST or self._budget < 0:
                self._cut(" ".join(given))
                continue
            command = [program_of(given[0]), *given[1:]]
            self.found.append(Command(command, [], self._folder))
            self._note(given, command)
            for started in started_by(command):
                if isinstance(started, str):
                    self._read_text(command, started)
                elif started:
                    waiting.append((started, level + 1))

    def _read_text(self, command: list[str], text: str) -> None:
        end = self._begin_shell()
        given = arguments_of(command)
        if given:
            self._set_arguments(given[0], given[1:])
        self.read(text)
        end()

    def _note(self, given: list[str], command: list[str]) -> None:
        """Follow what a command means for those after it, and for the pipeline in which it stands."""
        name, statement = command[0], self._statement
        if name in ("cd", "pushd") and len(command) > 1:
            self._folder = os.path.join(self._folder, os.path.expanduser(command[-1]))
        elif name == "set" and len(command) > 1 and (command[1] == "--" or command[1][:1] not in "-+"):
            self._set_arguments(UNKNOWN, command[2:] if command[1] == "--" else command[1:])
        elif name == "alias":
            for word in command[1:]:
                alias, equals, value = word.partition("=")
                if equals:
                    self._aliases[alias] = value
                    self.read(value)
        elif given[0] in self._aliases and self._depth < _DEEPEST:
            quoted = (" '" + word.replace("'", "'\\''") + "'" for word in command[1:])
            self.read(self._aliases[given[0]] + "".join(quoted))
        elif given[0] in self._functions and self._depth < _DEEPEST and len(command) > 1:
            self._call(given[0], command[1:])
        elif name in ("echo", "printf") and statement is not None:
            statement.texts.append(_printed(command))
        elif name == "xargs" and statement is not None:
            statement.takers += (found for found in started_by(command) if isinstance(found, list))
        if statement is not None and reads_commands(command):
            statement.is_run = True

    def _call(self, name: str, arguments: list[str]) -> None:
        piece, body = self._functions[name]
        self._budget -= body.end_byte - body.start_byte
        if self._budget < 0:
            return
        end = self._begin_shell()
        kept, self._statement = self._statement, None
        self._depth += 1
        self._set_arguments(name, arguments)
        self._walk(piece, body)
        self._depth -= 1
        self._statement = kept
        end()

    # Words: what they are when the command runs.

    def _values(self, nodes: Sequence[Node], *, is_quoted: bool = False) -> Iterator[list[str]]:
        """Yield the fields of words, once for each choice among the values that their variables can have.

        Args:
            is_quoted: Whether each word becomes one field, as within quotes.
        """
        choice = 0
        while True:
            self._choice, self._choices, self._chosen = choice, 1, {}
            fields: list[str] = []
            end = -1
            for node in nodes:
                found = self._fields(node, is_quoted=is_quoted)
                self._budget -= sum(map(len, found))
                gap = self._piece.source[end : node.start_byte] if 0 <= end <= node.start_byte else b" "
                if fields and found and not gap.replace(b"\\\n", b""):
                    fields[-1] += found.pop(0)
                fields += found
                end = node.end_byte
            choices = self._choices
            yield fields
            choice += 1
            if choice >= min(choices, _MOST_CHOICES) or self._budget < 0:
                return

    def _fields(self, node: Node, depth: int = 0, *, is_quoted: bool = False) -> list[str]:
        """Return the words that a node becomes; within quotes it is one."""
        kind, text = node.type, ""
        if depth > 20:
            return [UNKNOWN]
        if kind in ("concatenation", "command_name", "string", "translated_string"):
            fields = self._joined(node, depth, is_quoted=is_quoted or kind == "string")
            return fields if kind != "concatenation" else _braced(fields, self._text(node))
        if kind in ("simple_expansion", "expansion"):
            return self._expanded(node, depth, is_quoted=is_quoted)
        if kind == "command_substitution":
            printed = self._printed_in(node, depth)
            return [printed] if is_quoted else printed.split()
        if kind in ("process_substitution", "arithmetic_expansion"):
            return [UNKNOWN]
        text = self._text(node)
        if kind == "raw_string":
            return [text[1:-1]]
        if kind == "ansi_c_string":
            return [_ANSI.sub(_ansi, text[2:-1])]
        if kind == "string_content":
            return [_ESCAPED_IN_QUOTES.sub(lambda match: match[1].strip("\n"), text)]
        if kind == "brace_expression":
            return [text]
        return _braced([_ESCAPED.sub(lambda match: match[2], text)], text)

    def _joined(self, node: Node, depth: int, *, is_quoted: bool) -> list[str]:
        """Return the fields of parts that stand side by side; within quotes all are one."""
        fields = [""]
        end = node.start_byte + (1 if node.type == "string" else 0)
        for child in node.children:
            if node.type == "string" and child.start_byte > end:
                fields[-1] += self._piece.source[end : child.start_byte].decode("utf-8", "replace")
            end = child.end_byte
            if child.type in ('"', "$") and not child.child_count:
                continue
            found = self._fields(child, depth + 1, is_quoted=is_quoted)
            if found:
                fields[-1] += found[0]
                fields += found[1:]
        return fields

    def _expanded(self, node: Node, depth: int, *, is_quoted: bool) -> list[str]:
        """Return the value of a variable, or what stands in for it where it has none."""
        text = self._text(node)
        match = _VARIABLE.match(text)
        if match is None:
            return [UNKNOWN]
        name, index, operator = match[1], match[2], match[3]
        if not operator and text.removeprefix("${").removesuffix("}").removeprefix("$") != name + (index or ""):
            return [UNKNOWN]
        values = self._variables.get(name)
        given = [value for child in node.children[2:] if child.is_named for value in self._fields(child, depth + 1)]
        if operator and given:
            given = given[1:] if node.children[1].type != "variable_name" else given
            values = [[" ".join(given)], *(values or [])]
        fields = self._choose(name, values) if values else [UNKNOWN]
        if index and index[1:-1].isdigit():
            fields = fields[int(index[1:-1]) :][:1]
        if text in ("$@", "${@}") or text.endswith("[@]}"):
            return list(fields)
        return [" ".join(fields)] if is_quoted else [part for field in fields for part in field.split()]

    def _choose(self, name: str, values: list[list[str]]) -> list[str]:
        if name not in self._chosen:
            self._chosen[name] = values[self._choice % len(values)]
            self._choice //= len(values)
            self._choices *= len(values)
        return self._chosen[name]

    def _printed_in(self, node: Node, depth: int) -> str:
        """Return what the commands of a substitution print, as far as it stands there."""
        found: list[str] = []
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            self._budget -= 1
            if self._budget < 0 or len(found) > _MOST_CHOICES:
                return UNKNOWN
            if inner.type == "command":
                parts = [part for child in inner.children for part in (child.children or [child])]
                words = [field for part in parts[:1] for field in self._fields(part, depth + 1)]
                if words in (["echo"], ["printf"]):
                    rest = [field for child in inner.children[1:] for field in self._fields(child, depth + 1)]
                    found.append(_printed([*words, *rest]))
            if not inner.child_count and inner.start_byte in self._piece.bodies:
                found.append(self._piece.bodies[inner.start_byte][0])
            waiting += reversed(inner.children)
        return "\n".join(found) if found else UNKNOWN


def _braced(fields: list[str], source: str) -> list[str]:
    """Return fields with what stands in braces written out, the first pair of each."""
    if "{" not in source or "," not in source or source[:1] in "'\"":
        return fields
    found: list[str] = []
    for field in fields:
        match = _BRACES.search(field)
        found += (
            [field[: match.start()] + one + field[match.end() :] for one in match[1].split(",")] if match else [field]
        )
    return found


def _ansi(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    if number or match[3]:
        return chr(int(number, 16) if number else int(match[3], 8) & 0xFF)
    return _ANSI_LETTERS.get(match[4], match[4])


def _printed(words: Sequence[str]) -> str:
    """Return what `echo` or `printf` prints, as far as a text for a shell needs it."""
    rest = [word for word in words[1:] if re.match(r"-[neEv]+$", word) is None]
    text = " ".join(rest)
    if words[0] == "printf" and rest and "%" in rest[0]:
        text = " ".join((re.sub(r"%[-\d]*[sbq]", "", rest[0]), *rest[1:]))
    return text.replace("\\n", "\n").replace("\\t", " ")
