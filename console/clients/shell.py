"""Commands in a text for a shell: every command that it can run, as far as the text itself says it.

The text is read by tree-sitter, which knows the grammar of bash. What does not parse is cut at everything that can end
a command, so that rather too many commands are seen than too few. Time and memory grow with the length of the text:
what is parsed has a largest size, and repeated expansions an end; what goes beyond is cut as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import islice, product

from team_console.console.clients.shell_programs import (
    UNKNOWN,
    arguments_of,
    program_of,
    reads_commands,
    started_by,
    subcommand_at,
)
from team_console.console.clients.shell_tree import nodes_in, parse

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from tree_sitter import Node

_LARGEST = 6_000
"""Characters of the largest text that is parsed, without white space and here-documents: a text made for it takes time
and memory with the square of them."""
_MOST_FAILED = 40_000
"""Characters that are parsed in vain, altogether."""
_MOST_DOCUMENTS = 100
"""Here-documents, and what only looks like one, altogether."""
_DEEPEST = 8
"""Texts within texts, functions within functions, wrappers within wrappers that are followed."""
_MOST_WORDS = 2_000
"""Words of what does not parse at which a command may begin."""
_MOST_CHOICES = 64
"""Values of variables that are tried in one command."""
_JOINED_BEGINNING = re.compile(r"^[ \t]*(?:\\\n[ \t]*)+", re.MULTILINE)
"""Joined lines of which the first is empty: the grammar would join them with the line before."""
_DOCUMENT = re.compile(r"(?<!<)<<(-?)(?![<=])[ \t]*((?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()'\"\\])+)")
_ENDS = re.compile(r"[;|&()\n`]|[{}](?=[\s;]|$)|(?<=\s)\{")
_REDIRECTION = re.compile(r"\d*[<>]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ESCAPED = re.compile(r"\\(\n?)(.?)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_VARIABLE = re.compile(r"\$\{?(\w+|[@*])(\[[^\]]*\])?(:?[-=+])?")
_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "f": "\f", "v": "\v"}
_TEXT_IN = re.compile(r"(?:\w+_)?(?:COMMAND|EDITOR|PAGER|VISUAL|ASKPASS|EXTERNAL_DIFF)$")
"""Variables whose value other programs run."""
_INNER_SHELL = frozenset(("subshell", "command_substitution", "process_substitution"))
_STATEMENTS = frozenset(("pipeline", "redirected_statement", "command", "command_substitution"))


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
    """One pipeline: the texts that its commands print or read, whether one runs them, and who takes their words."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_run = False
        self.takers: list[list[str]] = []


class _Piece:
    """A text as it is parsed.

    Attributes:
        source: Its bytes, in which here-documents are blank.
        bodies: Place of each operator of a here-document -> its text, and whether it was quoted.
        printed: Place of each substitution -> what its commands print, as far as it stands there.
        words_behind: Place of a command -> its words behind redirections: the grammar takes them for more files.
    """

    def __init__(self, source: str, documents: Mapping[int, tuple[str, bool]]) -> None:
        self.source = source.encode("utf-8", "replace")
        self.bodies = {len(source[:at].encode("utf-8", "replace")): known for at, known in documents.items()}
        self.printed: dict[int, str] = {}
        self.words_behind: dict[int, list[Node]] = {}


