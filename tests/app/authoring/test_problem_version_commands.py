"""`jurado admin problem versions` and its sisters, against a real service."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.conftest import Jurado
from tests.app.judging.test_rejudging_commands import contest
from tests.builders.zips import unzipped

__all__ = ["contest"]


def test_a_contest_keeps_its_version_until_an_organiser_moves_it(admin: Jurado, contest: str, tmp_path: Path) -> None:
    case = ("admin", "testcase", "delete", contest, "secret/03")
    preview = admin(*case, "--preview")
    assert preview.exit_code == 0, preview.output
    assert "the change would wait as a rejudging of 2 submissions of 2 teams" in preview.stdout
    assert json.loads(admin(*case, "--preview", "--json").stdout)["outcome"] == "rejudging"
    done = admin(*case, "--keep")
    assert done.stdout == f"problems/{contest}/testcases/secret/03 has been deleted\n"
    versions = json.loads(admin("admin", "problem", "versions", contest, "--json").stdout)
    assert [(each["number"], each["pinned"]) for each in versions] == [(2, []), (1, [contest])]
    assert f"{contest}*" in admin("admin", "problem", "versions", contest).stdout
    diff = json.loads(admin("api", "GET", f"problems/{contest}/versions/2/diff").stdout)
    assert any("test case 03" in each["where"] for each in diff["fields"])
    assert diff["judging"]
    out = tmp_path / "judged.zip"
    assert admin("admin", "problem", "download", contest, "--version", 1, "--out", out).exit_code == 0
    assert f"{contest}/data/secret/03.in" in unzipped(out.read_bytes())
    moved = admin("admin", "contest", "pin", contest, contest, "newest")
    assert "the change waits as rejudging" in moved.stdout
    wrong = admin("admin", "contest", "pin", contest, contest, "last")
    assert (wrong.exit_code, wrong.stderr) == (2, "jurado: VERSION: expected a number or newest, found 'last'\n")
    number = moved.stdout.split(" as rejudging ")[1].split()[0]
    assert admin("admin", "rejudging", "cancel", contest, number).exit_code == 0
    restored = admin("admin", "problem", "restore", contest, 1)
    assert restored.stdout == f"{contest} is as it was in version 1\n"
