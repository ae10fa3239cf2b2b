"""The difference between two versions of a problem in words, and case by case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from app.contests.schemas.settings import Rule
from app.core.json_documents import ProblemDocument
from app.domain.documents import ProblemSettingsDocument
from app.problems.queries.problem_diff import Cases, answer_limit, changed, rule_of, unanswered

HASH_SHOWN = 12
PARTS: Mapping[str, tuple[str, ...]] = {
    "input": ("input_sha256",),
    "expected answer": ("answer_sha256",),
    "checker": ("checker_args",),
    "group": ("group_name",),
    "points": ("points_num", "points_den"),
}
"""The parts of a test case that are named when they change, each with its columns."""


class CaseChange(NamedTuple):
    """A test case that differs between two versions, and the parts of it that do."""

    name: str
    kind: Literal["added", "removed", "changed"]
    parts: tuple[str, ...] = ()


def summary(before: ProblemDocument, after: ProblemDocument) -> list[str]:
    """The difference in words, a line for each thing that is another."""
    old, new = before["columns"]["settings"], after["columns"]["settings"]
    lines = [
        f"{what}: {mine} → {theirs}"
        for what, mine, theirs in (
            ("checker", _checker(old), _checker(new)),
            ("scoring", _words(old["scoring"]), _words(new["scoring"])),
            ("most bytes of an answer", answer_limit(old), answer_limit(new)),
        )
        if mine != theirs
    ]
    lines += _group_lines(before, after)
    lines += _case_lines(before["cases"], after["cases"])
    for contest in after["rules"]:
        if contest in before["rules"] and rule_of(before, contest) != rule_of(after, contest):
            mine, theirs = (Rule.of(rule_of(version, contest)).model_dump() for version in (before, after))
            lines.append(f"rule in {contest}: {_words(mine, theirs)} → {_words(theirs, mine)}")
    return lines or ["texts and other settings"]


def _checker(settings: ProblemSettingsDocument) -> str:
    """The checker in words: its name, or how a package's own is asked and the beginning of its sha256."""
    own = settings.get("program")
    return settings["checker"] if own is None else f"{own['protocol']} {own['sha256'][:HASH_SHOWN]}, {own['points']}"


def _words(value: Mapping[str, object], other: Mapping[str, object] | None = None) -> str:
    """A mapping in words, or only what is not the same in another one."""
    shown = {key: each for key, each in value.items() if other is None or other.get(key) != each}
    return ", ".join(f"{key} {each}" for key, each in shown.items())


def _group_lines(before: ProblemDocument, after: ProblemDocument) -> list[str]:
    old, new = ({group["name"]: group for group in version["groups"]} for version in (before, after))
    lines = [f"group {name}: removed" for name in old if name not in new]
    for name, group in new.items():
        if name not in old:
            lines.append(f"group {name}: added")
            continue
        before_it: Mapping[str, object] = old[name]
        columns = changed(before_it, group)
        lines += [
            f"group {name}: {column} {before_it[column]} → {value}"
            for column, value in columns.items()
            if column != "ordinal"
        ]
    return lines


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
