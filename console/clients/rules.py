"""Rules of `ask_for`: which calls a team wants to be asked for, as a client's own rules and matched here."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from team_console.console.clients.session_files import EventData
from team_console.console.clients.shell_command import ANY, WRITES_FILE, Command, is_option
from team_console.console.clients.shell_programs import each_word, path_below, paths_of, program_of, table_of
from team_console.console.clients.shell_reader import commands_in
from team_console.console.clients.shell_values import UNKNOWN

_OUR_TOOLS = ("mcp__team-console__", "mcp__team_console__", "mcp__plugin_team-console_")


def _command_list(text: str) -> tuple[list[str], ...]:
    return tuple(command.split() for command in text.replace("\n", ",").split(",") if command.strip())


_COMMANDS = {
    "push": _command_list("""
        git push, git subtree push, git lfs push, git send-pack, git http-push, git svn dcommit, git p4 submit
        git annex push, git annex sync, hg push, jj git push, sl push, bzr push, fossil push, hub push, dvc push
        svn commit, svn ci, git review, arc land, gt submit, gt stack submit, ghstack submit
        gh repo create --push, gh pr merge, glab mr merge
    """),
    "publish": _command_list("""
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
    "delete": _command_list("""
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
    "settings and hooks": _command_list("""
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
    "network": _command_list("curl, wget, ssh, scp, sftp, rsync, nc, ncat, socat, telnet, ftp, lftp, http"),
}
"""Commands that do what a word means, the program and its subcommands first; options may stand anywhere behind the
first of those, an asterisk is any word, and with an option behind an exclamation mark the command does no such thing.
"""
_TOOLS = {"network": ("WebFetch", "WebSearch")}
_GUARDED = each_word("""
    .claude/ .codex/ .qwen/ .git/hooks/ .git/config .mcp.json
    messenger-config.yaml .team-console/messenger-config.yaml
""")
"""Files of a project that say what an agent may do, or run by themselves; folders end in a slash."""
_GUARDED_AT_HOME = each_word("""
    .claude/settings.json .claude/settings.local.json .claude/hooks/ .claude/skills/ .claude/plugins/ .claude.json
    .codex/ .qwen/settings.json .bashrc .bash_profile .profile .zshrc .zshenv .gitconfig .ssh/
""")
_DEVICES, _SOCKETS = "/dev/", ("/dev/tcp/", "/dev/udp/")
_NO_DISK = [f"/dev/{name}" for name in each_word("null zero full tty stdin stdout stderr fd shm pts tcp udp")]
"""Devices to which nothing is lost."""
_CLIENTS_OWN = (".claude/plans", ".claude/projects", ".codex/memories")
"""Folders at home in which clients let their agents write."""
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_ALL_WRITTEN = frozenset(
    map(
        " ".join,
        _command_list(f"""
            {WRITES_FILE}, tee, touch, mkdir, mkfifo, truncate, rm, rmdir, unlink, shred, mv, rename, chmod, chown, dd
            sponge, ed, ex, vi, vim, venv, virtualenv, uv venv, mktemp, setfacl, chattr, cargo new, cargo init
            gzip, gunzip, bzip2, bunzip2, xz, unxz, zstd, unzstd, black, isort, rustfmt, ruff format
            git init, git mv, git checkout, git restore, git worktree add, git bundle create
        """),
    )
)
"""Programs that write what each of their words names."""
_READ_BY_OPTION = table_of("""
    touch       -r -d -t --reference --date
    truncate    -r -s --reference --size
    patch       -i --input
    virtualenv  -p --python
    uv venv     -p --python
    vi          -u
    vim         -u -S
    chmod       --reference
    chown       --reference
    split       -a -b -C -l -n --suffix-length --bytes --line-bytes --lines --number
    svn co      -r
    hg clone    -r -b -u
""")
"""Options of those whose word is none that they write."""
_FIRST_WRITTEN = frozenset(
    ("zip", "7z a", "7za a", "7zz a", "rar a", "ar r", "ar rc", "ar rcs", "ar cr", "ar crs", "patch")
)
"""Those that write what their first word names alone; a dash is their output."""
_LAST_WRITTEN = table_of("""
    cp          -t --target-directory
    ln          -t --target-directory
    install     -t --target-directory
    rsync
    scp
    ffmpeg
    convert
    magick
    git clone
    hg clone
    svn co
    svn checkout
    docker cp
    split
    unrar x
""")
"""Those that write what their last word names where another stands before it, or else what these options name."""
_IN_PLACE = table_of("""
    sed         -i --in-place
    perl        -i
    ruby        -i
    yq          -i --inplace
    prettier    -w --write
    shfmt       -w --write
    gofmt       -w
    find        -delete
    ssh-keygen  -t
    awk         inplace
    gawk        inplace
    clang-format  -i
    ruff check  --fix
    eslint      --fix
""")
"""Those that write what each word names with such an option alone."""
_SCRIPTED = frozenset(("sed", "perl", "ruby", "yq", "awk", "gawk"))
"""Those of them whose first word is a script, where no option gives one."""
_WRITES_NONE = dict.fromkeys(
    ("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"),
    each_word("-c -l -t --stdout --to-stdout --list --test"),
) | table_of("""
    zip          -T --test
    black        --check --diff
    isort        -c --check --check-only --diff
    rustfmt      --check
    ruff format  --check --diff
""")
"""Options with which programs write nothing of what their words name."""
_CREATES = re.compile(r"(?!-*C)-?[A-Za-z]*[cruA][A-Za-z]*$|--(?:create|append|update)$")
"""Begins what `tar` is called with where it writes the archive, and no files."""
_WRITTEN_BY_OPTION = _LAST_WRITTEN | table_of("""
    mv                  -t --target-directory
    cc                  -o
    gcc                 -o
    g++                 -o
    clang               -o
    clang++             -o
    rustc               -o
    go build            -o
    pandoc              -o --output
    sort                -o --output
    patch               -o --output
    curl                -o --output --output-dir
    wget                -O --output-document -P --directory-prefix
    unzip               -d
    tar                 -C --directory --one-top-level
    tar c               -f --file
    openssl             -out
    pip install         -t --target --prefix --root
    git archive         -o --output
    git format-patch    -o --output-directory
    git diff            --output
    git log             --output
    git show            --output
    git checkout-index  --prefix
    mktemp              -p --tmpdir
    zstd                -o
    cmake               -B
    cargo build         --target-dir
    cargo install       --root
    conda create        -p --prefix
    npm install         --prefix
    npm ci              --prefix
    npm pack            --pack-destination
    pip download        -d --dest
    pip wheel           -w --wheel-dir
    docker save         -o --output
    podman save         -o --output
    7z x                -o
    7z e                -o
    csplit              -f --prefix
    cpio                -D --directory
""")
"""Options whose word is a file or a folder that the program writes."""


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
    tool, given = str(data.get("tool_name")), data.get("tool_input")
    if not isinstance(given, dict):
        raise ValueError("what the tool is called with is no object")
    folder = str(data.get("cwd") or project)
    text = next((given[key] for key in ("command", "input") if isinstance(given.get(key), str)), "")
    words = given.get("command")
    if isinstance(words, list):  # as some clients name a program and what it is called with
        text = shlex.join(map(str, words))
    edited = [given[key] for key in ("file_path", "notebook_path") if isinstance(given.get(key), str)]
    edited += _PATCHED.findall(text) if tool == "apply_patch" else []
    is_edit = tool.endswith("Edit") or tool in ("Write", "apply_patch")
    paths = [_real_path(folder, path) for path in edited if is_edit]
    # guard: every-shell-of-a-client
    is_shell = isinstance(words, str | list) and tool != "apply_patch" and not tool.startswith("mcp__")
    commands = commands_in(text, folder) if is_shell else []
    written = [*paths, *_files_written(commands, project)]

    def falls_under(rule: str) -> bool:
        if rule == "plans of teammates":
            return tool == "ExitPlanMode" and bool(data.get("agent_id"))
        if rule == "mcp":
            return tool.startswith("mcp__") and not tool.startswith(_OUR_TOOLS)
        if rule == "outside the project":
            return any(_is_outside(path, project) for path in written)
        if rule == "settings and hooks" and any(_is_guarded(path, project) for path in written):
            return True
        if rule == "network" and any(path.startswith(_SOCKETS) for path in written):
            return True
        if rule in _COMMANDS:
            wanted = _COMMANDS[rule]
            programs = {words[0] for words in wanted}
            known = [found for found in commands if found.words[0] in programs or UNKNOWN in found.words[0]]
            return tool in _TOOLS.get(rule, ()) or any(found.is_of(words) for found in known for words in wanted)
        return _matches_native_rule(rule, tool, commands, paths, project)

    return next(filter(falls_under, rules), "")


