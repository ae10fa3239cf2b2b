"""Every door that takes files or tables, and what is sent there to cost much: refused, short, and little is stored."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest
from sqlalchemy import LargeBinary, Select, cast, func, select

from app.packages.zips import zip_bytes
from app.tables import Base
from tests.builders.contests import add_contest, add_problem, with_checkers
from tests.builders.packages import zip_package
from tests.builders.service import Api, open_api
from tests.conftest import migrated_sqlite

LONGEST_REPLY = 64 * 1024
LARGEST_VALUE = 256 * 1024
"""Bytes of a value in any row: a hundred notes on files of long names; larger answers and inputs are files."""
ZIP = {"Content-Type": "application/zip"}
CONTEST: dict[str, Any] = {"id": "made", "name": "Made", "duration": "5:00:00"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One server for all requests; none of them may harm it for the next one."""
    home = tmp_path_factory.mktemp("whole")
    url = migrated_sqlite(home / "jurado.db")
    with open_api(url, home / "home") as opened:
        add_problem(opened.service)
        add_contest(opened.service)
        yield with_checkers(opened)


def holds(api: Api, reply: httpx.Response, name: str) -> None:
    """The reply is a refusal, or takes what was sent; it is short, and so is every value of every row."""
    assert reply.status_code < 500, (name, reply.text[:300])
    assert len(reply.content) <= LONGEST_REPLY, (name, len(reply.content))
    assert largest_value(api) <= LARGEST_VALUE, name


@cache
def sizes() -> list[Select[Any]]:
    """Queries of the largest value in each column of each table."""
    return [
        select(*[func.max(func.length(cast(column, LargeBinary))) for column in table.columns])
        for table in Base.metadata.sorted_tables
    ]


def largest_value(api: Api) -> int:
    """The bytes of the largest value in the database."""
    with api.service.database.read() as session:
        return max(int(size or 0) for query in sizes() for size in session.execute(query).one())


def stored(api: Api) -> set[str]:
    return {each.sha256 for each in api.service.files.stored()}


