"""Write phrases of ours into messages in the team's language, and fill templates of answers that cannot wait."""

from __future__ import annotations

from collections.abc import Mapping

from team_console.store.model.errors import Code, TeamError

TEMPLATES = ("acknowledge", "delayed")
"""What an answer may say before the work is done (seed 001 section 4.2)."""

_CHINESE: Mapping[str, str] = {
    "{}: {}": "{}：{}",
    "{} {}: {}": "{}{}：{}",
    "Re": "回复",
    "Plan": "计划",
    "Shutdown": "退出请求",
    "Permission": "权限请求",
    "Question": "问题",
    "Escalation": "上报的问题",
    "Clarification": "澄清请求",
    "approved": "已批准",
    "rejected": "被拒绝",
    "agreed to": "已同意",
    "refused": "被拒绝",
    "answered": "已回答",
    "not answered": "未回答",
    "Approved.": "已批准。",
    "Rejected.": "已拒绝。",
    "Suggestion": "建议",
    "Needs no answer any more": "无需再回答",
    "Asked back about {}": "关于 {} 的追问",
    "Answer to what you asked back": "对追问的回答",
    "Remarks on lines of your text:": "对你文本各行的意见：",
    "Line {} «{}»: {}": "第 {} 行 «{}»：{}",
    "The creation of {} was refused": "创建 {} 的请求被拒绝",
    "The end of {} was refused": "结束 {} 的请求被拒绝",
    "Your work is done; {} asked for your end.": "你的工作已完成，{} 请求你退出。",
    "Your work is done, as you reported.": "如你所报告，你的工作已完成。",
    "Course correction": "调整方向",
    "Roster": "成员名单",
    "{} is ready": "{} 已就绪",
    "who is in the team now": "当前成员",
    "{} is in the team now": "{} 已加入团队",
    "{} left the team": "{} 已离开团队",
    "{} has left the team": "{} 已离开团队",
}


def phrase(language: str, english: str, *values: object) -> str:
    """Write a phrase of ours in the team's language: Chinese for `zh`, else as it is; `{}` take the values."""
    return (_CHINESE.get(english, english) if language == "zh" else english).format(*values)


def fill_template(name: str, *, language: str, reason: str | None, expected: str | None) -> tuple[str, str]:
    """Return summary and content of a template in the team's language.

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
