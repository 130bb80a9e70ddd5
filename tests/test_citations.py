"""What the code cites stands in the repository: decisions, requirements, contradictions, fault cases, documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = sorted(path for folder in ("store", "widgets", "console", "tests") for path in (ROOT / folder).rglob("*.py"))
DECISIONS = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "docs/requirements.md").read_text(encoding="utf-8")


def numbers(text: str) -> Iterator[int]:
    """The numbers of a list such as `169, 176 and 178-180`."""
    for first, last in re.findall(r"(\d+)(?:\s*-\s*(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def cited(pattern: str) -> dict[str, Path]:
    """What a pattern finds in the sources, each with a place it stands in."""
    return {match: path for path in SOURCES for match in re.findall(pattern, path.read_text(encoding="utf-8"))}


def test_every_decision_cited_is_written_down() -> None:
    decided = set(re.findall(r"\*\*(D\d+) ", DECISIONS))
    used = cited(r"\b(D[1-9]\d?)\b(?=[,.;:) ])")
    assert len(used) > 15
    assert {name: path for name, path in used.items() if name not in decided and int(name[1:]) < 40} == {}


def test_every_requirement_cited_is_in_the_list() -> None:
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", REQUIREMENTS, re.M)}
    assert listed == set(range(1, 257))
    used = cited(r"\brequirements? (\d+(?:(?:, | and |-)\d+)*)")
    assert len(used) > 20
    assert {text: path for text, path in used.items() if not set(numbers(text)) <= listed} == {}


def test_every_contradiction_and_fact_cited_is_in_the_list() -> None:
    used = cited(r"\b(00[0-3]-[a-z])\b")
    assert used
    assert {name: path for name, path in used.items() if f"| {name} |" not in REQUIREMENTS} == {}
    assert {part: path for part, path in cited(r"\b(B\.[1-9])\b").items() if f"## {part}" not in REQUIREMENTS} == {}


def test_every_fault_case_cited_is_in_the_table() -> None:
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", DECISIONS, re.M)}
    used = cited(r"\bcases? (\d+(?:(?:, | and |-)\d+)*)")
    assert used
    assert {text: path for text, path in used.items() if not set(numbers(text)) <= listed} == {}


@pytest.mark.parametrize("name", sorted(cited(r"[`(](docs/[\w/-]+\.md)[`)]")))
def test_every_document_named_is_there(name: str) -> None:
    assert (ROOT / name).is_file()


GUIDES = ("docs/architecture.md", "CONTRIBUTING.md", "docs/decisions.md", "docs/security.md")
PATHS = [str(path.relative_to(ROOT)) for path in ROOT.glob("[cstw]*/**/*.py")]


@pytest.mark.parametrize("guide", GUIDES)
def test_every_module_that_a_guide_names_is_there(guide: str) -> None:
    """`desk/mail.py: send` names a module by the end of its path, and what it holds."""
    named = re.findall(r"`([\w/]+\.py)(?:: (\w+))?`", (ROOT / guide).read_text(encoding="utf-8"))
    assert [f"{path}: {name}" for path, name in named if not any(_holds(where, name) for where in _ending(path))] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_every_folder_that_a_guide_names_is_there(guide: str) -> None:
    named = re.findall(r"`((?:console|store|tests|widgets)/[\w/]*)/?`", (ROOT / guide).read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).is_dir()] == []


def _ending(path: str) -> list[str]:
    return [known for known in PATHS if f"/{known}".endswith(f"/{path}")]


def _holds(path: str, name: str) -> bool:
    return not name or re.search(rf"^(?:async )?(?:def|class) {name}\b", (ROOT / path).read_text(), re.M) is not None
