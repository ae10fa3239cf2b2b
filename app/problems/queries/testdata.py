"""Test cases and groups of a problem, many changed at once: put, moved, deleted; groups made, renamed, given points.

What the package format demands of the whole is checked when all is written: all faults are listed.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from app.core.bodies import Body, Line
from app.core.faults import NONE, Faults
from app.core.files.files import FileStore
from app.core.json_documents import GroupDocument
from app.core.messages import N_, Conflict, NotFound
from app.domain.documents import CaseListDocument, FoundScore
from app.packages import model
from app.problems.queries import problem_diff, problems, testcases
from app.tables import ProblemRow, TestGroupRow

GROUP = re.compile(r"secret(/[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,99})?")
DEFAULT_AGGREGATION = "pass-fail"
MOST_GROUPS = 1000
Points = Annotated[int, Field(strict=True, ge=0, le=10**9)]


class TestGroupChange(Body):
    """A group to be made or changed; what is omitted stays. `rename`: its new name; `final`: it decides at the end."""

    name: Line
    rename: Line | None = None
    max_points: Points | None = None
    aggregation: Literal["sum", "min", "pass-fail"] | None = None
    require_pass: list[Line] | None = Field(None, max_length=MOST_GROUPS)
    final: bool | None = None


@dataclass(frozen=True, slots=True)
class DataChange:
    """A change of a problem's test data: moved are groups by the names of cases; `only`: all other cases go.

    single  the group of the only case that is put or deleted: it must be in this group, which keeps another case
    order   names of cases that come first in their groups; None: as it is
    points  of single cases in groups with `sum`; None: an equal share of what is left
    """

    problem_id: str
    cases: Sequence[tuple[testcases.NewCase, FoundScore | None]] = ()
    groups: Sequence[TestGroupChange] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    deleted: Collection[str] = ()
    only: bool = False
    order: Sequence[str] | None = None
    points: Mapping[str, int | None] = field(default_factory=dict)
    single: str | None = None


def write(session: Session, files: FileStore, change: DataChange) -> None:
    """Write all of it; raises PackageErrors with every fault, and then the caller rolls back."""
    faults = Faults()
    _check_single(session, change)
    _put_groups(session, change, faults)
    for new, score in change.cases:
        testcases.put_row(session, files, new, score)
    _move_and_delete(session, change, faults)
    session.flush()
    _drop_empty(session, change, faults)
    _check(session, change.problem_id, faults)
    _list(session, change, faults)
    faults.settle()
    testcases.renumber(session, change.problem_id)


def _check_single(session: Session, change: DataChange) -> None:
    """Raise NotFound or Conflict where a single case is in another group, or the last one of its group."""
    if change.single is None:
        return
    groups = {row.name: row.group_name for row in problems.test_cases(session, change.problem_id)}
    for new, _ in change.cases:
        if (group := groups.get(new.name, change.single)) != change.single:
            message = N_("%(case)s is a test case of %(group)s already; names are unique in a problem")
            raise Conflict(message, case=new.name, group=group)
    for name in change.deleted:
        if groups.get(name) != change.single:
            message = N_("problem %(problem)r has no test case %(case)r in %(group)r")
            raise NotFound(message, problem=change.problem_id, case=name, group=change.single)
        if change.single != "sample" and list(groups.values()).count(change.single) == 1:
            message = N_("%(case)s is the only test case of %(group)s, whose points nobody could earn without it")
            raise Conflict(message, case=name, group=change.single)


def _put_groups(session: Session, change: DataChange, faults: Faults) -> None:
    """Write the groups anew: rows whose names change cannot be altered in place."""
    groups = {row.name: problem_diff.fields(row, GroupDocument) for row in problems.groups(session, change.problem_id)}
    needs_samples = any(new.group == "sample" for new, _ in change.cases) or "sample" in change.moved.values()
    if not change.groups and not (needs_samples and "sample" not in groups):
        return
    if needs_samples:
        groups.setdefault("sample", _new_group("sample"))
    for group in change.groups:
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
            _rename(session, change.problem_id, groups, group, faults)
    for at, name in enumerate(sorted(groups), start=1):
        groups[name]["ordinal"] = at
    session.flush()
    session.execute(delete(TestGroupRow).where(TestGroupRow.problem_id == change.problem_id))
    session.execute(insert(TestGroupRow), [{"problem_id": change.problem_id, **each} for each in groups.values()])
    session.expire_all()


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


def _rename(
    session: Session, problem_id: str, groups: dict[str, GroupDocument], group: TestGroupChange, faults: Faults
) -> None:
    wanted = str(group.rename)
    if wanted in groups:
        faults.expect(f"group {group.name}", "rename", N_("a name that no group has"), wanted)
        return
    groups[wanted] = {**groups.pop(group.name), "name": wanted}
    for other in groups.values():
        other["require_pass"] = [wanted if each == group.name else each for each in other["require_pass"]]
    for case in problems.test_cases(session, problem_id):
        if case.group_name == group.name:
            case.group_name = wanted


def _move_and_delete(session: Session, change: DataChange, faults: Faults) -> None:
    rows = {row.name: row for row in problems.test_cases(session, change.problem_id)}
    groups = {row.name for row in problems.groups(session, change.problem_id)}
    sent = {new.name for new, _ in change.cases}
    for name in [*change.moved, *change.deleted]:
        if name not in rows:
            faults.expect(
                f"test case {name}", "", N_("a test case of %(problem_id)s"), NONE, problem_id=change.problem_id
            )
    for name, group in change.moved.items():
        if group not in groups:
            faults.expect(
                f"test case {name}", "group", N_("one of %(groups)s"), group, groups=", ".join(sorted(groups))
            )
        elif name in rows:
            rows[name].group_name = group
    gone = [*change.deleted, *(name for name in rows if change.only and name not in sent)]
    for name in gone:
        if name in rows:
            rows[name].removed = True  # answers, raw scores and earlier versions refer to it


def _drop_empty(session: Session, change: DataChange, faults: Faults) -> None:
    """Take out groups that have lost their cases; one that is made needs a case."""
    used = {row.group_name for row in problems.test_cases(session, change.problem_id)}
    made = {group.rename or group.name for group in change.groups}
    for row in problems.groups(session, change.problem_id):
        if row.name in used:
            continue
        if row.name in made:
            faults.expect(f"group {row.name}", "", N_("at least one test case"), NONE)
        session.delete(row)
    session.flush()


def _list(session: Session, change: DataChange, faults: Faults) -> None:
    """Write the order of cases and the points of single ones, checked."""
    row = session.get_one(ProblemRow, change.problem_id)
    known = row.settings.get("testcases", model.NOTHING)
    cases = problems.test_cases(session, change.problem_id)
    names = {case.name for case in cases}
    before = {name: most for name, most in known["points"].items() if name in names}
    points = {**before, **change.points}
    order = [name for name in known["order"] if name in names] if change.order is None else change.order
    wanted: CaseListDocument = {
        "order": list(order),
        "points": {name: most for name, most in points.items() if most is not None},
    }
    groups = [testcases.package_group(each) for each in problems.groups(session, change.problem_id)]
    members = {group.name: [case.name for case in cases if case.group_name == group.name] for group in groups}
    model.check(wanted, groups, members, change.problem_id, faults)
    if wanted != known:
        row.settings = {**row.settings, "testcases": wanted}


def _check(session: Session, problem_id: str, faults: Faults) -> None:
    """Hold the groups against what the package format demands."""
    rows = {row.name: row for row in problems.groups(session, problem_id)}
    secret = [name for name in rows if name != "sample"]
    if not secret:
        faults.expect(problem_id, "", N_("at least one secret test case"), NONE)
    if "secret" in rows and len(secret) > 1:
        names = ", ".join(secret)
        faults.expect("group secret", "", N_("all secret cases in groups, or none"), names)
    for case in [each for each in problems.test_cases(session, problem_id) if each.group_name not in rows]:
        expected = f"one of {', '.join(sorted(rows))}, or a test_group.yaml in the folder"
        faults.expect(f"test case {case.name}", "group", expected, case.group_name)
    for row in rows.values():
        for name in row.require_pass:
            if name not in rows or name >= row.name or rows[name].aggregation != "pass-fail":
                expected = "groups with pass-fail aggregation that come before it"
                faults.expect(f"group {row.name}", "require_pass", expected, name)
