"""Runs one command line: finds the verb, does it, and turns every ending into an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from team_console import __version__
from team_console.console.cli.arguments import find_verb, overview, parser_for, split
from team_console.console.cli.call import Call
from team_console.console.cli.output import Output, OutputLost
from team_console.console.faults import log, place_of
from team_console.store.model.errors import Code, TeamError

_INTERRUPTED = 130
_BROKEN_PIPE = 141
_NO_MEMORY = TeamError(Code.STORE_FAILED, "there is not enough memory", "Free some, or raise the limit; try again.")


def run(argv: Sequence[str]) -> int:
    """Do what `argv` asks. Never raises; no traceback reaches the user unless `TEAM_CONSOLE_DEBUG` asks for it."""
    out = Output(as_json="--json" in _options(argv))
    try:
        try:
            status = _dispatch(argv, out)
            out.flush()
            return status
        except (TeamError, MemoryError) as error:
            refused = error if isinstance(error, TeamError) else _NO_MEMORY
            if split(argv)[0] == "receive":  # a script that reads the three keys of the source reads them in any case
                refused.facts |= {"messages": [], "count": 0, "status_message": refused.message}
            out.failure(refused)
            out.flush()
            return refused.exit_code
        except SystemExit as ending:  # argparse after --help, or a signal that ends the demo
            out.flush()
            return ending.code if isinstance(ending.code, int) else 0
        except (OutputLost, BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception as error:
            return _unexpected(error, out)
    except BrokenPipeError:
        out.abandon()
        return _BROKEN_PIPE
    except OutputLost as error:
        out.abandon()
        out.note(f"{error}; what was asked for is done, only its result could not be printed")
        return 1
    except KeyboardInterrupt:
        out.abandon()
        return _INTERRUPTED


def _dispatch(argv: Sequence[str], out: Output) -> int:
    if list(argv) == ["--version"]:  # asked for by scripts that look whether we are there
        return _say_version(out)
    _refuse_broken_text(argv)
    name, rest = split(argv)
    if name is None and {"-h", "--help"} & {*_options(rest)}:
        out.write(overview())
        return 0
    verb = find_verb(name) if name is not None else None
    options = parser_for(verb).parse_args(rest)
    if options.version:
        return _say_version(out)
    call = Call(options, out)
    try:
        if verb is None:
            from team_console.console.cli.bare import run as open_console  # 10 ms: what reads ahead of the screen

            return open_console(call)
        return verb.command.run(call) or 0
    finally:
        call.close()


def _options(argv: Sequence[str]) -> Sequence[str]:
    """Words that can be options: nothing behind `--` is one."""
    return argv[: argv.index("--")] if "--" in argv else argv


def _say_version(out: Output) -> int:
    out.say(f"team-console {__version__}")
    return 0


def _refuse_broken_text(argv: Sequence[str]) -> None:
    """Bytes that are not text would end up in a message as lone surrogates no other reader accepts."""
    for word in argv:
        if not word.isascii() and any("\ud800" <= item <= "\udfff" for item in word):
            raise TeamError(
                Code.USAGE,
                f"argument {word!r} is not text in the encoding of this terminal",
                "Give it as UTF-8, or hand the content in on standard input with '-'.",
            )


def _unexpected(error: Exception, out: Output) -> int:
    """Log a defect of ours and say so in one line; its own words may quote a message, so they are not printed."""
    if os.environ.get("TEAM_CONSOLE_DEBUG"):
        traceback.print_exc(file=sys.stderr)
    out.broken(f"{type(error).__name__} at {place_of(error)}", log(error, where="the command line"))
    return 1
