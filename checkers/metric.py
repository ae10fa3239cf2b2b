"""Score a file of predictions against the hidden truth by a metric: accuracy, F1, RMSE, MAE, log loss or AUC.

Instance
    The input's bytes: a CSV table for contestants. Its column of ids is read where the argument `partial` is given.
Answer
    A CSV table (RFC 4180, UTF-8) with a header: a column of ids, and a column of predictions named as in the truth. For
    `logloss` with more than two classes, a column of probabilities for each class in place of it. At most 2,000,000
    rows in any order.
Raw score
    The metric. accuracy, f1 and auc: 0 to 1, a ratio of integers, the multiplier too. rmse, mae and logloss: 0 or more,
    smaller is better, rounded to 15 significant digits, at most 18 of them behind the point, and no multiplier: for
    relative or rank scoring, minimising.
Rejected when
    the table or its header is malformed, an id is missing, unknown or duplicated, a prediction is missing or not a
    finite number, a probability is outside 0..1, or the probabilities of a row sum to more than 1. A predicted label
    that the truth does not have is not rejected: it counts as wrong.
Source
    Set here, by the usual definitions. Log loss clips probabilities to the machine precision of a float (2^-52) from 0
    and 1 and does not rescale rows, as scikit-learn 1.9 does; AUC counts ties as halves.

Arguments: the metric, then `id COLUMN` (default `id`), `target COLUMN` (default: the truth's only other column),
`positive LABEL` of f1, auc and logloss with two classes (default `1`), `average binary|macro` of f1 (default `binary`),
and `partial`: the truth has a part of the input's rows, such as those of the provisional board, and the others are
left out of the score.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby

from checkers.doors import Exact, Phrase, Rejected, Score, quote
from checkers.tables import Table, read_table

LARGEST = 10**15
"""Errors from here on are refused, as raw scores have 15 digits."""
DIGITS = 15
MOST_DECIMALS = 18
EPSILON = 2.0**-52
"""Log loss clips probabilities to this distance from 0 and 1."""
SUM_TOLERANCE = 1e-5
"""Rounded probabilities may sum to this much more than 1. Rows are not rescaled: a row of ones must not score 0."""
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
WORDS = {"id": "id", "target": "target", "positive": "positive", "average": "average"}

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Options:
    """The metric, the columns it reads, and how labels are understood."""

    metric: str = "accuracy"
    id: str = "id"
    target: str | None = None
    positive: str = "1"
    average: str = "binary"
    partial: bool = False


@dataclass(frozen=True, slots=True)
class MetricChecker:
    """Bind the doors to options."""

    options: Options = field(default_factory=Options)

    def read_instance(self, data: bytes) -> frozenset[str] | None:
        """Read the ids of the input where it is to be known which rows the truth leaves out; raises Rejected."""
        return frozenset(read_table(data, self.options.id).rows) if self.options.partial else None

    def read_answer(self, data: bytes, instance: frozenset[str] | None) -> Table:
        """Read the table of predictions; raises Rejected."""
        return read_table(data, self.options.id)

    def write_answer(self, answer: Table) -> str:
        """Write a table as it was read, quoted where need be."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows(answer.rows.values())
        return text.getvalue()

    def score_answer(self, instance: frozenset[str] | None, answer: Table, reference: bytes | None = None) -> Score:
        """Score the predictions against the truth in `reference`, which must be given; raises Rejected."""
        if reference is None:
            raise ValueError("metric: expected the truth as the reference file, found none")
        try:
            truth, target = self._truth(reference, instance)
        except Rejected as fault:  # the judge's own, and nothing that contestants should read
            raise ValueError(f"metric: the truth is malformed: {fault}") from None
        _check_ids(answer, truth, instance)
        return METRICS[self.options.metric](self.options, truth, answer, target)

    def check_reference(self, data: bytes, instance: frozenset[str] | None) -> None:
        """Hold the truth against its case; its score as an answer is not known. Raises Rejected."""
        truth, _target = self._truth(data, instance)
        if self.options.metric == "auc" and len({value == self.options.positive for value in truth.values()}) < 2:
            raise Rejected.at(
                Phrase("truth"),
                expected=Phrase("rows with the positive label and rows without"),
                found=Phrase("one kind"),
            )

    def _truth(self, reference: bytes, instance: frozenset[str] | None) -> tuple[Labels, str]:
        """Read the truth: labels by id, and the column's name; raises Rejected for a file that is none."""
        table = read_table(reference, self.options.id)
        target = self.options.target or _other(table.columns, self.options.id)
        if target not in table.columns:
            raise Rejected.at(
                Phrase("line %(number)s", number=1),
                expected=Phrase("a column %(target)r", target=target),
                found=", ".join(table.columns),
            )
        if not table.rows:
            raise Rejected.at(
                Phrase("end of file"), expected=Phrase("rows, as there is nothing to predict"), found=Phrase("none")
            )
        if instance is not None and (unknown := next((each for each in table.rows if each not in instance), None)):
            raise Rejected.at(table.at(unknown), expected=Phrase("an id of the input"), found=repr(unknown))
        truth = table.column(target)
        if self.options.metric in {"rmse", "mae"}:
            for id_, value in truth.items():
                _number(value, table.at(id_))
        return truth, target


