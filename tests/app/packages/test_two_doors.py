"""`jurado package verify` and an upload decide by one function: they agree on every package, sound or broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from app.packages.verify import verify_report
from tests.builders.contests import with_checkers
from tests.builders.packages import JURADO, PROBLEM, zip_package
from tests.builders.service import Api, open_api
from tests.conftest import migrated_sqlite

Changes = Mapping[str, str | bytes | None]
PICTURE = "Look:\n\n![a cat](cat.png)\n"
RELATIVE = "checker: exact\nscoring: {kind: relative, direction: maximise}\n"

REFUSED: Mapping[str, tuple[Changes, str, str]] = {
    "no problem.yaml": ({"problem.yaml": None}, "problem.yaml", "missing file"),
    "no jurado.yaml": ({"jurado.yaml": None}, "jurado.yaml", "missing file"),
    "broken YAML": ({"problem.yaml": "name: [\n"}, "problem.yaml", "not valid YAML"),
    "an unknown key": ({"jurado.yaml": f"{JURADO}surprise: 1\n"}, "jurado.yaml", "unknown key"),
    "another format": ({"problem.yaml": PROBLEM.replace("2025-09", "legacy")}, "problem.yaml", "expected"),
    "a problem of programs": (
        {"problem.yaml": PROBLEM.replace("[scoring, submit-answer]", "pass-fail")},
        "problem.yaml",
        "expected [scoring, submit-answer]",
    ),
    "an output validator": (
        {"output_validator/validate.py": "print()\n"},
        "output_validator/validate.py",
        "expected no",
    ),
    "an unknown checker": ({"jurado.yaml": JURADO.replace("exact", "tsp")}, "jurado.yaml", "found 'tsp'"),
    "a misspelt checker": ({"jurado.yaml": JURADO.replace("exact", "token")}, "jurado.yaml", "did you mean tokens?"),
    "a module that is no checker": ({"jurado.yaml": JURADO.replace("exact", "doors")}, "jurado.yaml", "'doors'"),
    "another problem's checker": ({"jurado.yaml": JURADO.replace("exact", "comesolo")}, "data/secret/02.in", "refuses"),
    "arguments nobody knows": (
        {"data/secret/02.yaml": "output_validator_args: [fuzzy]\n"},
        "data/secret/02.in",
        "checker exact: expected no arguments",
    ),
    "a case without an answer": ({"data/secret/02.ans": None}, "data/secret/02.ans", ""),
    "a case without an input": ({"data/secret/02.in": None}, "data/secret/02.ans", "missing input 02.in"),
    "a sample that shows a wrong answer": ({"data/sample/01.out": "7\n"}, "data/sample/01.out", "found: line 1"),
    "an input over its limit": ({"jurado.yaml": f"{JURADO}inputs: {{limit: 1}}\n"}, "data/secret/02.in", "at most 1"),
    "a group that does not exist": (
        {"data/secret/test_group.yaml": "require_pass: secret/zero\n"},
        "data/secret/test_group.yaml",
        "",
    ),
    "points that are not numbers": (
        {"data/secret/test_group.yaml": "max_score: many\n"},
        "data/secret/test_group.yaml",
        "found text 'many'",
    ),
    "a missing image": ({"statement/problem.en.md": PICTURE}, "statement/problem.en.md", "found no such file"),
    "an image above the folder": (
        {"statement/problem.en.md": "![x](../data/secret/02.in)\n"},
        "statement/problem.en.md",
        "expected an image below statement/",
    ),
    "an image of elsewhere": (
        {"statement/problem.en.md": "![x](https://example.org/x.png)\n"},
        "statement/problem.en.md",
        "expected an image below statement/",
    ),
    "an image that is none": (
        {"statement/problem.en.md": "![x](a.exe)\n", "statement/a.exe": b"MZ"},
        "statement/problem.en.md",
        "expected an image (",
    ),
    "no statement": (
        {"statement/problem.en.md": None, "statement/problem.es.md": None},
        "statement",
        "missing folder",
    ),
    "a statement in too many languages": (
        {"statement/problem.fr.md": "Encore.\n"},
        "problem.yaml",
        "missing name in fr",
    ),
    "lines of another system": ({"data/secret/02.in": "2\r\n"}, "data/secret/02.in", "CR"),
    "a file of nowhere": ({"extra/file.txt": "x\n"}, "extra/file.txt", "expected one of the folders"),
    "no accepted submission": (
        {"submissions/accepted/copy/02.out": None, "submissions/accepted/copy/03.out": None},
        "submissions/accepted",
        "expected at least one",
    ),
}
"""Packages that are refused: the changes, the file of a fault, and words in it."""

WARNED: Mapping[str, tuple[Changes, str, str]] = {
    "no sample": ({"data/sample/01.in": None, "data/sample/01.ans": None}, "data/sample", "expected a sample"),
    "no invalid inputs": ({"data/invalid_input/word.in": None}, "data/invalid_input", "found none"),
    "no valid outputs": (
        {f"data/valid_output/five{extension}": None for extension in (".in", ".ans", ".out")},
        "data/valid_output",
        "found none",
    ),
    "no invalid outputs": (
        {f"data/invalid_output/six{extension}": None for extension in (".in", ".ans", ".out")},
        "data/invalid_output",
        "found none",
    ),
    "a valid output that is rejected": ({"data/valid_output/five.out": "6\n"}, "data/valid_output/five.out", "accept"),
    "an invalid output that is right": (
        {"data/invalid_output/six.out": "5\n"},
        "data/invalid_output/six.out",
        "reject",
    ),
    "an accepted submission that is wrong": (
        {"submissions/accepted/copy/03.out": "4\n"},
        "submissions/submissions.yaml",
        "expected only AC",
    ),
    "a submission worth something else": (
        {"submissions/submissions.yaml": "accepted/copy: {score: 50}\n"},
        "submissions/submissions.yaml",
        "expected a score of 50, found 100",
    ),
    "a visualizer": ({"output_visualizer/draw.py": "print()\n"}, "output_visualizer/draw.py", "does not run"),
    "an attachment": ({"attachments/tool.py": "print()\n"}, "attachments/tool.py", "does not hand out"),
    "a title in the statement": ({"statement/problem.en.md": "# Echo\n"}, "statement/problem.en.md", "no title"),
    "HTML in the statement": (
        {"statement/problem.en.md": "<div>x</div>\n"},
        "statement/problem.en.md",
        "Markdown alone",
    ),
}
"""Packages that are taken with a warning."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A service with checkers, on SQLite."""
    home = tmp_path_factory.mktemp("doors")
    url = migrated_sqlite(home / "jurado.sqlite")
    with open_api(url, home / "home") as api:
        yield with_checkers(api)


