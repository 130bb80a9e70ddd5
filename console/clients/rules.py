"""Rules of `ask_for`: which calls a team wants to be asked for, as a client's own rules and matched here."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection
from fnmatch import fnmatchcase

from team_console.console.clients.session_files import EventData
from team_console.console.clients.shell_command import ANY, Command, files_emptied, files_written, real_path
from team_console.console.clients.shell_programs import (
    command_list,
    each_word,
    program_of,
)
from team_console.console.clients.shell_reader import commands_in
from team_console.console.clients.shell_values import UNKNOWN

_OUR_TOOLS = ("mcp__team-console__", "mcp__team_console__", "mcp__plugin_team-console_")


_COMMANDS = {
    "push": command_list("""
        git push, git subtree push, git lfs push, git send-pack, git http-push, git svn dcommit, git p4 submit
        git annex push, git annex sync, hg push, jj git push, sl push, bzr push, fossil push, hub push, dvc push
        svn commit, svn ci, git review, arc land, gt submit, gt stack submit, ghstack submit
        gh repo create --push, gh pr merge, glab mr merge
    """),
    "publish": command_list("""
        npm publish, npm pub, npm unpublish, npm dist-tag add, pnpm publish, pnpm recursive publish
        yarn publish, yarn npm publish, bun publish, deno publish
        lerna publish, jsr publish, vsce publish, ovsx publish, wrangler publish, np, release-it
        cargo publish, cargo release --execute, cargo workspaces publish, cargo smart-release --execute
        gem push, rake release, mvn deploy, mvn deploy:deploy-file, mvn release:perform, mvn nexus-staging:release
        gradle publish, gradle publishToMavenCentral, gradle publishAndReleaseToMavenCentral, gradle publishPlugins
        gradle publishToSonatype, sbt publish, sbt publishSigned, sbt ci-release, sbt sonatypeBundleRelease
        changeset publish, pnpm changeset publish, yarn changeset publish, yarn lerna publish, nx release
        semantic-release, goreleaser release
        mix hex.publish, dart pub publish, flutter pub publish, pod trunk push
        snapcraft upload, snapcraft push, luarocks upload, cabal upload, stack upload, opam publish, elm publish
        anaconda upload, ko publish, nuget push, swift package-registry publish, python setup.py sdist upload
        python setup.py sdist bdist_wheel upload, python setup.py bdist_wheel upload
        uv publish, poetry publish, hatch publish, flit publish, pdm publish, rye publish
        maturin publish, maturin upload, twine upload, python setup.py upload
        docker push, docker image push, docker compose push, docker buildx build --push, docker build --push
        docker manifest push, docker buildx bake --push, nerdctl push
        podman push, buildah push, oras push, crane push, helm push, dotnet nuget push
        gh release create, gh release upload, glab release create, glab release upload, hub release create
    """),
    "delete": command_list("""
        rm, rmdir, unlink, shred, srm, safe-rm, trash, trash-put, gio trash, rimraf, yarn rimraf, pnpm rimraf, del-cli
        find -delete
        git rm, git clean !--dry-run !-n, git reset --hard, git branch -D, git branch --delete --force
        git branch -d -f, git branch -d --force, git branch --delete -f, git tag -d, git tag --delete
        git worktree remove, git stash drop, git stash clear, git update-ref -d, git reflog expire, git filter-repo
        git checkout --, git checkout ., git checkout -f, git checkout --force
        git switch -f, git switch --force, git switch --discard-changes
        git restore !--staged !-S, git restore --worktree, git restore -W
        hg purge, hg strip, svn delete, svn rm, Remove-Item, remove-item, del, erase, rd, tar --remove-files
        rsync --delete-after, rsync --delete-before, rsync --delete-delay, rsync --delete-during
        rsync --delete-excluded, rsync --remove-source-files, crontab -r, dropdb
        docker volume rm, docker volume prune, docker system prune, docker compose down -v
        docker compose down --volumes, docker-compose down -v, docker-compose down --volumes
        kubectl delete, oc delete, helm uninstall, helm delete, terraform destroy, terraform apply -destroy
        tofu destroy, pulumi destroy, cdk destroy, fly apps destroy, flyctl apps destroy, heroku apps:destroy
        aws s3 rm, aws s3 rb, aws s3 sync --delete, gsutil rm, gcloud storage rm, rclone delete, rclone purge
        az group delete, az resource delete, az vm delete, az storage blob delete, az storage account delete
        gcloud projects delete, gcloud compute instances delete, gcloud sql instances delete
        gcloud run services delete, gcloud functions delete, doctl compute droplet delete
        gh repo delete, gh release delete, glab repo delete, git filter-branch, wipefs -a, mkfs, mkfs.ext4, blkdiscard
    """),
    "settings and hooks": command_list("""
        team-console join, team-console leave
        team-console member add, team-console member set, team-console member remove
        claude mcp add, claude mcp add-json, claude mcp add-from-claude-desktop, claude mcp remove
        claude mcp reset-project-choices, claude config set, claude config add, claude config remove
        claude plugin install, claude plugin enable, claude plugin disable, claude plugin uninstall
        codex mcp add, codex mcp remove, qwen mcp add, qwen mcp remove
        git config core.hooksPath *, git config --unset core.hooksPath, git config --unset-all core.hooksPath
        git config set core.hooksPath, git config unset core.hooksPath
        pre-commit install, pre-commit uninstall, lefthook install, lefthook uninstall, husky
    """),
    "network": command_list("curl, wget, ssh, scp, sftp, rsync, nc, ncat, socat, telnet, ftp, lftp, http"),
}
"""Commands that do what a word means, the program and its subcommands first; options may stand anywhere behind the
first of those, an asterisk is any word, and with an option behind an exclamation mark the command does no such thing.
"""
_TOOLS = {"network": ("WebFetch", "WebSearch")}
"""The same of tools of a client."""
_GUARDED = each_word("""
    .claude/ .codex/ .qwen/ .git/hooks/ .git/config .mcp.json
    messenger-config.yaml .team-console/messenger-config.yaml