def configure(args: Sequence[str]) -> MetricChecker:
    """Open the checker with a case's `output_validator_args`; raises ValueError where they are not understood."""
    words = iter(args)
    metric = next(words, "")
    if metric not in METRICS:
        raise ValueError(f"metric: expected one of {', '.join(METRICS)} first, found {metric!r}")
    given: dict[str, str] = {}
    for word in words:
        if word in given:
            raise ValueError(f"metric: expected {word} once, found it twice")
        if word == "partial":
            given[word] = word
            continue
        if word not in WORDS:
            raise ValueError(f"metric: expected one of {', '.join((*WORDS, 'partial'))}, found {word!r}")
        value = next(words, None)
        if value is None:
            raise ValueError(f"metric: expected a value after {word}, found none")
        given[word] = value
    if given.get("average", "binary") not in {"binary", "macro"}:
        raise ValueError(f"metric: expected average binary or macro, found {given['average']!r}")
    names = {key: value for key, value in given.items() if key != "partial"}
    return MetricChecker(Options(metric=metric, partial="partial" in given, **names))


def _other(columns: Sequence[str], id_column: str) -> str:
    others = [name for name in columns if name != id_column]
    if len(others) != 1:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("one column in addition to the ids, or the argument target"),
            found=", ".join(others),
        )
    return others[0]


def _check_ids(answer: Table, truth: Labels, instance: frozenset[str] | None) -> None:
    """Every id of the truth has a prediction, and there are no others; raises Rejected at the first."""
    known = truth.keys() if instance is None else instance
    for id_ in answer.rows:
        if id_ not in known:
            raise Rejected.at(answer.at(id_), expected=Phrase("an id of the test data"), found=quote(id_.encode()))
    for id_ in known:
        if id_ not in answer.rows:
            raise Rejected.at(
                Phrase("end of file"),
                expected=Phrase("a row for each id, also for %(id)r", id=id_),
                found=Phrase("none"),
            )


def _predictions(answer: Table, target: str) -> dict[str, str]:
    """Give the column of predictions; raises Rejected where it is missing or a field is empty."""
    if target not in answer.columns:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a column %(target)r", target=target),
            found=quote(",".join(answer.columns).encode()),
        )
    column = answer.column(target)
    empty = next((id_ for id_, value in column.items() if not value.strip()), None)
    if empty is not None:
        raise Rejected.at(
            answer.at(empty),
            expected=Phrase("a prediction in column %(target)r", target=target),
            found=Phrase("an empty field"),
        )
    return column


