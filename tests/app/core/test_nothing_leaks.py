"""At no moment of a contest's life does any address, of the API or of a page, show what is hidden then."""

from __future__ import annotations

import json
import re

import pytest

from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission, ids_of, pass_time
from tests.builders.described import document
from tests.builders.examples import sqlite_first
from tests.builders.pages import PAGES, organisers
from tests.builders.scoring import raw
from tests.builders.service import Api
from tests.builders.zips import unzipped

STATEMENT = "Say the secret again."
LATE, FINAL_RAW = 7_654_321, 9_876_543
"""Raw scores that say by themselves where they were seen: of an answer after the freeze, and of a final one."""
WORDS = {
    "the statement": STATEMENT,
    "the problem": "Echo",
    "the input of a final case": "31415926",
    "the name of a final case": "last-one",
    "the raw score of a final answer": str(FINAL_RAW),
    "the raw score of an answer after the freeze": str(LATE),
}
FILES: dict[str, str | bytes | None] = {
    **{name.replace("z/03", "z/last-one"): data for name, data in FINAL.items()},
    "data/secret/z/last-one.in": "31415926\n",
    "data/secret/z/last-one.ans": "31415926\n",
    "data/secret/03.in": None,
    "data/secret/03.ans": None,
    "submissions/accepted/copy/03.out": None,
    "statement/problem.en.md": f"{STATEMENT}\n",
}
IDS = {
    "contest_id": "c",
    "problem_id": "echo",
    "team_id": "team",
    "account_id": "team",
    "name": "last-one",
    "case_name": "last-one",
    "type_id": "AC",
    "language_id": "answers",
}


@pytest.fixture
def life(api: Api) -> Api:
    """A contest of five hours that begins in an hour, freezes for its last, and gives out final inputs before that.

    `team` has sent answers that no one else may know of: for the final case, and after the freeze.
    """
    add_problem(api.service, FILES)
    settings = {"final_minutes": 60, "show_others_answers": True}
    rule = {"kind": "relative", "counting": "best-case"}
    add_contest(api.service, started=-HOUR, freeze=HOUR, settings=settings, rule=rule)
    return api


def paths(api: Api) -> list[str]:
    """Every address below a contest and every page that can be read, filled with what there is, with its options."""
    addresses = []
    veiled = ids_of(api.service)
    for path, operations in document()["paths"].items():
        if "get" not in operations or not path.startswith("/api/contests"):
            continue
        if "event-feed" in path or "stream" in path:
            continue  # they never end; what they send is what the others show
        for number in (1, 2, 3):
            ids = {**IDS, "submission_id": str(number), "judgement_id": veiled.judgement(number)}
            filled = re.sub(r"\{(\w+)\}", lambda name, ids=ids: ids.get(name[1], "1"), path)
            addresses.append(filled)
            if filled.endswith("scoreboard"):
                options = ("cases=true", "phase=final")
                addresses += [f"{filled}?{each}" for each in options]
    pages = {**PAGES, **organisers()}
    of_pages = (address for page in pages.values() for address in page.addresses if "{" not in address)
    of_contests = (address for address in of_pages if address.startswith(("/c/", "/admin")) or address == "/")
    return sorted({*addresses, *of_contests})


def read(api: Api, user: str | None) -> str:
    """Everything a user can read, as text; archives are opened."""
    texts = []
    for path in paths(api):
        reply = api.get(path, user=user)
        if reply.status_code != 200:
            continue
        text = reply.text
        if reply.headers.get("content-type") == "application/zip":
            text = json.dumps({name: data.decode() for name, data in unzipped(reply.content).items()})
        texts.append(f"{path}: {text}")
    return "\n".join(texts)


def seen(api: Api, user: str | None) -> set[str]:
    """What of WORDS a user can see."""
    text = read(api, user)
    return {what for what, word in WORDS.items() if word in text}


@sqlite_first
@pytest.mark.timeout(1200)  # it reads everything as everyone at each stage: the longest test of the API
def test_what_everybody_sees_grows_with_the_life_of_a_contest(life: Api) -> None:
    """Before the start nothing; then the problem; after the thaw the rest. A team sees besides what is its own."""
    problem = {"the statement", "the problem"}
    asked = {"the input of a final case", "the name of a final case"}
    own = {"the raw score of an answer after the freeze"}
    sent = {"the name of a final case"}  # in the report on what an admin has sent for it beforehand
    add_submission(life.service, {"02": raw(2), "last-one": raw(FINAL_RAW)}, minute=60)
    add_submission(life.service, {"02": raw(3)}, minute=70, team="other")
    assert seen(life, None) == seen(life, "team") - sent == seen(life, "other") == set()
    assert seen(life, "judge") == set(WORDS) - own

    pass_time(life.service, 2 * HOUR)
    assert seen(life, None) == seen(life, "other") == problem
    assert seen(life, "team") == problem | sent
    life.post("contests/c/problems/echo/inputs", user="team")
    for moment, passed, duration in (
        ("running", 0.0, "5:00:00"),
        ("frozen", 3.25, "5:00:00"),
        ("frozen, and longer", 0.0, "6:00:00"),
        ("frozen, and shorter", 0.0, "4:30:00"),
        ("over, and frozen still", 1.0, "4:30:00"),
        ("over, and going on", 0.0, "5:30:00"),
        ("over again, and frozen still", 1.0, "5:30:00"),
    ):
        pass_time(life.service, passed * HOUR)
        if moment == "frozen":
            add_submission(life.service, {"02": raw(LATE)}, minute=250)
        assert life.patch("contests/c", user="admin", json={"duration": duration}).status_code == 200
        if "still" not in moment:
            assert life.post("contests/c/pause", user="admin").status_code == 200
        assert seen(life, None) == seen(life, "other") == problem, moment
        assert seen(life, "team") - own == problem | asked, moment
        life.post("contests/c/resume", user="admin")
    state = life.get("contests/c/state").json()
    assert state["ended"] is not None
    assert state["thawed"] is None

    assert life.post("contests/c/reveal", user="admin", json={"step": "all"}).status_code == 200
    for user in (None, "other", "team", "judge"):
        assert seen(life, user) == set(WORDS)
