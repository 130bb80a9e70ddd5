"""Verify by `cryptography` whether an SSH signature was made with a public key, for every kind OpenSSH has.

It is a module of its own because that package is optional; without it `ssh_keygen.verify` is asked.
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
"""Bits of the shortest RSA key whose signatures count."""
_HASH_OF_CURVE: Mapping[int, type[HashAlgorithm]] = {256: SHA256, 384: SHA384, 521: SHA512}
"""Bits of a NIST curve -> the hash that its signatures are made over (RFC 5656)."""
_HASH_OF_RSA_FORM: Mapping[bytes, type[HashAlgorithm]] = {b"rsa-sha2-256": SHA256, b"rsa-sha2-512": SHA512}
"""Form of an RSA signature -> its hash; the old form with SHA-1 is missing on purpose."""


def is_signed_by_key(signature: SshSignature, text: bytes) -> bool:
    """Return whether the key that the signature names signed `text`; False for whatever is broken about it."""
    try:
        return _is_signed(signature, signature.signed(text))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False


def _is_signed(signature: SshSignature, data: bytes) -> bool:
    """Return whether the key signed these bytes, by the rules of its kind.

    Raises:
        InvalidSignature, UnsupportedAlgorithm, ValueError: It did not, or key or signature are broken.
    """
    parts = WireReader(signature.key)
    kind = parts.string()
    key = load_ssh_public_key(kind + b" " + base64.b64encode(signature.key))
    if signature.is_of_hardware and signature.is_touched:
        data = _data_of_hardware(signature, parts, data)
    elif signature.rest:  # of a hardware key that nobody touched, or behind the signature of any other
        return False
    if isinstance(key, RSAPublicKey):
        return _is_signed_by_rsa(key, signature, data)
    # The other kinds have one form of signature each, of the same name.
    if signature.form != kind:
        return False
    if isinstance(key, Ed25519PublicKey):
        key.verify(signature.value, data)
        return True
    if isinstance(key, ec.EllipticCurvePublicKey):
        numbers = WireReader(signature.value)
        made = encode_dss_signature(numbers.mpint(), numbers.mpint())
        key.verify(made, data, ec.ECDSA(_HASH_OF_CURVE[key.curve.key_size]()))
        return True
    return False


def _data_of_hardware(signature: SshSignature, parts: WireReader, data: bytes) -> bytes:
    """Return what a hardware key signs in place of the data (`PROTOCOL.u2f` of OpenSSH).

    Args:
        parts: The parts of its public key behind the kind, of which the last is the application it was made for.
    """
    application = parts.string()
    while parts.rest:
        application = parts.string()
    return hashlib.sha256(application).digest() + signature.rest + hashlib.sha256(data).digest()


def _is_signed_by_rsa(key: RSAPublicKey, signature: SshSignature, data: bytes) -> bool:
    """Return True when an RSA key signed the data, False for a weak key or hash; else raises `InvalidSignature`."""
    algorithm = _HASH_OF_RSA_FORM.get(signature.form)
    if algorithm is None or key.key_size < _LEAST_RSA_BITS:
        return False
    key.verify(signature.value, data, padding.PKCS1v15(), algorithm())
    return True