def _number(text: str, where: str) -> float:
    """Read a finite decimal number; raises Rejected."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise Rejected.at(where, expected=Phrase("a finite decimal number"), found=quote(text.encode()))
    return value


def _probability(text: str, where: str) -> float:
    value = _number(text, where)
    if not 0 <= value <= 1:
        raise Rejected.at(where, expected=Phrase("a probability from 0 to 1"), found=quote(text.encode()))
    return value


def _share(value: Exact) -> Score:
    return Score(raw=value, max_raw=1, multiplier=value)


def _error(value: float) -> Score:
    """An error as a ratio of integers that any database holds; raises Rejected where it is too large."""
    if not value < LARGEST:
        raise Rejected.at(
            Phrase("file"), expected=Phrase("an error below %(largest)s", largest=LARGEST), found=Phrase("a larger one")
        )
    decimals = DIGITS - len(str(int(value))) if value >= 1 else MOST_DECIMALS
    return Score(raw=Fraction(round(value * 10**decimals), 10**decimals))


def _accuracy(_options: Options, truth: Labels, answer: Table, target: str) -> Score:
    predicted = _predictions(answer, target)
    return _share(Fraction(sum(predicted[id_] == label for id_, label in truth.items()), len(truth)))


def _f1(options: Options, truth: Labels, answer: Table, target: str) -> Score:
    """2 TP / (2 TP + FP + FN) of the positive label, or its mean over the labels of truth and predictions."""
    predicted = _predictions(answer, target)
    labels = {options.positive}
    if options.average == "macro":
        labels = {*truth.values(), *(predicted[id_] for id_ in truth)}
    right, ours, theirs = Counter[str](), Counter[str](), Counter[str]()
    for id_, label in truth.items():
        right[label] += predicted[id_] == label
        ours[predicted[id_]] += 1
        theirs[label] += 1
    total = Fraction(0)
    for label in labels:
        if both := ours[label] + theirs[label]:
            total += Fraction(2 * right[label], both)
    return _share(_short(total / len(labels)))


def _short(share: Fraction) -> Fraction:
    """A share itself, or its nearest ratio with a denominator that databases hold: means over many labels have more."""
    return share if share.denominator < LARGEST else share.limit_denominator(LARGEST)


def _differences(truth: Labels, answer: Table, target: str) -> Iterator[float]:
    predicted = _predictions(answer, target)
    numbers = {id_: _number(text, answer.at(id_)) for id_, text in predicted.items()}
    for id_, text in truth.items():
        yield numbers[id_] - float(text)


def _rmse(_options: Options, truth: Labels, answer: Table, target: str) -> Score:
    apart = list(_differences(truth, answer, target))
    largest = max(map(abs, apart))  # taken out before squaring, which would go beyond what a float holds
    if not largest:
        return _error(0.0)
    return _error(largest * math.sqrt(math.fsum((each / largest) ** 2 for each in apart) / len(apart)))


def _mae(_options: Options, truth: Labels, answer: Table, target: str) -> Score:
    apart = [abs(each) / len(truth) for each in _differences(truth, answer, target)]
    return _error(math.fsum(apart) if max(apart) < LARGEST else math.inf)


def _logloss(options: Options, truth: Labels, answer: Table, target: str) -> Score:
    """The mean of -ln of the probability that a row gives its true label."""
    shares = _of_two(options, truth, answer, target) if target in answer.columns else _of_many(options, truth, answer)
    clipped = (min(max(each, EPSILON), 1 - EPSILON) for each in shares)
    return _error(-math.fsum(math.log(each) for each in clipped) / len(truth))


def _of_two(options: Options, truth: Labels, answer: Table, target: str) -> Iterator[float]:
    values = {id_: _probability(text, answer.at(id_)) for id_, text in _predictions(answer, target).items()}
    for id_, label in truth.items():
        yield values[id_] if label == options.positive else 1 - values[id_]


def _of_many(options: Options, truth: Labels, answer: Table) -> Iterator[float]:
    classes = [name for name in answer.columns if name != options.id]
    missing = next((label for label in truth.values() if label not in classes), None)
    if missing is not None:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a column for each class, also for %(missing)r", missing=missing),
            found=", ".join(classes),
        )
    places = {name: answer.columns.index(name) for name in classes}
    for id_, row in answer.rows.items():
        values = {name: _probability(row[at], answer.at(id_)) for name, at in places.items()}
        if (total := math.fsum(values.values())) > 1 + SUM_TOLERANCE:
            raise Rejected.at(
                answer.at(id_), expected=Phrase("probabilities that sum to at most 1"), found=f"{total:.6g}"
            )
        if id_ in truth:
            yield values[truth[id_]]


def _auc(options: Options, truth: Labels, answer: Table, target: str) -> Score:
    """The share of pairs of a positive and another row in which the positive one has the larger prediction."""
    values = {id_: _number(text, answer.at(id_)) for id_, text in _predictions(answer, target).items()}
    ordered = sorted((values[id_], label == options.positive) for id_, label in truth.items())
    below = wins = 0  # wins in halves
    for _value, group in groupby(ordered, key=lambda each: each[0]):
        kinds = [is_positive for _, is_positive in group]
        positives = sum(kinds)
        wins += positives * (2 * below + len(kinds) - positives)
        below += len(kinds) - positives
    positives = len(ordered) - below
    if not below or not positives:
        raise ValueError("metric auc: expected a truth with both kinds of labels, found one")
    return _share(Fraction(wins, 2 * positives * below))


METRICS: dict[str, Callable[[Options, Labels, Table, str], Score]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "rmse": _rmse,
    "mae": _mae,
    "logloss": _logloss,
    "auc": _auc,
}

_usual = MetricChecker()


def read_instance(data: bytes) -> frozenset[str] | None:
    """Read an input for the accuracy of all its rows, as without arguments."""
    return _usual.read_instance(data)


def read_answer(data: bytes, instance: frozenset[str] | None) -> Table:
    """Read a table of predictions; raises Rejected."""
    return _usual.read_answer(data, instance)


def write_answer(answer: Table) -> str:
    """Write a table as CSV."""
    return _usual.write_answer(answer)


def score_answer(instance: frozenset[str] | None, answer: Table, reference: bytes | None = None) -> Score:
    """Score the accuracy of predictions; raises Rejected."""
    return _usual.score_answer(instance, answer, reference)


def check_reference(data: bytes, instance: frozenset[str] | None) -> None:
    """Hold the truth against its case; raises Rejected."""
    _usual.check_reference(data, instance)
