"""Programs that start another program: which words of theirs are the command, and which are a text for a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from team_console.console.clients.shell_values import BETWEEN_WORDS, UNKNOWN, as_one_field, first_use

Started = list[str] | str
"""The words of a command, or a text for a shell."""


def each_word(words: str) -> list[str]:
    """Return the words of a text."""
    return words.split()


def command_list(text: str) -> tuple[list[str], ...]:
    """Return the words of each command of a text, in which commas and line ends part commands."""
    return tuple(command.split() for command in text.replace("\n", ",").split(",") if command.strip())


def table_of(rows: str) -> dict[str, list[str]]:
    """Return program (with its subcommand) -> the words behind it, of rows in which two blanks part both."""
    parted = (row.strip().partition("  ") for row in rows.strip().splitlines())
    return {name: words.split() for name, _, words in parted}


SHELLS = frozenset(each_word("bash sh zsh dash ksh ash mksh fish rbash"))
READERS = SHELLS | {"at", "batch"}
"""Programs that run what they read, where no argument says what to run."""
_SHELLS_ELSEWHERE = frozenset(each_word("ssh autossh su sudo doas chroot wsl"))
"""Programs that start a shell, which reads, where they are given no command."""
STANDARD_INPUT = "-"
"""Stands for the file from which a shell reads what it runs, also where another command fills it."""
_OF_DOCKER = """
    -a -c -e -h -l -m -p -u -v -w --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent
    --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares --cpus --cpuset-cpus --cpuset-mems --detach-keys --device
    --dns --dns-option --dns-search --domainname --entrypoint --env --env-file --expose --gpus --group-add --health-cmd
    --health-interval --hostname --ip --ip6 --ipc --isolation --label --label-file --link --log-driver --log-opt
    --mac-address --memory --memory-swap --mount --name --net --network --network-alias --oom-score-adj --pid
    --pids-limit --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout
    --storage-opt --sysctl --tmpfs --ulimit --user --userns --uts --volume --volume-driver --volumes-from --workdir
""".replace("\n", " ")
_KEYWORDS = frozenset(each_word("! { ( if then elif else do while until time coproc function"))
_OF_BWRAP = 2 * """ --bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --file """
_OF_BWRAP += """ --dev --proc --tmpfs --dir --chdir --unsetenv --uid --gid --hostname --cap-add --cap-drop --args
    --mqueue --perms --remount-ro --overlay-src --ro-bind-data --lock-file --sync-fd --info-fd --seccomp --exec-label
