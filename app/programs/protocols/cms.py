"""Checkers of CMS.

    checker input correct_output contestant_output        standard output: a share of 0 to 1; standard error: a message

The first line of each counts. The message is for the team; CMS has words of its own for three of them.
"""

from __future__ import annotations

from app.programs.endings import exit_code, unexpected
from app.programs.model import (
    ACCEPTED,
    LONGEST_JUDGE_MESSAGE,
    REJECTED,
    CaseFiles,
    Decision,
    Meaning,
    as_text,
    team_message,
)
from app.programs.places import ANSWER, INPUT, OUTPUT, Asked, Run
from app.programs.points import number, scored
from checkers.doors import Message

TRANSLATED = {
    "translate:success": Message("accepted", "output is correct"),
    "translate:wrong": Message("wrong-answer", "output isn't correct"),
    "translate:partial": Message("partly-correct", "output is partially correct"),
}


def asked(program: tuple[str, ...], case: CaseFiles) -> Asked:
    """The command that asks about a case; the jury's file comes before the contestant's."""
    return Asked((*program, INPUT, ANSWER, OUTPUT, *case.args))


def decision(run: Run, case: CaseFiles, meaning: Meaning) -> Decision:
    """The checker's decision, by the first lines of what it writes."""
    result = run.result
    if (code := exit_code(result)) != 0:
        raise unexpected(code, "0", result)
    value = number(_first_line(result.stdout), "the first line of standard output")
    line = _first_line(result.stderr)
    is_right = value > 0 or meaning == "raw"
    message = TRANSLATED.get(line) or team_message(line, ACCEPTED if is_right else REJECTED)
    judges = as_text(result.stderr).strip()[:LONGEST_JUDGE_MESSAGE]
    return Decision(scored(value, meaning, case.most, message) if is_right else None, message, judges)


def _first_line(data: bytes) -> str:
    return as_text(data).partition("\n")[0].strip()
