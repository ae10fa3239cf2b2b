"""The groups of a report: a bar for each with the rule that makes its points, and the reason for no points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.pages.languages import _, gettext, ngettext
from app.core.pages.wording import AGGREGATIONS, points, width
from app.domain.contests import Aggregation, Group
from app.domain.scoring import adds_up
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.service.report_bodies import Report, ReportedCase, ReportedGroup


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group of a report: its rule, its points, and why it has none."""

    name: str
    rule: str
    points: str
    most: str
    bar: int
    why: str


def group_lines(snapshot: ContestSnapshot, report: Report) -> list[GroupLine]:
    """Return the groups of a report; empty if the points are those of the cases of a single group."""
    problem = snapshot.contest.problem(report.problem_id)
    groups = {} if problem is None else {group.name: group for group in problem.groups}
    shown = [(each, groups[each.name]) for each in report.groups if each.max_points > 0 and each.name in groups]
    if all(_adds_up(group) for _each, group in shown) and len(shown) < 2:
        return []
    return [_line(each, group, [case for case in report.cases if case.group == each.name]) for each, group in shown]


def summed(report: Report) -> set[str]:
    """Return the groups whose points are the sum of the points shown for their cases."""
    return {
        each.name
        for each in report.groups
        if adds_up(each.aggregation, each.points, (case.points for case in report.cases if case.group == each.name))
    }


def _adds_up(group: Group) -> bool:
    return group.aggregation is Aggregation.SUM and not group.require_pass


def _line(each: ReportedGroup, group: Group, cases: Sequence[ReportedCase]) -> GroupLine:
    rules = [gettext(AGGREGATIONS[group.aggregation])]
    if group.require_pass:
        needed = ", ".join(_short(name) for name in group.require_pass)
        rules.append(_("It needs the full points of: %(groups)s.", groups=needed))
    return GroupLine(
        _short(each.name),
        " ".join(rules),
        points(each.points, 2),
        points(each.max_points, 2),
        width(each.points / each.max_points),
        _why(each, group, cases),
    )


def _why(each: ReportedGroup, group: Group, cases: Sequence[ReportedCase]) -> str:
    """Return why a group has no points; empty if it has some."""
    if each.points > 0 or each.why is None:
        return ""
    if each.why.startswith("needs "):
        return _("A group that it needs does not have its full points.")
    if group.aggregation is Aggregation.PASS_FAIL:
        short = sum((case.points or 0.0) < case.max_points for case in cases)
        return ngettext(
            "%(num)s of %(all)s cases is not right.", "%(num)s of %(all)s cases are not right.", short, all=len(cases)
        )
    short = sum(not case.points for case in cases)
    return ngettext(
        "%(num)s of %(all)s cases gives nothing.", "%(num)s of %(all)s cases give nothing.", short, all=len(cases)
    )


def _short(name: str) -> str:
    return name.removeprefix("secret/")
