"""`answer`: chooses options of a question, or answers a clarification or an escalation in words."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.chosen_options import Answers, answers_from
from team_console.console.cli.printing.verdict import describe
from team_console.console.cli.seen import add_seen, seen_by
from team_console.console.cli.stdin import content
from team_console.store.protocol.client_requests import questions_of


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Answer an open question: choose its options by label or number, or use own words. Of several questions each\n"
        "is named by its header or its number: --option DB=PostgreSQL --option 2=A --text 3='neither of them'.\n"
        "A clarification or an escalation is answered in words, with --content."
    )
    add_completed(parser, "requests", "request", metavar="REQUEST", help="the request id")
    parser.add_argument(
        "--option", action="append", default=[], metavar="[HEADER=]LABEL", help="what is chosen; repeat it"
    )
    parser.add_argument(
        "--text", action="append", default=[], metavar="[HEADER=]WORDS", help="own words in place of it"
    )
    parser.add_argument("--content", metavar="C|-", help="words to the asker; - reads standard input")
    add_seen(parser)


def run(call: Call) -> int:
    """Answer, and say what was answered on whose request."""
    from team_console.store.service.requests import answer, live_question

    options = call.options
    question = live_question(call.snapshot(), options.request, options.seen or "")
    questions = questions_of(question.payload) if question is not None else ()
    answers: Answers | None = None
    if questions and (options.option or options.text):
        answers = answers_from(questions, options.option, options.text)
    words = content(options.content) or ("" if answers else "\n".join((*options.option, *options.text)))
    receipt = answer(
        call.decider,
        request_id=options.request,
        answers=answers,
        content=words or None,
        seen=seen_by(call, question),
    )
    return call.finish(receipt, describe("answered", receipt))
