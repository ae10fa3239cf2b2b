"""The checker `metric` scores predictions by the usual definitions, and names faults of a table by their lines."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.doors import Rejected, Score, check_reference, open_checker

LABELS = st.lists(st.tuples(st.sampled_from("01"), st.sampled_from("01")), min_size=1, max_size=12)
SHORT = st.integers(-50, 50).map(lambda value: value / 8)


def table(values: list[object], column: str = "target") -> bytes:
    rows = "".join(f"{at},{value}\n" for at, value in enumerate(values))
    return f"id,{column}\n{rows}".encode()


def score(args: str, truth: bytes, answer: bytes, given_input: bytes = b"") -> Score:
    checker = open_checker("metric", args.split())
    instance = checker.read_instance(given_input)
    return checker.score_answer(instance, checker.read_answer(answer, instance), truth)


def reason(args: str, truth: bytes, answer: bytes, given_input: bytes = b"") -> str:
    with pytest.raises(Rejected) as rejected:
        score(args, truth, answer, given_input)
    return rejected.value.message.text


def test_accuracy_is_the_share_of_right_labels() -> None:
    result = score("accuracy", table(["cat", "dog", "cat"]), table(["cat", "cat", "cat"]))
    assert (result.raw, result.max_raw, result.multiplier) == (Fraction(2, 3), 1, Fraction(2, 3))


def test_f1_of_a_worked_example() -> None:
    truth, answer = table([1, 1, 1, 0, 0]), table([1, 1, 0, 1, 0])
    assert score("f1", truth, answer).raw == Fraction(2, 3)  # 2 right, 1 too many, 1 missed
    assert score("f1 positive 0", truth, answer).raw == Fraction(1, 2)
    assert score("f1 average macro", truth, answer).raw == Fraction(7, 12)
    assert score("f1", table([0, 0]), table([0, 0])).raw == 0  # nothing positive anywhere


def test_errors_of_a_worked_example() -> None:
    truth, answer = table([1, 2, 3.5]), table([1, 5, "-0.5"])
    assert score("mae", truth, answer).raw == Fraction(233333333333333, 10**14)
    assert score("rmse", truth, answer).raw == Fraction(round(math.sqrt(25 / 3) * 10**14), 10**14)
    assert score("rmse", truth, truth).raw == 0
    assert score("mae", truth, answer).multiplier is None


def test_log_loss_of_two_classes_and_of_three() -> None:
    two = score("logloss", table([1, 0]), table([0.9, 0.2]))
    assert float(two.raw) == pytest.approx(-(math.log(0.9) + math.log(0.8)) / 2, rel=1e-14)
    rows = b"id,cat,dog,eel\n0,2e-1,0.2,0.5\n1,0,1,0\n"
    with pytest.raises(Rejected):
        score("logloss", table(["cat", "fox"]), rows)
    three = score("logloss", table(["eel", "cat"]), rows)
    assert float(three.raw) == pytest.approx(-(math.log(0.5) + math.log(2**-52)) / 2, rel=1e-12)
    assert score("logloss", table([1]), table([1])).raw < Fraction(1, 10**14)


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    [
        ([1, 0, 1], [0, 1, 1e-17], 36.04365338911715),
        ([1, 0, 1, 0], [1e-300, 1e-16, 0.7, 0.999999999999999999], 18.110995430543262),
        (["a", "b"], b"id,a,b,c\n0,0.25,0.125,0.0625\n1,1,0,0\n", 18.71497387511852),
        (["a", "c"], b"id,a,b,c\n0,0.333333,0.333333,0.333333\n1,0,0,1.000000\n", 0.549306644334305),
    ],
)
def test_log_loss_is_that_of_scikit_learn(truth: list[object], answer: list[object] | bytes, expected: float) -> None:
    """The expected values were printed by sklearn.metrics.log_loss of scikit-learn 1.9.1."""
    found = score("logloss", table(truth), answer if isinstance(answer, bytes) else table(answer))
    assert float(found.raw) == pytest.approx(expected, rel=1e-13)


def test_labels_that_the_truth_does_not_have_count_as_wrong() -> None:
    assert score("accuracy", table(["cat", "dog"]), table(["cat", "fox"])).raw == Fraction(1, 2)
    assert score("f1 positive cat", table(["cat", "dog"]), table(["cat", "fox"])).raw == 1


def test_auc_counts_ties_as_halves() -> None:
    assert score("auc", table([1, 0, 1, 0]), table([0.9, 0.1, 0.5, 0.5])).raw == Fraction(7, 8)


@given(LABELS)
def test_f1_and_accuracy_are_what_counting_gives(pairs: list[tuple[str, str]]) -> None:
    truth, answer = table([real for real, _ in pairs]), table([mine for _, mine in pairs])
    right = sum(real == mine for real, mine in pairs)
    both = sum(real == mine == "1" for real, mine in pairs)
    ones = sum((real == "1") + (mine == "1") for real, mine in pairs)
    assert score("accuracy", truth, answer).raw == Fraction(right, len(pairs))
    assert score("f1", truth, answer).raw == (Fraction(2 * both, ones) if ones else 0)


@given(st.lists(st.tuples(st.booleans(), SHORT), min_size=2, max_size=12))
def test_auc_is_the_share_of_pairs_in_order(rows: list[tuple[bool, float]]) -> None:
    highs, lows = ([value for kind, value in rows if kind is wanted] for wanted in (True, False))
    truth, answer = table([int(kind) for kind, _ in rows]), table([value for _, value in rows])
    if not highs or not lows:
        with pytest.raises(Rejected):
            check_reference(open_checker("metric", ["auc"]), None, truth)
        return
    halves = sum(2 * (high > low) + (high == low) for high in highs for low in lows)
    assert score("auc", truth, answer).raw == Fraction(halves, 2 * len(highs) * len(lows))


@given(st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=12))
def test_errors_are_the_exact_ones_rounded(rows: list[tuple[float, float]]) -> None:
    truth, answer = table([real for real, _ in rows]), table([mine for _, mine in rows])
    apart = [abs(Fraction(real) - Fraction(mine)) for real, mine in rows]
    assert float(score("mae", truth, answer).raw) == pytest.approx(float(sum(apart) / len(apart)), rel=1e-13)
    square = float(sum(each * each for each in apart) / len(apart))
    assert float(score("rmse", truth, answer).raw) == pytest.approx(math.sqrt(square), rel=1e-13)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_error_fits_a_database_or_is_refused(value: float) -> None:
    try:
        raw = score("rmse", table([0.0]), table([value])).raw
    except Rejected:
        assert abs(value) >= 10**15
    else:
        assert max(raw.numerator, raw.denominator) < 2**63
        assert float(raw) == pytest.approx(abs(value), rel=1e-14, abs=1e-18)


TRUTH = table([1, 2, 3])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", "line 1: expected a header"),
        (b"id\n0\n", "line 1: expected a header"),
        (b"id,id,target\n", "line 1: expected a header"),
        (b"id,target\n0,1\n1,2\n", "end of file: expected a row for each id, also for '2', found none"),
        (b"id,target\n0,1\n1,2\n2,3\n9,3\n", 'line 5: expected an id of the test data, found "9"'),
        (b"id,target\n0,1\n1,2\n0,3\n", "line 4: expected each id once, found '0' again, first in line 2"),
        (b"id,target\n0,1\n1\n2,3\n", "line 3: expected 2 fields, found 1"),
        (b"id,target\n0,1\n1,\n2,3\n", "line 3: expected a prediction in column 'target', found an empty field"),
        (b"id,target\n0,1\n1,NaN\n2,3\n", 'line 3: expected a finite decimal number, found "NaN"'),
        (b"id,target\n0,1\n1,1e999\n2,3\n", 'line 3: expected a finite decimal number, found "1e999"'),
        (b"id,target\n0,1\n1,1_0\n2,3\n", 'line 3: expected a finite decimal number, found "1_0"'),
        (b"id,guess\n0,1\n1,2\n2,3\n", "line 1: expected a column 'target'"),
        (b'id,target\n0,"1\n', "line 2: expected fields between commas"),
        (b"id,target\n0,\xff\n", "byte 12: expected UTF-8"),
        (b"id,target\n0,-1e300\n1,1\n2,1\n", "file: expected an error below"),
        (b"id,target\n0," + b"1" * 1001 + b"\n", "line 2: expected fields of at most 1000 characters"),
    ],
)
def test_what_is_wrong_with_a_table_is_named_by_its_line(answer: bytes, expected: str) -> None:
    assert expected in reason("rmse", TRUTH, answer)


def test_probabilities_lie_between_0_and_1() -> None:
    assert "line 2: expected a probability from 0 to 1" in reason("logloss", table([1]), table([1.5]))
    assert "sum to at most 1, found 2" in reason("logloss", table(["a"]), b"id,a,b\n0,1,1\n")


def test_a_part_of_the_rows_counts_where_the_truth_has_a_part() -> None:
    rows = b"id,width\n0,5\n1,6\n2,7\n"
    provisional, answer = b"id,target\n0,1\n2,3\n", table([1, 9, 3])
    assert score("rmse partial", provisional, answer, rows).raw == 0
    assert "also for '1'" in reason("rmse partial", provisional, b"id,target\n0,1\n2,3\n", rows)
    assert "expected an id of the test data" in reason("rmse", provisional, answer)


def test_columns_and_labels_have_the_names_that_the_arguments_give() -> None:
    truth, answer = b"row,kind,weight\na,spam,1\nb,ham,2\n", b"kind,row\nspam,a\nspam,b\n"
    assert score("f1 id row target kind positive spam", truth, answer).raw == Fraction(2, 3)


@pytest.mark.parametrize(
    "args", ["", "r2", "rmse id", "rmse id a id b", "f1 average micro", "rmse width 3", "rmse partial partial"]
)
def test_arguments_that_are_not_understood_are_refused(args: str) -> None:
    with pytest.raises(ValueError, match="metric: expected"):
        open_checker("metric", args.split() or [""])


def test_a_malformed_truth_is_refused_at_upload_and_never_blamed_on_an_answer() -> None:
    checker = open_checker("metric", ["rmse"])
    for truth in (b"id,target\n0,x\n", b"id,a,b\n0,1,2\n", b"id,target\n", b"x"):
        with pytest.raises(Rejected):
            check_reference(checker, None, truth)
        with pytest.raises(ValueError, match="the truth is malformed"):
            score("rmse", truth, table([1]))


def test_quoted_fields_and_a_byte_order_mark_are_read_and_written_again() -> None:
    checker = open_checker("metric", ["accuracy"])
    data = '\ufeffid,target\r\n"a,b","say ""x"""\r\n'.encode()
    read = checker.read_answer(data, None)
    assert read.rows == {"a,b": ("a,b", 'say "x"')}
    assert checker.read_answer(checker.write_answer(read).encode(), None) == read
