"""`plan`, `approve`, `reject`, `shutdown`: asking, answering, and being told what was decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.equipment.command_line import CommandLine


def inbox(team: CommandLine, agent: str) -> list[dict[str, Any]]:
    """What waits for `agent`, without touching it."""
    return list(team.ok("receive", "--agent", agent, "--peek", "--json").json["messages"])


def answer_next(team: CommandLine, agent: str, *verdict: str) -> None:
    """Be `agent`: wait for the request to stop and answer it."""
    waiting = team.ok("receive", "--agent", agent, "--type", "shutdown_request", "--wait", "25", "--json").json
    request_id = waiting["messages"][0]["payload"]["request_id"]
    team.ok(verdict[0], request_id, "--as", agent, *verdict[1:])


def test_shutting_everybody_down_goes_one_after_the_other_and_waits(team: CommandLine) -> None:
    order = ["task-manager", "schedule-manager", "file-manager", "knowledge-manager"]
    with team.running("shutdown", "--all", "--timeout", "25") as asking:
        for number, agent in enumerate(order):
            assert all(inbox(team, later) == [] for later in order[number + 1 :])
            verdict = ("reject", "--reason", "3 tasks are running") if agent == "file-manager" else ("approve",)
            answer_next(team, agent, *verdict)
        out, err = asking.communicate(timeout=60)
    lines = out.decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == [agent for agent in order for _ in range(2)]
    assert "file-manager: refused: 3 tasks are running" in lines
    assert "task-manager: agreed to stop" in lines
    assert err.decode().strip() == "3 of 4 agreed to stop"
    assert asking.returncode == 1


def test_words_of_ours_in_messages_are_in_the_language_of_the_team(make_team: Callable[..., CommandLine]) -> None:
    team = make_team("dev:resident", "slave-1:slave")
    settings = team.folder / "messenger-config.yaml"
    settings.write_text(settings.read_text("utf-8").replace("language: any", "language: zh"), "utf-8")
    for words in (("approve",), ("reject", "--reason", "缺少错误处理", "--suggest", "先写测试")):
        verb, *more = words
        plan = team.ok("plan", "--as", "dev", "--content", "重构报表生成器").out.strip()
        team.ok(verb, plan, *more)
    asked = team.ok("ask", "--as", "dev", "用哪种格式？", "--option", "CSV").out.strip()
    team.ok("answer", asked, "--option", "CSV")
    team.ok("withdraw", "--as", "dev", team.ok("ask", "--as", "dev", "可以吗？").out.strip(), "--reason", "已解决")
    wanted = {"agent_type": "writer", "role_hint": "写作", "requested_by": "slave-1"}
    for verb, *more in (("reject", "--reason", "不需要"), ("approve",)):
        request = ("--to", "ceo", "--type", "AGENT_CREATE_REQUEST", "--payload", json.dumps(wanted))
        team.ok(verb, team.ok("send", "--as", "slave-1", *request, "--json").json["message_id"], *more)
    stop = team.ok("shutdown", "slave-1", "--json").json["request_id"]
    team.ok("--as", "slave-1", "reject", stop, "--reason", "还有任务")
    log = "\n".join(line.split(": ", 1)[1] for line in team.ok("history").out.splitlines())
    for summary in (
        "计划已批准：重构报表生成器",
        "计划被拒绝：缺少错误处理",
        "问题已回答：CSV",
        "无需再回答：已解决",
        "创建 writer 的请求被拒绝",
        "AGENT_CREATED: writer-1 已就绪",
        "成员名单：writer-1 已加入团队",
        "退出请求被拒绝：还有任务",
    ):
        assert f'"{summary}"' in log
    rejected = next(item for item in inbox(team, "dev") if item["payload"].get("approve") is False)
    assert rejected["payload"]["content"] == "缺少错误处理\n\n建议：先写测试"
