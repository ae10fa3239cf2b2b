"""Checkers that packages bring, over HTTP on a real server: uploaded, judged by, reported, changed, given back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.packages.read import read_archive
from tests.builders.packages import zip_package
from tests.builders.programs import ABSOLUTE, VALIDATOR, Judge, judging_service, own_checker

pytestmark = pytest.mark.machine("sandbox")
LIAR = VALIDATOR.replace(
    "if len(words)",
    """\
if words == ["quit"]:
    sys.exit(0)
if words == ["print"]:
    while True: print('x' * 10**6)
if words == ["crash"]:
    raise ValueError(given)
if len(words)""",
)
"""Judges honestly but for three answers."""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A service of this module."""
    with judging_service(tmp_path_factory.mktemp("judge")) as judge:
        yield judge


@pytest.fixture(scope="module")
def liar(judge: Judge) -> str:
    """A contest whose problem has LIAR for its checker."""
    return judge.contest("liar", own_checker({"output_validator/validate.py": LIAR}))


def cases(report: Any, *keys: str) -> dict[str, tuple[Any, ...]]:
    """What a report says of the secret cases, by name."""
    return {case["name"]: tuple(case[key] for key in keys) for case in report["cases"] if case["kind"] != "sample"}


def test_an_output_validator_judges_and_its_score_is_the_raw_score_of_relative_scoring(judge: Judge) -> None:
    judge.contest("shortest", own_checker({"output_validator/validate.py": VALIDATOR}))
    judge.submit("shortest", {"02": "4", "03": "10"}, "bees")
    report = judge.submit("shortest", {"02": "8", "03": "many"})
    assert report["judgement"]["judgement_type_id"] == "PC"
    assert cases(report, "verdict", "raw", "points") == {"02": ("accepted", 8, 25.0), "03": ("rejected", None, 0.0)}
    assert cases(report, "judge_message") == {"02": ("the optimum is 2",), "03": ("no number beside 3",)}
    assert report["cases"][2]["message"]["text"] == "line 1: expected a number"
    shown = judge.report("shortest", report["submission_id"], "ants")
    assert "judge_message" not in str(shown)
    assert "no number beside" not in str(shown)


@pytest.mark.parametrize(
    ("word", "lie", "reason"),
    [
        ("quit", "sys.exit(0)", "case 03: expected exit code 42 or 43, found 0"),
        ("print", "while True: print('x' * 10**6)", "case 03: it wrote more than it may"),
        ("crash", "raise ValueError(given)", "ValueError: 3"),
    ],
)
def test_a_checker_that_fails_on_an_answer_is_a_judge_error_with_its_reason_for_judges(
    liar: str, judge: Judge, word: str, lie: str, reason: str
) -> None:
    assert lie in LIAR
    report = judge.submit(liar, {"02": "2", "03": word})
    assert report["judgement"]["judgement_type_id"] == "JE"
    assert reason in report["error"]
    assert cases(report, "verdict") == {"02": ("judge_error",), "03": ("judge_error",)}
    assert reason not in str(judge.report(liar, report["submission_id"], "ants"))


SPIED = """\
def score(given, answer, reference):
    could = []
    exec(answer, {"could": could})
    return 1, ", ".join(could) or "nothing"
"""
SPY = """\
import os, socket, urllib.request

def attempt(name, deed):
    try:
        deed()
    except OSError:
        return
    could.append(name)

for path in paths:
    attempt("read " + path, lambda: open(path, "rb").read(1))
    attempt("write " + path, lambda: open(path, "ab"))
attempt("list the home", lambda: os.listdir(home))
attempt("connect to the service", lambda: socket.create_connection(("127.0.0.1", port), 1))
attempt("ask the service", lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1))
attempt("write its own folder", lambda: open("/work/own", "w"))
"""


def test_an_answer_that_takes_the_checker_over_reaches_nothing_of_the_running_service(judge: Judge) -> None:
    """Neither its database nor its port, neither other teams' files nor references: all lie in its home."""
    slug = judge.contest("spied", own_checker({"checker.py": SPIED}))
    judge.submit(slug, {"02": "could.append('of the bees')", "03": "pass"}, "bees")
    files = sorted(str(path) for path in judge.home.rglob("*") if path.is_file())
    assert {"jurado.db", "secret.key"} <= {path.rpartition("/")[2] for path in files}
    assert any("of the bees" in Path(path).read_text(errors="replace") for path in files)
    assert httpx.get(f"{judge.url}/health/live").status_code == 200
    known = f"paths, home, port = {files!r}, {str(judge.home)!r}, {httpx.URL(judge.url).port}\n"
    report = judge.submit(slug, {"02": known + SPY, "03": "pass"})
    messages = {case["name"]: case["message"]["text"] for case in report["cases"] if case["verdict"] == "accepted"}
    assert messages == {"02": "write its own folder", "03": "nothing"}


