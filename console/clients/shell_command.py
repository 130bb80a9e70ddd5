"""One command that a text for a shell runs: whether it is the one that a rule names, and which files it writes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence

from team_console.console.clients.shell_programs import (
    command_list,
    each_word,
    folders_told,
    letter_in,
    path_below,
    paths_of,
    program_of,
    subcommand_at,
    table_of,
    words_of_options,
)
from team_console.console.clients.shell_values import UNKNOWN

WRITES_FILE = ">"
"""Stands for the program of a redirection into a file; behind the file stands `NOTHING` where that makes it empty."""
NOTHING = "/dev/null"

_HARMLESS = frozenset(each_word("status log diff show add commit fetch pull blame ls-files"))
"""Subcommands of git that do no harm: a word before one that is not known is taken for an option, and for no
subcommand that has it as its own word.
"""
_TAKES_TARGETS = {"make": " ", "just": " ", "ninja": " ", "mvn": ":", "gradle": ":", "sbt": "+/"}
"""Programs that are told several things to do, in any order, and the signs behind which one of a part stands."""
ANY = "*"
"""Stands in a wanted command for any word."""


class Command:
    """One command of a shell.

    Attributes:
        called: The program as it is written; of a redirection into a file it is `WRITES_FILE`.
        words: From the program on, without its folder and version; `UNKNOWN` stands in them for what is known only when
            it runs.
        folder: In which it runs.
    """

    def __init__(self, words: list[str], folder: str) -> None:
        self.called, self.folder = words[0], folder
        self.words = [program_of(words[0]), *words[1:]]

    def is_of(self, wanted: Sequence[str]) -> bool:
        """Return whether this is the `wanted` command: program, subcommands, and options anywhere behind the first.

        Of those that begin with an exclamation mark it has none. One of its words may be known only when it runs, where
        another names the command.
        """
        needed = [word for word in wanted if word.startswith("-")]
        barred = [word.removeprefix("!") for word in wanted if word.startswith("!-")]
        program, *subcommands = [word for word in wanted if not word.startswith(("-", "!-"))]
        # guard: unknown-word-may-be-the-action
        may_guess = bool(subcommands)
        if not _may_be(self.words[0], program, may_guess=may_guess):
            return False
        # A program of which nothing is known cannot be the wanted one by a guess at its subcommand.
        may_guess = may_guess and self.words[0].strip(UNKNOWN) != ""
        words = [program, *self.words[1:]] if UNKNOWN in self.words[0] else self.words
        if words[0] in _TAKES_TARGETS:
            return _has_targets(words, wanted[1:], may_guess=may_guess)
        end = _behind_names(words, 1, subcommands, may_guess=may_guess)
        if not end:
            return False
        given = words[min(end, subcommand_at(words, 1) + 1) :]
        has_needed = all(any(is_option(word, option) for word in given) for option in needed)
        return has_needed and not any(is_option(word, option) for word in given for option in barred)


def _has_targets(words: Sequence[str], names: Sequence[str], *, may_guess: bool) -> bool:
    """Return whether a program of `_TAKES_TARGETS` is told to do all of these, whole or as a part of a target."""
    signs = f"[{_TAKES_TARGETS[words[0]]}]"
    given = [word for target in words[1:] for word in {target, re.split(signs, target)[-1]}]
    return all(any(_may_be(word, name, may_guess=may_guess) for word in given) for name in names)


def _behind_names(words: Sequence[str], at: int, names: Sequence[str], *, may_guess: bool) -> int:
    """Return where the words behind these subcommands begin, of which the first is looked for from `at` on; 0 where
    others stand there.
    """
    if not names:
        return at
    first, *others = names
    at = subcommand_at(words, at)
    while at < len(words):
        word, behind = words[at], subcommand_at(words, at + 1)
        is_option = words[0] == "git" and "".join(words[behind : behind + 1]) in _HARMLESS
        if _may_be(word, first, may_guess=may_guess and not is_option):
            # Only one word is guessed: behind it the names have to be known.
            end = _behind_names(words, at + 1, others, may_guess=may_guess and word.strip(UNKNOWN) != "")
            if end:
                return end
        if word[:1] != UNKNOWN:
            return 0
        at = behind  # what is not known may be an option, or nothing
    return 0


def _may_be(word: str, name: str, *, may_guess: bool) -> bool:
    """Return whether a word, of which parts may not be known, can be this name.

    Args:
        may_guess: Whether it can where nothing of it is known.
    """
    if name == ANY:
        return True
    if "." in name:  # a setting of git, which no case tells apart
        word, name = word.lower(), name.lower()
    known = word.split(UNKNOWN)  # the parts between which something is not known
    if len(known) == 1 or sum(map(len, known)) > len(name):
        return word == name
    if not any(known):
        return may_guess and len(name) > 1  # names of one sign are folders, such as a dot
    return re.fullmatch(".*".join(map(re.escape, known)), name) is not None


def is_option(word: str, wanted: str) -> bool:
    """Return whether a word is this option, joined with others, or shortened as programs of GNU and git allow."""
    if word == wanted:
        return True
    if wanted[:2] == "--":  # shortened to three letters or more, perhaps with its value
        return len(word) > 4 and wanted.startswith(word.partition("=")[0])
    return len(wanted) == 2 and letter_in(word, (wanted,)) > 0


# Files that a command writes, as its words name them.

_DEVICES = "/dev/"


def _set_of(commands: str) -> frozenset[str]:
    """Return the commands of a text as `command_list` parts them, each as its words between blanks."""
    return frozenset(map(" ".join, command_list(commands)))


_ALL_WRITTEN = _set_of(f"""
    {WRITES_FILE}, tee, touch, mkdir, mkfifo, truncate, rm, rmdir, unlink, shred, mv, rename, chmod, chown, dd
    sponge, ed, ex, vi, vim, venv, virtualenv, uv venv, mktemp, setfacl, chattr, cargo new, cargo init
    gzip, gunzip, bzip2, bunzip2, xz, unxz, zstd, unzstd, black, isort, rustfmt, ruff format
    git init, git mv, git checkout, git restore, git worktree add, git bundle create