""")
"""Files of a project that say what an agent may do, or run by themselves; folders end in a slash."""
_GUARDED_AT_HOME = each_word("""
    .claude/settings.json .claude/settings.local.json .claude/hooks/ .claude/skills/ .claude/plugins/ .claude.json
    .codex/ .qwen/settings.json .bashrc .bash_profile .profile .zshrc .zshenv .gitconfig .ssh/
""")
"""The same in the user's home."""
_SOCKETS = ("/dev/tcp/", "/dev/udp/")
"""Begin paths by which a shell opens a connection."""
_NO_DISK = each_word("""
    /dev/null /dev/zero /dev/full /dev/tty /dev/stdin /dev/stdout /dev/stderr /dev/fd /dev/shm /dev/pts
    /dev/tcp /dev/udp
""")
"""Devices to which nothing is lost."""
_CLIENTS_OWN = (".claude/plans", ".claude/projects", ".codex/memories")
"""Folders at home in which clients let their agents write."""
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
"""A line of a patch, as the tool `apply_patch` takes it, that names a file."""


def native_rules(rules: Collection[str]) -> list[str]:
    """Return those of `rules` that Claude Code can match itself, in its own words.

    A rule for all MCP servers would ask for our own, too; one for everything outside a folder asks inside as well.
    """
    found: list[str] = []
    for rule in rules:
        found += _TOOLS.get(rule, ())
        # With what makes it harmless a command is held, too: such a rule has no exceptions.
        named = ([word for word in words if word[:2] != "!-" and word != ANY] for words in _COMMANDS.get(rule, ()))
        commands = dict.fromkeys(map(" ".join, named))
        found += (f"Bash({command}:*)" for command in commands if command != "find -delete")
        if rule == "delete":
            found.append("Bash(find * -delete*)")
        if rule == "settings and hooks":
            places = (*_GUARDED, *(f"~/{place}" for place in _GUARDED_AT_HOME))
            found += (f"Edit({place}**)" if place.endswith("/") else f"Edit({place})" for place in places)
        if rule.startswith("mcp__") or rule[:1].isupper():
            found.append(rule)
    return found


def rule_for(data: EventData, rules: Collection[str], *, project: str) -> str:
    """Find the first of `rules` by which a call is to be asked for; empty for none.

    Args:
        data: A `PreToolUse` event.
        project: The folder the session works in.

    Raises:
        ValueError: The event is none that this version can read.
    """
    use = _tool_use(data, project)
    return next((rule for rule in rules if _falls_under(rule, use, project)), "")


class _ToolUse:
    """What a rule is asked about.

    Attributes:
        commands: Those of a shell that it would run.
        edited: Paths of the files that an editing tool would change.
        written: The same, and those that the commands would write.
        is_of_teammate: Whether a teammate or a subagent would use the tool.
    """

    def __init__(
        self, tool: str, commands: list[Command], edited: list[str], written: set[str], is_of_teammate: bool
    ) -> None:
        self.tool, self.commands, self.edited, self.written = tool, commands, edited, written
        self.is_of_teammate = is_of_teammate


