"""`evidence`: what a human signed for a request, and the command by which anybody checks it."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.message_place import place_of
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.views.proofs import Proof, proofs
from team_console.store.views.verdicts import RequestFollower


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the argument."""
    parser.description = (
        "Print what a human signed for a request: the statement, its signature, the keys that may sign it, and the\n"
        "command by which anybody checks it with the ssh-keygen of OpenSSH alone. Leaves with 1 unless the verdict\n"
        "that stands is signed and fits."
    )
    add_completed(parser, "requests", "request", metavar="REQUEST", help="the request id")
    parser.add_argument(
        "--command", action="store_true", help="print nothing but the commands that check it: evidence R --command | sh"
    )


def run(call: Call) -> int:
    """Print every verdict of a human on the request."""
    config = call.team.config()
    row = RequestFollower(call.team, call.options.request, me=call.actor).look()
    shown = proofs(row, config, call.team.snapshot().recorded)
    is_proven = any(_is_good(proof) and (proof.stands or proof.verdict == "shutdown") for proof in shown)
    if call.options.command:
        return _show_commands(call, shown, is_proven=is_proven)
    if call.out.as_json:
        facts = {"request_id": row.request_id, "state": str(row.state), "verdicts": config.verdicts}
        call.out.json({**facts, "proven": is_proven, "evidence": [proof.as_json() for proof in shown]})
        return int(not is_proven)
    if not shown:
        call.out.say(f"no human has said anything to {safe_line(row.request_id)}")
    for proof in shown:
        _show(call, proof)
    return int(not is_proven)


def _show_commands(call: Call, shown: tuple[Proof, ...], *, is_proven: bool) -> int:
    if call.out.as_json:
        raise TeamError(Code.USAGE, "--json and --command exclude each other", "Leave one of them out.")
    call.out.say("set -e")
    for proof in shown:
        if proof.command:
            call.out.say(safe_text(proof.command))
    return int(not is_proven)


def _is_good(proof: Proof) -> bool:
    return bool(proof.signature) and not proof.trouble


def _show(call: Call, proof: Proof) -> None:
    stands = "stands" if proof.stands else "decides nothing" if proof.trouble else "is not the one that stands"
    place = place_of(call.team, proof.message_id)
    head = f"{proof.verdict} by {proof.signer} at {proof.time}: {stands} ({place})"
    if proof.trouble:
        head = f"forged: {head}: {proof.trouble}" if proof.signature or proof.allowed_signers else head
    call.out.say(safe_line(head))
    call.out.say(f"\nstatement:\n{safe_text(proof.statement)}")
    if not proof.signature:
        call.out.say("\nit is not signed\n")
        return
    call.out.say(f"\nsignature:\n{safe_text(proof.signature)}")
    call.out.say("\nallowed_signers:")
    for line in proof.allowed_signers:
        call.out.say(safe_line(line))
    call.out.say(f"\nto check it:\n{safe_text(proof.command)}\n")
