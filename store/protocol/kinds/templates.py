"""Templates of an answer that cannot wait: acknowledged, or delayed with reason and expected time (requirement 91)."""

from __future__ import annotations

from team_console.store.model.errors import Code, TeamError

TEMPLATES = ("acknowledge", "delayed")
"""What an answer may say before the work is done (seed 001 section 4.2)."""


def filled(name: str, *, language: str, reason: str | None = None, expected: str | None = None) -> tuple[str, str]:
    """Summary and content of a template in the team's language.

    Args:
        language: `zh` for Chinese, anything else for English.
        reason: Why the work cannot begin at once; `delayed` needs it.
        expected: When it will, such as `in 10 minutes`; `delayed` needs it.

    Raises:
        TeamError: `INVALID_FIELD` for an unknown template, `MISSING_REASON` for a delay without reason or time.
    """
    chinese = language == "zh"
    if name == "acknowledge":
        if chinese:
            return "确认收到指令", "已收到指令，正在处理中"
        return "Received, the work on it has begun", "I have your message and work on it now."
    if name != "delayed":
        raise TeamError(Code.INVALID_FIELD, f"template: there is no {name:.40}", f"Use {' or '.join(TEMPLATES)}.")
    if not (reason and reason.strip() and expected and expected.strip()):
        text = "a delay needs its reason and the expected time"
        raise TeamError(Code.MISSING_REASON, text, "Give both: --reason R --expected WHEN.")
    if chinese:
        return "延迟处理通知", f"{reason}，预计{expected}开始处理新指令"
    return "Received, the work begins later", f"I cannot begin at once: {reason}. Expected: {expected}."
