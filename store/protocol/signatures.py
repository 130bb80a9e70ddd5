"""Verify signatures of humans against their public keys; each is worked out once and remembered by its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from team_console.store.protocol.ssh_signature import SshSignature, read_signature
from team_console.store.settings.public_keys import key_bytes

VERDICT_NAMESPACE = "verdict@team-console"
"""What the signature of a verdict is made for; never good for anything else."""

_REMEMBERED = 65_536
"""Signatures at most; beyond that all are worked out anew."""
NO_TOOL = "it cannot be verified here: install OpenSSH, or team-console with its extra `signatures`"

_verified_signatures: dict[bytes, str] = {}
"""Digest of text, signature and keys -> what is wrong with it."""


def signature_trouble(text: str, signature: object, keys: Sequence[str], namespace: str = VERDICT_NAMESPACE) -> str:
    """Return why a signature is not valid for `text` under one of these public keys; empty when it is."""
    if not isinstance(signature, str) or not signature:
        return "it is not signed"
    # guard: signature-known-by-all-bytes
    digest = hashlib.sha256("\0".join((text, signature, namespace, *keys)).encode("utf-8", "replace")).digest()
    trouble = _verified_signatures.get(digest)
    if trouble is None:
        trouble = _verify(text, signature, keys, namespace)
        if trouble == NO_TOOL:
            return trouble
        if len(_verified_signatures) >= _REMEMBERED:
            _verified_signatures.clear()
        # guard: signature-verified-once
        _verified_signatures[digest] = trouble
    return trouble


def _verify(text: str, signature: str, keys: Sequence[str], namespace: str) -> str:
    """Return what is wrong with a signature, worked out anew; empty when it is valid."""
    try:
        parts = read_signature(signature)
    except ValueError as error:
        return f"its signature cannot be read: {error}"
    # guard: signature-for-one-purpose
    if parts.namespace != namespace.encode():
        return "its signature was made for another purpose"
    # guard: signature-by-human-key
    if parts.key not in {key_bytes(key) for key in keys}:
        return "it is signed with a key that is not this human's"
    # guard: hardware-key-touched-without-library
    if parts.is_of_hardware and not parts.is_touched:
        return "nobody touched the hardware key that signed it"
    is_good = _fits_text(parts, text, signature)
    if is_good is None:
        return NO_TOOL
    return "" if is_good else "its signature does not fit what it says"


def _fits_text(parts: SshSignature, text: str, signature: str) -> bool | None:
    """Return whether a signature fits a text, by `cryptography`, else by `ssh-keygen`; None where neither is there."""
    try:
        from team_console.store.protocol.key_arithmetic import is_signed_by_key
    except ImportError:
        from team_console.store.protocol.ssh_keygen import verify  # 10 ms: subprocess and tempfile

        return verify(text, signature, parts.key, parts.namespace.decode())
    return is_signed_by_key(parts, text.encode("utf-8", "replace"))
