"""Each protection that can be switched off has its mark in the source, and the tests that are to notice exist."""

from __future__ import annotations

import pytest

from tests.equipment.command_line import ROOT
from tests.proofs.mutants.guards import marks, switched_off
from tests.proofs.mutants.table import GUARDS
from tests.trust.test_forgeries import CASES, GRANT_CASES


def test_each_mark_stands_once_and_has_its_entry() -> None:
    assert sorted(name for name, places in marks().items() for _ in places) == sorted(GUARDS)


@pytest.mark.slow
def test_each_marked_statement_can_be_switched_off() -> None:
    places = marks()
    for name, guard in GUARDS.items():
        ((file, _),) = places[name]
        assert switched_off((ROOT / file).read_text(encoding="utf-8"), name, guard.off), name


def test_the_tests_that_are_to_notice_exist() -> None:
    named = [entry.tests for entry in GUARDS.values()]
    assert [test for tests in named for test in tests if not _exists(test)] == []


def test_the_forgeries_that_are_to_notice_are_tried_in_every_run() -> None:
    ids = {str(case.id) for case in (*CASES, *GRANT_CASES)}
    named = [test for guard in GUARDS.values() for test in guard.tests if "test_forgeries.py::" in test and "[" in test]
    assert named
    assert [test for test in named if test.partition("[")[2].removesuffix("]") not in ids] == []


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    function, _, case = name.partition("[")
    text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
    if function == "test_what_a_script_says_holds":
        name = case.removesuffix("]")  # behind which the store may stand that it is told on
        scripts = (ROOT / path).with_name("scripts")
        return any((scripts / f"{each}.txt").is_file() for each in (name, name.rpartition("-")[0]))
    return bool(text) and (not function or f"def {function}(" in text)
