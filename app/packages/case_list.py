"""The order of test cases and points of single ones: the key `testcases` of jurado.yaml, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from app.core.faults import Faults
from app.domain.documents import CaseListDocument
from app.packages.model import Group

NOTHING: CaseListDocument = {"order": [], "points": {}}


def place(known: CaseListDocument, name: str) -> int:
    """The place of a case in its group: as listed, and behind those all others (which are sorted by name)."""
    order = known["order"]
    return order.index(name) if name in order else len(order)


def shares(group: Group, names: Collection[str], known: CaseListDocument) -> dict[str, Fraction]:
    """The most points that each open case of a group can give.

    Of a group with `sum` those with points of their own get them, and the others share the rest equally.
    """
    most = Fraction(group.max_score or 0)
    if group.aggregation != "sum":
        return dict.fromkeys(names, most)
    own = {name: Fraction(known["points"][name]) for name in names if name in known["points"]}
    rest, total = len(names) - len(own), sum(own.values(), Fraction(0))
    if not rest and total:
        return {name: points * most / total for name, points in own.items()}  # a case that had the rest is gone
    share = (most - total) / rest if rest else Fraction(0)
    return {name: own.get(name, share) for name in names}


def check(
    known: CaseListDocument, groups: Sequence[Group], members: Mapping[str, Iterable[str]], file: str, faults: Faults
) -> None:
    """Note names that no case has, and points that do not fit into those of the group."""
    by_name = {group.name: group for group in groups}
    group_of = {name: by_name[group] for group, names in members.items() for name in names if group in by_name}
    for name in [*known["order"], *known["points"]]:
        if name not in group_of:
            faults.expect(file, "testcases", expected="names of test cases", found=name)
    if len(set(known["order"])) < len(known["order"]):
        faults.expect(file, "testcases.order", expected="each name once", found="one of them again")
    for group in groups:
        names = [name for name, own in group_of.items() if own is group]
        own = {name: known["points"][name] for name in names if name in known["points"]}
        if not own:
            continue
        total, most = sum(own.values()), group.max_score or 0
        if group.aggregation != "sum" or group.kind == "sample":
            expected = "points of cases in secret groups with the aggregation sum"
            faults.expect(file, "testcases.points", expected=expected, found=f"{min(own)} in {group.name}")
        elif total > most or (total < most and len(own) == len(names)):
            expected = f"points that make {most} in {group.name}" if total < most else f"at most {most} in {group.name}"
            faults.expect(file, "testcases.points", expected=expected, found=str(total))
