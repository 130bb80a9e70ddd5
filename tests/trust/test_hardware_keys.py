"""Keys on hardware (`sk-`): their lines are taken, and what they sign counts only when somebody touched them.

There is no device here. A key made in software signs what a device would, as `PROTOCOL.u2f` of OpenSSH says, and the
stock `ssh-keygen -Y verify`, which needs no device either, is asked for its opinion.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import pytest
from team_console.store.protocol import verdicts
from team_console.store.protocol.ssh_keygen import verify
from team_console.store.protocol.verdicts import NAMESPACE, signature_trouble

from tests.equipment.command_line import needs
from tests.equipment.signing_keys import packed, signature_by

cryptography = pytest.importorskip("cryptography")

from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature  # noqa: E402
from cryptography.hazmat.primitives.hashes import SHA256  # noqa: E402

TEXT = '{"verdict":"approve"}'
TOUCHED, VERIFIED = 1, 4
UNTOUCHED = "nobody touched the hardware key that signed it"
DOES_NOT_FIT = "its signature does not fit what it says"


class Token:
    """A device in software.

    Attributes:
        kind: As the SSH protocol names its key.
        key: The public key in the form of the SSH protocol.
    """

    def __init__(self, kind: str, sign: Callable[[bytes], bytes], public: bytes, application: bytes = b"ssh:") -> None:
        self.kind, self._sign, self._application = kind, sign, application
        self.key = packed(kind.encode()) + public + packed(application)

    @property
    def line(self) -> str:
        """The line of its `.pub` file."""
        return f"{self.kind} {base64.b64encode(self.key).decode()} ceo@token"

    def sign(
        self,
        text: str,
        *,
        flags: int = TOUCHED,
        counter: int = 7,
        application: bytes | None = None,
        says: int | None = None,
    ) -> str:
        """The armoured signature of a text.

        Args:
            says: The flags that the signature names, where they are not those that were signed.
        """
        of_application, end = hashlib.sha256(application or self._application).digest(), counter.to_bytes(4, "big")

        def sign(data: bytes) -> bytes:
            return self._sign(of_application + bytes([flags]) + end + hashlib.sha256(data).digest())

        return signature_by(self.key, self.kind.encode(), text, sign, bytes([flags if says is None else says]) + end)


def _number(value: int) -> bytes:
    return packed(value.to_bytes(value.bit_length() // 8 + 1, "big"))


def ed25519() -> Token:
    """`ssh-keygen -t ed25519-sk`."""
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"a key of the tests").digest())
    public = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return Token("sk-ssh-ed25519@openssh.com", private.sign, packed(public))


def ecdsa() -> Token:
    """`ssh-keygen -t ecdsa-sk`."""
    private = ec.derive_private_key(int.from_bytes(hashlib.sha256(b"another").digest(), "big") >> 1, ec.SECP256R1())
    form = serialization.PublicFormat.UncompressedPoint
    public = packed(b"nistp256") + packed(private.public_key().public_bytes(serialization.Encoding.X962, form))

    def sign(data: bytes) -> bytes:
        first, second = decode_dss_signature(private.sign(data, ec.ECDSA(SHA256())))
        return _number(first) + _number(second)

    return Token("sk-ecdsa-sha2-nistp256@openssh.com", sign, public)


@pytest.fixture(params=[ed25519, ecdsa], ids=["ed25519-sk", "ecdsa-sk"])
def token(request: pytest.FixtureRequest) -> Token:
    made: Token = request.param()
    return made


def test_a_touched_key_signs_and_stock_ssh_keygen_agrees(token: Token) -> None:
    needs("ssh-keygen")
    for signature in (token.sign(TEXT), token.sign(TEXT, flags=TOUCHED | VERIFIED, counter=2**32 - 1)):
        assert signature_trouble(TEXT, signature, [token.line]) == ""
        assert verify(TEXT, signature, token.key, NAMESPACE) is True
        assert signature_trouble(TEXT + " ", signature, [token.line]) == DOES_NOT_FIT
        assert verify(TEXT + " ", signature, token.key, NAMESPACE) is False


@pytest.mark.parametrize("flags", [0, VERIFIED])
def test_a_key_that_nobody_touched_signs_nothing(token: Token, flags: int) -> None:
    assert signature_trouble(TEXT, token.sign(TEXT, flags=flags), [token.line]) == UNTOUCHED


def test_without_the_library_an_untouched_key_signs_nothing_either(
    token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("ssh-keygen")
    monkeypatch.setitem(__import__("sys").modules, "team_console.store.protocol.key_arithmetic", None)
    monkeypatch.setattr(verdicts, "_verified", {})
    assert signature_trouble(TEXT, token.sign(TEXT), [token.line]) == ""
    assert signature_trouble(TEXT, token.sign(TEXT, flags=VERIFIED), [token.line]) == UNTOUCHED


def test_kind_flags_counter_and_application_are_signed_with_it(token: Token) -> None:
    needs("ssh-keygen")
    turned = token.sign(TEXT, flags=VERIFIED, says=TOUCHED)
    other = token.sign(TEXT, application=b"https://example.org")
    for signature in (turned, other):
        assert signature_trouble(TEXT, signature, [token.line]) == DOES_NOT_FIT
        assert verify(TEXT, signature, token.key, NAMESPACE) is False
