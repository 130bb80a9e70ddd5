"""Sign and verify by `ssh-keygen` of OpenSSH, with keys in files, agents and hardware."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.protocol.ssh_signature import clean_armour
from team_console.store.settings.team_config import Human

PATIENCE = 60.0
"""Seconds for a passphrase, a touch or a confirmation; then the verdict is given up."""
_SHORT = 5.0
"""Seconds for a program that waits for nobody."""
_NEXT = "The request is still open."
"""The end of each hint: nothing was decided."""
_waiting: set[subprocess.Popen[bytes]] = set()
"""Programs that wait for a human, in whichever thread."""


def ssh_signature(text: str, human: Human, *, namespace: str, on_terminal: bool) -> str:
    """Return the armoured signature of `text` by the key of this human.

    Args:
        on_terminal: Whether a passphrase may be asked for on the terminal; else only a program that has a window of
            its own can ask (`SSH_ASKPASS`), or the agent.

    Raises:
        TeamError: `SIGNATURE_FAILED`: there is no key here, or it was not unlocked, touched or confirmed in time.
    """
    with ExitStack() as stack:
        path = signing_key(human) or stack.enter_context(_public_half(human))
        try:
            process = subprocess.Popen(
                ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if on_terminal else subprocess.PIPE,
                # Without a terminal of its own it cannot write over the console's screen, nor read its keys.
                start_new_session=not on_terminal,
            )
        except OSError as error:
            hint = f"Install OpenSSH: verdicts are signed by its ssh-keygen. {_NEXT}"
            raise TeamError(Code.SIGNATURE_FAILED, f"ssh-keygen: {error.strerror}", hint) from error
        stack.enter_context(process)
        _waiting.add(process)
        try:
            out, complaint = process.communicate(text.encode("ascii"), PATIENCE)
        except subprocess.TimeoutExpired as error:
            why = f"the key {path} was not unlocked, touched or confirmed within {PATIENCE:g} s"
            raise TeamError(Code.SIGNATURE_FAILED, why, f"Try again. {_NEXT}") from error
        finally:
            _waiting.discard(process)
            process.kill()
    signature = clean_armour(out.decode("ascii", "replace"))
    if signature and not process.returncode:
        return signature
    if process.returncode == -signal.SIGKILL:
        raise TeamError(Code.SIGNATURE_FAILED, "nothing was signed: you gave it up", _NEXT)
    said = (complaint or b"").decode("utf-8", "replace").strip().splitlines()
    why = said[-1] if said else f"ssh-keygen ended with status {process.returncode}"
    hint = f"Unlock the key with ssh-add, or name its file with sign_with in the settings. {_NEXT}"
    raise TeamError(Code.SIGNATURE_FAILED, f"nothing was signed: {why:.200}", hint)


def stop_waiting_for_keys() -> None:
    """Wait for no key any more: who waits is told that nothing was signed."""
    for process in tuple(_waiting):
        process.kill()


def signing_key(human: Human) -> Path | None:
    """Return the file of the key to sign with: the one in the settings, else one in `~/.ssh` that is among the
    human's keys.

    None leaves it to the agent.
    """
    if human.sign_with:
        return Path(os.path.expanduser(human.sign_with))
    wanted = {key.split()[1] for key in human.keys}
    for path in sorted((home() / ".ssh").glob("*.pub")):
        with suppress(OSError):
            private = path.with_suffix("")
            if private.is_file() and not wanted.isdisjoint(path.read_text(encoding="utf-8", errors="replace").split()):
                return private
    return None


def verify(text: str, signature: str, key: bytes, namespace: str) -> bool | None:
    """Return whether `ssh-keygen` finds the signature good; None where there is no such program."""
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        signers_file, signature_file = Path(folder, "allowed_signers"), Path(folder, "signature")
        kind = key[4 : 4 + int.from_bytes(key[:4], "big")].decode("ascii", "replace")
        signers_file.write_text(f'human namespaces="{namespace}" {kind} {base64.b64encode(key).decode()}\n')
        signature_file.write_text(signature)
        files = ("-f", str(signers_file), "-s", str(signature_file))
        command = ["ssh-keygen", "-Y", "verify", *files, "-I", "human", "-n", namespace]
        try:
            done = subprocess.run(
                command, input=text.encode("utf-8", "replace"), capture_output=True, timeout=_SHORT, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.returncode == 0


@contextmanager
def _public_half(human: Human) -> Iterator[Path]:
    """Make a file with the human's first key that the agent has; `ssh-keygen` asks the agent for the private half.

    Raises:
        TeamError: `SIGNATURE_FAILED`: the agent has none of them.
    """
    held = _in_agent()
    key = next((key for key in human.keys if key.split()[1] in held), "")
    if not key:
        text = f"no key of {human.name} is here: none of humans.{human.name}.keys is in ~/.ssh or in the agent"
        hint = f"Load it with ssh-add, or name its file in humans.{human.name}.sign_with. {_NEXT}"
        raise TeamError(Code.SIGNATURE_FAILED, text, hint)
    with tempfile.NamedTemporaryFile("w", prefix="team-console-", suffix=".pub") as file:
        file.write(f"{key}\n")
        file.flush()
        yield Path(file.name)


def _in_agent() -> set[str]:
    """Return the words of the keys that the agent of this session holds; none without an agent."""
    try:
        done = subprocess.run(["ssh-add", "-L"], capture_output=True, timeout=_SHORT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return set(done.stdout.decode("utf-8", "replace").split())
