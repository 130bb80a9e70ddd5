"""`route`: one orchestrator JSON document (seed 003) on standard input, its answer on standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial

from team_console.console.cli.call import Call
from team_console.console.cli.stdin import read
from team_console.store.model.errors import Code, TeamError


def add_arguments(parser: ArgumentParser) -> None:
    """Explain what stands on standard input."""
    parser.description = (
        'Reads {"ACTION": ...} or invoke_command("route-inter-agent-messages", {"ACTION": ...}). ACTION is\n'
        "poll, deliver, deliver_all, send, clear or clear_old. The answer is always JSON."
    )


def run(call: Call) -> int:
    """Do what the document asks; refusals are the error object, on standard output as well.

    A failed delivery is seed 003's error object and nothing more.
    """
    from team_console.store.service.orchestrator import read_document, route

    call.out.as_json = True
    try:
        document = read_document(read("the document"))
        answer, status = route(call.caller, document, check_sender=partial(call.refuse_to_rise, field="SENDER")), 0
    except TeamError as error:
        if error.code is not Code.DELIVERY_TIMEOUT:
            raise
        answer, status = {key: item for key, item in error.as_json().items() if key != "hint"}, error.exit_code
    call.out.json(answer)
    return status
