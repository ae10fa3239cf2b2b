"""Differences of two versions of a problem that matter to a contest: case by case, field by field.

Compared is all that contestants read or are judged by. Left out is what neither sees nor changes points: where an
expected answer came from, how a reference run would be made, ladders, solutions, example submissions, and the order in
which cases and groups are listed.

- The difference between two versions of a problem in words, and case by case.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal, NamedTuple

from app.contests.schemas import Rule
from app.core.json_documents import CaseDocument, ProblemColumns, ProblemDocument
from app.problems.queries.problem_diff import Cases, changed, rule_of, unanswered
from app.problems.queries.problems import KeptPackage, group_columns, problem_columns

# The keys of jurado.yaml that judging follows; which groups are final is told by the groups themselves.
SETTINGS = ("checker", "program", "scoring", "answers", "inputs")
LONGEST = 80
HASH_SHOWN = 12
SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
NONE = "none"


class Difference(NamedTuple):
    """A field in which two versions differ: its place, and its value in each."""

    where: str
    expected: str
    found: str


def package_document(stored: KeptPackage) -> ProblemDocument:
    """A package as the document that its rows would give."""
    return {
        "columns": problem_columns(stored),
        "groups": group_columns(stored.package),
        "cases": {name: columns.copy() for name, columns in stored.cases.items()},
        "rules": {},
    }


def differences(expected: ProblemDocument, actual: ProblemDocument) -> list[Difference]:
    """List every field in which `actual` differs from `expected`, in the order: texts, settings, groups, test cases."""
    one, other = _fields(expected), _fields(actual)
    alone = {name for name, _ in _open(expected)} ^ {name for name, _ in _open(actual)}
    fields = (place for place in (*one, *other) if place.partition(": ")[0] not in {f"test case {n}" for n in alone})
    places = dict.fromkeys([*fields, *(f"test case {name}" for name in sorted(alone))])
    return [
        Difference(place, _shown(one.get(place)), _shown(other.get(place)))
        for place in places
        if one.get(place) != other.get(place)
    ]


def _fields(version: ProblemDocument) -> dict[str, object]:
    return {**dict(_texts(version["columns"])), **dict(_groups(version)), **dict(_cases(version))}


def _texts(columns: ProblemColumns) -> Iterator[tuple[str, object]]:
    for language, name in sorted(columns["names"].items()):
        yield f"name in {language}", name
    for language, statement in sorted(columns["statements"].items()):
        yield f"statement in {language}", f"{statement['kind']} {_hash(statement['sha256'])}"
    for language, solution in sorted(columns["metadata_"]["solutions"].items()):
        yield f"solution in {language}", f"{solution['kind']} {_hash(solution['sha256'])}"
    for case, sha256 in sorted(columns["metadata_"]["sample_outputs"].items()):
        yield f"test case {case}: output shown", _hash(sha256)
    yield from _flat("limits", columns["metadata_"]["limits"])
    for key in SETTINGS:
        yield from _flat(key, columns["settings"].get(key))


def _flat(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(f"{place}.{key}", each)
    elif value is not None:
        yield place, value


def _groups(version: ProblemDocument) -> Iterator[tuple[str, object]]:
    """The groups that have an open case, and those that points are lost by."""
    used = {case["group_name"] for _, case in _open(version)}
    for group in sorted(version["groups"], key=lambda group: str(group["name"])):
        points = Fraction(group["max_points_num"], group["max_points_den"])
        if group["name"] in used or points:
            place = f"group {group['name']}"
            yield f"{place}: kind", group["kind"]
            yield f"{place}: max points", points
            yield f"{place}: aggregation", group["aggregation"]
            yield f"{place}: require_pass", ", ".join(group["require_pass"]) or NONE


def _cases(version: ProblemDocument) -> Iterator[tuple[str, object]]:
    for name, case in _open(version):
        place = f"test case {name}"
        yield place, "a test case"
        yield f"{place}: group", case["group_name"]
        yield f"{place}: points", Fraction(case["points_num"], case["points_den"])
        yield f"{place}: input", _hash(case["input_sha256"])
        yield f"{place}: expected answer", _hash(case["answer_sha256"])
        yield f"{place}: checker arguments", " ".join(case["checker_args"] or ()) or NONE


def _open(version: ProblemDocument) -> list[tuple[str, CaseDocument]]:
    """The cases with an expected answer: nobody can be judged on the others."""
    return sorted((name, case) for name, case in version["cases"].items() if case["answer_sha256"] is not None)


def _hash(sha256: str | None) -> str:
    return f"sha256 {sha256}"


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    text = SHA256.sub(lambda digest: digest[0][:HASH_SHOWN], str(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


# What people call a setting.
NAMES = {"program.sha256": "checker program"}
# The parts of a test case that are named when they change, each with its columns.
PARTS: Mapping[str, tuple[str, ...]] = {
    "input": ("input_sha256",),
    "expected answer": ("answer_sha256",),
    "checker": ("checker_args",),
    "group": ("group_name",),
    "points": ("points_num", "points_den"),
}


class CaseChange(NamedTuple):
    """A test case that differs between two versions, and the parts of it that do."""

    name: str
    kind: Literal["added", "removed", "changed"]
    parts: tuple[str, ...] = ()


def summary(before: ProblemDocument, after: ProblemDocument) -> list[str]:
    """The difference in words, a line for each thing that is another."""
    lines = [
        f"{NAMES.get(each.where, each.where)}: {each.expected} → {each.found}"
        for each in differences(before, after)
        if not each.where.startswith("test case ")
    ]
    lines += _case_lines(before["cases"], after["cases"])
    for contest in after["rules"]:
        if contest in before["rules"] and rule_of(before, contest) != rule_of(after, contest):
            mine, theirs = (Rule.of(rule_of(version, contest)).model_dump() for version in (before, after))
            lines.append(f"rule in {contest}: {_words(mine, theirs)} → {_words(theirs, mine)}")
    return lines or ["texts and other settings"]


def _words(value: Mapping[str, object], other: Mapping[str, object] | None = None) -> str:
    """A mapping in words, or only what is not the same in another one."""
    shown = {key: each for key, each in value.items() if other is None or other.get(key) != each}
    return ", ".join(f"{key} {each}" for key, each in shown.items())


def _case_lines(old: Cases, new: Cases) -> list[str]:
    lines = [f"test case {each.name}: {', '.join(each.parts) or each.kind}" for each in case_changes(old, new)]
    return [*lines, *(f"test case {name}: has no expected answer yet" for name in unanswered(old, new))]


def case_changes(old: Cases, new: Cases) -> list[CaseChange]:
    """The test cases that one version has otherwise than another, or not at all: first those that are removed."""
    changes = [CaseChange(name, "removed") for name in old if name not in new]
    for name, case in new.items():
        if name not in old:
            changes.append(CaseChange(name, "added"))
            continue
        columns = changed(old[name], case).keys()
        if parts := tuple(part for part, own in PARTS.items() if not columns.isdisjoint(own)):
            changes.append(CaseChange(name, "changed", parts))
    return changes
