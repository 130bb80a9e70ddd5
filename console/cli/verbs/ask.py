"""`ask`: an agent puts a question to the human; the request id comes back, or with a wait the answer."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from team_console.console.cli.call import Call
from team_console.console.cli.stdin import content
from team_console.console.cli.waits import EXIT_STATUSES, add_wait, finish_asking, seconds_of
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import named, parse_json

_LONGEST = 31_536_000.0


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Put a question of --as NAME to the team's lead. Any number may be open. The request id is printed; with\n"
        "--wait it waits, and prints the answer alone: the label that was chosen, or the human's own words.\n"
        + EXIT_STATUSES
    )
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="the question")
    parser.add_argument("--option", action="append", metavar="LABEL", help="what may be chosen; repeat it")
    parser.add_argument("--header", default="", metavar="H", help="a word or two that name the question")
    parser.add_argument("--several", action="store_true", help="more than one option may be chosen")
    parser.add_argument(
        *("--questions",),
        metavar="JSON|-",
        help="questions as a list of {question, header, options: [{label, description}], multiSelect}; - reads "
        "standard input",
    )
    parser.add_argument("--summary", help="one line for the human's list; made from the question when left out")
    parser.add_argument("--expires", type=float, metavar="SECONDS", help="withdraw it as timed out after so long")
    add_wait(parser)


def run(call: Call) -> int:
    """Ask, wait when asked to, and print."""
    from team_console.store.service.asking import ask_question

    options = call.options
    seconds_of(call)
    questions = _questions(call)
    _refuse_blank(questions)
    seconds = options.expires
    if seconds is not None and not 0 < seconds <= _LONGEST:
        raise TeamError(Code.USAGE, f"--expires {seconds:g} is not a number of seconds", "For example --expires 600.")
    receipt = ask_question(
        call.caller,
        questions=questions,
        expires=call.team.clock() + timedelta(seconds=seconds) if seconds is not None else None,
        summary=options.summary,
    )
    return finish_asking(call, receipt)


def _questions(call: Call) -> list[dict[str, Any]]:
    options = call.options
    if (options.question is None) is (options.questions is None):
        raise TeamError(
            Code.USAGE, "give one QUESTION, or --questions JSON", 'team-console ask "Which one?" --option A'
        )
    if options.questions is not None:
        return _listed(content(options.questions) or "")
    return [
        {
            "question": options.question,
            "header": options.header,
            "options": [{"label": label} for label in options.option or ()],
            "multiSelect": options.several,
        }
    ]


def _refuse_blank(questions: Sequence[Any]) -> None:
    """Refuse what would reach the human without its words: readers leave out what they cannot read as an option.

    Raises:
        TeamError: `INVALID_FIELD`, with the question it is about.
    """
    for number, item in enumerate(questions, start=1):
        if not isinstance(item, Mapping) or not _is_text(item.get("question")):
            raise TeamError(Code.INVALID_FIELD, f"question {number} is empty", "Say what is asked.")
        options = item.get("options") or []
        if not isinstance(options, list) or not all(_has_label(option) for option in options):
            text = f"question {number}: an option without a label could not be chosen"
            raise TeamError(Code.INVALID_FIELD, text, 'Give --option LABEL, or "options": [{"label": "A"}].')


def _has_label(option: Any) -> bool:
    return isinstance(option, Mapping) and _is_text(option.get("label"))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(text: str) -> list[dict[str, Any]]:
    hint = 'Give a list such as [{"question": "Which?", "options": [{"label": "A"}]}].'
    value = parse_json(text, what="--questions", hint=hint)
    if not isinstance(value, list) or not value:
        what = "an empty list" if isinstance(value, list) else f"{named(value)}, not a list"
        raise TeamError(Code.INVALID_FIELD, f"--questions is {what}", hint)
    return value