""".replace("\n", " ")
_STARTERS = table_of(f"""
    docker run               1 {_OF_DOCKER}
    docker create            1 {_OF_DOCKER}
    docker container run     1 {_OF_DOCKER}
    docker compose run       1 {_OF_DOCKER}
    docker-compose run       1 {_OF_DOCKER}
    podman run               1 {_OF_DOCKER}
    podman create            1 {_OF_DOCKER}
    nerdctl run              1 {_OF_DOCKER}
    docker container exec    1 -e -u -w --env --user --workdir --env-file --detach-keys
    crictl exec              1 --timeout
    multipass exec           1 -d --working-directory
    limactl shell            1 --workdir --shell
    devcontainer exec        --workspace-folder --container-id --config --remote-env
    heroku run               -a -e -s -r --app --env --size --remote
    mosh                     1 -p --ssh --port --server --client
    sshpass                  -p -f -d -P
    script                   1 -c -m -o -t -B -E -I -O -T --command --log-io --log-in --log-out --log-timing
    repeat                   1
    noglob
    nocorrect
    not
    and
    or
    nerdctl exec             1 -e -u -w --env --user --workdir --env-file
    lxc exec                 1 --cwd --env --user --group --mode
    incus exec               1 --cwd --env --user --group --mode
    distrobox enter          1 -n --name
    distrobox-enter          1 -n --name
    toolbox run              -c --container
    flatpak-spawn            --env --directory --forward-fd
    flatpak run              1 --arch --branch --command --cwd
    systemd-nspawn           -D -M -u -i --directory --machine --user --image --bind --bind-ro --setenv
    machinectl shell         1 --uid --setenv
    bwrap                    {_OF_BWRAP}
    cgexec                   -g
    numactl                  -N -m -C -p -i --cpunodebind --membind --physcpubind --preferred --interleave
    prlimit                  -p --pid
    softlimit                -a -c -d -f -l -m -o -p -r -s -t
    setuidgid                1
    envdir                   1
    eatmydata
    cpulimit                 -l -p -e --limit
    faketime                 1 -f
    lockf                    1 -t
    guix shell
    chamber exec             1
    infisical run            --env --path --projectId
    dotenvx run              -f -e
    envchain                 1
    with-contenv
    rr record
    heaptrack
    uftrace record
    gdb                      -ex -x --eval-command --command
    rust-gdb                 -ex -x --eval-command --command
    lldb                     -o -s --one-line --source
    winpty
    wsl                      -d -u --distribution --user --cd
    start-stop-daemon        -x -u -g -p -n -d --exec --user --group --pidfile --name --chdir
    ssh-agent                -a -t
    nx exec
    devbox run               -c -e --config --env
    zellij run               -n -d --name --direction --cwd
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
    tmux new-session  -c -e -f -F -n -s -t -x -y
    tmux new          -c -e -f -F -n -s -t -x -y
    tmux new-window   -c -e -F -n -t
    tmux neww         -c -e -F -n -t
    tmux split-window  -c -e -F -l -t
    screen            -S -t -T -c -e -h -s -p
    lima
    rtk
    rtk proxy
    concurrently
    hyperfine
    xargs             -a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars
    entr
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
"""Programs that run the command behind them: how many words stand before it, and the options that take a word; one
that takes two stands there twice.
"""
_TEXT_STARTERS = table_of("""
    eval
    trap
    watch                  -n -q --interval --equexit
    watchexec              -w -e -f -i -s --watch --exts --filter --ignore --signal
    ssh                    1 -b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w
    autossh                1 -M -b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w
    tailscale ssh          1
    adb shell
    oc rsh                 1 -c -n --container --namespace
    cmd                    1
    powershell             -ExecutionPolicy -WorkingDirectory
    pwsh                   -ExecutionPolicy -WorkingDirectory
    sops exec-env          1
    git submodule foreach
""")
"""The same of programs for which all words from there on are one text for a shell."""
_TEXT_OPTIONS = table_of("""
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
    capsh        -c
    tar          -I --use-compress-program --to-command --checkpoint-action --info-script
    split        --filter
    man          -P --pager
    vagrant ssh  -c --command
    fly ssh console     -C --command
    flyctl ssh console  -C --command
    gcloud compute ssh  --command
    git difftool        -x --extcmd
    git filter-branch   --tree-filter --index-filter --env-filter --msg-filter --commit-filter --parent-filter
    nu           -c --commands
""") | {shell: ["-c", "--command"] for shell in SHELLS}
"""Options whose word is a text for a shell."""
_COMMAND_OPTIONS = table_of("""
    find      -exec -execdir -ok -okdir
    fd        -x -X --exec --exec-batch
    fdfind    -x -X --exec --exec-batch
    python      -m
    kubectl     --
    oc          --
    just        -c --command
    guix        --
    nix shell   -c --command
    nix develop  -c --command
    wsl         -e --exec
    mise exec   --
    mise x      --
    colima ssh  --
    vagrant ssh  --
    gcloud compute ssh  --
""")
"""Options behind which a command stands."""
_PROGRAM_OPTIONS = table_of("""
    docker run          --entrypoint
    docker create       --entrypoint
    docker compose run  --entrypoint
    docker-compose run  --entrypoint
    podman run          --entrypoint
    podman create       --entrypoint
    nerdctl run         --entrypoint
    flatpak run         --command
    start-stop-daemon   -x --exec
""")
"""Options that name the program, whose other words stand where a command would."""
_TEXT_IN_GIT = re.compile(
    r"(?:pager|editor|command|external|fsmonitor|askpass|helper|program|driver|cmd|clean|smudge|process|filter|gitproxy)$"
    r"|(?:alias|pager)\.",
    re.IGNORECASE,
)
"""Settings of git whose value is a text for a shell, or, of an alias without a mark before it, a subcommand."""
_RUNS_IN = table_of("""
    git          -C --work-tree
    hg           --cwd
    make         -C --directory
    ninja        -C
    npm          -C --prefix
    pnpm         -C --dir
    yarn         --cwd
    bun          --cwd
    composer     -d --working-dir
    cargo        -C
    go           -C
    uv           --directory --project
    poetry       -C -P --directory --project
    gradle       -p --project-dir
    just         -d --working-directory
    meson        -C
    scons        -C --directory
    task         -d --dir
    turbo        --cwd
    pdm          -p --project
    terraform    -chdir
    tofu         -chdir
    env          -C --chdir
    sudo         -D --chdir
    run0         -D --chdir
    systemd-run  --working-directory
""")
"""Options by which a program changes its folder, and that of the command that it starts, first."""
_TAKES_WORD = table_of("""
    git      -c --git-dir --namespace --config-env --attr-source --super-prefix
    npm      -w --tag --registry --workspace --access --otp --userconfig --loglevel --cache
    pnpm     -F --filter --tag --registry --access --otp
    yarn     --registry --tag workspace workspaces
    cargo    -Z --config --color --manifest-path --registry
    docker   -c -H -l -f -p --config --context --host --log-level --file --project-name
    podman   -c --connection --url --log-level --root
    helm     -n --namespace --kube-context --kubeconfig --registry-config
    gh       -R --repo --hostname
    uv       --config-file --color --cache-dir
    hg       -R --repository --config --encoding
    jj       -R --repository --at-op --config --color
    hatch    -e -p --env --project --config
    make     -f -I -o -W --file --makefile
    mvn      -f --file
    python   -W -X
    kubectl  -n -s --namespace --context --cluster --user --kubeconfig --server --as --token
    oc       -n -s --namespace --context --cluster --user --kubeconfig --server --as --token
    aws      --profile --region --output --endpoint-url --query
    gcloud   --project --account --configuration --format
    team-console  -t --team --as
    az       --subscription --output -o
    fly      -c -a --config --app
    flyctl   -c -a --config --app
""")
"""Options before a subcommand that take a word, those of `_RUNS_IN` included."""
for _program, _options in _RUNS_IN.items():
    _TAKES_WORD.setdefault(_program, []).extend(_options)
