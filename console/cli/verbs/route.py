"""`route`: one orchestrator JSON document (seed 003) on standard input, its answer on standard output."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.call import Call
from console.cli.stdin import read


def add_arguments(parser: ArgumentParser) -> None:
    """Explain what stands on standard input."""
    parser.description = (
        'Reads {"ACTION": ...} or invoke_command("route-inter-agent-messages", {"ACTION": ...}). ACTION is\n'
        "poll, deliver, deliver_all, send, clear or clear_old. The answer is always JSON."
    )


def run(call: Call) -> int:
    """Do what the document asks; refusals are the error object, on standard output as well."""
    from store.desk.route import read_document, route

    call.out.as_json = True
    call.out.json(route(call.seat, read_document(read("the document"))))
    return 0
