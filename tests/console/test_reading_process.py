"""The process that reads for the first picture: what it hands over, and what holds where it cannot.

A copy is made only of a process without threads, which a test runner is not: each story is a program of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.data import LEAD, letters, write_team
from tests.conftest import COMMAND, clean_environment

SMALL, LARGE = 3, 700

PROGRAM = f"""
import os, sys, threading
from pathlib import Path
from team_console.console.following import reading_process
from team_console.console.following.early_reading import EarlyFeed
from team_console.console.following.feed import Feed
from team_console.store.backends.open import open_team

LEAD = {LEAD!r}

def no_child_is_left():
    try:
        return os.waitpid(-1, os.WNOHANG) and False
    except ChildProcessError:
        return True

def waited_for(process):
    while not process.is_done():
        pass
    return process
"""


def story(code: str, folder: Path) -> None:
    """Run a program in `folder`; each of its assertions holds."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM + code],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_copy_made_is_handed_over_and_the_copy_is_gone(tmp_path: Path) -> None:
    story(
        """
process = reading_process.start(lambda: {"pid": os.getpid(), "text": "x" * 3_000_000})
value = process.result()
assert value["pid"] != os.getpid() and len(value["text"]) == 3_000_000
assert no_child_is_left()
""",
        tmp_path,
    )


@pytest.mark.parametrize(
    "make",
    ["lambda: 1 / 0", "lambda: (lambda: None)", "lambda: os._exit(3)", "lambda: os.kill(os.getpid(), 9)"],
    ids=["fails", "cannot be handed over", "ends", "is killed"],
)
def test_a_value_that_could_not_be_made_is_none_and_nothing_is_said_on_the_terminal(make: str, tmp_path: Path) -> None:
    story(f"assert reading_process.start({make}).result() is None\nassert no_child_is_left()", tmp_path)


def test_a_copy_that_stands_still_half_way_is_not_waited_for(tmp_path: Path) -> None:
    story(
        """
import signal
reading_process._PATIENCE = 0.05
os.write, write = (lambda pipe, data: write(pipe, data[:9]) and os.kill(os.getpid(), signal.SIGSTOP)), os.write
process = reading_process.start(lambda: "x" * 100)
assert process.result() is None
assert no_child_is_left()
""",
        tmp_path,
    )


def test_a_value_that_is_too_large_is_not_handed_over(tmp_path: Path) -> None:
    story("assert reading_process.start(lambda: bytes(reading_process._LARGEST)).result() is None", tmp_path)


def test_a_process_with_threads_is_not_copied(tmp_path: Path) -> None:
    story(
        """
end = threading.Event()
threading.Thread(target=end.wait).start()
try:
    assert reading_process.start(lambda: 1) is None
finally:
    end.set()
""",
        tmp_path,
    )


def test_a_team_with_a_connection_is_read_by_a_thread(tmp_path: Path) -> None:
    words = ("init", "team.db", "--name", "sprint-42", "--lead", LEAD, "--agent", "task-manager")
    subprocess.run([*COMMAND, *words], cwd=tmp_path, env=clean_environment(), check=True, capture_output=True)
    story(
        """
early = EarlyFeed(open_team("team.db"), LEAD)
assert early._process is None and early._first is not None
assert early.read().snapshot.is_known
""",
        tmp_path,
    )


def test_what_another_process_waits_for_is_none_of_its_business(tmp_path: Path) -> None:
    story(
        """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system takes every child that ends
assert reading_process.start(lambda: 7).result() == 7
""",
        tmp_path,
    )


@pytest.mark.parametrize(("count", "is_glimpse"), [(SMALL, False), (LARGE, True)])
def test_the_first_sight_is_what_would_have_been_read_here(count: int, is_glimpse: bool, tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(count))
    story(
        f"""
early = EarlyFeed(open_team("team"), LEAD)
assert early._process is not None, "read by a copy"
waited_for(early._process)
sight = early.at_hand()
assert sight.is_glimpse is {is_glimpse}
plain = Feed(open_team("team"), LEAD)
here = plain.glimpse() or plain.read()
ids = lambda some: [message.message_id for message in some.snapshot.messages]
assert ids(sight) == ids(here) and len(ids(here)) > 2
assert [item.key for item in sight.view.attention] == [item.key for item in here.view.attention]
assert [dict(message.payload) for message in sight.snapshot.messages] == [
    dict(message.payload) for message in here.snapshot.messages
]
assert early.glimpse() is (sight if {is_glimpse} else None)
first, second = early.read(), early.read()
assert len(ids(first)) == len(ids(second)) == {count}
assert first.number < second.number
assert (first is sight) is not {is_glimpse}
assert no_child_is_left()
""",
        tmp_path,
    )


def test_a_store_that_breaks_after_the_first_sight_keeps_what_was_seen(tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(SMALL))
    story(
        """
early = EarlyFeed(open_team("team"), LEAD)
waited_for(early._process)
first = early.at_hand()
assert early.glimpse() is None and early.read() is first
Path("team/message-queue.yaml").write_text("messages: {", encoding="utf-8")
later = early.read()
assert not later.fresh and later.view is first.view
""",
        tmp_path,
    )


def test_what_the_copy_could_not_read_is_read_here(tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(SMALL))
    story(
        """
early = EarlyFeed.__new__(EarlyFeed)
Feed.glimpse, whole = (lambda feed: os._exit(1) if os.getpid() != mine else whole(feed)), Feed.glimpse
mine = os.getpid()
early.__init__(open_team("team"), LEAD)
waited_for(early._process)
Feed.glimpse, here = (lambda feed: asked.append(feed) or here(feed)), Feed.glimpse
asked = []
assert early.at_hand() is None and asked == [], "nobody waits for a reading where a screen is being made"
assert early.glimpse() is None and asked == [early]
assert len(early.read().snapshot.messages) == 3
""",
        tmp_path,
    )


def test_nothing_is_at_hand_while_the_copy_still_reads(tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(SMALL))
    story(
        """
reading, writing = os.pipe()
Feed.glimpse, whole = (lambda feed: (os.getpid() == mine or os.read(reading, 1)) and whole(feed)), Feed.glimpse
mine = os.getpid()
early = EarlyFeed(open_team("team"), LEAD)
assert early.at_hand() is None
os.write(writing, b"x")
waited_for(early._process)
assert early.at_hand() is not None
""",
        tmp_path,
    )
