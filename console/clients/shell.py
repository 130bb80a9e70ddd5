"""Commands in a text for a shell, as far as the rules of `ask_for` need them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

_PREFIXES = frozenset(
    (
        *("env", "timeout", "xargs", "time", "if", "then", "else", "do", "while", "until", "!", "{"),
        *("sudo", "doas", "nohup", "nice", "command", "exec", "setsid", "stdbuf"),
    )
)
"""Words before a command."""
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "eval"))
_GIT_OPTIONS = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))
"""Those before the subcommand that take a word of their own."""
_NO_COMMAND = re.compile(r"-|\w+=|[\d.]+[smhd]?$|\{\}$|\$$")
"""Words behind a prefix that are not yet the command."""
_TEXTS = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n.*?^[ \t]*\2[ \t]*$|^[ \t]*#[^\n]*$", re.DOTALL | re.MULTILINE)
"""Here-documents and comments: texts that are no commands."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")


class Command:
    """One command of a shell line.

    Attributes:
        words: From the program on.
        targets: Where its output is redirected to.
        folder: In which it runs.
    """

    def __init__(self, words: list[str], targets: list[str], folder: str) -> None:
        self.words, self.targets, self.folder = words, targets, folder

    def is_of(self, wanted: list[str]) -> bool:
        """Return whether this is the `wanted` command."""
        program = [word for word in wanted if not word.startswith("-")]
        return self.words[: len(program)] == program and all(word in self.words for word in wanted)


def commands_in(text: str, folder: str, depth: int = 4) -> Iterator[Command]:
    """Yield the commands of a line for a shell, with those that it gives another shell."""
    known = {"HOME": os.path.expanduser("~"), "PWD": folder}
    words: list[str] = []
    targets: list[str] = []
    tokens = iter([*_tokens(_TEXTS.sub(r"\3", text)), ";"] if depth else ())
    for token in tokens:
        if token.strip("();|&\n<>"):
            words.append(_expanded(token, known))
        elif ">" in token and "(" not in token:
            target = _expanded(next(tokens, "-"), known)
            targets += [] if target.isdigit() or target == "-" else [target]
        elif "<" not in token:
            if all("=" in word for word in words):
                known |= dict(word.partition("=")[::2] for word in words)
            for inner in _INNER.findall(" ".join(words)):
                yield from commands_in("".join(inner), folder, depth - 1)
            yield from _unwrapped(words, targets, folder, depth)
            if words[:1] == ["cd"] and len(words) > 1:
                folder = os.path.join(folder, os.path.expanduser(words[1]))
            words, targets = [], []


def _expanded(word: str, known: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), word)


def _tokens(text: str) -> list[str]:
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
        lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
        return list(lexer)
    except ValueError:  # a quote that does not end: better too many words than none
        return _tokens(re.sub(r"['\"`\\]", " ", text))


def _unwrapped(words: list[str], targets: list[str], folder: str, depth: int) -> Iterator[Command]:
    """Yield a command without what stands before it, and those that it starts itself."""
    rest = list(words)
    while rest and (rest[0] in _PREFIXES or _NO_COMMAND.match(rest[0])):
        del rest[0]
    if not rest:
        rest = [""]
    name = rest[0] = os.path.basename(rest[0])
    while name == "git" and rest[1:2] and rest[1].startswith("-"):
        del rest[1 : 3 if rest[1] in _GIT_OPTIONS else 2]
    if name in _SHELLS:
        inner = rest[1:] if name == "eval" else rest[-1:] if any(re.match(r"-\w*c$", word) for word in rest) else []
        yield from commands_in(" ".join(inner), folder, depth - 1)
    yield from (Command(rest[at + 1 :], [], folder) for at, word in enumerate(rest) if word[:5] == "-exec")
    yield Command(rest, targets, folder)
