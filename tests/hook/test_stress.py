"""The judge of `python -m tests.proofs hooks` notices what it looks for."""

from __future__ import annotations

from tests.hook.stress import Findings, _compare


def test_a_verdict_at_the_wrong_request_is_noticed() -> None:
    findings = Findings()
    _compare(1, b'{"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no 3"}}}', b"", False, findings)
    _compare(2, b"", b"LOCK_TIMEOUT", False, findings)
    _compare(3, b"", b"", True, findings)
    assert (len(findings.wrong), findings.lost, findings.killed) == (1, ["run 2 LOCK_TIMEOUT"], 1)