def _tool_use(data: EventData, project: str) -> _ToolUse:
    """Read the tool that an event is about.

    Raises:
        ValueError: The event is none that this version can read.
    """
    tool, given = str(data.get("tool_name")), data.get("tool_input")
    if not isinstance(given, dict):
        raise ValueError("what the tool is called with is no object")
    folder = str(data.get("cwd") or project)
    text = next((given[key] for key in ("command", "input") if isinstance(given.get(key), str)), "")
    words = given.get("command")
    if isinstance(words, list):  # as some clients name a program and what it is called with
        text = shlex.join(map(str, words))
    is_patch = tool == "apply_patch"
    named = [given[key] for key in ("file_path", "notebook_path") if isinstance(given.get(key), str)]
    named += _PATCHED.findall(text) if is_patch else []
    is_edit = is_patch or tool == "Write" or tool.endswith("Edit")
    edited = [real_path(folder, path) for path in named] if is_edit else []
    # guard: every-shell-of-a-client
    is_shell = isinstance(words, str | list) and not is_patch and not tool.startswith("mcp__")
    commands = commands_in(text, folder) if is_shell else []
    return _ToolUse(tool, commands, edited, {*edited, *files_written(commands, project)}, bool(data.get("agent_id")))


def _falls_under(rule: str, use: _ToolUse, project: str) -> bool:
    """Return whether a tool is asked for by this rule: a word of ours, or a rule in the words of Claude Code."""
    if rule == "plans of teammates":
        return use.tool == "ExitPlanMode" and use.is_of_teammate
    if rule == "mcp":
        return use.tool.startswith("mcp__") and not use.tool.startswith(_OUR_TOOLS)
    if rule == "outside the project":
        return _is_any_outside(use.written, project)
    if rule == "settings and hooks" and _is_any_guarded(use.written, project):
        return True
    # guard: emptied-outside-is-deleted
    if rule == "delete" and _is_any_outside({*files_emptied(use.commands, project)}, project):
        return True
    if rule == "network" and any(path.startswith(_SOCKETS) for path in use.written):
        return True
    if rule not in _COMMANDS:
        return _matches_native_rule(rule, use, project)
    if use.tool in _TOOLS.get(rule, ()):
        return True
    wanted = _COMMANDS[rule]
    programs = {words[0] for words in wanted}
    known = [found for found in use.commands if found.words[0] in programs or UNKNOWN in found.words[0]]
    return any(found.is_of(words) for found in known for words in wanted)


def _matches_native_rule(rule: str, use: _ToolUse, project: str) -> bool:
    """Return whether a rule in the words of Claude Code matches, as far as it is understood here."""
    name, _, what = rule.removesuffix(")").partition("(")
    if name == "Edit":
        pattern = os.path.join(project, os.path.expanduser(what[1:] if what.startswith("//") else what))
        return any(fnmatchcase(path, pattern) for path in use.edited)
    if not fnmatchcase(use.tool, name):
        return False
    if not what:
        return True
    # `Bash(git push:*)` and `Bash(git push*)` match by the beginning of a command, `Bash(git push)` by the whole.
    begin = re.sub(r":\*$|\*$", "", what)
    wanted = begin.split()
    if begin != what and wanted and re.search(r"[*?[]", begin) is None:
        wanted[0] = program_of(wanted[0])
        if any(found.is_of(wanted) for found in use.commands):
            return True
    pattern = f"{begin} *" if what.endswith(":*") else f"{what} "
    lines = [
        " ".join([program, *found.words[1:], ""])
        for found in use.commands
        for program in {found.called, found.words[0]}
    ]
    return any(fnmatchcase(line, pattern) for line in lines)


def _is_any_outside(paths: set[str], project: str) -> bool:
    """Return whether one of these files is neither in the project nor where anything may be written."""
    inside = (project, os.environ.get("TMPDIR") or "/tmp", "/var/tmp", *(f"~/{folder}" for folder in _CLIENTS_OWN))
    places = tuple(f"{place}/" for place in (*map(os.path.realpath, map(os.path.expanduser, inside)), *_NO_DISK))
    return any(not f"{path}/".startswith(places) for path in paths)


def _is_any_guarded(paths: set[str], project: str) -> bool:
    """Return whether one of these files says what an agent may do, or runs by itself."""
    places = [os.path.join(os.path.realpath(project), place) for place in _GUARDED]
    places += [os.path.join(os.path.realpath(os.path.expanduser("~")), place) for place in _GUARDED_AT_HOME]
    # Some file systems tell no letters apart by their case.
    places = [place.casefold() for place in places]
    folders = tuple(place for place in places if place.endswith("/"))
    return any(path in places or f"{path}/".startswith(folders) for path in map(str.casefold, paths))
