"""`jurado statement` prints a statement in a language, as Markdown where no person looks; names may be labels."""

from __future__ import annotations

import json

from tests.app.conftest import Jurado


def test_a_statement_is_printed_by_id_and_by_label_in_the_language_asked_for(admin: Jurado) -> None:
    by_id = admin("statement", "comesolo")
    assert by_id.exit_code == 0
    assert by_id.stdout.startswith("# ")
    label = next(
        p["label"] for p in json.loads(admin("problems", "practice", "--json").stdout) if p["id"] == "comesolo"
    )
    by_label = admin("statement", label.lower(), "--contest", "practice", "--raw")
    assert by_label.stdout == by_id.stdout, (label, by_label.stderr)
    spanish = json.loads(admin("statement", "comesolo", "--lang", "es", "--json").stdout)
    assert spanish["language"] == "es"
    assert spanish["markdown"] != by_id.stdout


def test_a_misspelt_problem_gets_the_nearest_one(admin: Jurado) -> None:
    done = admin("statement", "comesol")
    assert done.exit_code == 1
    assert "no problem 'comesol' in contest 'practice': did you mean 'comesolo'?" in done.stderr
