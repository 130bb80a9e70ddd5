"""Verification of a signature against the keys of a human, remembered by its bytes: each is worked out once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from team_console.store.protocol.verdicts.ssh_signature import SshSignature, read_signature
from team_console.store.protocol.verdicts.statement import NAMESPACE
from team_console.store.settings.public_keys import key_bytes

_REMEMBERED = 65_536
"""Signatures at most; beyond that all are worked out anew."""
NO_TOOL = "it cannot be verified here: pip install 'team-console[signatures]', or install OpenSSH"


_known: dict[bytes, str] = {}
"""Digest of text, signature and keys -> what is wrong with it."""


class CannotVerifyError(Exception):
    """Neither `cryptography` nor `ssh-keygen` is installed."""


def signature_trouble(text: str, signature: object, keys: Sequence[str], namespace: str = NAMESPACE) -> str:
    """Why a signature does not stand for `text` and one of these public keys; empty when it does."""
    if not isinstance(signature, str) or not signature:
        return "it is not signed"
    digest = hashlib.sha256("\0".join((text, signature, namespace, *keys)).encode("utf-8", "replace")).digest()
    trouble = _known.get(digest)
    if trouble is None:
        try:
            trouble = _trouble(text, signature, keys, namespace)
        except CannotVerifyError:
            return NO_TOOL
        if len(_known) >= _REMEMBERED:
            _known.clear()
        _known[digest] = trouble
    return trouble


def _trouble(text: str, signature: str, keys: Sequence[str], namespace: str) -> str:
    try:
        parts = read_signature(signature)
    except ValueError as error:
        return f"its signature cannot be read: {error}"
    if parts.namespace != namespace.encode():
        return "its signature was made for another purpose"
    if parts.key not in {key_bytes(key) for key in keys}:
        return "it is signed with a key that is not this human's"
    if parts.is_of_hardware and not parts.is_touched:
        return "nobody touched the hardware key that signed it"
    return "" if _is_good(parts, text, signature) else "its signature does not fit what it says"


def _is_good(parts: SshSignature, text: str, signature: str) -> bool:
    """By `cryptography`, or where that is missing by the `ssh-keygen` of the machine."""
    try:
        from team_console.store.protocol.verdicts.key_arithmetic import is_signed
    except ImportError:
        from team_console.store.protocol.verdicts.ssh_keygen import verify

        good = verify(text, signature, parts.key, parts.namespace.decode())
        if good is None:
            raise CannotVerifyError from None
        return good
    return is_signed(parts, text.encode("utf-8", "replace"))
