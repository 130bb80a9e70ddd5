"""Programs that start another program: which words of theirs are the command, and which are a text for a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

UNKNOWN = "\0"
"""Stands in a word for what is known only when it runs: no word of a shell can have it."""
Started = list[str] | str
"""The words of a command, or a text for a shell."""
SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash"))
READERS = SHELLS | {"at", "batch"}
"""Programs that run what they read, where no argument says what to run."""
_KEYWORDS = frozenset(
    ("!", "{", "(", "if", "then", "elif", "else", "do", "while", "until", "time", "coproc", "function")
)
_STARTERS = {
    "sudo": ("-u -g -p -C -D -h -r -t -T -U -R --user --group --prompt --chdir --host --role --type --chroot", 0),
    "doas": ("-u -C", 0),
    "run0": ("-u -g -D --user --group --chdir --setenv --nice --unit --property", 0),
    "pkexec": ("--user", 0),
    "env": ("-u -C --unset --chdir", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p --class --classdata", 0),
    "chrt": ("-T -P -D", 1),
    "taskset": ("", 1),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "time": ("-f -o --format --output", 0),
    "flock": ("-w -E --timeout --wait --conflict-exit-code", 1),
    "chroot": ("", 1),
    "setpriv": ("--reuid --regid --groups --inh-caps --bounding-set --securebits", 0),
    "unshare": ("--map-user --map-group -R --root -w --wd", 0),
    "nsenter": ("-t --target -S -G --setuid --setgid", 0),
    "setarch": ("", 1),
    "linux32": ("", 0),
    "linux64": ("", 0),
    "systemd-run": ("-u -p -E -M -H --unit --property --setenv --slice --description --on-active --uid --gid", 0),
    "systemd-inhibit": ("--what --who --why --mode", 0),
    "dbus-run-session": ("", 0),
    "xvfb-run": ("-n -s -e -f -p -w", 0),
    "fakeroot": ("-l -s -i -b", 0),
    "firejail": ("", 0),
    "caffeinate": ("-t -w", 0),
    "strace": ("-a -b -e -E -I -o -O -p -P -s -S -u -U -X", 0),
    "ltrace": ("-a -A -D -e -F -l -n -o -p -s -u -w -x", 0),
    "valgrind": ("", 0),
    "unbuffer": ("", 0),
    "chronic": ("", 0),
    "rlwrap": ("", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "xargs": (
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars",
        0,
    ),
    "entr": ("", 0),
    "watchexec": ("-w -e -f -i -s --watch --exts --filter --ignore --signal", 0),
    "npx": ("-p -w --package --workspace", 0),
    "pnpx": ("--package", 0),
    "bunx": ("-p --package", 0),
    "uvx": ("-p -w --from --with --python --index --index-url --directory", 0),
    "corepack": ("", 0),
    "dotenv": ("-f -e", 0),
    "direnv exec": ("", 1),
    "mise exec": ("", 0),
    "mise x": ("", 0),
    "asdf exec": ("", 0),
    "volta run": ("--node --npm --yarn", 0),
    "nvm exec": ("", 1),
    "fnm exec": ("--using", 0),
    "npm exec": ("-p -w --package --workspace", 0),
    "npm x": ("-p -w --package --workspace", 0),
    "pnpm exec": ("", 0),
    "pnpm dlx": ("--package", 0),
    "yarn dlx": ("-p --package", 0),
    "yarn exec": ("", 0),
    "bun x": ("", 0),
    "lerna exec": ("--scope --ignore --since", 0),
    "uv run": (
        "-p --with --python --extra --group --package --env-file --directory --project --with-editable",
        0,
    ),
    "uv tool run": ("-p --from --with --python --index", 0),
    "pipx run": ("--spec --python --pip-args --index-url", 0),
    "poetry run": ("", 0),
    "pipenv run": ("", 0),
    "pdm run": ("-p", 0),
    "rye run": ("", 0),
    "hatch run": ("", 0),
    "conda run": ("-n -p --name --prefix --cwd", 0),
    "micromamba run": ("-n -p --name --prefix", 0),
    "bundle exec": ("", 0),
    "nix develop": ("", 0),
    "doppler run": ("-p -c", 0),
    "op run": ("--env-file", 0),
    "aws-vault exec": ("-d", 1),
    "docker exec": ("-e -u -w --env --user --workdir --env-file --detach-keys", 1),
    "podman exec": ("-e -u -w --env --user --workdir --env-file --detach-keys", 1),
    "git bisect run": ("", 0),
}
"""Program (with its subcommand) -> options that take a word of their own, and words before the command."""
_OPTION_OF_A_TEXT = {
    **dict.fromkeys((*SHELLS, "su", "runuser", "sg", "script", "flock"), ("-c", "--command")),
    **dict.fromkeys(("npx", "npm exec", "npm x"), ("-c", "--call")),
    "env": ("-S", "--split-string"),
    "nix-shell": ("--run", "--command"),
    "entr": ("-s",),
    "nodemon": ("-x", "--exec"),
    "git rebase": ("-x", "--exec"),
}
"""Program -> its options whose word is a text for a shell."""
_ALL_IS_TEXT = {
    "eval": ("", 0),
    "watch": ("-n -q --interval --equexit", 0),
    "ssh": ("-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", 1),
    "git submodule foreach": ("", 0),
}
"""Program -> as in `_STARTERS`: all words from there on are one text for a shell."""
_EACH_IS_TEXT = frozenset(("hyperfine", "concurrently", "tmux", "screen"))
_EXEC = {
    "find": frozenset(("-exec", "-execdir", "-ok", "-okdir")),
    "fd": frozenset(("-x", "-X", "--exec", "--exec-batch")),
}
_EXEC["fdfind"] = _EXEC["fd"]
_TAKES_WORD = {
    "git": "-C -c --git-dir --work-tree --namespace --config-env --attr-source --super-prefix",
    "npm": "-w -C --tag --registry --workspace --prefix --access --otp --userconfig --loglevel --cache",
    "pnpm": "-F -C --filter --dir --tag --registry --access --otp",
    "yarn": "--cwd --registry --tag",
    "cargo": "-C -Z --config --color --manifest-path --registry",
    "docker": "-c -H -l -f -p --config --context --host --log-level --file --project-name",
    "podman": "-c --connection --url --log-level --root",
    "helm": "-n --namespace --kube-context --kubeconfig --registry-config",
    "gh": "-R --repo --hostname",
    "poetry": "-C -P --directory --project",
    "uv": "--directory --project --config-file --color --cache-dir",
    "hg": "-R --repository --cwd --config --encoding",
    "jj": "-R --repository --at-op --config --color",
    "hatch": "-e -p --env --project --config",
    "python": "-W -X",
}
"""Program -> options before its subcommand that take a word of their own."""
_SHORTER = {"python": re.compile(r"(?:python|pypy)[\d.]*$|py$"), "pip": re.compile(r"pip[\d.]+$")}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_IS_VALUE = re.compile(r"(?![-+]|[a-z-]+$)")
"""What no program has as a subcommand: behind an option that is not known it is the word of that."""
_MODULES = re.compile(r"-[bBdEhiIOPqsSuvVx]*m(.*)$")
"""The option of Python that names a module, behind others that take no word."""


def program_of(word: str) -> str:
    """Return the program that a word names, without its folder and version."""
    name = os.path.basename(word).removesuffix(".exe")
    return next((plain for plain, pattern in _SHORTER.items() if pattern.match(name)), name)


def subcommand_at(words: Sequence[str], at: int) -> int:
    """Return where the next word is that is no option of the program, nor the word of one, nor known too late."""
    takes = _TAKES_WORD.get(words[0], "").split()
    while at < len(words) and words[at][:1] in ("-", "+", UNKNOWN):
        option = words[at]
        at += 1
        is_unknown = words[0] != "git" and option[:1] == "-" and "=" not in option
        if option in takes or (is_unknown and at < len(words) and _IS_VALUE.match(words[at])):
            at += 1
    return at


def started_by(words: Sequence[str]) -> Iterator[Started]:
    """Yield what a command starts itself, as far as its words say it.

    Args:
        words: Of one command, its program first and without its folder.
    """
    name = words[0]
    if name in _KEYWORDS or not name.strip(UNKNOWN):
        yield from _behind_keyword(words)
    if name.startswith("git-") and len(name) > 4:
        yield ["git", name[4:], *words[1:]]
    if name == "python":
        yield from _module(words)
    if name == "trap":
        yield from (word for word in words[1:3] if word[:1] != "-")
    if name in _EXEC:
        yield from (_until_end(words[at + 1 :]) for at, word in enumerate(words) if word in _EXEC[name])
    if name in _EACH_IS_TEXT:
        yield from (word for word in words[1:] if " " in word or "\n" in word)
        yield from _from_plain(words, 1)
    if name == "parallel":
        end = next((at for at, word in enumerate(words) if word[:3] in (":::", "::::")), len(words))
        start = _behind_options(words, 1, frozenset(("-a", "-j", "-P", "-N", "-n", "-I", "-S", "-d", "-C")))
        begin = " ".join(words[start:end])
        yield begin
        yield from (f"{begin} {word}" for word in words[end + 1 : end + 65])
    if name == "yarn" and words[1:2] in (["workspace"], ["workspaces"]):
        yield from (["yarn", *found] for found in _from_plain(words, 3))
    if name == "kubectl" and "exec" in words and "--" in words:
        yield list(words[words.index("--") + 1 :])
    if name == "git":
        yield from _by_alias(words)
    for path, at in _paths(words):
        yield from _texts_of(path, words, at)
        if path in _ALL_IS_TEXT:
            options, count = _ALL_IS_TEXT[path]
            yield " ".join(words[_behind_options(words, at, frozenset(options.split()), is_text=True) + count :])
        if path in _STARTERS and not (path == "command" and words[1:2] and re.match(r"-p*[vV]", words[1])):
            options, count = _STARTERS[path]
            start = _behind_options(words, at, frozenset(options.split())) + count
            yield list(words[start:])
            if start < len(words) and words[start - 1][:2] == "--" and words[start - 1] != "--":
                yield list(words[start + 1 :])  # behind an option of a later version that takes a word


def reads_commands(words: Sequence[str]) -> bool:
    """Return whether a command runs what it reads from standard input or from a file that another command fills."""
    if words[0] in ("source", "."):
        return any(UNKNOWN in word or word.startswith("/dev/") for word in words[1:2])
    if words[0] not in READERS or any(re.match(r"-\w*c$", word) for word in words[1:]):
        return False
    start = _behind_options(words, 1, frozenset(("-o", "-O", "+O", "--rcfile", "--init-file", "-f", "-q")))
    return (
        words[0] not in SHELLS
        or start >= len(words)
        or words[start] in ("-", "/dev/stdin")
        or UNKNOWN in words[start]
        or any(re.match(r"-\w*s\w*$", word) for word in words[1:start])
    )


def arguments_of(words: Sequence[str]) -> list[str]:
    """Return what a text that a shell is given as `-c` knows as `$0`, `$1` and so on."""
    at = next((at for at, word in enumerate(words) if at and re.match(r"-\w*c$", word)), len(words))
    return list(words[_behind_options(words, at, frozenset(("-o", "-O")), is_text=True) + 1 :])


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


def _texts_of(path: str, words: Sequence[str], at: int) -> Iterator[Started]:
    options = _OPTION_OF_A_TEXT.get(path, ())
    for place in range(at, len(words)) if options else ():
        word = words[place]
        name, equals, value = word.partition("=")
        if equals and name in options:
            yield value
        elif word in options or (word[:1] == "-" and word[1:2] != "-" and word[-1:] == options[0][-1] != "-"):
            start = _behind_options(words, place + 1, frozenset(("-o", "-O")), is_text=True)
            yield from words[start : start + 1]
            return


def _until_end(words: Sequence[str]) -> list[str]:
    return list(words[: next((at for at, word in enumerate(words) if word in (";", "+")), len(words))])


def _behind_keyword(words: Sequence[str]) -> Iterator[Started]:
    yield from _from_plain(words, 1)
    yield list(words[2:])
    if "{" in words:
        yield list(words[words.index("{") + 1 :])


def _from_plain(words: Sequence[str], at: int) -> Iterator[list[str]]:
    start = _behind_options(words, at, frozenset())
    yield list(words[start:])


def _module(words: Sequence[str]) -> Iterator[Started]:
    for at, word in enumerate(words[1:], 1):
        found = _MODULES.match(word)
        if found is not None:
            yield [found[1], *words[at + 1 :]] if found[1] else list(words[at + 1 :])
        if word[:1] != "-":
            return


def _by_alias(words: Sequence[str]) -> Iterator[Started]:
    """Yield what a subcommand means that `-c alias.NAME=VALUE` before it defines."""
    at = subcommand_at(words, 1)
    for place in range(1, min(at, len(words) - 1)):
        name, equals, value = words[place].removeprefix("-c").partition("=")
        if equals and at < len(words) and name == f"alias.{words[at]}":
            rest = list(words[at + 1 :])
            yield " ".join((value[1:], *rest)) if value[:1] == "!" else ["git", *value.split(), *rest]


def _behind_options(words: Sequence[str], at: int, takes: frozenset[str], *, is_text: bool = False) -> int:
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


def _last_takes(word: str, takes: frozenset[str]) -> bool:
    """Return whether the last of joined letters is the first of them that takes a word."""
    return next((at for at, letter in enumerate(word[1:], 2) if f"-{letter}" in takes), 0) == len(word)
