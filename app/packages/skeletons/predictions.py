"""A package made of one CSV table: rows with the truth to learn from, and hidden public and private rows."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean, median
from typing import Literal
from uuid import uuid4

from pydantic import BaseModel, Field

from app.core.bodies import Line
from app.packages.skeletons.writing import rendered
from checkers.doors import N_, Phrase, Rejected, quote
from checkers.metric import NUMBER, write_answer
from checkers.tables import Table, read_table

Metric = Literal["accuracy", "f1", "auc", "rmse", "mae", "logloss"]
PARTS = ("train", "public", "private")


class Predictions(BaseModel, extra="forbid"):
    """The choices for a prediction contest."""

    name: Line = Field(description="the name of the contest and of its problem")
    description: str = Field("", max_length=20_000, description="Markdown, which begins the statement")
    target: str = Field(description="the column to predict")
    id_column: str = Field("id", description="the column that names the rows")
    metric: Metric = Field("accuracy", description="the metric of the standard checker `metric`")
    split: str = Field("", description="a column with train, public or private; without it rows are drawn")
    train: int = Field(50, ge=0, le=98, description="percentage of the rows that teams get with their truth")
    public: int = Field(50, ge=1, le=99, description="percentage of the other rows that are public")
    seed: int = Field(default_factory=lambda: secrets.randbelow(10**9), ge=0, le=10**9, description="of the split")
    days: int = Field(7, ge=1, le=3650, description="duration of the contest")
    per_day: int = Field(5, ge=1, le=10_000, description="submissions of a team in 24 hours")


def package_of(data: bytes, asked: Predictions) -> dict[str, bytes]:
    """Return the files of a package; raises Rejected with the line and column of the first fault of the table."""
    table = read_table(data, asked.id_column)
    _check(table, asked)
    parts, truth = _parts(table, asked), table.column(asked.target)
    hidden = parts["public"] + parts["private"]
    # The order of rows may tell the truth, and that of the parts which rows are public.
    Random(asked.seed).shuffle(hidden)
    labels = sorted(set(truth.values()))
    guess = _guess(asked, labels, [truth[id_] for id_ in parts["train"] or parts["public"]])
    known = [name for name in table.columns if name != asked.split]
    test = _csv(table, [name for name in known if name != asked.target], hidden)
    sample = write_answer(Table((asked.id_column, *guess), {id_: (id_, *guess.values()) for id_ in hidden}, {}))
    words = {**asked.model_dump(), "uuid": uuid4(), "labels": labels, "parts": parts, "test": test, "sample": sample}
    files = rendered("predictions", words)
    files["statement/train.csv"] = _csv(table, known, parts["train"])
    files |= {"statement/test.csv": test, "statement/sample_submission.csv": sample}
    files["submissions/accepted/baseline/predictions.csv"] = sample
    for part in PARTS[1:]:
        files[f"data/secret/{part}/{part}.in"] = test
        files[f"data/secret/{part}/{part}.ans"] = _csv(table, [asked.id_column, asked.target], parts[part])
    return {name: text.encode() for name, text in files.items()}


def _check(table: Table, asked: Predictions) -> None:
    wanted = {asked.target, asked.split or asked.target}
    if missing := wanted - (set(table.columns) - {asked.id_column}) or {asked.target} & {asked.split}:
        expected = Phrase(N_("a column %(target)r"), target=min(missing))
        raise Rejected.at(Phrase(N_("line %(number)s"), number=1), expected=expected, found=", ".join(table.columns))
    is_number = asked.metric in {"rmse", "mae"}
    expected = Phrase(N_("a finite decimal number")) if is_number else Phrase(N_("a value"))
    for id_, value in table.column(asked.target).items():
        if not (NUMBER.fullmatch(value) if is_number else value.strip()):
            raise _fault(table, id_, asked.target, expected)
    if not set(table.columns) - wanted - {asked.id_column}:
        expected = Phrase(N_("a column to predict from"))
        raise Rejected.at(Phrase(N_("line %(number)s"), number=1), expected=expected, found=", ".join(table.columns))


def _fault(table: Table, id_: str, column: str, expected: str) -> Rejected:
    where = Phrase(N_("%(line)s, column %(column)r"), line=table.at(id_), column=column)
    return Rejected.at(where, expected=expected, found=quote(table.column(column)[id_].encode()))


def _parts(table: Table, asked: Predictions) -> Mapping[str, list[str]]:
    """Divide the ids of the rows into PARTS, by their column or at random."""
    ids = list(table.rows)
    if asked.split:
        kinds = {id_: kind.strip().lower() for id_, kind in table.column(asked.split).items()}
        if wrong := [id_ for id_ in ids if kinds[id_] not in PARTS]:
            raise _fault(table, wrong[0], asked.split, Phrase(N_("train, public or private")))
        parts = {part: [id_ for id_ in ids if kinds[id_] == part] for part in PARTS}
    else:
        Random(asked.seed).shuffle(ids)
        start = len(ids) * asked.train // 100
        end = start + max(1, (len(ids) - start) * asked.public // 100)
        parts = dict(zip(PARTS, (ids[:start], ids[start:end], ids[end:]), strict=True))
    if not (parts["public"] and parts["private"]):
        raise Rejected.at(Phrase(N_("end of file")), expected=Phrase(N_("public and private rows")), found="none")
    return parts


def _guess(asked: Predictions, labels: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return the baseline, the same in each row: columns of predictions with their values."""
    counts = Counter(known)
    if asked.metric in {"rmse", "mae"}:
        numbers = [float(value) for value in known]
        return {asked.target: f"{fmean(numbers) if asked.metric == 'rmse' else median(numbers):.9g}"}
    if asked.metric not in {"auc", "logloss"}:
        return {asked.target: counts.most_common(1)[0][0]}
    shares = {label: f"{counts[label] / len(known):.9f}" for label in labels}
    return shares if asked.metric == "logloss" and len(labels) > 2 else {asked.target: shares[labels[-1]]}


def _csv(table: Table, names: Sequence[str], ids: Sequence[str]) -> str:
    places = [table.columns.index(name) for name in names]
    return write_answer(Table(tuple(names), {id_: tuple(table.rows[id_][at] for at in places) for id_ in ids}, {}))
