"""Readers of what strangers send take steps in proportion to it, and stop at what they would not list anyway."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import pytest
import yaml

from app.accounts.service import tsv
from app.core import clics, table_rows
from app.core.bodies import Document, Item, read_yaml
from app.core.db.by_id import is_number
from app.core.faults import Faults
from app.core.images import measure
from app.core.load import check_values
from app.core.messages import MOST_LISTED, MOST_NAMES, N_, BadRequest, Message, did_you_mean
from app.core.parsing import StrictLoader, read_document
from app.core.table_rows import table_text
from app.domain.similarity import sketch

GROWTH = 2.5
UNKNOWN = Message(N_("no such team"))
"""Twice as much may take about twice the steps; quadratic readers take four times as many."""
FEW_STEPS = 400
EMPTY = b"\xff\xd8" + b"\xff\xd0" * 4


def steps(call: Callable[[], object]) -> int:
    """The lines of Python that a call goes through."""
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # finalizers of what other tests left would count
    sys.settrace(trace)
    try:
        with suppress(BadRequest, ValueError):
            call()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def table(text: str) -> Sequence[Item]:
    return tsv.items(Document(lines=text), "teams", table_rows.TEAMS)


READERS: dict[str, Callable[[int], object]] = {
    "a table of many columns": lambda n: table(",".join(f"c{at}" for at in range(n)) + "\n1\n"),
    "a table of equal columns": lambda n: table("id," * n + "id\n"),
    "a table of long column names": lambda n: table(",".join("n" * n for _ in range(50)) + "\n1,2\n"),
    "a table of rows": lambda n: table("id,name\n" + "a,b\n" * n),
    "a table of short rows": lambda n: table("id,name\n" + "a\n" * n),
    "a table of quotes": lambda n: table("id,name\n" + '"' * n),
    "a table of an open quote": lambda n: table('id,name\n"' + "a,\n" * n),
    "a table of ids in a cell": lambda n: table("id,group_ids\na," + "b " * n),
    "teams.tsv of many lines": lambda n: table("teams\t1\n" + "1\t2\t3\t4\n" * n),
    "teams.tsv of short lines": lambda n: table("teams\t1\n" + "1\n" * n),
    "teams.tsv of many tabs": lambda n: table("teams\t1\n" + "1\t" * n),
    "a header of many tabs": lambda n: table("teams\t" * n),
    "a header of other digits": lambda n: table("teams\t" + "\u0663" * n + "\n" + "1\n" * n),
    "lines that are no UTF-8": lambda n: table_text(b"a\n" * n + b"\xff", None),
    "a time of many digits": lambda n: clics.parse_time("2026-11-21T02:19:00." + "0" * n + "Z"),
    "a year of many digits": lambda n: clics.parse_time("9" * n + "-11-21T02:19:00Z"),
    "a duration of many digits": lambda n: clics.parse_reltime("9" * n + ":00:00"),
    "an id of many digits": lambda n: is_number("9" * n),
    "JSON of many marks": lambda n: check_values(b"[" * n, 10),
    "YAML of a list": lambda n: read_yaml("- a\n" * n),
    "YAML of nested lists": lambda n: read_yaml("[" * n + "]" * n),
    "YAML of nested block lists": lambda n: read_yaml("- " * n + "a\n"),
    "YAML of groups of brackets": lambda n: read_yaml(("[" * 60 + "]" * 60 + ",") * (n // 100)),
    "YAML of aliases": lambda n: read_yaml("- &a [1]\n" + "- *a\n" * n),
    "YAML of anchors": lambda n: read_yaml("".join(f"- &a{at} 1\n" for at in range(n))),
    "YAML of tag handles": lambda n: read_yaml(f"%TAG !e! tag:{'x' * n}\n---\n" + "- !e!a 1\n" * n),
    "YAML of a long number": lambda n: read_yaml("- " + "9" * n),
    "YAML of a number of base 60": lambda n: read_yaml("- 1" + ":1" * n),
    "YAML of numbers": lambda n: read_yaml(("- " + "9" * 400 + "\n") * n),
    "YAML of times": lambda n: read_yaml("- 2026-11-21T02:19:00.5+01:00\n" * n),
    "YAML of a time of blanks": lambda n: read_yaml("- 2026-11-21" + " " * n + "02:19:00" + " " * n + "Z"),
    "YAML of comments": lambda n: read_yaml("# a\n" * n),
    "YAML of empty lines in a text": lambda n: read_yaml("a: |\n" + "\n" * n + "  b\n"),
    "YAML of a quoted text": lambda n: read_yaml('"' + "\\x41 \n" * n + '"'),
    "YAML of a plain text": lambda n: read_yaml("a b\n" * n),
    "YAML of questions": lambda n: read_yaml("? a\n" * n),
    "YAML of documents": lambda n: read_yaml("--- a\n" * n),
    "YAML of keys": lambda n: read_document(b"".join(b"k%d: 1\n" % at for at in range(n)), "a.yaml", Faults()),
    "a picture of empty pieces": lambda n: measure(EMPTY * n),
    "a picture of attributes": lambda n: measure(b"<svg " + b"width='1' " * n + b">"),
    "a misspelt name": lambda n: did_you_mean(UNKNOWN, "team", [f"team{at}" for at in range(n)]),
    "an answer of numbers": lambda n: sketch(b"1e999 1e99 " * n),
}


@pytest.mark.parametrize("reader", READERS)
def test_twice_as_much_takes_about_twice_the_steps(reader: str) -> None:
    read = READERS[reader]
    once, twice = (steps(lambda n=n: read(n)) for n in (400, 800))  # type: ignore[misc] # bound at once
    assert twice <= max(GROWTH * once, FEW_STEPS), (once, twice)


@pytest.mark.parametrize("piece", ["- a\n", "- [a, b]\n", "- {a: b, c: d}\n", "- - - a\n", "- a: 1\n  b: 2\n"])
def test_reading_yaml_ends_with_the_first_value_of_too_many(piece: str) -> None:
    """A mebibyte may hold a quarter of a million; a hundred thousand are read."""

    def read(n: int) -> object:
        return yaml.load(piece * n, partial(StrictLoader, most_nodes=200))

    with pytest.raises(yaml.YAMLError, match="expected at most 200 keys and values"):
        read(400)
    once, twice = (steps(lambda n=n: suppressed(lambda: read(n))) for n in (400, 800))  # type: ignore[misc]
    assert twice <= once * 1.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("%TAG !e! tag:x\n---\n- !e!a 1\n", "expected no tag handles"),
        ("- " * 65 + "a\n", "nested at most 64 deep"),
        ("- 1" + ":1" * 180 + ".0\n", "what is no value of its type"),
        ("- &a 1\n- *a\n", "expected no aliases"),
    ],
)
def test_yaml_that_would_grow_is_refused(text: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        read_yaml(text)


def test_yaml_of_so_many_values_and_so_deep_is_read() -> None:
    assert read_yaml("- " * 64 + "a\n") == read_yaml("[" * 64 + "a" + "]" * 64)
    assert yaml.load("- a\n" * 199, partial(StrictLoader, most_nodes=200)) == ["a"] * 199


def suppressed(call: Callable[[], object]) -> None:
    with suppress(yaml.YAMLError):
        call()


def faults_of(call: Callable[[], object]) -> int:
    with pytest.raises(BadRequest) as raised:
        call()
    return len(raised.value.errors or ())


def test_faults_of_tables_end_with_those_that_are_listed() -> None:
    """Each takes five hundred bytes, for two bytes of the table."""
    assert faults_of(lambda: table("teams\t1\n" + "1\n" * 90_000)) == MOST_LISTED
    assert faults_of(lambda: table("id,name\n" + "1\n" * 90_000)) == MOST_LISTED
    assert faults_of(lambda: table("," * 90_000 + "\n1\n")) == 1


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("head", ["teams\t1", "id"])
def test_a_table_of_too_many_lines_is_refused_before_it_is_taken_apart(head: str, end: str) -> None:
    text = head + end + end.join(["x"] * tsv.MOST_LINES) + end
    with pytest.raises(BadRequest, match="at most 100000 lines, found 100001"):
        table(text)


def test_lines_end_where_editors_end_them() -> None:
    """A mark that no one sees, inside a name, begins no line."""
    (team,) = table("teams\t1\r\n1\t\t\tA\u2028B\x0bC\r\n")
    assert isinstance(team.value, dict)
    assert team.value["name"] == "A\u2028B\x0bC"


def test_of_very_many_names_none_is_suggested() -> None:
    names = [f"team{at:04}" for at in range(MOST_NAMES)]
    assert str(did_you_mean(UNKNOWN, "team0007x", names)) == "no such team: did you mean 'team0007'?"
    assert did_you_mean(UNKNOWN, "team0007x", [*names, "another"]) is UNKNOWN
