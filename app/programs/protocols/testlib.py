"""Checkers written with testlib.

    checker input output answer        the verdict is the first word of standard error; the exit code must go with it

The exit code alone is a trap: `_pc(0)` exits with 0, the code of "ok", and `_pc(1)` to `_pc(8)` with those of others.
Comments name what was expected, so that they are for judges; the team reads the verdict.
"""

from __future__ import annotations

import re
from fractions import Fraction

from app.programs.endings import exit_code, unexpected
from app.programs.model import ACCEPTED, LONGEST_JUDGE_MESSAGE, CaseFiles, Decision, Meaning, ProgramFault, as_text
from app.programs.places import ANSWER, INPUT, OUTPUT, Asked, Run
from app.programs.points import full, number, scored
from app.sandbox.model import Result
from checkers.doors import Message

OK = re.compile(r"ok(\s|$)")
REJECTIONS = (
    (re.compile(r"wrong answer(\s|$)"), frozenset({1, 5}), Message("wrong-answer", "wrong answer")),
    (re.compile(r"wrong output format(\s|$)"), frozenset({2, 4}), Message("wrong-format", "wrong output format")),
    (re.compile(r"unexpected eof(\s|$)"), frozenset({2, 4, 8}), Message("unexpected-end", "unexpected end of file")),
)
POINTS = re.compile(r"points\s+(\S+)")
PARTLY = re.compile(r"partially correct\s+\(([0-9]{1,3})\)")
FAIL = re.compile(r"FAIL(\s|$)")
PARTLY_CORRECT = Message("partly-correct", "partially correct")
POINTS_CODES = frozenset({7})


def asked(program: tuple[str, ...], case: CaseFiles) -> Asked:
    """The command that asks about a case; the contestant's file comes before the jury's."""
    return Asked((*program, INPUT, OUTPUT, ANSWER, *case.args))


def decision(run: Run, case: CaseFiles, meaning: Meaning) -> Decision:
    """The checker's decision, by the first word of its standard error."""
    result = run.result
    code, comment = exit_code(result), as_text(result.stderr).strip()
    judges = comment[:LONGEST_JUDGE_MESSAGE]
    if OK.match(comment):
        _agree(code, frozenset({0}), result)
        return Decision(full(meaning, case.most), ACCEPTED, judges)
    for begin, codes, message in REJECTIONS:
        if begin.match(comment):
            _agree(code, codes, result)
            return Decision(None, message, judges)
    if match := POINTS.match(comment):
        _agree(code, POINTS_CODES, result)
        return _partly(number(match[1], "points"), meaning, case, judges)
    if match := PARTLY.match(comment):
        # testlib's own share is of 100, whatever the numbers of quitp mean.
        own: Meaning = "percent" if meaning in ("fraction", "percent") else meaning
        return _partly(Fraction(match[1]), own, case, judges)
    if FAIL.match(comment):
        raise ProgramFault(comment[:LONGEST_JUDGE_MESSAGE])
    expected = "a verdict of testlib on standard error (ok, wrong answer, points ...)"
    raise ProgramFault(f"expected {expected}, found {comment[:200]!r} and exit code {code}")


def _partly(value: Fraction, meaning: Meaning, case: CaseFiles, judges: str) -> Decision:
    score = scored(value, meaning, case.most, PARTLY_CORRECT)
    if score.multiplier == 1:
        score = scored(value, meaning, case.most, ACCEPTED)
    if score.multiplier == 0:
        return Decision(None, REJECTIONS[0][2], judges)
    return Decision(score, score.message, judges)


def _agree(code: int, codes: frozenset[int], result: Result) -> None:
    if code not in codes:
        raise unexpected(code, f"{' or '.join(map(str, sorted(codes)))} beside this verdict", result)
