"""Versions of a problem: each change of what it consists of makes one, and contests stay with theirs until it is moved.

The newest version is the problem's rows. An earlier one is a manifest, written at the moment it is superseded, so that
it holds what was learnt of it until then, such as the scores of expected answers.

- Differences of two versions of a problem that matter to a contest: case by case, field by field. Compared is all
  that contestants read or are judged by. Left out is what neither sees nor changes points: where an expected answer
  came from, how a reference run would be made, ladders, solutions, example submissions, and the order in which cases
  and groups are listed.
- The difference between two versions of a problem in words, and case by case.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from app.contests.schemas import Rule
from app.core.clock import utc_now
from app.core.json_documents import CaseDocument, ManifestDocument, ProblemChanges, ProblemColumns, ProblemDocument
from app.problems.queries import pins, problem_diff, problems
from app.problems.queries.problem_diff import Cases, changed, rule_of, unanswered
from app.tables import ContestProblemRow, ProblemRow, ProblemVersionRow, SubmissionRow

# The keys of jurado.yaml that judging follows; which groups are final is told by the groups themselves.
SETTINGS = ("checker", "program", "scoring", "answers", "inputs")
LONGEST = 80
HASH_SHOWN = 12
SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
NONE = "none"


class Difference(BaseModel):
    """A field in which two versions differ: its place, and its value in each."""

    where: str
    before: str
    after: str


def package_document(stored: problems.KeptPackage) -> ProblemDocument:
    """A package as the document that its rows would give."""
    return {
        "columns": problems.problem_columns(stored),
        "groups": problems.group_columns(stored.package),
        "cases": {name: columns.copy() for name, columns in stored.cases.items()},
        "rules": {},
    }


def differences(before: ProblemDocument, after: ProblemDocument) -> list[Difference]:
    """List every field in which two versions differ, in the order: texts, settings, groups, test cases."""
    one, other = _fields(before), _fields(after)
    alone = {name for name, _ in _open(before)} ^ {name for name, _ in _open(after)}
    fields = (place for place in (*one, *other) if place.partition(": ")[0] not in {f"test case {n}" for n in alone})
    places = dict.fromkeys([*fields, *(f"test case {name}" for name in sorted(alone))])
    return [
        Difference(where=place, before=_shown(one.get(place)), after=_shown(other.get(place)))
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
    """The cases with an expected answer: no one can be judged on the others."""
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


class CaseChange(BaseModel):
    """A test case that is added, removed or changed, and the parts of it that are."""

    name: str
    group: str
    change: Literal["added", "removed", "changed"]
    parts: list[str] = []


def summary(before: ProblemDocument, after: ProblemDocument) -> list[str]:
    """The difference in words, a line for each thing that is another."""
    lines = [
        f"{NAMES.get(each.where, each.where)}: {each.before} → {each.after}"
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
    lines = [f"test case {each.name}: {', '.join(each.parts) or each.change}" for each in case_changes(old, new)]
    return [*lines, *(f"test case {name}: has no expected answer yet" for name in unanswered(old, new))]


def case_changes(old: Cases, new: Cases) -> list[CaseChange]:
    """The test cases that one version has otherwise than another, or not at all: first those that are removed."""
    changes = [
        CaseChange(name=name, group=case["group_name"], change="removed")
        for name, case in old.items()
        if name not in new
    ]
    for name, case in new.items():
        if name not in old:
            changes.append(CaseChange(name=name, group=case["group_name"], change="added"))
            continue
        columns = changed(old[name], case).keys()
        if parts := [part for part, own in PARTS.items() if not columns.isdisjoint(own)]:
            changes.append(CaseChange(name=name, group=case["group_name"], change="changed", parts=parts))
    return changes


# The keys of changes that make another version.
MANIFEST = frozenset({"columns", "groups", "cases"})


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a version, and why; no account where the service itself does.

    `goes_on`: a change with the same note right after it belongs to the same version.
    """

    account_id: str | None
    note: str
    goes_on: bool = False


