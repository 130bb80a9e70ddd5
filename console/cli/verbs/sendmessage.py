"""`sendmessage`: one SendMessage JSON document (seed 001) on standard input, its reply on standard output."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from console.cli.call import Call
from console.cli.stdin import read
from store.errors import Code, TeamError


def add_arguments(parser: ArgumentParser) -> None:
    """Explain what stands on standard input."""
    parser.description = (
        "Reads one JSON object with the fields of SendMessage (type, recipient, content, summary, request_id,\n"
        "approve) and acts as --as NAME. The reply is always JSON: success, message, routing, and the ids it made."
    )


def run(call: Call) -> int:
    """Submit the document; refusals are the error object, on standard output as well."""
    from store.desk.sendmessage import submit

    call.out.as_json = True
    call.out.json(submit(call.seat, document()))
    return 0


def document() -> dict[str, Any]:
    """The JSON object on standard input.

    Raises:
        TeamError: `INVALID_FIELD` with line and column when it is not one.
    """
    try:
        value = json.loads(read("the document"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise TeamError(Code.INVALID_FIELD, f"standard input, {place}: {error.msg}", "Give one JSON object.") from None
    except RecursionError:
        raise TeamError(Code.INVALID_FIELD, "standard input: nested too deeply", "Flatten it.") from None
    if not isinstance(value, dict):
        raise TeamError(Code.INVALID_FIELD, "standard input is not a JSON object", "Give { ... }.")
    return value
