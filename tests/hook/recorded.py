"""Sessions of the real clients that were recorded when they asked, and what must be read of each, to the word.

`python -m tests.proofs.clients.record` plays them anew and writes `transcripts/NAME.jsonl`: the transcript as it was at
the moment of the hook, without what the vendor's instructions and the machine put into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def bash(command: str) -> Call:
    """A command of Claude Code."""
    return Call("Bash", {"command": command, "description": "what the test wants"})


def shell(command: str) -> Call:
    """A command of Codex."""
    return Call("exec_command", {"cmd": command})


MAKE = "Make the loader ready"
LONG = "seq 1 20000"


def _of_both(client: str, run: Callable[[str], Call], ok: str) -> dict[str, Recording]:
    """What is played with either client: how it runs a command, and how a command that went well is read."""
    ask, tool, echoes = (run(ASKED),), run("").tool, [f"echo {n}" for n in range(8)]
    failing, exiting, again = "cat no-such-file", "echo exit code 7; exit 3", f"ls {ASKED}"
    lines = "Two lines:\nmake it\n\n  ready"
    told = {
        "at-once": Recording([MAKE], [ask], MAKE, ""),
        "words": Recording([MAKE], [(Say("Now the pipe."), *ask)], MAKE, "Now the pipe."),
        "failed": Recording(
            [MAKE], [(Say("I look."), run(failing)), ask], MAKE, "I look.", [(tool, failing, "exit 1")]
        ),
        "status": Recording([MAKE], [(run(exiting),), ask], MAKE, "", [(tool, exiting, "exit 3")]),
        "again": Recording([MAKE], [(run(again),), ask], MAKE, "", [(tool, again, "exit 2")]),
        "last-five": Recording(
            [MAKE], [*((run(echo),) for echo in echoes), ask], MAKE, "", [(tool, echo, ok) for echo in echoes[3:]]
        ),
        "second-prompt": Recording(
            ["Look around", "Now make it"], [(Say("I looked."),), ask], "Now make it", "I looked."
        ),
        "lines": Recording([lines], [ask], lines, ""),
        "long": Recording([MAKE], [(run(LONG),), ask], MAKE, "", [(tool, LONG, ok)]),
    }
    return {f"{client}-{name}": recording for name, recording in told.items()}


CLAUDE: dict[str, Recording] = {
    **_of_both("claude", bash, "ok"),
    "claude-two-texts": Recording(
        [MAKE], [(Say("One."), Say("Two:\n\n- 加载器\n- done"), bash(ASKED))], MAKE, "One.\n\nTwo:\n\n- 加载器\n- done"
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
    **_of_both("codex", shell, "exit 0"),
    "codex-chinese": Recording(["把加载器准备好"], [(Say("先看一下。"), shell(ASKED))], "把加载器准备好", "先看一下。"),
    "codex-two-texts": Recording(
        [MAKE],
        [(Say("I look."), shell("ls")), (Say("Two:\n\n- done"), shell(ASKED))],
        MAKE,
        "Two:\n\n- done",
        [("exec_command", "ls", "exit 0")],
    ),
    "codex-markup": Recording(["<div> is broken"], [(shell(ASKED),)], "<div> is broken", ""),
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
