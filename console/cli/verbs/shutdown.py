"""`shutdown`: asks agents to stop; with `--all` one after the other, each answer awaited."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import USER, canonical
from team_console.store.model.safe import safe_line
from team_console.store.service.caller import Receipt

if TYPE_CHECKING:
    from team_console.store.views.verdicts import Outcome

_ORDER = ("temp", "slave", "member", "resident")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Ask agents to stop. An agent agrees or refuses with a reason; nothing is ended by force. --all asks every\n"
        "listening member in turn (temps and slaves first), waits for each answer and leaves with 1 unless all agreed."
    )
    add_completed(parser, "agents", "agents", nargs="*", metavar="AGENT", help="whom to ask")
    parser.add_argument("--all", action="store_true", dest="everyone", help="everybody, one after the other")
    parser.add_argument("--reason", metavar="R", help="why, and what to do before stopping")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="wait this long for each answer (with --all: 15)"
    )


class Asked(Struct, frozen=True):
    """One agent that was asked, and how the request stands; `outcome` is None where nobody waited."""

    agent: str
    receipt: Receipt
    outcome: Outcome | None = None

    @property
    def words(self) -> str | None:
        """What it said with its answer, None when it gave none in time."""
        if self.outcome is None or self.outcome.message is None:
            return None
        return self.outcome.reason or ""

    @property
    def agreed(self) -> bool:
        """Whether it agreed to stop."""
        return self.outcome is not None and self.outcome.state == "approved"


def run(call: Call) -> int:
    """Ask, wait where an answer is wanted, and report."""
    options = call.options
    if bool(options.agents) == options.everyone:
        raise TeamError(Code.USAGE, "name the agents to ask, or give --all", "team-console shutdown AGENT...")
    if options.timeout is not None and not 0 < options.timeout <= 86_400:
        raise TeamError(Code.USAGE, f"--timeout {options.timeout} is not a number of seconds", "For example 60.")
    agents, warnings = everyone(call) if options.everyone else (list(dict.fromkeys(map(canonical, options.agents))), [])
    if not call.out.as_json:
        call.out.warn(warnings)
    timeout = options.timeout
    if options.everyone and timeout is None:
        timeout = call.team.config().overdue_seconds["shutdown"]
    asked = [_ask(call, agent, timeout) for agent in agents]
    if call.out.as_json:
        call.out.json(_result(asked, warnings, awaited=timeout is not None))
    if timeout is None:
        return 0
    agreed = sum(question.agreed for question in asked)
    call.out.note(f"{agreed} of {len(asked)} agreed to stop")
    return 0 if agreed == len(asked) else 1


def everyone(call: Call) -> tuple[list[str], list[str]]:
    """The listening members but the actor, and a warning that names those who cannot be asked.

    Temps and slaves come first, so that nobody loses its contact too early.

    Raises:
        TeamError: `MISSING_RECIPIENT` when nobody is left to ask.
    """
    from team_console.store.protocol.membership import left_out, members
    from team_console.store.protocol.relations import silent
    from team_console.store.service.sending import left_out_words

    snapshot = call.snapshot()
    roles = members(snapshot.config, snapshot.messages)
    quiet = silent(snapshot.config, snapshot.messages)
    skip = {call.actor, USER, snapshot.config.lead, *quiet}
    names = [name for name, role in roles.items() if name not in skip and role != "master"]
    if not names:
        raise TeamError(Code.MISSING_RECIPIENT, "nobody is left to ask", "team-console roster shows who is there.")
    unnamed = left_out_words(left_out(snapshot.config, snapshot.messages))
    return sorted(names, key=lambda name: _ORDER.index(roles[name]) if roles[name] in _ORDER else 2), unnamed


def _ask(call: Call, agent: str, timeout: float | None) -> Asked:
    from team_console.store.service.requests import request_shutdown

    receipt = request_shutdown(call.decider, agent=agent, reason=call.options.reason)
    _say(call, f"{agent}: asked, request {receipt.request_id}")
    for note in receipt.notes:
        _say(call, f"{agent}: {note}")
    if not call.out.as_json:
        call.out.warn(receipt.warnings)
    if timeout is None or receipt.request_id is None:
        return Asked(agent, receipt)
    from team_console.store.views.verdicts import await_verdict

    # Judged like everything else: what decides on the screen decides here.
    outcome = await_verdict(call.team, receipt.request_id, timeout=timeout, me=call.actor)
    done = Asked(agent, receipt, outcome)
    _say(call, f"{agent}: {_told(done, timeout)}")
    return done


def _told(asked: Asked, timeout: float) -> str:
    outcome = asked.outcome
    if outcome is None or outcome.is_open:
        return f"no answer after {timeout:g} s"
    if outcome.message is None:
        return f"nothing was answered, the request is {outcome.state}"
    return "agreed to stop" if asked.agreed else f"refused: {outcome.reason or 'no reason given'}"


def _say(call: Call, text: str) -> None:
    if call.out.as_json:
        return
    call.out.say(safe_line(text))
    call.out.flush()


def _result(asked: list[Asked], warnings: list[str], *, awaited: bool) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for item in asked:
        row = item.receipt.as_json()
        warnings += row.pop("warnings")
        if awaited:
            row["approve"] = None if item.words is None else item.agreed
            row["reason"] = item.words
        rows.append(row)
    success = all(question.agreed for question in asked) if awaited else True
    result = {**rows[0], "success": success, "warnings": warnings}
    if len(rows) > 1:
        result["deliveries"] = [{key: row[key] for key in row if key not in ("success", "action")} for row in rows]
    return result
