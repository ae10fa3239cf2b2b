"""A problem edited in the browser is its package: each form makes one version, or changes nothing and says why."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from app.problems.queries import packing
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem, add_submission, with_checkers
from tests.builders.scoring import share
from tests.builders.service import Api
from tests.builders.zips import unzipped

ORIGIN = {"Origin": "http://jurado.test"}
PNG = b"\x89PNG\r\n\x1a\n"
ECHO = "/admin/problems/echo"


@pytest.fixture
def editor(api: Api) -> Api:
    """A service with checkers and the problem `echo`."""
    add_problem(api.service)
    return with_checkers(api)


def send(
    api: Api, tab: str, fields: dict[str, str], *files: tuple[str, bytes], user: str = "admin", page: str = ECHO
) -> httpx.Response:
    """Send the form of a tab as a browser does."""
    texts: list[Any] = [(name, (None, text)) for name, text in fields.items()]
    return api.post(f"{page}/{tab}", user=user, headers=ORIGIN, files=[*texts, *(("files", file) for file in files)])


def package(api: Api, slug: str = "echo") -> dict[str, bytes]:
    """The files of the problem's package."""
    files = unzipped(api.get(f"problems/{slug}/package.zip", user="admin").content)
    return {name.partition("/")[2]: data for name, data in files.items()}


def version(api: Api, slug: str = "echo") -> int:
    return int(api.get(f"problems/{slug}", user="admin").json()["version"])


def saved(reply: httpx.Response) -> str:
    """Where a saved form leads to."""
    assert reply.status_code == 303, text_of(reply.text)[:2000]
    return reply.headers["Location"]


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize(
    ("scoring", "checker"), [("points", "tokens"), ("pass-fail", "unordered"), ("minimise", "metric")]
)
def test_a_new_problem_begins_as_a_sound_package(api: Api, scoring: str, checker: str, empty: bool) -> None:
    with_checkers(api)
    fields = {"id": "fresh", "title": "Fresh: 1", "languages": "en, es", "scoring": scoring, "checker": checker}
    more = {"empty": "yes"} if empty else {}
    made = api.post("/admin/problems/new", user="admin", headers=ORIGIN, data=fields | more)
    assert saved(made) == "/admin/problems/fresh?done=created"
    problem = api.get("problems/fresh", user="admin").json()
    assert (problem["names"], problem["checker"]) == ({"en": "Fresh: 1", "es": "Fresh: 1"}, checker)
    assert len(problem["testcases"]) == (1 if empty else 6)
    for tab in ("", "/statement", "/cases", "/checker", "/scoring", "/samples", "/versions", "/preview"):
        assert api.get(f"/admin/problems/fresh{tab}", user="admin").status_code == 200, tab


def test_a_problem_is_created_over_http_once_and_by_organizers(api: Api) -> None:
    with_checkers(api)
    asked = {"id": "fresh", "title": "Fresh"}
    assert api.post("problems/new", user="team", json=asked).status_code == 403
    made = api.post("problems/new", user="admin", json=asked)
    assert (made.status_code, made.json()["version"]) == (201, 1), made.text
    again = api.post("problems/new", user="admin", json=asked)
    assert (again.status_code, again.json()["message"]) == (409, "id: a problem with this id exists")
    odd = api.post("problems/new", user="admin", json={"id": "x", "title": "X", "scoring": "rank", "checker": "exact"})
    assert odd.json()["message"].startswith(
        "checker: expected one that can score rank (python, c++, metric), found exact"
    )
    assert (
        "lowercase letters and digits" in api.post("problems/new", user="admin", json={"id": "A b", "title": "X"}).text
    )


def test_a_refused_new_problem_keeps_what_was_filled_in(api: Api) -> None:
    with_checkers(api)
    fields = {"id": "fresh", "title": "Fresh", "languages": "english", "scoring": "points", "checker": "tokens"}
    refused = api.post("/admin/problems/new", user="admin", headers=ORIGIN, data=fields)
    assert refused.status_code == 400
    assert 'value="Fresh"' in refused.text
    assert "Expected a code such as en or pt-BR" in text_of(refused.text)


