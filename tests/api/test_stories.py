"""Stories of agents in Python, told in `stories/` as those of the service are: what they call are methods of a client.

`MEMBER: wait {request: ID}` waits for the answer to a request of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from team_console.store.api import AgentClient

from tests.equipment.places import stories_beside
from tests.equipment.teams import FACTORIES, FakeClock
from tests.service.test_stories import Teller, told_on

pytestmark = pytest.mark.slow


class ClientTeller(Teller):
    """Tells a story of clients."""

    def called(self, member: str, function: str, given: dict[str, Any]) -> Any:
        """Call a method of a client."""
        client = AgentClient(self.team, member)
        if function == "wait":
            return client.request(given["request"]).wait(given.get("timeout", 60.0))
        return getattr(client, function)(**given)


@pytest.mark.parametrize(("store", "text"), [*told_on(stories_beside(__file__))])
def test_what_a_story_says_comes_of_it(store: str, text: str, tmp_path: Path) -> None:
    clock = FakeClock()
    with FACTORIES[store](tmp_path, clock) as make:
        ClientTeller(make(), clock).tell(text)
