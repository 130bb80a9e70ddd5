"""Signing: a human's verdict is made without being written, signed outside the lock, and written as it was signed.

So are keys of humans taken on record, and settings confirmed that lost what was in force. What this user knows of the
authority in a team is kept in their own state.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.session_notes import write_whole
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.home import state_folder
from team_console.store.model.message import FieldDict, Message, from_record, without
from team_console.store.model.recorded_facts import ACCEPT_KEYS, RecordedFacts
from team_console.store.protocol import ssh_keygen
from team_console.store.protocol.keys_on_record import (
    KEYS_NAMESPACE,
    SETTINGS_NAMESPACE,
    KeysOfHuman,
    acceptance_text,
    confirmation_text,
    fingerprint,
    keys_of,
    keys_of_humans,
)
from team_console.store.protocol.kinds import SHUTDOWN_REQUEST
from team_console.store.protocol.shown_when_decided import EVIDENCE, REQUEST_DIGEST, SHOWN, SHOWN_BY, digest_of
from team_console.store.protocol.ssh_signature import read_signature
from team_console.store.protocol.verdicts import SIGNATURE, VERDICT_NAMESPACE, statement
from team_console.store.service.caller import Caller
from team_console.store.service.writing import sealed
from team_console.store.settings.public_keys import key_bytes
from team_console.store.settings.settings_file import settings_in
from team_console.store.settings.team_config import Human, TeamConfig


class MadeVerdict(Struct, frozen=True):
    """A verdict as a transaction would write it.

    Attributes:
        message: The record that says what was decided.
        question: The request it answers; None for an order that no request asked for.
    """

    message: Message
    question: Message | None = None


MakeVerdict = Callable[[Transaction], MadeVerdict]


class _NotWrittenError(Exception):
    """Ends the transaction in which a verdict was made only to be signed."""

    def __init__(self, made: MadeVerdict) -> None:
        super().__init__()
        self.made = made


def signed_record(
    caller: Caller, make: MakeVerdict, *, action: str, shown: Mapping[str, Any] = MappingProxyType({})
) -> Message | None:
    """Make a verdict without writing it and sign its record; None where the actor's word counts without a signature.

    Args:
        shown: What the verdict keeps of all that the human was shown, its digest among it.

    Raises:
        TeamError: `NOT_PERMITTED` for a human without a key, `SIGNATURE_FAILED`, or what `make` raises.
    """
    config = caller.team.config()
    if config.is_human(caller.actor) and not config.lost:
        refuse_other_authority(caller.team, config)
    if not config.must_be_signed(caller.actor):
        return None
    human = config.human(caller.actor)
    if human.keys:
        human = _with_keys_on_record(caller, config, human)
    if not human.keys:
        text = f"verdicts of this team are signed, and {caller.actor} has no key in its settings"
        hint = f"Add the line of a file such as ~/.ssh/id_ed25519.pub under humans.{caller.actor}.keys, or set"
        raise TeamError(Code.NOT_PERMITTED, text, f"{hint} verdicts: open.")
    config = config if config.team_id else _with_team_id(caller)
    try:
        with caller.transaction(action) as tx:
            raise _NotWrittenError(make(tx))
    except _NotWrittenError as dry_run:
        made = dry_run.made
    digest = {} if made.question is None else {REQUEST_DIGEST: digest_of(made.question)}
    unsigned = _with_payload(made.message, **shown, **digest)
    caller.tell(f"waiting for your key ({human.name})", ssh_keygen.stop_waiting_for_keys)
    text = statement(config.team_id, unsigned)
    _, signature = _sign(caller, text, human, VERDICT_NAMESPACE)
    remember_authority(caller.team, config)
    return _with_payload(unsigned, **{SIGNATURE: signature})


def put_signed(tx: Transaction, made: MadeVerdict, signed: Message | None) -> Message:
    """Write the signed record in place of the one that was made again; returns what counts, the made one if none is.

    Raises:
        TeamError: `INVALID_REQUEST_ID` when they do not say the same, because something changed meanwhile.
    """
    if signed is None:
        return made.message
    digest = digest_of(made.question) if made.question is not None else None
    # guard: changed-while-signed
    if signed.payload.get(REQUEST_DIGEST) != digest or _lasting_parts(made.message) != _lasting_parts(signed):
        text = "what you decided on changed while it was being signed; nothing was written"
        raise TeamError(Code.INVALID_REQUEST_ID, text, "Read it again before you answer.")
    whole = sealed(tx, signed)
    tx.replace(made.message, whole)
    return whole


def _with_keys_on_record(caller: Caller, config: TeamConfig, human: Human) -> Human:
    """Return the human with those keys that count: of one whose keys the trail knows, these and no others.

    Raises:
        TeamError: `KEY_NOT_ON_RECORD` where none of them is.
    """
    keys = keys_of(config, human, caller.team.snapshot().recorded)
    if keys is None or not keys.unknown:
        return human
    # guard: signed-by-key-on-record
    if not keys.known:
        text = f"nothing was written: no key of {human.name} in the settings is on record, so none of them decides"
        hint = "If you put it there yourself: team-console check --accept-keys; else put yours back into the settings."
        raise TeamError(Code.KEY_NOT_ON_RECORD, text, hint)
    return replace(human, keys=keys.known)


def _with_payload(message: Message, **more: Any) -> Message:
    return from_record({**message.record, "payload": {**message.payload, **more}})


def _lasting_parts(message: Message) -> tuple[Any, ...]:
    """Return the parts of a record that stay the same each time it is made, signed or not."""
    made_anew = {
        SIGNATURE,
        REQUEST_DIGEST,
        SHOWN,
        EVIDENCE,
        SHOWN_BY,
        *(("request_id",) if message.type == SHUTDOWN_REQUEST else ()),
    }
    payload = without(message.payload, made_anew)
    return message.type, message.sender, message.recipients, message.priority, payload


def _with_team_id(caller: Caller) -> TeamConfig:
    """Return the settings with an identity for the team, made now where they have none.

    Raises:
        TeamError: `NOT_PERMITTED` when it has to be put there by hand.
    """
    with caller.transaction("identify") as tx:
        before = tx.settings()
        if not tx.config.team_id:
            team_id = secrets.token_hex(16)
            after = f"{before.rstrip()}\nteam_id: {team_id}\n".lstrip()
            if settings_in(after.encode()).team_id != team_id:
                hint = f"Add this line to the settings: team_id: {team_id}"
                raise TeamError(Code.NOT_PERMITTED, "the settings give the team no team_id for its verdicts", hint)
            tx.configure(after)
            tx.record("identify", team_id=team_id)
    return caller.team.config()


# Keys of humans on record, and settings that are confirmed.


def accept_settings(caller: Caller) -> tuple[Problem, ...]:
    """Confirm settings that lost what was in force: from now on they hold as they are.

    In a team of signed verdicts with a key of the human who confirms: whoever could do it without one could decide
    anything by settings in which somebody else leads.

    Returns:
        What was done; nothing when they were in force already.

    Raises:
        TeamError: `NOT_PERMITTED` to whoever is no human, or has no key, by the settings in force; `SIGNATURE_FAILED`;
            as for `Team.accept_settings`.
    """
    config = caller.team.config()
    # Whoever wrote settings that ask less of verdicts could else confirm them, too.
    if config.lost and not config.is_human(caller.actor):
        text = f"{caller.actor} cannot confirm the settings of team {config.name}"
        raise TeamError(Code.NOT_PERMITTED, text, f"Ask {config.lead}, who leads it, to look at what they lost.")
    # guard: settings-confirmed-by-key
    signed = _sign_confirmation(caller, config) if config.lost and config.asks_for_signatures else {}
    done = caller.team.accept_settings(actor=caller.actor, wait=caller.wait, signed=signed)
    known = known_authority(caller.team)
    if known is not None:
        config = caller.team.config()
        what = authority_change(known, config, caller.team.snapshot().recorded)
        # What was confirmed just now, as lost settings, was signed by a key of the settings in force before: once more
        # would add nothing. Settings that were in force already nobody has signed.
        if what and done is None:
            _confirm_authority(caller, known, config)
            text = f"the settings {what}, and count for you from now on"
            done = Problem("SETTINGS_ACCEPTED", "warning", "settings", text)
        remember_authority(caller.team, config)
    return (done,) if done is not None else ()


def _confirm_authority(caller: Caller, known: Authority, config: TeamConfig) -> None:
    """Have a key that was known before sign what the settings say of lead, humans, keys and identity.

    Raises:
        TeamError: `NOT_PERMITTED` where the settings have none of those keys any more; `SIGNATURE_FAILED`.
    """
    human = config.human(caller.actor)
    before = known.humans.get(human.name, ())
    keys = tuple(key for key in human.keys if fingerprint(key) in before)
    # guard: authority-confirmed-by-known-key
    if not keys:
        text = f"the settings have no key any more that {caller.actor} signed with before, so nobody can confirm them"
        hint = f"Put that key back. Only if you gave it up yourself, delete {authority_file(caller.team)}."
        raise TeamError(Code.NOT_PERMITTED, text, hint)
    digest = hashlib.sha256(msgspec.json.encode(authority_of(config))).hexdigest()
    text = confirmation_text(known.team_id, human.name, digest)
    _sign(caller, text, replace(human, keys=keys), SETTINGS_NAMESPACE)


def _sign_confirmation(caller: Caller, config: TeamConfig) -> FieldDict:
    """Return the audit trail's record of a human's signature of the present settings."""
    human = config.human(caller.actor)
    if not human.keys:
        text = f"verdicts of team {config.name} are signed, and {caller.actor} has no key in the settings in force"
        hint = "Whoever has one confirms them, or puts those in force back with: team-console check --heal"
        raise TeamError(Code.NOT_PERMITTED, text, hint)
    human = _with_keys_on_record(caller, config, human)
    text = confirmation_text(config.team_id, human.name, config.unconfirmed)
    by, signature = _sign(caller, text, human, SETTINGS_NAMESPACE)
    facts = {"human": human.name, "team_id": config.team_id, "sha256": config.unconfirmed}
    return {**facts, "by": by, "signature": signature}


def _sign(caller: Caller, text: str, human: Human, namespace: str) -> tuple[str, str]:
    """Return the key of the human, a line, that signed the text, and the signature.

    Raises:
        TeamError: `SIGNATURE_FAILED`, also when another key signed.
    """
    signature = ssh_keygen.ssh_signature(text, human, namespace=namespace, on_terminal=caller.on_terminal)
    signer = read_signature(signature).key
    # guard: key-added-by-known-key
    by = next((key for key in human.keys if key_bytes(key) == signer), None)
    # guard: signing-key-is-the-humans
    if by is None:
        # It would count as forged: `sign_with` may name the file of any key.
        words = f"nothing was written: the key that signed is none of humans.{human.name}.keys that count here"
        hint = f"Name the file of one that does in humans.{human.name}.sign_with, or load it with ssh-add; "
        hint += "a new key counts after: team-console check --accept-keys"
        raise TeamError(Code.SIGNATURE_FAILED, words, hint)
    return by, signature


def accept_keys(caller: Caller) -> tuple[Problem, ...]:
    """Take on record the keys of humans in the settings that the audit trail does not know.

    Signed with a key that is on record, where the settings still have one; else it stays among the findings.

    Returns:
        What was done, for each human.

    Raises:
        TeamError: `NOT_PERMITTED` to whoever is neither that human nor the lead; `SIGNATURE_FAILED`; the store's own.
    """
    config, snapshot = caller.team.config(), caller.team.snapshot()
    waiting = [keys for keys in keys_of_humans(config, snapshot.recorded) if keys.unknown]
    for keys in waiting:
        # Who put a key there could else take it on record, unsigned once the known keys are gone from the settings.
        # guard: key-added-by-human-or-lead
        if caller.actor not in (keys.human.name, config.lead):
            text = f"{caller.actor} cannot take a key of {keys.human.name} on record"
            raise TeamError(Code.NOT_PERMITTED, text, f"Ask {keys.human.name} to do it with a key that is on record.")
    taken = [_facts_of_acceptance(caller, config, keys) for keys in waiting]
    done: list[Problem] = []
    for facts in taken:
        with caller.transaction(ACCEPT_KEYS) as tx:
            tx.record(ACCEPT_KEYS, **facts)
        how = "signed with a key known before" if facts["signature"] else "without a signature of a key known before"
        text = f"on record for {facts['human']}, {how}: {', '.join(facts['keys'])}"
        done.append(Problem("KEYS_ACCEPTED", "notice", f"humans.{facts['human']}.keys", text))
    return tuple(done)


def _facts_of_acceptance(caller: Caller, config: TeamConfig, keys: KeysOfHuman) -> FieldDict:
    """Return the facts of the line that takes them on record."""
    names = [fingerprint(key) for key in keys.unknown]
    facts: FieldDict = {"human": keys.human.name, "keys": names, "by": "", "signature": ""}
    if not keys.known:
        return facts
    text = acceptance_text(config.team_id, keys.human.name, names)
    known = replace(keys.human, keys=keys.known)
    by, signature = _sign(caller, text, known, KEYS_NAMESPACE)
    return {**facts, "by": by, "signature": signature}


# Authority that this user knows in a team: lead, humans with their keys, identity, as they were when a key signed. It
# lies in the user's own state, so that a team whose files and audit trail were all rewritten cannot make a console
# decide under another lead, or without a signature, before a key from before has confirmed it (D40).

_MOST = 1 << 20
"""Bytes of the file that are read."""


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


def remember_authority(team: Team, config: TeamConfig) -> None:
    """Keep what the settings say now, because a key that counts has just signed under them."""
    found, place = authority_of(config), authority_file(team)
    if found == known_authority(team):
        return
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(str(place), msgspec.to_builtins(found))


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
    return [fingerprint(key) for key in (human.keys if keys is None else (each.key for each in keys.unsigned))]


def authority_problems(team: Team, snapshot: Snapshot) -> tuple[Problem, ...]:
    """Return the finding that the settings name another authority than this user knows; none while they are lost,
    which is a finding by itself.

    Where the trail was lost, too, a verdict that nobody signed counts by such settings, and nothing in the team tells.
    """
    known = known_authority(team) if snapshot.is_known and not snapshot.config.lost else None
    what = authority_change(known, snapshot.config, snapshot.recorded) if known is not None else ""
    # guard: other-authority-told
    if not what:
        return ()
    text = f"the settings {what}, since you last signed a verdict in this team; decisions since then may be nobody's"
    hint = "If that is your wish: team-console check --accept-settings. Else put the settings back."
    return (Problem("AUTHORITY_CHANGED", "error", "settings", text, hint),)


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
