"""Test cases and groups of a problem, many changed at once: put, moved, deleted; groups made, renamed, given points.

A change is made to the problem's document, and the difference is written. What the package format demands of the whole
is checked at the end: all faults are listed.
"""

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.core.bodies import Body, Line
from app.core.faults import NONE, Faults
from app.core.json_documents import GroupDocument, ProblemDocument
from app.core.messages import N_
from app.domain.documents import CaseListDocument
from app.packages import model
from app.problems.queries import problem_diff, problems, testcases
from app.tables import TestGroupRow

GROUP = re.compile(r"secret(/[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,99})?")
DEFAULT_AGGREGATION = "pass-fail"
MOST_GROUPS = 1000
MOST_NAMED = 10_000
Points = Annotated[int, Field(strict=True, ge=0, le=10**9)]


class TestGroupChange(Body):
    """A group to create or change; omitted properties stay. `rename`: its new name; `final`: it decides at the end."""

    name: Line
    rename: Line | None = None
    max_points: Points | None = None
    aggregation: Literal["sum", "min", "pass-fail"] | None = None
    require_pass: list[Line] | None = Field(None, max_length=MOST_GROUPS)
    final: bool | None = None


class DataBody(Body):
    """A change of test data: groups, moves of cases, their order and points, and cases that are deleted."""

    groups: list[TestGroupChange] = Field(default_factory=list, max_length=MOST_GROUPS)
    move: dict[str, Line] = Field(default_factory=dict, max_length=MOST_NAMED, description="the group, by case name")
    order: list[Line] | None = Field(None, max_length=MOST_NAMED, description="cases that come first in their groups")
    points: dict[str, Points | None] = Field(
        default_factory=dict,
        max_length=MOST_NAMED,
        description="points of single cases of groups with sum; null: a share of what is left",
    )
    delete: list[Line] = Field(default_factory=list, max_length=MOST_NAMED, description="names of cases")


@dataclass(frozen=True, slots=True)
class DataChange:
    """A change of a problem's test data; `cases` are put, `only`: all other cases go."""

    problem_id: str
    cases: Sequence[testcases.NewCase] = ()
    body: DataBody = field(default_factory=DataBody)
    only: bool = False


def write(session: Session, change: DataChange) -> None:
    """Write all of it; raises PackageErrors with every fault."""
    before = problem_diff.document(session, change.problem_id)
    after = _changed(before, change)
    problems.write_rows(session, change.problem_id, problem_diff.difference(before, after))


def _changed(before: ProblemDocument, change: DataChange) -> ProblemDocument:
    after, faults = copy.deepcopy(before), Faults()
    groups = _change_groups(after, change, faults)
    for new in change.cases:
        testcases.put(after, new)
    _move_and_delete(after, groups, change, faults)
    _drop_empty(after, groups, change, faults)
    after["groups"] = sorted(groups.values(), key=lambda group: group["ordinal"])
    _check(after, groups, change.problem_id, faults)
    _list(after, change, faults)
    faults.settle()
    testcases.renumber(after)
    return after


def _change_groups(version: ProblemDocument, change: DataChange, faults: Faults) -> dict[str, GroupDocument]:
    """The groups by their names, changed."""
    groups = {group["name"]: group for group in version["groups"]}
    if "sample" in {*change.body.move.values(), *(new.group for new in change.cases)}:
        groups.setdefault("sample", _new_group("sample"))
    for group in change.body.groups:
        _check_group(group, faults)
        known = groups.setdefault(group.name, _new_group(group.name))
        if group.max_points is not None:
            known["max_points_num"], known["max_points_den"] = group.max_points, 1
        known["aggregation"] = group.aggregation or known["aggregation"]
        if group.require_pass is not None:
            known["require_pass"] = list(group.require_pass)
        if group.final is not None:
            known["kind"] = "final" if group.final else "provisional"
        if group.rename is not None and group.rename != group.name:
            _rename(version, groups, group, faults)
    if groups.keys() != {group["name"] for group in version["groups"]}:
        for at, name in enumerate(sorted(groups), start=1):
            groups[name]["ordinal"] = at
    return groups


