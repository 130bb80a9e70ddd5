"""Read a public key in the form of OpenSSH: one line of kind, base64 and comment, as in `~/.ssh/id_ed25519.pub`."""

from __future__ import annotations

import base64

KEY_KINDS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-rsa",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)
"""Kinds of keys whose signatures are understood."""


def key_bytes(line: str) -> bytes:
    """Return the key in a line, as its signatures name it.

    Raises:
        ValueError: What is wrong with the line.
    """
    kind, _, rest = line.strip().partition(" ")
    if kind.startswith("-----") or "PRIVATE KEY" in line:
        raise ValueError("is a private key, which belongs into no settings")
    if kind not in KEY_KINDS:
        raise ValueError(f"{kind[:40]!r} is none of {', '.join(KEY_KINDS)}")
    try:
        data = base64.b64decode(rest.split(" ")[0], validate=True)
    except ValueError:
        data = b""
    name = kind.encode()
    if not data.startswith(len(name).to_bytes(4, "big") + name) or len(data) < len(name) + 36:
        raise ValueError("its base64 is cut or changed")
    return data
