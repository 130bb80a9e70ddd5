"""The quick look at an event: most need nothing, which is found out before anything heavy is imported."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from team_console.console.agents.session_files import (
    ALLOWED,
    ASKED,
    HANDED,
    LOOK,
    TEAMMATE,
    Data,
    SessionFiles,
)
from team_console.store.backends.locked_files import is_locked, open_folder

# Actions that a team wants to be asked for: as a client's own rules, and matched here where a rule cannot say them.

_OURS = ("mcp__team-console__", "mcp__team_console__", "mcp__plugin_team-console_")
_COMMANDS = {
    "push": ("git push", "hg push", "jj git push"),
    "publish": (
        *("npm publish", "pnpm publish", "yarn publish", "yarn npm publish", "bun publish", "cargo publish"),
        *("uv publish", "poetry publish", "twine upload", "gem push", "docker push", "podman push", "helm push"),
        *("dotnet nuget push", "gh release create"),
    ),
    "delete": ("rm", "rmdir", "unlink", "shred", "git clean", "git reset --hard", "git branch -D", "find -delete"),
    "network": ("curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "telnet", "ftp"),
}
"""Commands that do what a word means, the program and its subcommands first; options may stand anywhere behind them."""
EVERY_WORD = (*_COMMANDS, "outside the project", "settings and hooks", "mcp", "plans of teammates")
CODEX_QUESTION = "request_user_input"
_TOOLS = {"network": ("WebFetch", "WebSearch")}
_GUARDED = (".claude/", ".codex/", ".git/hooks/", ".git/config", ".mcp.json", "messenger-config.yaml")
"""Files of a project that say what an agent may do, or run by themselves; folders end in a slash."""
_GUARDED_AT_HOME = (
    *(".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/", ".claude/skills/", ".claude/plugins/"),
    *(".claude.json", ".codex/", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".gitconfig", ".ssh/"),
)
_CLIENTS_OWN = (".claude/plans", ".claude/projects", ".codex/memories")
"""Folders at home in which clients let their agents write."""
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_ALL_WRITTEN = frozenset(
    (
        "tee",
        "touch",
        "mkdir",
        "mkfifo",
        "truncate",
        "rm",
        "rmdir",
        "unlink",
        "shred",
        "mv",
        "chmod",
        "chown",
        "sed",
        "dd",
    )
)
_LAST_WRITTEN = frozenset(("cp", "ln", "install", "rsync", "scp"))
_PREFIXES = frozenset(("env", "timeout", "xargs", "time", "if", "then", "else", "do", "while", "until", "!", "{"))
"""Words before a command behind which Claude Code looks for its rules, too (seen with 2.1.331)."""
_UNSEEN_PREFIXES = frozenset(("sudo", "doas", "nohup", "nice", "command", "exec", "setsid", "stdbuf"))
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "eval"))
_GIT_OPTIONS = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))
"""Those before the subcommand that take a word of their own."""
_NO_COMMAND = re.compile(r"-|\w+=|[\d.]+[smhd]?$|\{\}$|\$$")
"""Words behind a prefix that are not yet the command."""
_TEXTS = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n.*?^[ \t]*\2[ \t]*$|^[ \t]*#[^\n]*$", re.DOTALL | re.MULTILINE)
"""Here-documents and comments: texts that are no commands."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")


def native_rules(rules: Collection[str]) -> list[str]:
    """Return those of `rules` that Claude Code takes as `permissions.ask`: it then asks by itself, at no cost.

    A rule for all MCP servers would ask for our own, too; one for everything outside a folder asks inside as well.
    """
    found: list[str] = []
    for rule in rules:
        found += _TOOLS.get(rule, ())
        found += (f"Bash({command}:*)" for command in _COMMANDS.get(rule, ()) if command != "find -delete")
        if rule == "delete":
            found.append("Bash(find * -delete*)")
        if rule == "settings and hooks":
            places = (*_GUARDED, *(f"~/{place}" for place in _GUARDED_AT_HOME))
            found += (f"Edit({place}**)" if place.endswith("/") else f"Edit({place})" for place in places)
        if rule.startswith("mcp__") or rule[:1].isupper():
            found.append(rule)
    return found


