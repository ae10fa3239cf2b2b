"""Output validators of the Kattis package format 2025-09.

    validator input answer feedback_dir/ [arguments] < output        exit code 42 accepts, 43 rejects

It may leave in its folder of feedback: `score.txt` (a number of at least 0) or `score_multiplier.txt` (0 to 1), both
only beside 42 and never together; `judgemessage.txt` for judges, `teammessage.txt` for the team.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    team_message,
)
from app.programs.places import ANSWER, FEEDBACK, INPUT, OUTPUT, Asked, Run
from app.programs.points import full, number, scored
from checkers.doors import Message, Score

ACCEPT, REJECT = 42, 43
SCORE, MULTIPLIER = "score.txt", "score_multiplier.txt"
JUDGE_MESSAGE, TEAM_MESSAGE = "judgemessage.txt", "teammessage.txt"


def asked(program: tuple[str, ...], case: CaseFiles) -> Asked:
    """The command that asks about a case."""
    return Asked((*program, INPUT, ANSWER, f"{FEEDBACK}/", *case.args), stdin=OUTPUT, leaves_feedback=True)


def decision(run: Run, case: CaseFiles, meaning: Meaning) -> Decision:
    """The validator's decision; raises ProgramFault for what the format calls a judge error."""
    code, files = exit_code(run.result), run.feedback
    judges = as_text(files.get(JUDGE_MESSAGE, b"")).strip()[:LONGEST_JUDGE_MESSAGE]
    if code not in (ACCEPT, REJECT):
        raise unexpected(code, f"{ACCEPT} or {REJECT}", run.result)
    team = as_text(files.get(TEAM_MESSAGE, b""))
    try:
        if code == ACCEPT:
            message = team_message(team, ACCEPTED)
            return Decision(_score(files, case, meaning, message), message, judges)
        if beside := sorted({SCORE, MULTIPLIER} & files.keys()):
            raise ProgramFault(f"expected no score beside a rejection, found {beside[0]}")
    except ProgramFault as fault:
        raise ProgramFault(f"{fault}; its message for judges: {judges}" if judges else str(fault)) from None
    return Decision(None, team_message(team, REJECTED), judges)


def _score(files: Mapping[str, bytes], case: CaseFiles, meaning: Meaning, message: Message) -> Score:
    if SCORE in files and MULTIPLIER in files:
        raise ProgramFault(f"expected {SCORE} or {MULTIPLIER}, found both")
    if SCORE in files:
        return scored(number(as_text(files[SCORE]), SCORE), meaning, case.most, message)
    if MULTIPLIER not in files:
        return full(meaning, case.most, message)
    if meaning == "raw":
        raise ProgramFault(f"expected {SCORE}, as points are raw scores, found {MULTIPLIER}")
    return scored(number(as_text(files[MULTIPLIER]), MULTIPLIER), "fraction", Fraction(1), message)
