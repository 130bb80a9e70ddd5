"""One team on several machines: answers across the network, a killed server, a pulled cable; nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.backends.sql.open import create_database, open_database
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.equipment.machines import Machine, Network, network, why_not, without_cables
from tests.equipment.postgresql import Server, find_programs, private_server
from tests.equipment.statements import execute
from tests.equipment.teams import make_message, put
from tests.equipment.terminal import Terminal
from tests.equipment.waiting import until
from tests.sql.conftest import SETTINGS
from tests.sql.worker import AGENT

pytestmark = pytest.mark.slow

MESSAGES = 600


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Network]:
    """Machines with cables; where there can be none, groups of processes with only TCP between them."""
    pytest.importorskip("psycopg")
    if why_not() is not None:
        yield without_cables(tmp_path, machines=2)
        return
    with network(tmp_path, machines=2) as made:
        yield made


@pytest.fixture
def server(net: Network) -> Iterator[Server]:
    """A PostgreSQL server on a machine of its own, with a team in the database `team`."""
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    with private_server(programs, address="0.0.0.0", netns=net.server) as server:
        server.execute("CREATE DATABASE team")
        create_database(server.url("team", socket=True), SETTINGS)
        yield server


def _place(machine: Machine, server: Server) -> str:
    return f"postgresql://postgres@{machine.server}:{server.port}/team"


def _wait_for_word(consoles: list[Terminal], *texts: str, seconds: float = 40.0) -> None:
    for console in consoles:
        console.wait_for(*texts, seconds=seconds)


def test_two_consoles_and_an_agent_share_a_team_and_survive_its_server(net: Network, server: Server) -> None:
    near, far = net.machines
    here, there = _place(near, server), _place(far, server)
    with near.console("-t", here) as each, far.console("-t", there) as other:
        _wait_for_word([each, other], "●")
        request = far("-t", there, "--as", "architect", "plan", "--content", "Split the loader", "--json").json
        _wait_for_word([each, other], "Split the loader")
        assert near("-t", here, "reject", request["request_id"], "--reason", "add tests", "--as", "ceo").status == 0
        heard = far("-t", there, "receive", "--agent", "architect", "--json").json["messages"]
        assert [item["payload"]["content"] for item in heard] == ["add tests"]
        far("-t", there, "--as", "architect", "plan", "--content", "Test the loader")
        _wait_for_word([each, other], "Test the loader")

        server.kill()
        _wait_for_word([each, other], "not readable")
        refused = far("-t", there, "send", "--to", "code_developer", "--type", "spec_ready", "--id", "late", "--json")
        assert (refused.status, refused.json["error"]) == (4, "STORE_UNREADABLE")
        assert "Test the loader" in each.text, "the last good view stays"

        server.start()
        _wait_for_word([each, other], "●")
        assert far("-t", there, "send", "--to", "code_developer", "--type", "spec_ready", "--id", "late").status == 0
        again = far("-t", there, "send", "--to", "code_developer", "--type", "spec_ready", "--id", "late", "--json")
        assert again.json["repeated"] is True
        seen = near("-t", here, "inbox", "code_developer", "--json").json
        assert [message["message_id"] for message in seen["messages"]] == ["late"]


def test_a_pulled_cable_is_said_on_its_own_console_only_and_nothing_is_missed(net: Network, server: Server) -> None:
    if net.server is None:
        pytest.skip(str(why_not()))
    near, far = net.machines
    here, there = _place(near, server), _place(far, server)
    with near.console("-t", here) as item, far.console("-t", there) as other:
        _wait_for_word([item, other], "●")
        far.pull_cable()
        words = ("not readable", " old")
        other.wait_until(lambda: any(word in other.text for word in words), "word of the cut cable", 40.0)
        sent = ("send", "--to", "ceo", "--summary", "The build is broken again now", "--content", "Look.")
        assert near("-t", here, "--as", "architect", *sent).status == 0
        item.wait_for("The build is broken", seconds=20)
        assert "●" in item.text
        far.plug_cable()
        other.wait_for("●", "The build is broken", seconds=40)


def test_workers_on_two_machines_lose_nothing_to_a_crash_of_the_server(
    net: Network, server: Server, tmp_path: Path
) -> None:
    local = server.url("team", socket=True)
    team = open_database(local)
    put(team, *[make_message(number, to=AGENT) for number in range(MESSAGES)])
    stop = tmp_path / "stop"
    crew: list[subprocess.Popen[bytes]] = []
    for number, machine in enumerate(net.machines * 2):
        receipts = tmp_path / f"receipts-{number}"
        place = _place(machine, server)
        crew.append(machine.start(sys.executable, "-m", "tests.sql.worker", place, str(receipts), str(stop)))
    try:
        until(lambda: _acknowledged(local) >= MESSAGES // 3, 120)
        server.kill()
        server.start()
        until(lambda: _acknowledged(local) >= MESSAGES, 120)
        stop.touch()
        assert [agent.wait(60) for agent in crew] == [0] * len(crew)
    finally:
        for process in crew:
            process.kill()
            process.wait()
    lines = team.audit(limit=100_000)
    acknowledged = Counter(fact for line in lines if line.action == "ack" for fact in line.facts["ids"])
    assert len(acknowledged) == MESSAGES
    assert set(acknowledged.values()) == {1}
    finished = Counter(line for file in tmp_path.glob("receipts-*") for line in file.read_text().splitlines())
    assert set(finished.values()) == {1}
    assert receive(Caller(team, AGENT), agent=AGENT).as_json()["count"] == 0
    assert all(line.intact for line in lines)
    team.close()


def _acknowledged(place: str) -> int:
    return int(execute(place, "SELECT count(*) FROM team_console_archive")[0][0])