def rule_for(data: Data, rules: Collection[str], *, project: str, is_native: bool) -> str:
    """Find the first of `rules` by which a call is to be asked for; empty for none.

    Args:
        data: A `PreToolUse` event.
        project: The folder the session works in.
        is_native: Whether the client has the `native_rules` itself: then only what they miss counts.
    """
    tool, given = str(data.get("tool_name")), data.get("tool_input")
    given, folder = given if isinstance(given, dict) else {}, str(data.get("cwd") or project)
    text = next((given[key] for key in ("command", "input") if isinstance(given.get(key), str)), "")
    edited = [given[key] for key in ("file_path", "notebook_path") if isinstance(given.get(key), str)]
    edited += _PATCHED.findall(text) if tool == "apply_patch" else []
    is_edit = tool.endswith("Edit") or tool in ("Write", "apply_patch")
    paths = [os.path.realpath(os.path.join(folder, path)) for path in edited if is_edit and "\0" not in path]
    commands = list(_commands_in(text, folder)) if tool == "Bash" else []

    def falls_under(rule: str) -> bool:
        if rule == "plans of teammates":
            return tool == "ExitPlanMode" and bool(data.get("agent_id"))
        if rule == "mcp":
            return tool.startswith("mcp__") and not tool.startswith(_OURS)
        if rule == "outside the project":
            return any(_is_outside(path, project) for path in (*paths, *_written(commands)))
        if rule == "settings and hooks":
            return any(_is_guarded(path, project) for path in (*(() if is_native else paths), *_written(commands)))
        if rule in _COMMANDS:
            wanted = [command.split(" ") for command in _COMMANDS[rule]]
            by_tool = not is_native and tool in _TOOLS.get(rule, ())
            return by_tool or any(found.is_of(words, is_native) for found in commands for words in wanted)
        return not is_native and _is_own(rule, tool, commands, paths, project)

    return next(filter(falls_under, rules), "")


def _is_own(rule: str, tool: str, commands: list[_Command], edited: list[str], project: str) -> bool:
    """Return whether a rule in the words of Claude Code matches, as far as it is understood here."""
    name, _, what = rule.removesuffix(")").partition("(")
    if name == "Edit":
        pattern = os.path.join(project, os.path.expanduser(what[1:] if what.startswith("//") else what))
        return any(fnmatchcase(path, pattern) for path in edited)
    lines = [f"{' '.join(found.words)} " for found in commands] if what else [""]
    pattern = f"{what.removesuffix(':*')} *" if what.endswith(":*") else f"{what} " if what else ""
    return fnmatchcase(tool, name) and any(fnmatchcase(line, pattern) for line in lines)


def _is_outside(path: str, project: str) -> bool:
    scratch = (os.environ.get("TMPDIR") or "/tmp", "/var/tmp", "/dev")
    inside = (project, *scratch, *(f"~/{folder}" for folder in _CLIENTS_OWN))
    return not any(f"{path}/".startswith(f"{os.path.realpath(os.path.expanduser(place))}/") for place in inside)


def _is_guarded(path: str, project: str) -> bool:
    places = [os.path.join(os.path.realpath(project), place) for place in _GUARDED]
    places += [os.path.join(os.path.realpath(os.path.expanduser("~")), place) for place in _GUARDED_AT_HOME]
    return any(f"{path}/".startswith(place) if place.endswith("/") else path == place for place in places)


class _Command:
    """One command of a shell line.

    Attributes:
        words: From the program on.
        targets: Where its output is redirected to.
        folder: In which it runs.
        is_hidden: Whether the client's own rules do not see it.
    """

    def __init__(self, words: list[str], targets: list[str], folder: str, is_hidden: bool) -> None:
        self.words, self.targets, self.folder, self.is_hidden = words, targets, folder, is_hidden

    def is_of(self, wanted: list[str], is_native: bool) -> bool:
        """Return whether this is the `wanted` command, and none that the client's own rule for it sees."""
        program = [word for word in wanted if not word.startswith("-")]
        if self.words[: len(program)] != program or not all(word in self.words for word in wanted):
            return False
        is_seen = program[0] == "find" or self.words[: len(wanted)] == wanted
        return not is_native or self.is_hidden or not is_seen


def _written(commands: list[_Command]) -> Iterator[str]:
    """Yield the files that commands write, without links on the way; what is still a variable is left out."""
    for found in commands:
        name, *words = found.words or [""]
        rest = [word.removeprefix("of=") for word in words if word[:1] != "-"]
        if name in _LAST_WRITTEN:
            rest = rest[-1:]
        elif name not in _ALL_WRITTEN or (name == "sed" and not any(word.startswith("-i") for word in words)):
            rest = []
        for path in (*found.targets, *rest):
            if "$" not in path and "\0" not in path:
                yield os.path.realpath(os.path.join(found.folder, os.path.expanduser(path)))


