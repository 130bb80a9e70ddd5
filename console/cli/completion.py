"""Completion scripts for bash, zsh and fish, made from the argument parsers so that they cannot go stale."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from msgspec import Struct
from team_console.console.cli.arguments import PROGRAM, parser_for
from team_console.console.cli.registry import VERBS


class Argument(Struct, frozen=True):
    """One option or positional of a verb.

    Attributes:
        flags: `--to`, `-t`; empty for a positional.
        value: Name of its value, empty for a switch.
        choices: Words it accepts, when there is a fixed list.
        source: What `_complete` lists for it, or `files`, or empty.
    """

    flags: tuple[str, ...]
    help: str
    value: str
    choices: tuple[str, ...]
    source: str


def arguments_of(verb_name: str) -> list[Argument]:
    """What the verb takes, global flags included."""
    verb = next(verb for verb in VERBS if verb.name == verb_name)
    return [_argument(action) for action in parser_for(verb)._actions]


def _argument(action: argparse.Action) -> Argument:
    takes_value = action.nargs != 0
    choices = tuple(str(choice) for choice in action.choices) if action.choices else ()
    source = getattr(action, "complete_from", "")
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    return Argument(tuple(action.option_strings), action.help or "", metavar if takes_value else "", choices, source)


def script(shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`."""
    verbs = [(verb.name, verb.help) for verb in VERBS if verb.group]
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](verbs)


def _bash(verbs: Sequence[tuple[str, str]]) -> str:
    cases = []
    for name, _ in verbs:
        arguments = arguments_of(name)
        flags = " ".join(flag for argument in arguments for flag in argument.flags)
        words = [word for argument in arguments if not argument.flags for word in argument.choices]
        source = next((argument.source for argument in arguments if not argument.flags and argument.source), "")
        cases.append(f"    {name}) flags='{flags}' words='{' '.join(words)}' source='{source}' ;;")
    values = {}
    for name, _ in verbs:
        for item in arguments_of(name):
            for flag in item.flags if item.value else ():
                answer = f"words='{' '.join(item.choices)}'" if item.choices else f"source='{item.source}'"
                values[f"{name}:{flag}"] = f"    {name}:{flag}) {answer} ;;"
    return _BASH.format(
        verbs=" ".join(name for name, _ in verbs), cases="\n".join(cases), values="\n".join(values.values())
    )


_BASH = r"""# bash completion for team-console
_team_console() {{
  local line=${{COMP_LINE:0:COMP_POINT}} verb='' previous='' current='' word
  local flags='-t --team --as --json --read-only --version --help' words='{verbs}' source=''
  local -a typed given=()
  read -r -a typed <<<"$line"
  if [[ $line == *[[:space:]] ]]; then typed+=(''); fi
  current=${{typed[${{#typed[@]}}-1]}}
  local position=1 last=$((${{#typed[@]}} - 1))
  while ((position < last)); do
    word=${{typed[position]}}
    case $word in
      -t | --team | --as)
        if ((position + 1 < last)); then
          given+=("$word" "${{typed[position + 1]}}")
          ((position++))
        fi ;;
      --team=* | --as=*) given+=("$word") ;;
      -*) ;;
      *) [[ -n $verb ]] || verb=$word ;;
    esac
    ((position++))
  done
  ((last > 0)) && previous=${{typed[last - 1]}}
  case $verb in
{cases}
  esac
  local wants_value=yes
  case $verb:$previous in
    :-t | :--team) words='' source=files ;;
    :--as) words='' source=agents ;;
{values}
    *) wants_value='' ;;
  esac
  [[ -z $wants_value && $current == -* ]] && {{ words=$flags; source=''; }}
  if [[ $source == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  if [[ -n $source ]]; then
    words=$(team-console _complete "$source" "${{given[@]}}" 2>/dev/null)
  fi
  local head=''
  if [[ $source == agents && $current == *,* ]]; then head=${{current%,*}},; fi
  mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "${{current#"$head"}}")
  # readline replaces only what follows the last word break, so the part before it must not come twice
  local breaks=${{COMP_WORDBREAKS//[[:space:]]/}} kept=$current
  while [[ -n $kept && $breaks != *"${{kept: -1}}"* ]]; do kept=${{kept%?}}; done
  COMPREPLY=("${{COMPREPLY[@]#"$kept"}}")
}}
complete -F _team_console team-console
"""


