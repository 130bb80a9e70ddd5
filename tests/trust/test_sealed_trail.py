"""The audit trail of a team with a key: nobody without it edits a line, or computes the chain anew, unnoticed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.signed_teams import PLACES, TEAM_ID

pytestmark = pytest.mark.slow

SUMMARY = ("--summary", "one two three four five", "--content", "c")
SEALS_LATER = {"AUDIT_UNSEALED": "notice"}
"""The first lines are older than the key, or were sealed with none that is here."""


class Trail:
    """The trail of a team, and the verbs that write it."""

    def __init__(self, store: str, folder: Path) -> None:
        self.folder, self.place, self._run = folder, PLACES[store](folder), CommandLine(folder)

    def key(self, data: bytes = b"a key of at least 16 bytes") -> AbstractContextManager[None]:
        """A file with the team's key, named in the settings for as long as the block lasts."""
        key = self.folder / "team.key"
        key.write_bytes(hashlib.sha256(data).digest())
        key.chmod(0o600)
        identity = f"team_id: {TEAM_ID}\n"
        return self.place.settings(identity, f"{identity}key_file: {key}\n")

    def ok(self, *arguments: str) -> Any:
        return self._run.ok("-t", self.place.location, *arguments)

    def sent(self, count: int = 3) -> str:
        """The id of the last of so many messages."""
        ids = [self.ok("send", "--to", "bob", *SUMMARY, "--json").json["message_id"] for _ in range(count)]
        return str(ids[-1])

    def findings(self) -> dict[str, str]:
        """Code -> severity of what is said of the audit trail."""
        told = self._run("-t", self.place.location, "check", "--json").json["findings"]
        return {item["code"]: item["severity"] for item in told if item["code"].startswith("AUDIT")}


@pytest.fixture
def trail(request: pytest.FixtureRequest, tmp_path: Path) -> Trail:
    return Trail(getattr(request, "param", "yaml"), tmp_path)


@pytest.fixture
def sealed(trail: Trail) -> Iterator[Trail]:
    """One that has a key."""
    with trail.key():
        yield trail


@pytest.mark.parametrize("trail", ["yaml", "sqlite"], indirect=True)
@pytest.mark.parametrize("harm", ["an edited line", "an edited line, its seal taken away"])
def test_a_line_whose_chain_is_computed_anew_is_noticed(sealed: Trail, harm: str) -> None:
    last = sealed.sent()
    assert sealed.findings() == {}
    sealed.place.replace((last, "MSG-20261122-forgedaa"))
    if "taken away" in harm:
        sealed.place.unseal(1)
    assert sealed.findings() == {"AUDIT_BROKEN": "error"}
    sealed.sent(1)
    assert sealed.findings() == {"AUDIT_BROKEN": "error"}


def test_a_trail_without_any_seal_is_told_until_it_is_sealed(sealed: Trail) -> None:
    sealed.sent()
    sealed.place.unseal()
    assert sealed.findings() == {"AUDIT_UNSEALED": "warning"}
    sealed.sent(1)
    assert sealed.findings() == SEALS_LATER
