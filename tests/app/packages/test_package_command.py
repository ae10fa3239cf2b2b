"""`jurado package` begins, verifies and packs packages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.conftest import Jurado
from tests.builders.foreign import OMEGAUP, foreign_files, foreign_zip


def test_a_new_package_verifies_and_so_does_its_zip(jurado: Jurado, tmp_path: Path) -> None:
    folder, archive = tmp_path / "mysum", tmp_path / "mysum.zip"
    assert jurado("package", "new", folder).exit_code == 0
    assert jurado("package", "verify", folder).exit_code == 0
    assert jurado("package", "export", folder, "--out", archive).exit_code == 0
    verified = jurado("package", "verify", archive, "--json")
    assert verified.exit_code == 0
    assert json.loads(verified.stdout)["points"] == {
        "accepted/reference": 100.0,
        "wrong_answer/simple": 80.0,
        "wrong_answer/unfinished": 0.0,
    }


def test_the_faults_of_a_package_are_listed_with_their_files(jurado: Jurado, tmp_path: Path) -> None:
    folder = tmp_path / "mysum"
    jurado("package", "new", folder)
    (folder / "jurado.yaml").write_text("checker: tokens\nscoring: {kind: sometimes}\nsurprise: 1\n")
    done = jurado("package", "verify", folder)
    assert done.exit_code == 1
    assert f"{folder}/jurado.yaml:2: error: scoring.kind: expected 'absolute'" in done.stdout
    assert f"{folder}/jurado.yaml:3: error: surprise: unknown key" in done.stdout
    assert done.stdout.splitlines()[0] == f"{folder}: 2 errors"
    assert done.stdout.splitlines()[-1] == f"{folder}: the server refuses this package"


def test_exporting_what_is_no_package_lists_its_faults(jurado: Jurado, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = jurado("package", "export", tmp_path / "empty")
    assert done.exit_code == 1
    assert "problem.yaml: error: missing file" in done.stderr


def test_a_package_is_never_begun_over_something(jurado: Jurado, tmp_path: Path) -> None:
    done = jurado("package", "new", tmp_path)
    assert done.exit_code == 2


def test_verifying_nothing_is_one_clear_line(jurado: Jurado, tmp_path: Path) -> None:
    done = jurado("package", "verify", tmp_path / "nowhere")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_a_package_of_another_judge_is_written_as_a_folder_that_verifies(jurado: Jurado, tmp_path: Path) -> None:
    archive = tmp_path / "A sum.zip"
    archive.write_bytes(foreign_zip(OMEGAUP))
    made = jurado("package", "import", archive, "--to", tmp_path / "problems")
    assert made.exit_code == 0, made.stderr
    assert "descriptions of samples" in made.stdout
    assert jurado("package", "verify", tmp_path / "problems" / "asum").exit_code == 0
    again = jurado("package", "import", archive, "--to", tmp_path / "problems")
    assert (again.exit_code, "expected a folder that is not there yet" in again.stderr) == (2, True)


def test_a_faulty_package_of_another_judge_leaves_no_folder(jurado: Jurado, tmp_path: Path) -> None:
    folder = tmp_path / "sum"
    for name, data in foreign_files(OMEGAUP, {"interactive/a.idl": "x", "testplan": "1 x\n"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    done = jurado("package", "import", folder, "--to", tmp_path / "problems")
    assert done.exit_code == 1
    assert "interactive: error: expected answers that are files" in done.stderr
    assert "testplan:1: error: expected `CASE WEIGHT`" in done.stderr
    assert not (tmp_path / "problems").exists()
    wrong = jurado("package", "import", folder, "--format", "ioi")
    assert (wrong.exit_code, "kattis" in wrong.stderr) == (2, True)
