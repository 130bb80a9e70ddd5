"""A hundred forgeries of a human's verdict: each is refused, or marked and decides nothing, and the human decides.

Each way is tried once in each kind of store, for another kind of request each time; `EXHAUSTIVE=1` tries them all.

The catalogue crosses what is forged (the verdict of each kind of request) with how it gets there: by file, by a
change in the queue, the archive, the trail or the database, by the command line, by replay, for another request or
team, with another key, with another clock.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.clock import Clock, to_text, utc_now
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.grants import GRANTED, answer_by
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, digest_of
from team_console.store.protocol.trust import objection, shown_by_grant
from team_console.store.protocol.verdicts import SIGNATURE, VERDICT_NAMESPACE
from team_console.store.service import asking, inbox, requests, sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.grants import recall_grant, start_grant, trial_of
from team_console.store.service.writing import Draft, write_drafts
from team_console.store.views.decisions import Proof, ledger_of_team
from team_console.store.views.rows import Flag, RequestRow
from team_console.store.views.verdicts import verdict_of

from tests.equipment.cases import constant
from tests.equipment.command_line import CommandLine
from tests.equipment.samples import rotated
from tests.equipment.signed_teams import PLACES, TEAM_ID, Place, Record
from tests.equipment.signing_keys import key_file, sign_record
from tests.equipment.teams import FakeClock

ASKED = constant(__file__, "ASKED", dict[str, tuple[str, dict[str, Any]]])
ANSWERED = constant(__file__, "ANSWERED", dict[str, tuple[str, dict[str, Any]]])
FORGED = constant(__file__, "FORGED", dict[str, Record])


def filled(given: Record, **words: str) -> Record:
    """The same with words in place of their names."""
    text = json.dumps(given)
    for name, word in words.items():
        text = text.replace(name, word)
    read: Record = json.loads(text)
    return read


def _called(function: str, caller: Caller, given: Record) -> Receipt:
    door = next(module for module in (requests, asking, sending) if hasattr(module, function))
    told: Receipt = getattr(door, function)(caller, **given)
    return told


class Case:
    """One request of the agent `bob` that waits for `ceo`, in a team of signed verdicts.

    Attributes:
        texts: What each request asks for.
    """

    def __init__(self, place: Place, kind: str, clock: Clock = utc_now) -> None:
        self.place, self.kind, self._clock = place, kind, clock
        self.texts: dict[str, str] = {}
        self._open()
        self.request, self.question = self.ask()

    def ask(self, text: str = "rm -rf build", by: str = "bob") -> tuple[str, Message]:
        """The request id of a new request of this kind, and the message that asks."""
        function, given = ASKED[self.kind]
        receipt = _called(function, Caller(self.team, by), filled(given, TEXT=text, BY=by))
        (question,) = receipt.messages
        request = receipt.request_id or question.message_id
        self.texts[request] = text
        return request, question

    def decide(self, request: str | None = None, *, yes: bool = True) -> Message:
        """What the human really says: the message that is written."""
        wanted = request or self.request
        function, given = ANSWERED[self.kind] if yes else ("reject", {"reason": "never"})
        told = _called(function, self.ceo, {**filled(given, TEXT=self.texts.get(wanted, "")), "request_id": wanted})
        return told.messages[0]

    def forged(self, **changes: Any) -> Record:
        """A yes of the human as a stranger would write it, with `changes` in record or payload."""
        written = filled(FORGED, REQUEST=self.request, TEXT=self.texts.get(self.request, ""))
        record = {**written["of every kind"], **written[self.kind], "created": self.question.created}
        return {**record, **changes, "payload": {**record["payload"], **changes.get("payload", {})}}

    def row(self) -> RequestRow:
        """How the ledger has the request now, archives and all."""
        return verdict_of(self.team, self.request, me="ceo")

    def reopen(self) -> None:
        """Look with fresh eyes, as another process would."""
        self.team.close()
        self._open()

    def _open(self) -> None:
        self.team: Team = open_team(self.place.location, clock=self._clock)
        self.ceo, self.bob = Caller(self.team, "ceo"), Caller(self.team, "bob")


Forge = Callable[[Case], None]


def _forge(
    case: Case,
    ways: tuple[str, ...] = ("append",),
    key: str = "",
    team_id: str = TEAM_ID,
    namespace: str = VERDICT_NAMESPACE,
    names_request: bool = True,
    **changes: str,
) -> None:
    """Put a yes of the human there in some ways, perhaps signed by a key."""
    record = case.forged(**changes)
    if key:
        question = case.question if names_request else None
        sign_record(record, key_file(name=key), question, team_id=team_id, namespace=namespace)
    for way in ways:
        getattr(case.place, way)(record)
    if "hand_in" in ways:  # it is taken in by the next write
        sending.send(case.bob, to="ceo", summary="one two three four five", content="c")


@cache
def tmp_folder() -> Path:
    """A folder without a team and without keys."""
    return Path(tempfile.mkdtemp(prefix="team-console-nowhere-"))


def _of_another_request(case: Case) -> None:
    """The human's yes to a harmless request, given to this one."""
    harmless, _ = case.ask("ls", by="alice")
    real = case.decide(harmless)
    record = json.loads(json.dumps(dict(real.record)).replace(harmless, case.request))
    case.place.append({**record, "message_id": "MSG-20261122-forgedaa", "to": "bob", "status": "pending"})


