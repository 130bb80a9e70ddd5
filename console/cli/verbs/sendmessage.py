"""`sendmessage`: SendMessage JSON (seed 001) on standard input, its reply on standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from team_console.console.cli.call import Call
from team_console.console.cli.stdin import json_documents, read
from team_console.store.model.errors import TeamError

_WANTED = 'Give {"type": "message", "recipient": "AGENT", "content": "...", "summary": "..."}, or several such objects.'


_DECIDING = ("plan_approval_response", "shutdown_response", "shutdown_request")
"""Types of documents that decide something, so that whoever does must be known."""


def add_arguments(parser: ArgumentParser) -> None:
    """Explain what stands on standard input."""
    parser.description = (
        "Reads JSON objects with the fields of SendMessage (type, recipient, content, summary, request_id, approve,\n"
        "and in_reply_to for a message), one or several over any number of lines, with // comments, and acts as --as\n"
        "NAME. With a message_id of your own a repetition writes nothing twice. The reply to each is JSON, one line\n"
        "each where there are several: success, message, routing, and the ids it made. A refused object does not stop\n"
        "the others; the exit status is that of the first refusal."
    )


def run(call: Call) -> int:
    """Submit every document; refusals are the error object, on standard output as well."""
    call.out.as_json = True
    documents = json_documents(read("the document"), hint=_WANTED)
    if len(documents) == 1:
        call.out.json(_submit(call, documents[0]))
        return 0
    statuses = [_submit_line(call, document) for document in documents]
    return next((status for status in statuses if status), 0)


def _submit_line(call: Call, document: Any) -> int:
    try:
        call.out.json(_submit(call, document), one_line=True)
    except TeamError as error:
        call.out.json(error.as_json(), one_line=True)
        return error.exit_code
    return 0


def _submit(call: Call, document: Any) -> dict[str, Any]:
    from team_console.store.protocol.sendmessage_form import read_form
    from team_console.store.service.sendmessage import submit

    if isinstance(document, TeamError):
        raise document
    decides = read_form(document).type in _DECIDING
    return submit(call.decider if decides else call.caller, document)
