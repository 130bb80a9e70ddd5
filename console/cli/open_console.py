"""Opens the console: on a team that is found or picked, on a simulated one (`demo`), or in a browser (`serve`)."""

from __future__ import annotations

import gc
import os
import sys
import time

from team_console.console.cli.arguments import DAY, arg, flag, seconds, verb
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.streams import is_terminal
from team_console.console.selection import is_page
from team_console.console.tui.reader import StoreReader
from team_console.store.backends.locations import absolute
from team_console.store.backends.open import find_teams, nearest_team, other_teams
from team_console.store.model.errors import Code, TeamError


def open_console(call: Call) -> int:
    """Run the console until it is left.

    Raises:
        TeamError: `USAGE` without a screen, `TEAM_NOT_FOUND` when the team that is named is none.
    """
    _need_screen("In a script use a verb, such as team-console status; team-console --help lists them.")
    try:
        call.team.config()
    except TeamError as error:
        if error.code is not Code.TEAM_NOT_FOUND or call.options.team:
            raise
        call.options.team = _choose_team(error)
        if call.options.team is None:
            return 0

    reader = StoreReader(call.team, call.actor)
    gc.disable()  # what a start loads stays, and looking through it takes 40 ms before the first picture
    reader.begin()
    from team_console.console.tui.app import run_console  # 300 ms: Textual, while the reader reads

    gc.freeze()
    gc.enable()
    return run_console(call.team, me=call.given_actor, read_only=call.options.read_only, reader=reader)


def _need_screen(instead: str) -> None:
    """See that there is a terminal with a screen; `instead` says what can be done without.

    Raises:
        TeamError: `USAGE` without one. A dumb terminal shows every sequence that places the cursor as text.
    """
    if is_page():
        return
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError("the console needs a terminal", instead)
    if os.environ.get("TERM") == "dumb":
        raise UsageError(
            "the console needs a terminal that can place its cursor, and this one says it cannot (TERM=dumb)",
            f"If it can, set TERM to what it is, such as xterm-256color. {instead}",
        )


def _choose_team(nothing_found: TeamError) -> str | None:
    """Let the human choose among the teams below the current folder and those of other programs; where there is none,
    say how the first one is made, and wait for it. Returns its location; None when they leave.

    Raises:
        TeamError: `nothing_found`, when there is none and the environment names one, and in a browser, whose address
            was given away for one team.
    """
    # guard: page-offers-no-team
    if is_page():
        raise nothing_found
    here = absolute(".")
    locations = [*find_teams(here), *(seen.location for seen in other_teams(here))]
    if not locations and os.environ.get("TEAM_CONSOLE_TEAM"):
        raise nothing_found
    from team_console.console.tui.list_screens import pick_team, wait_for_team  # 300 ms: Textual

    if not locations:
        return wait_for_team(lambda: str(team) if (team := nearest_team(here)) is not None else None)
    return pick_team(locations)


# `demo`: the console on a simulated team.


@verb(
    arg("--speed", "2 is twice as fast (default: 1)", type=float, default=1.0, metavar="FACTOR"),
    arg("--seed", "same seed, same words (default: 42)", type=int, default=42, metavar="N"),
    flag("--keep", "keep the folder"),
    seconds("--headless", "no console: print the folder, run this long, then stop", DAY),
)
def do_demo(call: Call) -> int:
    """Start a simulated team in a temporary folder and open the console on it. The agents are real processes on a
    real queue: approve a plan, reject one with a reason, write to somebody, ask somebody to stop, and watch what
    they do. Leaving deletes the folder.

    Examples:
      team-console demo --speed 2"""
    options = call.options
    if options.team:
        raise UsageError("the demo makes its own team", "Leave -t out; --keep keeps the demo's folder.")
    if not 0 < options.speed <= 1000:
        raise UsageError(f"--speed {options.speed} is not a speed", "For example --speed 2.")
    if options.headless is None:
        _need_screen("The demo plays without a console by --headless SECONDS.")
    from team_console.console.demo.simulation import simulation  # 20 ms: processes

    with simulation(seed=options.seed, speed=options.speed, keep=options.keep) as folder:
        if options.headless is not None:
            call.print_result({"success": True, "action": "demo", "location": str(folder)}, folder)
            call.flush()
            time.sleep(options.headless)
            return 0
        from team_console.console.tui.app import run_console  # 300 ms: Textual

        options.team = str(folder)
        status = run_console(call.team, me=call.given_actor, read_only=options.read_only, is_temporary=not options.keep)
    if options.keep:
        call.note(f"the team is kept in {folder}")
    return status


# `serve`: the console in a browser on this machine.

PORT = 8765


@verb(
    arg("--port", f"where to listen ({PORT}); 0 for a free one", type=int, default=PORT, metavar="N"),
    flag("--write", "let everybody who has the address decide and write"),
)
def do_serve(call: Call) -> None:
    """Show the console in a browser on this machine, read-only unless --write is given. The printed address has a
    token, new at each start; without it every request is answered with 403. From another machine:
    ssh -L 8765:127.0.0.1:8765 HOST, then open the same address there. It needs the extra `serve`; without it the
    error names the command that installs it.

    Examples:
      team-console serve --port 0"""
    options = call.options
    if options.write and options.read_only:
        raise TeamError(Code.READ_ONLY, "--write and --read-only exclude each other", "Leave one of them out.")
    call.team.config()
    try:
        from team_console.console.serve import ConsoleServer  # an extra, with a web server in it
    except ImportError as error:
        from team_console.store.model.optional_packages import install_line  # 20 ms

        text = f"serve needs the package {error.name or 'textual-serve'}, which is not installed"
        raise UsageError(text, f"Install it with: {install_line('serve')}") from None
    if options.team:  # not on the command line, where others would read the password of a database
        os.environ["TEAM_CONSOLE_TEAM"] = options.team
    seat = ["--as", call.given_actor] if call.given_actor else []
    mode = [] if options.write else ["--read-only"]
    try:
        server = ConsoleServer(
            [sys.executable, "-P", "-m", "team_console.console", *mode, *seat], port=options.port, title="team-console"
        )
    except (OSError, OverflowError) as error:
        text = f"port {options.port} cannot be used: {getattr(error, 'strerror', None) or error}"
        raise UsageError(text, "Choose another with --port N, or a free one with --port 0.") from None
    found = {"success": True, "action": "serve", "url": server.url, "port": server.port, "write": options.write}
    call.print_result(found, server.url)
    if not call.as_json:
        can = "read and write" if options.write else "read"
        call.note(
            f"Whoever has this address can {can} this team. From another machine: "
            f"ssh -L {server.port}:127.0.0.1:{server.port} HOST, then open it there. ctrl+c ends it."
        )
    call.flush()
    server.run()
