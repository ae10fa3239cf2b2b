"""Checkers of CMS.

    checker input correct_output contestant_output        standard output: a share of 0 to 1; standard error: a message

The first line of each counts. The message is for the team; CMS has words of its own for three of them.

- Custom validators of omegaUp.
- Output validators of the Kattis package format 2025-09.
- Checkers written with testlib.
- Checkers in Python: a module with the doors of `checkers/doors.py`, or with `score(input, answer, reference)`.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

import msgspec

from app.programs import model
from app.programs.places import ANSWER, FEEDBACK, INPUT, OUTPUT, WORK, Asked, Run
from app.programs.points import full, number, scored, storable
from app.sandbox.model import Result
from checkers.doors import Exact, Message, Score

TRANSLATED = {
    "translate:success": Message("output-right", "output is correct"),
    "translate:wrong": Message("output-wrong", "output isn't correct"),
    "translate:partial": Message("output-partly-correct", "output is partially correct"),
}


def asked_cms(program: tuple[str, ...], case: model.CaseFiles) -> Asked:
    """The command that asks about a case; the jury's file comes before the contestant's."""
    return Asked((*program, INPUT, ANSWER, OUTPUT, *case.args))


def decision_cms(run: Run, case: model.CaseFiles, meaning: model.Meaning) -> model.Decision:
    """The checker's decision, by the first lines of what it writes."""
    result = run.result
    if (code := model.exit_code(result)) != 0:
        raise model.unexpected(code, "0", result)
    value = number(_first_line(result.stdout), "the first line of standard output")
    line = _first_line(result.stderr)
    is_right = value > 0 or meaning == "raw"
    message = TRANSLATED.get(line) or model.team_message(line, model.ACCEPTED if is_right else model.REJECTED)
    judges = model.as_text(result.stderr).strip()[: model.LONGEST_JUDGE_MESSAGE]
    return model.Decision(scored(value, meaning, case.most, message) if is_right else None, message, judges)


def _first_line(data: bytes) -> str:
    return model.as_text(data).partition("\n")[0].strip()


LINKS = ((f"{WORK}/data.in", "input"), (f"{WORK}/data.out", "answer"))


def asked_omegaup(program: tuple[str, ...], case: model.CaseFiles) -> Asked:
    """The command that asks about a case."""
    return Asked((*program, case.name, *case.args), reads_output=True, links=LINKS)


def decision_omegaup(run: Run, case: model.CaseFiles, meaning: model.Meaning) -> model.Decision:
    """The validator's decision, by the first word it prints."""
    result = run.result
    if (code := model.exit_code(result)) != 0:
        raise model.unexpected(code, "0", result)
    words = model.as_text(result.stdout).split(maxsplit=1)
    if not words:
        raise model.ProgramFault("expected a number on standard output, found nothing")
    negative = words[0].startswith("-") and words[0] != "-"
    value = number(words[0].removeprefix("-"), "standard output")
    value = Fraction(0) if negative else value
    if meaning == "fraction":
        value = min(value, Fraction(1))
    judges = model.as_text(result.stderr).strip()[: model.LONGEST_JUDGE_MESSAGE]
    if value == 0 and meaning != "raw":
        return model.Decision(None, model.REJECTED, judges)
    return model.Decision(scored(value, meaning, case.most), model.ACCEPTED, judges)


ACCEPT, REJECT = 42, 43
SCORE, MULTIPLIER = "score.txt", "score_multiplier.txt"
JUDGE_MESSAGE, TEAM_MESSAGE = "judgemessage.txt", "teammessage.txt"


def asked_kattis(program: tuple[str, ...], case: model.CaseFiles) -> Asked:
    """The command that asks about a case."""
    return Asked((*program, INPUT, ANSWER, f"{FEEDBACK}/", *case.args), reads_output=True, leaves=FEEDBACK)


