"""Read and write SSH signatures in their own format (`PROTOCOL.sshsig` of OpenSSH)."""

from __future__ import annotations

import base64
import hashlib

from msgspec import Struct

_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
"""How a signature, and the bytes that are signed, begin."""
_VERSION_1 = b"\0\0\0\1"
_LARGEST = 16_384
"""Characters of the longest armoured signature that is read."""
_COLUMNS = 70
"""Characters in a line of base64, as OpenSSH writes it."""
_FLAGS_AND_COUNTER = 5
"""Bytes that a hardware key adds: one of flags, four of its counter."""
_TOUCHED = 1
"""The flag of a hardware key that says that somebody was there."""
_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


class SshSignature(Struct, frozen=True):
    """A signature, its parts unchecked.

    Attributes:
        key: The public key that it names.
        hash: `sha256` or `sha512`, by which the text was shortened before it was signed.
        form: How it was made, such as `ssh-ed25519` or `rsa-sha2-512`.
        value: What the key made of the bytes that are signed.
        rest: What a hardware key adds: its flags and its counter.
    """

    key: bytes
    namespace: bytes
    hash: bytes
    form: bytes
    value: bytes
    rest: bytes

    @property
    def is_of_hardware(self) -> bool:
        """Whether a hardware key made it, by its own word."""
        return self.form.startswith(b"sk-")

    @property
    def is_touched(self) -> bool:
        """Whether a hardware key says that somebody was there and touched it (`PROTOCOL.u2f`)."""
        # guard: hardware-key-touched
        return len(self.rest) == _FLAGS_AND_COUNTER and bool(self.rest[0] & _TOUCHED)

    def signed(self, text: bytes) -> bytes:
        """Return the bytes that are signed when `text` is."""
        digest = _HASHES[self.hash](text).digest()
        parts = (self.namespace, b"", self.hash, digest)
        return _MAGIC + b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def read_signature(armoured: str) -> SshSignature:
    """Return the parts of an armoured signature.

    Raises:
        ValueError: What stands there is none.
    """
    is_armoured = armoured.partition("\n")[0].strip() == _BEGIN and armoured.rstrip().endswith(_END)
    if len(armoured) > _LARGEST or not is_armoured:
        raise ValueError("it is no SSH signature")
    try:
        parts = WireReader(base64.b64decode(_base64_in(armoured), validate=True))
    except ValueError as error:
        raise ValueError("it is no SSH signature: its base64 is broken") from error
    if parts.take(len(_MAGIC + _VERSION_1)) != _MAGIC + _VERSION_1:
        raise ValueError("it is no SSH signature of version 1")
    key, namespace, _reserved, hash_name, signature = (parts.string() for _ in range(5))
    if hash_name not in _HASHES or parts.rest:
        raise ValueError("it is no SSH signature that can be checked")
    inner = WireReader(signature)
    return SshSignature(key, namespace, hash_name, inner.string(), inner.string(), inner.rest)


def clean_armour(signature: object) -> str:
    """Return a signature as OpenSSH writes it, with nothing else in it; empty for other bytes."""
    if not isinstance(signature, str):
        return ""
    try:
        read_signature(signature)
    except ValueError:
        return ""
    body = _base64_in(signature)
    lines = [body[start : start + _COLUMNS] for start in range(0, len(body), _COLUMNS)]
    return "\n".join([_BEGIN, *lines, _END, ""])


def _base64_in(armoured: str) -> str:
    """Return what stands between the armour's first line and its last, without blanks."""
    return "".join(armoured.strip().removeprefix(_BEGIN).removesuffix(_END).split())


class WireReader(Struct):
    """Takes one value after the other from bytes in the wire format of SSH (RFC 4251).

    Attributes:
        rest: The bytes that are not taken yet.
    """

    rest: bytes

    def take(self, count: int) -> bytes:
        """Take so many bytes.

        Raises:
            ValueError: There are fewer.
        """
        if len(self.rest) < count:
            raise ValueError("it is cut short")
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def string(self) -> bytes:
        """Take a string, which has its length before it; in SSH these are bytes.

        Raises:
            ValueError: It is cut short.
        """
        return self.take(int.from_bytes(self.take(4), "big"))

    def mpint(self) -> int:
        """Take a whole number.

        Raises:
            ValueError: It is cut short.
        """
        return int.from_bytes(self.string(), "big")