def through_both_doors(service: Api, tmp_path: Path, changes: Changes) -> tuple[list[str], list[str]]:
    """Errors and warnings as sentences, once both doors have said the same."""
    path = tmp_path / "echo.zip"
    path.write_bytes(zip_package(changes))
    report = verify_report(path)
    headers = {"Content-Type": "application/zip"}
    reply = service.post("problems", user="admin", content=path.read_bytes(), headers=headers)
    assert reply.status_code == (201 if report["valid"] else 400), reply.text
    body = reply.json()
    uploaded = body["warnings"] if report["valid"] else body["errors"]
    assert uploaded == sorted(report["errors"] + report["warnings"], key=lambda each: (each["file"], each["where"]))
    return ([f"{f['file']}: {f['message']}" for f in report[key]] for key in ("errors", "warnings"))  # type: ignore[return-value]


def test_a_sound_package_has_neither_errors_nor_warnings(service: Api, tmp_path: Path) -> None:
    errors, warnings = through_both_doors(service, tmp_path, {})
    assert (errors, warnings) == ([], [])


@pytest.mark.parametrize("name", REFUSED)
def test_a_package_with_an_error_is_refused_by_both(service: Api, tmp_path: Path, name: str) -> None:
    changes, file, words = REFUSED[name]
    errors, _ = through_both_doors(service, tmp_path, changes)
    assert any(error.startswith(f"{file}: ") and words in error for error in errors), errors


@pytest.mark.parametrize("name", WARNED)
def test_a_package_with_a_warning_is_taken_by_both(service: Api, tmp_path: Path, name: str) -> None:
    changes, file, words = WARNED[name]
    errors, warnings = through_both_doors(service, tmp_path, changes)
    assert errors == []
    assert any(warning.startswith(f"{file}: ") and words in warning for warning in warnings), warnings


def test_every_fault_is_listed_at_once_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "echo.zip"
    changes = {
        "jurado.yaml": JURADO.replace("exact", "tsp"),
        "output_validator/v.py": "x\n",
        "statement/problem.en.md": PICTURE,
        "attachments/tool.py": "x\n",
    }
    path.write_bytes(zip_package(changes))
    report = verify_report(path)
    assert [(f["file"], f["line"], f["severity"]) for f in report["errors"] + report["warnings"]] == [
        ("jurado.yaml", 1, "error"),
        ("output_validator/v.py", None, "error"),
        ("statement/problem.en.md", 3, "error"),
        ("attachments/tool.py", None, "warning"),
    ]
    assert (report["errors"][2]["expected"], report["errors"][2]["found"]) == (
        "the image statement/cat.png",
        "no such file",
    )


def test_an_upload_never_runs_the_programs_of_a_package(service: Api, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    program = f"import pathlib, sys\npathlib.Path({str(trap)!r}).touch()\nsys.exit(42)\n"
    data = zip_package({"input_validators/validate.py": program})
    reply = service.post("problems", user="admin", content=data, headers={"Content-Type": "application/zip"})
    assert (reply.status_code, trap.exists()) == (201, False)
