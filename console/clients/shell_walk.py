"""Commands as they stand in the tree of a text for a shell, before their variables have values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from team_console.console.clients.shell_command import NOTHING, WRITES_FILE
from team_console.console.clients.shell_programs import folder_behind
from team_console.console.clients.shell_tree import ParsedText, expansions_in
from team_console.console.clients.shell_values import (
    BETWEEN_FIELDS,
    BETWEEN_WORDS,
    LIST,
    QUOTED,
    SPLIT,
    UNKNOWN,
    Variables,
    function_input,
    function_output,
    unescaped,
    use_of,
)

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from tree_sitter import Node

READS_FILE, SETS_EACH = "<", "for"
"""Stand for the programs of a redirection from a file, and of the beginning of a loop."""
_INNER_SHELLS = frozenset(("subshell", "command_substitution", "process_substitution"))
"""Nodes that are run by a shell of their own: a change of folder ends with it."""
_STATEMENTS = frozenset(("pipeline", "command", "command_substitution"))
"""Nodes that print, and keep that in a variable of their own where nothing else reads it."""
_RUN_BY_OTHERS = re.compile(r"(?:\w+_)?(?:COMMAND|EDITOR|PAGER|VISUAL|ASKPASS|EXTERNAL_DIFF)$|PS\d$")
"""Variables whose value other programs run."""
_NAMING = re.compile(r"(?:declare|local|typeset) -\w*n")
"""Begins a declaration that makes a variable another name of one."""
_DESCRIPTOR = re.compile(rb"(?<![^\s;&|()])(\d{1,3})(?:<<)?[<>]\Z")
"""Ends, with the first sign of a redirection, the text before it: the number that belongs to it."""
_PRINTS_NOTHING = re.compile(rf"(?:^|[;&|]\s*)(?::|true|echo -n|printf (?:''|\"\")|cat {NOTHING})$")
"""Ends what is redirected with a command that only serves to empty a file."""
BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
"""Choices in braces, each of which becomes a word."""
_ESCAPED = re.compile(r"\\(\n?)(.?)", re.DOTALL)
_OTHER_FOLDER = re.compile(r"~-(?=/|$)")
"""Begins a word with the folder before the last change of it."""
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_ESCAPED_IN_DOCUMENT = re.compile(r"\\([$`\\])")
_JOINED_LINES = re.compile(r"(\\[^\n])|\\\n")
"""What joins two lines, also within the quotes of a substitution; what is escaped otherwise stays."""
_VARIABLE = re.compile(r"\$\{?(\w+|[@*])(\[[^\]]*\])?(:?[-=+?])?")
"""Begins the use of a variable: its name, its index, and the operator before what stands in for it."""
_NAMED_BY_ANOTHER = re.compile(r"\$\{!(\w+)\}")
_PATTERN = re.compile(r"[*?]|\[[^\]/]+\]")
"""What a shell replaces in the path of a program by what is there."""


class CommandInText:
    """A command as it stands in a text, before its variables have values.

    Attributes:
        words: With the uses of variables in them.
        reads: The variable that has what it reads; empty where nobody knows.
        outputs: Those that keep what it prints: for the next of its pipeline, for a file, and of the substitution, the
            function and the command that runs its text, in which it stands.
        folder: In which it runs: a path, or the folders of which each is in the one before, as words of a command.
        depth: In how many texts its own text is.
        tried: What it became already.
    """

    def __init__(self, words: list[str], reads: str, outputs: tuple[str, ...], folder: str, depth: int) -> None:
        self.words, self.reads, self.outputs, self.folder, self.depth = words, reads, outputs, folder, depth
        self.tried: set[tuple[str, ...]] = set()

    def starts(self, words: list[str], folder: str = "") -> CommandInText:
        """Return a command that this one starts, which reads and prints where this one does, in a folder of its own."""
        return CommandInText(words, self.reads, self.outputs, folder or self.folder, self.depth)


class TextWalk:
    """A walk over the tree of one text.

    Attributes:
        commands: Those that it found.
        folder: In which the next command runs.
        _folder_before: In which the last one ran before the folder was changed.
        _outer: The variables that keep what is printed outside of pipelines: of a function, or of who runs the text.
    """

    def __init__(self, parsed: ParsedText, variables: Variables, run_by: CommandInText) -> None:
        self.commands: list[CommandInText] = []
        self.folder, self._depth, self._outer = run_by.folder, run_by.depth + 1, run_by.outputs
        self._folder_before = run_by.folder
        self._parsed, self._variables, self._give = parsed, variables, variables.give

    def visit(self, node: Node, reads: str, outputs: tuple[str, ...] = ()) -> None:
        """Note the commands and the assignments in a node: what a command holds is found before it.

        Args:
            reads: The variable that has what the node reads; empty where nobody knows.
            outputs: The variables that keep what it prints.
        """
        kind, folder, outer = node.type, self.folder, self._outer
        reads, outputs = self._streams_of(node, reads, outputs)
        children = [child for child in node.children if child.child_count]
        for number, child in enumerate(children, 1):
            if kind != "pipeline":
                self.visit(child, reads, outputs)
                continue
            passed_on = f"{self._name_of('|', node)}/{number}"
            self.visit(child, reads, outputs if number == len(children) else (passed_on,))
            reads = passed_on
        if kind in ("command", "declaration_command"):
            self._note_command(node, reads, outputs)
        elif kind == "variable_assignment":
            self._note_assignment(node)
        elif kind == "for_statement":
            words = self._words([*node.children_by_field_name("variable"), *node.children_by_field_name("value")])
            self._note([SETS_EACH, *words], reads, outputs)
        elif kind in ("file_redirect", "herestring_redirect"):
            self._note_redirection(node, reads, outputs)
        if kind in _INNER_SHELLS:
            self.folder = folder
        self._outer = outer

    def _streams_of(self, node: Node, reads: str, outputs: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Return the variable that has what a node itself reads, and those that keep what it prints.

        Args:
            reads, outputs: The same of the node around it.
        """
        kind = node.type
        if kind == "function_definition":  # what its body reads and prints is that of whoever calls it
            name = "".join(map(self._text, node.children_by_field_name("name")))
            self._variables.setdefault(function_output(name), [])
            self._outer = (function_output(name),)
            reads, outputs = function_input(name), ()
        if kind == "command_substitution":
            outputs = (self._name_of("$", node),)
        elif kind == "redirected_statement" or (not outputs and kind in _STATEMENTS):
            outputs = (self._name_of("|", node), *(outputs or self._outer))
        if any(map(_redirects_input, node.children)) or (kind == "command" and any(map(_prints_file, node.children))):
            reads = self._name_of("<", node)
        if kind == "process_substitution":
            if _prints_file(node):  # `<(...)`: the command around it reads what this prints
                return reads, (reads,)
            return "".join(outputs[:1]), ()  # `>(...)`: this reads what the command around it prints
        return reads, outputs

    def _name_of(self, kind: str, node: Node) -> str:
        """Return the variable that keeps what a pipeline or a substitution prints, or a redirection reads."""
        return f"{kind}{self._parsed.number}/{node.start_byte}"

    def _note(self, words: list[str], reads: str = "", outputs: tuple[str, ...] = ()) -> None:
        """Note a command that runs in the present folder."""
        self.commands.append(CommandInText(words, reads, outputs, self.folder, self._depth))

    def _note_command(self, node: Node, reads: str, outputs: tuple[str, ...]) -> None:
        """Note a command, and the folder in which the next one runs."""
        parts: list[Node] = []
        for child in node.children:
            if child.type == "command_name":
                parts += child.children or [child]
            elif "redirect" not in child.type and child.type not in ("$", "variable_assignment"):
                parts.append(child)
        if node.parent is not None and node.parent.type == "redirected_statement":
            # The grammar takes words behind a redirection for more files.
            files = [child.children_by_field_name("destination") for child in node.parent.children]
            parts += [word for words in files for word in words[1:]]
            if parts and self._descriptor_before(node.end_byte):
                parts.pop()
        words = self._words(parts)
        if words and "/" in words[0]:
            words[0] = _PATTERN.sub(UNKNOWN, words[0])
        self._note(words, reads, outputs)
        moves = words[1:] if words[:1] in (["builtin"], ["command"]) else words
        if moves[:1] == ["popd"] or moves[:2] == ["cd", "-"]:
            self.folder, self._folder_before = self._folder_before, self.folder
        elif moves[:1] in (["cd"], ["pushd"]):
            word = (moves[1:] or ["~"])[-1]
            self.folder, self._folder_before = folder_behind(self.folder, word), self.folder

    def _note_assignment(self, node: Node) -> None:
        """Give a variable the value of an assignment, beside those that it had."""
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if named is None:
            return
        name = self._text(named)
        base, bracket, _ = name.partition("[")
        is_list = value is not None and value.type == "array"
        fields = self._words(value.children[1:-1]) if value is not None and is_list else []
        text = BETWEEN_FIELDS.join(fields) if is_list or value is None else self._word(value, is_quoted=True)
        declared = node.parent if node.parent is not None and node.parent.type == "declaration_command" else None
        if declared is not None and _NAMING.match(self._text(declared)):
            text = use_of(text)
        if node.children[1].type == "+=":
            text = (BETWEEN_FIELDS if is_list else "").join((*self._variables.get(base, [])[-1:], text))
        self._give(text, base, *((name, f"{base}[]") if bracket else ()))
        if is_list:
            self._variables.add_list(base, [re.sub(r"^\[[^\]]*\]=", "", field) for field in fields])
        if _RUN_BY_OTHERS.match(base):
            self._note(["eval", text.removeprefix("!")])

    def _note_redirection(self, node: Node, reads: str, outputs: tuple[str, ...]) -> None:
        """Note the file that a redirection writes or reads, or the text that it reads."""
        operator = next((child for child in node.children if "<" in child.type or ">" in child.type), None)
        if operator is None:
            return
        files = node.children_by_field_name("destination")[:1] or node.children[-1:]
        if ">" in operator.type:
            empties = ">>" not in operator.type and self._has_nothing_to_write(node)
            self._note([WRITES_FILE, *self._words(files), *([NOTHING] if empties else [])], reads, outputs)
            return
        number = self._descriptor_before(operator.start_byte)
        if number:  # which others read later, as `<&4`
            self._give(use_of(reads), f"&{number}")
        # The grammar takes some here-strings for files.
        is_text = self._parsed.source.endswith(b"<<<", 0, operator.end_byte)
        if operator.start_byte in self._parsed.documents:
            self._note_document(*self._parsed.documents[operator.start_byte], reads)
        elif operator.type == "<&":
            self._give(use_of(f"&{''.join(self._words(files))}"), reads)
        elif is_text:
            self._give(" ".join(self._words(files)), reads)
        elif files[0].type != "process_substitution":
            self._note([READS_FILE, *self._words(files)], reads, outputs)

    def _has_nothing_to_write(self, redirection: Node) -> bool:
        """Return whether a redirection stands alone, or behind a command that only serves to have one."""
        statement = redirection.parent
        if statement is None or statement.type != "redirected_statement":
            return False
        body = statement.child_by_field_name("body")
        return body is None or _PRINTS_NOTHING.search(self._text(body)) is not None

    def _descriptor_before(self, place: int) -> str:
        """Return the number that belongs to a redirection at this place; empty for none."""
        number = _DESCRIPTOR.search(self._parsed.source[max(0, place - 6) : place + 1])
        return number[1].decode() if number is not None else ""

    def _note_document(self, text: str, is_quoted: bool, reads: str) -> None:
        """Note what is read from a here-document, and what is expanded in it."""
        if not is_quoted:
            text = _JOINED_LINES.sub(r"\1", text)
            for expansion in expansions_in(text):
                self._note(["eval", f': "{expansion}"'])
            text = _ESCAPED_IN_DOCUMENT.sub(r"\1", text)
        self._give(text, reads)

    # Words: what they are but for the values of variables.

    def _text(self, node: Node) -> str:
        return self._parsed.text_of(node)

    def _words(self, nodes: Sequence[Node]) -> list[str]:
        """Return words; what only a joined line parts is one."""
        words: list[str] = []
        end = -1
        for node in nodes:
            between = self._text_between(end, node)
            if end < 0 or between or end > node.start_byte:
                words.append("")
            end = node.end_byte
            words[-1] += self._word(node)
        return words

    def _text_between(self, end: int, node: Node) -> str:
        """Return what stands between two nodes without joined lines; a substitution may begin with blanks of it."""
        text = self._text(node) if node.child_count else ""
        start = node.start_byte + len(text) - len(text.lstrip())
        return self._parsed.source[end:start].decode("utf-8", "replace").replace("\\\n", "")

    def _word(self, node: Node, *, is_quoted: bool = False) -> str:
        """Return what a node becomes in a word.

        Args:
            is_quoted: Whether it becomes one field, as within quotes.
        """
        kind, text = node.type, self._text(node)
        if kind in ("concatenation", "string", "translated_string"):
            whole = self._word_of_parts(node, is_quoted=is_quoted or kind == "string")
            return _with_braces_expanded(whole, text) if kind == "concatenation" else whole
        if kind in ("simple_expansion", "expansion"):
            return self._use_of_variable(node, text, QUOTED if is_quoted else SPLIT)
        if kind == "command_substitution":
            return use_of(self._name_of("$", node), QUOTED if is_quoted else SPLIT)
        if kind in ("process_substitution", "arithmetic_expansion"):
            return UNKNOWN
        if kind == "raw_string":
            return text[1:-1]
        if kind == "ansi_c_string":
            return unescaped(text[2:-1])
        if kind == "string_content":
            return _ESCAPED_IN_QUOTES.sub(lambda match: match[1].strip("\n"), text)
        if _OTHER_FOLDER.match(text):
            text = (UNKNOWN if BETWEEN_WORDS in self._folder_before else self._folder_before) + text[2:]
        return _with_braces_expanded(_ESCAPED.sub(r"\2", text), text)

    def _word_of_parts(self, node: Node, *, is_quoted: bool) -> str:
        """Return the parts of a word as one; white space in a string is no node."""
        whole, end = "", node.start_byte
        for child in node.children:
            if is_quoted:
                whole += self._text_between(end, child)
            end = child.end_byte
            if child.child_count or child.type not in ('"', "$"):
                whole += self._word(child, is_quoted=is_quoted)
            elif node.type == "string":  # the quote at the end may have the blanks before it
                whole += self._text(child).removesuffix('"')
        return whole

    def _use_of_variable(self, node: Node, text: str, how: str) -> str:
        """Return the use of a variable; what stands in for it where it has no value is one of its values."""
        named = _NAMED_BY_ANOTHER.match(text)
        if named is not None:
            return use_of(use_of(named[1]), how)
        match = _VARIABLE.match(text)
        if match is None:
            return UNKNOWN
        name, index, operator = match[1], match[2] or "", match[3] or ""
        given = [child for child in node.children[2:] if child.is_named and child.type != "variable_name"]
        if operator and given:
            stands_in = "".join(self._word(child, is_quoted=True) for child in given)
            if operator[-1] == "+":  # or nothing does, where the variable has no value
                name, index = self._name_of("+", node), ""
                self._give("", name)
            if operator[-1] != "?":  # which only says what is wrong
                self._give(stands_in, name)
        elif text.strip("${}") != name + index:  # a part of the value, its length or a change of it
            return UNKNOWN
        is_list = text in ("$@", "${@}") or index == "[@]"
        element = "" if index in ("", "[@]", "[*]") else "[]"  # of which the number is not known
        if index[1:-1].isdigit():
            element = index
        return use_of(f"{name}{element}", LIST if is_list else how)


def _redirects_input(node: Node) -> bool:
    """Return whether a redirection says what a command reads."""
    is_input = node.type == "file_redirect" and any(child.type[:1] == "<" for child in node.children)
    return is_input or node.type == "herestring_redirect"


def _prints_file(node: Node) -> bool:
    """Return whether a node is `<(...)`: commands that print what is read as a file."""
    return node.type == "process_substitution" and node.children[0].type[:1] == "<"


def _with_braces_expanded(word: str, source: str) -> str:
    """Return a word with what stands in braces written out, the first pair of each field."""
    match = BRACES.search(word) if source[:1] not in "'\"" else None
    if match is None:
        return word
    before, behind = word[: match.start()], word[match.end() :]
    return BETWEEN_FIELDS.join(f"{before}{choice}{behind}" for choice in match[1].split(","))
