"""Groups of a problem as files of its package: test_group.yaml of each, the sum of their points, and the final ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from app.packages.contents import Content, bytes_of
from app.packages.model import Aggregation, Group, GroupKind, Package
from app.packages.testdata import GROUP_FILE
from app.problems.queries.empty_groups import read_map, write_map
from app.tables import TestGroupRow

SECRET = "secret"


def with_groups(files: dict[str, Content], package: Package, rows: Sequence[TestGroupRow]) -> dict[str, Content]:
    """The files with the groups as the rows have them; the same files where the package has them so."""
    groups = [_group(row) for row in rows if row.kind != "sample"]
    before = {group.name: group for group in package.groups}
    if all(before.get(group.name) == group for group in groups):
        return files
    constants, names = package.problem.constants, {group.name for group in groups}
    gone = {f"data/{name}/{GROUP_FILE}" for name in before if name not in names and name != "sample"}
    changed = {name: data for name, data in files.items() if name not in gone}
    if SECRET not in names:
        path = f"data/{SECRET}/{GROUP_FILE}"
        known = read_map(bytes_of(files.get(path, b"")), constants)
        rest = {key: value for key, value in known.items() if key not in {"require_pass", "score_aggregation"}}
        write_map(changed, path, known, {**rest, "max_score": sum(group.max_score or 0 for group in groups)})
    for group in groups:
        path = f"data/{group.name}/{GROUP_FILE}"
        known = read_map(bytes_of(files.get(path, b"")), constants)
        own = {"max_score": group.max_score, "score_aggregation": group.aggregation}
        write_map(changed, path, known, {**known, **own, "require_pass": list(group.require_pass)})
    jurado = read_map(bytes_of(changed["jurado.yaml"]), {})
    write_map(changed, "jurado.yaml", jurado, {**jurado, "final": [g.name for g in groups if g.kind == "final"]})
    return changed


def _group(row: TestGroupRow) -> Group:
    """The group as a package has it; its points are whole numbers, as all that is taken."""
    most = row.max_points_num // row.max_points_den
    kind, aggregation = cast(GroupKind, row.kind), cast(Aggregation, row.aggregation)
    return Group(row.name, kind, most, aggregation, tuple(row.require_pass))
