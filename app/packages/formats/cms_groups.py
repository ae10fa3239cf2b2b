"""CMS' score types as groups: Sum, GroupMin, GroupMul and GroupThreshold, from task.yaml or gen/GEN.

- The expressions by which CMS names the cases of a group: a few of Python's, which cannot take long.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from app.core.faults import mismatch
from app.packages.formats.draft import CaseDraft, GroupDraft, Program, Source, Standard, listed
from checkers.doors import N_, Phrase

ITEM = r"(?:[A-Za-z0-9_-]|\.\*?|\\[d.]|\[\^?[A-Za-z0-9_-]+\])"
SEQUENCE = rf"\^?{ITEM}*+\$?"
ALTERNATIVES = rf"{SEQUENCE}(?:\|{SEQUENCE})*+"
# Expressions that Python matches in little time: one pair of brackets, and nothing repeated but `.`, so often.
EXPRESSION = re.compile(rf"{ALTERNATIVES}(?:\({ALTERNATIVES}\){ALTERNATIVES})?")
MOST_REPEATED = 3
LONGEST = 2000


GEN = "gen/GEN"
# Of Sum: the points of a case. Of the groups: [points, cases, ...], cases being a count or a regular expression.
Parameters = int | float | list[list[int | float | str]] | None


def plan_groups(
    source: Source,
    score_type: str | None,
    parameters: Parameters,
    total: Fraction,
    cases: Sequence[CaseDraft],
    checker: Standard | Program,
) -> list[GroupDraft]:
    """The groups that a task scores by; `total` is shared by the cases where nothing else is said."""
    if GEN in source.files:
        source.used.add(GEN)
    if score_type is not None and parameters is not None:
        if score_type == "Sum":
            return _sum(source, parameters, cases)
        return _groups(source, score_type, parameters, cases, checker)
    if score_type is not None or parameters is not None:
        message = mismatch(N_("score_type and score_type_parameters together"), N_("one: gen/GEN counts"))
        source.note("task.yaml", message, "score_type")
    subtasks = _read_gen(source, len(cases)) if GEN in source.files else []
    if not subtasks:
        return [_flat(cases, total / len(cases))] if cases else []
    return _by_counts([(Fraction(points), count) for points, count in subtasks], cases)


def _flat(cases: Sequence[CaseDraft], points: Fraction) -> GroupDraft:
    return GroupDraft("", "sum", points * len(cases), tuple(replace(case, points=points) for case in cases))


def _sum(source: Source, parameters: Parameters, cases: Sequence[CaseDraft]) -> list[GroupDraft]:
    if isinstance(parameters, list) or parameters is None or not 0 < parameters <= 10**9:
        where, expected = "score_type_parameters", "points of a case, above 0"
        source.faults.expect("task.yaml", where, expected, str(parameters)[:60])
        return []
    return [_flat(cases, Fraction(str(parameters)))] if cases else []


def _read_gen(source: Source, cases: int) -> list[tuple[int, int]]:
    """The subtasks of gen/GEN, points and number of cases each; empty where it has none."""
    subtasks: list[tuple[int, int]] = []
    loose = 0
    text = source.take(GEN).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        command, mark, comment = (part.strip() for part in line.partition("#"))
        if mark and not command and comment.startswith("ST:"):
            points = comment.removeprefix("ST:").strip()
            if not (points.isascii() and points.isdigit() and len(points) < 10):
                source.faults.expect(GEN, f"line {number}", N_("`# ST: POINTS`"), repr(line[:60]))
            subtasks.append((int(points) if points.isascii() and points.isdigit() and len(points) < 10 else 0, 0))
        elif command or comment.startswith("COPY:"):
            if subtasks:
                subtasks[-1] = (subtasks[-1][0], subtasks[-1][1] + 1)
            else:
                loose += 1
    count = loose + sum(each for _, each in subtasks)
    if subtasks and loose:
        source.faults.expect(
            GEN, "", N_("every case after a line `# ST: POINTS`"), Phrase(N_("%(loose)s before the first"), loose=loose)
        )
    if count != cases:
        source.faults.expect(GEN, "", N_("a line for each of the %(cases)s test cases"), str(count), cases=cases)
    return subtasks


def _groups(
    source: Source, score_type: str, parameters: Parameters, cases: Sequence[CaseDraft], checker: Standard | Program
) -> list[GroupDraft]:
    if not isinstance(parameters, list) or not all(_is_entry(each, score_type) for each in parameters):
        shape = "[points, cases, threshold]" if score_type == "GroupThreshold" else "[points, cases]"
        actual = str(parameters)[:60]
        source.faults.expect("task.yaml", "score_type_parameters", N_("a list of %(shape)s"), actual, shape=shape)
        return []
    _check_kind(source, score_type, parameters, checker)
    entries = [(Fraction(str(each[0])), each[1]) for each in parameters]
    counts = [(points, cases_of) for points, cases_of in entries if isinstance(cases_of, int)]
    if len(counts) == len(entries):
        if sum(count for _, count in counts) != len(cases):
            expected, actual = f"{len(cases)} test cases in all groups", str(sum(count for _, count in counts))
            source.faults.expect("task.yaml", "score_type_parameters", expected, actual)
        return _by_counts(counts, cases)
    return _by_patterns(source, [(points, str(cases_of)) for points, cases_of in entries], cases)


def _is_entry(entry: Sequence[int | float | str], score_type: str) -> bool:
    """Whether an entry has its points, its cases (a count of 1 or more, or an expression) and perhaps a threshold."""
    size = 3 if score_type == "GroupThreshold" else 2
    if len(entry) != size or isinstance(entry[0], str) or not 0 <= entry[0] <= 10**9:
        return False
    count = entry[1]
    return isinstance(count, str) or (isinstance(count, int) and 0 < count <= 10**6)


def _check_kind(
    source: Source, score_type: str, parameters: list[list[int | float | str]], checker: Standard | Program
) -> None:
    """Say what GroupMul and GroupThreshold become, or that nothing here does what they do."""
    place = "score_type"
    if score_type == "GroupMul" and isinstance(checker, Program):
        message = "GroupMul multiplies the outcomes of a group's cases; here the worst one counts (GroupMin)"
        source.note("task.yaml", message, place)
    if score_type == "GroupThreshold" and isinstance(checker, Program):
        expected = "Sum, GroupMin or GroupMul beside a checker"
        actual = "GroupThreshold, which nothing here does"
        source.faults.expect("task.yaml", place, expected, actual)
    thresholds = [entry[2] for entry in parameters] if score_type == "GroupThreshold" else []
    low = [each for each in thresholds if isinstance(each, str) or each < 1]
    if low and isinstance(checker, Standard):
        expected = "thresholds of 1 or more, as right answers have the outcome 1"
        source.faults.expect("task.yaml", "score_type_parameters", expected, str(low[0])[:60])


def _by_counts(entries: Sequence[tuple[Fraction, int]], cases: Sequence[CaseDraft]) -> list[GroupDraft]:
    """Groups that follow each other, each with so many cases."""
    groups: list[GroupDraft] = []
    at = 0
    for number, (points, count) in enumerate(entries):
        groups.append(_group(number, len(entries), points, cases[at : at + count]))
        at += count
    return [group for group in groups if group.cases]


def _by_patterns(
    source: Source, entries: Sequence[tuple[Fraction, str]], cases: Sequence[CaseDraft]
) -> list[GroupDraft]:
    """Groups whose cases have names that an expression begins to match."""
    groups: list[GroupDraft] = []
    owner: dict[str, str] = {}
    for number, (points, text) in enumerate(entries):
        members = _matching(source, text, cases)
        for case in members:
            if case.name in owner:
                expected, actual = f"case {case.name} in one group", f"{owner[case.name]} and {text}"
                source.faults.expect("task.yaml", "score_type_parameters", expected, actual)
            owner[case.name] = text
        groups.append(_group(number, len(entries), points, members))
    if loose := [case.name for case in cases if case.name not in owner]:
        source.note(
            "task.yaml", N_("in no group and left out: %(loose)s"), "score_type_parameters", loose=listed(loose)
        )
    return [group for group in groups if group.cases]


def _matching(source: Source, text: str, cases: Sequence[CaseDraft]) -> list[CaseDraft]:
    pattern = compiled(text)
    if pattern is None:
        expected = "letters, digits, `.`, `.*`, `[0-9]`, `|`, `^`, `$` and one pair of brackets"
        source.faults.expect("task.yaml", "score_type_parameters", expected, repr(text[:60]))
        return []
    return [case for case in cases if pattern.match(case.name)]


def compiled(expression: str) -> re.Pattern[str] | None:
    """The expression of a group's cases, which matches the beginning of their names; None where it is another."""
    if len(expression) > LONGEST or expression.count(".*") > MOST_REPEATED or not EXPRESSION.fullmatch(expression):
        return None
    try:
        return re.compile(expression)
    except re.error:
        return None


def _group(number: int, groups: int, points: Fraction, cases: Sequence[CaseDraft]) -> GroupDraft:
    width = len(str(groups - 1))
    return GroupDraft(f"subtask{number:0{width}}", "min", points, tuple(cases))
