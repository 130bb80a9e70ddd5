"""Proof that what a text for a shell does is asked for, and what it only says is not: compared with a real bash.

A command is nested at random in what runs it, in what passes it on as words or as a text, and in what only says it. A
real bash runs the text, with programs first in its path that note how they were called.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from team_console.console.clients.rules import rule_for

from tests.equipment.cases import constant
from tests.hook.real_bash import Bash

RULES = ("push", "publish", "delete")
COMMANDS = constant(__file__, "COMMANDS", list[str])
_AS_WORDS = r"""
%s
command %s
env %s
env A=b %s
A=b %s
nice -n 5 %s
timeout 60 %s
nohup %s
stdbuf -o L %s
setsid -w %s
time %s
time A=b %s
time -p %s
! %s
exec %s
builtin command %s
xargs %s <in
echo x | xargs %s
echo x | xargs -I@@ %s @@
find in -exec %s {} +
G() { "$@"; }; G %s
G() { $*; }; G %s
V=(%s); "${V[@]}"
V=(%s); ${V[*]}
V='%s'; $V
V='%s'; W=$V; $W
V="%s"; ${V}
set -- %s; "$@"
set -- a %s; shift; "$@"
echo %s | bash
printf '%%s ' %s | sh
eval %s
coproc %s; wait
coproc N { %s; }; wait
$(echo %s)
`echo %s`
bash -c '"$@"' _ %s
bash <<<"%s"
{ %s; } >f
>f %s
2>&1 %s
%s >f 2>&1
%s <in
%s &
read -r V <<<"%s"; $V
read -ra V <<<"%s"; "${V[@]}"
while read -r V; do $V; done <<<"%s"
for V in "%s"; do $V; done
V=$(echo %s); $V
printf -v V '%%s ' %s; $V
mapfile -t V <<<"%s"; ${V[0]}
declare V="%s"; $V
export V="%s"; bash -c '$V'
F() { local V="%s"; $V; }; F
F() { echo %s; }; $(F)
F() { printf '%%s ' %s; }; F | bash
echo %s >S; . ./S
echo %s >S; bash S
echo %s | tee S >f; bash ./S
cat >S <<<"%s"; source S
cat <<<"%s" | bash
bash <(echo %s)
. <(echo %s)
if %s; then :; fi
while %s; do break; done
case a in a) %s;; esac
case %s in *) %s;; esac
[[ $(%s) ]]
V=%s; echo $V
: "$(%s)"
: ${U:-$(%s)}
: ${U:=`%s`}
echo $((1 + $(%s) + 1))
diff <(%s) in
(%s)
(%s) >f
((1)) && %s
[ a ] && %s || :
test -f in && %s
true | %s
%s | cat
%s |& cat
cat in | { %s; }
echo %s
printf "%%s" %s
: %s
# %s
V='%s'
grep -q "%s" in
git commit -m "%s"
git log --grep '%s'
echo "%s" >notes
"""
"""Around the words of one command."""
_AS_TEXT = r"""
(%r)
{ %r}
if true\nthen %rfi
if ! { %r}\nthen :; fi
if false\nthen :\nelse %rfi
while %rdo break; done
until ! { %r}\ndo break; done
for i in 1; do %rdone
for ((i = 0; i < 1; i++)); do %rdone
case a in b) ;; a) %r;; esac
F() { %r}\nF
F() ( %r)\nF
function F { %r}\nF
function F() { %r}\nF a b
F() { %r} >f; F
F() { %r}\nG() { F; }\nG
F() { if [ $# -gt 0 ]; then shift; F "$@"; else %rfi; }\nF a b
echo "$(%r)"
echo $(%r)
V=$(%r)
local_x="$(%r)" true
: "${U:-$(%r)}"
: "a $(%r) b"
[[ -n $(%r) ]]
[ "$(%r)" ]
a=(1 $(%r) 2)
for i in $(%r) 1; do :; done
case $(%r) in *) ;; esac
cat <(%r)
true | { %r}
{ %r} | cat
{ %r} 2>&1 | cat
{ %r} >f 2>f2
( %r) 3>f
{ %r} &\nwait
( %r) &\nwait
coproc { %r}\nwait
echo a > >(%r)
echo a | tee >(%r) >f
echo $((%r) 2>f)
V=$((%r) >f)
V=$( (%r) )
true && { %r}
false || { %r}
! { %r}
time { %r}
time (%r)
cat <<E1\n$(%r)\nE1
cat <<E1\na `%b`\nE1
cat <<E1\n`%b`\nE1
echo `%b`
echo "`%b`"
cat <<-E1\n\ta "$(%r)"\n\tE1
cat <<E1 | cat\n${U:-$(%r)}\nE1
cat <<E1 <<E2\na\nE1\n$(%r)\nE2
bash -c %q
bash -ec %q
bash -c %q a b
sh -c %d
bash -c %d
eval %q
eval %d
env A=b bash -c %q
timeout 60 bash -c %q
nice sh -c %d
nohup bash -c %q
find in -exec sh -c %q \;
echo x | xargs -I@@ sh -c %q
trap %q EXIT
trap %d 0
V=%q; eval "$V"
V=%d; bash -c "$V"
V=%q; W="$V"; eval "$W"
export V=%q; bash -c 'eval "$V"'
declare V=%q; bash <<<"$V"
bash <<<%q
bash -s a <<<%q
bash <<'E3'\n%r\nE3
bash <<E3\n%u\nE3
bash -s <<-'E3'\n%r\nE3
cat <<'E4' | bash\n%r\nE4
cat >S <<'E5'\n%r\nE5\nbash S
cat >S <<'E5'\n%r\nE5\n. ./S
eval "$(cat <<'E6'\n%r\nE6\n)"
bash -c "$(cat <<'E6'\n%r\nE6\n)"
printf '%%s\n' %q | sh
echo %q >S; bash S
echo %q >S && sh ./S
printf %q >S; source ./S
source <(echo %q)
. /dev/stdin <<<%q
exec 3< <(echo %q); bash <&3
bash 0< <(echo %q)
{ echo %q; } | bash
F() { eval "$1"; }; F %q
F() { bash -c "$@"; }; F %q
F() { echo %q; }; eval "$(F)"
F() { cat; }; echo %q | F | bash
V=(%q); eval "${V[0]}"
for V in %q; do eval "$V"; done
set -- %q; eval "$1"
set -- a %q; shift; eval "$1"
V=$(echo %q); eval "$V"
mapfile -d '' -t V <<<%q; eval "${V[*]}"
command eval %q
builtin eval %q
alias zz=ls; { %r}
echo %q
printf '%%s' %q
: %q
: %d
V=%q
cat <<'E7'\n%r\nE7
cat <<E7\n%u\nE7
cat >notes <<'E7'\n%r\nE7
git commit -m %q
git commit -m "$(cat <<'E8'\n%r\nE8\n)"
grep -q %q in
echo %q >notes
echo "# "%q
export V=%q
F() { echo "$1"; }; F %q
bash -c 'echo "$1"' _ %q
case %q in x) ls;; esac
[ %q = x ]
[[ %q == x ]]
a=(%q)
: $((1<<2)); %r
# it's\n%r
: "<<A"; %r
: 'a\n<<A\n'\n%r
cd sub; %r
ls \\n in; %r
: ${#HOME} a#b; %r
"""
"""Around a text: `%r` as it is, `%q` and `%d` in quotes, `%u` where only expansions count."""
_UNSURE = re.compile(
    r"coproc|trap.*trap|find.*find|\$[1@*].*\$[1@*]|\$\\*[\"']|syntax error|unexpected EOF|by end-of-file", re.DOTALL
)
"""Where bash runs less than stands there (coprocesses in some substitutions, traps set as it ends, the place that an
outer `find` fills, what it refuses), or the arguments of one function count for another.
"""
_SPELLINGS = constant(__file__, "SPELLINGS", list[str])


def _spelt(words: str) -> str:
    """Return a command with some of its words spelt another way."""
    return " ".join(
        random.choice(_SPELLINGS).format(word, at=at) if random.random() < 0.15 and not word.endswith("\\\n") else word
        for at, word in enumerate(words.split())
    )


def _in_double_quotes(text: str) -> str:
    return '"' + re.sub(r'([$`"\\])', r"\\\1", text) + '"'


def _around(text: str, patterns: Sequence[str], depth: int) -> str:
    """Return a text nested in one of these patterns, whose names are those of its depth."""
    if "<<" in text:  # within backquotes the reader does not follow what a here-document escapes
        patterns = [pattern for pattern in patterns if "%b" not in pattern]
    pattern = re.sub(r"\b(?:[VWFGSU]|E\d)\b", lambda found: f"{found[0]}{depth}", random.choice(patterns))
    inner = {
        "%%": "%",
        "%s": text,
        "%r": f"{text}\n",
        "%q": shlex.quote(text),
        "%d": _in_double_quotes(text),
        "%b": re.sub(r"([$`\\])", r"\\\1", text),
        "%u": re.sub(r"([$`\\])", r"\\\1", text),
    }
    return re.sub("%[%srqdbu]", lambda found: inner[found[0]], pattern)


def levels() -> list[str]:
    """Return a text at random, and before it those that it is made of, from the inner one on."""
    command = random.choice(COMMANDS)
    words = [line for line in _AS_WORDS.strip().split("\n") if line.count("%s") == 1]
    texts = [line.replace("\\n", "\n").replace("\\t", "\t") for line in _AS_TEXT.strip().split("\n")]
    found = [_around(_spelt(command) if random.random() < 0.5 else command, words, 0)]
    for depth in range(1, random.randint(1, 5)):
        found.append(_around(found[-1], texts, depth))
    return found


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each text of which an action was missed, or asked for although only named."""
    random.seed(seed)
    bash = Bash(folder)
    for _ in range(count):
        texts = levels()
        if only not in texts[-1] or not _difference(bash, texts[-1]):
            continue
        yield next(filter(None, (_difference(bash, text) for text in texts)), f"not the same twice: {texts[-1]!r}")


def _difference(bash: Bash, text: str) -> str:
    """Return in words what the reader and a real bash find different in a text; empty for nothing."""
    calls, complaint = bash.run(text)
    asked, done = _rules_of(text), set().union(*(_rules_of(shlex.join(call)) for call in calls))
    kinds = {"missed": done - asked, "asked wrongly for": asked - done}
    if _UNSURE.search(f"{text}\n{complaint}"):
        kinds.popitem()
    told = [f"{kind} {', '.join(sorted(rules))}" for kind, rules in kinds.items() if rules]
    return f"{'; '.join(told)}: {text!r}" if told else ""


def _rules_of(text: str) -> set[str]:
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/home/you/project"}
    return {rule for rule in RULES if rule_for(data, (rule,), project="/home/you/project")}
