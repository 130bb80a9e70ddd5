"""Completion of a command line: the scripts for bash, zsh and fish, which ask `_complete`, and its answer.

A script hands over the words up to the cursor and gets a line for each word that fits: the word, a tab, its meaning.
An exit status of 1 says that the name of a file belongs there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from team_console.console.cli.call import Call
from team_console.console.cli.main import parser_for, split
from team_console.console.cli.printing import view_now
from team_console.console.cli.reference import TOPICS
from team_console.console.cli.registry import BY_NAME, VERBS
from team_console.store.model.names import ALL, is_name
from team_console.store.protocol.kinds import KINDS

SCRIPTS = {
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
_PLAIN = re.compile(r"[\w@.+:-]+")
"""Words a shell takes as they are; bash expands what a completion script is given."""


def completions(call: Call, words: list[str]) -> Iterator[tuple[str, str]] | None:
    """Words that may stand in place of the last one, each with what it means; None where files do.

    Raises:
        TeamError: When the team cannot be read.
    """
    before, current = [word for word in words[:-1] if word], words[-1] if words else ""
    name, _ = split(before)
    verb = BY_NAME.get(name or "")
    actions = parser_for(verb)._actions
    for flags, value in pairwise(before):  # the team and the actor that the line names
        for action in actions:
            if flags in action.option_strings and action.dest in ("team", "actor"):
                setattr(call.options, action.dest, value)
    asked = [item for item in actions if before and before[-1] in item.option_strings and item.nargs != 0]
    if not asked and current.startswith("-"):
        return _fitting(current, ((flag, item.help or "") for item in actions for flag in item.option_strings))
    if not asked and verb is None:
        return _fitting(current, ((verb.name, verb.help) for verb in VERBS if verb.group)) if name is None else iter(())
    places = asked or [item for item in actions if not item.option_strings]
    sources = dict.fromkeys(getattr(item, "complete_from", "") for item in places)
    if "files" in sources:
        return None
    choices = [(str(choice), "") for item in places for choice in item.choices or ()]
    there = chain(choices, *(_listed(call, source) for source in sources))
    head, comma, last = current.rpartition(",")
    if comma and "agents" in sources:
        return ((f"{head},{word}", meaning) for word, meaning in _fitting(last, there))
    return _fitting(current, there)


def _fitting(current: str, words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return (
        (word, " ".join(meaning.replace("%%", "%").split()))
        for word, meaning in words
        if word.startswith(current) and (_PLAIN.fullmatch(word) or is_name(word))
    )


def _listed(call: Call, source: str) -> Iterator[tuple[str, str]]:
    """What the team has of a kind, such as its agents."""
    match source:
        case "topics":
            yield from ((verb.name, verb.help) for verb in VERBS if verb.group)
            yield from ((topic, "") for topic in TOPICS)
        case "agents":
            config = call.team.config()
            yield from ((agent.name, agent.role) for agent in config.agents.values())
            senders = () if config.declared else (message.sender for message in call.snapshot().messages)
            yield from ((name, "") for name in dict.fromkeys((config.lead, ALL, *senders)) if name not in config.agents)
        case "kinds":
            yield from ((kind, "") for kind in dict.fromkeys((*KINDS, *call.team.config().kinds)))
        case "requests":
            yield from ((row.request_id, row.title) for row in view_now(call).requests if row.is_open)
        case "messages":
            messages = call.snapshot().messages
            yield from ((message.message_id, message.summary) for message in messages if message.status != "read")
        case "held":
            for message in call.snapshot().messages:
                if message.status in ("delivered", "claimed") and message.is_addressed_to(call.actor):
                    yield message.message_id, message.summary
