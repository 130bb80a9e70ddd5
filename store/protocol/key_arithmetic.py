"""Verify by the arithmetic of keys whether a signature was made with a public key, for every kind OpenSSH has.

It is a module of its own because it needs `cryptography`, which is optional; without it `ssh_keygen.verify` is asked.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from team_console.store.protocol.ssh_signature import SshSignature, WireReader

_LEAST_RSA_BITS = 2048
_BY_CURVE: Mapping[int, type[HashAlgorithm]] = {256: SHA256, 384: SHA384, 521: SHA512}
_RSA: Mapping[bytes, type[HashAlgorithm]] = {b"rsa-sha2-256": SHA256, b"rsa-sha2-512": SHA512}


def is_signed_by_key(signature: SshSignature, text: bytes) -> bool:
    """Return whether the key that the signature names signed `text`; False for whatever is broken about it."""
    try:
        return _is_signed(signature, signature.signed(text))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False


def _is_signed(signature: SshSignature, data: bytes) -> bool:
    """Return whether the key signed these bytes, by the rules of its kind; raises for most that is broken."""
    parts = WireReader(signature.key)
    kind = parts.string()
    key = load_ssh_public_key(kind + b" " + base64.b64encode(signature.key))
    if signature.is_of_hardware and signature.is_touched:
        application = parts.string()
        while parts.rest:  # the last of its parts
            application = parts.string()
        # What a hardware key signs in place of the data (`PROTOCOL.u2f` of OpenSSH).
        data = hashlib.sha256(application).digest() + signature.rest + hashlib.sha256(data).digest()
    elif signature.rest:
        return False
    if isinstance(key, RSAPublicKey):
        algorithm = _RSA.get(signature.form)
        if algorithm is None or key.key_size < _LEAST_RSA_BITS:
            return False
        key.verify(signature.value, data, padding.PKCS1v15(), algorithm())
        return True
    if signature.form != kind:
        return False
    if isinstance(key, Ed25519PublicKey):
        key.verify(signature.value, data)
        return True
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return False
    numbers = WireReader(signature.value)
    made = encode_dss_signature(numbers.mpint(), numbers.mpint())
    key.verify(made, data, ec.ECDSA(_BY_CURVE[key.curve.key_size]()))
    return True