class _Reader:
    """Reads texts for a shell, one within another.

    A variable keeps every value that it ever had: which one holds where a command stands may depend on what runs.
    """

    def __init__(self, length: int, folder: str) -> None:
        self.found: list[Command] = []
        self._folder = folder
        self._budget = 8 * length + 100_000
        self._failed = self._documents = self._depth = 0
        self._statement: _Statement | None = None
        self._piece = _Piece("", {})
        self._variables: dict[str, list[list[str]]] = {"HOME": [[os.path.expanduser("~")]], "PWD": [[folder]]}
        self._functions: dict[str, tuple[_Piece, Node]] = {}
        self._aliases: dict[str, str] = {}

    def read(self, text: str) -> None:
        """Find the commands of a text."""
        # guard: shell-work-bounded
        if self._depth >= _DEEPEST or self._budget < 0:
            self._cut(text)
            return
        self._budget -= len(text)
        text = _JOINED_BEGINNING.sub(lambda match: match[0].replace("\\\n", "  "), text)
        plain: set[int] = set()  # operators that after all begin no here-document
        while True:
            source, documents = self._without_documents(text, plain)
            size = sum(map(len, source.split()))
            # guard: shell-large-text-cut
            if size > _LARGEST or self._documents > _MOST_DOCUMENTS or self._failed > _MOST_FAILED:
                self._cut(text)
                return
            piece = _Piece(source, documents)
            root = parse(piece.source).root_node
            redirections = [node for node in nodes_in(root) if node.type in ("file_redirect", "heredoc_redirect")]
            operators = {child.start_byte for node in redirections for child in node.children if child.type[:1] == "<"}
            wrong = [at for at, byte in zip(documents, piece.bodies, strict=True) if byte not in operators]
            if not wrong:
                break
            plain.add(wrong[0])
        self._walk(piece, root)
        if root.has_error or any(node.type == "heredoc_redirect" for node in redirections):
            self._failed += size
            self._cut(text)

    def _without_documents(self, text: str, plain: set[int]) -> tuple[str, dict[int, tuple[str, bool]]]:
        """Blank out the here-documents of a text.

        Args:
            plain: Places where no here-document begins, though it looks so.

        Returns:
            The text; place of each operator -> what it reads, and whether that is quoted.
        """
        pieces: list[str] = []
        documents: dict[int, tuple[str, bool]] = {}
        at = 0
        while at < len(text):
            end = text.find("\n", at) + 1 or len(text)
            while text.endswith("\\\n", at, end) and end < len(text):
                end = text.find("\n", end) + 1 or len(text)
            behind = end
            for match in _DOCUMENT.finditer(text, at, end):
                word = re.sub(r"['\"\\]", "", match[2])
                if match.start() in plain or self._documents > _MOST_DOCUMENTS:
                    continue
                self._documents += 1
                tabs = r"\t*" if match[1] else ""
                ending = re.compile(rf"^{tabs}{re.escape(word)}$", re.MULTILINE).search(text, behind)
                if ending is None:
                    continue
                documents[match.start()] = text[behind : ending.start()], word != match[2]
                behind = min(ending.end() + 1, len(text))
                operator = f"<<{match[1]}"
                pieces += [text[at : match.start()], "<".ljust(len(operator))]
                at = match.start() + len(operator)
            pieces += [text[at:end], " " * (behind - end)]
            at = behind
        return "".join(pieces), documents

    def _cut(self, text: str) -> None:
        """Take what follows on anything that can end a command for a command, whatever quotes and comments say."""
        plain = re.sub(r"['\"\\]", "", text.replace("\\\n", ""))
        for piece in _ENDS.split(_BRACES.sub(lambda match: match[1].replace(",", " "), plain)):
            words = [word for word in piece.replace("$", " ").split() if _REDIRECTION.match(word) is None]
            at = 0
            while at < len(words) and re.match(r"\w+=|[{!]$", words[at]):
                at += 1
            for first in range(at, min(at + _MOST_WORDS, len(words))):
                command = [program_of(words[first]), *words[first + 1 : first + 64]]
                self.found.append(Command(command, [], self._folder))
                if next(started_by(command), None) is None:
                    break

    # A walk over the tree: what a command holds is read before it.

    def _walk(self, piece: _Piece, node: Node) -> None:
        kept = self._piece, self._statement, self._depth, self._folder
        self._piece, self._depth = piece, self._depth + 1
        try:
            self._visit(node)
        except RecursionError:
            self._cut(piece.source.decode("utf-8", "replace"))
        self._piece, self._statement, self._depth, self._folder = kept

    def _visit(self, node: Node) -> None:
        kind, folder, outer = node.type, self._folder, self._statement
        if outer is None and kind in _STATEMENTS:
            self._statement = _Statement()
        texts = self._statement.texts if self._statement is not None else []
        first = len(texts)
        if kind == "for_statement":
            self._read_loop(node)
        elif kind == "function_definition":
            self._read_function(node)
        elif kind == "redirected_statement":
            self._read_redirected(node)
        for child in node.children:
            if child.child_count:
                self._visit(child)
        if kind in ("command", "declaration_command"):
            self._read_command(node)
        elif kind == "variable_assignment":
            self._read_assignment(node)
        elif kind == "file_redirect":
            self._read_redirection(node)
        elif kind == "herestring_redirect":
            texts += (" ".join(fields) for fields in self._values(node.children[1:]))
        elif kind == "command_substitution":
            self._piece.printed[node.start_byte] = "\n".join(texts[first:])
        if kind in _INNER_SHELL:
            self._folder = folder
        if outer is None and self._statement is not None:
            self._end(self._statement)
            self._statement = None

    def _end(self, statement: _Statement) -> None:
        """Read what the texts of a statement start."""
        self._statement = None
        for text in statement.texts if statement.is_run else ():
            self.read(text)
        for words in statement.takers[:_MOST_CHOICES]:
            for text in statement.texts[:_MOST_CHOICES]:
                self._start([*words, *text.split()])

    def _text(self, node: Node) -> str:
        return self._piece.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _set(self, name: str, values: Sequence[list[str]]) -> None:
        known = self._variables.setdefault(name, [])
        known += (value for value in values[:_MOST_CHOICES] if value not in known and self._budget > 0)
        del known[:-_MOST_CHOICES]

    def _set_arguments(self, arguments: Sequence[str]) -> None:
        """Set `$0`, `$1` and so on."""
        for number, argument in enumerate(arguments[:10]):
            self._set(str(number), [[argument]])
        for name in ("@", "*"):
            self._set(name, [list(arguments[1:])])

    def _read_assignment(self, node: Node) -> None:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if named is None:
            return
        name = self._text(named).partition("[")[0]
        is_list = value is not None and value.type == "array"
        if value is None:
            values = [[""]]
        elif is_list:
            values = self._values(value.children[1:-1])
        else:
            values = [[" ".join(fields)] for fields in self._values([value], is_quoted=True)]
        if node.children[1].type == "+=":
            before = self._variables.get(name, [[]])[-1]
            values = [[*before, *more] if is_list else ["".join((*before, *more))] for more in values]
        self._set(name, values)
        if _TEXT_IN.match(name):
            for fields in values:
                self.read(" ".join(fields))

    def _read_loop(self, node: Node) -> None:
        named = node.child_by_field_name("variable")
        if named is not None:
            values = self._values(node.children_by_field_name("value"))
            self._set(self._text(named), [[field] for fields in values for field in fields])

    def _read_function(self, node: Node) -> None:
        named, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if named is not None and body is not None:
            self._functions[self._text(named)] = self._piece, body

    def _read_redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is not None and body.type == "command":
            files = [child.children_by_field_name("destination") for child in node.children]
            self._piece.words_behind[body.start_byte] = [word for words in files for word in words[1:]]

    def _read_redirection(self, node: Node) -> None:
        operator = next((child for child in node.children if "<" in child.type or ">" in child.type), None)
        if operator is None:
            return
        body, is_quoted = self._piece.bodies.get(operator.start_byte, ("", True))
        if body and self._statement is not None:
            self._statement.texts.append(body)
        if not is_quoted and ("$" in body or "`" in body):
            # What is expanded there is what is in a string, too; quotes mean something only within what is expanded.
            for text in sorted({body.replace('"', mark) for mark in "' "}):
                self.read(f': "{text}"')
        if ">" in operator.type:
            for fields in self._values(node.children_by_field_name("destination")[:1]):
                if fields and not fields[0].isdigit() and fields[0] != "-":
                    self.found.append(Command([""], fields[:1], self._folder))

    # Commands.

    def _read_command(self, node: Node) -> None:
        parts: list[Node] = []
        for child in node.children:
            if child.type == "command_name":
                parts += child.children or [child]
            elif "redirect" not in child.type and child.type not in ("$", "variable_assignment"):
                parts.append(child)
        parts += self._piece.words_behind.pop(node.start_byte, ())
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
                    self._set_arguments(arguments_of(command))
                    self.read(started)
                elif started:
                    waiting.append((started, level + 1))

    def _note(self, given: list[str], command: list[str]) -> None:
        """Follow what a command means for those after it, and for the pipeline in which it stands."""
        name, statement = command[0], self._statement
        for word in command[1:]:
            key, equals, value = word.partition("=")
            if equals and name == "alias":
                self._aliases[key] = value
                self.read(value)
            elif equals and key.isidentifier():
                self._set(key, [[value]])
        if name in ("cd", "pushd") and len(command) > 1:
            self._folder = os.path.join(self._folder, os.path.expanduser(command[-1]))
        elif name == "set":
            self._set_arguments([UNKNOWN, *command[2 if command[1:2] == ["--"] else 1 :]])
        elif given[0] in self._aliases:
            quoted = (" '" + word.replace("'", "'\\''") + "'" for word in command[1:])
            self.read(self._aliases[given[0]] + "".join(quoted))
        elif given[0] in self._functions and len(command) > 1:
            self._call(given[0], command)
        elif statement is not None and name in ("echo", "printf"):
            statement.texts.append(_printed(command))
        elif statement is not None and name == "xargs":
            statement.takers += (found for found in started_by(command) if isinstance(found, list))
        if statement is not None and reads_commands(command):
            statement.is_run = True

    def _call(self, name: str, words: list[str]) -> None:
        piece, body = self._functions[name]
        self._budget -= body.end_byte - body.start_byte
        if self._budget >= 0 and self._depth < _DEEPEST:
            kept, self._statement = self._statement, None
            self._set_arguments(words)
            self._walk(piece, body)
            self._statement = kept

    # Words: what they are when the command runs.

    def _values(self, nodes: Sequence[Node], *, is_quoted: bool = False, is_one_word: bool = False) -> list[list[str]]:
        """Return the fields of words, once for each choice among the values that their variables can have.

        Args:
            is_quoted: Whether each word becomes one field, as within quotes.
            is_one_word: Whether the nodes are the parts of one word.
        """
        choices: list[list[str]] = [[""]] if is_one_word else [[]]
        end = -1
        for node in nodes:
            gap = self._piece.source[end : node.start_byte].replace(b"\\\n", b"") if 0 <= end < node.start_byte else b""
            is_apart = not is_one_word and (bool(gap) or not 0 <= end <= node.start_byte)
            if gap and is_one_word and is_quoted:  # white space in a string is no node
                choices = self._combined(choices, [[gap.decode("utf-8", "replace")]])
            end = node.end_byte
            if node.child_count or node.type not in ('"', "$"):
                choices = self._combined(choices, self._fields(node, is_quoted=is_quoted), is_apart=is_apart)
        return choices

    def _combined(
        self, before: Sequence[list[str]], behind: Sequence[list[str]], *, is_apart: bool = False
    ) -> list[list[str]]:
        """Return each choice of fields followed by each other one; what is not apart grows together."""
        found = []
        for one, other in islice(product(before, behind), _MOST_CHOICES if self._budget > 0 else 1):
            self._budget -= sum(map(len, other))
            if is_apart or not (one and other):
                found.append([*one, *other])
            else:
                found.append([*one[:-1], one[-1] + other[0], *other[1:]])
        return found

    def _fields(self, node: Node, *, is_quoted: bool = False) -> list[list[str]]:
        """Return the words that a node becomes, once for each choice; within quotes it is one word."""
        kind, text = node.type, self._text(node)
        if kind in ("concatenation", "command_name", "string", "translated_string"):
            choices = self._values(node.children, is_quoted=is_quoted or kind == "string", is_one_word=True)
            return choices if kind != "concatenation" else [_braced(fields, text) for fields in choices]
        if kind in ("simple_expansion", "expansion"):
            return self._expanded(node, text, is_quoted=is_quoted)
        if kind == "command_substitution":
            printed = self._piece.printed.get(node.start_byte) or UNKNOWN
            return [[printed] if is_quoted else printed.split()]
        if kind in ("process_substitution", "arithmetic_expansion"):
            return [[UNKNOWN]]
        if kind == "raw_string":
            return [[text[1:-1]]]
        if kind == "ansi_c_string":
            return [[_ANSI.sub(_ansi, text[2:-1])]]
        if kind == "string_content":
            return [[_ESCAPED_IN_QUOTES.sub(lambda match: match[1].strip("\n"), text)]]
        return [_braced([_ESCAPED.sub(lambda match: match[2], text)], text)]

    def _expanded(self, node: Node, text: str, *, is_quoted: bool) -> list[list[str]]:
        """Return the values of a variable, and what stands in for it where it has none."""
        match = _VARIABLE.match(text)
        if match is None:
            return [[UNKNOWN]]
        name, index, operator = match[1], match[2], match[3]
        if not operator and text.removeprefix("${").removesuffix("}").removeprefix("$") != name + (index or ""):
            return [[UNKNOWN]]
        given = [child for child in node.children[2:] if child.is_named and child.type != "variable_name"]
        values = self._values(given) if operator and given else []
        values += self._variables.get(name, [])
        values = values or [[UNKNOWN]]
        if index and index[1:-1].isdigit():
            values = [value[int(index[1:-1]) :][:1] for value in values]
        if text in ("$@", "${@}") or text.endswith("[@]}"):
            return values
        return [[" ".join(value)] if is_quoted else " ".join(value).split() for value in values]


def _braced(fields: list[str], source: str) -> list[str]:
    """Return fields with what stands in braces written out, the first pair of each."""
    if source[:1] in "'\"":
        return fields
    found: list[str] = []
    for field in fields:
        match = _BRACES.search(field)
        choices = match[1].split(",") if match is not None else [field]
        found += choices if match is None else (field[: match.start()] + one + field[match.end() :] for one in choices)
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
