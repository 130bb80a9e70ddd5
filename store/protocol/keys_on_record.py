"""Tell which public keys of humans are on record: seen by the audit trail at work, or taken on record by it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from team_console.store.model.json_text import canonical_json
from team_console.store.model.names import USER
from team_console.store.model.recorded_facts import Acceptance, Confirmation, RecordedFacts
from team_console.store.protocol.ssh_signature import read_signature
from team_console.store.protocol.verdicts import SIGNATURE, signature_trouble
from team_console.store.settings.public_keys import key_bytes
from team_console.store.settings.team_config import Human, TeamConfig

KEYS_NAMESPACE = "keys@team-console"
"""What a key signs that takes others on record; never good for a verdict."""
SETTINGS_NAMESPACE = "settings@team-console"
"""What a key signs that confirms settings which lost what was in force; never good for anything else."""


class UnsignedKey(NamedTuple):
    """A public key, and the number of the audit line that took it on record without the signature of a known key."""

    key: str
    line: int


class KeysOfHuman(Struct, frozen=True):
    """The keys of one human in the settings, each a line, told apart by the trail.

    Attributes:
        known: Those on record.
        unknown: Those that the trail never saw.
        unsigned: Those of the known that no known key vouches for.
    """

    human: Human
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    unsigned: tuple[UnsignedKey, ...]


def keys_of_humans(config: TeamConfig, recorded: RecordedFacts | None) -> Iterator[KeysOfHuman]:
    """Yield the keys of each human of whom the trail knows one at all; of the others nothing can be said."""
    for human in config.humans.values() if config.verdicts == "signed" else ():
        keys = keys_of(config, human, recorded)
        if keys is not None:
            yield keys


def keys_of(config: TeamConfig, human: Human, recorded: RecordedFacts | None) -> KeysOfHuman | None:
    """Return the keys of this human; None where the trail knows none, so that nothing can be said."""
    if recorded is None:
        return None
    # Whoever has a seat without keys of its own uses those of another: what either signed is on record for both.
    names = [name for name in (human.name, config.lead, USER) if config.human(name) == human]
    first = next(filter(None, (_first_fingerprint(recorded, name) for name in names)), "")
    if not first:
        return None
    keys = {key: fingerprint(key) for key in human.keys}
    known, unsigned = _known_keys(config.team_id, human.name, first, recorded.acceptances)
    return KeysOfHuman(
        human,
        tuple(key for key, name in keys.items() if name in known),
        tuple(key for key, name in keys.items() if name not in known),
        tuple(UnsignedKey(key, unsigned[name]) for key, name in keys.items() if name in unsigned),
    )


@lru_cache(maxsize=1024)
def fingerprint(key: str) -> str:
    """Return the fingerprint of a public key as `ssh-keygen -l` prints it; of what is none, one that fits nothing."""
    try:
        return fingerprint_of_bytes(key_bytes(key))
    except ValueError:
        return ""


def acceptance_text(team_id: str, human: str, keys: Sequence[str]) -> str:
    """Return the text that is signed to take the keys with these fingerprints on record."""
    return canonical_json(
        {"version": 1, "namespace": KEYS_NAMESPACE, "team": team_id, "human": human, "keys": sorted(keys)}
    )


def confirmation_text(team_id: str, human: str, sha256: str) -> str:
    """Return the text that is signed to confirm settings with this digest, of a team that had this identity before."""
    said = {"version": 1, "namespace": SETTINGS_NAMESPACE, "team": team_id, "human": human, "settings_sha256": sha256}
    return canonical_json(said)


def unsigned_confirmations(recorded: RecordedFacts | None) -> Iterator[Confirmation]:
    """Yield confirmations of settings, since humans began to sign, that no key on record of the human named signed."""
    since = recorded.signed_from if recorded is not None else None
    if recorded is None or since is None:
        return
    for confirmation in recorded.confirmations:
        if confirmation.line > since and not _is_signed(recorded, confirmation):
            yield confirmation


def _is_signed(recorded: RecordedFacts, confirmation: Confirmation) -> bool:
    """Return whether a key on record of the human signed this confirmation of settings."""
    team_id, human, by = confirmation.team_id, confirmation.human, confirmation.by
    first = _first_fingerprint(recorded, human)
    known, unsigned = _known_keys(team_id, human, first, recorded.acceptances)
    # guard: confirming-key-on-record
    if not first or fingerprint(by) not in known - unsigned.keys():
        return False
    text = confirmation_text(team_id, human, confirmation.sha256)
    return not signature_trouble(text, confirmation.signature, [by], SETTINGS_NAMESPACE)


def _known_keys(
    team_id: str, human: str, first: str, acceptances: Sequence[Acceptance]
) -> tuple[set[str], dict[str, int]]:
    """Return the fingerprints on record, and of those that no known key vouches for: fingerprint -> number of its line.

    Args:
        first: The fingerprint of the key of the first verdict that this human signed, which counts by itself.
        acceptances: Keys that were taken on record, in the order of the trail: each may vouch for those behind it.
    """
    known, unsigned = {first}, dict[str, int]()
    for acceptance in acceptances:
        if acceptance.human != human:
            continue
        # guard: unvouched-key-vouches-for-none
        vouching = [acceptance.by] if fingerprint(acceptance.by) in known - unsigned.keys() else []
        text = acceptance_text(team_id, human, acceptance.keys)
        is_signed = not signature_trouble(text, acceptance.signature, vouching, KEYS_NAMESPACE)
        for name in acceptance.keys:
            if is_signed:
                unsigned.pop(name, None)
            elif name not in known:
                # guard: unvouched-key-told
                unsigned[name] = acceptance.line
            known.add(name)
    return known, unsigned


def _first_fingerprint(recorded: RecordedFacts, name: str) -> str:
    """Return the fingerprint of the key of the first verdict on the trail that this human signed; empty without one."""
    message = recorded.first_signed(name)
    if message is None:
        return ""
    try:
        return fingerprint_of_bytes(read_signature(str(message.payload.get(SIGNATURE))).key)
    except ValueError:
        return ""


def fingerprint_of_bytes(data: bytes) -> str:
    """Return the fingerprint of a public key, given as its bytes."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