""")
"""Programs that write what each of their words names, with their subcommands."""
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
_FIRST_WRITTEN = _set_of("zip, 7z a, 7za a, 7zz a, rar a, ar r, ar rc, ar rcs, ar cr, ar crs, patch")
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
_SCRIPTED = _set_of("sed, perl, ruby, yq, awk, gawk")
"""Those of them whose first word is a script, where no option gives one."""
_WRITES_NONE = table_of("""
    gzip         -c -l -t --stdout --to-stdout --list --test
    gunzip       -c -l -t --stdout --to-stdout --list --test
    bzip2        -c -l -t --stdout --to-stdout --list --test
    bunzip2      -c -l -t --stdout --to-stdout --list --test
    xz           -c -l -t --stdout --to-stdout --list --test
    unxz         -c -l -t --stdout --to-stdout --list --test
    zstd         -c -l -t --stdout --to-stdout --list --test
    unzstd       -c -l -t --stdout --to-stdout --list --test
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
    cmake               -B --build
    cargo build         --target-dir
    cargo install       --root
    conda create        -p --prefix
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

_WORKS_BESIDE = table_of("""
    cargo  --manifest-path
    mvn    -f --file
    just   -f --justfile
    hg     -R --repository
    jj     -R --repository
    swift  --package-path
    dvc    --cd
    ant    -f -file
""")
"""Options that name what the program works on: a folder, or a file in one."""
_READS = _set_of("""
    env, sudo, run0, systemd-run
    git log, git status, git diff, git show, git blame, git grep, git describe, git shortlog, git reflog
    git ls-files, git ls-tree, git ls-remote, git rev-parse, git rev-list, git cat-file, git for-each-ref
    git merge-base, git symbolic-ref, git name-rev, git diff-tree, git diff-index, git count-objects, git var
    git help, git check-ignore, git branch, git tag, git remote, git config, git fetch, git archive, git bundle
    git format-patch, git stash list, git stash show, git worktree list, git submodule status, git version
    jj log, jj status, jj st, jj diff, jj show, jj file list
    hg log, hg status, hg diff, hg annotate, hg cat, hg id, hg identify, hg summary, hg branches, hg heads
    swift package describe, ant -p, dvc status, dvc diff, meson introspect, scons -n, task -l, task --list
    make -n, make --dry-run, make --just-print, make -q, make --question, ninja -n, ninja -t
    npm ls, npm list, npm view, npm info, npm outdated, npm explain, npm why, npm root, npm prefix, npm help
    npm query, npm fund, npm search, npm whoami, npm config, npm get, npm pkg get, npm audit
    pnpm ls, pnpm list, pnpm why, pnpm outdated, pnpm root, pnpm audit
    yarn list, yarn why, yarn info, yarn outdated, yarn audit, bun pm ls, composer show, composer validate
    cargo metadata, cargo tree, cargo locate-project, cargo pkgid, cargo read-manifest, cargo verify-project
    go list, go vet, go env, go version, go doc, go help
    uv tree, uv pip list, uv pip show, uv pip freeze, uv pip check, uv version, poetry show, poetry check
    gradle tasks, gradle dependencies, gradle projects, gradle properties, mvn dependency:tree, mvn validate
    just -l, just --list, just --show, just --summary, just --dump, just -n, just --dry-run
    terraform plan, terraform show, terraform validate, terraform output, terraform version, terraform graph
    terraform state list, terraform state show, terraform providers
    tofu plan, tofu show, tofu validate, tofu output, tofu version, tofu state list, tofu state show
""")
"""What writes nothing where an option tells it to run, but for what its words name: a program, perhaps with subcommands
or an option.
"""


