"""Commands in a text for a shell: every command that it can run, as far as the text itself says it.

The text is read by tree-sitter, which knows the grammar of bash. Whatever carries text from one place to another is a
variable: those of the shell, what a pipeline or a substitution prints, what a function reads, what a file is filled
with. One keeps every value that it ever had, since which one holds where a command stands may depend on what runs; and
a command is tried with each of them. What cannot be known may be any word: the program or the subcommand of an action,
where the other words name it.

There are three steps. `_Reader.read` walks the tree of a text: it notes each command as it stands there, and the values
of variables. `_Reader.run` takes the noted commands one by one, with each choice of values in the place of variables.
`_Reader._run_one` notes what a command does: the commands it starts, the variables it sets, and the texts it runs,
which are read in their turn. For example, of `A=push; git $A` the words `git` and "use of A" are noted, and `push` as a
value of A; with it the second step finds the command `git push`.

What does not parse is cut at everything that can end a command, so that rather too many commands are seen than too few.
Time and memory grow with the length of the text: what is parsed has a largest size, and repeated expansions an end;
what goes beyond is cut as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from team_console.console.clients.shell_programs import (
    READING,
    SILENT,
    UNKNOWN,
    arguments_of,
    behind_options_of_read,
    path_in,
    program_of,
    reads_commands,
    script_of,
    started_by,
    subcommand_at,
    text_printed,
)
from team_console.console.clients.shell_tree import is_read, nodes_in, parse, stands_for_file

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from tree_sitter import Node

_LARGEST = 6_000
"""Characters of the largest text that is parsed, without white space and here-documents: a text made for it takes time
and memory with the square of them."""
_MOST_FAILED = 40_000
"""Characters that are parsed in vain, altogether."""
_MOST_HERE_DOCUMENTS = 100
"""Here-documents, and what only looks like one, altogether."""
_DEEPEST = 8
"""Texts within texts, functions within functions, wrappers within wrappers that are followed."""
_MOST_WORDS = 2_000
"""Words of what does not parse at which a command may begin."""
_MOST_CHOICES = 64
"""Values of variables that are tried in one command."""
_JOINED_BEGINNING = re.compile(r"^[ \t]*(?:\\\n[ \t]*)+", re.MULTILINE)
"""Joined lines of which the first is empty: the grammar would join them with the line before."""
_COPROC = re.compile(r"(?<![^\s;&|(])coproc[ \t]+(?:[A-Za-z_]\w*[ \t]+)?(?=[{(])")
"""Begins a block that the grammar does not know as one."""
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(-?)(?![<=])[ \t]*((?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()'\"\\])+)")
_COMMAND_ENDS = re.compile(r"[;|&()\n`]|[{}](?=[\s;]|$)|(?<=\s)\{")
_REDIRECTION = re.compile(r"\d*[<>]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ESCAPED = re.compile(r"\\(\n?)(.?)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_ESCAPED_IN_BACKQUOTES = re.compile(r"\\([$`\\])")
_BACKQUOTED = re.compile(r"`((?:\\.|[^`\\])*)`", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?(\w+|[@*])(\[[^\]]*\])?(:?[-=+?])?")
_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "f": "\f", "v": "\v"}
_TEXT_IN = re.compile(r"(?:\w+_)?(?:COMMAND|EDITOR|PAGER|VISUAL|ASKPASS|EXTERNAL_DIFF)$|PS\d$")
"""Variables whose value other programs run."""
_BETWEEN_WORDS, _BETWEEN_FIELDS = "\1", "\2"
"""Signs between the words of a command that is kept as one text, and between the fields that one word becomes."""
_USE = re.compile("\3(.)([^\4]*)\4")
"""A variable in a word, between two signs that no text has: how its value is used, and its name."""
_SPLIT, _QUOTED, _LIST = " ", '"', "@"
"""How a value is used: split at white space, as one field, or with the fields of a list."""
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
        """Return whether this is the `wanted` command: program, subcommands, and options anywhere behind them.

        One of its words may be known only when it runs, where another names the command.
        """
        names = [name for name in wanted if name[:1] != "-"]
        words = [wanted[0], *self.words[1:]] if UNKNOWN in self.words[0] else self.words
        # guard: unknown-word-may-be-the-action
        may_guess = len(names) > 1
        if not _may_be(self.words[0], names[0], may_guess=may_guess):
            return False
        is_known = self.words[0].strip(UNKNOWN) != ""
        at = _behind_names(words, 1, names[1:], may_guess=may_guess and is_known)
        options = [name for name in wanted if name[:1] == "-"]
        return at > 0 and all(any(_is_option(word, name) for word in words[at:]) for name in options)


def _behind_names(words: Sequence[str], at: int, names: Sequence[str], *, may_guess: bool) -> int:
    """Return where the words behind these subcommands begin; 0 where others stand there."""
    if not names:
        return at
    at = subcommand_at(words, at)
    while at < len(words):
        word = words[at]
        if _may_be(word, names[0], may_guess=may_guess):
            end = _behind_names(words, at + 1, names[1:], may_guess=may_guess and word.strip(UNKNOWN) != "")
            if end:
                return end
        if word[:1] != UNKNOWN:
            return 0
        at = subcommand_at(words, at + 1)  # what is not known may be an option, or nothing
    return 0


def _may_be(word: str, name: str, *, may_guess: bool) -> bool:
    """Return whether a word, of which parts may not be known, can be this name.

    Args:
        may_guess: Whether it can where nothing of it is known.
    """
    known = word.split(UNKNOWN)
    if len(known) == 1 or sum(map(len, known)) > len(name):
        return word == name
    if not any(known):
        return may_guess
    return re.fullmatch(".*".join(map(re.escape, known)), name) is not None


def commands_in(text: str, folder: str) -> list[Command]:
    """Return the commands of a text for a shell that begins in `folder`, with those that they start."""
    reader = _Reader(len(text), folder)
    text = re.sub("[\0-\4]", "", text).replace("\r\n", "\n").replace("\r", "\n")
    reader.read(text, _CommandInText([], "", (), folder, -1))
    reader.run()
    return reader.found


def _is_option(word: str, wanted: str) -> bool:
    """Return whether a word is this option, joined with others, or shortened as programs of GNU and git allow."""
    if wanted[:2] == "--":
        return len(word) > 4 and wanted.startswith(word.partition("=")[0])
    is_letter = len(wanted) == 2 and word[:1] == "-" != word[1:2]
    return word == wanted or (is_letter and wanted[1] in word)


class _CommandInText:
    """A command as it stands in a text, before its variables have values.

    Attributes:
        reads: The variable that has what it reads; empty where nobody knows.
        outputs: Those that keep what it prints: for the next of its pipeline, for a file, and of the substitution, the
            function and the command that runs its text, in which it stands.
        depth: In how many texts its own text is.
        tried: What it became already.
    """

    def __init__(self, words: list[str], reads: str, outputs: tuple[str, ...], folder: str, depth: int) -> None:
        self.words, self.reads, self.outputs, self.folder, self.depth = words, reads, outputs, folder, depth
        self.tried: set[tuple[str, ...]] = set()


class _Reader:
    """Reads texts for a shell, one within another.

    Attributes:
        found: The commands that were found, each with the values of its variables.
        _budget: How many characters may still be worked on before texts are only cut into commands.
        _waiting: Commands as they stand in texts, to be run.
        _variables: Name -> every value it ever had. What a pipeline, a substitution, a function or a file passes on is
            kept under names that begin with `|`, `$` or `<`, or end with `()` or `()<`.
        _has_news: Whether a variable got a new value since the commands were last gone through.
        _takes_unknown: Whether a variable without a value counts as known only when the text runs.
    """

    def __init__(self, length: int, folder: str) -> None:
        self.found: list[Command] = []
        self._budget = 8 * length + 100_000
        self._failed = self._documents = self._texts = 0
        self._waiting: list[_CommandInText] = []
        self._variables = {"HOME": [os.path.expanduser("~")], "PWD": [folder], "IFS": [" "]}
        self._has_news = self._takes_unknown = False
        self._aliases: dict[str, str] = {}
        # Of the text that is read now:
        self._folder, self._depth, self._source = folder, 0, b""
        self._outer: tuple[str, ...] = ()
        self._bodies: dict[int, tuple[str, bool]] = {}

    def read(self, text: str, run_by: _CommandInText) -> None:
        """Find the commands that stand in a text, which a command runs."""
        self._folder, self._depth, self._outer = run_by.folder, run_by.depth + 1, run_by.outputs
        # guard: shell-work-bounded
        if self._depth >= _DEEPEST or self._budget < 0:
            self._guess_commands(text)
            return
        self._budget -= len(text)
        text = _JOINED_BEGINNING.sub(lambda match: match[0].replace("\\\n", "  "), text)
        text = _COPROC.sub(lambda match: " " * len(match[0]), text)
        plain: set[int] = set()  # operators that after all begin no here-document
        while True:
            source, documents = self._without_documents(text, plain)
            size = sum(map(len, source.split()))
            # guard: shell-large-text-cut
            if size > _LARGEST or self._documents > _MOST_HERE_DOCUMENTS or self._failed > _MOST_FAILED:
                self._guess_commands(text)
                return
            self._texts += 1
            self._source = source.encode("utf-8", "replace")
            self._bodies = {len(source[:at].encode("utf-8", "replace")): known for at, known in documents.items()}
            root = parse(self._source).root_node
            redirections = [node for node in nodes_in(root) if node.type in ("file_redirect", "heredoc_redirect")]
            operators = {child.start_byte for node in redirections for child in node.children if child.type[:1] == "<"}
            wrong = [at for at, byte in zip(documents, self._bodies, strict=True) if byte not in operators]
            if not wrong:
                break
            plain.add(wrong[0])
        try:
            self._visit(root, run_by.reads, ())
        except RecursionError:
            self._guess_commands(text)
        if root.has_error or any(node.type == "heredoc_redirect" for node in redirections):
            self._failed += size
            self._guess_commands(text)

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
            for match in _HERE_DOCUMENT.finditer(text, at, end):
                word = re.sub(r"['\"\\]", "", match[2])
                if match.start() in plain or self._documents > _MOST_HERE_DOCUMENTS:
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

    def _guess_commands(self, text: str) -> None:
        """Take what follows on anything that can end a command for a command, whatever quotes and comments say."""
        plain = re.sub(r"['\"\\]", "", text.replace("\\\n", ""))
        for piece in _COMMAND_ENDS.split(_BRACES.sub(lambda match: match[1].replace(",", " "), plain)):
            words = [word for word in piece.replace("$", " ").split() if _REDIRECTION.match(word) is None]
            at = 0
            while at < len(words) and re.match(r"\w+=|[{!]$", words[at]):
                at += 1
            for first in range(at, min(at + _MOST_WORDS, len(words))):
                command = [program_of(words[first]), *words[first + 1 : first + 64]]
                self.found.append(Command(command, [], self._folder))
                if next(started_by(command), None) is None:
                    break

    # A walk over the tree: what a command holds is found before it.

    def _visit(self, node: Node, reads: str, outputs: tuple[str, ...]) -> None:
        """Note the commands and assignments in a node.

        Args:
            reads: The variable that has what the node reads; empty where nobody knows.
            outputs: The variables that keep what it prints.
        """
        kind, folder, outer = node.type, self._folder, self._outer
        if kind == "function_definition":
            name = f"{''.join(map(self._text, node.children_by_field_name('name')))}()"
            self._variables.setdefault(name, [])
            self._outer, reads, outputs = (name,), f"{name}<", ()
        if not outputs and kind in _STATEMENTS:
            outputs = (self._name_of("|", node), *self._outer)
        if kind == "command_substitution":
            outputs = (self._name_of("$", node),)
            text = self._text(node)
            if text[:1] == "`" and "\\`" in text:  # the inner of two, which the grammar does not know
                self._add_command(["eval", _ESCAPED_IN_BACKQUOTES.sub(lambda match: match[1], text[1:-1])], reads)
        if kind == "expansion":  # backquotes in it, which the grammar does not know
            for piece in _BACKQUOTED.findall(self._text(node)):
                self._add_command(["eval", piece], reads)
        if any(is_read(child) or (kind == "command" and stands_for_file(child)) for child in node.children):
            reads = self._name_of("<", node)
        if kind == "process_substitution":
            # What stands for the file is read, or filled, by the command around it.
            reads, outputs = (reads, (reads,)) if self._text(node)[:1] == "<" else (outputs[0] if outputs else "", ())
        if kind == "pipeline":
            self._visit_pipeline(node, reads, outputs)
        else:
            for child in node.children:
                if child.child_count:
                    self._visit(child, reads, outputs)
        if kind in ("command", "declaration_command"):
            self._read_command(node, reads, outputs)
        elif kind == "variable_assignment":
            self._read_assignment(node)
        elif kind == "for_statement":
            words = self._words([*node.children_by_field_name("variable"), *node.children_by_field_name("value")])
            self._add_command(["for", *words], reads, outputs)
        elif kind == "file_redirect":
            self._read_redirection(node, reads, outputs)
        elif kind == "herestring_redirect":
            self._add_value((reads,), " ".join(self._words(node.children[1:])))
        if kind in _INNER_SHELL:
            self._folder = folder
        self._outer = outer

    def _visit_pipeline(self, node: Node, reads: str, outputs: tuple[str, ...]) -> None:
        stages = [child for child in node.children if child.child_count]
        for number, child in enumerate(stages, 1):
            kept = f"{self._name_of('|', node)}/{number}"
            self._visit(child, reads, (kept,) if number < len(stages) else outputs)
            reads = kept

    def _name_of(self, kind: str, node: Node) -> str:
        """Return the variable that keeps what a pipeline or a substitution prints, or a redirection reads."""
        return f"{kind}{self._texts}/{node.start_byte}"

    def _add_command(self, words: list[str], reads: str = "", outputs: tuple[str, ...] = ()) -> None:
        self._waiting.append(_CommandInText(words, reads, outputs, self._folder, self._depth))

    def _read_command(self, node: Node, reads: str, outputs: tuple[str, ...]) -> None:
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
        words = self._words(parts)
        self._add_command(words, reads, outputs)
        if words == ["cd"]:
            self._folder = path_in(self._folder, "~")
        elif words[1:] and words[0] in ("cd", "pushd"):
            folder = next(self._expanded(words), [UNKNOWN])[-1]
            self._folder = path_in(self._folder, folder)

    def _read_assignment(self, node: Node) -> None:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if named is None:
            return
        name = self._text(named)
        base, bracket, _ = name.partition("[")
        is_list = value is not None and value.type == "array"
        fields = self._words(value.children[1:-1]) if value is not None and is_list else []
        text = _BETWEEN_FIELDS.join(fields) if is_list or value is None else self._word(value, is_quoted=True)
        declared = (
            self._text(node.parent) if node.parent is not None and node.parent.type == "declaration_command" else ""
        )
        if re.match(r"(?:declare|local|typeset) -\w*n", declared):
            text = f"\3{_QUOTED}{text}\4"  # another name of that variable
        if node.children[1].type == "+=":
            text = (_BETWEEN_FIELDS if is_list else "").join((*self._variables.get(base, [])[-1:], text))
        self._add_value((base, name, f"{base}[]") if bracket else (base,), text)
        for number, field in enumerate(fields):
            self._add_value((f"{base}[{number}]", f"{base}[]"), re.sub(r"^\[[^\]]*\]=", "", field))
        if _TEXT_IN.match(base):
            self._add_command(["eval", text.removeprefix("!")])

    def _read_redirection(self, node: Node, reads: str, outputs: tuple[str, ...]) -> None:
        operator = next((child for child in node.children if "<" in child.type or ">" in child.type), None)
        if operator is None:
            return
        body, is_quoted = self._bodies.get(operator.start_byte, ("", True))
        if body:
            self._add_value((reads,), body)
        if not is_quoted and ("$" in body or "`" in body):
            # What is expanded there is what is in a string, too; quotes mean something only within what is expanded.
            for text in sorted({body.replace('"', mark) for mark in "' "}):
                self._add_command(["eval", f': "{text}"'])
        files = node.children_by_field_name("destination")[:1]
        if ">" in operator.type:
            self._add_command([">", *self._words(files)], reads, outputs)
            return
        for child in node.children:
            if child.type == "file_descriptor":  # which others read later, as `<&4`
                self._add_value((f"&{self._text(child)}",), f"\3{_QUOTED}{reads}\4")
        if operator.type == "<&":
            self._add_value((reads,), f"\3{_QUOTED}&{''.join(self._words(files))}\4")
        elif self._source[: operator.start_byte].endswith(b"<<"):  # a here-string that the grammar does not know
            self._add_value((reads,), " ".join(self._words(files)))
        elif operator.type == "<" and not body and files and files[0].type != "process_substitution":
            self._add_command(["<", *self._words(files)], reads, outputs)

    # Words: what they are but for the values of variables.

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _words(self, nodes: Sequence[Node]) -> list[str]:
        """Return words; what only a joined line parts is one."""
        words: list[str] = []
        end = -1
        for node in nodes:
            is_apart = end < 0 or self._source[end : node.start_byte].replace(b"\\\n", b"") or end > node.start_byte
            end = node.end_byte
            if is_apart:
                words.append("")
            words[-1] += self._word(node)
        return words

    def _word(self, node: Node, *, is_quoted: bool = False) -> str:
        """Return what a node becomes in a word.

        Args:
            is_quoted: Whether it becomes one field, as within quotes.
        """
        kind, text = node.type, self._text(node)
        if kind in ("concatenation", "string", "translated_string"):
            is_quoted = is_quoted or kind == "string"
            whole, end = "", node.start_byte
            for child in node.children:
                if is_quoted:  # white space in a string is no node
                    whole += self._source[end : child.start_byte].replace(b"\\\n", b"").decode("utf-8", "replace")
                end = child.end_byte
                if child.child_count or child.type not in ('"', "$"):
                    whole += self._word(child, is_quoted=is_quoted)
            return _braced(whole, text) if kind == "concatenation" else whole
        if kind in ("simple_expansion", "expansion"):
            return self._use_of(node, text, _QUOTED if is_quoted else _SPLIT)
        if kind == "command_substitution":
            return f"\3{_QUOTED if is_quoted else _SPLIT}{self._name_of('$', node)}\4"
        if kind in ("process_substitution", "arithmetic_expansion"):
            return UNKNOWN
        if kind == "raw_string":
            return text[1:-1]
        if kind == "ansi_c_string":
            return _ANSI.sub(_ansi, text[2:-1])
        if kind == "string_content":
            return _ESCAPED_IN_QUOTES.sub(lambda match: match[1].strip("\n"), text)
        return _braced(_ESCAPED.sub(lambda match: match[2], text), text)

    def _use_of(self, node: Node, text: str, use: str) -> str:
        """Return the use of a variable; what stands in for it where it has no value is one of its values."""
        match = _VARIABLE.match(text)
        if match is None:
            return UNKNOWN
        name, index, operator = match[1], match[2] or "", match[3] or ""
        given = [child for child in node.children[2:] if child.is_named and child.type != "variable_name"]
        if operator and given:
            stands_in = "".join(self._word(child, is_quoted=True) for child in given)
            self._add_value((name,) if operator[-1] != "?" else (), stands_in)
        elif text.removeprefix("${").removesuffix("}").removeprefix("$") != name + index:
            return UNKNOWN
        is_list = text in ("$@", "${@}") or index == "[@]"
        element = index if index[1:-1].isdigit() else "[]" if index[1:-1] not in ("", "@", "*") else ""
        return f"\3{_LIST if is_list else use}{name}{element}\4"

    def _add_value(self, names: Sequence[str], value: str) -> None:
        for name in filter(None, names):
            known = self._variables.setdefault(name, [])
            if value not in known and self._budget > 0:
                known.append(value)
                del known[:-_MOST_CHOICES]
                self._has_news = True

    def _add_arguments(self, arguments: Sequence[str]) -> None:
        """Set `$0`, `$1` and so on."""
        for number, argument in enumerate(arguments[:10]):
            self._add_value((str(number),), argument)
        self._add_value("@*", _BETWEEN_FIELDS.join(arguments[1:]))

    # What commands do when they run.

    def run(self) -> None:
        """Follow what the commands that were found start, until nothing new comes of it.

        What has no value then is known only when the text runs.
        """
        for self._takes_unknown in (False, True):
            for _ in range(_DEEPEST):
                self._has_news = False
                for found in self._waiting:  # which grows meanwhile
                    for words in self._expanded(found.words):
                        if words and tuple(words) not in found.tried:
                            found.tried.add(tuple(words))
                            self._run_one(words, found)
                if not self._has_news:
                    break

    def _expanded(self, words: Sequence[str]) -> Iterator[list[str]]:
        """Yield the fields of words, once for each choice among the values that their variables have.

        Before all values are known there is no choice for a variable without one.
        """
        choices, count = [(_BETWEEN_WORDS.join(words), 0)], 0
        while choices and count < _MOST_CHOICES:
            line, level = choices.pop()
            self._budget -= len(line)
            match = _USE.search(line)
            if match is None:
                count += 1
                parted = [word.split(_BETWEEN_FIELDS) for word in line.split(_BETWEEN_WORDS)]
                yield [field for fields in parted for field in fields if field or len(fields) == 1]
                continue
            use, name = match[1], match[2]
            is_known = level <= 2 * _DEEPEST and self._budget > 0
            values = self._variables.get(name, []) if is_known else []
            is_awaited = is_known and not self._takes_unknown
            for value in values or ([] if is_awaited else [UNKNOWN]):
                if use == _QUOTED:
                    value = value.replace(_BETWEEN_FIELDS, " ")
                elif use == _SPLIT:
                    value = re.sub(r"\s+", _BETWEEN_FIELDS, value) or _BETWEEN_FIELDS
                if use != _LIST:  # a variable in the value is used as the whole value is
                    value = re.sub("\3.", f"\3{use}", value)
                choices.append((line.replace(match[0], value), level + 1))

    def _run_one(self, words: list[str], found: _CommandInText) -> None:
        """Note a command whose variables have values, and what comes of it."""
        if words[0] in ("<", ">"):
            file = words[1] if words[1:] and not words[1].isdigit() and words[1] != "-" else ""
            if file and words[0] == ">":
                self.found.append(Command([""], [file], found.folder))
                self._add_value((self._content(file, found),), f"\3{_QUOTED}{''.join(found.outputs[:1])}\4")
            elif file:  # `$(<FILE)` prints it
                self._add_value((found.reads, *found.outputs), f"\3{_QUOTED}{self._content(file, found)}\4")
            return
        waiting = [(words, 0)]
        while waiting:
            given, level = waiting.pop()
            self._budget -= len(given)
            if not given or level > 2 * _DEEPEST or self._budget < 0:
                self._guess_commands(" ".join(given))
                continue
            command = [program_of(given[0]), *given[1:]]
            self.found.append(Command(command, [], found.folder))
            self._follow_effects(given, command, found)
            for started in started_by(command):
                if isinstance(started, str):
                    self._add_arguments(arguments_of(command))
                    self.read(started, found)
                elif started:
                    waiting.append((started, level + 1))

    def _follow_effects(self, given: list[str], command: list[str], found: _CommandInText) -> None:
        """Follow what a command means for others, and for the pipeline in which it stands."""
        name, text = command[0], ""
        for word in command[1:]:
            key, equals, value = word.partition("=")
            if equals and name == "alias":
                self._aliases[key] = text = value
            elif equals and key.isidentifier():
                self._add_value((key,), value)
        if name == "for":
            for word in command[2:]:
                self._add_value((command[1],), word)
        elif name == "set":
            self._add_arguments([UNKNOWN, *command[2 if command[1:2] == ["--"] else 1 :]])
        elif name == "shift":
            numbers = [str(number) for number in range(1, 10)]
            for number, name_behind in enumerate(numbers[1:], 1):
                for value in list(self._variables.get(name_behind, [])):
                    self._add_value(numbers[:number], value)
            for value in list(self._variables.get("@", [])):
                self._add_value("@*", value.partition(_BETWEEN_FIELDS)[2])
        elif given[0] in self._aliases:
            quoted = (" '" + word.replace("'", "'\\''") + "'" for word in command[1:])
            text = self._aliases[given[0]] + "".join(quoted)
        elif f"{given[0]}()" in self._variables:
            self._add_arguments(command)
            self._add_value(found.outputs, f"\3{_QUOTED}{given[0]}()\4")
            self._add_value((f"{given[0]}()<",), self._read_by(found))
        elif name in READING:
            self._add_started([f"<{name}", *command[1:], self._read_by(found)], found)
        elif name[:1] == "<" and name[1:] in READING:
            self._add_values_read(command)
        elif name in ("xargs", "parallel"):
            self._apply(command, found)
        if text:
            self.read(text, found)
        self._follow_output(command, found)
        if reads_commands(command):
            self._add_started(["eval", self._read_by(found)], found)
        # What was written into a file in the same text is a text for a shell, too.
        script = given[0] if "/" in given[0] else script_of(command)
        content = self._content(script, found) if script else ""
        if content in self._variables:
            self._add_started(["eval", f"\3{_QUOTED}{content}\4"], found)

    def _follow_output(self, command: list[str], found: _CommandInText) -> None:
        """Follow what a command prints, and into which files."""
        name = command[0]
        if name == "printf" and command[1:2] == ["-v"]:
            self._add_value(command[2:3], text_printed(["printf", *command[3:]]))
        elif name in ("echo", "printf"):
            self._add_value(found.outputs, text_printed(command))
        elif name == "cat":
            for file in command[1:]:
                self._add_value(found.outputs, f"\3{_QUOTED}{self._content(file, found)}\4")
            if not command[1:]:
                self._add_value(found.outputs, self._read_by(found))
        elif name == "tee":
            self._add_value(
                (*found.outputs, *(self._content(file, found) for file in command[1:])), self._read_by(found)
            )
        elif name in SILENT or name[:1] == "<" or f"{name}()" in self._variables:
            return
        elif next(started_by(command), None) is None:
            self._add_value(found.outputs, UNKNOWN)

    def _add_started(self, words: list[str], found: _CommandInText) -> None:
        """Let a command run that another starts, and that reads and prints where that does."""
        self._waiting.append(_CommandInText(words, found.reads, found.outputs, found.folder, found.depth + 1))

    def _read_by(self, found: _CommandInText, use: str = _QUOTED) -> str:
        """Return the use of what a command reads."""
        return f"\3{use}{found.reads}\4"

    def _content(self, file: str, found: _CommandInText) -> str:
        """Return the name of the variable that keeps what is written into a file."""
        return f"<{os.path.normpath(path_in(found.folder, file))}"

    def _apply(self, command: list[str], found: _CommandInText) -> None:
        """Run the command of `xargs` or `parallel` on what it reads."""
        option = next((at for at, word in enumerate(command) if word[:2] == "-I"), 0)
        mark = (command[option][2:] or "".join(command[option + 1 : option + 2])) if option else ""
        mark = mark or "{}"
        for started in started_by(command):
            words = started if isinstance(started, list) else ["eval", started]
            if any(mark in word for word in words):
                self._add_started([word.replace(mark, self._read_by(found)) for word in words], found)
            else:
                self._add_started([*words, self._read_by(found, _SPLIT)], found)

    def _add_values_read(self, words: list[str]) -> None:
        """Set the variables of `read` or `mapfile`.

        Args:
            words: Options and names, and the text that is read.
        """
        names = [word for word in words[behind_options_of_read(words) : -1] if word.isidentifier()] or ["REPLY"]
        lines = words[-1].split("\n")[:_MOST_CHOICES]
        if words[0] != "<read":
            self._add_value(names, _BETWEEN_FIELDS.join(lines))
            for number, line in enumerate(lines):
                self._add_value([f"{name}[{number}]" for name in names], line)
        marks = "".join(self._variables["IFS"])
        is_known = UNKNOWN not in f"{words[-1]}{marks}" and "-d" not in words
        for line in lines:
            fields = re.split(f"[{re.escape(marks)}]+", line.strip(), maxsplit=len(names) - 1) if names[1:] else [line]
            for number, name in enumerate(names):
                self._add_value((name, f"{name}[]"), fields[number] if number < len(fields) else "")
                self._add_value((name, f"{name}[]") if not is_known else (), UNKNOWN)


def _braced(word: str, source: str) -> str:
    """Return a word with what stands in braces written out, the first pair of each field."""
    match = _BRACES.search(word) if source[:1] not in "'\"" else None
    if match is None:
        return word
    before, behind = word[: match.start()], word[match.end() :]
    return _BETWEEN_FIELDS.join(f"{before}{choice}{behind}" for choice in match[1].split(","))


def _ansi(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    if number or match[3]:
        return chr(int(number, 16) if number else int(match[3], 8) & 0xFF)
    return _ANSI_LETTERS.get(match[4], match[4])
