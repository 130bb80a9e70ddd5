"""The parts of the build that depend on the folders or the version; everything else stands in `pyproject.toml`.

The folders `console/ widgets/ store/` stay at the top of the repository and are installed as `team_console.console` and
so on: the package index has packages called `console` and `store` of its own.
"""

from __future__ import annotations

import gzip
import os
import re
import runpy
import tarfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.sdist import sdist

NAME, FOLDERS = "team_console", ("console", "store", "widgets")
PLUGIN = f"{NAME}.console.clients.plugin"
"""Folders without a module, for a client to load; setuptools wants to hear of each."""
ROOT = Path(__file__).parent
VERSION = runpy.run_path(str(ROOT / "store" / "version.py"))["VERSION"]
PICTURES = f"https://raw.githubusercontent.com/team-console/team-console/v{VERSION}/"
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))
"""The time every file of a source release bears, so that two builds of one commit are equal byte for byte."""


def packages() -> list[str]:
    """Every package under its import name."""
    found = find_packages(str(ROOT), include=[pattern for name in FOLDERS for pattern in (name, f"{name}.*")])
    return [*(f"{NAME}.{package}" for package in found), PLUGIN, f"{PLUGIN}.hooks"]


def readme() -> str:
    """The README with pictures and links that also work where the repository is not at hand, as on a package index."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?!\w+:|#)([^)\s]+)\)", rf"]({PICTURES}\1)", text)


class ReproducibleSdist(sdist):
    """A source release that holds names, modes and bytes, and nothing of the machine or the hour it was made."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):  # type: ignore[no-untyped-def]
        """Write `base_name.tar.gz` from the folder `base_dir`, sorted by name."""
        target = Path(f"{base_name}.tar.gz")
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            target.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=EPOCH) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path in sorted(path for path in Path(base_dir).rglob("*") if path.is_file()):
                tar.add(path, filter=_plain)
        return str(target)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = EPOCH
    member.mode = 0o755 if member.mode & 0o100 else 0o644
    return member


setup(
    version=VERSION,
    packages=packages(),
    package_dir={f"{NAME}.{folder}": folder for folder in FOLDERS},
    package_data={f"{NAME}.{folder}": ["py.typed", "**/*.tcss", "**/*.json"] for folder in FOLDERS}
    | {PLUGIN: [".mcp.json", ".claude-plugin/*.json"], f"{PLUGIN}.hooks": ["*.json"]},
    long_description=readme(),
    long_description_content_type="text/markdown",
    cmdclass={"sdist": ReproducibleSdist},
)
