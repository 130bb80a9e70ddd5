"""Rules of `ask_for`: which calls a team wants to be asked for, as a client's own rules and matched here."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from team_console.console.clients.session_files import Data
from team_console.console.clients.shell import commands_in
from team_console.console.clients.shell_command import WRITES_FILE, Command
from team_console.console.clients.shell_programs import path_in, program_of
from team_console.console.clients.shell_values import UNKNOWN

_OURS = ("mcp__team-console__", "mcp__team_console__", "mcp__plugin_team-console_")


def _commands(text: str) -> tuple[list[str], ...]:
    return tuple(command.split() for command in text.replace("\n", ",").split(",") if command.strip())


_COMMANDS = {
    "push": _commands("""
        git push, git subtree push, git lfs push, git send-pack, git svn dcommit
        hg push, jj git push, sl push, bzr push, fossil push
    """),
    "publish": _commands("""
        npm publish, pnpm publish, yarn publish, yarn npm publish, bun publish, deno publish
        lerna publish, jsr publish, vsce publish, ovsx publish, cargo publish, gem push, mvn deploy
        gradle publish, sbt publish, changeset publish, nx release, semantic-release, goreleaser release
        mix hex.publish, dart pub publish, flutter pub publish, pod trunk push
        uv publish, poetry publish, hatch publish, flit publish, pdm publish, rye publish
        maturin publish, maturin upload, twine upload, python setup.py upload
        docker push, docker image push, docker compose push, docker buildx build --push, docker build --push
        podman push, buildah push, oras push, crane push, helm push, dotnet nuget push
        gh release create, gh release upload, glab release create
    """),
    "delete": _commands("""
        rm, rmdir, unlink, shred, srm, trash, trash-put, gio trash, rimraf, find -delete
        git rm, git clean, git reset --hard, git branch -D, git branch --delete --force
        git branch -d -f, git branch -d --force, git branch --delete -f
        git worktree remove, git stash drop, git stash clear, Remove-Item, remove-item, del
    """),
    "settings and hooks": _commands("""
        team-console join, team-console leave
        team-console member add, team-console member set, team-console member remove
        claude mcp add, claude mcp add-json, claude mcp remove, claude config set
        claude plugin install, claude plugin enable, claude plugin disable, claude plugin uninstall
        codex mcp add, codex mcp remove, qwen mcp add, qwen mcp remove
        git config core.hooksPath, git config set core.hooksPath, pre-commit install
    """),
    "network": _commands("curl, wget, ssh, scp, sftp, rsync, nc, ncat, socat, telnet, ftp, lftp, http"),
}
"""Commands that do what a word means, the program and its subcommands first; options may stand anywhere behind them."""
_TOOLS = {"network": ("WebFetch", "WebSearch")}
_GUARDED = [
    ".claude/",
    ".codex/",
    ".qwen/",
    ".git/hooks/",
    ".git/config",
    ".mcp.json",
    "messenger-config.yaml",
    ".team-console/messenger-config.yaml",
]
"""Files of a project that say what an agent may do, or run by themselves; folders end in a slash."""
_GUARDED_AT_HOME = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/",
    ".claude/skills/",
    ".claude/plugins/",
    ".claude.json",
    ".codex/",
    ".qwen/settings.json",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".gitconfig",
    ".ssh/",
]
_DEVICES, _SOCKETS = "/dev/", ("/dev/tcp/", "/dev/udp/")
_NO_DISK = tuple(
    f"/dev/{name}"
    for name in ("null", "zero", "full", "tty", "stdin", "stdout", "stderr", "fd", "shm", "pts", "tcp", "udp")
)
"""Devices to which nothing is lost."""
_CLIENTS_OWN = (".claude/plans", ".claude/projects", ".codex/memories")
"""Folders at home in which clients let their agents write."""
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_ALL_WRITTEN = frozenset(
    [
        WRITES_FILE,
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
        "perl",
        "dd",
        "sponge",
        "patch",
        "ed",
        "ex",
        "vi",
        "vim",
    ]
)
_IN_PLACE = frozenset(["sed", "perl"])
"""Those that write only with an option for it."""
_LAST_WRITTEN = frozenset(["cp", "ln", "install", "rsync", "scp"])
_WRITTEN_BY_OPTION = {
    **dict.fromkeys(("cp", "mv", "ln", "install"), ("-t", "--target-directory")),
    "curl": ("-o", "--output", "--output-dir"),
    "wget": ("-O", "--output-document", "-P", "--directory-prefix"),
    "sort": ("-o", "--output"),
    "patch": ("-o", "--output"),
    "unzip": ("-d",),
    "tar": ("-C", "--directory", "-f", "--file"),
}
"""Options whose word is a file or a folder that the program writes."""


def native_rules(rules: Collection[str]) -> list[str]:
    """Return those of `rules` that Claude Code can match itself, in its own words.

    A rule for all MCP servers would ask for our own, too; one for everything outside a folder asks inside as well.
    """
    found: list[str] = []
    for rule in rules:
        found += _TOOLS.get(rule, ())
        commands = map(" ".join, _COMMANDS.get(rule, ()))
        found += (f"Bash({command}:*)" for command in commands if command != "find -delete")
        if rule == "delete":
            found.append("Bash(find * -delete*)")
        if rule == "settings and hooks":
            places = (*_GUARDED, *(f"~/{place}" for place in _GUARDED_AT_HOME))
            found += (f"Edit({place}**)" if place.endswith("/") else f"Edit({place})" for place in places)
        if rule.startswith("mcp__") or rule[:1].isupper():
            found.append(rule)
    return found


def rule_for(data: Data, rules: Collection[str], *, project: str) -> str:
    """Find the first of `rules` by which a call is to be asked for; empty for none.

    Args:
        data: A `PreToolUse` event.
        project: The folder the session works in.
    """
    tool, given = str(data.get("tool_name")), data.get("tool_input")
    given, folder = given if isinstance(given, dict) else {}, str(data.get("cwd") or project)
    text = next((given[key] for key in ("command", "input") if isinstance(given.get(key), str)), "")
    words = given.get("command")
    if isinstance(words, list):  # as some clients name a program and what it is called with
        text = shlex.join(map(str, words))
    edited = [given[key] for key in ("file_path", "notebook_path") if isinstance(given.get(key), str)]
    edited += _PATCHED.findall(text) if tool == "apply_patch" else []
    is_edit = tool.endswith("Edit") or tool in ("Write", "apply_patch")
    paths = [_real(folder, path) for path in edited if is_edit]
    # guard: every-shell-of-a-client
    is_shell = isinstance(words, str | list) and tool != "apply_patch" and not tool.startswith("mcp__")
    commands = commands_in(text, folder) if is_shell else []

    def falls_under(rule: str) -> bool:
        if rule == "plans of teammates":
            return tool == "ExitPlanMode" and bool(data.get("agent_id"))
        if rule == "mcp":
            return tool.startswith("mcp__") and not tool.startswith(_OURS)
        if rule == "outside the project":
            return any(_is_outside(path, project) for path in (*paths, *_written(commands, project)))
        if rule == "settings and hooks" and any(
            _is_guarded(path, project) for path in (*paths, *_written(commands, project))
        ):
            return True
        if rule == "network" and any(
            found.words[0] == WRITES_FILE and found.words[1].startswith(_SOCKETS) for found in commands
        ):
            return True
        if rule in _COMMANDS:
            wanted = _COMMANDS[rule]
            programs = {words[0] for words in wanted}
            known = [found for found in commands if found.words[0] in programs or UNKNOWN in found.words[0]]
            return tool in _TOOLS.get(rule, ()) or any(found.is_of(words) for found in known for words in wanted)
        return _is_own(rule, tool, commands, paths, project)

    return next(filter(falls_under, rules), "")


def _real(folder: str, path: str) -> str:
    """Return a path without links on the way; as it is where no file can have it."""
    whole = path_in(folder, path)
    if os.path.normpath(whole).startswith(_DEVICES):  # of this process they are others
        return os.path.normpath(whole)
    try:
        return os.path.realpath(whole)
    except (OSError, ValueError):
        return os.path.normpath(whole)


def _is_own(rule: str, tool: str, commands: list[Command], edited: list[str], project: str) -> bool:
    """Return whether a rule in the words of Claude Code matches, as far as it is understood here."""
    name, _, what = rule.removesuffix(")").partition("(")
    if name == "Edit":
        pattern = os.path.join(project, os.path.expanduser(what[1:] if what.startswith("//") else what))
        return any(fnmatchcase(path, pattern) for path in edited)
    if not fnmatchcase(tool, name):
        return False
    if not what:
        return True
    begin = re.sub(r":\*$|\*$", "", what)
    wanted = begin.split()
    if begin != what and wanted and re.search(r"[*?[]", begin) is None:
        wanted[0] = program_of(wanted[0])
        if any(found.is_of(wanted) for found in commands):
            return True
    pattern = f"{begin} *" if what.endswith(":*") else f"{what} "
    lines = [
        " ".join([program, *found.words[1:], ""]) for found in commands for program in {found.called, found.words[0]}
    ]
    return any(fnmatchcase(line, pattern) for line in lines)


def _is_outside(path: str, project: str) -> bool:
    inside = (project, os.environ.get("TMPDIR") or "/tmp", "/var/tmp", *(f"~/{folder}" for folder in _CLIENTS_OWN))
    places = (*(os.path.realpath(os.path.expanduser(place)) for place in inside), *_NO_DISK)
    return not any(f"{path}/".startswith(f"{place}/") for place in places)


def _is_guarded(path: str, project: str) -> bool:
    places = [os.path.join(os.path.realpath(project), place) for place in _GUARDED]
    places += [os.path.join(os.path.realpath(os.path.expanduser("~")), place) for place in _GUARDED_AT_HOME]
    # Some file systems tell no letters apart by their case.
    path, places = path.casefold(), [place.casefold() for place in places]
    return any(f"{path}/".startswith(place) if place.endswith("/") else path == place for place in places)


def _written(commands: list[Command], project: str) -> Iterator[str]:
    """Yield the files that commands write, without links on the way; what is still a variable is left out.

    A folder that is known only when they run may be the project.
    """
    for found in commands:
        name, *words = found.words or [""]
        rest = [word.removeprefix("of=") for word in words if word[:1] != "-"]
        if name in _LAST_WRITTEN:
            rest = rest[-1:]
        elif name not in _ALL_WRITTEN or (
            name in _IN_PLACE and not any(re.match(r"-\w*i|--in", word) for word in words)
        ):
            rest = []
        rest += _named_by_option(_WRITTEN_BY_OPTION.get(name, ()), words)
        # guard: unknown-folder-may-be-the-project
        folder = found.folder if UNKNOWN not in found.folder else project
        yield from (_real(folder, path) for path in rest if UNKNOWN not in path)


def _named_by_option(options: Collection[str], words: list[str]) -> Iterator[str]:
    """Yield the words of these options, which stand behind them, or joined with them."""
    for word, behind in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if word in options:
            yield behind
        elif equals and name in options:
            yield value
        elif any(len(option) == 2 and word.startswith(option) for option in options):
            yield word[2:]