def test_a_statement_is_saved_with_its_title_and_images_as_one_version(editor: Api) -> None:
    fields = {
        "language": "en",
        "path": "statement/problem.en.md",
        "folder": "statement",
        "title": "Echo 2",
        "text": "Say $x^2$.\r\n\r\n![a map](map.png)\r\n",
    }
    reply = send(editor, "statement", fields, ("map.png", PNG))
    assert saved(reply) == f"{ECHO}/statement?done=saved&lang=en"
    files = package(editor)
    assert files["statement/problem.en.md"] == b"Say $x^2$.\n\n![a map](map.png)\n"
    assert files["statement/map.png"] == PNG
    assert editor.get("problems/echo", user="admin").json()["names"] == {"en": "Echo 2", "es": "Eco"}
    page = editor.get(f"{ECHO}/statement", user="admin").text
    assert f'src="{ECHO}/files/statement/map.png"' in page
    assert "<math" in page
    image = editor.get(f"{ECHO}/files/statement/map.png", user="judge")
    assert (image.content, image.headers["Content-Type"]) == (PNG, "image/png")
    assert editor.get(f"{ECHO}/files/jurado.yaml", user="admin").status_code == 404
    assert version(editor) == 2


def test_a_preview_stores_nothing_and_a_faulty_statement_is_shown_again(editor: Api) -> None:
    fields = {"language": "es", "path": "statement/problem.es.md", "title": "Eco", "text": "**Dilo**"}
    shown = send(editor, "statement", fields | {"act": "preview"})
    assert (shown.status_code, "<strong>Dilo</strong>" in shown.text) == (200, True)
    refused = send(editor, "statement", fields | {"text": "![](none.png)"})
    assert refused.status_code == 400
    assert "statement/problem.es.md" in text_of(refused.text)
    assert "![](none.png)</textarea>" in refused.text
    assert version(editor) == 1


def test_a_statement_in_another_language_is_added(editor: Api) -> None:
    assert 'name="path" value="statement/problem.sk.md"' in editor.get(f"{ECHO}/statement?lang=sk", user="admin").text
    fields = {"language": "sk", "path": "statement/problem.sk.md", "title": "Ozvena", "text": "Zopakuj.\n"}
    saved(send(editor, "statement", fields))
    assert editor.get("problems/echo", user="admin").json()["languages"] == ["en", "es", "sk"]


def test_a_language_of_the_statement_is_removed_with_its_title(editor: Api) -> None:
    fields = {"language": "es", "path": "statement/problem.es.md", "text": "Imprime.\n", "title": "Eco"}
    saved(send(editor, "statement", fields))
    assert "Remove this language" in editor.get(f"{ECHO}/statement?lang=es", user="admin").text
    gone = {"language": "es", "act": "drop", "remove": "statement/problem.es.md statement/problem.es.pdf"}
    assert "lang" not in saved(send(editor, "statement", gone))
    assert "statement/problem.es.md" not in package(editor)
    assert list(editor.get("problems/echo", user="admin").json()["names"]) == ["en"]
    assert "Remove this language" not in editor.get(f"{ECHO}/statement", user="admin").text


def test_a_group_becomes_final_on_the_page_of_scoring(editor: Api) -> None:
    (group,) = [each for each in editor.get("problems/echo", user="admin").json()["groups"] if each["kind"] != "sample"]
    fields = {"act": "group", "group": group["name"], "max_points": "100", "aggregation": "sum"}
    for final, kind in (("yes", "final"), ("no", "provisional")):
        sent = editor.post(f"{ECHO}/cases/arrange", user="admin", headers=ORIGIN, data={**fields, "final": final})
        assert sent.status_code == 303, text_of(sent.text)
        kinds = {each["name"]: each["kind"] for each in editor.get("problems/echo", user="admin").json()["groups"]}
        assert kinds[group["name"]] == kind


def test_cases_come_from_files_by_name_or_from_a_zip(editor: Api) -> None:
    files = (("04.in", b"4\n"), ("04.ans", b"4\n"), ("05.in", b"5\n"), ("05.ans", b"5\n"))
    assert saved(send(editor, "cases", {"group": "secret"}, *files)) == f"{ECHO}/cases?done=saved"
    assert [case["name"] for case in editor.get("problems/echo", user="admin").json()["testcases"]] == [
        "01", "02", "03", "04", "05",
    ]  # fmt: skip
    refused = send(editor, "cases", {"group": "secret"}, ("06.txt", b"6\n"))
    assert (refused.status_code, "secret/06.txt" in text_of(refused.text)) == (400, True)


def test_cases_without_an_answer_stay_cases_in_the_edited_package(editor: Api) -> None:
    changes = {"jurado.yaml": "checker: exact\nscoring: {kind: absolute}\nreference: {solver: echo, method: copy}\n"}
    add_problem(editor.service, changes, "lone")
    put = editor.put("problems/lone/testcases/secret/04", user="admin", files={"input": ("x", b"4\n")})
    assert put.status_code == 201, put.text
    fields = {"language": "en", "path": "statement/problem.en.md", "title": "Lone", "text": "New.\n"}
    saved(send(editor, "statement", fields, page="/admin/problems/lone"))
    assert f"{packing.UNANSWERED}/secret/04.in" in package(editor, "lone")
    cases = {case["name"]: case for case in editor.get("problems/lone", user="admin").json()["testcases"]}
    assert cases["04"]["answer_size"] is None


