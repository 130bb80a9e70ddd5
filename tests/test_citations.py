"""What the code cites stands in the repository: decisions, requirements, contradictions, fault cases, documents."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.equipment.command_line import ROOT

FOLDERS = ("store", "widgets", "console", "tests")
TEXTS = [path.read_text(encoding="utf-8") for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
DECISIONS = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "docs/contributing/requirements.md").read_text(encoding="utf-8")


def numbers(text: str) -> Iterator[int]:
    """The numbers of a list such as `169, 176 and 178-180`."""
    for first, last in re.findall(r"(\d+)(?:\s*-\s*(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def cited(pattern: str) -> set[str]:
    """What a pattern finds in the sources."""
    return {match for text in TEXTS for match in re.findall(pattern, text)}


NUMBERS = r"(\d+(?:(?:, | and |-)\d+)*)"


def test_every_decision_requirement_contradiction_and_fault_case_cited_is_written_down() -> None:
    decided = set(re.findall(r"\*\*(D\d+) ", DECISIONS))
    # From D40 on it is a name of something else.
    decisions = {name for name in cited(r"\b(D[1-9]\d?)\b(?=[,.;:) ])") if int(name[1:]) < 40}
    required, faults = (
        {int(number) for number in re.findall(r"^\| (\d+) \|", text, re.M)} for text in (REQUIREMENTS, DECISIONS)
    )
    assert required == set(range(1, 257))
    for used, is_listed in (
        (decisions, decided.__contains__),
        (cited(rf"\brequirements? {NUMBERS}"), lambda text: set(numbers(text)) <= required),
        (cited(rf"\bcases? {NUMBERS}"), lambda text: set(numbers(text)) <= faults),
        (cited(r"\b(00[0-3]-[a-z])\b"), lambda name: f"| {name} |" in REQUIREMENTS),
        (cited(r"\b(B\.[1-9])\b"), lambda part: f"## {part}" in REQUIREMENTS),
    ):
        assert [name for name in used if not is_listed(name)] == []
    assert len(decisions) > 15


@pytest.mark.parametrize("name", sorted(cited(r"[`(](docs/[\w/-]+\.md)[`)]")))
def test_every_document_named_is_there(name: str) -> None:
    assert (ROOT / name).is_file()


GUIDES = ("docs/contributing/architecture.md", "CONTRIBUTING.md", "docs/decisions.md", "docs/security.md")
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
