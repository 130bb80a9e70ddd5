"""The instructions work as they stand: a script that follows them to the letter gets through its day."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine, Result, clean_environment

pytestmark = pytest.mark.slow


class Script:
    """An agent that knows nothing but its instructions."""

    def __init__(self, office: CommandLine, folder: Path, *flags: str) -> None:
        self.text = office.ok("instructions alice", *flags).out
        self.folder = folder

    def command(self, verb: str) -> str:
        """The only line that calls this verb."""
        first = re.compile(rf"^    .* {verb}( |$)")
        lines = [line.strip() for line in self.text.splitlines() if first.match(line) and f"--as alice {verb}" in line]
        return lines[0]

    def run(self, verb: str, **words: str) -> Result:
        """Run it, with the words in capitals replaced."""
        done = self.start(verb, **words)
        out, err = done.communicate(timeout=60)
        return Result(done.returncode, out, err)

    def start(self, verb: str, **words: str) -> subprocess.Popen[str]:
        line = self.command(verb)
        for placeholder, word in words.items():
            line = line.replace(placeholder.replace("_", " "), word)
        return subprocess.Popen(
            line,
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
            cwd=self.folder,
        )


def named_request(waiting: subprocess.Popen[str]) -> str:
    """The request that standard error names, after warnings if there are any."""
    assert waiting.stderr is not None
    while "waits for the verdict on" not in (line := waiting.stderr.readline()):
        assert line
    return line.split()[-1]


@pytest.fixture
def script(office: CommandLine, tmp_path: Path) -> Script:
    return Script(office, tmp_path)


def test_they_are_short_and_say_who_is_who(script: Script) -> None:
    assert script.text.startswith("You are alice, a member of the team sprint-42. ceo leads it")
    assert "ben" in script.text.splitlines()[1]
    assert len(script.text.split()) < 260


def test_a_day_by_the_letter(script: Script, office: CommandLine) -> None:
    office.ok("send --to alice --summary 'Split the loader in two parts' --content 'By noon.'")
    assert "By noon." in script.run("receive").out
    waiting = script.start("plan", PLAN="1. Split it")
    request = named_request(waiting)
    office.ok("reject", request, "--reason", "Tests first")
    out, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, "Tests first" in out) == (10, True)
    waiting = script.start("ask", QUESTION="Which database?")
    request = named_request(waiting)
    office.ok("answer", request, "--option", "A")
    out, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, out.strip()) == (0, "A")
    assert script.run("verdict", REQUEST=request).status == 0
    office.ok("shutdown alice")
    told = script.run("receive").out
    request = next(word.strip("'\",") for word in told.split() if word.startswith("shutdown-"))
    assert script.run("approve", REQUEST=request).status == 0
    assert script.run("send", FIVE_TO_TEN_WORDS="The loader is split in two", TEXT="Done").status == 0
    assert "The loader is split in two" in office.ok("inbox ceo").out


def test_a_client_with_hooks_is_not_told_to_take_its_mail(office: CommandLine, tmp_path: Path) -> None:
    script = Script(office, tmp_path, "--hooks")
    assert " receive " not in script.text
    assert "Your mail comes by itself" in script.text