def _of_another_request_under_its_id(case: Case) -> None:
    """The signature of a yes to another request, over a forged record."""
    harmless, _ = case.ask("ls", by="alice")
    signature = case.decide(harmless).payload[SIGNATURE]
    case.place.append(case.forged(payload={REQUEST_DIGEST: digest_of(case.question), SIGNATURE: signature}))


def _by_replay(case: Case) -> None:
    """A yes that was really given to the request before it was asked for something else."""
    real = case.decide()
    case.place.empty()
    case.reopen()
    asked = dict(case.question.record)
    other = json.loads(
        json.dumps(asked).replace("rm -rf build", "rm -rf /").replace('"agent_type": "tester"', '"agent_type": "root"')
    )
    case.place.append(other)
    case.place.append(dict(real.record))


def _by_turning_a_no(case: Case) -> None:
    """The human's no, turned into a yes wherever it stands; the trail's chain is computed anew."""
    real = case.decide(yes=False)
    assert real.payload.get(SIGNATURE)
    turned = [("never", "gladly"), *((f"approve{end} false", f"approve{end} true") for end in (":", '":'))]
    case.place.replace(*turned, ('approve":false', 'approve":true'))


def _by_changing_the_question(case: Case) -> None:
    """The human said yes to something; the request is edited to ask for something else."""
    case.decide()
    case.place.replace(("rm -rf build", "rm -rf /home"))
    case.texts[case.request] = "rm -rf /home"


def _by_taking_the_signature_away(case: Case) -> None:
    first = str(case.decide().payload[SIGNATURE]).splitlines()[1]
    case.place.replace((first, first[::-1]))


def _by_verb(case: Case, **env: str) -> TeamError:
    """What a process is told that answers as the human."""
    words = {
        "question": ("answer", case.request, "--option", "A"),
        "escalation": ("answer", case.request, "--text", "go"),
    }
    verb = words.get(case.kind, ("approve", case.request))
    done = CommandLine(tmp_folder())("-t", case.place.location, "--as", "ceo", *verb, "--json", env=env)
    assert done.status == 1
    return TeamError(done.json["error"], done.json["message"], done.json["hint"])


def _as_the_human_from_an_agent(case: Case) -> None:
    _by_verb(case, TEAM_CONSOLE_AS="bob")


def _as_the_human_without_a_key(case: Case) -> None:
    """`--as ceo`, and an environment that says so, by a process that cannot reach the key."""
    with case.place.settings(str(key_file()), "/nonexistent/key"):
        error = _by_verb(case, TEAM_CONSOLE_AS="ceo", HOME=str(tmp_folder()), SSH_AUTH_SOCK="")
    assert (error.code, "ssh-add" in error.hint) == ("SIGNATURE_FAILED", True)


