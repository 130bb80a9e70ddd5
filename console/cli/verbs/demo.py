"""`demo`: a simulated team that really acts, and the console on it."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.bare import need_screen
from team_console.console.cli.call import Call
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line


def add_arguments(parser: ArgumentParser) -> None:
    """Declare how the demo runs."""
    parser.description = (
        "Start a simulated team in a temporary folder and open the console on it. The agents are real processes on a\n"
        "real queue: approve a plan, reject one with a reason, write to somebody, ask somebody to stop, and watch\n"
        "what they do. Everything is gone when you leave."
    )
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="2 is twice as fast (default: 1)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="same seed, same words (default: 42)")
    parser.add_argument("--keep", action="store_true", help="leave the folder behind")
    parser.add_argument(
        "--headless", type=float, metavar="SECONDS", help="no console: print the folder, play this long, leave"
    )


def run(call: Call) -> int:
    """Play until the console is left or the time is up."""
    options = call.options
    if options.team:
        raise TeamError(Code.USAGE, "the demo makes its own team", "Leave -t out; --keep keeps the demo's folder.")
    if not 0 < options.speed <= 1000:
        raise TeamError(Code.USAGE, f"--speed {options.speed} is not a speed", "For example --speed 2.")
    if options.headless is not None and not 0 < options.headless <= 86_400:
        raise TeamError(Code.USAGE, f"--headless {options.headless} is not a number of seconds", "For example 30.")
    if options.headless is None:
        need_screen("The demo plays without a console by --headless SECONDS.")
    from team_console.console.demo.simulation import Simulation, simulation, wait

    with simulation(Simulation(seed=options.seed, speed=options.speed, keep=options.keep)) as folder:
        if options.headless is not None:
            _announce(call, str(folder))
            wait(options.headless)
            return 0
        status = _open_console(call, str(folder))
    if options.keep:
        call.out.note(f"the team is kept in {safe_line(folder)}")
    return status


def _announce(call: Call, folder: str) -> None:
    if call.out.as_json:
        call.out.json({"success": True, "action": "demo", "location": folder})
    else:
        call.out.say(safe_line(folder))
    call.out.flush()


def _open_console(call: Call, folder: str) -> int:
    from team_console.console.app.application import run_console
    from team_console.store.backends.open import open_team

    team = open_team(folder, read_only=call.options.read_only)
    try:
        read_only = call.options.read_only
        return run_console(team, me=call.given_actor, read_only=read_only, tips=not read_only)
    finally:
        team.close()
