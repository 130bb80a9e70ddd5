"""Programs that start another program: which words of theirs are the command, and which are a text for a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence

UNKNOWN = "\0"
"""Stands in a word for what is known only when it runs: no word of a shell can have it."""
Started = list[str] | str
"""The words of a command, or a text for a shell."""


def _table(rows: str) -> dict[str, list[str]]:
    """Return program (with its subcommand) -> the words behind it, of rows in which two blanks part both."""
    parted = (row.strip().partition("  ") for row in rows.strip().splitlines())
    return {name: words.split() for name, _, words in parted}


SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash"])
READERS = SHELLS | {"at", "batch"}
"""Programs that run what they read, where no argument says what to run."""
_KEYWORDS = frozenset(
    ["!", "{", "(", "if", "then", "elif", "else", "do", "while", "until", "time", "coproc", "function"]
)
_STARTERS = _table("""
    sudo              -u -g -p -C -D -h -r -t -T -U -R --user --group --prompt --chdir --host --role --type --chroot
    doas              -u -C
    run0              -u -g -D --user --group --chdir --setenv --nice --unit --property
    pkexec            --user
    runuser           -u -g -G --user --group --supp-group
    gosu              1
    su-exec           1
    s6-setuidgid      1
    chpst             -u -U -b -e -/ -n -l -L -m -d -o -p -f -c -r -t -P
    runcon            1 -t -u -r -l --type --user --role --range
    tini              -e -p
    dumb-init
    catchsegv
    torsocks          -a -P -u -p
    torify
    proxychains       -f
    proxychains4      -f
    perf stat         -e -r -p -t -C -o -x -I
    perf record       -e -F -p -t -C -o -c
    arch              -e -arch
    proot             -r -b -w -q -m -k
    foreman run       -e -f -d
    dotenv run        -f -e
    env               -u -C --unset --chdir
    command
    builtin
    exec              -a
    coproc
    nohup
    setsid
    nice              -n --adjustment
    ionice            -c -n -p --class --classdata
    chrt              1 -T -P -D
    taskset           1
    stdbuf            -i -o -e --input --output --error
    timeout           1 -k -s --kill-after --signal
    time              -f -o --format --output
    flock             1 -w -E --timeout --wait --conflict-exit-code
    chroot            1
    setpriv           --reuid --regid --groups --inh-caps --bounding-set --securebits
    unshare           --map-user --map-group -R --root -w --wd
    nsenter           -t --target -S -G --setuid --setgid
    setarch           1
    linux32
    linux64
    systemd-run       -u -p -E -M -H --unit --property --setenv --slice --description --on-active --uid --gid
    systemd-inhibit   --what --who --why --mode
    dbus-run-session
    xvfb-run          -n -s -e -f -p -w
    fakeroot          -l -s -i -b
    firejail
    caffeinate        -t -w
    strace            -a -b -e -E -I -o -O -p -P -s -S -u -U -X
    ltrace            -a -A -D -e -F -l -n -o -p -s -u -w -x
    valgrind
    unbuffer
    chronic
    rlwrap
    busybox
    toybox
    tmux
    screen
    concurrently
    hyperfine
    xargs             -a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars
    entr
    watchexec         -w -e -f -i -s --watch --exts --filter --ignore --signal
    npx               -p -w --package --workspace
    pnpx              --package
    bunx              -p --package
    uvx               -p -w --from --with --python --index --index-url --directory
    corepack
    dotenv            -f -e
    direnv exec       1
    mise exec
    mise x
    asdf exec
    volta run         --node --npm --yarn
    nvm exec          1
    fnm exec          --using
    npm exec          -p -w --package --workspace
    npm x             -p -w --package --workspace
    pnpm exec
    pnpm dlx          --package
    yarn dlx          -p --package
    yarn exec
    bun x
    lerna exec        --scope --ignore --since
    uv run            -p --with --python --extra --group --package --env-file --directory --project --with-editable
    uv tool run       -p --from --with --python --index
    pipx run          --spec --python --pip-args --index-url
    poetry run
    pipenv run
    pdm run           -p
    rye run
    hatch run
    conda run         -n -p --name --prefix --cwd
    micromamba run    -n -p --name --prefix
    bundle exec
    nix develop
    doppler run       -p -c
    op run            --env-file
    aws-vault exec    1 -d
    docker exec       1 -e -u -w --env --user --workdir --env-file --detach-keys
    podman exec       1 -e -u -w --env --user --workdir --env-file --detach-keys
    docker compose exec  1 -e -u -w --env --user --workdir --index
    docker-compose exec  1 -e -u -w --env --user --workdir --index
    git bisect run