def _in_the_archive(case: Case) -> None:
    """The request and a forged yes, archived as if both had been read long ago."""
    for name in ("ceo", "bob"):
        inbox.receive(Caller(case.team, name), agent=name)
    case.place.archive({**case.forged(), "status": "read"})


def _with_a_line_removed(case: Case) -> None:
    """The line of the trail that the request stands in is gone, and a yes is put among the messages."""
    case.place.remove_line(case.question.message_id)
    case.place.append(case.forged())


OTHERS: Mapping[str, Forge] = {
    "another request": _of_another_request,
    "another request's signature": _of_another_request_under_its_id,
    "replay": _by_replay,
    "a no turned into a yes": _by_turning_a_no,
    "another time": lambda case: case.place.backdate(case.decide(), "2026-01-01T00:00:00.000Z"),
    "another question": _by_changing_the_question,
    "a broken signature": _by_taking_the_signature_away,
    "--as without the key": _as_the_human_without_a_key,
    "archive edit": _in_the_archive,
    "--as over the environment": _as_the_human_from_an_agent,
    "line removed": _with_a_line_removed,
}
FORGERIES: Mapping[str, Forge] = {
    name: OTHERS[name] if given is None else partial(_forge, **given)
    for name, given in constant(__file__, "FORGERIES", dict[str, dict[str, Any] | None]).items()
}
KINDS = ("plan", "permission", "question", "creation", "escalation")


Keep = Callable[[Any], Any]


@pytest.fixture
def keep() -> Iterator[Keep]:
    """Keeps cases until the test is over, and then closes their teams."""
    cases: list[Case] = []

    def kept(case: Any) -> Any:
        cases.append(case)
        return case

    yield kept
    for case in cases:
        case.team.close()


@pytest.fixture
def make_case(tmp_path: Path, keep: Keep) -> Callable[..., Case]:
    """Makes a case of a kind of request in a store."""
    return lambda kind="plan", store="yaml": keep(Case(PLACES[store](tmp_path), kind))


STORES = ("yaml", "sqlite", "yaml", "postgresql")
"""Each forgery is tried in files and in one of the databases."""
CASES = [
    pytest.param(store, kind, name, id=f"{store}-{name}-{kind}", marks=() if store == "yaml" else pytest.mark.slow)
    for (name, kind), store in dict.fromkeys(rotated(rotated(FORGERIES, KINDS, 2), STORES))
]


@pytest.mark.parametrize(("store", "kind", "name"), CASES)
def test_no_forgery_decides_and_the_human_still_does(
    make_case: Callable[..., Case], store: str, kind: str, name: str
) -> None:
    forgery = FORGERIES[name]
    case = make_case(kind, store)
    forgery(case)
    case.reopen()
    row = case.row()
    assert row.is_open, (row.state, row.flags)
    assert verdict_of(case.team, case.request, me="bob").state == "open"
    assert row.question in case.team.snapshot().messages or forgery is _in_the_archive
    if name == "trail edit":
        ledger = ledger_of_team(case.team, case.team.snapshot())
        assert {item.proof for item in ledger.decisions} == {Proof.UNVERIFIED}
    received = inbox.receive(case.bob, agent="bob", mark_read=False).messages
    about = [item for item in received if item.sender == "ceo" and case.request in json.dumps(dict(item.payload))]
    assert [item.record.get("trust") for item in about] == ["forged"] * len(about)
    if any(item.message_id == "MSG-20261122-forgedaa" for item in case.team.snapshot().messages):
        assert Flag.FORGED in row.flags
    sending.send(case.bob, to="ceo", summary="one two three four five", content="c")
    case.decide()
    assert not case.row().is_open


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_verdict_is_signed_and_another_word_in_it_breaks_the_signature(
    make_case: Callable[..., Case], kind: str
) -> None:
    case = make_case(kind)
    verdict, config = case.decide(), case.team.config()
    assert (case.row().is_open, case.row().flags) == (False, ())
    assert not objection(config, verdict, case.question)
    assert objection(config, verdict.with_changes(payload={**verdict.payload, "content": "more"}), case.question)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_an_order_to_stop_that_was_obeyed_long_ago_is_marked_when_it_comes_back(store: str, tmp_path: Path) -> None:
    place: Place = PLACES[store](tmp_path)
    team = open_team(place.location)
    ceo, bob = Caller(team, "ceo"), Caller(team, "bob")
    order = requests.request_shutdown(ceo, agent="bob", reason="done").messages[0]
    (first,) = inbox.receive(bob, agent="bob").messages
    assert "trust" not in first.record
    requests.approve(bob, request_id=order.request_id or "")
    inbox.receive(ceo, agent="ceo")
    with team.transaction(actor="ceo", action="compact", wait=2.0) as tx:
        for message in list(tx.everything()):
            tx.remove(message)
        tx.record("compact")
    assert team.snapshot().messages == ()
    place.append({**dict(order.record), "status": "pending"})
    sending.send(Caller(team, "alice"), to="ceo", summary="one two three four five", content="c")
    # Files have a record of what left them, and put nothing back.
    received = [message.record.get("trust") for message in inbox.receive(bob, agent="bob").messages]
    assert received == ([] if store == "yaml" else ["replayed"])
    assert verdict_of(team, order.request_id or "").state == "approved"
    team.close()


