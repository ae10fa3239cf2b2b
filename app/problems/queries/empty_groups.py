"""Groups that have lost all their test cases, taken out of a package: the format knows none without a case."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import yaml

from app.core.parsing import StrictLoader
from app.packages.contents import Content, bytes_of
from app.packages.model import replace_constants
from app.packages.testdata import GROUP_FILE

SECRET = f"data/secret/{GROUP_FILE}"
GroupValue = dict[str, object]
"""A map of a package's YAML, checked when it was taken."""
Constants = Mapping[str, Mapping[str, int | float | str]]


def without_empty_groups(files: dict[str, Content], constants: Constants) -> dict[str, Content]:
    """The files without the groups that have no input, and without what names them.

    A problem that has no other group is left as it is: nobody can be judged by it.
    """
    groups = {name.rpartition("/")[0] for name in files if _is_group(name)}
    inhabited = {"/".join(name.split("/")[:3]) for name in files if name.endswith(".in")} & groups
    empty = groups - inhabited
    if not empty or not inhabited:
        return files
    remaining = {name: data for name, data in files.items() if not name.startswith(tuple(f"{each}/" for each in empty))}
    names = {each.removeprefix("data/") for each in empty}
    settings = {each: read_map(bytes_of(remaining[f"{each}/{GROUP_FILE}"]), constants) for each in sorted(inhabited)}
    for each, value in settings.items():
        write_map(remaining, f"{each}/{GROUP_FILE}", value, _without(value, "require_pass", names))
    secret = read_map(bytes_of(remaining.get(SECRET, b"")), constants)
    scores = [value.get("max_score") for value in settings.values()]
    most = sum(score for score in scores if isinstance(score, int))
    write_map(remaining, SECRET, secret, {**_without(secret, "require_pass", names), "max_score": most})
    jurado = read_map(bytes_of(remaining["jurado.yaml"]), {})
    write_map(remaining, "jurado.yaml", jurado, _without(jurado, "final", names))
    return remaining


def _is_group(name: str) -> bool:
    return name.startswith("data/secret/") and name.endswith(f"/{GROUP_FILE}") and name.count("/") == 3


def _without(value: GroupValue, key: str, names: Collection[str]) -> GroupValue:
    """A map whose list at `key`, or single name, has lost some names."""
    listed = value.get(key)
    listed = listed if isinstance(listed, list) else [] if listed is None else [listed]
    left = [each for each in listed if each not in names]
    return value if left == listed else {**value, key: left}


def read_map(data: bytes, constants: Constants) -> GroupValue:
    """A map of a package's YAML with the constants put in; empty where there is nothing."""
    value: GroupValue | None = yaml.load(replace_constants(data.decode(), constants), StrictLoader)
    return value or {}


def write_map(files: dict[str, Content], name: str, before: GroupValue, after: GroupValue) -> None:
    """Write a map anew where it has changed: comments are lost."""
    if after != before:
        files[name] = yaml.safe_dump(after, sort_keys=False, allow_unicode=True).encode()
