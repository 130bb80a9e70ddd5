"""Names of files and stories in the text of a plan; a name that is only guessed is better left out than made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

MOST_NAMES = 40
"""Names of one text that are looked at."""
_LOOKED_AT = 100_000
"""Characters of a text in which names are looked for."""
_LONGEST = 300
_QUOTED = re.compile(r"`([^`\n]{1,300})`")
_BARE = re.compile(r"(?<![\w`/.~@:-])((?:\.{1,2}/|/|~/)?[\w@.+-]+(?:/[\w@.+-]+)*/?)(?![\w/])")
_FILE = (
    r"[\w+-][\w.+-]*\.(?:c|cc|cpp|cs|css|csv|cfg|conf|exs?|go|gradle|h|hpp|html?|ini|ipynb|java|jl|js|json|jsx|kt|lock"
    r"|m|md|mjs|php|pl|proto|ps1|pyi?|r|rb|rs|rst|s[ac]ss|scala|sh|sql|svelte|swift|tcss|tf|toml|tsx?|txt|vue|xml|ya?ml"
    r"|zig)"
)
"""A name with an ending by which a word without a slash is taken for a file."""
_PLAIN = frozenset({"Makefile", "Dockerfile", "LICENSE", "README", "Cargo.toml", ".gitignore", ".env"})


@lru_cache(maxsize=16)
def named_files(text: str) -> tuple[str, ...]:
    """The paths that a text names, in its order, each once, at most `MOST_NAMES`."""
    shown = text[:_LOOKED_AT]
    found: dict[int, str] = {}
    for match in _QUOTED.finditer(shown):
        word = match[1].strip().removeprefix("./")
        if " " not in word and _is_path(word, quoted=True):
            found[match.start()] = word
    for start, end in _telling_runs(shown):
        for match in _BARE.finditer(shown, start, end):
            word = match[1].rstrip(".,;:").removeprefix("./")
            if _is_path(word, quoted=False):
                found.setdefault(match.start(), word)
    return tuple(dict.fromkeys(found[place] for place in sorted(found)))[:MOST_NAMES]


def _telling_runs(text: str) -> Iterator[tuple[int, int]]:
    """From where to where what stands between spaces can hold a path: nearly every word of a text cannot."""
    plain = [name for name in _PLAIN if name in text]
    end = 0
    for run in [run for run in text.split() if "." in run or "/" in run or (plain and _holds(run, plain))]:
        telling = run.rstrip(".,;:")
        if "." in telling or "/" in telling or _holds(run, plain):
            start = text.index(run, end)
            end = start + len(run)
            yield start, end


def _holds(run: str, names: Iterable[str]) -> bool:
    return any(name in run for name in names)


def named_stories(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Those of the `known` story keys that stand in the text as words, in their order."""
    shown = text[:_LOOKED_AT]
    keys = tuple(key for key in dict.fromkeys(known) if key in shown)
    words = frozenset(re.findall(r"[\w.-]*\w", shown) if keys else ())
    return tuple(key for key in keys if key in words)[:MOST_NAMES]


def other_stories(text: str, known: Iterable[str]) -> Iterator[str]:
    """Stories that the text names with the word before it, and nobody knows."""
    if "tory" not in text:  # of a long text, the expression below takes a hundred times as long to say so
        return
    held = frozenset(known)
    names = (match[1] for match in re.finditer(r"\b[Ss]tory[ :-]{1,2}`?(\d+[-.]\d+[\w-]*)", text[:_LOOKED_AT]))
    yield from [name for name in dict.fromkeys(names) if name not in held][:MOST_NAMES]


def _is_path(word: str, *, quoted: bool) -> bool:
    if not word or len(word) > _LONGEST or "://" in word or not word.isprintable():
        return False
    last = word.rstrip("/").rpartition("/")[2]
    is_known = last in _PLAIN or re.fullmatch(_FILE, last, re.IGNORECASE) is not None
    if "/" not in word:
        return is_known
    return is_known or (quoted and _is_folder(word))


def _is_folder(word: str) -> bool:
    """Whether a quoted word with a slash is a folder rather than a choice, a flag or a command."""
    return word[0] not in "-$<|&" and re.fullmatch(r"[\w@.+~/-]+", word) is not None
