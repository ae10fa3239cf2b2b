"""`jurado admin similarity` against a real service."""

from __future__ import annotations

import json
import uuid

import pytest

from app.core.commands.client import Client
from app.submissions.commands import wait_for_report
from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted

WRONG = b" ".join(b"%d" % (at * at % 97) for at in range(100)) + b"\n"


@pytest.fixture
def contest(admin: Jurado) -> str:
    """A contest in which the ants and the bees have the same wrong answer and much the same program."""
    name = f"x{uuid.uuid4().hex[:8]}"
    admin("admin", "contest", "create", name, "Alike", "--start", "now")
    admin("admin", "contest", "add-problem", name, "comesolo")
    with Client.open() as client:
        for kind in ("ants", "bees", "cats"):
            admin("admin", "team", "add", f"{name}-{kind}", f"The {kind}", "--contest", name)
            answer = WRONG if kind != "cats" else b"7\n"
            source = f"def {kind}(board):\n    for {kind} in board:\n        print({kind} + {kind} * 2)\n" * 4
            files = [("files", ("101-n05-p70.out", answer)), ("sources", (f"{kind}.py", source.encode()))]
            fields = {"problem_id": "comesolo", "team_id": f"{name}-{kind}"}
            made = client.post(
                f"contests/{name}/submissions", data=fields, files=files if kind != "cats" else files[:1]
            )
            wait_for_report(client, name, made["id"])
    return name


def test_pairs_are_listed_for_people_and_programs(admin: Jurado, contest: str) -> None:
    shown = admin("admin", "similarity", contest)
    assert shown.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.stdout.splitlines() if line[:1] == "│"]
    assert [row[:3] + row[5:8] for row in rows] == [
        ["comesolo", f"{contest}-ants", f"{contest}-bees", kind, "1 of 1", "1.00"] for kind in ("identical", "near")
    ]
    found = json.loads(admin("admin", "similarity", contest, "--problem", "comesolo", "--min", "0.5", "--json").stdout)
    assert found["pairs"][0]["team_ids"] == [f"{contest}-ants", f"{contest}-bees"]


def test_similarity_is_for_judges(team: Jurado) -> None:
    done = team("admin", "similarity", "practice")
    assert (done.exit_code, done.stderr) == (1, "jurado: only a judge or an admin may see this\n")


def test_unread_texts_and_further_pairs_are_counted(jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {"texts": 10, "unread": 8, "left_off": 3, "pairs": [], "sources": []}
    Scripted({"GET contests/c/similarity": pairs}).install(monkeypatch)
    assert jurado("admin", "similarity", "c").stdout.splitlines() == [
        "no answers alike",
        "3 more pairs, each of less weight",
        "8 of 10 texts were not read in time: use --problem",
    ]