""")
"""Programs that run the command behind them: how many words stand before it, and the options that take a word."""
_TEXT_STARTERS = _table("""
    eval
    trap
    watch                  -n -q --interval --equexit
    ssh                    1 -b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w
    git submodule foreach
""")
"""The same of programs for which all words from there on are one text for a shell."""
_TEXT_OPTIONS = _table("""
    su           -c --command
    runuser      -c --command
    sg           -c --command
    script       -c --command
    flock        -c --command
    npx          -c --call
    npm exec     -c --call
    npm x        -c --call
    env          -S --split-string
    nix-shell    --run --command
    entr         -s
    nodemon      -x --exec
    git rebase   -x --exec
""") | {shell: ["-c", "--command"] for shell in SHELLS}
"""Options whose word is a text for a shell."""
_COMMAND_OPTIONS = _table("""
    find      -exec -execdir -ok -okdir
    fd        -x -X --exec --exec-batch
    fdfind    -x -X --exec --exec-batch
    python    -m
    kubectl   --
""")
"""Options behind which a command stands."""
_TAKES_WORD = _table("""
    git      -C -c --git-dir --work-tree --namespace --config-env --attr-source --super-prefix
    npm      -w -C --tag --registry --workspace --prefix --access --otp --userconfig --loglevel --cache
    pnpm     -F -C --filter --dir --tag --registry --access --otp
    yarn     --cwd --registry --tag workspace workspaces
    cargo    -C -Z --config --color --manifest-path --registry
    docker   -c -H -l -f -p --config --context --host --log-level --file --project-name
    podman   -c --connection --url --log-level --root
    helm     -n --namespace --kube-context --kubeconfig --registry-config
    gh       -R --repo --hostname
    poetry   -C -P --directory --project
    uv       --directory --project --config-file --color --cache-dir
    hg       -R --repository --cwd --config --encoding
    jj       -R --repository --at-op --config --color
    hatch    -e -p --env --project --config
    python   -W -X
""")
"""Options before a subcommand that take a word."""
_OF_SHELLS = ("-o", "-O", "+O", "--rcfile", "--init-file", "-f", "-q")
_SHORTER = {"python": re.compile(r"(?:python|pypy)[\d.]*$|py$"), "pip": re.compile(r"pip[\d.]+$")}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_IS_VALUE = re.compile(r"(?![-+]|[a-z-]+$)")
"""What no program has as a subcommand: behind an option that is not known it is the word of that."""


def program_of(word: str) -> str:
    """Return the program that a word names, without its folder and version."""
    name = os.path.basename(word).removesuffix(".exe")
    return next((plain for plain, pattern in _SHORTER.items() if pattern.match(name)), name)


def subcommand_at(words: Sequence[str], at: int) -> int:
    """Return where the next word is that is no option of the program, nor the word of one, nor known too late."""
    takes = _TAKES_WORD.get(words[0], [])
    while at < len(words) and (words[at] in takes or words[at][:1] in ("-", "+", UNKNOWN)):
        option = words[at]
        at += 1
        is_unknown = words[0] != "git" and option[:1] == "-" and "=" not in option
        if option in takes or (is_unknown and at < len(words) and _IS_VALUE.match(words[at])):
            at += 1
    return at


def started_by(words: list[str]) -> Iterator[Started]:
    """Yield what a command starts itself, as far as its words say it.

    Args:
        words: Of one command, its program first and without its folder.
    """
    name = words[0]
    if name in _KEYWORDS or not name.strip(UNKNOWN):  # of a text that does not parse, or known too late
        yield words[_behind_options(words, 1, ()) :]
        yield words[2:]
        yield words[words.index("{") + 1 :] if "{" in words else []
    if name.startswith("git-") and len(name) > 4:
        yield ["git", name[4:], *words[1:]]
    if name in ("hyperfine", "concurrently", "tmux", "screen"):
        yield from (word for word in words[1:] if " " in word or "\n" in word)
    if name == "parallel":
        begin, _, each = " ".join(words[1:]).partition(" :::")
        yield from (begin, *(f"{begin} {word}" for word in each.split()[:64]))
    if name == "git":
        yield from _by_alias(words)
    for path, at in _paths(words):
        yield from _behind_option(path, words, at)
        if path in _TEXT_STARTERS:
            yield " ".join(words[_command_at(words, at, _TEXT_STARTERS[path], is_text=True) :])
        # `command -v` only looks for the program.
        if path in _STARTERS and not (path == "command" and words[1:2] and re.match(r"-p*[vV]", words[1])):
            start = _command_at(words, at, _STARTERS[path])
            yield words[start:]
            if start < len(words) and words[start - 1][:2] == "--" and words[start - 1] != "--":
                yield words[start + 1 :]  # behind an option of a later version that takes a word


def reads_commands(words: Sequence[str]) -> bool:
    """Return whether a command runs what it reads from standard input or from a file that another command fills."""
    if words[0] in ("source", "."):
        return any(UNKNOWN in word or word.startswith("/dev/") for word in words[1:2])
    if words[0] not in READERS or any(re.match(r"-\w*c$", word) for word in words[1:]):
        return False
    start = _behind_options(words, 1, _OF_SHELLS)
    file = words[start] if start < len(words) and words[0] in SHELLS else ""
    return (
        file in ("", "-", "/dev/stdin") or UNKNOWN in file or any(re.match(r"-\w*s", word) for word in words[1:start])
    )


def arguments_of(words: Sequence[str]) -> list[str]:
    """Return what a text that a shell is given as `-c` knows as `$0`, `$1` and so on."""
    at = next((at for at, word in enumerate(words) if at and re.match(r"-\w*c$", word)), len(words))
    return list(words[_behind_options(words, at, _OF_SHELLS, is_text=True) + 1 :])


def _paths(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the program alone, with one and with two subcommands, and where the words behind them begin."""
    path, at = words[0], 1
    yield path, at
    for _ in range(2):
        at = subcommand_at(words, at)
        if at >= len(words):
            return
        path, at = f"{path} {words[at]}", at + 1
        yield path, at


