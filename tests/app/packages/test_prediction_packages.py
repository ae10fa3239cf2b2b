"""A package made of one CSV table: how rows are divided, what teams get, and faults by line and column."""

from __future__ import annotations

from typing import Any

import pytest

from app.packages.read import assemble
from app.packages.skeletons.predictions import PARTS, Predictions, package_of
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from checkers.doors import Rejected
from checkers.tables import read_table
from tests.builders.packages import verify_package

ROWS = 60
METRICS = ("accuracy", "f1", "auc", "rmse", "mae", "logloss")


def table(labels: int = 2, split: bool = False) -> bytes:
    """A table whose truth says more than its other columns do."""
    head = "id,height,kind" + (",part" if split else "")
    rows = [f"{at},{at % 7},{at % labels}" + (f",{PARTS[at % 3]}" if split else "") for at in range(1, ROWS + 1)]
    return "\n".join([head, *rows, ""]).encode()


def made(data: bytes, **choices: Any) -> dict[str, bytes]:
    return package_of(data, Predictions(**{"name": "Forest", "target": "kind", "seed": 5, **choices}))


def ids(files: dict[str, bytes], name: str) -> set[str]:
    return set(read_table(files[name], "id").rows)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("metric", METRICS)
def test_a_package_verifies_and_its_baseline_is_accepted(metric: str, labels: int) -> None:
    files = made(table(labels), metric=metric, train=20)
    package = assemble("forest", files)
    assert [fault for fault in verify_package(package) if fault.severity == "error"] == []
    examined = examine(package, LocalDesk())
    assert list(examined.points) == ["accepted/baseline"]
    assert [fault for fault in examined.faults if "submissions" in fault.file] == []


def test_rows_are_divided_and_teams_get_the_truth_of_training_rows_alone() -> None:
    files = made(table(), train=50, public=40)
    parts = [ids(files, name) for name in ("statement/train.csv", *(f"data/secret/{p}/{p}.ans" for p in PARTS[1:]))]
    assert [len(part) for part in parts] == [30, 12, 18]
    assert set.union(*parts) == set(map(str, range(1, ROWS + 1)))
    test = read_table(files["statement/test.csv"], "id")
    assert (test.columns, set(test.rows)) == (("id", "height"), parts[1] | parts[2])
    assert (
        files["data/secret/public/public.in"] == files["data/secret/private/private.in"] == files["statement/test.csv"]
    )
    assert ids(files, "statement/sample_submission.csv") == set(test.rows)
    # Neither the order of the table nor that of the parts is that of the rows to predict.
    order = list(test.rows)
    assert order != sorted(order, key=int)
    assert not set(order[:12]) <= parts[1]


def test_nothing_that_teams_get_depends_on_the_private_truth() -> None:
    data = table()
    private = ids(made(data), "data/secret/private/private.ans")
    lines = data.decode().splitlines()
    other = {"0": "1", "1": "0"}
    changed = [line[:-1] + other[line[-1]] if line.split(",")[0] in private else line for line in lines]
    before, after = made(data), made("\n".join(changed).encode())
    shown = [name for name in before if name.startswith("statement/") or name.endswith(".in")]
    assert len(shown) == 6
    assert {name: before[name] for name in shown} == {name: after[name] for name in shown}
    assert before["data/secret/private/private.ans"] != after["data/secret/private/private.ans"]


def test_the_same_seed_gives_the_same_split_and_another_one_another() -> None:
    answers = [made(table(), seed=seed)["data/secret/public/public.ans"] for seed in (5, 5, 6)]
    assert answers[0] == answers[1] != answers[2]


def test_a_column_may_have_the_split_which_teams_do_not_get() -> None:
    files = made(table(split=True), split="part")
    assert ids(files, "statement/train.csv") == {str(at) for at in range(1, ROWS + 1) if at % 3 == 0}
    assert ids(files, "data/secret/public/public.ans") == {str(at) for at in range(1, ROWS + 1) if at % 3 == 1}
    assert read_table(files["statement/train.csv"], "id").columns == ("id", "height", "kind")


@pytest.mark.parametrize(
    ("data", "choices", "fault"),
    [
        ("", {}, "line 1: expected a header of 2 to 1000 different columns, one of them 'id'"),
        ("id;kind\n1;a\n", {}, "line 1: expected a header of 2 to 1000 different columns"),
        ("id,kind\n1,a\n2,\n", {}, "line 3, column 'kind': expected a value, found \"\""),
        ("id,kind\n1,2\n2,oak\n", {"metric": "mae"}, "line 3, column 'kind': expected a finite decimal number"),
        ("id,kind\n1,a\n1,b\n", {}, "line 3: expected each id once, found '1' again, first in line 2"),
        ("id,kind\n1,a,b\n", {}, "line 2: expected 2 fields, found 3"),
        ("id,size,kind\n1,2,a\n", {}, "end of file: expected public and private rows, found none"),
        ("id,kind\n1,a\n2,b\n", {"target": "sort"}, "line 1: expected a column 'sort', found id, kind"),
        ("id,kind\n1,a\n2,b\n", {"target": "id"}, "line 1: expected a column 'id', found id, kind"),
        ("id,kind\n1,a\n2,b\n", {"split": "kind"}, "line 1: expected a column 'kind', found id, kind"),
        ("id,x,kind,s\n1,0,a,train\n2,0,b,test\n", {"split": "s"}, "line 3, column 's': expected train, public"),
    ],
)  # fmt: skip
def test_faults_of_a_table_have_their_line_and_column(data: str, choices: dict[str, Any], fault: str) -> None:
    with pytest.raises(Rejected) as refused:
        made(data.encode(), **choices)
    assert str(refused.value).startswith(fault)
