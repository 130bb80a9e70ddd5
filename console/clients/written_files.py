"""Files that commands of a shell write, as their words name them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from team_console.console.clients.shell_command import WRITES_FILE, Command, is_option
from team_console.console.clients.shell_programs import (
    command_list,
    each_word,
    path_below,
    paths_of,
    table_of,
)
from team_console.console.clients.shell_values import UNKNOWN

DEVICES = "/dev/"
_ALL_WRITTEN = frozenset(
    map(
        " ".join,
        command_list(f"""
            {WRITES_FILE}, tee, touch, mkdir, mkfifo, truncate, rm, rmdir, unlink, shred, mv, rename, chmod, chown, dd
            sponge, ed, ex, vi, vim, venv, virtualenv, uv venv, mktemp, setfacl, chattr, cargo new, cargo init
            gzip, gunzip, bzip2, bunzip2, xz, unxz, zstd, unzstd, black, isort, rustfmt, ruff format
            git init, git mv, git checkout, git restore, git worktree add, git bundle create
        """),
    )
)
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


def real_path(folder: str, path: str) -> str:
    """Return a path without links on the way; as it is where no file can have it."""
    whole = path_below(folder, path)
    if os.path.normpath(whole).startswith(DEVICES):  # of this process they are others
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


def _named_as_written(command: list[str]) -> Iterator[str]:
    """Yield the words by which a command names the files that it writes."""
    for path, at in paths_of(command):  # the program alone, and with its subcommands
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


def words_of_options(options: Collection[str], words: list[str]) -> Iterator[str]:
    """Yield the words of these options, which stand behind them, or joined with them."""
    for word, behind in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if word in options:
            yield behind
        elif equals and name in options:
            yield value
        elif letters := re.match(r"-[A-Za-z]+", word):  # the first of joined letters that takes a word takes the rest
            at = next((at for at in range(1, letters.end()) if f"-{word[at]}" in options), 0)
            if at:
                yield word[at + 1 :] or behind
