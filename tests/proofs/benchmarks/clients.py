"""What a run of a real client takes when it has joined, beside the same run without us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import perf_counter

from tests.proofs.benchmarks.measure import Figure, Run, take_turns
from tests.proofs.clients import network, packages
from tests.proofs.clients.kinds import join_claude
from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.scenario import Scenario
from tests.proofs.clients.sessions import Claude
from tests.proofs.clients.turns import Call, Say, Step

_CALLS = 7
_ENDS = "That is all."
_TURNS: list[Step] = [(Call("Bash", {"command": f"touch made-{number}"}),) for number in range(_CALLS)]


def clients(run: Run) -> Iterator[Figure]:
    """The row; none where Claude Code is not installed, or a run of it could leave the machine."""
    if packages.claude() is None or not network.is_own():
        return
    with ExitStack() as ending:

        def runs(name: str) -> Callable[[], float]:
            folder = run.folder / name
            folder.mkdir()
            model = ending.enter_context(ScriptedModel({"": [*_TURNS, (Say(_ENDS),)]}))
            scenario = ending.enter_context(Scenario(folder, model))
            claude = Claude(scenario.place)
            if name == "joined":
                join_claude(scenario, ask_for="team")
            return lambda: _seconds(claude)

        took = take_turns({name: runs(name) for name in ("alone", "joined")}, run.rounds(12))
    what = f"a headless run of {_CALLS} tool calls, joined against not joined, with nobody at a console"
    beside = f"{took['alone']:.1f} s without us, Claude Code {packages.CLAUDE_VERSION}"
    yield Figure(what, took["joined"] / took["alone"], 1.8, "x", beside)


def _seconds(claude: Claude) -> float:
    start = perf_counter()
    done = claude.run("Do it")
    seconds = perf_counter() - start
    if done.stdout.strip() != _ENDS:
        raise RuntimeError(f"Claude Code ended otherwise: {done}")
    return seconds