def _new_group(name: str) -> GroupDocument:
    return {
        "name": name,
        "ordinal": 0,
        "kind": "sample" if name == "sample" else "provisional",
        "max_points_num": 0,
        "max_points_den": 1,
        "aggregation": DEFAULT_AGGREGATION,
        "require_pass": [],
    }


def _check_group(group: TestGroupChange, faults: Faults) -> None:
    for name in (group.name, group.rename or "secret"):
        if not GROUP.fullmatch(name):
            faults.expect(f"group {group.name}", "", N_("a name such as secret/large"), repr(name[:80]))


def _rename(version: ProblemDocument, groups: dict[str, GroupDocument], group: TestGroupChange, faults: Faults) -> None:
    wanted = str(group.rename)
    if wanted in groups:
        faults.expect(f"group {group.name}", "rename", N_("a name that no group has"), wanted)
        return
    groups[wanted] = {**groups.pop(group.name), "name": wanted}
    for other in groups.values():
        other["require_pass"] = [wanted if each == group.name else each for each in other["require_pass"]]
    for case in version["cases"].values():
        if case["group_name"] == group.name:
            case["group_name"] = wanted


def _move_and_delete(
    version: ProblemDocument, groups: dict[str, GroupDocument], change: DataChange, faults: Faults
) -> None:
    cases, names = version["cases"], ", ".join(sorted(groups))
    for name in [*change.body.move, *change.body.delete]:
        if name not in cases:
            faults.expect(
                f"test case {name}", "", N_("a test case of %(problem_id)s"), NONE, problem_id=change.problem_id
            )
    for name, group in change.body.move.items():
        if group not in groups:
            faults.expect(f"test case {name}", "group", N_("one of %(groups)s"), group, groups=names)
        elif name in cases:
            cases[name]["group_name"] = group
    sent = {new.name for new in change.cases}
    for name in [*change.body.delete, *(name for name in cases if change.only and name not in sent)]:
        cases.pop(name, None)


def _drop_empty(version: ProblemDocument, groups: dict[str, GroupDocument], change: DataChange, faults: Faults) -> None:
    """Take out groups that have lost their cases; one that is made needs a case."""
    made = {group.rename or group.name for group in change.body.groups}
    for name in sorted(groups.keys() - {case["group_name"] for case in version["cases"].values()}):
        if name in made:
            faults.expect(f"group {name}", "", N_("at least one test case"), NONE)
        del groups[name]


def _list(version: ProblemDocument, change: DataChange, faults: Faults) -> None:
    """Write the order of cases and the points of single ones, checked."""
    settings, cases = version["columns"]["settings"], version["cases"]
    known = settings.get("testcases", model.NOTHING)
    points = {name: most for name, most in known["points"].items() if name in cases} | change.body.points
    order = [name for name in known["order"] if name in cases] if change.body.order is None else change.body.order
    wanted: CaseListDocument = {
        "order": list(order),
        "points": {name: most for name, most in points.items() if most is not None},
    }
    groups = [testcases.package_group(TestGroupRow(**group)) for group in version["groups"]]
    members = {group.name: [name for name in cases if cases[name]["group_name"] == group.name] for group in groups}
    model.check(wanted, groups, members, change.problem_id, faults)
    if wanted != known:
        settings["testcases"] = wanted


def _check(version: ProblemDocument, groups: dict[str, GroupDocument], problem_id: str, faults: Faults) -> None:
    """Hold the groups against what the package format demands."""
    secret = [name for name in groups if name != "sample"]
    if not secret:
        faults.expect(problem_id, "", N_("at least one secret test case"), NONE)
    if "secret" in groups and len(secret) > 1:
        faults.expect("group secret", "", N_("all secret cases in groups, or none"), ", ".join(sorted(secret)))
    for name, case in version["cases"].items():
        if case["group_name"] not in groups:
            expected = f"one of {', '.join(sorted(groups))}, or a test_group.yaml in the folder"
            faults.expect(f"test case {name}", "group", expected, case["group_name"])
    for group in groups.values():
        for name in group["require_pass"]:
            if name not in groups or name >= group["name"] or groups[name]["aggregation"] != "pass-fail":
                expected = "groups with pass-fail aggregation that come before it"
                faults.expect(f"group {group['name']}", "require_pass", expected, name)
