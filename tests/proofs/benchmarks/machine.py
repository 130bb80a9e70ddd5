"""Where and when a run was made, and whether the machine had other work to do."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("textual", "PyYAML", "watchfiles", "filelock")


def describe(folder: Path) -> str:
    """Date, processor, memory, file system of `folder`, versions and present load, as Markdown lines."""
    facts = {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": f"{os.cpu_count()} cores {_processor()}, {_memory()} GB memory, {platform.system()} {_kernel()}",
        "disk": f"{_file_system(folder)} at the temporary folder",
        "commit": _commit(),
        "Python": f"{platform.python_version()}; {', '.join(_libraries())}",
        "load": load(),
    }
    return "\n".join(f"- {key}: {value}" for key, value in facts.items())


def load() -> str:
    """The load average of the last minute, and what it means for the figures when others were at work."""
    item, cores = os.getloadavg()[0], os.cpu_count() or 1
    text = f"{item:.2f} on {cores} cores"
    if item <= 0.6 * cores:
        return text
    if hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) == os.SCHED_FIFO:
        return f"{text}; the machine was busy with other work, what is measured went ahead of it (--urgent)"
    return f"{text}; THE MACHINE WAS BUSY with other work, all times are too long"


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory() -> str:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal"):
            return f"{int(line.split()[1]) / 1e6:.0f}"
    return "?"


def _kernel() -> str:
    return ".".join(platform.release().split(".")[:2])


def _file_system(folder: Path) -> str:
    place, kind = "", "unknown file system"
    for line in _lines("/proc/mounts"):
        _, point, name, *_ = line.split()
        if len(point) >= len(place) and folder.resolve().is_relative_to(point):
            place, kind = point, name
    return kind


def _libraries() -> list[str]:
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} missing")
    return found


def _commit() -> str:
    root = Path(__file__).parents[3]
    command = ("git", "-C", str(root), "log", "-1", "--format=%h of %cs")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