@contextmanager
def changing(session: Session, problem_id: str, author: Author, moving: Collection[str]) -> Iterator[None]:
    """Make what the block writes to a problem's rows its next version; what is only learnt makes none.

    Contests with submissions that are not in `moving` are pinned to the version before; all others follow.
    """
    row = lock(session, problem_id)
    if row is None:
        yield
        session.flush()
        first = session.get(ProblemVersionRow, (problem_id, 1))
        if first is not None:
            first.account_id, first.note = author.account_id, author.note
        return
    before = problem_diff.document(session, problem_id)
    yield
    session.flush()
    if problem_diff.fingerprint(before) == problem_diff.fingerprint(problem_diff.document(session, problem_id)):
        return
    row = session.get_one(ProblemRow, problem_id)
    staying = [entry for entry in followers(session, problem_id) if entry.contest_id not in moving]
    staying = [entry for entry in staying if has_submissions(session, entry.contest_id, problem_id)]
    if author.goes_on and not staying and _goes_on(session, row, author):
        return
    session.get_one(ProblemVersionRow, (row.id, row.version)).manifest = manifest_of(before)
    for entry in staying:
        entry.version = row.version
    row.version += 1
    version = ProblemVersionRow(problem_id=problem_id, number=row.version, created=utc_now())
    version.account_id, version.note = author.account_id, author.note
    session.add(version)
    session.flush()


def lock(session: Session, problem_id: str) -> ProblemRow | None:
    """The problem, which no one else changes before the end of this transaction; None if there is none."""
    return session.get(ProblemRow, problem_id, with_for_update=True, populate_existing=True)


def _goes_on(session: Session, row: ProblemRow, author: Author) -> bool:
    """Whether the newest version is the author's own for the same reason, and no contest stays with it."""
    newest = session.get(ProblemVersionRow, (row.id, row.version))
    place = (ContestProblemRow.problem_id == row.id) & (ContestProblemRow.version == row.version)
    is_pinned = session.scalar(select(exists().where(place)))
    return newest is not None and (newest.account_id, newest.note) == (author.account_id, author.note) and not is_pinned


def manifest_of(document: ProblemDocument) -> ManifestDocument:
    """A problem's document without the rules of contests."""
    return {"columns": document["columns"], "groups": document["groups"], "cases": document["cases"]}


def followers(session: Session, problem_id: str) -> Sequence[ContestProblemRow]:
    """The places of a problem in contests that take each new version."""
    query = select(ContestProblemRow).where(
        ContestProblemRow.problem_id == problem_id, ContestProblemRow.version.is_(None)
    )
    return session.scalars(query.order_by(ContestProblemRow.contest_id)).all()


def has_submissions(session: Session, contest_id: str, problem_id: str) -> bool:
    """Whether anyone has submitted to a problem in a contest."""
    query = exists().where(SubmissionRow.contest_id == contest_id, SubmissionRow.problem_id == problem_id)
    return bool(session.scalar(select(query)))


def versions(session: Session, problem_id: str) -> Sequence[ProblemVersionRow]:
    """A problem's versions without their manifests, newest first."""
    query = select(ProblemVersionRow).where(ProblemVersionRow.problem_id == problem_id)
    return session.scalars(query.order_by(ProblemVersionRow.number.desc())).all()


def manifest(session: Session, problem_id: str, number: int | None) -> ManifestDocument | None:
    """The manifest of a version (None: the newest), not to be changed; None if there is no such version."""
    if number is None or number == session.get_one(ProblemRow, problem_id).version:
        return manifest_of(problem_diff.document(session, problem_id))
    if session.get(ProblemVersionRow, (problem_id, number)) is None:
        return None
    return pins.superseded(session, problem_id, number)


def make(
    session: Session, problem_id: str, changes: ProblemChanges, author: Author, contests: Collection[str]
) -> ProblemChanges:
    """Make a rejudging's changes, which move these contests; returns those that undo them."""
    if "pins" in changes:
        return _move(session, problem_id, changes["pins"])
    with changing(session, problem_id, author, contests):
        return problem_diff.write(session, problem_id, changes)


def _move(session: Session, problem_id: str, numbers: Mapping[str, int | None]) -> ProblemChanges:
    """Move a contest to another version; undoing pins it to the one that it has now."""
    ((contest_id, number),) = numbers.items()
    before, earlier = problem_diff.document(session, problem_id, contest_id), current(session, contest_id, problem_id)
    pin(session, contest_id, problem_id, number)
    after = problem_diff.document(session, problem_id, contest_id)
    return {**problem_diff.difference(after, before), "pins": {contest_id: earlier}}


def pin(session: Session, contest_id: str, problem_id: str, number: int | None) -> None:
    """Let a contest stay with a version of a problem; None: follow the newest."""
    session.get_one(ContestProblemRow, (contest_id, problem_id)).version = number
    session.get_one(ProblemRow, problem_id).updated = utc_now()  # for those who keep what they have read of it
    session.flush()


def current(session: Session, contest_id: str, problem_id: str) -> int:
    """The number of the version that a contest has."""
    entry = session.get_one(ContestProblemRow, (contest_id, problem_id))
    return entry.version or session.get_one(ProblemRow, problem_id).version
