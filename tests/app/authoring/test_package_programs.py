"""A package's own solver and its verification over HTTP on a real server: run, watched, cancelled, reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.builders.packages import VALIDATOR as INPUT_VALIDATOR
from tests.builders.programs import RELATIVE, VALIDATOR, Judge, judging_service, own_checker

pytestmark = pytest.mark.machine("sandbox")
SOLVER = """\
import os, sys
n = int(input())
if n == 77:
    while True:
        pass
if n == 88:
    sys.exit("no answer to 88")
print(n * int(os.environ["JURADO_SEED"]))
"""
OWN = own_checker({"output_validator/validate.py": VALIDATOR, "solver.py": SOLVER}, RELATIVE)
ENDED = ("done", "failed", "cancelled")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A service of this module."""
    with judging_service(tmp_path_factory.mktemp("judge")) as judge:
        yield judge


def ended(judge: Judge, job_id: str) -> Any:
    """A job once it has ended."""
    return judge.until(f"jobs/{job_id}", lambda job: job["state"] in ENDED)


def put(judge: Judge, slug: str, name: str, data: bytes) -> None:
    """Put a test case without an answer."""
    sent = judge.ask("PUT", f"problems/{slug}/testcases/secret/{name}", files={"input": ("x.in", data)})
    assert sent.status_code in (200, 201), sent.text


def test_a_reference_run_with_the_solver_of_the_package_makes_the_expected_answer(judge: Judge) -> None:
    brought = judge.bring("own", OWN)
    assert brought.status_code == 201, brought.text
    assert brought.json()["settings"]["reference"]["program"] == "solver.py"
    put(judge, "own", "04", b"4\n")
    put(judge, "own", "05", b"88\n")
    started = judge.ask(
        "POST", "problems/own/reference-runs", json={"testcases": ["04", "05"], "seed": 5, "seconds": 20}
    )
    assert started.status_code == 202, started.text
    job = ended(judge, started.json()["id"])
    made, failed = job["result"]["cases"]["04"], job["result"]["cases"]["05"]
    assert (job["state"], made["raw"], made["seed"], made["method"]) == ("failed", 20, 5, "solver.py")
    assert "no answer to 88" in failed["error"]
    cases = {case["name"]: case for case in judge.ask("GET", "problems/own").json()["testcases"]}
    assert cases["04"]["provenance"]["raw"] == 20
    assert (cases["04"]["answer_size"], cases["05"]["answer_size"]) == (3, None)


def test_an_upload_without_expected_answers_starts_the_run_that_makes_them(judge: Judge) -> None:
    solution = "n = int(input())\nprint(n)\n"
    changes = {"data/secret/02.ans": None, "data/sample/01.ans": None, "submissions/accepted/solution.py": solution}
    brought = judge.bring("unanswered", changes)
    assert brought.status_code == 201, brought.text
    assert {case["name"] for case in brought.json()["testcases"] if case["answer_size"] is None} == {"01", "02"}
    assert ended(judge, brought.json()["reference_run"])["state"] == "done"
    cases = {case["name"]: case for case in judge.ask("GET", "problems/unanswered").json()["testcases"]}
    assert (cases["01"]["answer_size"], cases["02"]["answer_size"]) == (2, 2)
    report = ended(judge, brought.json()["verification"])["result"]["report"]
    assert (report["valid"], report["warnings"]) == (True, [])


def test_a_solver_that_runs_for_ever_is_cancelled_with_its_job(judge: Judge) -> None:
    """The run is the one that the new case itself has queued: another one would wait for its end."""
    assert judge.bring("endless", OWN).status_code == 201
    put(judge, "endless", "06", b"77\n")
    jobs = judge.ask("GET", "jobs").json()
    started = next(job for job in jobs if job["params"].get("cases") == ["06"])
    judge.until(f"jobs/{started['id']}", lambda job: "06: solver.py" in job["log"])
    assert judge.ask("DELETE", f"jobs/{started['id']}").status_code == 204
    assert ended(judge, started["id"])["state"] == "cancelled"
    next_job = judge.ask("POST", "problems/endless/reference-runs", json={"testcases": ["02"], "seed": 1})
    assert ended(judge, next_job.json()["id"])["state"] == "done"


def test_an_upload_is_verified_and_its_report_is_read_over_http(judge: Judge) -> None:
    wrong = {"submissions/accepted/one.py": "print(1)\n", "generators/cases.yaml": "cases: []\n"}
    plan = "cases: [{group: secret, name: '02', seed: 3}]\n"
    generator = {"generators/cases.yaml": plan, "generators/generate.py": "import sys\nprint(sys.argv[2])\n"}
    brought = judge.bring("promises", {**wrong, **generator})
    assert brought.status_code == 201, brought.text
    assert ended(judge, brought.json()["verification"])["state"] == "done"
    job = judge.ask("GET", "problems/promises/verification").json()
    report = job["result"]["report"]
    assert (job["id"], report["valid"], report["errors"]) == (brought.json()["verification"], True, [])
    warnings = {(each["file"], each["line"]) for each in report["warnings"]}
    assert warnings == {("data/secret/02.in", 1), ("submissions/submissions.yaml", None)}
    assert report["points"] == {"accepted/copy": 100.0, "accepted/one.py": 0.0}
    again = judge.ask("POST", "problems/promises/verification")
    assert again.status_code == 202
    assert ended(judge, again.json()["id"])["result"]["report"] == report
    assert judge.ask("GET", "problems/promises/verification", "ants").status_code == 403


def test_a_changed_input_validator_or_solver_changes_nothing_that_counts(judge: Judge) -> None:
    judge.contest("counts", OWN)
    judge.submit("counts", {"02": "4", "03": "6"})
    changed = {"input_validators/validate.py": INPUT_VALIDATOR + "# stricter, some day\n", "solver.py": SOLVER + "#\n"}
    assert judge.bring("counts", {**OWN, **changed}).status_code == 201
    other = VALIDATOR.replace("the optimum is", "the best is")
    proposed = judge.bring("counts", {**OWN, **changed, "output_validator/validate.py": other})
    assert proposed.status_code == 202