def _commands_in(text: str, folder: str, *, is_hidden: bool = False, depth: int = 4) -> Iterator[_Command]:
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
                yield from _commands_in("".join(inner), folder, is_hidden=True, depth=depth - 1)
            yield from _unwrapped(words, targets, folder, is_hidden, depth)
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


def _unwrapped(words: list[str], targets: list[str], folder: str, is_hidden: bool, depth: int) -> Iterator[_Command]:
    """Yield a command without what stands before it, and those that it starts itself."""
    rest = list(words)
    while rest and (rest[0] in _PREFIXES or rest[0] in _UNSEEN_PREFIXES or _NO_COMMAND.match(rest[0])):
        is_hidden = is_hidden or rest[0] in _UNSEEN_PREFIXES
        del rest[0]
    if not rest:
        rest = [""]
    name = rest[0] = os.path.basename(rest[0])
    while name == "git" and rest[1:2] and rest[1].startswith("-"):
        del rest[1 : 3 if rest[1] in _GIT_OPTIONS else 2]
        is_hidden = True
    if name in _SHELLS:
        inner = rest[1:] if name == "eval" else rest[-1:] if any(re.match(r"-\w*c$", word) for word in rest) else []
        yield from _commands_in(" ".join(inner), folder, is_hidden=True, depth=depth - 1)
    yield from (_Command(rest[at + 1 :], [], folder, True) for at, word in enumerate(rest) if word[:5] == "-exec")
    yield _Command(rest, targets, folder, is_hidden)


_SERVER_PATIENCE = 5.0
"""Seconds for which a team on a server is not asked again: asking costs a connection."""
Look = dict[str, object]


def marks_of(places: dict[str, str]) -> dict[str, object]:
    """Return the present state of a store's files, to compare for equality only.

    An empty log of a database is none: it comes and goes with whoever looks.
    """
    marks: dict[str, object] = {}
    for name in {"queue", "settings", "database", "log"} & places.keys():
        try:
            found = os.stat(places[name])
        except OSError:
            continue
        if name != "log" or found.st_size:
            marks[name] = [found.st_ino, found.st_size, found.st_mtime_ns]
    return marks


def has_changed(look: Look, now: float) -> bool:
    """Return whether something may wait for the agents of the look that did not when it was made."""
    places, at = look.get("places"), look.get("at")
    if places == {}:
        return not isinstance(at, float) or not 0 <= now - at < _SERVER_PATIENCE
    return not isinstance(places, dict) or _has_files(places.get("drop")) or look.get("marks") != marks_of(places)


def _has_files(folder: object) -> bool:
    """Return whether messages lie there that somebody who cannot lock handed in."""
    try:
        return isinstance(folder, str) and any(name != "rejected" for name in os.listdir(folder))
    except OSError:
        return False


def _anybody(look: Look, prefix: str, *, locked: bool) -> bool | None:
    """Return whether somebody is present, or was and has ended; None when that cannot be told from files."""
    places = look.get("places")
    try:
        folder = open_folder(str(places["presence"])) if isinstance(places, dict) else -1
    except FileNotFoundError:
        return False
    except (OSError, KeyError):
        return None
    try:
        return any(is_locked(folder, name) is locked for name in os.listdir(folder) if name.startswith(prefix))
    finally:
        os.close(folder)


# Quick look at an event: most of them need nothing, and are known as such before anything heavy is imported.

_ALWAYS = frozenset({"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PermissionDenied", "ConfigChange"})
"""Events that always have something to do."""
_AFTER = frozenset({"PostToolUse", "PostToolUseFailure"})
_TEAMMATES = {"SubagentStart": "working", "SubagentStop": "", "TeammateIdle": "idle"}
"""Events of teammates, and what a teammate is known to be doing when they say nothing new."""


