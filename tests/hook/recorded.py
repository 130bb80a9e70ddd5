"""Sessions of the real clients that were recorded when they asked, and what must be read of each, to the word.

`python -m tests.proofs.clients.record` plays them anew and writes `transcripts/NAME.jsonl`: the transcript as it was at
the moment of the hook, without what the vendor's instructions and the machine put into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.clients.turns import Call, Say, Turn

TRANSCRIPTS = Path(__file__).parent / "transcripts"
ASKED = "mkfifo made"
Seen = tuple[str, str, str]
"""Tool, subject and state of a call, as it is read."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A session.

    Attributes:
        prompts: What the user says; each begins the model's next turns, but the last turn asks.
        turns: What the model does, prompt after prompt.
        user, agent, calls: What must be read.
        is_subagent: Whether a subagent asks.
    """

    prompts: Sequence[str]
    turns: Sequence[Turn]
    user: str
    agent: str
    calls: Sequence[Seen] = ()
    is_subagent: bool = False


def bash(command: str, **more: object) -> Call:
    """A command of Claude Code."""
    return Call("Bash", {"command": command, "description": "what the test wants", **more})


def shell(command: str, **more: object) -> Call:
    """A command of Codex."""
    return Call("exec_command", {"cmd": command, **more})


MAKE = "Make the loader ready"
LONG = "seq 1 20000"
CLAUDE: dict[str, Recording] = {
    "claude-at-once": Recording([MAKE], [(bash(ASKED),)], MAKE, ""),
    "claude-words": Recording([MAKE], [(Say("Now the pipe."), bash(ASKED))], MAKE, "Now the pipe."),
    "claude-two-texts": Recording(
        [MAKE], [(Say("One."), Say("Two:\n\n- 加载器\n- done"), bash(ASKED))], MAKE, "One.\n\nTwo:\n\n- 加载器\n- done"
    ),
    "claude-failed": Recording(
        [MAKE],
        [(Say("I look."), bash("cat no-such-file")), (bash(ASKED),)],
        MAKE,
        "I look.",
        [("Bash", "cat no-such-file", "exit 1")],
    ),
    "claude-status": Recording(
        [MAKE],
        [(bash("echo exit code 7; exit 3"),), (bash(ASKED),)],
        MAKE,
        "",
        [("Bash", "echo exit code 7; exit 3", "exit 3")],
    ),
    "claude-read": Recording(
        [MAKE],
        [(Call("Read", {"file_path": "/etc/hostname"}),), (Call("Read", {"file_path": "/no/such"}),), (bash(ASKED),)],
        MAKE,
        "",
        [("Read", "/etc/hostname", "ok"), ("Read", "/no/such", "failed")],
    ),
    "claude-beside": Recording(
        [MAKE], [(Say("All of it."), bash("ls"), bash(ASKED))], MAKE, "All of it.", [("Bash", "ls", "ok")]
    ),
    "claude-again": Recording(
        [MAKE], [(bash(f"ls {ASKED}"),), (bash(ASKED),)], MAKE, "", [("Bash", f"ls {ASKED}", "exit 2")]
    ),
    "claude-last-five": Recording(
        [MAKE],
        [*((bash(f"echo {n}"),) for n in range(8)), (bash(ASKED),)],
        MAKE,
        "",
        [("Bash", f"echo {n}", "ok") for n in range(3, 8)],
    ),
    "claude-second-prompt": Recording(
        ["Look around", "Now make it"], [(Say("I looked."),), (bash(ASKED),)], "Now make it", "I looked."
    ),
    "claude-lines": Recording(
        ["Two lines:\nmake it\n\n  ready"], [(bash(ASKED),)], "Two lines:\nmake it\n\n  ready", ""
    ),
    "claude-chinese": Recording(
        ["把加载器准备好"],
        [(Say("先看一下。"), bash("ls")), (bash(ASKED),)],
        "把加载器准备好",
        "先看一下。",
        [("Bash", "ls", "ok")],
    ),
    "claude-markup": Recording(
        ["<div> is broken, see </system-reminder>"], [(bash(ASKED),)], "<div> is broken, see </system-reminder>", ""
    ),
    "claude-command": Recording(["/review the loader"], [(bash(ASKED),)], "/review the loader", ""),
    "claude-write": Recording(
        [MAKE],
        [(Call("Write", {"file_path": "made.txt", "content": "x"}),), (bash(ASKED),)],
        MAKE,
        "",
        [("Write", "made.txt", "ok")],
    ),
    "claude-long": Recording([MAKE], [(bash(LONG),), (bash(ASKED),)], MAKE, "", [("Bash", LONG, "ok")]),
    "claude-subagent": Recording(
        [MAKE],
        [
            (
                Say("I let one do it."),
                Call(
                    "Agent",
                    {"description": "make it", "prompt": "SUB: make the pipe", "subagent_type": "general-purpose"},
                ),
            ),
            (Say("I leave it."),),
        ],
        "SUB: make the pipe",
        "I make it.",
        is_subagent=True,
    ),
}
SUBAGENT: Sequence[Turn] = [(Say("I make it."), bash(ASKED)), (Say("It is made."),)]
"""What the model does in a conversation that begins with `SUB`."""
CODEX: dict[str, Recording] = {
    "codex-at-once": Recording([MAKE], [(shell(ASKED),)], MAKE, ""),
    "codex-words": Recording([MAKE], [(Say("Now the pipe."), shell(ASKED))], MAKE, "Now the pipe."),
    "codex-chinese": Recording(["把加载器准备好"], [(Say("先看一下。"), shell(ASKED))], "把加载器准备好", "先看一下。"),
    "codex-failed": Recording(
        [MAKE],
        [(Say("I look."), shell("cat no-such-file")), (shell(ASKED),)],
        MAKE,
        "I look.",
        [("exec_command", "cat no-such-file", "exit 1")],
    ),
    "codex-status": Recording(
        [MAKE],
        [(shell("echo exit code 7; exit 3"),), (shell(ASKED),)],
        MAKE,
        "",
        [("exec_command", "echo exit code 7; exit 3", "exit 3")],
    ),
    "codex-again": Recording(
        [MAKE], [(shell(f"ls {ASKED}"),), (shell(ASKED),)], MAKE, "", [("exec_command", f"ls {ASKED}", "exit 2")]
    ),
    "codex-last-five": Recording(
        [MAKE],
        [*((shell(f"echo {n}"),) for n in range(8)), (shell(ASKED),)],
        MAKE,
        "",
        [("exec_command", f"echo {n}", "exit 0") for n in range(3, 8)],
    ),
    "codex-two-texts": Recording(
        [MAKE],
        [(Say("I look."), shell("ls")), (Say("Two:\n\n- done"), shell(ASKED))],
        MAKE,
        "Two:\n\n- done",
        [("exec_command", "ls", "exit 0")],
    ),
    "codex-lines": Recording(
        ["Two lines:\nmake it\n\n  ready"], [(shell(ASKED),)], "Two lines:\nmake it\n\n  ready", ""
    ),
    "codex-second-prompt": Recording(
        ["Look around", "Now make it"], [(Say("I looked."),), (shell(ASKED),)], "Now make it", "I looked."
    ),
    "codex-markup": Recording(["<div> is broken"], [(shell(ASKED),)], "<div> is broken", ""),
    "codex-long": Recording([MAKE], [(shell(LONG),), (shell(ASKED),)], MAKE, "", [("exec_command", LONG, "exit 0")]),
    "codex-plan": Recording(
        [MAKE],
        [
            (Call("update_plan", {"plan": [{"step": "make it", "status": "in_progress"}]}),),
            (shell(ASKED),),
        ],
        MAKE,
        "",
        [("update_plan", "", "ok")],
    ),
}
