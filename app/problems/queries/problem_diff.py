"""A problem's rows as one document: what differs between two versions of it, and writing a difference to the rows.

A rejudging keeps such a difference until it is applied, and once it is, the difference that leads back.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.contests.schemas import Rule
from app.core.json_documents import CaseDocument, GroupDocument, ProblemChanges, ProblemColumns, ProblemDocument
from app.domain import contests, counting, documents
from app.problems.queries import pins, problems, scoring_input
from app.tables import ContestProblemRow, ProblemRow, TestCaseRow, TestGroupRow

D = TypeVar("D", ProblemColumns, GroupDocument, CaseDocument)
Cases = Mapping[str, CaseDocument]
JUDGED = ("input_sha256", "answer_sha256", "checker_args")
REFERENCE = (
    "reference_raw_num",
    "reference_raw_den",
    "reference_multiplier_num",
    "reference_multiplier_den",
)
COUNTED = ("group_name", "points_num", "points_den")
# Fields that may change without making it a different case.
LEARNT = frozenset({*REFERENCE, "provenance"})


def document(session: Session, problem_id: str, contest_id: str | None = None) -> ProblemDocument:
    """Read a problem as it is now, and the rules its contests give it; of a contest, as that has it."""
    if contest_id is not None and (version := pins.number(session, contest_id, problem_id)) is not None:
        return of_version(session, problem_id, version, contest_id)
    row = session.get_one(ProblemRow, problem_id)
    rules = select(ContestProblemRow.contest_id, ContestProblemRow.rule).where(
        ContestProblemRow.problem_id == problem_id,
        ContestProblemRow.version.is_(None) | (ContestProblemRow.version == row.version),
    )
    current: ProblemDocument = {
        "columns": fields(row, ProblemColumns),
        "groups": [fields(group, GroupDocument) for group in problems.groups(session, row.id)],
        "cases": {case.name: fields(case, CaseDocument) for case in problems.test_cases(session, row.id)},
        "rules": {contest: rule.model_dump(exclude_unset=True) for contest, rule in session.execute(rules)},
    }
    return copy.deepcopy(current)


def of_version(session: Session, problem_id: str, version: int, contest_id: str | None = None) -> ProblemDocument:
    """Read an earlier version of a problem, with a contest's rule for it if one is given."""
    entry = None if contest_id is None else session.get(ContestProblemRow, (contest_id, problem_id))
    known = pins.superseded(session, problem_id, version)
    rules = {} if entry is None else {entry.contest_id: entry.rule.model_dump(exclude_unset=True)}
    earlier: ProblemDocument = {**known, "rules": rules}
    return copy.deepcopy(earlier)


def fields(row: ProblemRow | TestGroupRow | TestCaseRow, kind: type[D]) -> D:
    """The columns of a row that a kind of document has."""
    return cast(D, {name: getattr(row, name) for name in kind.__annotations__})


def difference(before: ProblemDocument, after: ProblemDocument) -> ProblemChanges:
    """The changes that lead from one version to another."""
    changes: ProblemChanges = {}
    if columns := changed(before["columns"], after["columns"]):
        changes["columns"] = cast(ProblemColumns, columns)  # some of the columns of `after`
    if rules := {name: rule for name, rule in after["rules"].items() if before["rules"].get(name) != rule}:
        changes["rules"] = rules
    if before["groups"] != after["groups"]:
        changes["groups"] = after["groups"]
    names = [*before["cases"], *(name for name in after["cases"] if name not in before["cases"])]
    cases = {name: after["cases"].get(name) for name in names if before["cases"].get(name) != after["cases"].get(name)}
    if cases:
        changes["cases"] = cases
    return changes


def changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    """The values of `after` that `before` does not have."""
    return {name: value for name, value in after.items() if before.get(name) != value}


def unanswered(old: Cases, new: Cases) -> list[str]:
    """The cases that one version has an expected answer of, or does not have at all, and another has without one."""
    return [
        name
        for name, case in new.items()
        if case["answer_sha256"] is None and (name not in old or old[name]["answer_sha256"] is not None)
    ]


def merged(before: ProblemDocument, changes: ProblemChanges) -> ProblemDocument:
    """The version that the changes lead to."""
    cases: dict[str, CaseDocument | None] = {**before["cases"], **changes.get("cases", {})}
    changed: ProblemColumns = changes.get("columns", {})
    return {
        "columns": {**before["columns"], **changed},
        "groups": changes.get("groups", before["groups"]),
        "cases": {name: case for name, case in cases.items() if case is not None},
        "rules": before["rules"] | changes.get("rules", {}),
    }


def write(session: Session, problem_id: str, changes: ProblemChanges) -> ProblemChanges:
    """Make the changes; returns those that undo them."""
    before = document(session, problem_id)
    problems.write_rows(session, problem_id, changes)
    for contest_id, rule in changes.get("rules", {}).items():
        entry = session.get(ContestProblemRow, (contest_id, problem_id))
        if entry is not None:  # also one that stays with an earlier version: `document` has none of its rules
            before["rules"][contest_id] = entry.rule.model_dump(exclude_unset=True)
            entry.rule = Rule.model_validate(rule)
    session.flush()
    session.expire_all()
    return difference(document(session, problem_id), before)


