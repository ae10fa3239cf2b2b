"""`jurado package` begins, verifies and packs packages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.cli.conftest import Jurado


def test_a_new_package_verifies_and_so_does_its_zip(jurado: Jurado, tmp_path: Path) -> None:
    folder, archive = tmp_path / "mysum", tmp_path / "mysum.zip"
    assert jurado("package", "new", folder).exit_code == 0
    assert jurado("package", "verify", folder).exit_code == 0
    assert jurado("package", "export", folder, "--out", archive).exit_code == 0
    verified = jurado("package", "verify", archive, "--json")
    assert verified.exit_code == 0
    assert json.loads(verified.stdout)["points"] == {"accepted/reference": 100.0, "wrong_answer/zero": 0.0}


def test_the_faults_of_a_package_are_listed_with_their_files(jurado: Jurado, tmp_path: Path) -> None:
    folder = tmp_path / "mysum"
    jurado("package", "new", folder)
    (folder / "jurado.yaml").write_text("checker: tokens\nscoring: {kind: sometimes}\nsurprise: 1\n")
    done = jurado("package", "verify", folder)
    assert done.exit_code == 1
    assert "jurado.yaml" in done.stdout
    assert "surprise" in done.stdout


def test_exporting_what_is_no_package_lists_its_faults(jurado: Jurado, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = jurado("package", "export", tmp_path / "empty")
    assert done.exit_code == 1
    assert "problem.yaml: missing file" in done.stderr


def test_a_package_is_never_begun_over_something(jurado: Jurado, tmp_path: Path) -> None:
    done = jurado("package", "new", tmp_path)
    assert done.exit_code == 2


def test_verifying_nothing_is_one_clear_line(jurado: Jurado, tmp_path: Path) -> None:
    done = jurado("package", "verify", tmp_path / "nowhere")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
