"""`approve`: answers an open request with yes."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.verdict import describe
from team_console.console.cli.seen import add_seen, seen_by
from team_console.console.cli.stdin import file_text
from team_console.store.model.safe import safe_line
from team_console.store.service.caller import Receipt

_ONLY = object()
"""`--always` without a number, which any number could be taken for."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_completed(parser, "requests", "request", metavar="REQUEST", help="the request id")
    parser.add_argument("--note", help="a word to the asker")
    parser.add_argument(
        "--agent-name", metavar="N", help="the name of the agent to be created (else made from its type)"
    )
    parser.add_argument(
        *("--always",),
        nargs="?",
        type=int,
        const=_ONLY,
        metavar="N",
        help="for a permission: allow the client's suggestion N from now on (without a number: its only one)",
    )
    parser.add_argument("--mode", metavar="M", help="for a plan: the mode to go on in, one of those it offers")
    parser.add_argument(
        "--edited", metavar="FILE|-", help="approve this text in place of the plan, the command or the file's content"
    )
    add_seen(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say what it would do, and who will be told")


def run(call: Call) -> int:
    """Approve, and say what was decided on whose request."""
    from team_console.store.service.requests import approve, foresee

    options = call.options
    if options.dry_run:
        return _show(call, foresee(call.snapshot(), request_id=options.request, agent_name=options.agent_name))
    receipt: Receipt = approve(
        call.decider,
        request_id=options.request,
        note=options.note,
        agent_name=options.agent_name,
        seen=seen_by(call),
        scope="once" if options.always is None else "always",
        suggestion=None if options.always is _ONLY else options.always,
        mode=options.mode,
        updated=file_text(options.edited, what="--edited") if options.edited is not None else None,
    )
    return call.finish(receipt, describe("approved", receipt))


def _show(call: Call, foreseen: tuple[str, ...]) -> int:
    if call.out.as_json:
        result = {"success": True, "action": "approve", "dry_run": True, "request_id": call.options.request}
        call.out.json({**result, "notes": list(foreseen), "warnings": []})
    else:
        for sentence in foreseen:
            call.out.say(safe_line(sentence))
    return 0
