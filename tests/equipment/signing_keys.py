"""Keys of humans for tests, made once with stock `ssh-keygen`, and teams whose verdicts they sign."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from team_console.store.model.message import Message, from_record
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, digest_of
from team_console.store.protocol.verdicts import SIGNATURE, VERDICT_NAMESPACE, statement

from tests.equipment.command_line import needs


def key_file(kind: str = "ed25519", name: str = "ceo") -> Path:
    """A private key of this kind without a passphrase; its public half lies beside it as `.pub`."""
    return _made(kind, name)


@functools.cache
def _made(kind: str, name: str) -> Path:
    needs("ssh-keygen")
    folder = Path(tempfile.mkdtemp(prefix="team-console-keys-"))
    atexit.register(_removed, folder, os.getpid())
    place = folder / f"{name}_{kind}"
    bits = {"rsa": ("-b", "2048"), "ecdsa": ("-b", "384")}.get(kind, ())
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, *bits, "-N", "", "-C", f"{name}@desk", "-f", str(place)], check=True
    )
    return place


def _removed(folder: Path, owner: int) -> None:
    """Leave nothing behind; a fork that ends leaves it to the process whose keys they are."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def public_line(kind: str = "ed25519", name: str = "ceo") -> str:
    """The line of its public half."""
    return key_file(kind, name).with_suffix(".pub").read_text().strip()


def settings_of_signed_team(team_id: str = "0123456789abcdef", kind: str = "ed25519") -> str:
    """What makes a team of the lead `ceo` one of signed verdicts."""
    return (
        f"team_id: {team_id}\nhumans:\n  ceo:\n    keys:\n    - {public_line(kind)}\n    sign_with: {key_file(kind)}\n"
    )


def sign_verdicts(folder: Path, **wanted: str) -> None:
    """Turn the team in this folder into one of signed verdicts."""
    with (folder / "messenger-config.yaml").open("a") as settings:
        settings.write(settings_of_signed_team(**wanted))


def sign_record(
    record: dict[str, Any],
    key: Path | str,
    question: Message | None,
    *,
    team_id: str,
    namespace: str = VERDICT_NAMESPACE,
) -> None:
    """Sign a verdict with a key, over the question that it answers where one is named."""
    payload = record["payload"]
    if question is not None:
        payload[REQUEST_DIGEST] = digest_of(question)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(key)]
    text = statement(team_id, from_record(record)).encode()
    payload[SIGNATURE] = subprocess.run(command, input=text, capture_output=True, check=True).stdout.decode()