# Answers that say a grant gave them. The record of a grant is no secret: it lies in the trail and in each answer.


class GrantCase(Case):
    """A permission that was approved and a grant made of it; then the same is asked again and waits."""

    def __init__(self, place: Place, *, uses: int | None = 9, lasts: timedelta | None = None) -> None:
        self.clock = FakeClock()
        super().__init__(place, "permission", self.clock)
        self.decide()
        receipt = start_grant(self.ceo, trial_of(self.ceo, [self.request]), uses=uses, lasts=lasts)
        self.grant = receipt.messages[0]

    def again(self, text: str = "rm -rf build") -> None:
        """The agent asks by a way of its own, so that the grant is not looked for; the request waits."""
        given = {"request_id": f"permission-{text}", "tool": "Bash", "input": {"command": text}, "summary": "s"}
        draft = Draft("permission_request", "bob", ("ceo",), given)
        with self.team.transaction(actor="bob", action="ask", wait=5.0) as tx:
            (self.question,) = write_drafts(tx, draft)
            tx.record("ask", ids=[self.question.message_id], request_id=given["request_id"])
        self.request = str(given["request_id"])

    def answer(self, use: int = 1, **more: Any) -> Record:
        """What the grant would answer, with `more` in the payload."""
        payload = answer_by(self.grant, self.question, use, shown_by_grant(self.grant.message_id, self.question))
        record = {**self.forged(), "created": to_text(self.team.clock())}
        return {**record, "payload": {**payload, GRANTED: dict(self.grant.record), **more}}


def _put(case: GrantCase, record: Record) -> None:
    """Among the messages, and chained to the trail as anybody can."""
    case.place.trail(record)
    case.place.append(record)


def _by_insert(case: GrantCase) -> None:
    case.again()
    case.place.append(case.answer())


def _recalled(case: GrantCase) -> None:
    recall_grant(case.ceo, case.grant.message_id)
    case.again()
    _put(case, {**case.answer(), "created": case.grant.created})


def _of_an_unsigned_grant(case: GrantCase) -> None:
    """On record by a line that anybody can add, and the human signed none."""
    case.again()
    payload = {key: value for key, value in case.grant.payload.items() if key != SIGNATURE}
    case.grant = from_record({**case.grant.record, "message_id": "MSG-20261122-nobodysx", "payload": payload})
    case.place.trail(dict(case.grant.record))
    _put(case, case.answer())


def _use_made_before(case: GrantCase) -> None:
    case.ask()  # and the grant answers it
    _answer(case)


