"""Text that looks like a secret is warned about, and the warning never repeats it."""

from __future__ import annotations

import pytest
from team_console.store.protocol.free_text import secret_warnings

from tests.equipment.cases import cases

TAIL = "Qz7" * 14


@pytest.mark.parametrize(
    "secret",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "AKIA" + "ABCDEFGH12345678",
        "ghp_" + TAIL[:36],
        "github_pat_" + TAIL,
        "sk-" + TAIL,
        "sk-ant-" + TAIL,
        "xoxb-" + "123456789012-abcdef",
        "AIza" + TAIL[:35],
        "eyJ" + TAIL[:12] + ".eyJ" + TAIL[:12] + "." + TAIL[:12],
        "Authorization: Bearer " + TAIL,
        "postgresql://admin:S3cr3tPass@db.example.org/team",
        "password = hunter22",
        'DB_PASSWORD="correct horse"',
        "api_key: a8f5f167f44f4964e6c998dee827110c",
        "SECRET_KEY=9f86d081884c7d659a2f",
        "密码：abc12345",
    ],
)
def test_a_secret_is_warned_about_with_its_line_and_not_repeated(secret: str) -> None:
    warnings = secret_warnings(f"first line\nhere it is: {secret}\n")
    assert warnings
    assert all("line 2" in warning for warning in warnings)
    assert not any(secret[-6:] in warning for warning in warnings)


@cases
def test_ordinary_text_is_not_warned_about(text: str) -> None:
    assert secret_warnings(text) == []