def entries(names: list[str], data: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
    return buffer.getvalue()


ARCHIVES: dict[str, bytes] = {
    "many entries": entries([f"n{at}.out" for at in range(2_500)]),
    "as many entries as there may be": entries([f"n{at}.out" for at in range(1_999)]),
    "long names": entries([f"{at:03}" + "n" * 250 for at in range(1_000)]),
    "long names in other letters": entries([f"{at:03}" + "\u044f" * 250 for at in range(300)]),
    "too long a name": entries(["n" * 60_000]),
    "deep folders": entries(["a/" * 120 + f"{at}.out" for at in range(300)]),
    "one name often": entries(["a/02.out", "b/02.out"]),
    "a zip in a zip": entries(["02.out"], zip_bytes({"02.out": b"2\n"})),
    "a bomb": entries(["02.out"], b"0" * 20_000_000),
    "no zip": b"PK\x03\x04" + b"\0" * 1000,
    "directory of nothing": b"PK\x03\x04" + b"PK\x01\x02" * 100_000,
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_of_a_submission(api: Api, name: str) -> None:
    """As a file of a form, beside another, as a source, and in base64; notes name the first hundred files."""
    data, path = ARCHIVES[name], "contests/c/submissions"
    answer = ("files", ("02.out", b"2\n"))
    for files in (
        [("files", ("a.zip", data))],
        [answer, ("files", ("a.zip", data))],
        [answer, ("sources", ("a", data))],
    ):
        before = stored(api)
        reply = api.post(path, user="team", data={"problem_id": "echo"}, files=files)
        holds(api, reply, name)
        if not reply.is_success:
            assert stored(api) == before, name
        else:
            report = api.get(f"{path}/{reply.json()['id']}/report", user="team")
            assert len(report.json()["files"]) <= 102, name
    archive = {"data": base64.b64encode(data).decode(), "mime": "application/zip"}
    body = {"language_id": "answers", "problem_id": "echo", "files": [archive]}
    holds(api, api.post(path, user="team", json=body), name)


FORMS: dict[str, tuple[dict[str, Any], list[tuple[str, Any]]]] = {
    "many files": ({}, [("files", (f"{at}.out", b"")) for at in range(3_000)]),
    "many zips": ({}, [("files", (f"{at}.zip", ARCHIVES["as many entries as there may be"])) for at in range(20)]),
    "many sources": ({}, [("files", ("02.out", b"2\n"))] + [("sources", (f"{at}", b"")) for at in range(3_000)]),
    "long file names": ({}, [("files", ("n" * 5_000 + str(at), b"")) for at in range(50)]),
    "a long text": ({"comment": "c" * 39_999}, [("files", ("02.out", b"2\n"))]),
    "too long a text": ({"comment": "c" * 50_000}, [("files", ("02.out", b"2\n"))]),
    "a long problem": ({"problem_id": "p" * 39_999}, [("files", ("02.out", b"2\n"))]),
    "a long case": ({"testcase": "p" * 39_999}, [("files", ("x", b"2\n"))]),
    "a long time": ({"time": "9" * 39_999}, [("files", ("02.out", b"2\n"))]),
    "a long key": ({"k" * 5_000: "1"}, [("files", ("02.out", b"2\n"))]),
    "a long team": ({"team_id": "\u0663" * 10_000}, [("files", ("02.out", b"2\n"))]),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("user", ["team", "admin"])
def test_forms_of_a_submission(api: Api, name: str, user: str) -> None:
    texts, files = FORMS[name]
    team = {"team_id": "team"} if user == "admin" else {}
    reply = api.post("contests/c/submissions", user=user, data={"problem_id": "echo", **team, **texts}, files=files)
    holds(api, reply, name)


NUMBERS = ["9" * 5_000, "-" + "9" * 4_000, "1e400", "1e999999999", "1" + "0" * 300, "NaN", "0." + "1" * 5_000]
TIMES = ["9999999-01-01T00:00:00Z", "2026-01-01T00:00:00+99:99", "9999-12-31T23:59:59-23:59", "9" * 100_000]
DURATIONS = ["9999999:59:59", "9" * 100_000 + ":00:00", "\u0665:00:00", "-1:00:00", "0:00:00." + "0" * 100_000]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda each: each[:12])
def test_numbers_in_documents(api: Api, number: str) -> None:
    """In JSON and in YAML, wherever a number, a time or a text is expected; and in the options of a test case."""
    documents = [
        ("contests", f'{{"id": "x", "name": "x", "duration": {number}}}'),
        ("contests", f'{{"id": "x", "name": "x", "duration": "1:00:00", "settings": {{"team_bytes": {number}}}}}'),
        ("contests", f'{{"id": "x", "name": "x", "duration": "1:00:00", "settings": {{"final_minutes": {number}}}}}'),
        (
            "contests/c/organizations",
            f'{{"id": "x", "name": "x", "location": {{"latitude": {number}, "longitude": 0}}}}',
        ),
        ("teams", f'[{{"id": {number}, "name": "x"}}]'),
        ("people", f'[{{"name": {number}}}]'),
        ("contests/c/problems", f'{{"id": "echo", "ordinal": {number}, "rule": {{"max_points": "{number}"}}}}'),
        ("contests/c/rejudgings", f'{{"reason": "x", "submissions": [{number}]}}'),
    ]
    for path, text in documents:
        for kind in ("application/json", "application/yaml"):
            reply = api.post(path, user="admin", content=text, headers={"Content-Type": kind})
            holds(api, reply, f"{path}: {text[:60]}")
            assert "Infinity" not in reply.text, path
    for option in ("seconds", "seed", "method"):
        form = {"files": {"input": b"9\n"}, "data": {option: number}}
        reply = api.put("problems/echo/testcases/secret/09", user="admin", **form)
        holds(api, reply, option)
        assert reply.status_code in {400, 409} or option != "seed", (option, number[:20], reply.text[:200])


def test_times_and_durations_that_are_huge(api: Api) -> None:
    for time in TIMES:
        body = {**CONTEST, "start_time": time}
        holds(api, refused(api.post("contests", user="admin", json=body)), time[:40])
    for duration in DURATIONS:
        for more in ({"duration": duration}, {"settings": {"personal_duration": duration}}):
            holds(api, refused(api.post("contests", user="admin", json={**CONTEST, **more})), duration[:40])
    files = {"language_id": "answers", "problem_id": "echo", "id": "x", "team_id": "team"}
    archive = {"data": base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()}
    for time in TIMES:
        body = {**files, "files": [archive], "time": time}
        holds(api, refused(api.put("contests/c/submissions/x", user="admin", json=body)), time[:40])


def refused(reply: httpx.Response) -> httpx.Response:
    assert reply.status_code in {400, 403, 409, 413}, reply.text[:300]
    return reply


TABLES: dict[str, str] = {
    "many lines": "id,name\n" + "a,b\n" * 120_000,
    "many short lines": "id,name\n" + "a\n" * 20_000,
    "many columns": ",".join(f"c{at}" for at in range(20_000)) + "\n1\n",
    "equal columns": "id," * 20_000 + "id\n1\n",
    "a long cell": "id,name\na," + "n" * 1_000_000 + "\n",
    "a long column": "n" * 1_000_000 + "\na\n",
    "an open quote": 'id,name\na,"' + "\n" * 90_000,
    "quotes": "id,name\n" + '"' * 1_000_000,
    "ids in a cell": "id,name,group_ids\na,b," + "g " * 60_000 + "\n",
    "other digits": "teams\t\u0663\n1\t2\t3\t4\n",
    "small digits": "accounts\t\u00b2\n",
    "long numbers": "accounts\t1\nteam\tN\tteam" + "9" * 100_000 + "\tp\n",
    "many objects": "teams\t1\n" + "".join(f"{at}\t\t\tT\n" for at in range(99_000)),
    "bytes": "\x00" * 100_000,
}
DOORS = ("teams", "accounts", "people", "contests/c/persons")


@pytest.mark.parametrize("name", sorted(TABLES.keys() - {"many objects"}))
def test_tables(api: Api, name: str) -> None:
    """As CSV and TSV, at every door that takes tables: at most a hundred faults are listed."""
    data = TABLES[name].encode()
    for path in DOORS:
        for kind in ("text/csv", "text/tab-separated-values"):
            reply = api.post(path, user="admin", content=data, headers={"Content-Type": kind})
            holds(api, refused(reply), f"{path}: {name}")
            assert len(reply.json().get("errors", [])) <= 100, path


def test_tables_that_are_no_text(api: Api) -> None:
    for path in DOORS:
        for kind in ("text/csv", "application/yaml", "application/json"):
            reply = api.post(path, user="admin", content=b"\xff\n" * 90_000, headers={"Content-Type": kind})
            holds(api, refused(reply), path)


def test_faults_of_many_objects_are_listed_up_to_a_hundred(api: Api) -> None:
    """Thousands of teams whose names no rule allows, as a table and as a list."""
    text = TABLES["many objects"].replace("\tT\n", "\t\n")
    table = api.post(
        "teams", user="admin", content=text.encode(), headers={"Content-Type": "text/tab-separated-values"}
    )
    holds(api, refused(table), "table")
    rows = [{"id": "-", "name": ""} for _ in range(50_000)]
    holds(api, refused(api.post("teams", user="admin", json=rows)), "list")


def test_images(api: Api) -> None:
    """Many of one object, one of no picture, and one whose picture lies about its size."""
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\xff" * 8).decode()
    empty = base64.b64encode(b"\xff\xd8" + b"\xff\xd0" * 500_000).decode()
    svg = base64.b64encode(b"<svg width='" + b"9" * 60_000 + b"' height='1'>").decode()
    for data in (png, empty, svg, "A" * 1_000_000, "=" * 1_000_000):
        for path in ("contests/c/organizations", "teams"):
            images = {"logo": [{"data": data}]} if path != "teams" else {"photo": [{"data": data}]}
            holds(api, refused(api.post(path, user="admin", json={"id": "x", "name": "x", **images})), path)
    many = [{"filename": f"{at}.png", "href": "http://x/", "mime": "text/plain"} for at in range(3_000)]
    holds(
        api,
        refused(api.post("contests/c/organizations", user="admin", json={"id": "x", "name": "x", "logo": many})),
        "",
    )


PACKAGES: dict[str, bytes] = {
    "many files": zip_bytes({f"echo/data/secret/{at}.in": b"" for at in range(5_100)}),
    "many faults": zip_package({f"data/secret/{at}.odd": "x" for at in range(2_000)}),
    "long names": zip_bytes({"echo/" + "n" * 2_000 + str(at): b"" for at in range(200)}),
    "deep folders": zip_bytes({"echo/" + "a/" * 100 + str(at): b"" for at in range(200)}),
    "a bomb": entries(["echo/problem.yaml"], b" " * 110_000_000),
    "an endless statement": zip_package({"statement/problem.en.md": "[" * 300_000 + "\n"}),
    "a nested zip": zip_bytes({"echo/echo.zip": zip_package()}),
    "no zip": b"PK\x05\x06" + b"\xff" * 18,
}


@pytest.mark.parametrize("name", PACKAGES)
def test_packages(api: Api, name: str) -> None:
    """Of a problem, and of a contest that has it."""
    data, before = PACKAGES[name], stored(api)
    holds(api, refused(api.post("problems?id=other", user="admin", content=data, headers=ZIP)), name)
    holds(api, refused(api.post("problems", user="admin", files={"package": ("echo.zip", data)})), name)
    problem = {"problems.json": b'[{"id": "another"}]', "problems/another/another.zip": data}
    contest = zip_bytes({"contest.json": json.dumps(CONTEST).encode(), **problem})
    holds(api, refused(api.post("contests/import", user="admin", content=contest, headers=ZIP)), name)
    assert stored(api) == before
    assert "made" not in {each["id"] for each in api.get("contests", user="admin").json()}


CONTESTS: dict[str, dict[str, bytes]] = {
    "many documents": {f"d{at}.json": b"[]" for at in range(3_000)},
    "many objects": {"teams.json": json.dumps([{"id": "-"}] * 20_000).encode()},
    "deep": {"teams.json": b"[" * 50_000 + b"]" * 50_000},
    "long numbers": {"teams.json": b'[{"id": ' + b"9" * 50_000 + b"}]"},
    "long texts": {"teams.json": json.dumps([{"id": "a", "name": "n" * 1_000_000}]).encode()},
    "huge times": {"submissions.json": json.dumps([{"id": "1", "time": "9" * 100_000}]).encode()},
    "huge feeds": {"event-feed.ndjson": b"{}\n" * 100_000},
    "tables": {"accounts.tsv": ("accounts\t1\n" + "x\n" * 200_000).encode()},
    "odd state": {"state.json": b'{"started": "' + b"1" * 100_000 + b'"}'},
    "no objects": {"problems.json": b"[1e999]"},
}


@pytest.mark.parametrize("name", CONTESTS)
def test_packages_of_contests(api: Api, name: str) -> None:
    own = {"id": f"x{list(CONTESTS).index(name)}"}
    files = {"contest.json": json.dumps({**CONTEST, **own}).encode(), **CONTESTS[name]}
    holds(api, api.post("contests/import", user="admin", content=zip_bytes(files), headers=ZIP), name)


def test_cases(api: Api) -> None:
    """Test cases under names and in groups that are none, and inputs larger than the checker reads."""
    for place in ("secret/" + "n" * 300, "secret/" + "a/" * 60 + "x", "n" * 300 + "/x", "%00/x", "secret/..%2f..%2fx"):
        reply = api.put(f"problems/echo/testcases/{place}", user="admin", files={"input": b"9\n", "answer": b"9\n"})
        holds(api, reply, place[:40])
        assert reply.status_code in {400, 404, 409}, (place[:40], reply.status_code)
    parts = [("input", (f"{at}", b"9\n")) for at in range(3_000)]
    holds(api, refused(api.put("problems/echo/testcases/secret/09", user="admin", files=parts)), "parts")