def _answer(case: GrantCase, *, asks: str = "rm -rf build", use: int = 1, grant: Any = None, **more: Any) -> None:
    """Ask, and answer that by a use of the grant, or of one with other fields, with more in the payload."""
    case.again(asks)
    other = {GRANTED: {**case.grant.record, **grant}} if grant else {}
    _put(case, case.answer(use, **other, **more))


def _before_it_was_asked(case: GrantCase) -> None:
    """The question is taken off the trail and comes again behind its answer."""
    case.again()
    record = case.answer()
    case.place.remove_line(case.question.message_id)
    _put(case, record)


ANSWERS = constant(__file__, "ANSWERS", dict[str, dict[str, Any]])
GRANT_FORGERIES: Mapping[str, Callable[[GrantCase], None]] = {
    "INSERT": _by_insert,
    "recalled": _recalled,
    "a grant that nobody signed": _of_an_unsigned_grant,
    "a use that was made before": _use_made_before,
    "before it was asked": _before_it_was_asked,
    **{name: partial(_answer, **given) for name, given in ANSWERS.items()},
}


@pytest.fixture
def make_grant(tmp_path: Path, keep: Keep) -> Callable[..., GrantCase]:
    """Makes a case of a grant in a store."""
    return lambda store, **wanted: keep(GrantCase(PLACES[store](tmp_path), **wanted))


GRANT_CASES = [
    pytest.param(store, name, id=f"{store}-{name}", marks=() if store == "yaml" else pytest.mark.slow)
    for name in GRANT_FORGERIES
    for store in PLACES
]


def _decides_nothing(case: GrantCase) -> None:
    """No face takes it for a decision, all say that it is forged, and the human decides."""
    row = case.row()
    assert row.is_open, (row.state, row.flags)
    assert verdict_of(case.team, case.request, me="bob").state == "open"
    ledger = ledger_of_team(case.team, case.team.snapshot())
    assert {item.proof for item in ledger.decisions if item.request_id == case.request} <= {Proof.UNVERIFIED}
    listed = CommandLine(tmp_folder())("-t", case.place.location, "check", "--json").json["findings"]
    forged = {item["place"] for item in listed if item["code"] == "FORGED_VERDICT"}
    assert forged == {"MSG-20261122-forgedaa"}
    received = inbox.receive(case.bob, agent="bob", mark_read=False).messages
    assert [item.record.get("trust") for item in received if item.request_id == case.request] == ["forged"]
    case.decide()
    assert not case.row().is_open


@pytest.mark.parametrize(("store", "name"), GRANT_CASES)
def test_nothing_but_a_free_use_of_a_running_grant_answers_by_it(
    make_grant: Callable[..., GrantCase], store: str, name: str
) -> None:
    case = make_grant(store)
    GRANT_FORGERIES[name](case)
    case.reopen()
    _decides_nothing(case)


@pytest.mark.parametrize("store", [*PLACES])
def test_an_answer_by_a_grant_is_on_record_as_one(make_grant: Callable[..., GrantCase], store: str) -> None:
    case = make_grant(store)
    case.request, case.question = case.ask()
    case.reopen()
    assert case.row().is_approved
    ledger = ledger_of_team(case.team, case.team.snapshot())
    assert [item.proof for item in ledger.decisions if item.request_id == case.request] == [Proof.BY_GRANT]
    (received,) = [item for item in inbox.receive(case.bob, agent="bob").messages if item.request_id == case.request]
    assert "trust" not in received.record


@pytest.mark.parametrize("ahead", [90, 30], ids=["a line after its end", "no line since"])
@pytest.mark.parametrize("store", [*PLACES])
def test_a_clock_that_goes_back_brings_no_grant_back(
    make_grant: Callable[..., GrantCase], store: str, ahead: float
) -> None:
    case = make_grant(store, uses=None, lasts=timedelta(seconds=60))
    case.clock.advance(ahead)
    case.ask("ls", by="alice")
    case.clock.advance(10 - 100)
    case.request, case.question = case.ask()
    assert case.row().is_open
    _put(case, case.answer())
    case.reopen()
    _decides_nothing(case)
