"""A command that a message is handed to, and that does not end when it should."""

from __future__ import annotations

import os
import signal

import pytest
from team_console.store.service import agents


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_command_of_another_user_that_cannot_be_ended_is_a_failed_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `sudo -u agent program` is: to end it is not permitted, and whoever delivers has to go on."""
    groups: list[int] = []
    end = os.killpg

    def refused(group: int, _: int) -> None:
        groups.append(group)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refused)
    monkeypatch.setattr(agents, "_GRACE_SECONDS", 0)
    try:
        error = agents.run_command(["sleep", "600"], limit=0)
    finally:
        for group in groups:
            end(group, signal.SIGKILL)
            os.waitpid(group, 0)
    assert error == "no answer within 0 s, and it could not be ended"
