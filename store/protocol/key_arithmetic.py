"""Arithmetic of keys: whether a signature over bytes was made with a public key, for every kind OpenSSH has.

It is a module of its own because it needs `cryptography`, which is optional; without it `ssh_keygen.verify` is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm
from team_console.store.protocol.ssh import Parts, SshSignature

_LEAST_RSA_BITS = 2048
_CURVES: Mapping[bytes, tuple[type[ec.EllipticCurve], type[HashAlgorithm]]] = {
    b"nistp256": (ec.SECP256R1, SHA256),
    b"nistp384": (ec.SECP384R1, SHA384),
    b"nistp521": (ec.SECP521R1, SHA512),
}
_RSA: Mapping[bytes, type[HashAlgorithm]] = {b"rsa-sha2-256": SHA256, b"rsa-sha2-512": SHA512}


def is_signed(signature: SshSignature, text: bytes) -> bool:
    """Whether the key that the signature names signed `text`; False for whatever is broken about it."""
    try:
        parts = Parts(signature.key)
        check = _CHECKS.get(parts.text())
        return check is not None and check(parts, signature, signature.signed(text))
    except (InvalidSignature, ValueError):
        return False


def _ed25519(key: Parts, signature: SshSignature, data: bytes) -> bool:
    if signature.form != b"ssh-ed25519" or signature.rest:
        return False
    Ed25519PublicKey.from_public_bytes(key.text()).verify(signature.value, data)
    return True


def _rsa(key: Parts, signature: SshSignature, data: bytes) -> bool:
    exponent, modulus = key.number(), key.number()
    algorithm = _RSA.get(signature.form)
    if algorithm is None or signature.rest or modulus.bit_length() < _LEAST_RSA_BITS:
        return False
    rsa.RSAPublicNumbers(exponent, modulus).public_key().verify(signature.value, data, padding.PKCS1v15(), algorithm())
    return True


def _ecdsa(key: Parts, signature: SshSignature, data: bytes) -> bool:
    curve = key.text()
    kind = Parts(signature.key).text()
    if not signature.form == kind == b"ecdsa-sha2-" + curve or signature.rest:
        return False
    return _on_curve(curve, key.text(), signature.value, data)


def _sk_ed25519(key: Parts, signature: SshSignature, data: bytes) -> bool:
    point, application = key.text(), key.text()
    if signature.form != b"sk-ssh-ed25519@openssh.com" or not signature.is_touched:
        return False
    Ed25519PublicKey.from_public_bytes(point).verify(signature.value, _of_hardware(application, signature, data))
    return True


def _sk_ecdsa(key: Parts, signature: SshSignature, data: bytes) -> bool:
    curve, point, application = key.text(), key.text(), key.text()
    is_of_kind = signature.form == b"sk-ecdsa-sha2-nistp256@openssh.com" and curve == b"nistp256"
    if not is_of_kind or not signature.is_touched:
        return False
    return _on_curve(curve, point, signature.value, _of_hardware(application, signature, data))


def _on_curve(curve: bytes, point: bytes, value: bytes, data: bytes) -> bool:
    if curve not in _CURVES:
        return False
    made_on, algorithm = _CURVES[curve]
    numbers = Parts(value)
    der = encode_dss_signature(numbers.number(), numbers.number())
    ec.EllipticCurvePublicKey.from_encoded_point(made_on(), point).verify(der, data, ec.ECDSA(algorithm()))
    return True


def _of_hardware(application: bytes, signature: SshSignature, data: bytes) -> bytes:
    """What a hardware key signs in place of the data (`PROTOCOL.u2f` of OpenSSH)."""
    return hashlib.sha256(application).digest() + signature.rest + hashlib.sha256(data).digest()


_CHECKS: Mapping[bytes, Callable[[Parts, SshSignature, bytes], bool]] = {
    b"ssh-ed25519": _ed25519,
    b"ssh-rsa": _rsa,
    b"ecdsa-sha2-nistp256": _ecdsa,
    b"ecdsa-sha2-nistp384": _ecdsa,
    b"ecdsa-sha2-nistp521": _ecdsa,
    b"sk-ssh-ed25519@openssh.com": _sk_ed25519,
    b"sk-ecdsa-sha2-nistp256@openssh.com": _sk_ecdsa,
}