def tried(
    session: Session,
    problem_id: str,
    changes: ProblemChanges,
    change: Callable[[], None],
    contest_id: str | None = None,
) -> ProblemDocument:
    """The version that `change` makes of the one `changes` lead to, of a contest if one is given; nothing is kept."""
    savepoint = session.begin_nested()
    try:
        if changes:
            write(session, problem_id, changes)
        change()
        session.flush()
        session.expire_all()
        return document(session, problem_id, contest_id)
    finally:
        savepoint.rollback()
        session.expire_all()


def matters(before: ProblemDocument, after: ProblemDocument) -> bool:
    """Could anyone's points or verdicts be different? Statements and names, say, make no difference."""
    return needs_judging(before, after) or _points(before) != _points(after)


def needs_judging(before: ProblemDocument, after: ProblemDocument) -> bool:
    """Could a verdict, or a raw score, be different?"""
    return _judging(before) != _judging(after)


def _judging(version: ProblemDocument) -> tuple[object, ...]:
    """The part of a version that verdicts and raw scores depend on."""
    settings = version["columns"]["settings"]
    kinds = {group["name"]: group["kind"] for group in version["groups"]}
    cases = {
        name: (*_values(case, JUDGED), kinds.get(case["group_name"]))
        for name, case in version["cases"].items()
        if case["answer_sha256"] is not None  # else no one can send an answer for it
    }
    rules = {contest: rule_of(version, contest).kind for contest in version["rules"]}
    return settings["checker"], settings.get("program"), settings["scoring"], answer_limit(settings), cases, rules


def _points(version: ProblemDocument) -> tuple[object, ...]:
    """The part of a version that points depend on beside raw scores."""
    groups = [{name: value for name, value in group.items() if name != "ordinal"} for group in version["groups"]]
    rules = {contest: rule_of(version, contest) for contest in version["rules"]}
    columns = (*COUNTED, *REFERENCE) if any(rule.reference_counts for rule in rules.values()) else COUNTED
    cases = {
        name: _values(case, columns) for name, case in version["cases"].items() if case["answer_sha256"] is not None
    }
    return groups, cases, rules


def _values(case: Mapping[str, object], columns: Sequence[str]) -> tuple[object, ...]:
    return tuple(case[column] for column in columns)


def rule_of(version: ProblemDocument, contest_id: str) -> contests.ScoringRule:
    """The whole rule a contest gives the problem."""
    own = version["columns"]["settings"]["scoring"]
    most = sum((Fraction(each["max_points_num"], each["max_points_den"]) for each in version["groups"]), Fraction(0))
    return Rule.model_validate(version["rules"][contest_id]).over(own["kind"], own["direction"], most)


def answer_limit(settings: documents.ProblemSettingsDocument) -> int | None:
    """The most bytes an answer may have, where the problem says so."""
    return settings["answers"]["limit"] if "answers" in settings else None


def without_learnt(cases: Cases) -> dict[str, dict[str, object]]:
    """The cases without what is learnt of them later."""
    return {name: {key: value for key, value in case.items() if key not in LEARNT} for name, case in cases.items()}


def fingerprint(version: ProblemDocument, contests: Iterable[str] = ()) -> str:
    """Tells whether a problem, and the rules that these contests give it, are still as they were.

    What is learnt of cases later makes no difference.
    """
    known = {
        "columns": version["columns"],
        "groups": version["groups"],
        "cases": without_learnt(version["cases"]),
        "rules": {contest: version["rules"].get(contest) for contest in contests},
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def scored(version: ProblemDocument, problem_id: str, contest_id: str) -> contests.ScoredProblem:
    """The version as a contest scores it."""
    groups = [TestGroupRow(problem_id=problem_id, **group) for group in version["groups"]]
    cases = [TestCaseRow(problem_id=problem_id, name=name, **case) for name, case in version["cases"].items()]
    cases.sort(key=lambda case: case.ordinal)
    rule = Rule.model_validate(version["rules"].get(contest_id, {}))
    return scoring_input.scored_of(problem_id, version["columns"]["settings"], groups, cases, rule)


def reference_scores(version: ProblemDocument) -> dict[str, counting.RawScore]:
    """Scores of the expected answers, where they are known."""
    return scoring_input.known_scores([TestCaseRow(name=name, **case) for name, case in version["cases"].items()])


def counted_cases(version: ProblemDocument) -> frozenset[str]:
    """The names of the cases that count during a contest."""
    kinds = {group["name"]: group["kind"] for group in version["groups"]}
    return frozenset(
        name
        for name, case in version["cases"].items()
        if case["answer_sha256"] is not None and kinds.get(case["group_name"]) == contests.CaseKind.PROVISIONAL
    )
