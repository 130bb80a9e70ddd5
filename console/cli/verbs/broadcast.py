"""`broadcast`: the same message to every member, after saying how many deliveries that makes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.printing.output import is_terminal
from team_console.console.cli.stdin import content
from team_console.console.cli.verbs.send import delivery
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.service.sending import Preview, broadcast, preview


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Send one message to every member but the sender. The number of deliveries is said first; at a terminal\n"
        "you are asked before anything is written, in a script it is written at once. Use it for what everybody\n"
        "must see: start and end of a project, blocking problems, changes to the team, alarms. For one agent use send."
    )
    parser.add_argument("--summary", required=True, help="5-10 words for the reader's list")
    parser.add_argument("--content", required=True, metavar="C|-", help="the text; - reads standard input")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="only say who would get it")


def run(call: Call) -> int:
    """Preview, ask where there is somebody to ask, send."""
    options = call.options
    text = content(options.content) or ""
    shown = preview(call.caller, to="all")
    if options.dry_run:
        return _show_only(call, shown)
    call.out.note(_sentence(shown))
    asked = is_terminal(sys.stdin) and is_terminal(sys.stderr) and options.content != "-"
    if asked and not options.yes:
        call.out.warn(shown.warnings)
    if asked and not options.yes and not confirmed():
        raise TeamError(Code.NOT_PERMITTED, "broadcast not confirmed; nothing was written", "Add --yes to skip this.")
    receipt = broadcast(call.caller, summary=options.summary, content=text)
    return call.finish(receipt, [f"written: {delivery(message)}" for message in receipt.messages])


def confirmed() -> bool:
    """Ask on standard error; anything but y or yes is no."""
    sys.stderr.write("Send it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _sentence(shown: Preview) -> str:
    text = f"{counted(len(shown.recipients), 'delivery')}: {', '.join(shown.recipients)}"
    if shown.not_listening:
        text += f"; not listening: {', '.join(shown.not_listening)}"
    return safe_line(text)


def _show_only(call: Call, shown: Preview) -> int:
    if call.out.as_json:
        call.out.json(
            {
                "success": True,
                "action": "broadcast",
                "dry_run": True,
                "recipients": list(shown.recipients),
                "not_listening": list(shown.not_listening),
                "left_out": list(shown.left_out),
                "warnings": list(shown.warnings),
            }
        )
    else:
        call.out.say(_sentence(shown))
        call.out.warn(shown.warnings)
    return 0
