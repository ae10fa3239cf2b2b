"""Reading a package: a sound one gives its cases and points, an unsound one gives every fault with its file."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from app.core.faults import PackageErrors
from app.packages.files import Limits
from app.packages.metadata import read_person
from app.packages.model import Package, write_archive
from app.packages.read import read_archive, read_package
from app.packages.submissions import scored_problem
from app.packages.zips import zip_bytes
from tests.builders.packages import JURADO, PROBLEM, case_of, write_package, zip_package

Changes = Mapping[str, str | bytes | None]

GROUPS: Changes = {
    "data/secret/02.in": None,
    "data/secret/02.ans": None,
    "data/secret/03.in": None,
    "data/secret/03.ans": None,
    "data/secret/a/04.in": "4\n",
    "data/secret/a/04.ans": "4\n",
    "data/secret/a/test_group.yaml": "max_score: 30\nrequire_pass: sample\n",
    "data/secret/b/05.in": "5\n",
    "data/secret/b/05.ans": "5\n",
    "data/secret/b/deep/06.in": "6\n",
    "data/secret/b/deep/06.ans": "6\n",
    "data/secret/b/07.in": "7\n",
    "data/secret/b/07.ans": "7\n",
    "data/secret/b/test_group.yaml": "max_score: 70\nscore_aggregation: sum\nrequire_pass: [sample, secret/a]\n",
}


def read(changes: Changes) -> Package:
    return read_archive(zip_package(changes))


def faults(changes: Changes) -> list[str]:
    """The faults of the sound package with changes, as sentences."""
    with pytest.raises(PackageErrors) as raised:
        read(changes)
    return [str(error) for error in raised.value.errors]


def test_a_sound_package_reads_the_same_from_a_folder_and_from_a_zip(tmp_path: Path) -> None:
    from_folder, from_zip = read_package(write_package(tmp_path)), read_archive(zip_package())
    assert from_folder == from_zip
    assert (from_folder.slug, from_folder.max_score) == ("echo", 100)
    assert [(case.name, case.ordinal, case.max_points) for case in from_folder.cases] == [
        ("01", 1, Fraction(0)),
        ("02", 2, Fraction(50)),
        ("03", 3, Fraction(50)),
    ]
    assert from_folder.cases[1].input.read() == b"2\n"


def test_a_zip_may_have_its_files_at_the_root_if_its_slug_is_known(tmp_path: Path) -> None:
    assert read_archive(zip_package(top=""), slug="echo").slug == "echo"
    path = tmp_path / "echo.zip"
    path.write_bytes(zip_package(top=""))
    assert read_archive(path).slug == "echo"
    with pytest.raises(PackageErrors, match=r"one top folder named as the problem's slug"):
        read_archive(zip_package(top=""))
    with pytest.raises(PackageErrors, match="expected the top folder other, found echo"):
        read_archive(zip_package(), slug="other")


def test_an_exported_package_has_the_same_bytes_each_time_and_reads_back(tmp_path: Path) -> None:
    package = read_package(write_package(tmp_path))
    packed = write_archive(package)
    assert packed == write_archive(read_archive(packed))
    assert read_archive(packed) == package


def test_groups_carry_their_points_down_to_their_cases() -> None:
    package = read(GROUPS)
    assert [group.name for group in package.groups] == ["sample", "secret/a", "secret/b"]
    assert {group.name: group.require_pass for group in package.groups}["secret/b"] == ("sample", "secret/a")
    assert case_of(package, "04").max_points == 30, "a pass-fail group is worth its max or nothing"
    assert case_of(package, "06").max_points == Fraction(70, 3)
    assert case_of(package, "06").path == "secret/b/deep/06"


def test_the_scoring_rules_see_the_same_groups_and_points() -> None:
    problem = scored_problem(read(GROUPS))
    assert [(group.name, group.max_points, group.aggregation) for group in problem.groups] == [
        ("sample", 0, "pass-fail"),
        ("secret/a", 30, "pass-fail"),
        ("secret/b", 70, "sum"),
    ]
    assert sum(case.points for case in problem.cases if case.group == "secret/b") == 70


def test_final_groups_are_those_that_jurado_yaml_names() -> None:
    package = read({**GROUPS, "jurado.yaml": JURADO + "final: [secret/b]\n"})
    assert [group.kind for group in package.groups] == ["sample", "provisional", "final"]


def test_the_grading_time_of_a_submission_is_stored_only_if_jurado_yaml_names_it() -> None:
    package = read({"jurado.yaml": JURADO + "submission_seconds: 2.5\n"})
    assert package.settings.document()["submission_seconds"] == 2.5
    assert "submission_seconds" not in read({}).settings.document()


def test_a_case_takes_arguments_from_its_group_where_it_has_none() -> None:
    package = read(
        {
            "data/secret/test_group.yaml": "output_validator_args: [float_tolerance, '1e-6']\nmax_score: 10\n",
            "data/secret/02.yaml": "output_validator_args: [case_sensitive]\ndescription: the smallest\nhint: look\n",
        }
    )
    assert case_of(package, "02").checker_args == ("case_sensitive",)
    assert case_of(package, "03").checker_args == ("float_tolerance", "1e-6")
    assert case_of(package, "03").max_points == 5


def test_constants_are_put_into_statements_and_groups() -> None:
    package = read(
        {
            "problem.yaml": PROBLEM + "constants: {most: 40, limit: {value: 1000, tex: '10^3'}}\n",
            "statement/problem.en.md": "At most $n = {{limit.tex}}$, that is {{limit}}; {{other}}.\n",
            "data/secret/test_group.yaml": "max_score: {{most}}\n",
        }
    )
    assert package.statements["en"].text == "At most $n = 10^3$, that is 1000; {{other}}.\n"
    assert package.max_score == 40


def test_short_spellings_of_the_metadata_are_written_out() -> None:
    problem = read({"problem.yaml": PROBLEM + "source: A Contest\nkeywords: [echo]\n"}).problem
    assert problem.credits.authors is not None
    assert (problem.credits.authors[0].name, problem.credits.authors[0].email) == ("A Writer", "a@writer.example")
    assert problem.source[0].name == "A Contest"


def test_hidden_files_and_caches_are_left_out() -> None:
    package = read({".gitignore": "x", "generators/__pycache__/generate.pyc": b"\0", "data/.hidden/x": "x"})
    assert not [name for name in package.files if "hidden" in name or "cache" in name or "git" in name]


def test_all_faults_are_listed_at_once_with_their_files() -> None:
    found = faults(
        {
            "problem.yaml": PROBLEM + "colour: red\nlimits: {memory: lots}\n",
            "jurado.yaml": JURADO.replace("absolute", "fancy"),
            "statement/problem.es.md": None,
            "data/secret/02.ans": None,
            "data/secret/03.in": b"3\r\n",
            "data/secret/test_group.yaml": "max_score: 100\nrequire_pass: secret/z\n",
            "submissions/submissions.yaml": "accepted/*: {permitted: [OK]}\n",
        }
    )
    assert found == [
        "data/secret/02.ans: missing file, and no solution in submissions/accepted/ that could make it",
        "data/secret/03.in, line 1: expected lines to end in LF only, found CR",
        "data/secret/test_group.yaml, require_pass: expected a group (sample, secret), found secret/z",
        "jurado.yaml, line 2, scoring.kind: expected 'absolute', 'relative' or 'rank', found text 'fancy'",
        "problem.yaml, line 7, colour: unknown key",
        "problem.yaml, line 8, limits.memory: expected an integer, found text 'lots'",
        "submissions/submissions.yaml, line 1, accepted/*.permitted.0: expected 'AC', 'WA', 'TLE' or 'RTE', "
        "found text 'OK'",
    ]


def test_one_unreadable_file_does_not_hide_the_faults_of_the_others() -> None:
    found = faults({"problem.yaml": "name: [\n", "jurado.yaml": "x: 1\n", "data/secret/02.ans": None})
    assert {fault.partition(":")[0].partition(",")[0] for fault in found} == {
        "problem.yaml",
        "jurado.yaml",
        "data/secret/02.ans",
    }


ONE_FAULT: list[tuple[str, Changes, str]] = [
    ("missing metadata", {"problem.yaml": None}, "problem.yaml: missing file"),
    ("missing settings", {"jurado.yaml": None}, "jurado.yaml: missing file"),
    ("missing validator", {"input_validators/validate.py": None}, "input_validators: missing folder"),
    ("missing key", {"jurado.yaml": "scoring: {kind: absolute}\n"}, "jurado.yaml, checker: missing key"),
    (
        "no grading time",
        {"jurado.yaml": JURADO + "submission_seconds: 0\n"},
        "jurado.yaml, line 3, submission_seconds: expected greater than 0, found number 0",
    ),
    ("unknown key", {"jurado.yaml": JURADO + "colour: red\n"}, "jurado.yaml, line 3, colour: unknown key"),
    ("repeated key", {"jurado.yaml": JURADO + "checker: exact\n"}, "line 3: not valid YAML: repeated key `checker`"),
    ("broken YAML", {"jurado.yaml": "checker: [\n"}, "jurado.yaml, line 2: not valid YAML"),
    ("alias", {"jurado.yaml": "checker: &a exact\nscoring: *a\n"}, "line 2: not valid YAML: expected no aliases"),
    ("deep YAML", {"jurado.yaml": "[" * 5000 + "\n"}, "line 1: not valid YAML: expected values nested at most 64 deep"),
    (
        "unknown tag",
        {"jurado.yaml": "checker: !mine exact\n"},
        "jurado.yaml, line 1: not valid YAML: expected no tag, found `!mine`, which only some programs know: "
        "remove it, or put the value in quotes if `!` begins the text",
    ),
    ("text with a mark", {"jurado.yaml": "checker: !exact\n"}, "expected no tag, found `!exact`, "),
    (
        "tag of Python",
        {"jurado.yaml": "a: !!python/name:os.system\n"},
        "found `tag:yaml.org,2002:python/name:os.system`",
    ),
    ("odd boolean", {"jurado.yaml": "checker: !!bool x\n"}, "jurado.yaml: not valid YAML"),
    ("odd time", {"jurado.yaml": "checker: !!timestamp x\n"}, "jurado.yaml: not valid YAML"),
    ("odd number", {"jurado.yaml": 'checker: !!int ""\n'}, "jurado.yaml: not valid YAML"),
    ("list as key", {"jurado.yaml": "? [a]\n: b\n"}, "jurado.yaml: not valid YAML"),
    ("NUL", {"problem.yaml": PROBLEM + 'version: "a\\0b"\n'}, "problem.yaml, line 7: not valid YAML: expected text"),
    ("surrogate", {"problem.yaml": PROBLEM + 'version: "\\ud800"\n'}, "line 7: not valid YAML: expected text"),
    ("too many points", {"data/secret/test_group.yaml": "max_score: 1000000001\n"}, "less than or equal to 1000000000"),
    (
        "seed",
        {"jurado.yaml": JURADO + "reference: {method: m, seed: 9223372036854775808}\n"},
        "less than or equal to 92",
    ),
    ("memory", {"jurado.yaml": JURADO + "reference: {method: m, memory: 9000000}\n"}, "less than or equal to 1048576"),
    ("not a map", {"jurado.yaml": "- exact\n"}, "expected a map of keys to values, found list"),
    ("old format", {"problem.yaml": PROBLEM.replace("2025-09", "2023-07")}, "problem_format_version: expected"),
    ("wrong uuid", {"problem.yaml": PROBLEM.replace("0f8b0a52", "0f8b0a5")}, "uuid: expected"),
    ("wrong type", {"problem.yaml": PROBLEM.replace("scoring, ", "")}, "type: expected [scoring, submit-answer]"),
    (
        "incompatible",
        {"problem.yaml": PROBLEM.replace("scoring,", "interactive, scoring,")},
        "type: expected [scoring, submit-",
    ),
    (
        "type twice",
        {"problem.yaml": PROBLEM.replace("scoring,", "scoring, scoring,")},
        "type: expected [scoring, submit-",
    ),
    ("number for text", {"problem.yaml": PROBLEM + "version: 1.0\n"}, "version: expected a string, found number 1.0"),
    ("wrong language", {"problem.yaml": PROBLEM.replace("es:", "spanish:")}, "problem.yaml, line 3, name.spanish"),
    ("wrong person", {"problem.yaml": PROBLEM.replace("@writer.example>", "")}, "expected `Full Name`"),
    ("nobody's rights", {"problem.yaml": PROBLEM.replace("credits", "#")}, "expected a rights_owner"),
    ("rights of nobody", {"problem.yaml": PROBLEM.replace("cc by-sa", "public domain") + "rights_owner: I\n"}, "none"),
    ("wrong date", {"problem.yaml": PROBLEM + "embargo_until: soon\n"}, "embargo_until: expected YYYY-MM-DD"),
    ("impossible date", {"problem.yaml": PROBLEM + "embargo_until: 2026-13-45\n"}, "problem.yaml: not valid YAML"),
    ("passes", {"problem.yaml": PROBLEM + "limits: {validation_passes: 3}\n"}, "limits.validation_passes: unknown key"),
    ("no statement", {"statement/problem.es.md": None}, "statement/problem.es.md: missing file"),
    ("no name", {"statement/problem.fr.md": "Encore.\n"}, "problem.yaml, name: missing name in fr"),
    ("two statements", {"statement/problem.en.pdf": b"%PDF"}, "expected one file for the language en"),
    ("odd statement", {"statement/problem.md": "Hm.\n"}, "expected problem.<language>.md"),
    ("BOM", {"problem.yaml": b"\xef\xbb\xbf" + PROBLEM.encode()}, "problem.yaml, line 1: expected no byte-order mark"),
    ("CRLF", {"solution/solution.en.md": "a\nb\r\n"}, "solution/solution.en.md, line 2: expected lines to end in LF"),
    ("no final newline", {"solution/solution.en.md": "a\nb"}, "line 2: expected a newline at the end of the file"),
    ("Latin-1", {"solution/solution.en.md": b"a\n\xe9\n"}, "line 2: expected UTF-8, found byte 0xe9"),
    ("bad name", {"data/secret/a b.in": "1\n"}, "data/secret/a b.in: expected a name of letters"),
    (
        "stray file",
        {"notes.md": "x\n"},
        "notes.md: expected one of README.md, board.js, checker.py, jurado.yaml, problem.yaml, solver.py at",
    ),
    ("stray folder", {"images/x.png": b"x"}, "images/x.png: expected one of the folders"),
    ("attached folder", {"attachments/a/b.txt": "x\n"}, "expected attachments as files"),
    ("no answer", {"data/sample/01.ans": None}, "data/sample/01.ans: missing file"),
    ("no input", {"data/secret/09.ans": "9\n"}, "data/secret/09.ans: missing input 09.in"),
    ("no cases", {f"data/secret/{n}": None for n in ("02.in", "02.ans", "03.in", "03.ans")}, "data/secret: expected"),
    ("name twice", {"data/secret/01.in": "1\n", "data/secret/01.ans": "1\n"}, "base name used 2 times"),
    ("odd extension", {"data/secret/02.inn": "1\n"}, "expected an extension of a test case"),
    ("odd room", {"data/private/02.in": "1\n"}, "data/private/02.in: expected one of the folders sample, secret"),
    ("file input", {"data/secret/02.files/a.txt": "1\n"}, "answer files read no other input"),
    ("interaction", {"data/sample/01.interaction": ">1\n"}, "expected an extension of a test case"),
    ("arguments", {"data/secret/02.yaml": "args: [x]\n"}, "not possible where answer files"),
    ("name of a group", {"data/secret/test_group.in": "1\n", "data/secret/test_group.ans": "1\n"}, "must not be named"),
    ("folder as case", {"data/secret/02/08.in": "8\n", "data/secret/02/08.ans": "8\n"}, "a folder has the same name"),
    ("answer to nothing", {"data/invalid_input/x.in": "x\n", "data/invalid_input/x.ans": "x\n"}, "not possible in"),
    ("no output", {"data/invalid_output/x.in": "1\n", "data/invalid_output/x.ans": "1\n"}, "x.out: missing file"),
    ("large input", {"jurado.yaml": JURADO + "inputs: {limit: 1}\n"}, "data/sample/01.in: expected at most 1 bytes"),
    ("unknown final", {"jurado.yaml": JURADO + "final: [secret/z]\n"}, "final: expected one of secret, found secret/z"),
    (
        "odd pattern",
        {"jurado.yaml": JURADO + 'answers: {pattern: "{case}{case}"}\n'},
        "a file name, with `{case}` in it once",
    ),
    ("scored sample", {"data/sample/test_group.yaml": "max_score: 1\n"}, "max_score: key not permitted in sample"),
    (
        "unbounded",
        {"data/secret/test_group.yaml": "max_score: unbounded\n"},
        "max_score: expected an integer, found text",
    ),
    ("static", {"data/secret/test_group.yaml": "static_validation_score: 5\n"}, "not possible where answer files"),
    ("negative", {"data/secret/test_group.yaml": "max_score: -1\n"}, "data/secret/test_group.yaml, line 1, max_score"),
    ("mixed", {**GROUPS, "data/secret/02.in": "2\n", "data/secret/02.ans": "2\n"}, "expected cases inside the groups"),
    ("half grouped", {**GROUPS, "data/secret/a/test_group.yaml": None}, "data/secret/a: expected a test_group.yaml"),
    ("nested", {**GROUPS, "data/secret/b/deep/test_group.yaml": "max_score: 1\n"}, "expected groups directly in"),
    ("empty group", {**GROUPS, "data/secret/c/test_group.yaml": "max_score: 0\n"}, "data/secret/c: expected at least"),
    (
        "wrong sum",
        {**GROUPS, "data/secret/test_group.yaml": "max_score: 90\n"},
        "the sum of its groups' max_score, 100",
    ),
    ("worst group", {**GROUPS, "data/secret/test_group.yaml": "score_aggregation: min\n"}, "as points of groups are"),
    (
        "a later group",
        {**GROUPS, "data/secret/a/test_group.yaml": "max_score: 30\nrequire_pass: secret/b\n"},
        "require_pass: expected groups that come before secret/a, found secret/b",
    ),
    ("no submission", {f"submissions/accepted/copy/{n}.out": None for n in ("02", "03")}, "at least one accepted"),
    ("loose submission", {"submissions/02.out": "2\n"}, "submissions/02.out: expected submissions in folders"),
    ("odd demand", {"submissions/submissions.yaml": "accepted: {score: high}\n"}, "line 1, accepted.score"),
    ("backward range", {"submissions/submissions.yaml": "accepted: {score: [9, 1]}\n"}, "accepted.score: expected"),
]


@pytest.mark.parametrize(("changes", "expected"), [c[1:] for c in ONE_FAULT], ids=[c[0] for c in ONE_FAULT])
def test_a_fault_is_named_with_its_file(changes: Changes, expected: str) -> None:
    assert any(expected in fault for fault in faults(changes)), faults(changes)


@pytest.mark.parametrize("slug", ["Echo", "echo-1", "e.c"])
def test_slugs_are_lowercase_letters_and_digits(slug: str) -> None:
    with pytest.raises(PackageErrors, match="lowercase letters and digits"):
        read_archive(zip_package(top=f"{slug}/"))


def test_a_folder_that_is_not_there_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(PackageErrors, match="expected a folder, found none"):
        read_package(tmp_path / "nowhere")


def test_the_limits_hold_for_folders_too(tmp_path: Path) -> None:
    root = write_package(tmp_path)
    with pytest.raises(PackageErrors) as raised:
        read_package(root, Limits(files=3, total=100, single=50))
    text = str(raised.value)
    assert "at most 3 files" in text
    assert "at most 100 bytes in all files" in text
    assert "problem.yaml: expected at most 50 bytes" in text


def test_files_without_any_package_in_them_are_no_package() -> None:
    with pytest.raises(PackageErrors) as raised:
        read_archive(zip_bytes({"echo/a/b": b""}))
    assert str(raised.value) == "problem.yaml: missing file: expected a problem package, which has it at its top"


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("A Writer", ("A Writer", None)),
        ("  A Writer  <a@b.example> ", ("A Writer", "a@b.example")),
        ("A<b>", ("A", "b")),
        *[(text, None) for text in ("", " ", "<b>", "A <>", "A <b", "A b>", "A <b c>", "A <b> c", "A <<b>>", "A <b>>")],
        ("A" + " " * 5_000_000 + "B <", None),
        ("A" + " " * 5_000_000 + "B", ("A" + " " * 5_000_000 + "B", None)),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_person_is_a_name_and_perhaps_an_address(text: str, person: tuple[str, str | None] | None) -> None:
    """Millions of blanks are read as quickly as they are many; looking for the end of each took days."""
    if person is None:
        with pytest.raises(ValueError, match="expected `Full Name`"):
            read_person(text)
    else:
        assert read_person(text) == {"name": person[0], "email": person[1]}


OWN_PROGRAMS = {
    "jurado.yaml": "scoring: {kind: absolute}\nprogram: {protocol: testlib}\ninput_validators: {protocol: testlib}\n",
    "output_validator/checker.cpp": '#include "testlib.h"\nint main() {}\n',
    "include/testlib.h": "// testlib\n",
    "input_validators/validate.cpp": "int main() {}\n",
    "input_validators/more/main.py": "raise SystemExit(0)\n",
    "generators/cases.yaml": "cases: [{group: secret, name: '02', seed: 2}]\n",
    "generators/generate.py": "print(2)\n",
    "solver/main.cpp": "int main() {}\n",
    "submissions/accepted/two/main.py": "import part\n",
    "submissions/accepted/two/part.py": "print(input())\n",
    "submissions/wrong_answer/one.cpp": "int main() {}\n",
}


@pytest.mark.parametrize("checker", ["cpp", "py"])
def test_a_package_with_programs_of_its_own_survives_being_packed(checker: str) -> None:
    """Checker, validators, generators, solver and submissions, in Python and C++: the same package and zip."""
    files = dict(OWN_PROGRAMS)
    if checker == "py":
        del files["output_validator/checker.cpp"]
        files |= {"jurado.yaml": "scoring: {kind: relative}\n", "checker.py": "def score(a, b, c): return 1\n"}
    package = read_archive(zip_package(files))
    again = read_archive(write_archive(package))
    assert again == package
    assert dict(again.files) == dict(package.files)
    assert again.program == package.program
    assert write_archive(again) == write_archive(package)