_OF_SHELLS = each_word("-o -O +O --rcfile --init-file -f -q")
_OF_READ, _OF_MAPFILE = each_word("-d -i -n -N -p -t -u"), each_word("-d -n -O -s -u -C -c")
_OF_PARALLEL = each_word("-j -a -N -n -S --jobs --arg-file --max-args --sshlogin --joblog")
"""Options that take a word, of shells, of `read`, of `mapfile` and of `parallel`."""
_SHORTER = {
    "python": re.compile(r"(?:python|pypy)[\d.]*$|py$"),
    "pip": re.compile(r"pip[\d.]+$"),
    "make": re.compile(r"[gb]make$"),
    "mvn": re.compile(r"mvn[wd](?:\.cmd)?$"),
    "gradle": re.compile(r"gradlew(?:\.bat)?$"),
}
"""Program -> the other names under which it is called."""
_VERSION = re.compile(r"(?<=[\w-])@[\w.^~+-]+$")
"""Stands behind a package that is run."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_IS_LATER_OPTION = re.compile(r"--[^=]+$")
"""A long option without its value: one that no table has may take the word behind it."""
_IS_VALUE = re.compile(r"(?![-+]|[a-z-]+$)")
"""What no program has as a subcommand: behind an option that is not known it is the word of that."""


def path_below(folder: str, path: str) -> str:
    """Return a path that is given in a folder; one of a user whose name cannot be looked up stays as it is."""
    if path == "~+" or path.startswith("~+/"):  # the folder itself
        path = f".{path[2:]}"
    with suppress(ValueError):
        path = os.path.expanduser(path)
    return os.path.join(folder, path)


def folder_behind(folder: str, word: str) -> str:
    """Return the folder to which a word leads from a folder.

    With variables in one of them it is known only once these have values: until then both are kept, as the words of a
    command are (`BETWEEN_WORDS`).
    """
    if first_use(word) is None and BETWEEN_WORDS not in folder:
        return path_below(folder, word)
    return f"{folder}{BETWEEN_WORDS}{as_one_field(word)}"


def folders_told(words: Sequence[str]) -> list[str]:
    """Return the words of the options by which a command is told to change its folder first, each from the one before.

    Behind the subcommand of git such an option means something else, and in a command that is started it is that one's.
    """
    options = _RUNS_IN.get(words[0])
    if options is None:
        return []
    end = subcommand_at(words, 1) if words[0] == "git" else len(words)
    for path, at in paths_of(words):
        if path in _STARTERS:
            end = min(end, _command_at(words, at, _STARTERS[path]))
    return [*words_of_options(options, words[1:end])]


def words_of_options(options: Collection[str], words: Sequence[str]) -> Iterator[str]:
    """Yield the words of these options, which stand behind them, or joined with them; behind `--` is no option."""
    for word, behind in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if word == "--":
            return
        if word in options:
            yield behind
        elif equals and name in options:
            yield value
        elif at := letter_in(word, options):
            yield word[at + 1 :] or behind


def letter_in(word: str, options: Collection[str]) -> int:
    """Return where the first of joined letters stands that is one of these options, and takes what is behind it in the
    word; 0 for none.
    """
    letters = re.match(r"-[A-Za-z]+", word)
    return next((at for at in range(1, letters.end() if letters else 0) if f"-{word[at]}" in options), 0)


def program_of(word: str) -> str:
    """Return the program that a word names, without its folder and version."""
    name = _VERSION.sub("", os.path.basename(word).removesuffix(".exe"))
    return next((plain for plain, pattern in _SHORTER.items() if pattern.match(name)), name)


def subcommand_at(words: Sequence[str], at: int) -> int:
    """Return where the next word is that is no option of the program, nor the word of one."""
    takes = _TAKES_WORD.get(words[0], [])
    while at < len(words) and (words[at] in takes or words[at][:1] in ("-", "+")):
        option = words[at]
        at += 1
        is_unknown = words[0] != "git" and option[:1] == "-" and "=" not in option
        if option in takes or (is_unknown and at < len(words) and _IS_VALUE.match(words[at])):
            at += 1
    return at


def started_by(words: list[str]) -> Iterator[Started]:
    """Yield what a command starts itself, as far as its words say it: rather too much than too little.

    Args:
        words: Of one command, its program first and without its folder.
    """
    name = words[0]
    if name in _KEYWORDS or not name.strip(UNKNOWN):  # of a text that does not parse, or known too late
        yield words[_behind_options(words, 1, ()) :]
        yield words[2:]  # behind the name of a function, or of a coprocess
        yield words[words.index("{") + 1 :] if "{" in words else []
    if name.startswith("git-") and len(name) > 4:
        yield ["git", name[4:], *words[1:]]
    if name in ("hyperfine", "concurrently", "tmux", "screen"):
        yield from (word for word in words[1:] if " " in word or "\n" in word)
    if name == "parallel":
        yield from _started_by_parallel(words)
    if name == "git":
        yield from _by_setting(words)
    for path, at in paths_of(words):
        yield from _behind_option(path, words, at)
        if path in _TEXT_STARTERS:
            texts = words[_command_at(words, at, _TEXT_STARTERS[path], is_text=True) :]
            yield "".join(texts[:1]) if path == "trap" else " ".join(texts)
        # `command -v` only looks for the program.
        is_lookup = path == "command" and re.match(r"-p*[vV]", "".join(words[1:2])) is not None
        if path in _STARTERS and not is_lookup:
            yield from _started_behind(path, words, at)


def _started_by_parallel(words: list[str]) -> Iterator[str]:
    """Yield the command of `parallel`, and what it becomes with each of the first 64 words behind `:::`."""
    end = next((at for at, word in enumerate(words) if word[:3] == ":::"), len(words))
    begin = " ".join(words[_behind_options(words, 1, _OF_PARALLEL) : end])
    yield begin
    for word in words[end + 1 : end + 65]:
        yield begin.replace("{}", word) if "{}" in begin else f"{begin} {word}"


def _started_behind(path: str, words: list[str], at: int) -> Iterator[list[str]]:
    """Yield the command that stands behind the options of a program of `_STARTERS`.

    Args:
        path: The program, with its subcommands.
        at: Where the words behind these begin.
    """
    start = _command_at(words, at, _STARTERS[path])
    yield words[start:]
    for program in words_of_options(_PROGRAM_OPTIONS.get(path, ()), words[at:start]):
        yield [program, *words[start:]]
    if start < len(words) and _IS_LATER_OPTION.match(words[start - 1]):
        yield words[start + 1 :]  # behind an option of a later version that takes a word


def script_of(words: Sequence[str]) -> str:
    """Return the file that a shell is told to run, `STANDARD_INPUT` for what it reads; empty for none."""
    name, start = words[0], 1
    if name in READERS:
        if any(re.match(r"-\w*[cn]\w*$", word) for word in words[1:]):
            return ""
        start = _behind_options(words, 1, _OF_SHELLS)
        if name not in SHELLS or not words[start:] or any(re.match(r"-\w*s", word) for word in words[1:start]):
            return STANDARD_INPUT
    elif name in _SHELLS_ELSEWHERE:
        return "" if any(started_by(list(words))) else STANDARD_INPUT
    elif name not in ("source", "."):
        return ""
    file = "".join(words[start : start + 1])
    return STANDARD_INPUT if UNKNOWN in file or file.startswith("/dev/") else file


def behind_options_of_read(words: Sequence[str]) -> int:
    """Return where the names begin that `read` or `mapfile` is given."""
    return _behind_options(words, 1, _OF_READ if words[0].endswith("read") else _OF_MAPFILE, is_text=True)


def arguments_of(words: Sequence[str]) -> list[str]:
    """Return what a text that a shell is given as `-c` knows as `$0`, `$1` and so on."""
    at = next((at for at, word in enumerate(words) if at and re.match(r"-\w*c$", word)), len(words))
    return list(words[_behind_options(words, at, _OF_SHELLS, is_text=True) + 1 :])


def paths_of(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the program alone, with one and with two subcommands, and where the words behind them begin."""
    path, at = words[0], 1
    yield path, at
    for _ in range(2):
        at = subcommand_at(words, at)
        while at < len(words) and words[at][:1] == UNKNOWN:
            at = subcommand_at(words, at + 1)
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
        letter = letter_in(word, of_texts)
        if equals and name in of_texts:
            yield value.removeprefix("exec=")
        elif word in of_texts or letter:
            joined = word[letter + 1 :] if letter and path not in SHELLS else ""
            yield from [joined] if joined else behind[_behind_options(behind, 0, _OF_SHELLS, is_text=True) :][:1]
            return
        elif word in of_commands or (path == "python" and re.match(r"-\w*m$", word)):
            end = next((end for end, mark in enumerate(behind) if mark in (";", "+")), None)
            start = words[1] if path == "find" and words[1][:1] != "-" else "{}"
            yield [word.replace("{}", start) for word in behind[:end]]
        elif path == "python" and word[:2] == "-m":
            yield [word[2:], *behind]


