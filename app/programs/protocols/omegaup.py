"""Custom validators of omegaUp.

    validator NAME < output        beside `data.in` and `data.out`; prints a number, cut to 0..1; none is a fault

0 rejects the answer, 1 accepts it, what lies between is a share of the case's points.
"""

from __future__ import annotations

from fractions import Fraction

from app.programs.endings import exit_code, unexpected
from app.programs.model import (
    ACCEPTED,
    LONGEST_JUDGE_MESSAGE,
    REJECTED,
    CaseFiles,
    Decision,
    Meaning,
    ProgramFault,
    as_text,
)
from app.programs.places import ANSWER, INPUT, OUTPUT, WORK, Asked, Run
from app.programs.points import number, scored

LINKS = ((f"{WORK}/data.in", INPUT), (f"{WORK}/data.out", ANSWER))


def asked(program: tuple[str, ...], case: CaseFiles) -> Asked:
    """The command that asks about a case."""
    return Asked((*program, case.name, *case.args), stdin=OUTPUT, links=LINKS)


def decision(run: Run, case: CaseFiles, meaning: Meaning) -> Decision:
    """The validator's decision, by the first word it prints."""
    result = run.result
    if (code := exit_code(result)) != 0:
        raise unexpected(code, "0", result)
    words = as_text(result.stdout).split(maxsplit=1)
    if not words:
        raise ProgramFault("expected a number on standard output, found nothing")
    negative = words[0].startswith("-") and words[0] != "-"
    value = number(words[0].removeprefix("-"), "standard output")
    value = Fraction(0) if negative else value
    if meaning == "fraction":
        value = min(value, Fraction(1))
    judges = as_text(result.stderr).strip()[:LONGEST_JUDGE_MESSAGE]
    if value == 0 and meaning != "raw":
        return Decision(None, REJECTED, judges)
    return Decision(scored(value, meaning, case.most), ACCEPTED, judges)
