"""What this user knows of a team's authority: lead, humans with their keys, identity, as they were when a key signed.

It lies in the user's own state, so that a team whose files and audit trail were all rewritten cannot make a console
decide under another lead, or without a signature, before a key from before has confirmed it (D40).
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import state_folder
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.verdicts import fingerprint, keys_of
from team_console.store.settings.team_config import Human, TeamConfig

_MOST = 1 << 20


class Authority(Struct, frozen=True):
    """Who decides in a team of signed verdicts.

    Attributes:
        humans: Name -> fingerprints of the keys.
    """

    team_id: str
    lead: str
    humans: dict[str, tuple[str, ...]]


def authority_of(config: TeamConfig) -> Authority:
    """Return what the settings say of it."""
    humans = {name: tuple(sorted(map(fingerprint, human.keys))) for name, human in config.humans.items()}
    return Authority(config.team_id, config.lead, humans)


def authority_file(team: Team) -> Path:
    """Return the file in which this user keeps it for the team."""
    digest = hashlib.sha256(team.location.encode("utf-8", "replace")).hexdigest()[:32]
    return state_folder() / "authority" / f"{digest}.json"


def known_authority(team: Team) -> Authority | None:
    """Return what was kept; None where no key of this user ever signed there, or it cannot be read."""
    try:
        with authority_file(team).open("rb") as file:
            return msgspec.json.decode(file.read(_MOST), type=Authority)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


def remember(team: Team, config: TeamConfig) -> None:
    """Keep what the settings say now, because a key that counts has just signed under them."""
    found, place = authority_of(config), authority_file(team)
    if found == known_authority(team):
        return
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        staged = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(found))
        staged.replace(place)


def authority_change(known: Authority, config: TeamConfig, recorded: RecordedFacts | None) -> str:
    """Return what the settings say otherwise than was known, as the end of a sentence; empty for nothing that counts.

    A key that the audit trail took on record with the signature of one from before is nothing new.
    """
    if config.verdicts != "signed":
        return "ask for no signed verdicts any more"
    if config.team_id != known.team_id:
        return "give the team another team_id"
    if config.lead != known.lead:
        return f"make {config.lead} the lead in place of {known.lead}"
    for name, human in config.humans.items():
        if name not in known.humans:
            return f"make {name} a human of the team"
        if any(key not in known.humans[name] for key in _unvouched(config, human, recorded)):
            return f"name another key of {name}"
    return ""


def _unvouched(config: TeamConfig, human: Human, recorded: RecordedFacts | None) -> list[str]:
    """Return the fingerprints of those keys that count and that no signature on the trail vouches for."""
    keys = keys_of(config, human, recorded)
    return [fingerprint(key) for key in (human.keys if keys is None else (key for key, _ in keys.unsigned))]


def refuse_other_authority(team: Team, config: TeamConfig) -> None:
    """Refuse to decide under an authority that no key from before has confirmed.

    Raises:
        TeamError: `NOT_PERMITTED`, with what is another and the next step.
    """
    known = known_authority(team)
    what = authority_change(known, config, team.snapshot().recorded) if known is not None else ""
    # guard: authority-as-it-was-known
    if what:
        text = f"nothing was written: the settings {what}, since you last signed a verdict in this team"
        hint = "If that is your wish: team-console check --accept-settings, which a key from before signs. "
        raise TeamError(Code.NOT_PERMITTED, text, f"{hint}Else put the settings back.")
