"""Signed verdicts: what one costs whose key is in an agent, and ten thousand of them verified, then known."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from team_console.store.backends.open import open_team
from team_console.store.model.message import Message, from_record
from team_console.store.protocol import verdicts as verification
from team_console.store.protocol.ssh import SshSignature
from team_console.store.protocol.verdicts import NAMESPACE, REQUEST_DIGEST, SIGNATURE, digest_of, objection, statement
from team_console.store.service.asking import ask_permission
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve
from team_console.store.settings.team_config import Human, TeamConfig

from tests.proofs.benchmarks import floor
from tests.proofs.benchmarks.data import AGENTS, LEAD, quiet, write_team
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples
from tests.proofs.benchmarks.table import Table, number

_COSTS = 0.030
"""Seconds a verdict may take with a key in an agent."""
_SIZES = (100, 1_000)
"""Messages in the queue: of a small team, which the limit is for, and of a large one."""
_TEAM_ID = "0123456789abcdef0123456789abcdef"


def verdicts(run: Run) -> list[Table]:
    """Two tables: giving a verdict, and verifying many."""
    return [_given(run), _verified(run)]


def _given(run: Run) -> Table:
    names = ("approve, ms", "p50", "p95", "worst", "target")
    table = Table(f"A verdict in a running process, {run.rounds(80)} of each", names)
    with _agent(run.folder) as key:
        _add(table, "floor: ssh-keygen alone, started, signs by the agent, ends", _signing_alone(run, key))
        for size in _SIZES:
            folder = run.folder / f"verdicts-{size}"
            write_team(folder, quiet(size))
            if size == _SIZES[0]:
                _add(table, "floor: a journal line, a new queue, 3 syncs and a rename", _writing_alone(run, folder))
            _add(table, f"unsigned, a queue of {size:,}", _times(run, folder))
            with (folder / "messenger-config.yaml").open("a") as settings:
                settings.write(f"\nlead: {LEAD}\nteam_id: {_TEAM_ID}\nhumans:\n  {LEAD}:\n    keys:\n    - {key}\n")
            limit = _COSTS if size == _SIZES[0] else None
            _add(table, f"signed by a key in an agent, a queue of {size:,}", _times(run, folder), limit)
    table.notes.append(
        "Files. ssh-keygen starts while the verdict is tried, so that its start is waited for only in part."
    )
    return table


def _add(table: Table, name: str, some: Samples, limit: float | None = None) -> None:
    kept = "" if limit is None else f"at most {limit * 1e3:g} ms: {'kept' if some.median <= limit else 'MISSED'}"
    table.add(name, *(number(figure * 1e3) for figure in (some.median, some.quantile(95), max(some.values))), kept)


def _signing_alone(run: Run, key: str) -> Samples:
    public = run.folder / "alone.pub"
    public.write_text(f"{key}\n")
    words = ("ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(public))
    return _timed(run, lambda: subprocess.run(words, input=b"a statement", capture_output=True, check=True))


def _writing_alone(run: Run, folder: Path) -> Samples:
    queue = floor.read(str(folder / "message-queue.yaml"))
    return _timed(run, lambda: floor.write(str(folder), queue))


def _timed(run: Run, act: Callable[[], object]) -> Samples:
    some = []
    for _ in range(run.rounds(80)):
        start = perf_counter()
        act()
        some.append(perf_counter() - start)
    return Samples(tuple(some))


def _times(run: Run, folder: Path) -> Samples:
    team = open_team(str(folder))
    agent, lead = Caller(team, AGENTS[0]), Caller(team, LEAD)
    some = []
    for _ in range(run.rounds(80)):
        request = ask_permission(agent, tool="Bash", input={"command": "ls"}).request_id or ""
        start = perf_counter()
        approve(lead, request_id=request)
        some.append(perf_counter() - start)
    team.close()
    return Samples(tuple(some))


@contextmanager
def _agent(folder: Path) -> Iterator[str]:
    """An agent with one key, for this process; the line of its public half."""
    path, socket = folder / "id_ed25519", folder / "agent"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    public = path.with_suffix(".pub").read_text().strip()
    before = {name: os.environ.get(name) for name in ("SSH_AUTH_SOCK", "HOME")}
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it says where it listens once it does
        os.environ.update(SSH_AUTH_SOCK=str(socket), HOME=str(folder))
        try:
            subprocess.run(["ssh-add", "-q", str(path)], check=True)
            path.unlink()
            yield public
        finally:
            process.terminate()
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _verified(run: Run) -> Table:
    amount = 1_000 if run.quick else 10_000
    config, pairs = many_signed(amount)
    table = Table(f"{amount:,} signed verdicts judged (ms)", ("look", "all", "each", "signatures worked out"))
    for name in ("first", "again, from what is known"):
        with _counted() as worked_out:
            start = perf_counter()
            assert not any(objection(config, verdict, question) for question, verdict in pairs)
            seconds = perf_counter() - start
        table.add(name, number(seconds * 1e3), number(seconds * 1e3 / amount), f"{len(worked_out):,}")
    return table


@contextmanager
def _counted() -> Iterator[list[str]]:
    """The texts whose signatures are worked out within the block."""
    real, texts = verification._is_good, list[str]()

    def counted(parts: SshSignature, text: str, signature: str) -> bool:
        texts.append(text)
        return real(parts, text, signature)

    with patch.object(verification, "_is_good", counted):
        yield texts


def many_signed(amount: int, *, seed: bytes = b"a key") -> tuple[TeamConfig, list[tuple[Message, Message]]]:
    """Questions with their verdicts, signed here: `ssh-keygen` would take minutes."""
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed).digest())
    blob = _packed(b"ssh-ed25519") + _packed(private.public_key().public_bytes_raw())
    human = Human(LEAD, (f"ssh-ed25519 {base64.b64encode(blob).decode()} {LEAD}",))
    config = TeamConfig(lead=LEAD, humans={LEAD: human}, verdicts="signed", team_id=_TEAM_ID)
    return config, [_pair(private, blob, place) for place in range(amount)]


def _pair(private: Ed25519PrivateKey, blob: bytes, place: int) -> tuple[Message, Message]:
    envelope = {"created": "2026-02-24T10:30:00.000Z", "status": "read", "priority": "high"}
    request = f"permission-{place}@{AGENTS[0]}"
    asked = {"request_id": request, "tool": "Bash", "input": {"command": f"ls {place}"}}
    names = {"type": "permission_request", "from": AGENTS[0], "to": LEAD}
    question = from_record({"message_id": f"Q{place}", **names, **envelope, "payload": asked})
    said = {"request_id": request, "approve": True, "scope": "once", REQUEST_DIGEST: digest_of(question)}
    names = {"type": "permission_response", "from": LEAD, "to": AGENTS[0]}
    record = {"message_id": f"A{place}", **names, **envelope}
    text = statement(_TEAM_ID, from_record({**record, "payload": said}))
    parts = SshSignature(blob, NAMESPACE.encode(), b"sha512", b"ssh-ed25519", b"", b"")
    value = private.sign(parts.signed(text.encode()))
    inner = _packed(b"ssh-ed25519") + _packed(value)
    whole = b"SSHSIG\0\0\0\1" + b"".join(map(_packed, (blob, NAMESPACE.encode(), b"", b"sha512", inner)))
    body = base64.b64encode(whole).decode()
    armoured = f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n"
    return question, from_record({**record, "payload": {**said, SIGNATURE: armoured}})


def _packed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
