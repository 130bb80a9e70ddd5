"""The stress of `python -m tests.hook` on a small scale, and that it would notice what it looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hook.stress import Findings, Plan, _compare, run


@pytest.mark.slow
def test_each_verdict_reaches_its_own_request_and_none_stays_open(tmp_path: Path) -> None:
    findings = run(tmp_path, Plan(requests=24, processes=4, killed=0.25, consoles_killed=2))
    assert findings.is_good, findings.text()
    assert findings.allowed + findings.refused + findings.killed == 24
    assert findings.killed > findings.waited > 0


def test_a_verdict_at_the_wrong_request_is_noticed() -> None:
    findings = Findings()
    _compare(1, b'{"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no 3"}}}', b"", False, findings)
    _compare(2, b"", b"LOCK_TIMEOUT", False, findings)
    _compare(3, b"", b"", True, findings)
    assert (len(findings.wrong), findings.lost, findings.killed) == (1, ["run 2 LOCK_TIMEOUT"], 1)