def decision_kattis(run: Run, case: model.CaseFiles, meaning: model.Meaning) -> model.Decision:
    """The validator's decision; raises ProgramFault for what the format calls a judge error."""
    code, files = model.exit_code(run.result), run.feedback
    judges = model.as_text(files.get(JUDGE_MESSAGE, b"")).strip()[: model.LONGEST_JUDGE_MESSAGE]
    if code not in (ACCEPT, REJECT):
        raise model.unexpected(code, f"{ACCEPT} or {REJECT}", run.result)
    team = model.as_text(files.get(TEAM_MESSAGE, b""))
    try:
        if code == ACCEPT:
            message = model.team_message(team, model.ACCEPTED)
            return model.Decision(_score(files, case, meaning, message), message, judges)
        if beside := sorted({SCORE, MULTIPLIER} & files.keys()):
            raise model.ProgramFault(f"expected no score beside a rejection, found {beside[0]}")
    except model.ProgramFault as fault:
        raise model.ProgramFault(f"{fault}; its message for judges: {judges}" if judges else str(fault)) from None
    return model.Decision(None, model.team_message(team, model.REJECTED), judges)


def _score(files: Mapping[str, bytes], case: model.CaseFiles, meaning: model.Meaning, message: Message) -> Score:
    if SCORE in files and MULTIPLIER in files:
        raise model.ProgramFault(f"expected {SCORE} or {MULTIPLIER}, found both")
    if SCORE in files:
        return scored(number(model.as_text(files[SCORE]), SCORE), meaning, case.most, message)
    if MULTIPLIER not in files:
        return full(meaning, case.most, message)
    if meaning == "raw":
        raise model.ProgramFault(f"expected {SCORE}, as points are raw scores, found {MULTIPLIER}")
    return scored(number(model.as_text(files[MULTIPLIER]), MULTIPLIER), "fraction", Fraction(1), message)


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


def asked_testlib(program: tuple[str, ...], case: model.CaseFiles) -> Asked:
    """The command that asks about a case; the contestant's file comes before the jury's."""
    return Asked((*program, INPUT, OUTPUT, ANSWER, *case.args))


def decision_testlib(run: Run, case: model.CaseFiles, meaning: model.Meaning) -> model.Decision:
    """The checker's decision, by the first word of its standard error."""
    result = run.result
    code, comment = model.exit_code(result), model.as_text(result.stderr).strip()
    judges = comment[: model.LONGEST_JUDGE_MESSAGE]
    if OK.match(comment):
        _agree(code, frozenset({0}), result)
        return model.Decision(full(meaning, case.most), model.ACCEPTED, judges)
    for begin, codes, message in REJECTIONS:
        if begin.match(comment):
            _agree(code, codes, result)
            return model.Decision(None, message, judges)
    if match := POINTS.match(comment):
        _agree(code, POINTS_CODES, result)
        return _partly(number(match[1], "points"), meaning, case, judges)
    if match := PARTLY.match(comment):
        # testlib's own share is of 100, whatever the numbers of quitp mean.
        own: model.Meaning = "percent" if meaning in ("fraction", "percent") else meaning
        return _partly(Fraction(match[1]), own, case, judges)
    if FAIL.match(comment):
        raise model.ProgramFault(comment[: model.LONGEST_JUDGE_MESSAGE])
    expected = "a verdict of testlib on standard error (ok, wrong answer, points ...)"
    raise model.ProgramFault(f"expected {expected}, found {comment[:200]!r} and exit code {code}")


def _partly(value: Fraction, meaning: model.Meaning, case: model.CaseFiles, judges: str) -> model.Decision:
    score = scored(value, meaning, case.most, PARTLY_CORRECT)
    if score.multiplier == 1:
        score = scored(value, meaning, case.most, model.ACCEPTED)
    if score.multiplier == 0:
        return model.Decision(None, REJECTIONS[0][2], judges)
    return model.Decision(score, score.message, judges)


def _agree(code: int, codes: frozenset[int], result: Result) -> None:
    if code not in codes:
        raise model.unexpected(code, f"{' or '.join(map(str, sorted(codes)))} beside this verdict", result)


Ratio = Annotated[str, msgspec.Meta(pattern="^-?[0-9]{1,400}/[0-9]{1,400}$")]
KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_ARGUMENTS = 20
LONGEST_ARGUMENT = 500