def needs_nothing(call: Invocation, files: SessionFiles) -> bool:
    """Return whether nothing follows from this event."""
    data, name = call.data, call.data.get("hook_event_name")
    if not isinstance(name, str) or name in _ALWAYS:
        return not isinstance(name, str)
    if name == "PreToolUse":
        return not files.names(ALLOWED) and not _is_asked_for(call, files)
    if name in _TEAMMATES:
        return not _concerns_teammate(name, data, files) and not files.names(ASKED)
    if name not in _AFTER and name != "PermissionRequest":
        return True
    look = files.read(LOOK)
    if look is None or _anybody(look, "asker-", locked=False):  # one that is gone and took nothing back
        return False
    if name == "PermissionRequest":
        return _asks_nobody(look)
    return not (look.get("urgent") or files.names(HANDED) or files.names(ASKED) or has_changed(look, time.time()))


def teammate_of(data: Data) -> str | None:
    """Return the teammate whose event this is: its name stands in `agent_type`, and in its id with a letter before
    it.

    A subagent has the name of its kind there instead, and an id that does not say it.
    """
    named, kind, thread = data.get("teammate_name"), data.get("agent_type"), data.get("agent_id")
    if isinstance(named, str) and named:
        return named
    if isinstance(kind, str) and isinstance(thread, str) and kind and thread.startswith(f"a{kind}-"):
        return kind
    return None


def _is_asked_for(call: Invocation, files: SessionFiles) -> bool:
    """Return whether a call is one of those that the team wants to be asked for, or a question, while somebody is
    there.
    """
    look = files.read(LOOK)
    if look is not None and _asks_nobody(look):
        return False
    rules = look.get("ask_for") if look is not None else None
    words = list(map(str, rules)) if isinstance(rules, list) else EVERY_WORD
    return call.data.get("tool_name") == CODEX_QUESTION or call.rule_for(words) != ""


def _asks_nobody(look: Look) -> bool:
    """Return whether a request would wait for nobody."""
    places, before = look.get("places"), look.get("marks")
    if not isinstance(places, dict) or not places or not isinstance(before, dict) or look.get("granted"):
        return False
    current = marks_of(places)
    if (before.get("settings") != current.get("settings")) if "queue" in places else before != current:
        return False
    is_away = look.get("wait") == "present" and _anybody(look, "console-", locked=True) is False
    return is_away or look.get("wait") == "never"


def _concerns_teammate(name: str, data: Data, files: SessionFiles) -> bool:
    teammate = teammate_of(data)
    known = files.read(TEAMMATE + teammate) if teammate is not None else None
    return teammate is not None and (known is None or known.get("doing") != _TEAMMATES[name])


# Invocation of the hook: how it was called, and with which event.

WAKE = 2
"""Exit status by which a waiting hook wakes its session; only `--wake` gives it."""


class Invocation:
    """How the hook was called, and with which event.

    Attributes:
        actor: Whose session it is, empty when nobody said.
        location: The team as it was given, empty for the one of the current folder.
        timeout: Seconds after which the client waits no longer, as text.
        wake: Whether to wait for mail and wake the session.
        has_rules: Whether the client's settings hold what a rule of its own can say.
        holds: Whether the call waits for a human even where none is there, and is refused where none decides.
        has_own_name: Whether the session joined with all others, under a name made for it.
        data: The event.
    """

    def __init__(self, options: dict[str, str], data: dict[str, object]) -> None:
        self.actor = options.get("actor") or os.environ.get("TEAM_CONSOLE_AS", "")
        self.location = options.get("team") or os.environ.get("TEAM_CONSOLE_TEAM", "")
        self.client = options.get("client", "")
        self.timeout = options.get("timeout", "")
        self.wake = "wake" in options
        self.has_rules = "has_rules" in options
        self.has_own_name = False
        self.holds = "hold" in options
        self.data = data

    @property
    def session(self) -> str:
        """The client's own id of its session."""
        session = self.data.get("session_id")
        return session if isinstance(session, str) else ""

    @property
    def attended(self) -> str:
        """Whether somebody is at the client's terminal: `1`; `0` for a run without one, which ends only when its hooks
        have; empty where it does not say."""
        return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED", "")

    def rule_for(
        self, rules: Collection[str], given: Mapping[str, object] | None = None, *, is_native: bool | None = None
    ) -> str:
        """Return the rule by which this use of a tool, or one with another input, is to be asked for; empty for
        none.
        """
        project = os.environ.get("CLAUDE_PROJECT_DIR") or str(self.data.get("cwd") or os.curdir)
        data = self.data if given is None else {**self.data, "tool_input": dict(given)}
        return rule_for(data, rules, project=project, is_native=self.has_rules if is_native is None else is_native)