def _zsh(verbs: Sequence[tuple[str, str]]) -> str:
    listed = "\n".join(f"    {_quote(name + ':' + text)}" for name, text in verbs)
    cases = "\n".join(f"        {name})\n          _arguments {' '.join(_zsh_arguments(name))} ;;" for name, _ in verbs)
    everywhere = " ".join(_zsh_arguments(None))
    return _ZSH.format(listed=listed, cases=cases, everywhere=everywhere)


def _zsh_arguments(verb_name: str | None) -> Iterator[str]:
    found = arguments_of(verb_name) if verb_name else [_argument(action) for action in parser_for(None)._actions]
    positionals = [argument for argument in found if not argument.flags]
    for argument in found:
        help_text = argument.help.replace("[", "(").replace("]", ")").replace(":", " -").replace("%%", "%")
        action = f"({' '.join(argument.choices)})" if argument.choices else _ZSH_ACTIONS.get(argument.source, "")
        value = f":{argument.value.replace(':', ' ')}:{action}" if argument.value else ""
        if not argument.flags:
            rest = "*" if argument is positionals[-1] else ""  # zsh takes no second one for all the rest
            yield _quote(f"{rest}{value or ':word:'}")
        for flag in argument.flags:
            yield _quote(f"*{flag}[{help_text}]{value}")


_ZSH_ACTIONS = {
    "files": "_files",
    **{item: f" _team_console_words {item}" for item in ("agents", "requests", "messages", "held", "kinds", "topics")},
}

_ZSH = r"""#compdef team-console
_team_console_words() {{
  local -a found
  found=(${{(f)"$(team-console _complete $1 $given 2>/dev/null)"}})
  ((${{#found}})) || return 1
  if [[ ${{words[CURRENT-1]}} == --to ]]; then _values -s , agent $found; else compadd -a found; fi
}}
_team_console() {{
  local context state state_descr line
  local -A opt_args
  local -a given
  local -i number
  for ((number = 2; number < CURRENT; number++)); do
    case $words[number] in
      -t | --team | --as) given+=($words[number] ${{(Q)words[number + 1]}}) ;;
      --team=* | --as=*) given+=(${{(Q)words[number]}}) ;;
    esac
  done
  local -a verbs
  verbs=(
{listed}
  )
  _arguments -C {everywhere} '1: :->verb' '*:: :->rest'
  case $state in
    verb) _describe verb verbs ;;
    rest)
      case $words[1] in
{cases}
      esac ;;
  esac
}}
if [[ $funcstack[1] == _team-console ]]; then _team_console "$@"; else compdef _team_console team-console; fi
"""


def _fish(verbs: Sequence[tuple[str, str]]) -> str:
    names = " ".join(name for name, _ in verbs)
    lines = [_FISH.format(names=names)]
    for item in [_argument(action) for action in parser_for(None)._actions]:
        lines.append(_fish_option("", item))
    for name, text in verbs:
        lines.append(f"complete -c {PROGRAM} -n __team_console_no_verb -f -a {name} -d {_quote(text)}")
        condition = f" -n '__fish_seen_subcommand_from {name}'"
        own = [
            argument
            for argument in arguments_of(name)
            if not {"-h", "--team", "--as", "--json", "--read-only"} & {*argument.flags}
        ]
        lines += [_fish_option(condition, argument) for argument in own if "--version" not in argument.flags]
    return "\n".join(line for line in lines if line) + "\n"


def _fish_option(condition: str, argument: Argument) -> str:
    words = " ".join(argument.choices) or (
        f"(__team_console_words {argument.source})" if argument.source not in ("", "files") else ""
    )
    answers = f" -a {_quote(words)}" if words else ""
    if not argument.flags:
        return f"complete -c {PROGRAM}{condition} -f{answers}" if words else ""
    flags = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in argument.flags)
    kind = (" -r" if argument.source == "files" else " -x") if argument.value else " -f"
    return f"complete -c {PROGRAM}{condition}{flags}{kind}{answers} -d {_quote(argument.help)}"


_FISH = r"""# fish completion for team-console
function __team_console_words
    set -l words (commandline -opc)
    set -l given
    for number in (seq 2 (count $words))
        switch $words[$number]
            case -t --team --as
                test $number -lt (count $words); and set -a given $words[$number] $words[(math $number + 1)]
            case '--team=*' '--as=*'
                set -a given $words[$number]
        end
    end
    team-console _complete $argv[1] $given 2>/dev/null
end
function __team_console_no_verb
    not __fish_seen_subcommand_from {names}
end
complete -c team-console -f"""


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
