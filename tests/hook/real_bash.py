"""A real bash that finds harmless programs, and some that only note how they were called."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.equipment.cases import constant

PROGRAM = "/bin/bash"
TOOLS = constant(__file__, "TOOLS", tuple[str, ...])
NOTED = ("git", "git-push", "rm", "npm", "twine")
_STUB = '#!/bin/sh\nprintf "%s|" "${{0##*/}}" "$@" >>{calls}\necho >>{calls}\n'


class Bash:
    """Runs texts, each in a folder of its own.

    Attributes:
        programs: The only folder of programs.
    """

    def __init__(self, folder: Path) -> None:
        self.programs, self._work, self._calls = folder / "bin", folder / "work", folder / "calls"
        self.programs.mkdir()
        for name in TOOLS:
            found = shutil.which(name)
            if found is not None:
                (self.programs / name).symlink_to(found)
        (self.programs / "sh").write_text(f'#!{PROGRAM}\nexec {PROGRAM} "$@"\n')  # one that knows all that is tried
        (self.programs / "sh").chmod(0o755)
        for name in NOTED:
            stub = self.programs / name
            stub.write_text(_STUB.format(calls=self._calls))
            stub.chmod(0o755)

    @staticmethod
    def is_here() -> bool:
        """Return whether this machine has one."""
        return os.path.exists(PROGRAM)

    def run(self, text: str) -> tuple[list[list[str]], str]:
        """Run a text and return the noted programs that it called, each with its words, and what bash complained of."""
        shutil.rmtree(self._work, ignore_errors=True)
        (self._work / "sub").mkdir(parents=True)
        for file in (self._work / "in", self._work / "sub" / "in"):
            file.write_text("push\n")
        (self._work / "git").symlink_to(self.programs / "git")
        self._calls.unlink(missing_ok=True)
        ended, held = os.pipe()
        with open(ended, "rb") as end, open(held, "wb") as hold:
            started = subprocess.Popen(
                [PROGRAM, "-c", text.replace("BIN", str(self.programs))],
                cwd=self._work,
                env={"PATH": str(self.programs), "HOME": str(self._work)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[held],
            )
            hold.close()
            complaint = started.communicate(timeout=60)[1]
            end.read()  # what it started may outlive it: the last of them closes this
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line.removesuffix("|").split("|") for line in lines], complaint.decode(errors="replace")

    def pushes(self, text: str) -> bool:
        """Run a text; returns whether it ran `git push`."""
        return any(call[:1] == ["git-push"] or "push" in call[1:] for call in self.run(text)[0])

    def has(self, words: Sequence[str]) -> bool:
        """Return whether the programs among these words are on this machine."""
        return all((self.programs / name).exists() for name in TOOLS if name in words)
