"""`jurado check`: what the judge would say of one answer file, here and now."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.names import nearest, problem_settings, problems, read_file
from app.cli.output import Failure, say, write_json
from app.cli.solve import AsJson
from app.packages.settings import STANDARD_CHECKERS, Answers, Inputs
from checkers.doors import Exact, Rejected, Score, open_checker

EXIT_CODES = {"accepted": 0, "rejected": 1, "judge_error": 2}
LARGEST = 256 * 2**20


@dataclass(frozen=True)
class Said:
    """A verdict with its reason, and the score of an accepted answer."""

    verdict: str
    message: str
    score: Score | None = None


def check(
    problem: Annotated[str, typer.Argument(help="a bundled problem, or a standard checker: tokens, exact")],
    input_file: Annotated[Path, typer.Argument(metavar="INPUT", help="the test case's input")],
    answer: Annotated[Path, typer.Argument(help="the answer file; - is standard input")],
    reference: Annotated[
        Path | None, typer.Option(metavar="FILE", help="the expected answer (.ans), for points")
    ] = None,
    arg: Annotated[list[str] | None, typer.Option(metavar="WORD", help="an argument of the checker, in order")] = None,
    as_json: AsJson = False,
) -> None:
    """Check and score one answer file, as the judge does.

    Exit code 0: accepted; 1: rejected, with the reason; 2: wrong usage, or the judge's own fault.
    """
    try:
        said = judge(problem, input_file, answer, reference, arg or [])
    except Failure as error:
        if not as_json:
            raise
        said = Said("judge_error", str(error))
    if as_json:
        write_json(as_data(said))
    else:
        report(said)
    raise typer.Exit(EXIT_CODES[said.verdict])


def judge(problem: str, input_file: Path, answer: Path, reference: Path | None, args: Sequence[str] = ()) -> Said:
    """Read the three files and let the problem's checker speak; raises Failure for what is not the answer's fault."""
    name, most_input, most_answer = checker_of(problem)
    data = read_file(input_file, "input", limit=most_input)
    if len(data) > most_input:
        raise Failure(f"input {input_file}: expected at most {most_input} bytes, found more")
    if reference is None and name in STANDARD_CHECKERS:
        raise Failure(f"the checker {name} compares with an expected answer: --reference FILE")
    expected = None if reference is None else read_file(reference, "reference")
    found = read_file(answer, "answer", limit=most_answer)
    if len(found) > most_answer:
        return Said("rejected", f"file: expected at most {most_answer} bytes, found more")
    return run_checker(name, args, data, found, expected)


def checker_of(problem: str) -> tuple[str, int, int]:
    """Give the checker's name and the most bytes of an input and of an answer."""
    if problem in STANDARD_CHECKERS:
        return problem, LARGEST, LARGEST
    if "/" not in problem and problem not in (known := problems()):
        raise nearest("problem", problem, {*known, *STANDARD_CHECKERS})
    settings = problem_settings(problem)
    inputs: Inputs = settings.inputs
    answers: Answers = settings.answers
    return settings.checker, inputs.limit, answers.limit


def run_checker(name: str, args: Sequence[str], data: bytes, answer: bytes, reference: bytes | None) -> Said:
    """Run a checker; whatever it raises but `Rejected` is the judge's fault, and so is a malformed input."""
    try:
        checker = open_checker(name, args)
        instance = checker.read_instance(data)
    except Rejected as error:
        return Said("judge_error", f"input: {error}")
    except Exception as error:
        return crashed(name, error)
    try:
        score = checker.score_answer(instance, checker.read_answer(answer, instance), reference)
    except Rejected as error:
        return Said("rejected", str(error))
    except Exception as error:
        return crashed(name, error)
    return Said("accepted", score.message.text, score)


def crashed(name: str, error: Exception) -> Said:
    """Say in one line how and where a checker failed."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return Said("judge_error", f"checker {name} failed{where}: {type(error).__name__}: {error}")


def as_data(said: Said) -> dict[str, Any]:
    """The JSON of a verdict."""
    score = said.score
    return {
        "verdict": said.verdict,
        "raw_score": number(score.raw) if score else None,
        "max_raw_score": number(score.max_raw) if score else None,
        "multiplier": number(score.multiplier) if score else None,
        "message": said.message,
    }


def report(said: Said) -> None:
    """Print a verdict for a person: accepted and rejected on standard output, a judge error on standard error."""
    if said.verdict == "judge_error":
        say(f"judge error: {said.message}")
        return
    line = f"{said.verdict}: {said.message}"
    if said.score is not None:
        most = f" of at most {number(said.score.max_raw)}" if said.score.max_raw is not None else ""
        line += f"; raw score {number(said.score.raw)}{most}"
        if said.score.multiplier is not None:
            line += f", multiplier {number(said.score.multiplier):.6g}"
    typer.echo(line)


def number(value: Exact | None) -> int | float | None:
    """An exact number as JSON can say it."""
    return value if value is None or isinstance(value, int) else float(value)