def _behind_option(path: str, words: list[str], at: int) -> Iterator[Started]:
    """Yield the texts and the commands that stand behind options for them; short ones may be joined with others."""
    of_texts, of_commands = _TEXT_OPTIONS.get(path, []), _COMMAND_OPTIONS.get(path, [])
    for place in range(at, len(words)) if of_texts or of_commands else ():
        word, behind = words[place], words[place + 1 :]
        name, equals, value = word.partition("=")
        is_short = word[:1] == "-" != word[1:2]
        if equals and name in of_texts:
            yield value
        elif word in of_texts or (is_short and any(word[-1] == one[-1] and len(one) == 2 for one in of_texts)):
            yield from behind[_behind_options(behind, 0, _OF_SHELLS, is_text=True) :][:1]
            return
        elif word in of_commands or (path == "python" and is_short and word[-1:] == "m"):
            yield behind[: next((end for end, mark in enumerate(behind) if mark in (";", "+")), None)]
        elif path == "python" and word[:2] == "-m":
            yield [word[2:], *behind]


def _by_alias(words: list[str]) -> Iterator[Started]:
    """Yield what a subcommand means that `-c alias.NAME=VALUE` before it defines."""
    at = subcommand_at(words, 1)
    for place in range(1, min(at, len(words) - 1)):
        name, equals, value = words[place].removeprefix("-c").partition("=")
        if equals and at < len(words) and name == f"alias.{words[at]}":
            rest = words[at + 1 :]
            yield " ".join((value[1:], *rest)) if value[:1] == "!" else ["git", *value.split(), *rest]


def _command_at(words: Sequence[str], at: int, row: Sequence[str], *, is_text: bool = False) -> int:
    """Return where the command begins behind the options, and the words before it, that a row of a table names."""
    count = int(row[0]) if row and row[0].isdigit() else 0
    start = _behind_options(words, at, row, is_text=is_text) + count
    return start + 1 if count and words[start : start + 1] == ["--"] else start


def _behind_options(words: Sequence[str], at: int, takes: Collection[str], *, is_text: bool = False) -> int:
    """Return where the first word is that is neither option, word of an option, nor, where no text is meant, an
    assignment.
    """
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        is_option = word[:1] in ("-", "+") and word != "-"
        if not is_option and (is_text or _ASSIGNMENT.match(word) is None):
            return at
        at += 1
        if word in takes or (word[:2] != "--" and _last_takes(word, takes)):
            at += 1
    return at


def _last_takes(word: str, takes: Collection[str]) -> bool:
    """Return whether the last of joined letters is the first of them that takes a word."""
    return next((at for at, letter in enumerate(word[1:], 2) if f"-{letter}" in takes), 0) == len(word)