def test_a_changed_checker_proposes_a_rejudging_and_judges_once_that_is_applied(judge: Judge) -> None:
    slug = judge.contest("changing", own_checker({"output_validator/validate.py": VALIDATOR}))
    report = judge.submit(slug, {"02": "4", "03": "6"})
    assert cases(report, "raw") == {"02": (4,), "03": (6,)}
    assert judge.bring(slug, own_checker({"output_validator/validate.py": VALIDATOR})).status_code == 201
    squared = VALIDATOR.replace(".write(words[0])", ".write(str(int(words[0]) ** 2))")
    proposed = judge.bring(slug, own_checker({"output_validator/validate.py": squared}))
    assert proposed.status_code == 202, proposed.text
    (line,) = proposed.json()["changes"]
    assert re.fullmatch(r"checker program: [0-9a-f]{12} → [0-9a-f]{12}", line)
    assert cases(judge.report(slug, report["submission_id"]), "raw") == {"02": (4,), "03": (6,)}
    path = proposed.json()["href"].removeprefix("/api/")
    judge.until(path, lambda rejudging: rejudging["state"] == "ready")
    judge.ask("POST", f"{path}/apply").raise_for_status()
    assert cases(judge.report(slug, report["submission_id"]), "raw") == {"02": (16,), "03": (36,)}
    judge.ask("POST", f"{path}/undo").raise_for_status()
    assert cases(judge.report(slug, report["submission_id"]), "raw") == {"02": (4,), "03": (6,)}
    assert cases(judge.submit(slug, {"02": "5", "03": "6"}), "raw") == {"02": (5,), "03": (6,)}


def test_a_function_in_python_judges_absolute_scoring_by_its_share(judge: Judge) -> None:
    """Its package comes back whole, and reads as the same problem."""
    code = "def score(given, answer, reference):\n    return min(1, int(answer) / int(reference)), 'counted'\n"
    slug = judge.contest("share", own_checker({"checker.py": code}, ABSOLUTE))
    report = judge.submit(slug, {"02": "1", "03": "3"})
    assert cases(report, "raw", "points") == {"02": (0.5, 25.0), "03": (1, 50.0)}
    assert report["cases"][1]["message"] == {"key": "of-program", "text": "counted", "args": {}}
    problem = judge.ask("GET", f"problems/{slug}").json()
    assert (problem["checker"], problem["settings"]["program"]["protocol"]) == ("program", "python")
    exported = judge.ask("GET", f"problems/{slug}/package.zip").content
    assert (
        read_archive(exported).program == read_archive(zip_package(own_checker({"checker.py": code}, ABSOLUTE))).program
    )
    put = {"input": b"4\n", "answer": b"4\n"}
    files = {name: (name, data) for name, data in put.items()}
    added = judge.ask("PUT", f"problems/{slug}/testcases/secret/04", files=files)
    assert added.status_code == 202, added.text


def test_what_does_not_compile_is_refused_with_the_compilers_words_and_nothing_is_stored(judge: Judge) -> None:
    settings = f"{ABSOLUTE}program: {{protocol: testlib, points: fraction}}\n"
    files = {"output_validator/check.cpp": "int main() { return vedrict(); }\n"}
    refused = judge.bring("broken", own_checker(files, settings))
    assert refused.status_code == 400
    assert "does not compile" in refused.text
    assert "vedrict" in refused.text
    assert judge.ask("GET", "problems/broken").status_code == 404


def test_a_contest_moves_with_its_checker_beside_another_version_of_it(judge: Judge) -> None:
    """The contest is pinned to the version that its package holds, and judged as it was there."""
    slug = judge.contest("moving", own_checker({"output_validator/validate.py": VALIDATOR}))
    judge.submit(slug, {"02": "4", "03": "6"})
    exported = judge.ask("GET", f"contests/{slug}/package.zip")
    assert exported.status_code == 200, exported.text
    doubled = VALIDATOR.replace(".write(words[0])", ".write(str(int(words[0]) * 2))")
    proposed = judge.bring(slug, own_checker({"output_validator/validate.py": doubled}))
    path = proposed.json()["href"].removeprefix("/api/")
    judge.until(path, lambda rejudging: rejudging["state"] == "ready")
    judge.ask("POST", f"{path}/apply").raise_for_status()
    headers = {"Content-Type": "application/zip"}
    query = "id=moved&replace=true"
    moved = judge.ask("POST", f"contests/import?{query}", content=exported.content, headers=headers)
    assert moved.status_code == 201, moved.text
    (submission,) = judge.ask("GET", "contests/moved/submissions").json()
    assert submission["problem_id"] == slug
    report = judge.report("moved", submission["id"])
    assert cases(report, "raw", "judge_message")["02"] == (4, "the optimum is 2")


def test_a_checker_of_testlib_is_compiled_and_judges_absolute_scoring(judge: Judge) -> None:
    code = """\
#include <fstream>
#include <iostream>

int main(int, char** arguments) {
    std::ifstream output(arguments[2]), answer(arguments[3]);
    int mine = 0, theirs = 0;
    output >> mine;
    answer >> theirs;
    if (mine != theirs && mine != 1) {
        std::cerr << "wrong answer expected " << theirs << std::endl;
        return 1;
    }
    std::cerr << "points " << (mine == theirs ? 50 : 20) << std::endl;
    return 7;
}
"""
    files = own_checker({"output_validator/check.cpp": code}, f"{ABSOLUTE}program: {{protocol: testlib}}\n")
    slug = judge.contest("points", {**files, "data/sample/01.in": None, "data/sample/01.ans": None})
    report = judge.submit(slug, {"02": "1", "03": "3"})
    assert cases(report, "points", "judge_message") == {"02": (20.0, "points 20"), "03": (50.0, "points 50")}
    wrong = judge.submit(slug, {"02": "7"})
    assert cases(wrong, "judge_message")["02"] == ("wrong answer expected 2",)
    assert "expected 2" not in str(judge.report(slug, wrong["submission_id"], "ants"))
