"""Packages that are small and would cost much: each is refused in a sentence, or read in time that it deserves."""

from __future__ import annotations

import pytest

from app.core.faults import Faults, PackageError, PackageErrors, mismatch
from app.core.parsing import LONGEST_KEY, LONGEST_NUMBER, read_document
from app.packages import arrivals
from app.packages.files import DEEPEST, LONGEST_PATH, archive_files
from app.packages.markdown import with_image_folder
from app.packages.metadata import LONGEST_CONSTANT
from app.packages.read import LONGEST_STATEMENT, read_archive
from app.packages.submissions import matches
from app.packages.zips import zip_bytes
from tests.builders.bombs import BOMBS
from tests.builders.packages import PROBLEM, zip_package


def refused(changes: dict[str, str | bytes | None]) -> list[str]:
    with pytest.raises(PackageErrors) as raised:
        read_archive(zip_package(changes))
    return [str(error) for error in raised.value.errors]


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("file", ["problem.yaml", "jurado.yaml", "submissions/submissions.yaml"])
def test_yaml_that_costs_much_is_a_fault_of_its_file(bomb: str, file: str) -> None:
    """None of it is an error that no one expected, or a reading unlimited."""
    assert any(fault.startswith(file) for fault in refused({file: BOMBS[bomb]}))


def test_what_a_document_may_hold_reads() -> None:
    """A key and a number as long as they may be, and a merge sign that is text."""
    faults = Faults()
    text = f"{'k' * LONGEST_KEY}: {'1' * LONGEST_NUMBER}\na: '<<'\n"
    document = read_document(text.encode(), "a.yaml", faults)
    assert document is not None, faults.errors
    assert document.value == {"k" * LONGEST_KEY: int("1" * LONGEST_NUMBER), "a": "<<"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb:\n  <<: {c: 1}\n", "line 3: not valid YAML: expected no merge keys (`<<`)"),
        (f"a: 1\nb: {'1' * (LONGEST_NUMBER + 1)}\n", "line 2: not valid YAML: expected a number of at most 400 chara"),
        (f"a: 1\n{'k' * (LONGEST_KEY + 1)}: 1\n", "line 2: not valid YAML: expected keys of at most 500 characters"),
        ("a: 1\n1234567890123456: 1\n", "line 2: not valid YAML: expected a shorter number"),
    ],
)
def test_what_a_document_may_not_hold_is_named_with_its_line(text: str, words: str) -> None:
    faults = Faults()
    assert read_document(text.encode(), "a.yaml", faults) is None
    assert str(faults.errors[0]).removeprefix("a.yaml, ").startswith(words)


def test_lines_are_known_as_deep_as_any_model_goes() -> None:
    document = read_document(b"a:\n  b:\n    - c: 1\n    - d: 2\n", "a.yaml", Faults())
    assert document is not None
    assert document.where(("a", "b", 1, "d")) == "line 4, a.b.1.d"
    deep = read_document(b"[" * 40 + b"]" * 40, "a.yaml", Faults())
    assert deep is not None
    assert len(deep.lines) < 40


@pytest.mark.parametrize("limit", [".inf", ".nan", "9" * 390])
def test_a_time_without_end_is_a_fault(limit: str) -> None:
    (fault,) = refused({"problem.yaml": f"{PROBLEM}limits: {{time_limit: {limit}, time_resolution: 0.5}}\n"})
    assert fault.startswith("problem.yaml, line 7, limits")


def test_constants_cannot_blow_a_statement_up() -> None:
    text = "x" * (LONGEST_CONSTANT + 1)
    assert refused({"problem.yaml": f"{PROBLEM}constants: {{a: {text}}}\n"}) == [
        "problem.yaml, line 7, constants.a: expected texts of at most 200 characters"
    ]


def test_statements_have_a_length() -> None:
    long = "a" * LONGEST_STATEMENT + "\n"
    assert refused({"statement/problem.en.md": long}) == [
        f"statement/problem.en.md: expected at most {LONGEST_STATEMENT} bytes, found {LONGEST_STATEMENT + 1}"
    ]


@pytest.mark.parametrize("name", ["a/" * DEEPEST + "b", "/".join(["a" * 250] * 4)])
def test_paths_have_a_length_and_a_depth(name: str) -> None:
    with pytest.raises(PackageErrors) as raised:
        archive_files(zip_bytes({name: b""}))
    assert f"at most {LONGEST_PATH} characters and {DEEPEST} folders" in str(raised.value)


def test_faults_of_one_name_used_a_thousand_times_are_short() -> None:
    """Each of them named all others."""
    cases = {f"data/secret/{n}/x.{end}": "1\n" for n in range(300) for end in ("in", "ans")}
    faults = [fault for fault in refused(cases) if "base name used" in fault]
    assert len(faults) == 300
    named = " and ".join(f"data/secret/{n}/x" for n in (0, 1, 10, 100, 101))
    assert faults[0].endswith(f"base name used 300 times: {named} and others")


def test_globs_are_matched_in_a_step_for_each_character_and_place() -> None:
    """Backtracking would need longer than anyone waits."""
    stars = "*a" * 200 + "b"
    assert not matches(stars, "a" * 255)
    assert matches(stars, "a" * 255 + "b")
    braces = "{a,a}" * 90
    assert matches(braces, "a" * 90)
    assert not matches(braces, "a" * 91)
    assert not matches("{" * 200 + "a," * 50 + "}" * 200, "b")
    (demand,) = refused({"submissions/submissions.yaml": f"accepted/{'{a,b}' * 7}: {{score: 1}}\n"})
    assert demand.endswith(": expected at most 100 alternatives in a glob, found more")


def test_code_in_a_line_keeps_its_images_and_long_runs_of_ticks_cost_little() -> None:
    text = "![a](a.png) `![b](b.png)` ``![c](c.png) ` ![d](d.png)`` ![e](e.png)"
    moved = "![a](i/a.png) `![b](b.png)` ``![c](c.png) ` ![d](d.png)`` ![e](i/e.png)"
    assert with_image_folder(text, "i") == moved
    assert with_image_folder("a ```` ![a](a.png)", "i") == "a ```` ![a](i/a.png)"
    hostile = " ".join("`" * n for n in range(1, 400))
    assert with_image_folder(hostile, "i") == hostile
    assert with_image_folder("![" * 30_000, "i") == "![" * 30_000


def test_a_fault_has_what_was_expected_and_found_as_it_was_given() -> None:
    data = PackageError("", "", mismatch("at most %(most)s", "b, found %(c)s, expected d", most="%d")).as_data()
    assert (data["expected"], data["found"]) == ("at most %d", "b, found %(c)s, expected d")
    assert data["message"] == "expected at most %d, found b, found %(c)s, expected d"
    assert PackageError("", "", "expected a, found b").as_data()["expected"] is None


def test_a_statement_that_takes_long_to_render_is_refused_by_its_file() -> None:
    """It says how long it may take."""
    arrival = arrivals.read_arrival(zip_package(), None, None)
    broken = arrivals.slow_statements(arrival.package, -1.0)
    assert [(each.file, each.message.partition(",")[0]) for each in broken] == [
        ("statement/problem.en.md", "expected a statement that is rendered within -1 s"),
        ("statement/problem.es.md", "expected a statement that is rendered within -1 s"),
    ]
    assert arrival.broken == ()
