"""The JSON Schema of what each verb prints with `--json`, as `python -m tests.schemas` makes it from `results.py`."""

from __future__ import annotations

import json
import os
from typing import Any

SCHEMAS = os.path.join(os.path.dirname(__file__), "results.json")


def result_schemas() -> dict[str, dict[str, Any]]:
    """Return verb -> its schema as a document of its own; `error` is that of every refusal."""
    with open(SCHEMAS, encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)
    return {name: {**_HEAD, "title": f"team-console {name} --json", **schema} for name, schema in found.items()}


_HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
