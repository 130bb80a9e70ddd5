"""Completes command lines in bash, zsh and fish: `completions` prints the scripts, which ask `_complete`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path

from team_console.console.cli.arguments import arg, flag, verb
from team_console.console.cli.call import Call
from team_console.console.cli.help_and_config import TOPICS
from team_console.console.cli.main import BY_NAME, VERBS, parser_for
from team_console.console.cli.printing import view_now
from team_console.console.split_verb import split_verb
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.model.names import ALL, is_name
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.titles import summary_of

# `completions`: the completion script for a shell, made from the verbs' own options.

_SCRIPT_PLACES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/team-console"),
    "zsh": ("ZDOTDIR", "", ".zfunc/_team-console"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/team-console.fish"),
}
"""Where a shell looks for its script: the variable of the base folder, that folder below home, the path in it."""


@verb(
    arg("shell", "the shell", choices=tuple(_SCRIPT_PLACES)),
    flag("--install", "write it to where the shell looks for it"),
)
def do_completions(call: Call) -> None:
    """Print a completion script, or install it for your user.

    Examples:
      team-console completions bash --install
      team-console completions zsh --install      # then, once, in ~/.zshrc: fpath+=~/.zfunc before compinit
      team-console completions fish --install"""
    text = _SCRIPTS[call.options.shell]
    if not call.options.install:
        call.write(text.rstrip("\n"))
        return
    if call.options.read_only:
        raise TeamError(Code.READ_ONLY, "--install writes a file", "Leave --read-only out.")
    path = _script_path(call.options.shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        shown = safe_line(f"{path}: {error.strerror}", 1000)
        raise TeamError(Code.STORE_FAILED, shown, "Print the script and put it where you want it.") from None
    call.say(f"written: {path}; new shells have it")


def _script_path(shell: str) -> Path:
    variable, usual, rest = _SCRIPT_PLACES[shell]
    base = os.environ.get(variable)
    return (Path(base) if base and os.path.isabs(base) else home() / usual) / rest


# The scripts, and what `_complete` answers them.

_SCRIPTS = {
    "bash": r"""# bash completion for team-console
_team_console() {
  local line=${COMP_LINE:0:COMP_POINT} found
  local -a typed
  read -r -a typed <<<"$line"
  if [[ $line == *[[:space:]] ]]; then typed+=(''); fi
  found=$(team-console _complete -- "${typed[@]:1}" 2>/dev/null) || compopt -o default 2>/dev/null
  COMPREPLY=()
  [[ -z $found ]] || mapfile -t COMPREPLY <<<"$found"
  # readline replaces only what follows the last word break, so the part before it must not come twice
  local breaks=${COMP_WORDBREAKS//[[:space:]]/} kept=${typed[${#typed[@]}-1]}
  while [[ -n $kept && $breaks != *"${kept: -1}"* ]]; do kept=${kept%?}; done
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -F _team_console team-console
""",
    "zsh": r"""#compdef team-console
_team_console() {
  local found
  found=$(team-console _complete -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null) || { _files; return }
  [[ -n $found ]] || return 1
  local -a lines=("${(@f)found}") given
  given=("${(@)lines%%$'\t'*}")
  lines=("${(@)lines/$'\t'/  }")
  compadd -l -d lines -a given
}
if [[ $funcstack[1] == _team-console ]]; then _team_console "$@"; else compdef _team_console team-console; fi
""",
    "fish": r"""# fish completion for team-console
function __team_console_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    team-console _complete -- $before[2..] "$current" 2>/dev/null
    or __fish_complete_path "$current"
end
complete -c team-console -f -a '(__team_console_complete)'
""",
}


def completions(call: Call, words: list[str]) -> Iterator[tuple[str, str]] | None:
    """Return words that may stand in place of the last one of `words`, each with what it means; None where files do.

    Raises:
        TeamError: When the team cannot be read.
    """
    before, current = [word for word in words[:-1] if word], words[-1] if words else ""
    name, _ = split_verb(before)
    verb = BY_NAME.get(name or "")
    actions = parser_for(verb)._actions
    for option, value in pairwise(before):  # the team and the actor that the line names
        for action in actions:
            if option in action.option_strings and action.dest in ("team", "actor"):
                setattr(call.options, action.dest, value)
    asked = [action for action in actions if before and before[-1] in action.option_strings and action.nargs != 0]
    if not asked and current.startswith("-"):
        return _beginning_with(current, ((flag, item.help or "") for item in actions for flag in item.option_strings))
    if not asked and verb is None:
        verbs = VERBS if name is None else ()
        return _beginning_with(current, ((verb.name, verb.help) for verb in verbs if verb.group))
    places = asked or [action for action in actions if not action.option_strings]
    sources = dict.fromkeys(getattr(action, "complete_from", "") for action in places)
    if "files" in sources:
        return None
    choices = [(str(choice), "") for action in places for choice in action.choices or ()]
    values = chain(choices, *(_values_of(call, source) for source in sources))
    names_before, comma, last_name = current.rpartition(",")
    if comma and {"agents", "recipients"} & sources.keys():
        return ((f"{names_before},{word}", meaning) for word, meaning in _beginning_with(last_name, values))
    return _beginning_with(current, values)


_PLAIN = re.compile(r"[\w@.+:-]+")
"""Words a shell takes as they are; bash expands what a completion script is given."""


def _beginning_with(current: str, words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the words that begin with what was typed and that no shell would expand, each with what it means."""
    return (
        (word, " ".join(meaning.replace("%%", "%").split()))
        for word, meaning in words
        if word.startswith(current) and (_PLAIN.fullmatch(word) or is_name(word))
    )


def _values_of(call: Call, source: str) -> Iterator[tuple[str, str]]:
    """Yield the values that an argument takes by its `source`, each with what it means; none for an unknown one."""
    match source:
        case "topics":
            yield from ((verb.name, verb.help) for verb in VERBS if verb.group)
            yield from ((topic, "") for topic in TOPICS)
        case "agents" | "recipients":
            config = call.team.config()
            yield from ((agent.name, agent.role) for agent in config.agents.values())
            senders = () if config.declared else (message.sender for message in call.snapshot().messages)
            everybody = (ALL,) if source == "recipients" else ()
            others = dict.fromkeys((config.lead, *everybody, *senders))
            yield from ((name, "") for name in others if name not in config.agents)
        case "kinds":
            yield from ((kind, "") for kind in dict.fromkeys((*KINDS, *call.team.config().kinds)))
        case "requests":
            yield from ((row.request_id, row.title) for row in view_now(call).requests if row.is_open)
        case "messages":
            messages = call.snapshot().messages
            yield from ((message.message_id, summary_of(message)) for message in messages if message.status != "read")
        case "held":
            for message in call.snapshot().messages:
                if message.status in ("delivered", "claimed") and message.is_addressed_to(call.actor):
                    yield message.message_id, summary_of(message)


@verb(arg("words", "the words of a command line up to the cursor", nargs="*"))
def do_complete(call: Call) -> int:
    """Print what may stand in place of the last word; a team that cannot be read has nothing to offer."""
    with suppress(TeamError):
        found = completions(call, call.options.words)
        if found is None:
            return 1
        for word, meaning in found:
            call.write(f"{word}\t{safe_line(meaning)}")
    return 0
