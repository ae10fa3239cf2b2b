"""Holds replies against the JSON schemas of the CLICS Contest API 2026-01, unmodified or with `PC` as one type more."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parents[1] / "clics_2026_01"


@cache
def _registry(partly_correct: bool) -> Registry[Any]:
    resources = []
    for path in sorted(FOLDER.glob("*.json")):
        schema = json.loads(path.read_text())
        if path.name == "common.json" and partly_correct:
            schema["judgementtypeid"]["enum"].append("PC")
        resources.append((schema["$id"], Resource.from_contents(schema)))
    return Registry().with_resources(resources)


def faults(name: str, document: Any, *, partly_correct: bool = False) -> list[str]:
    """What is wrong with a document by the schema `name`: nothing, one hopes."""
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    validator = Draft202012Validator(schema, registry=_registry(partly_correct))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
