"""The verbs `decisions` and `evidence`: what was decided, and what proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from team_console.console.cli.arguments import REQUEST, arg, flag, verb
from team_console.console.cli.call import Call
from team_console.console.cli.checking import place_of_message
from team_console.console.cli.printing import (
    Cells,
    age_words,
    print_csv,
    print_list,
    print_table,
)
from team_console.store.model.clock import local_time
from team_console.store.protocol.trust import NOT_ON_RECORD, TrustMark
from team_console.store.views.decisions import (
    DECISION_FIELDS,
    VerdictProof,
    decision_row,
    ledger_json,
    ledger_of_team,
    markdown,
    proofs,
)
from team_console.store.views.rows import as_json
from team_console.store.views.verdicts import verdict_of

if TYPE_CHECKING:
    from team_console.store.views.decisions import DecidedRequest


# `decisions`: the ledger of who decided what, on what, and what of it is proved.


@verb(
    (
        flag("--csv", "as comma-separated values"),
        flag("--md", "as a Markdown document"),
    ),
    arg("--by", "only decisions of this member", metavar="NAME"),
)
def do_decisions(call: Call) -> None:
    """List every decision, newest first, from the archives and the audit trail; the queue is not needed. AT is local
    time. PROOF is signed (by the key of the human), by grant, recorded (the audit trail has it, and its chain is
    intact), unverified (team-console did not write it) or not known. --json, --csv and --md have everything: words,
    digests, evidence, gaps.

    Examples:
      team-console decisions --by ceo --csv > decisions.csv"""
    options = call.options
    if options.csv or options.md:
        call.refuse_json("--csv" if options.csv else "--md")
    snapshot = call.team.snapshot()
    ledger = ledger_of_team(call.team, snapshot)
    if options.by is not None:
        ledger = replace(ledger, decisions=tuple(item for item in ledger.decisions if item.by == options.by))
    if call.as_json:
        print_list(call, ledger_json(ledger), snapshot, ledger.problems)
        return
    if options.md:
        call.write("\n".join(markdown(ledger, call.team.config().name)))
        return
    if options.csv:
        print_csv(call, DECISION_FIELDS, map(decision_row, ledger.decisions))
    elif ledger.decisions:
        call.note_zone()
        print_table(call, [_cells(decision) for decision in ledger.decisions])
    else:
        call.say("no decisions")
    call.warn([problem.sentence for problem in ledger.problems])


def _cells(decision: DecidedRequest) -> Cells:
    """Return the row of a decision in the table, with the first line of its words."""
    words = decision.words.partition("\n")[0]
    return {
        "AT": local_time(decision.at, "minutes") if decision.at else "not known",
        "VERDICT": decision.verdict,
        "BY": decision.by,
        "KIND": decision.kind,
        "AFTER": age_words(decision.after_seconds),
        "PROOF": str(decision.proof),
        "REQUEST": decision.request_id,
        "WHAT": " · ".join(filter(None, (decision.title, words))),
    }


# `evidence`: what a human signed for a request, and the command by which anybody checks it.


@verb(
    REQUEST,
    flag("--command", "print only the commands that check it, for sh"),
)
def do_evidence(call: Call) -> int:
    """Print what a human signed for a request: the statement, its signature, the keys that may sign it, and the
    command that checks it with OpenSSH's ssh-keygen alone. Exits with 1 unless the answer that counts has a valid
    signature.

    Examples:
      team-console evidence REQUEST
      team-console evidence REQUEST --command | sh"""
    config = call.team.config()
    row = verdict_of(call.team, call.options.request, me=call.actor)
    shown = proofs(row, config, call.team.snapshot().recorded)
    is_proven = any(
        proof.signature and not proof.trouble and (proof.stands or proof.verdict == "shutdown") for proof in shown
    )
    if call.options.command:
        call.refuse_json("--command")
        call.say("set -e")
        for proof in shown:
            if proof.command:
                call.write(proof.command)
    elif call.as_json:
        evidence = [{**as_json(proof, "time"), "command": proof.command or None} for proof in shown]
        facts = {"request_id": row.request_id, "state": str(row.state), "verdicts": config.verdicts}
        call.json({**facts, "proven": is_proven, "evidence": evidence})
    elif not shown:
        call.say(f"no human has answered {row.request_id}")
    else:
        for proof in shown:
            _print_proof(call, proof)
    return int(not is_proven)


def _print_proof(call: Call, proof: VerdictProof) -> None:
    """Print one answer to a request: whether it counts, what was signed, and how that is checked."""
    if proof.stands:
        effect = "stands"
    elif proof.trouble:
        effect = "decides nothing"
    else:
        effect = "is not the one that stands"
    place = place_of_message(call.team, proof.message_id)
    head = f"{proof.verdict} by {proof.signer} at {proof.time}: {effect} ({place})"
    if proof.trouble and (proof.signature or proof.allowed_signers):
        # guard: key-not-on-record-is-no-forgery
        mark = TrustMark.UNVERIFIED if proof.trouble == NOT_ON_RECORD else TrustMark.FORGED
        head = f"{mark}: {head}: {proof.trouble}"
    call.say(head)
    call.write(f"\nstatement:\n{proof.statement}")
    if not proof.signature:
        call.say("", "it is not signed", "")
        return
    call.write(f"\nsignature:\n{proof.signature}")
    call.say("", "allowed_signers:", *proof.allowed_signers)
    call.write(f"\nto check it:\n{proof.command}\n")
