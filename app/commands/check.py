"""`jurado check`: the judge's verdict on one answer file, here and now."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from app.core.clics import number
from app.core.commands import output, registry
from app.games.commands.choices import score_transcript, transcript_file
from app.programs.model import Program
from checkers.doors import Rejected, Score

EXIT_CODES = {"accepted": 0, "rejected": 1, "judge_error": 2}
LARGEST = 256 * 2**20


@dataclass(frozen=True)
class Outcome:
    """A verdict with its reason, and the score of an accepted answer."""

    verdict: str
    message: str
    score: Score | None = None


@registry.command("check")
def check(
    problem: Annotated[
        str,
        typer.Argument(
            help="a bundled problem, a package's folder, or tokens, floats, lines, unordered, exact, metric; alone: "
            "the transcript of a game"
        ),
    ],
    input_file: Annotated[Path | None, typer.Argument(metavar="INPUT", help="the test case's input")] = None,
    answer: Annotated[
        Path | None, typer.Argument(metavar="ANSWER", help="the answer file; - is standard input")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option(metavar="FILE", help="the expected answer (.ans), for points")
    ] = None,
    arg: Annotated[list[str] | None, typer.Option(metavar="WORD", help="an argument of the checker, in order")] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Check and score one answer file, as the judge does, or replay the transcript of a game.

    Exit code 0: accepted; 1: rejected, with the reason; 2: wrong usage, or the judge's own fault.

    Examples:
      jurado check comesolo board.in board.out
      jurado check comesolo board.in board.out --reference board.ans --json
      jurado check tokens case.in mine.out --reference case.ans
      jurado check mine.game
    """
    try:
        if answer is not None and input_file is not None:
            outcome = judge(problem, input_file, answer, reference, arg or [])
        elif input_file is None:
            outcome = run_transcript(transcript_file(Path(problem)))
        else:
            raise output.Failure("expected PROBLEM INPUT ANSWER, or one transcript, found two arguments")
    except output.Failure as error:
        if not as_json:
            raise
        outcome = Outcome("judge_error", str(error))
    if as_json:
        output.write_json(as_data(outcome))
    else:
        report(outcome)
    raise typer.Exit(EXIT_CODES[outcome.verdict])


def judge(problem: str, input_file: Path, answer: Path, reference: Path | None, args: Sequence[str] = ()) -> Outcome:
    """Read the three files and run the problem's checker; raises Failure for faults other than the answer's."""
    from app.packages.settings import STANDARD_CHECKERS
    from app.packages.trials import LocalDesk, Question

    name, program, most_input, most_answer = checker_of(problem)
    data = output.read_file(input_file, "input", limit=most_input)
    if len(data) > most_input:
        raise output.Failure(f"input {input_file}: expected at most {most_input} bytes, found more")
    if reference is None and name in STANDARD_CHECKERS:
        raise output.Failure(f"the checker {name} compares with an expected answer: --reference FILE")
    expected = None if reference is None else output.read_file(reference, "reference")
    answer_data = output.read_file(answer, "answer", limit=most_answer)
    if len(answer_data) > most_answer:
        return Outcome("rejected", f"file: expected at most {most_answer} bytes, found more")
    question = Question(name, tuple(args), data, answer_data, expected, program=program, name=input_file.stem)
    (outcome,) = LocalDesk().ask([question])
    if outcome.score is not None:
        return Outcome("accepted", outcome.score.message.text, outcome.score)
    return Outcome("judge_error", outcome.fault) if outcome.fault else Outcome("rejected", outcome.rejected or "")


def checker_of(problem: str) -> tuple[str, Program | None, int, int]:
    """Give the checker's name, the package's own if it has one, and the most bytes of an input and of an answer."""
    from app.packages.settings import STANDARD_CHECKERS

    if problem in STANDARD_CHECKERS:
        return problem, None, LARGEST, LARGEST
    if not output.is_path(problem) and not Path(problem).is_dir() and problem not in (known := output.problems()):
        raise output.nearest("problem", problem, {*known, *STANDARD_CHECKERS})
    settings, program = output.own_checker(problem)
    return settings.checker, program, settings.inputs.limit, settings.answers.limit


def run_transcript(data: bytes) -> Outcome:
    """Replay a transcript; a lost game is sound, and scores 0."""
    try:
        score = score_transcript(data)
    except Rejected as error:
        return Outcome("rejected", str(error))
    return Outcome("accepted", score.message.text, score)


def as_data(outcome: Outcome) -> dict[str, JsonValue]:
    """Give a verdict as JSON."""
    score = outcome.score
    return {
        "verdict": outcome.verdict,
        "raw_score": number(score.raw) if score else None,
        "max_raw_score": number(score.max_raw) if score else None,
        "multiplier": number(score.multiplier) if score else None,
        "message": outcome.message,
    }


def report(outcome: Outcome) -> None:
    """Print a verdict for a person: accepted and rejected on standard output, a judge error on standard error."""
    if outcome.verdict == "judge_error":
        output.say(f"judge error: {outcome.message}")
        return
    line = f"{outcome.verdict}: {outcome.message}"
    if (score := outcome.score) is not None:
        most = f" of at most {number(score.max_raw)}" if score.max_raw is not None else ""
        line += f"; raw score {number(score.raw)}{most}"
        if score.multiplier is not None:
            line += f", multiplier {number(score.multiplier):.6g}"
    typer.echo(line)