def test_a_standard_checker_is_chosen_with_its_arguments(editor: Api) -> None:
    chosen = send(editor, "checker", {"checker": "tokens", "args": "float_tolerance 0.5"})
    assert saved(chosen).startswith(f"{ECHO}/checker")
    assert editor.get("problems/echo", user="admin").json()["checker"] == "tokens"
    trial = editor.post("problems/echo/trials", user="judge", json={"testcase": "02", "answer": "2.4"})
    assert trial.json() == {"verdict": "accepted", "message": "accepted", "raw_score": 1, "share": 1}
    kept = send(editor, "checker", {"checker": "tokens", "args": ""})
    saved(kept)
    assert (
        editor.post("problems/echo/trials", user="judge", json={"testcase": "02", "answer": "2.4"}).json()
        == trial.json()
    )
    saved(send(editor, "checker", {"checker": "exact", "args": ""}))
    wrong = editor.post("problems/echo/trials", user="judge", json={"testcase": "02", "answer": "2.4"}).json()
    assert (wrong["verdict"], wrong["raw_score"]) == ("rejected", None)
    unknown = editor.post("problems/echo/trials", user="judge", json={"testcase": "77", "answer": ""})
    assert (unknown.status_code, unknown.json()["message"]) == (404, "problem 'echo' has no test case '77'")


def test_an_answer_is_tried_on_the_page_of_the_checker(editor: Api) -> None:
    tried = send(editor, "checker", {"act": "try", "testcase": "02", "answer": "3\n"})
    assert tried.status_code == 200
    assert "rejected" in text_of(tried.text)
    assert version(editor) == 1


def test_scoring_and_points_of_groups_change_on_one_page(editor: Api) -> None:
    saved(send(editor, "scoring", {"kind": "relative", "direction": "minimise"}))
    assert editor.get("problems/echo", user="admin").json()["scoring"] == {"kind": "relative", "direction": "minimise"}
    data = {"act": "group", "group": "secret", "max_points": "30", "aggregation": "min"}
    reply = editor.post(f"{ECHO}/cases/arrange", user="admin", headers=ORIGIN, data=data)
    assert saved(reply) == f"{ECHO}/scoring?done=saved"
    (group,) = [each for each in editor.get("problems/echo", user="admin").json()["groups"] if each["name"] == "secret"]
    assert (group["max_points"], group["aggregation"]) == (30, "min")


def test_sample_answers_are_added_with_their_points_and_deleted(editor: Api) -> None:
    fields = {"folder": "submissions/wrong_answer", "name": "half", "least": "50", "most": "50"}
    saved(send(editor, "samples", fields, ("02.out", b"2\n"), ("03.out", b"4\n")))
    files = package(editor)
    assert files["submissions/wrong_answer/half/03.out"] == b"4\n"
    assert b"wrong_answer/half:\n  score:\n  - 50\n  - 50\n" in files["submissions/submissions.yaml"]
    page = editor.get(f"{ECHO}/samples", user="admin").text
    names = re.findall(r'name="remove" value="([^"]*half[^"]*)"', page)
    saved(send(editor, "samples", {"remove": names[0]}))
    assert not any("half" in name for name in package(editor) if name.endswith(".out"))


def test_an_outdated_form_replaces_no_newer_version_unseen(editor: Api) -> None:
    fields = {"language": "en", "path": "statement/problem.en.md", "title": "Echo", "text": "One.\n"}
    saved(send(editor, "statement", fields | {"seen_version": "1"}))
    assert send(editor, "statement", fields | {"seen_version": "1", "text": "Two.\n"}).status_code == 412


def test_an_edit_that_changes_results_waits_as_a_rejudging(editor: Api) -> None:
    add_contest(editor.service)
    add_submission(editor.service, {"02": share(1)})
    assert saved(send(editor, "checker", {"checker": "tokens", "args": ""})).startswith("/admin/contests/c/rejudgings/")


def test_only_owners_edit_and_judges_read(editor: Api) -> None:
    assert editor.get(f"{ECHO}/checker", user="judge").status_code == 200
    assert send(editor, "checker", {"checker": "tokens"}, user="judge").status_code == 403
    assert editor.get(f"{ECHO}/statement", user="team").status_code == 403
    assert editor.get(f"{ECHO}/nowhere", user="admin").status_code in {400, 404}
