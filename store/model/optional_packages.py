"""Packages that only some need, and the command that brings them to where this program is installed."""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit

_NAME = "team-console"


def is_installed(*packages: str) -> bool:
    """Return whether all of these packages can be imported."""
    try:
        return all(find_spec(package) is not None for package in packages)
    except ValueError:  # a module that somebody put there without saying what it is
        return False


def install_line(extra: str) -> str:
    """Return the command that installs this program anew with an extra, by what it was installed with."""
    source, is_editable = _source()
    what = f"{source}[{extra}]"
    if os.path.isfile(os.path.join(sys.prefix, "pipx_metadata.json")):
        return shlex.join(["pipx", "install", "--force", what])
    if os.path.isfile(os.path.join(sys.prefix, "uv-receipt.toml")):
        return shlex.join(["uv", "tool", "install", "--force", what])
    how = ["-e", what] if is_editable else [what]
    if not is_installed("pip"):  # an environment that uv made
        return shlex.join(["uv", "pip", "install", "--python", sys.executable, *how])
    return shlex.join([sys.executable, "-m", "pip", "install", *how])


def _source() -> tuple[str, bool]:
    """Return the clone that it was installed from, as long as that is there, else the name of the package; and whether
    it runs from the clone itself.
    """
    try:
        found = json.loads(distribution(_NAME).read_text("direct_url.json") or "{}")
        url = urlsplit(found["url"])
        is_editable = found.get("dir_info", {}).get("editable") is True
    except (PackageNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return _NAME, False
    folder = unquote(url.path)
    return (folder, is_editable) if url.scheme == "file" and os.path.isdir(folder) else (_NAME, False)
