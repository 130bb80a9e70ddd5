"""A key that stands twice in the JSON of a sprint message is named, however many keys there are."""

from __future__ import annotations

import json

import pytest
from team_console.store.protocol.parsing import parse_carried


@pytest.mark.slow
def test_a_key_that_stands_twice_behind_very_many_others_is_found_at_once() -> None:
    """Each key was looked for among all others: a message within the limit kept every reader busy for a minute."""
    pairs = ",".join(f"{json.dumps(f'k{number}')}:1" for number in range(60_000))
    with pytest.raises(ValueError, match="k59999 stands twice"):
        parse_carried(f'AGENT_CREATED: {{{pairs},"k59999":2}}')
