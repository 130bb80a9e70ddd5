"""Keys of humans on record: which of those in the settings the audit trail has seen at work, or took on record.

Settings can be edited by whoever may write them. The first key that signed a verdict of a human is known; another
becomes known by a line of the trail that takes it on record, signed with a key that was known before. What this cannot
prove: that the first key was the human's, and that nobody wrote the whole trail anew.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence

from msgspec import Struct
from team_console.store.model.recorded import Acceptance, Confirmation, RecordedFacts
from team_console.store.protocol.ssh import read_signature
from team_console.store.protocol.verdicts import SIGNATURE, signature_trouble
from team_console.store.settings.team_config import Human, TeamConfig, key_bytes

NAMESPACE = "keys@team-console"
"""What a key signs that takes others on record; never good for a verdict."""
SETTINGS_NAMESPACE = "settings@team-console"
"""What a key signs that confirms settings which lost what was in force; never good for anything else."""


class KeysOfHuman(Struct, frozen=True):
    """The keys of one human in the settings, each a line, told apart by the trail.

    Attributes:
        known: Those on record.
        unknown: Those that the trail never saw.
        unsigned: Those that were taken on record by a line that no known key signed, each with that line's number.
    """

    human: Human
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    unsigned: tuple[tuple[str, int], ...]


def keys_of_humans(config: TeamConfig, recorded: RecordedFacts | None) -> Iterator[KeysOfHuman]:
    """The keys of each human of whom the trail knows one at all; of the others nothing can be said."""
    if recorded is None or config.verdicts != "signed":
        return
    for human in config.humans.values():
        first = _first_key(recorded, human.name)
        if not first:
            continue
        keys = {key: fingerprint(key) for key in human.keys}
        known, unsigned = _known(config.team_id, human.name, first, recorded.acceptances)
        yield KeysOfHuman(
            human,
            tuple(key for key, name in keys.items() if name in known),
            tuple(key for key, name in keys.items() if name not in known),
            tuple((key, unsigned[name]) for key, name in keys.items() if name in unsigned),
        )


def fingerprint(key: str) -> str:
    """The fingerprint of a public key as `ssh-keygen -l` prints it; of what is none, one that fits nothing."""
    try:
        return _named(key_bytes(key))
    except ValueError:
        return ""


def acceptance_text(team_id: str, human: str, keys: Sequence[str]) -> str:
    """The text that is signed to take the keys with these fingerprints on record."""
    said = {"version": 1, "namespace": NAMESPACE, "team": team_id, "human": human, "keys": sorted(keys)}
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def confirmation_text(team_id: str, human: str, sha256: str) -> str:
    """The text that is signed to confirm settings with this digest, of a team that had this identity before."""
    said = {"version": 1, "namespace": SETTINGS_NAMESPACE, "team": team_id, "human": human, "settings_sha256": sha256}
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def unsigned_confirmations(recorded: RecordedFacts | None) -> Iterator[Confirmation]:
    """Settings that were confirmed after humans had begun to sign, without a key on record of the human named."""
    since = recorded.signed_from if recorded is not None else None
    if recorded is None or since is None:
        return
    for confirmation in recorded.confirmations:
        if confirmation.line > since and not _is_signed(recorded, confirmation):
            yield confirmation


def _is_signed(recorded: RecordedFacts, confirmation: Confirmation) -> bool:
    team_id, human, by = confirmation.team_id, confirmation.human, confirmation.by
    first = _first_key(recorded, human)
    known, unsigned = _known(team_id, human, first, recorded.acceptances)
    # guard: confirming-key-on-record
    if not first or fingerprint(by) not in known - unsigned.keys():
        return False
    text = confirmation_text(team_id, human, confirmation.sha256)
    return not signature_trouble(text, confirmation.signature, [by], SETTINGS_NAMESPACE)


def _known(team_id: str, human: str, first: str, acceptances: Sequence[Acceptance]) -> tuple[set[str], dict[str, int]]:
    """Fingerprints of what is on record, and those of them that no known key vouches for, each with its line."""
    known, unsigned = {first}, dict[str, int]()
    for acceptance in acceptances:
        if acceptance.human != human:
            continue
        # guard: unvouched-key-vouches-for-none
        vouching = [key for key in acceptance.by if fingerprint(key) in known - unsigned.keys()]
        text = acceptance_text(team_id, human, acceptance.keys)
        is_signed = not signature_trouble(text, acceptance.signature, vouching, NAMESPACE)
        for name in acceptance.keys:
            if is_signed:
                unsigned.pop(name, None)
            elif name not in known:
                # guard: unvouched-key-told
                unsigned[name] = acceptance.line
            known.add(name)
    return known, unsigned


def _first_key(recorded: RecordedFacts, name: str) -> str:
    """The fingerprint of the key of the first verdict on the trail that this human signed; empty without one."""
    message = recorded.first_signed(name)
    try:
        return _named(read_signature(str(message.payload.get(SIGNATURE))).key) if message is not None else ""
    except ValueError:
        return ""


def _named(data: bytes) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
