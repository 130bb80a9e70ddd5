"""The one dependency rule: store knows no screen, no verb pulls one in, and `send` imports no more than it uses."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import textual
from team_console.console.cli.main import VERBS
from textual.keys import Keys, key_to_character

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import ROOT, CommandLine, clean_environment

OURS = "team_console."
"""What the import names of our packages begin with; their folders lack it."""
HEAVY = {"textual", "rich", "pydantic", "asyncio", "watchfiles", "psycopg", "sqlite3", "importlib.metadata", "yaml"}
PACKAGES = ("store", "widgets", "console")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Read the source of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> Iterator[str]:
    """Yield what a module imports anywhere, inside functions and for type checking, too, as dotted names."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix(OURS) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            yield from (f"{node.module}.{alias.name}".removeprefix(OURS) for alias in node.names)


def modules(*packages: str) -> list[Path]:
    """Every module of these packages, of all of ours without a name."""
    return [path for package in packages or PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def name_of(path: Path) -> str:
    """The dotted name of a module of ours."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def is_within(name: str, packages: Iterable[str]) -> bool:
    """Whether the dotted name belongs to one of the packages."""
    return any(name == package or name.startswith(package + ".") for package in packages)


@cases
def test_modules_import_only_what_they_may(folders: list[str], forbidden: list[str], allowed: list[str]) -> None:
    paths = [path for folder in folders for path in modules(folder)]
    named = [(path, name) for path in paths for name in imports_of(path) if is_within(name, forbidden)]
    assert paths
    assert [entry for entry in named if not is_within(entry[1], allowed)] == []


ROOMS = ("model", "settings", "protocol", "contract", "backends", "service", "views")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_of_the_store_knows_only_those_before_it(room: str) -> None:
    later = [f"store.{name}" for name in ROOMS[ROOMS.index(room) + 1 :]]
    named = [(path, name) for path in modules(f"store/{room}") for name in imports_of(path)]
    assert named
    assert [entry for entry in named if is_within(entry[1], later)] == []


def test_only_one_module_outside_of_it_opens_the_screen() -> None:
    paths = [path for path in modules("console") if not path.is_relative_to(ROOT / "console/tui")]
    opening = {path for path in paths for name in imports_of(path) if is_within(name, {"console.tui"})}
    assert opening == {ROOT / "console/cli/open_console.py"}


def test_no_imports_form_a_circle() -> None:
    names = {name_of(path): path for path in modules()}
    arrows = {}
    for name, path in names.items():
        known = ({target, target.rpartition(".")[0]} & names.keys() for target in imports_of(path))
        arrows[name] = {target for found in known for target in found if not f"{name}.".startswith(f"{target}.")}
    assert len(arrows) > 200
    TopologicalSorter(arrows).prepare()  # names the circle


FIXES = ROOT / "console/tui/textual_fixes.py"
"""The one module that knows what Textual keeps to itself."""


def test_private_parts_of_textual_are_used_in_one_module_alone() -> None:
    sources = Path(textual.__file__).parent.rglob("*.py")
    theirs = {name for path in sources for name in re.findall(r"\b_[a-z]\w*", path.read_text(encoding="utf-8"))}
    nodes = [(path, node) for path in modules() for node in ast.walk(tree_of(path))]
    ours = {name for _, node in nodes for name in _defined(node)}
    used = [
        (path, ast.unparse(node))
        for path, node in nodes
        if isinstance(node, ast.Attribute) and node.attr in theirs - ours and ast.unparse(node) != "os._exit"
    ]
    imported = [path for path in modules() for name in imports_of(path) if re.match(r"textual\b.*\._", name)]
    assert set(imported) == {FIXES}
    assert [entry for entry in used if entry[0] != FIXES] == []


def _defined(node: ast.AST) -> Iterator[str]:
    if isinstance(node, FUNCTIONS | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.attr if isinstance(node, ast.Attribute) else node.id


def test_no_private_method_of_textual_is_replaced_by_one_of_ours() -> None:
    found = []
    for path in modules("widgets", "console/tui"):
        module = importlib.import_module(OURS + name_of(path))
        classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        for one in classes if path != FIXES else ():
            theirs = {name for base in one.__mro__ if base.__module__.startswith("textual.") for name in vars(base)}
            ours = {name for name, value in vars(one).items() if inspect.isfunction(value)}
            private = (name for name in ours & theirs if re.match("_(?!_|on_)", name))  # `_on_key` hears of a key
            found += [f"{one.__qualname__}.{name}" for name in private]
    assert found == []


def test_nothing_of_ours_is_called_as_textual_calls_what_takes_a_key() -> None:
    # A fact in `_key_at` ended the console at `@`: Textual calls `key_NAME` and `_key_NAME` of whatever hears of a key.
    nodes = [(path, node) for path in modules("widgets", "console/tui") for node in ast.walk(tree_of(path))]
    named = {(name[1], path) for path, node in nodes for name in map(TAKES_KEY.fullmatch, _defined(node)) if name}
    names = {part for key in Keys for part in key.value.split("+")}
    assert {(name, path) for name, path in named if name in names or key_to_character(name) is not None} == set()


TAKES_KEY = re.compile("_?key_(.+)")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
MOST_METHODS, MOST_LINES = 40, 700


def test_no_class_and_no_module_is_longer_than_a_reader_bears() -> None:
    classes = [node for path in modules() for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]
    assert [path for path in modules() if path.read_text(encoding="utf-8").count("\n") > MOST_LINES] == []
    assert [one.name for one in classes if sum(isinstance(node, FUNCTIONS) for node in one.body) > MOST_METHODS] == []


def test_no_two_classes_have_one_name_but_those_that_a_tool_of_mcp_takes() -> None:
    names = Counter(node.name for path in modules() for node in tree_of(path).body if isinstance(node, ast.ClassDef))
    assert {name for name, count in names.items() if count > 1} <= {"Option", "Question"}


def loaded_by(code: str, cwd: Path) -> set[str]:
    """The modules a fresh interpreter has loaded after running `code`."""
    program = f"import sys\n{code}\nprint('\\nLOADED', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.removeprefix(OURS) for name in done.stdout.rpartition("LOADED")[2].split()}


RUNS = constant(__file__, "RUNS", dict[str, tuple[str, ...]])


EACH_FORKED = """
import json, os, sys
from team_console.console.cli.main import run
run(["check"])
for verb, words in json.loads(sys.argv[1]).items():
    child = os.fork()
    if not child:
        try:
            run(words)
        finally:
            with open(f"loaded-{verb}", "w") as file:
                print(*sorted(sys.modules), file=file)
            os._exit(0)
    os.waitpid(child, 0)
"""
"""Each verb in a process forked from one that has loaded what nearly every verb loads."""


@pytest.mark.slow
def test_no_verb_loads_textual_or_pydantic(team: CommandLine) -> None:
    command = [sys.executable, "-P", "-c", EACH_FORKED, json.dumps(RUNS)]
    subprocess.run(command, cwd=team.folder, env=clean_environment(), capture_output=True, check=True)
    for verb in RUNS:
        loaded = {name.removeprefix(OURS) for name in (team.folder / f"loaded-{verb}").read_text().split()}
        assert "console.cli.main" in loaded
        assert not {name for name in loaded if is_within(name, {"textual", "pydantic"})}, verb


@pytest.mark.parametrize("verb", ["send", "receive", "ack", "plan"])
def test_what_agents_call_all_day_loads_nothing_heavy(verb: str, team: CommandLine) -> None:
    loaded = loaded_by(f"from team_console.console.cli.main import run\nrun({list(RUNS[verb])!r})", team.folder)
    assert not {name for name in loaded if is_within(name, HEAVY)}


def test_a_queue_of_our_own_form_needs_no_reader_of_other_forms(tmp_path: Path) -> None:
    loaded = loaded_by("import team_console.store.backends.yaml.session", tmp_path)
    assert "store.backends.yaml.queue" in loaded
    assert "store.backends.entry_splitter" not in loaded


def test_every_verb_is_among_those_that_were_run() -> None:
    assert {verb.name for verb in VERBS} == set(RUNS)


PICTURES = {".svg", ".png"}


def test_git_holds_no_binary_but_pictures() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout: a source release")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    files = [path for path in paths if path.is_file() and path.suffix not in PICTURES]
    assert files
    assert [str(path) for path in files if b"\0" in path.read_bytes()[:8192]] == []
