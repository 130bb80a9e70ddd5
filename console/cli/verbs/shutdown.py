"""`shutdown`: asks agents to stop; with `--all` one after the other, each answer awaited."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from msgspec import Struct
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.store.desk.caller import Receipt
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line

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
    """One agent that was asked, and what it said; `answer` is None when it said nothing in time."""

    agent: str
    receipt: Receipt
    answer: Message | None = None

    @property
    def agreed(self) -> bool:
        """Whether it agreed to stop."""
        return self.answer is not None and self.answer.payload.get("approve") is True


def run(call: Call) -> int:
    """Ask, wait where an answer is wanted, and report."""
    options = call.options
    if bool(options.agents) == options.everyone:
        raise TeamError(Code.USAGE, "name the agents to ask, or give --all", "team-console shutdown AGENT...")
    if options.timeout is not None and not 0 < options.timeout <= 86_400:
        raise TeamError(Code.USAGE, f"--timeout {options.timeout} is not a number of seconds", "For example 60.")
    agents = everyone(call) if options.everyone else list(dict.fromkeys(options.agents))
    timeout = options.timeout
    if options.everyone and timeout is None:
        timeout = call.team.config().overdue_seconds["shutdown"]
    asked = [_ask(call, agent, timeout) for agent in agents]
    if call.out.as_json:
        call.out.json(_result(asked, awaited=timeout is not None))
    if timeout is None:
        return 0
    agreed = sum(question.agreed for question in asked)
    call.out.note(f"{agreed} of {len(asked)} agreed to stop")
    return 0 if agreed == len(asked) else 1


def everyone(call: Call) -> list[str]:
    """The listening members but the actor: temps and slaves first, so that nobody loses its contact too early.

    Raises:
        TeamError: `MISSING_RECIPIENT` when nobody is left to ask.
    """
    from team_console.store.protocol.relations.membership import members
    from team_console.store.protocol.relations.stops import silent

    snapshot = call.snapshot()
    roles = members(snapshot.config, snapshot.messages)
    quiet = silent(snapshot.config, snapshot.messages)
    skip = {call.actor, USER, snapshot.config.lead, *quiet}
    names = [name for name, role in roles.items() if name not in skip and role != "master"]
    if not names:
        raise TeamError(Code.MISSING_RECIPIENT, "nobody is left to ask", "team-console roster shows who is there.")
    return sorted(names, key=lambda name: _ORDER.index(roles[name]) if roles[name] in _ORDER else 2)


def _ask(call: Call, agent: str, timeout: float | None) -> Asked:
    from team_console.store.desk.requests import request_shutdown

    receipt = request_shutdown(call.decider, agent=agent, reason=call.options.reason)
    _say(call, f"{agent}: asked, request {receipt.request_id}")
    for note in receipt.notes:
        _say(call, f"{agent}: {note}")
    if not call.out.as_json:
        call.out.warn(receipt.warnings)
    if timeout is None or receipt.request_id is None:
        return Asked(agent, receipt)
    from team_console.store.desk.waiting import until

    request_id = receipt.request_id
    answer = until(call.team, lambda: find_answer(call, request_id, agent), timeout=timeout)
    done = Asked(agent, receipt, answer)
    _say(call, f"{agent}: {_told(done, timeout)}")
    return done


def find_answer(call: Call, request_id: str, agent: str) -> Message | None:
    """What `agent` answered to the request, in the queue or among the newest messages of the archive."""
    from team_console.store.protocol.kinds.kind import RequestKind
    from team_console.store.protocol.relations.answering import answers

    def fits(message: Message) -> bool:
        return message.sender == agent and answers(message, RequestKind.SHUTDOWN, request_id)

    live = next(filter(fits, reversed(call.snapshot().messages)), None)
    return live or next(filter(fits, call.team.history(agent=call.actor, limit=20).messages), None)


def _told(asked: Asked, timeout: float) -> str:
    if asked.answer is None:
        return f"no answer after {timeout:g} s"
    return "agreed to stop" if asked.agreed else f"refused: {asked.answer.content or 'no reason given'}"


def _say(call: Call, text: str) -> None:
    if call.out.as_json:
        return
    call.out.say(safe_line(text))
    call.out.flush()


def _result(asked: list[Asked], *, awaited: bool) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for item in asked:
        row = item.receipt.as_json()
        warnings += row.pop("warnings")
        if awaited:
            row["approve"] = None if item.answer is None else item.agreed
            row["reason"] = item.answer.content if item.answer is not None else None
        rows.append(row)
    success = all(question.agreed for question in asked) if awaited else True
    result = {**rows[0], "success": success, "warnings": warnings}
    if len(rows) > 1:
        result["deliveries"] = [{key: row[key] for key in row if key not in ("success", "action")} for row in rows]
    return result