class Words(msgspec.Struct, frozen=True):
    """A message of `checkers.doors` as the runner sends it."""

    key: Annotated[str, msgspec.Meta(max_length=200)]
    text: Annotated[str, msgspec.Meta(max_length=20_000)]
    args: dict[str, int | str] = {}


class Reply(msgspec.Struct, frozen=True):
    """A reply of the runner: one of a failure, a rejection, a refused input, a score, a number, or nothing to say."""

    failed: str | None = None
    rejected: Words | None = None
    unread: Words | None = None
    raw: Ratio | None = None
    max_raw: Ratio | None = None
    multiplier: Ratio | None = None
    message: Words | None = None
    number: Ratio | None = None
    text: Annotated[str, msgspec.Meta(max_length=20_000)] = ""


_replies = msgspec.json.Decoder(Reply)


def asked_python(program: tuple[str, ...], case: model.CaseFiles) -> Asked:
    """The command that asks about a case, or about its input alone; images are left in the working folder."""
    kind = "input" if case.output is None else "expected" if case.is_expected else "answer"
    return Asked((*program, kind, *case.args), leaves=WORK)


def _reply_of(result: Result) -> Reply:
    """The runner's reply; raises ProgramFault for anything else."""
    if (code := model.exit_code(result)) != 0:
        raise model.unexpected(code, "0", result)
    if not result.stdout:
        raise model.ProgramFault("it ended before its reply")
    try:
        return _replies.decode(result.stdout)
    except (ValueError, RecursionError) as error:  # msgspec's faults are ValueErrors, but for documents too deep
        raise model.ProgramFault(f"a reply that is none: {model.plain(str(error))}") from None


def decision_python(run: Run, case: model.CaseFiles, meaning: model.Meaning) -> model.Decision | None:
    """The checker's decision; None where it has nothing to say. Raises Unread, or ProgramFault."""
    reply = _reply_of(run.result)
    if reply.failed is not None:
        raise model.ProgramFault(model.plain(reply.failed))
    if reply.unread is not None:
        raise model.Unread(model.plain(reply.unread.text)[: model.LONGEST_TEAM_MESSAGE])
    if reply.rejected is not None:
        return model.Decision(None, _message(reply.rejected) or model.REJECTED)
    if reply.number is not None:
        value = _ratio(reply.number, "score")
        message = model.team_message(model.plain(reply.text), model.ACCEPTED)
        return model.Decision(scored(value, meaning, case.most, message), message)
    if reply.raw is None:
        return None
    message = _message(reply.message) or model.ACCEPTED
    return model.Decision(_score_of_python(reply, message), message)


def _score_of_python(reply: Reply, message: Message) -> Score:
    multiplier = _exact(reply.multiplier, "multiplier")
    if multiplier is not None and multiplier > 1:
        raise model.ProgramFault(f"multiplier: expected 0 to 1, found {float(multiplier):g}")
    raw = _exact(reply.raw, "raw score")
    assert raw is not None, "the reply has one"
    return Score(raw, _exact(reply.max_raw, "largest raw score"), multiplier, message)


def _message(words: Words | None) -> Message | None:
    """The words of a checker as people may read them, None for none: whoever has taken it over chooses them."""
    if words is None:
        return None
    text = model.plain(words.text).strip()[: model.LONGEST_TEAM_MESSAGE]
    if not text:
        return None
    args = {model.plain(name): _argument(value) for name, value in list(words.args.items())[:MOST_ARGUMENTS]}
    return Message(words.key if KEY.fullmatch(words.key) else model.OF_PROGRAM, text, args)


def _argument(value: int | str) -> int | str:
    return model.plain(value)[:LONGEST_ARGUMENT] if isinstance(value, str) else value


def _ratio(text: str, what: str) -> Fraction:
    try:
        return storable(Fraction(text), what)
    except ZeroDivisionError:
        raise model.ProgramFault(f"{what}: expected a ratio, found one by 0") from None


def _exact(ratio: str | None, what: str) -> Exact | None:
    if ratio is None:
        return None
    value = _ratio(ratio, what)
    return value.numerator if value.denominator == 1 else value