def _real_path(folder: str, path: str) -> str:
    """Return a path without links on the way; as it is where no file can have it."""
    whole = path_below(folder, path)
    if os.path.normpath(whole).startswith(_DEVICES):  # of this process they are others
        return os.path.normpath(whole)
    try:
        return os.path.realpath(whole)
    except (OSError, ValueError):
        return os.path.normpath(whole)


def _matches_native_rule(rule: str, tool: str, commands: list[Command], edited: list[str], project: str) -> bool:
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


def _files_written(commands: list[Command], project: str) -> Iterator[str]:
    """Yield the files that commands write, without links on the way; what is still a variable is left out.

    A folder that is known only when they run may be the project.
    """
    for found in commands:
        for path in _named_as_written(found.words):
            whole = path_below(found.folder, path)
            yield _real_path(found.folder, whole.replace(UNKNOWN, "_"))
            _, unknown, behind = whole.rpartition(f"{UNKNOWN}/")
            # guard: unknown-folder-may-be-the-project
            if unknown:
                yield _real_path(project, behind)


def _named_as_written(command: list[str]) -> Iterator[str]:
    """Yield the words by which a command names the files that it writes."""
    for path, at in paths_of(command):
        words = command[at:]
        rest = [word.removeprefix("of=") for word in words if word[:1] != "-"]
        for read in words_of_options(_READ_BY_OPTION.get(path, ()), words):
            if read in rest:
                rest.remove(read)
        if path == "tar" and words and _CREATES.match(words[0]):
            path, words = "tar c", [f"-{words[0].lstrip('-')}", *words[1:]]
        by_option = [*words_of_options(_WRITTEN_BY_OPTION.get(path, ()), words)]
        if path in _LAST_WRITTEN:
            rest = rest[-1:] if (rest[1:] or path == "install") and not by_option else []
        elif path in _IN_PLACE:
            is_written = any(is_option(word, option) for word in words for option in _IN_PLACE[path])
            rest = (_behind_script(words) if path in _SCRIPTED else rest) if is_written else []
        elif path in _FIRST_WRITTEN:
            rest = [] if "-" in words else rest[:1]
        elif path not in _ALL_WRITTEN:
            rest = []
        if any(is_option(word, option) for word in words for option in _WRITES_NONE.get(path, ())):
            rest = []
        yield from (*rest, *by_option)


def _behind_script(words: list[str]) -> list[str]:
    """Return the files of a program that is given a script, by an option or as its first word."""
    scripts = [at for at, word in enumerate(words, 1) if re.match(r"-\w*[ef]$|--expression|--file", word)]
    files = [word for at, word in enumerate(words) if word[:1] not in ("", "-") and at not in scripts]
    return files if scripts else files[1:]


def words_of_options(options: Collection[str], words: list[str]) -> Iterator[str]:
    """Yield the words of these options, which stand behind them, or joined with them."""
    for word, behind in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        letters = re.match(r"-[A-Za-z]+", word)
        letter = next((at for at in range(1, letters.end() if letters else 0) if f"-{word[at]}" in options), 0)
        if word in options:
            yield behind
        elif equals and name in options:
            yield value
        elif letter and word[:1] == "-" != word[1:2]:
            yield word[letter + 1 :] or behind
