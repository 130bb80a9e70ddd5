"""Commands in a text for a shell: every command that it can run, as far as the text itself says it.

The text is read by tree-sitter, which knows the grammar of bash (`shell_tree`). There are three steps. A walk over the
tree notes each command as it stands there, and the values of variables (`shell_walk`). `_TextReader.run` takes the
noted commands one by one, with each choice of values in the place of variables (`shell_values`).
`_TextReader._run_command` notes what a command does: the commands it starts (`shell_programs`), the variables it sets,
and the texts it runs, which are read in their turn. For example, of `A=push; git $A` the words `git` and "use of A" are
noted, and `push` as a value of A; with it the second step finds the command `git push`.

What does not parse is cut at everything that can end a command, so that rather too many commands are seen than too few.
Time and memory grow with the length of the text: what is parsed has a largest size, and repeated expansions an end;
what goes beyond is cut as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice

from team_console.console.clients.shell_command import WRITES_FILE, Command
from team_console.console.clients.shell_programs import (
    STANDARD_INPUT,
    arguments_of,
    behind_options_of_read,
    each_word,
    folder_behind,
    folders_told,
    path_below,
    program_of,
    script_of,
    started_by,
    words_of_options,
)
from team_console.console.clients.shell_tree import TextParser
from team_console.console.clients.shell_values import (
    BETWEEN_WORDS,
    SPLIT,
    UNKNOWN,
    Variables,
    file_content,
    function_input,
    function_output,
    unescaped,
    use_of,
)
from team_console.console.clients.shell_walk import BRACES, READS_FILE, SETS_EACH, CommandInText, TextWalk

_DEEPEST = 8
"""Texts within texts, functions within functions, wrappers within wrappers that are followed."""
_MOST_WORDS = 2_000
"""Words of what does not parse at which a command may begin."""
_MOST_FOLDERS = 8
"""Folders in which one command is taken to run."""
_MOST_LINES = 64
"""Lines that `read` is taken to read."""
_TAKE_NO_ASSIGNMENT = frozenset(("builtin", "command", "eval"))
"""Programs for which a word with an equals sign is part of a text, or of another command."""
_COMMAND_ENDS = re.compile(r"[;|&()\n`]|[{}](?=[\s;]|$)|(?<=\s)\{")
"""Signs that may end a command, braces only where they stand alone or begin a word."""
_REDIRECTION = re.compile(r"\d*[<>]")
"""Begins a word that is a redirection."""
_SET_FROM_INPUT = frozenset(("read", "mapfile", "readarray"))
"""Programs that set variables from what they read."""
_PRINT_NOTHING = _SET_FROM_INPUT | frozenset(
    each_word("""
    alias break cd continue declare exit export false local mkdir readonly return set shift sleep test touch true
    typeset unset [ :
    """)
)
"""Programs that print nothing."""

_FIND_FILES = frozenset(("find", "grep", "egrep", "fgrep", "rg", "ag"))
"""Programs that print names of files below folders that they are told."""

_DIRECTIVE = re.compile(r"%[-\d]*[sbq]")
_STRINGS_END = re.compile(r"[\"'/|=]")
_MOST_ROUNDS = 64
"""How often `printf` is taken to use its format again for further words."""


def commands_in(text: str, folder: str) -> list[Command]:
    """Return the commands of a text for a shell that begins in `folder`, with those that they start."""
    reader = _TextReader(len(text), folder)
    # Without the signs that mean something in a word here (`shell_values`).
    text = re.sub("[\0-\4]", "", text).replace("\r\n", "\n").replace("\r", "\n")
    reader.read(text, CommandInText([], "", (), folder, -1))
    reader.run()
    return [*reader.in_folders()]


def _commands_guessed(text: str) -> Iterator[list[str]]:
    """Yield what follows on anything that can end a command, whatever quotes and comments say."""
    plain = re.sub(r"['\"\\]", "", text.replace("\\\n", ""))
    for piece in _COMMAND_ENDS.split(BRACES.sub(lambda match: match[1].replace(",", " "), plain)):
        words = [word for word in piece.replace("$", " ").split() if _REDIRECTION.match(word) is None]
        at = 0
        while at < len(words) and re.match(r"\w+=|[{!]$", words[at]):  # assignments, and signs before a command
            at += 1
        for first in range(at, min(at + _MOST_WORDS, len(words))):
            command = words[first : first + 64]
            yield command
            if next(started_by([program_of(command[0]), *command[1:]]), None) is None:
                break


class _TextReader:
    """Reads texts for a shell, one within another.

    Attributes:
        found: The commands that were found, each with the values of its variables.
        _waiting: Commands as they stand in texts, to be run.
        _aliases: Name -> the text that it stands for.
    """

    def __init__(self, length: int, folder: str) -> None:
        self.found: list[Command] = []
        self._waiting: list[CommandInText] = []
        self._variables = Variables(8 * length + 100_000, folder)
        self._give = self._variables.give
        self._parser = TextParser()
        self._aliases: dict[str, str] = {}

    def read(self, text: str, run_by: CommandInText) -> None:
        """Note the commands that stand in a text, which a command runs."""
        self._variables.budget -= len(text)
        # guard: shell-work-bounded
        parsed = None if run_by.depth + 1 >= _DEEPEST or self._variables.budget < 0 else self._parser.parse(text)
        if parsed is None:
            self._guess(text, run_by.folder)
            return
        walk = TextWalk(parsed, self._variables, run_by)
        try:
            walk.visit(parsed.root, run_by.reads)
        except RecursionError:
            self._guess(text, walk.folder)
        self._waiting += walk.commands
        if not parsed.is_whole:
            self._guess(text, walk.folder)

    def _guess(self, text: str, folder: str) -> None:
        self.found += (Command(words, folder) for words in _commands_guessed(text))

    def run(self) -> None:
        """Follow what the noted commands start, until nothing new comes of it.

        What has no value then is known only when the text runs.
        """
        for self._variables.takes_unknown in (False, True):
            for _ in range(_DEEPEST):
                self._variables.has_news = False
                for noted in self._waiting:  # which grows meanwhile
                    for words in self._variables.expanded(noted.words):
                        if words and tuple(words) not in noted.tried:
                            noted.tried.add(tuple(words))
                            self._run_command(words, noted)
                if not self._variables.has_news:
                    break

    def in_folders(self) -> Iterator[Command]:
        """Yield the commands that were found, each in every folder in which it may run."""
        folders: dict[str, list[str]] = {}
        for found in self.found:
            if BETWEEN_WORDS not in found.folder:  # one path, and no words with variables in them
                yield found
                continue
            if found.folder not in folders:
                choices = islice(self._variables.expanded([found.folder]), _MOST_FOLDERS)
                folders[found.folder] = [reduce(path_below, parts) for parts in choices]
            yield from (Command([found.called, *found.words[1:]], folder) for folder in folders[found.folder])

    def _run_command(self, words: list[str], noted: CommandInText) -> None:
        """Note a command whose variables have values, and what comes of it."""
        if words[0] in _OWN_EFFECTS:
            _OWN_EFFECTS[words[0]](self, words, noted)
            return
        waiting = [(words, 0, noted)]  # a command, how many started it one within another, and where it stands
        while waiting:
            given, level, noted = waiting.pop()
            self._variables.budget -= len(given)
            if not given or level > 2 * _DEEPEST or self._variables.budget < 0:
                self._guess(" ".join(given), noted.folder)
                continue
            folder = reduce(folder_behind, folders_told([program_of(given[0]), *given[1:]]), noted.folder)
            noted = noted if folder == noted.folder else noted.starts(given, folder)
            command = Command(given, folder)
            self.found.append(command)
            self._note_effects(command.called, command.words, noted)
            for started in started_by(command.words):
                if isinstance(started, str):
                    self._variables.add_arguments(arguments_of(command.words))
                    self.read(started, noted)
                elif started:
                    waiting.append((started, level + 1, noted))

    def _note_effects(self, called: str, command: list[str], noted: CommandInText) -> None:
        """Note what a command means for others, and for the pipeline in which it stands.

        Args:
            called: The program as it is written.
        """
        name = command[0]
        for word in command[1:]:
            key, equals, value = word.partition("=")
            if equals and name == "alias":
                self._aliases[key] = value
                self.read(value, noted)
            elif equals and key.isidentifier() and name not in _TAKE_NO_ASSIGNMENT:
                self._give(value, key)
        if called in self._aliases:
            quoted = (" '" + word.replace("'", "'\\''") + "'" for word in command[1:])
            self.read(self._aliases[called] + "".join(quoted), noted)
        elif function_output(called) in self._variables:
            self._variables.add_arguments(command)
            self._give(use_of(function_output(called)), *noted.outputs)
            self._give(use_of(noted.reads), function_input(called))
        elif name in _EFFECTS:
            _EFFECTS[name](self, command, noted)
        elif name not in _PRINT_NOTHING and next(started_by(command), None) is None:
            self._pass_on(command, noted)
        # What was written into a file in the same text is a text for a shell, too.
        script = called if "/" in called else script_of(command)
        content = noted.reads if script == STANDARD_INPUT else _content_of(script, noted)
        if script not in ("", STANDARD_INPUT, called):
            self.found.append(Command([script], noted.folder))
        if script == STANDARD_INPUT or (script and content in self._variables):
            self._waiting.append(noted.starts(["eval", use_of(content)]))

    # What programs mean for variables, pipelines and files.

    def _write_file(self, words: list[str], noted: CommandInText) -> None:
        for file in words[1:2]:
            if not file.isdigit() and file != "-":
                self.found.append(Command(words, noted.folder))
                self._give(use_of("".join(noted.outputs[:1])), _content_of(file, noted))

    def _read_file(self, words: list[str], noted: CommandInText) -> None:
        for file in words[1:2]:  # which `$(<FILE)` prints
            self._give(use_of(_content_of(file, noted)), noted.reads, *noted.outputs)

    def _set_each(self, words: list[str], noted: CommandInText) -> None:
        for word in words[2:]:
            self._give(word, words[1])

    def _set_arguments(self, command: list[str], noted: CommandInText) -> None:
        self._variables.add_arguments([UNKNOWN, *command[2 if command[1:2] == ["--"] else 1 :]])

    def _shift(self, command: list[str], noted: CommandInText) -> None:
        self._variables.shift_arguments()

    def _await_text(self, command: list[str], noted: CommandInText) -> None:
        """Let `read` or `mapfile` set its variables once it is known what it reads."""
        self._waiting.append(noted.starts([_once_known(command[0]), *command[1:], use_of(noted.reads)]))

    def _set_read(self, words: list[str], noted: CommandInText) -> None:
        """Set the variables of `read` or `mapfile`: behind its options and names stands the text that it reads."""
        *given, text = words
        names = [word for word in given[behind_options_of_read(words) :] if word.isidentifier()] or ["REPLY"]
        has_other_end = "-d" in given  # than that of a line
        lines = [text] if has_other_end else text.split("\n")[:_MOST_LINES]
        marks = self._variables.between_fields()
        if words[0] != _once_known("read"):  # `mapfile`, of which each name is a list of lines
            for name in names:
                self._variables.add_list(name, lines)
        for line in lines:
            if any(re.match(r"-\w*a$", word) for word in given):
                self._variables.add_list(names[0], re.split(marks, line.strip()))
            fields = re.split(marks, line.strip(), maxsplit=len(names) - 1) if names[1:] else [line]
            for number, name in enumerate(names):
                self._give(fields[number] if number < len(fields) else "", name, f"{name}[]")
                if has_other_end or UNKNOWN in text:
                    self._give(UNKNOWN, name, f"{name}[]")

    def _apply(self, command: list[str], noted: CommandInText) -> None:
        """Run the command of `xargs` or `parallel` on what it reads: in the place of the mark that `-I` names, else of
        `{}`, else behind its words.
        """
        mark = next(words_of_options(("-I",), command), "{}")
        for started in started_by(command):
            words = started if isinstance(started, list) else ["eval", started]
            if any(mark in word for word in words):
                words = [word.replace(mark, use_of(noted.reads)) for word in words]
            else:
                words = [*words, use_of(noted.reads, SPLIT)]
            self._waiting.append(noted.starts(words))

    def _print(self, command: list[str], noted: CommandInText) -> None:
        kept, words = list(noted.outputs), command
        if command[:2] == ["printf", "-v"]:
            kept, words = command[2:3], ["printf", *command[3:]]
        for text in _texts_printed(words):
            self._give(text, *kept)

    def _print_files(self, command: list[str], noted: CommandInText) -> None:
        for name in [_content_of(file, noted) for file in command[1:]] or [noted.reads]:
            self._give(use_of(name), *noted.outputs)

    def _print_names(self, command: list[str], noted: CommandInText) -> None:
        """Print names of files below each folder that the command looks through."""
        for folder in _folders_searched(command):
            self._give(f"{folder}/{UNKNOWN}", *noted.outputs)
        self._pass_on(command, noted)

    def _pass_on(self, command: list[str], noted: CommandInText) -> None:
        """Print what a program is given, perhaps behind a word of its own, as `sed` and `awk` do."""
        for text in (UNKNOWN, *_strings_in(command), *([use_of(noted.reads)] if noted.reads else [])):
            self._give(text, *noted.outputs)

    def _copy(self, command: list[str], noted: CommandInText) -> None:
        files = [_content_of(file, noted) for file in command[1:]]
        self._give(use_of(noted.reads), *noted.outputs, *files)


def _texts_printed(words: Sequence[str]) -> list[str]:
    """Return what `echo` or `printf` may print, as far as a text for a shell needs it: shells differ in escapes."""
    rest = [word for word in words[1:] if re.match(r"-[neE]+$", word) is None]
    text = " ".join(rest)
    if words[0] == "printf" and rest:
        rest[0] = unescaped(rest[0])
        given, used = rest[1:], len(_DIRECTIVE.findall(rest[0]))
        rounds = [given[at : at + used] for at in range(0, max(len(given), 1), used)] if used else [[]]
        text = "".join(_formatted(rest[0], words) for words in rounds[:_MOST_ROUNDS])
    return [text, unescaped(text)]


def _folders_searched(words: Sequence[str]) -> list[str]:
    """Return the files and folders that one of `_FIND_FILES` looks through, as its words name them."""
    rest = words[1:]
    if words[0] == "find":
        end = next((at for at, word in enumerate(rest) if word[:1] in ("-", "(", "!")), len(rest))
        return list(rest[:end])
    named = [word for word in rest if word[:1] not in ("", "-")]
    return named if any(re.match(r"-\w*[ef]$|--regexp|--file", word) for word in rest) else named[1:]


def _strings_in(words: Sequence[str]) -> list[str]:
    """Return the strings of several words in the arguments of a program, which may print them."""
    strings = [string for word in words[1:] for string in _STRINGS_END.split(word)]
    return [string for string in strings if " " in string.strip()]


def _formatted(form: str, given: Sequence[str]) -> str:
    rest = iter(given)
    return _DIRECTIVE.sub(lambda match: next(rest, ""), form)


def _content_of(file: str, noted: CommandInText) -> str:
    """Return the variable that keeps what is written into a file, as a command names it."""
    return file_content(path_below(noted.folder, file))


def _once_known(program: str) -> str:
    """Return what stands for a program that sets variables, once it is known what it reads."""
    return f"<{program}"


_Effect = Callable[[_TextReader, list[str], CommandInText], None]
_EFFECTS: dict[str, _Effect] = {
    **dict.fromkeys(_SET_FROM_INPUT, _TextReader._await_text),
    "set": _TextReader._set_arguments,
    "shift": _TextReader._shift,
    "xargs": _TextReader._apply,
    "parallel": _TextReader._apply,
    "echo": _TextReader._print,
    "printf": _TextReader._print,
    "cat": _TextReader._print_files,
    **dict.fromkeys(_FIND_FILES, _TextReader._print_names),
    "tee": _TextReader._copy,
}
"""Programs that pass a text on, or give a variable its value."""
_OWN_EFFECTS: dict[str, _Effect] = {
    **{_once_known(name): _TextReader._set_read for name in _SET_FROM_INPUT},
    READS_FILE: _TextReader._read_file,
    WRITES_FILE: _TextReader._write_file,
    SETS_EACH: _TextReader._set_each,
}
"""The same of commands that no text has."""
