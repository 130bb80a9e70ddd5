"""A question back leaves the request open; remarks go with it, with a yes and with a no, on every kind of team."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code
from team_console.store.protocol.remarks import Remark, placed, remark_on
from team_console.store.service import inbox, requests, sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.decision import Decision

from tests.equipment.asking import agent, ask, lead, plan, question, refusal, row
from tests.equipment.command_line import CommandLine
from tests.equipment.signing_keys import sign_verdicts

pytestmark = pytest.mark.slow

PLAN = "# Move it\n\n1. Copy the table\n2. Switch\n3. Drop the old one"


def ask_back(caller: Caller, request: str, content: str = "", remarks: tuple[Remark, ...] = ()) -> Receipt:
    """Ask the asker something about a request."""
    return requests.decide(caller, Decision(request, None, content or None, remarks=remarks, asks_back=True))


def escalate(team: Team) -> str:
    fields = {"issue": "i", "options": ["a"], "recommendation": "a", "severity": "high"}
    sent = sending.send(agent(team), to="user", type="escalate", summary="one two three four five", payload=fields)
    return sent.messages[0].message_id


@pytest.mark.parametrize("make", [question, escalate, ask])
def test_any_request_can_be_asked_about_and_nothing_of_it_answers(any_team: Team, make: Callable[[Team], str]) -> None:
    request = make(any_team)
    ask_back(lead(any_team), request, "approve: yes, go on")
    requests.answer(agent(any_team), request_id=request, content="yes")
    found = row(any_team, request)
    assert (found.is_open, len(found.talk), found.answers) == (True, 2, ())


def test_who_may_not_answer_may_not_ask_back_and_nothing_is_asked_twice(any_team: Team) -> None:
    request = plan(any_team)

    def refused(by: str, content: str) -> Code:
        return refusal(ask_back, agent(any_team, by), request, content).code

    assert (refused("file-manager", "Why?"), refused("ceo", " ")) == (Code.NOT_PERMITTED, Code.MISSING_CONTENT)
    requests.reject(lead(any_team), request_id=request, reason="no")
    assert refused("ceo", "Why?") is Code.ALREADY_ANSWERED


def test_remarks_stand_in_the_words_the_asker_reads_with_line_and_quote(any_team: Team) -> None:
    remark = remark_on(PLAN.split("\n"), 5, "keep it a week")
    ask_back(lead(any_team), plan(any_team, PLAN), remarks=(remark,))
    requests.reject(lead(any_team), request_id=plan(any_team, PLAN), reason="", remarks=[remark])
    requests.approve(lead(any_team), request_id=plan(any_team, PLAN), note="Go", remarks=[remark])
    told = inbox.receive(agent(any_team), agent="task-manager").messages
    words = "Remarks on lines of your text:\n- Line 5 «3. Drop the old one»: keep it a week"
    assert sorted(message.content for message in told) == sorted([words, words, f"Go\n\n{words}"])
    kept = {"line": 5, "quote": "3. Drop the old one", "text": "keep it a week"}
    assert all(list(message.payload["remarks"]) == [kept] for message in told)


def test_a_remark_whose_line_is_gone_says_so_and_is_never_moved_silently() -> None:
    remarks = [Remark(3, "1. Copy the table", "a"), Remark(4, "2. Switch", "b"), Remark(5, "3. Drop the old one", "c")]
    found = placed(remarks, ["# Move it", "", "1. Copy the table", "2. Wait", "2. Switch", "x", "x"])
    assert [one.words for one in found] == ["line 3", "was line 4, now 5", "line 5 is gone"]
    twice = placed([Remark(1, "x", "which?")], ["a", "x", "x"])
    assert twice[0].words == "line 1 is gone"


def test_an_unsigned_question_back_is_none_in_a_signed_team(team_folder: CommandLine) -> None:
    office = team_folder
    request = office.ok("--as", "task-manager", "plan", "--content", PLAN).out.strip()
    office.ok("--as", "ceo", "askback", request, "Why?")
    sign_verdicts(office.folder)
    assert office.ok("--as", "ceo", "requests", "--json").json["requests"][0]["talk"] == []


def test_a_remark_on_no_line_is_refused(team_folder: CommandLine) -> None:
    request = team_folder.ok("--as task-manager plan --content", PLAN).out.strip()
    for remark in ("x", "99:y", "1: "):
        assert team_folder("--as ceo reject", request, "--remark", remark).status in (1, 2)
    assert team_folder.ok("--as ceo requests --json").json["requests"][0]["state"] == "open"


@pytest.fixture
def team_folder(make_team: Callable[..., CommandLine]) -> CommandLine:
    return make_team("task-manager", "file-manager")
