"""What each protocol makes of a run, by results made by hand."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from fractions import Fraction

import pytest

from app.programs import protocols
from app.programs.desk import with_images
from app.programs.model import REJECTED, CaseFiles, Decision, Meaning, ProgramFault, Unread, exit_code
from app.programs.places import ANSWER, INPUT, OUTPUT, Asked, Run
from app.sandbox.model import Ending, Result
from tests.builders.pictures import SVG, png

Ask = Callable[[tuple[str, ...], CaseFiles], Asked]
CASE = CaseFiles("01-small", b"1\n", b"5\n", b"4\n", ("fuzzy",), Fraction(50))


def run(
    code: int | None = 0,
    stdout: str = "",
    stderr: str = "",
    ending: Ending = "exit",
    signal: int | None = None,
    **feedback: str,
) -> Run:
    """A run that ended so; feedback by the name of its file without `.txt`."""
    result = Result(ending, code, signal, 0.1, 0.1, stdout.encode(), stderr.encode())
    return Run(result, {f"{name}.txt": text.encode() for name, text in feedback.items()})


def worth(decision: Decision) -> tuple[object, object] | None:
    """Raw score and multiplier; None for a rejection."""
    return None if decision.score is None else (decision.score.raw, decision.score.multiplier)


@pytest.mark.parametrize(
    ("ask", "words", "reads_output"),
    [
        (protocols.asked_kattis, (INPUT, ANSWER, "/work/feedback/", "fuzzy"), True),
        (protocols.asked_testlib, (INPUT, OUTPUT, ANSWER, "fuzzy"), False),
        (protocols.asked_omegaup, ("01-small", "fuzzy"), True),
        (protocols.asked_cms, (INPUT, ANSWER, OUTPUT, "fuzzy"), False),
    ],
)
def test_each_protocol_has_its_own_order_of_arguments(ask: Ask, words: tuple[str, ...], reads_output: bool) -> None:
    asked = ask(("/program/check",), CASE)
    assert (asked.argv, asked.reads_output) == (("/program/check", *words), reads_output)


def test_a_validator_of_omegaup_finds_the_files_of_the_case_in_its_folder() -> None:
    assert protocols.asked_omegaup((), CASE).links == (("/work/data.in", "input"), ("/work/data.out", "answer"))


@pytest.mark.parametrize(
    ("ended", "points", "expected"),
    [
        (run(42), "absolute", (50, 1)),
        (run(42), "fraction", (1, 1)),
        (run(42, score="12.5"), "absolute", (Fraction(25, 2), Fraction(1, 4))),
        (run(42, score="12.5"), "percent", (Fraction(25, 2), Fraction(1, 8))),
        (run(42, score=" 1e3\n"), "raw", (1000, None)),
        (run(42, score="0"), "raw", (0, None)),
        (run(42, score_multiplier="0.25"), "absolute", (Fraction(1, 4), Fraction(1, 4))),
        (run(43), "absolute", None),
    ],
)
def test_a_validator_of_kattis_gives_points_a_share_or_a_raw_score(
    ended: Run, points: Meaning, expected: object
) -> None:
    assert worth(protocols.decision_kattis(ended, CASE, points)) == expected


@pytest.mark.parametrize(
    ("ended", "points", "reason"),
    [
        (run(0), "absolute", "expected exit code 42 or 43, found 0"),
        (run(1, stderr="Traceback: no"), "absolute", "found 1; standard error: Traceback: no"),
        (run(None, ending="signal", signal=11), "absolute", "killed by signal 11"),
        (run(None, ending="wall"), "absolute", "more time than it may"),
        (run(None, ending="output"), "absolute", "wrote more than it may"),
        (run(42, score="1", score_multiplier="1"), "absolute", "found both"),
        (run(43, score="1"), "absolute", "expected no score beside a rejection, found score.txt"),
        (run(43, score_multiplier="1", judgemessage="why"), "absolute", "its message for judges: why"),
        (run(42, score="51"), "absolute", "at most 50, found 51"),
        (run(42, score_multiplier="1.5"), "absolute", "at most 1, found 1.5"),
        (run(42, score="-1"), "raw", "at least 0, found '-1'"),
        (run(42, score="nan"), "raw", "found 'nan'"),
        (run(42, score="inf"), "raw", "found 'inf'"),
        (run(42, score="1 2"), "raw", "found '1 2'"),
        (run(42, score=""), "raw", "found ''"),
        (run(42, score="1e999"), "raw", "below 2^63"),
        (run(42), "raw", "expected a score beside each accepted answer"),
        (run(42, score_multiplier="1"), "raw", "expected score.txt"),
    ],
)
def test_a_validator_of_kattis_that_breaks_the_format_is_at_fault_itself(
    ended: Run, points: Meaning, reason: str
) -> None:
    with pytest.raises(ProgramFault) as fault:
        protocols.decision_kattis(ended, CASE, points)
    assert reason in str(fault.value)


def test_the_messages_of_kattis_go_to_those_they_are_for() -> None:
    decision = protocols.decision_kattis(
        run(43, judgemessage="expected 5\x00", teammessage="line 1\n"), CASE, "absolute"
    )
    assert (decision.message.text, decision.judges) == ("line 1", "expected 5")


@pytest.mark.parametrize(
    ("ended", "points", "expected"),
    [
        (run(0, stderr="ok 3 numbers"), "fraction", (1, 1)),
        (run(1, stderr="wrong answer 1st words differ"), "fraction", None),
        (run(2, stderr="wrong output format Expected integer"), "fraction", None),
        (run(8, stderr="unexpected eof Unexpected end of file"), "fraction", None),
        (run(4, stderr="wrong output format Extra information in the output file"), "fraction", None),
        (run(7, stderr="points 0.5 half"), "fraction", (Fraction(1, 2), Fraction(1, 2))),
        (run(7, stderr="points 25"), "percent", (25, Fraction(1, 4))),
        (run(7, stderr="points 25 some"), "absolute", (25, Fraction(1, 2))),
        (run(7, stderr="points 125 long"), "raw", (125, None)),
        (run(7, stderr="points 0"), "fraction", None),
        (run(0, stderr="partially correct (0) nothing"), "fraction", None),
        (run(1, stderr="partially correct (1) a little"), "fraction", (1, Fraction(1, 100))),
        (run(50, stderr="partially correct (50) half"), "percent", (50, Fraction(1, 2))),
    ],
)
def test_a_checker_of_testlib_is_read_by_its_first_word(ended: Run, points: Meaning, expected: object) -> None:
    """`_pc(0)` and `_pc(1)` exit with the codes of "ok" and "wrong answer"."""
    assert worth(protocols.decision_testlib(ended, CASE, points)) == expected


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (run(0), "expected a verdict of testlib on standard error"),
        (run(1), "and exit code 1"),
        (run(1, stderr="ok fine"), "expected exit code 0 beside this verdict, found 1"),
        (run(0, stderr="wrong answer"), "found 0"),
        (run(3, stderr="FAIL jury has no answer"), "FAIL jury has no answer"),
        (run(7, stderr="points 1.5"), "at most 1, found 1.5"),
        (run(7, stderr="points nan"), "found 'nan'"),
        (run(7, stderr="points -1"), "found '-1'"),
        (run(0, stderr="okay"), "found 'okay'"),
    ],
)
def test_a_checker_of_testlib_without_a_verdict_is_at_fault_itself(ended: Run, reason: str) -> None:
    with pytest.raises(ProgramFault) as fault:
        protocols.decision_testlib(ended, CASE, "fraction")
    assert reason in str(fault.value)


def test_what_testlib_expected_is_for_judges_and_the_team_reads_the_verdict() -> None:
    decision = protocols.decision_testlib(run(1, stderr="wrong answer expected '5', found '4'"), CASE, "fraction")
    assert (decision.message.text, decision.judges) == ("wrong answer", "wrong answer expected '5', found '4'")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1", (1, 1)),
        ("0.5\nbecause", (Fraction(1, 2), Fraction(1, 2))),
        ("17", (1, 1)),
        ("0", None),
        ("-3", None),
        (".25", (Fraction(1, 4), Fraction(1, 4))),
    ],
)
def test_what_a_validator_of_omegaup_prints_is_cut_to_a_share(printed: str, expected: object) -> None:
    assert worth(protocols.decision_omegaup(run(stdout=printed), CASE, "fraction")) == expected


@pytest.mark.parametrize("ended", [run(), run(stdout="yes"), run(stdout="nan"), run(stdout="-"), run(1, stdout="1")])
def test_a_validator_of_omegaup_that_prints_no_number_is_at_fault_itself(ended: Run) -> None:
    with pytest.raises(ProgramFault):
        protocols.decision_omegaup(ended, CASE, "fraction")


@pytest.mark.parametrize(
    ("stdout", "stderr", "expected", "text"),
    [
        ("1.0\n", "translate:success\n", (1, 1), "output is correct"),
        ("0.0\n", "translate:wrong\n", None, "output isn't correct"),
        ("0.5\nmore\n", "translate:partial\n", (Fraction(1, 2), Fraction(1, 2)), "output is partially correct"),
        ("0.5", "two of four\nand more", (Fraction(1, 2), Fraction(1, 2)), "two of four"),
        ("0", "", None, "the checker rejects this answer"),
    ],
)
def test_the_first_lines_of_a_checker_of_cms_count(stdout: str, stderr: str, expected: object, text: str) -> None:
    decision = protocols.decision_cms(run(stdout=stdout, stderr=stderr), CASE, "fraction")
    assert (worth(decision), decision.message.text) == (expected, text)


@pytest.mark.parametrize("ended", [run(), run(stdout="1.5"), run(stdout="-1"), run(3, stdout="1"), run(stdout="\n1")])
def test_a_checker_of_cms_without_a_share_is_at_fault_itself(ended: Run) -> None:
    with pytest.raises(ProgramFault):
        protocols.decision_cms(ended, CASE, "fraction")


def reply(**fields: object) -> Decision | None:
    """What a reply decides."""
    return protocols.decision_python(run(0, json.dumps(fields)), CASE, "fraction")


def test_a_reply_in_python_is_a_number_a_score_a_rejection_or_nothing() -> None:
    message = {"key": "k", "text": "words", "args": {"n": 1}}
    half = reply(number="1/2", text="half")
    assert half is not None
    assert (worth(half), half.message.text) == ((Fraction(1, 2), Fraction(1, 2)), "half")
    score = reply(raw="3/1", max_raw="4/1", multiplier="3/4", message=message)
    assert score is not None
    assert (worth(score), score.message.args) == ((3, Fraction(3, 4)), {"n": 1})
    refused = reply(rejected=message)
    assert refused is not None
    assert (worth(refused), refused.message.text) == (None, "words")
    assert reply() is None
    with pytest.raises(Unread, match="words"):
        reply(unread=message)


@pytest.mark.parametrize(
    "fields",
    [
        {"failed": "Traceback"},
        {"number": "3/2"},
        {"number": "-1/1"},
        {"number": "1/0"},
        {"number": "one"},
        {"raw": "1/0"},
        {"raw": "1/1", "multiplier": "2/1"},
        {"raw": 1},
        {"rejected": "no"},
    ],
)
def test_a_reply_in_python_that_is_none_is_the_checkers_own_fault(fields: dict[str, object]) -> None:
    with pytest.raises(ProgramFault):
        reply(**fields)


def test_words_of_a_checker_in_python_steer_no_terminal_and_fill_no_page() -> None:
    """Whoever has taken a checker over writes them; a NUL among them is what PostgreSQL refuses to store."""
    codes = "\x1b[2J\x00a\u202eb\n" + "x" * 5000
    words = {"key": "Odd key\x1b", "text": codes, "args": {f"\x1b{at}": codes for at in range(30)}}
    for given in ({"rejected": words}, {"raw": "1/1", "message": words}, {"number": "1/1", "text": codes}):
        decision = reply(**given)
        assert decision is not None
        message = decision.message
        shown = [message.text, *map(str, message.args.values()), *message.args, message.key]
        assert not {"\x00", "\x1b", "\u202e"} & set("".join(shown))
        assert (message.text[:9], max(map(len, shown)) <= 2000, len(message.args) <= 20) == ("[2Jab\nxxx", True, True)
        assert message.key == "of-program"
    with pytest.raises(Unread) as refused:
        reply(unread=words)
    assert "\x1b" not in str(refused.value)
    with pytest.raises(ProgramFault) as late:
        exit_code(Result("wall", None, None, 0, 0, b"", b"late\x00\x1b[2J"))
    assert str(late.value) == "it took more time than it may; standard error: late[2J"


def test_a_reply_that_is_nested_without_end_is_the_checkers_own_fault() -> None:
    ended = run(0, '{"more": ' + 200_000 * "[")
    with pytest.raises(ProgramFault, match="a reply that is none"):
        protocols.decision_python(ended, CASE, "fraction")


def test_huge_feedback_of_kattis_is_cut_and_steers_no_terminal() -> None:
    text = "\x1b[2J" + "x" * 10**6
    for code in (42, 43):
        decision = protocols.decision_kattis(run(code, judgemessage=text, teammessage=text), CASE, "absolute")
        assert (len(decision.judges), len(decision.message.text)) == (8000, 2000)
        assert "\x1b" not in decision.judges + decision.message.text


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("teamimage.png", b"<html>no image</html>", "expected image/png, found something else"),
        ("teamimage.png", SVG, "expected image/png, found image/svg+xml"),
        ("judgeimage.jpg", png(), "expected image/jpeg, found image/png"),
        ("teamimage.svg", png(), "expected image/svg+xml, found image/png"),
        ("teamimage.png", png()[:16] + struct.pack(">II", 2**20, 2**20) + png()[24:], "found 1048576 x 1048576"),
        ("teamimage-../x.png", png(), "expected teamimage or judgeimage"),
        ("teamimage\x1b\x00.png", png(), "expected teamimage or judgeimage"),
    ],
    ids=["HTML", "a drawing", "another kind", "a picture", "too many pixels", "a path", "codes of terminals"],
)
def test_an_image_that_is_none_is_left_out_and_judges_read_why(name: str, data: bytes, fault: str) -> None:
    decision = with_images(Decision(None, REJECTED), {name: data}, 2**20)
    assert (decision.images, fault in decision.judges, "\x1b" in decision.judges) == ({}, True, False)