def _by_setting(words: list[str]) -> Iterator[Started]:
    """Yield what the settings mean that `-c NAME=VALUE` or `git config NAME VALUE` give to git."""
    at = subcommand_at(words, 1)
    given = [words[place].removeprefix("-c").partition("=") for place in range(1, min(at, len(words)))]
    settings = [(name, value) for name, equals, value in given if equals]
    yield from (["git", "config", name, value] for name, value in settings)
    if words[at : at + 1] == ["config"]:
        settings += zip(words[at + 1 :], words[at + 2 :], strict=False)
    for name, value in settings:
        if _TEXT_IN_GIT.search(name) is None or not value:
            continue
        rest = words[at + 1 :] if name == f"alias.{''.join(words[at : at + 1])}" else []
        is_text = value[:1] == "!" or not name.lower().startswith("alias.")
        yield " ".join((value.removeprefix("!"), *rest)) if is_text else ["git", *value.split(), *rest]


def _command_at(words: Sequence[str], at: int, row: Sequence[str], *, is_text: bool = False) -> int:
    """Return where the command begins behind the options, and the words before it, that a row of a table names."""
    count = int(row[0]) if row and row[0].isdigit() else 0
    start = _behind_options(words, at, row, is_text=is_text) + count
    return start + 1 if count and words[start : start + 1] == ["--"] else start


def _behind_options(words: Sequence[str], at: int, takes: Sequence[str], *, is_text: bool = False) -> int:
    """Return where the first word is that is neither option, word of an option, nor, where no text is meant, an
    assignment.
    """
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        is_option = word[:1] in ("-", "+") and (word != "-" or not is_text)
        if not is_option and (is_text or _ASSIGNMENT.match(word) is None):
            return at
        at += 1
        at += takes.count(word) or int(0 < letter_in(word, takes) == len(word) - 1)
    return at