def real_path(folder: str, path: str) -> str:
    """Return a path without links on the way; as it is where no file can have it."""
    whole = path_below(folder, path)
    if os.path.normpath(whole).startswith(_DEVICES):  # of this process they are others
        return os.path.normpath(whole)
    try:
        return os.path.realpath(whole)
    except (OSError, ValueError):
        return os.path.normpath(whole)


def files_written(commands: list[Command], project: str) -> Iterator[str]:
    """Yield the files that commands write, without links on the way; what is still a variable is left out.

    A folder that is known only when they run may be the project.
    """
    for found in commands:
        for path in _named_as_written(found.words):
            whole = path_below(found.folder, path)
            yield real_path(found.folder, whole.replace(UNKNOWN, "_"))
            _, unknown, behind = whole.rpartition(f"{UNKNOWN}/")
            # guard: unknown-folder-may-be-the-project
            if unknown:
                yield real_path(project, behind)


def files_emptied(commands: list[Command], project: str) -> Iterator[str]:
    """Yield those of the files that commands write of which nothing is left."""
    return files_written([found for found in commands if _leaves_nothing(found.words)], project)


def _leaves_nothing(words: list[str]) -> bool:
    """Return whether a command that writes files makes them empty: it copies what is, or cuts them off at nothing."""
    if words[0] == "truncate":
        return "0" in words_of_options(("-s", "--size"), words)
    return NOTHING in words or f"if={NOTHING}" in words


def _named_as_written(command: list[str]) -> Iterator[str]:
    """Yield the words by which a command names the files, and the folder, that it writes."""
    paths = [*paths_of(command)]  # the program alone, and with its subcommands
    # guard: folder-of-an-option-is-written
    if not _only_reads(command, paths):
        yield from ["."] if folders_told(command) else []
        yield from words_of_options(_WORKS_BESIDE.get(command[0], ()), command)
    for path, at in paths:
        words = command[at:]
        arguments = [word.removeprefix("of=") for word in words if word[:1] != "-"]
        for read in words_of_options(_READ_BY_OPTION.get(path, ()), words):
            if read in arguments:
                arguments.remove(read)
        if path == "tar" and words and _CREATES.match(words[0]):
            path, words = "tar c", [f"-{words[0].lstrip('-')}", *words[1:]]
        by_option = [*words_of_options(_WRITTEN_BY_OPTION.get(path, ()), words)]
        if not _has_option(words, _WRITES_NONE.get(path, ())):
            yield from _arguments_written(path, words, arguments, is_named_by_option=bool(by_option))
        yield from by_option


def _only_reads(command: list[str], paths: list[tuple[str, int]]) -> bool:
    """Return whether a program writes nothing where an option tells it to run, by its subcommands or an option.

    Args:
        paths: As `paths_of` yields them.
    """
    options = ["", *(f" {word}" for word in command if word[:1] == "-")]
    return any(f"{path}{option}" in _READS for path, _ in paths for option in options)


def _arguments_written(path: str, words: list[str], arguments: list[str], *, is_named_by_option: bool) -> list[str]:
    """Return those of the arguments that a program writes.

    Args:
        path: The program, with its subcommands.
        words: All words behind it, options included.
    """
    if path in _LAST_WRITTEN:
        # The command `install` of one word makes that file; the others then have no target.
        has_target = len(arguments) > 1 or path == "install"
        return arguments[-1:] if has_target and not is_named_by_option else []
    if path in _IN_PLACE:
        if not _has_option(words, _IN_PLACE[path]):
            return []
        return _behind_script(words) if path in _SCRIPTED else arguments
    if path in _FIRST_WRITTEN:
        return [] if "-" in words else arguments[:1]
    return arguments if path in _ALL_WRITTEN else []


def _has_option(words: list[str], options: Collection[str]) -> bool:
    """Return whether one of these options stands among the words."""
    return any(is_option(word, option) for word in words for option in options)


def _behind_script(words: list[str]) -> list[str]:
    """Return the files of a program that is given a script, by an option or as its first word."""
    scripts = [at for at, word in enumerate(words, 1) if re.match(r"-\w*[ef]$|--expression|--file", word)]
    files = [word for at, word in enumerate(words) if word[:1] not in ("", "-") and at not in scripts]
    return files if scripts else files[1:]
