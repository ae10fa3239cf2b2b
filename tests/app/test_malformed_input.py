"""Malformed input at every route: refused with a reason in a short reply, and nothing of it is kept.

`REQUESTS` has the requests that would cost much, by what they send. `ROUTES` has a good body of each route: it is sent
again and again, each time with one odd value in the place of one of its values.
"""

from __future__ import annotations

import base64
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import LargeBinary, Select, cast, func, select
from typer.testing import CliRunner

from app.commands.main import app
from app.core.faults import PackageErrors
from app.core.load import DEEPEST
from app.core.messages import MOST_LISTED
from app.packages.files import archive_files
from app.packages.zips import zip_bytes
from app.page_routes import PLACES
from app.tables import Base, ProblemRow
from tests.builders.bombs import BOMBS
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import every
from tests.builders.hostile import PAYLOADS
from tests.builders.hostile_zips import ATTACKS, Files, in_two_cases
from tests.builders.packages import PROBLEM, package_files, write_package, zip_package
from tests.builders.pages import PAGES, RESET, VALUES
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.conftest import migrated_sqlite

REFUSED = {400, 403, 404, 409, 413, 415}
LONGEST_REPLY = 64 * 1024
LARGEST_VALUE = 256 * 1024
"""Bytes of a value in any row: a hundred notes on files of long names; larger answers and inputs are files."""
COSTLY = ("aliases", "merge keys", "deep maps", "a number of many digits", "keys of one hash")
"""Some of the YAML that costs much; `tests/app/packages/test_hostile.py` tries all of it."""
ORIGIN = {"Origin": "http://jurado.test"}
JSON = {"Content-Type": "application/json"}
ZIPPED = {"Content-Type": "application/zip"}
SUBMISSIONS = "contests/c/submissions"
MADE: dict[str, Any] = {"id": "made", "name": "Made", "duration": "5:00:00"}
QUERIES = ("find", "group", "at", "start", "a", "b", "month", "lang", "since", "done", "advice", "username", "next")
MARK, NUL = "~nul~", b"\0" * 5
"""Stands for NULs where the library that writes zips would take none."""
ELEMENT = re.compile(r"<[^>\"']*\sdata-canary")
"""A payload that has become an element."""


@dataclass(frozen=True)
class Request:
    """One request, its name, and the statuses that it may get; none: any but those of faults."""

    name: str
    method: str
    path: str
    sent: dict[str, Any] = field(repr=False)
    user: str = "admin"
    statuses: set[int] | None = field(default_factory=lambda: REFUSED)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One server for all requests, none of which may harm it for the next one, or leave a temporary file."""
    home = tmp_path_factory.mktemp("malformed")
    (home / "temporary").mkdir()
    url = migrated_sqlite(home / "jurado.sqlite")
    with pytest.MonkeyPatch.context() as patched, open_api(url, home / "home", most_unjudged=10_000) as opened:
        patched.setattr(tempfile, "tempdir", str(home / "temporary"))
        add_problem(opened.service)
        add_contest(opened.service)
        yield with_checkers(opened)
        assert [*(home / "temporary").iterdir()] == []


@pytest.fixture
def contest(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest with a submission, on both kinds of database."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": share(1)})
        yield api


def entries(names: list[str], data: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
    return buffer.getvalue()


ANSWERS = {"02.out": b"2\n", "03.out": b"3\n"}
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


LONG_NUMBERS = ["9" * 5_000, "-" + "9" * 4_000, "1e400", "1e999999999", "1" + "0" * 300, "NaN", "0." + "1" * 5_000]
HUGE_TIMES = ["9999999-01-01T00:00:00Z", "2026-01-01T00:00:00+99:99", "9999-12-31T23:59:59-23:59", "9" * 100_000]
HUGE_DURATIONS = ["9999999:59:59", "9" * 100_000 + ":00:00", "\u0665:00:00", "-1:00:00", "0:00:00." + "0" * 100_000]


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


def posted(name: str, path: str, data: bytes | str, kind: str, user: str = "admin", **more: Any) -> Request:
    """A body of a media type."""
    content = data.encode() if isinstance(data, str) else data
    return Request(name, "POST", path, {"content": content, "headers": {"Content-Type": kind}}, user, **more)


def submitted(name: str, files: list[tuple[str, Any]], statuses: set[int] | None = None) -> Request:
    """A form with files of a team."""
    return Request(name, "POST", SUBMISSIONS, {"data": {"problem_id": "echo"}, "files": files}, "team", statuses)


def archives() -> Iterator[Request]:
    """As a file of a form, next to another, as a source, and in base64."""
    for name, data in ARCHIVES.items():
        answer = ("files", ("02.out", b"2\n"))
        yield submitted(name, [("files", ("a.zip", data))])
        yield submitted(name, [answer, ("files", ("a.zip", data))])
        yield submitted(name, [answer, ("sources", ("a", data))])
        archive = {"data": base64.b64encode(data).decode(), "mime": "application/zip"}
        body = {"language_id": "answers", "problem_id": "echo", "files": [archive]}
        yield Request(name, "POST", SUBMISSIONS, {"json": body}, "team", None)


def forms() -> Iterator[Request]:
    """Forms of a submission, of a team and of an admin on its behalf."""
    for name, (texts, files) in FORMS.items():
        for user, team in (("team", {}), ("admin", {"team_id": "team"})):
            data = {"problem_id": "echo", **team, **texts}
            yield Request(name, "POST", SUBMISSIONS, {"data": data, "files": files}, user, None)


def attacks() -> Iterator[Request]:
    """Zips that attack, at every route that takes an archive; the largest at two of them only."""
    own = {f"fresh/{name}": data for name, data in package_files().items()}
    omegaup = {"cases/1.in": b"1\n", "cases/1.out": b"1\n", "statements/es.markdown": b"Hola\n"}
    for name, attack in ATTACKS.items():
        yield Request(name, "POST", "problems", {"content": attack(own), "headers": ZIPPED})
        yield submitted(name, [("files", ("a.zip", attack(ANSWERS)))], REFUSED)
        if name != "a million entries":
            yield Request(name, "POST", "problems?id=fresh", {"content": attack(omegaup), "headers": ZIPPED})
            contest = attack({"contest.json": json.dumps(MADE).encode()})
            yield Request(name, "POST", "contests/import", {"content": contest, "headers": ZIPPED})


def documents() -> Iterator[Request]:
    """Numbers in JSON and YAML, where a number, a time or a text is expected; and options of a test case."""
    for number in LONG_NUMBERS:
        for path, text in (
            ("contests", f'{{"id": "x", "name": "x", "duration": {number}}}'),
            ("contests", f'{{"id": "x", "name": "x", "duration": "1:00:00", "settings": {{"team_bytes": {number}}}}}'),
            (
                "contests",
                f'{{"id": "x", "name": "x", "duration": "1:00:00", "settings": {{"final_minutes": {number}}}}}',
            ),
            (
                "contests/c/organizations",
                f'{{"id": "x", "name": "x", "location": {{"latitude": {number}, "longitude": 0}}}}',
            ),
            ("teams", f'[{{"id": {number}, "name": "x"}}]'),
            ("people", f'[{{"name": {number}}}]'),
            ("contests/c/problems", f'{{"id": "echo", "ordinal": {number}, "rule": {{"max_points": "{number}"}}}}'),
            ("contests/c/rejudgings", f'{{"reason": "x", "submissions": [{number}]}}'),
        ):
            for kind in ("application/json", "application/yaml"):
                yield posted(text[:60], path, text, kind, statuses=None)
        for option in ("seconds", "seed", "method"):
            sent = {"files": {"input": b"9\n"}, "data": {option: number}}
            statuses = {400, 409} if option == "seed" else None
            yield Request(option, "PUT", "problems/echo/testcases/secret/09", sent, statuses=statuses)


def times() -> Iterator[Request]:
    """Moments and durations that are huge."""
    archive = {"data": base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()}
    submission = {"language_id": "answers", "problem_id": "echo", "id": "x", "team_id": "team", "files": [archive]}
    for time in HUGE_TIMES:
        yield Request(time[:40], "POST", "contests", {"json": {**MADE, "start_time": time}})
        yield Request(time[:40], "PUT", f"{SUBMISSIONS}/x", {"json": {**submission, "time": time}})
    for duration in HUGE_DURATIONS:
        for more in ({"duration": duration}, {"settings": {"personal_duration": duration}}):
            yield Request(duration[:40], "POST", "contests", {"json": {**MADE, **more}})


def tables() -> Iterator[Request]:
    """CSV, TSV and bytes that are no text, at every route that takes tables."""
    for path in ("teams", "accounts", "people", "contests/c/persons"):
        for name in TABLES.keys() - {"many objects"}:
            for kind in ("text/csv", "text/tab-separated-values"):
                yield posted(name, path, TABLES[name], kind)
        for kind in ("text/csv", "application/yaml", "application/json"):
            yield posted("no text", path, b"\xff\n" * 90_000, kind)
    yield posted("many names", "teams", TABLES["many objects"].replace("\tT\n", "\t\n"), "text/tab-separated-values")
    yield Request("a list of many names", "POST", "teams", {"json": [{"id": "-", "name": ""} for _ in range(50_000)]})


def images() -> Iterator[Request]:
    """Many of one object, one of no picture, and one whose picture lies about its size."""
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\xff" * 8).decode()
    empty = base64.b64encode(b"\xff\xd8" + b"\xff\xd0" * 500_000).decode()
    svg = base64.b64encode(b"<svg width='" + b"9" * 60_000 + b"' height='1'>").decode()
    many = [{"filename": f"{at}.png", "href": "http://x/", "mime": "text/plain"} for at in range(3_000)]
    for logo in [*([{"data": data}] for data in (png, empty, svg, "A" * 1_000_000, "=" * 1_000_000)), many]:
        for path, name in (("contests/c/organizations", "logo"), ("teams", "photo")):
            yield Request(name, "POST", path, {"json": {"id": "x", "name": "x", name: logo}})


def packages() -> Iterator[Request]:
    """Packages of a problem, and of a contest that has it; packages of contests."""
    for name, data in PACKAGES.items():
        yield Request(name, "POST", "problems?id=other", {"content": data, "headers": ZIPPED})
        problem = {"problems.json": b'[{"id": "another"}]', "problems/another/another.zip": data}
        whole = zip_bytes({"contest.json": json.dumps(MADE).encode(), **problem})
        yield Request(name, "POST", "contests/import", {"content": whole, "headers": ZIPPED})
    for at, (name, files) in enumerate(CONTESTS.items()):
        whole = zip_bytes({"contest.json": json.dumps({**MADE, "id": f"x{at}"}).encode(), **files})
        yield Request(name, "POST", "contests/import", {"content": whole, "headers": ZIPPED}, statuses=None)
    odd = zip_package({f"data/secret/{n}.odd": "x" for n in range(1000)})
    yield Request("a thousand faults", "POST", "problems", {"content": odd, "headers": ZIPPED})


def cases() -> Iterator[Request]:
    """Test cases under names and in groups that are none, and inputs larger than the checker reads."""
    for place in ("secret/" + "n" * 300, "secret/" + "a/" * 60 + "x", "n" * 300 + "/x", "%00/x", "secret/..%2f..%2fx"):
        files = {"input": b"9\n", "answer": b"9\n"}
        yield Request(place[:40], "PUT", f"problems/echo/testcases/{place}", {"files": files}, statuses={400, 404, 409})
    parts = [("input", (f"{at}", b"9\n")) for at in range(3_000)]
    yield Request("parts", "PUT", "problems/echo/testcases/secret/09", {"files": parts})


def yaml() -> Iterator[Request]:
    """YAML that costs much, wherever it is read."""
    contest = json.dumps({**MADE, "scoreboard_type": "score"}).encode()
    for bomb in COSTLY:
        text = BOMBS[bomb].encode()
        problem = zip_package({"problem.yaml": text})
        own = {"contest.json": contest, "problems.json": b'[{"id": "echo"}]', "problems/echo/echo.zip": problem}
        yield posted(bomb, "problems", problem, "application/zip")
        yield posted(bomb, "contests/import", zip_bytes(own), "application/zip")
        for path in ("accounts", "teams", "contests"):
            yield posted(bomb, path, text, "application/yaml")
    yield posted("many lists", "teams", "- [a]\n" * 200_000, "application/yaml", statuses={413})


def json_bodies() -> Iterator[Request]:
    """What is no JSON, or has too many values or too many levels."""
    for user, path in (("admin", "teams"), ("team", "contests/c/clarifications")):
        for body in (b"9" * 5000, b"[" + b"9" * 5000 + b"]", b"\xff", b"{", b"[" * 4000):
            yield posted(repr(body[:20]), path, body, "application/json", user, statuses={400})
    for path, text in (
        ("contests/c/clarifications", json.dumps([[]] * 200_000)),
        (SUBMISSIONS, json.dumps([1] * 6000)),
        ("contests/c/clarifications", '{"a":' * 100 + "1" + "}" * 100),
        ("contests/c/clarifications", '{"a":' * 4000 + "1" + "}" * 4000),
    ):
        yield posted(text[:20], path, text, "application/json", "team", statuses={400})
    for path, body in (
        ("contests/c/rejudgings", {"reason": "x", "submissions": [[]] * 3000}),
        ("teams", [{"id": "!"}] * 3000),
        ("contests/c/organizations", {"id": "x", "name": "x", **{f"p{at}": 1 for at in range(3000)}}),
        ("teams", [{"id": "a", "name": "A", "x": [1] * 10_000}]),
    ):
        yield Request("many faults", "POST", path, {"json": body}, statuses={400})


REQUESTS: dict[str, Callable[[], Iterator[Request]]] = {
    each.__name__: each
    for each in (archives, forms, attacks, documents, times, tables, images, packages, cases, yaml, json_bodies)
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_malformed_input_is_refused_in_a_short_reply_and_leaves_nothing(server: Api, kind: str) -> None:
    """What may be taken is small in the database, and notes name the first hundred files."""
    for request in REQUESTS[kind]():
        name, before = (request.path, request.name), stored(server)
        reply = server.request(request.method, request.path, user=request.user, **request.sent)
        assert reply.status_code < 500, (name, reply.text[:300])
        assert request.statuses is None or reply.status_code in request.statuses, (name, reply.text[:300])
        assert len(reply.content) <= LONGEST_REPLY, name
        assert "Infinity" not in reply.text, name
        if not reply.is_success:
            found = reply.json()
            assert found["message"], name
            assert len(found.get("errors", [])) <= MOST_LISTED, name
            assert request.statuses is None or stored(server) == before, name
        elif request.path == SUBMISSIONS:
            report = server.get(f"{SUBMISSIONS}/{reply.json()['id']}/report", user="team").json()
            assert len(report["files"]) <= 102, name
    assert largest_value(server) <= LARGEST_VALUE
    assert "made" not in {each["id"] for each in server.get("contests", user="admin").json()}


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
    """The files that are stored."""
    return {each.sha256 for each in api.service.files.stored()}


@pytest.mark.parametrize(
    ("path", "user", "text", "kind", "says"),
    [
        ("contests/c/clarifications", "team", "[" + "[]," * 9_999 + "[]]", "json", "at most 5000 values, found more"),
        (SUBMISSIONS, "team", json.dumps([1] * 6000), "json", "at most 5000 values"),
        ("contests/c/clarifications", "team", '{"a":' * 100 + "1" + "}" * 100, "json", f"at most {DEEPEST} deep"),
        ("teams", "admin", "{", "json", "body: expected "),
        ("teams", "admin", json.dumps([{"id": "a", "x": [1] * 10_000}]), "json", "[0]: expected at most 10000 values"),
        ("teams", "admin", "- [a]\n" * 200_000, "yaml", "of YAML"),
        ("contests", "admin", "null", "json", "body: expected an object, found null"),
        ("contests", "admin", '{"settings": [true]}', "json", "body.settings: expected an object, found an array"),
        ("contests", "admin", '{"name": "\\ud800"}', "json", "body.name: expected valid string, found '\\ud800'"),
    ],
)
def test_a_bound_is_named_in_the_refusal(server: Api, path: str, user: str, text: str, kind: str, says: str) -> None:
    reply = server.post(path, user=user, content=text, headers={"Content-Type": f"application/{kind}"})
    assert says in reply.json()["message"]


def test_a_text_of_commas_is_one_value(server: Api) -> None:
    """Only what stands between texts is counted."""
    body = {"text": 'why "\\",[{' * 1900}
    assert server.post("contests/c/clarifications", user="team", json=body).status_code == 201


def test_of_two_answers_whose_names_differ_in_case_only_one_is_taken_or_none(server: Api) -> None:
    files = [("files", ("a.zip", in_two_cases(ANSWERS)))]
    reply = server.post(SUBMISSIONS, user="team", data={"problem_id": "echo"}, files=files)
    if reply.status_code == 400:
        return
    report = server.get(f"{SUBMISSIONS}/{reply.json()['id']}/report", user="team").json()
    assert [(each["name"], each["case"]) for each in report["files"] if each["case"] == "03"] == [("03.out", "03")]


@pytest.mark.parametrize("name", ["overlapping files", "sizes of zip64 that lie", "an end of zip64 that lies"])
def test_archives_that_lie_are_refused_in_a_sentence(name: str) -> None:
    own: Files = {f"fresh/{each}": data for each, data in package_files().items()}
    with pytest.raises(PackageErrors) as refused:
        archive_files(ATTACKS[name](own))
    assert "not a readable zip archive" in str(refused.value)
    if name == "overlapping files":
        assert "overlap" in str(refused.value)


@pytest.mark.parametrize("bomb", COSTLY)
def test_yaml_that_costs_much_is_a_fault_on_the_command_line(tmp_path: Path, bomb: str) -> None:
    folder = write_package(tmp_path, {"problem.yaml": BOMBS[bomb]})
    done = CliRunner().invoke(app, ["package", "verify", str(folder)])
    assert done.exit_code == 1, done.output
    assert "problem.yaml" in done.output


def test_packages_that_take_too_long_are_refused_and_the_server_goes_on(sqlite_url: str, tmp_path: Path) -> None:
    slow = f"{PROBLEM}keywords: [{', '.join(['a'] * 60_000)}]\n"
    with open_api(sqlite_url, tmp_path / "home", package_read_seconds=0.2) as api:
        with_checkers(api)
        reply = api.post("problems", user="admin", content=zip_package({"problem.yaml": slow}), headers=ZIPPED)
        assert reply.status_code == 400, reply.text
        assert "that is read in 0.2 s, found a longer time" in reply.json()["message"]
        assert api.get("problems", user="admin").json() == []


def test_a_nul_is_refused_in_addresses_forms_and_json_and_is_no_fault(contest: Api) -> None:
    """PostgreSQL takes no text with one."""
    for address in addresses_with_nul():
        if not address.startswith("/daily"):
            assert contest.get(address, user="admin").status_code < 500, address
    fields = {"name": "a\0", "id": "\0", "text": "\0", "reason": "\0", "account": "\0", "group": "\0"}
    for method, path, _, _ in PLACES:
        if method == "POST":
            reply = contest.post(path.format(**VALUES), user="admin", headers=ORIGIN, data=fields)
            assert reply.status_code < 500, path
    for path, form in (("/login", {"username": "\0", "password": "x"}), ("/c/c/questions", {"text": "why\0"})):
        assert contest.post(path, user="team", headers=ORIGIN, data=form).status_code == 400, path
    for path, body in (
        ("contests/c/clarifications", {"text": "why\0"}),
        ("contests/c/groups", {"id": "g", "name": "a\0"}),
        ("contests/c/commentary", {"message": "\0"}),
        ("accounts", {"id": "x", "username": "x\0", "type": "team"}),
        ("contests/c/rejudgings", {"reason": "\0", "submissions": ["1"]}),
    ):
        assert 400 <= contest.post(path, user="admin", json=body).status_code < 500, path


def addresses_with_nul() -> Iterator[str]:
    """Each page with a NUL in each part of its address, and in each field of its query."""
    values = {**VALUES, "game_id": "1", "slug": "comesolo", "day": "2026-11-22", "kind": "optimiza", "size": "small"}
    values |= {"code": RESET, "name": "taking-part"}
    routes = {*PAGES, *(place[1] for place in PLACES if place[0] == "GET")}
    for path in sorted(each.replace(":path}", "}") for each in routes):
        for name in re.findall(r"\{(\w+)\}", path):
            yield path.format(**values | {name: "%00"})
            yield path.format(**values | {name: f"{values[name]}%00"})
        if "{day}" not in path:  # puzzles of days are not made here
            yield path.format(**values) + "?" + "&".join(f"{name}=%00" for name in QUERIES)


def test_names_of_sent_files_are_text(server: Api) -> None:
    """As files of the form, and inside a zip."""
    for name in (f"02{MARK}.out", MARK, *PAYLOADS.values()):
        inside = zip_bytes({name: b"2\n", "02.out": b"2\n"}).replace(MARK.encode(), NUL)
        for sent in ((name.replace(MARK, "\0"), b"2\n"), ("answers.zip", inside)):
            form = {"files": (*sent, "application/octet-stream")}
            reply = server.post("/c/c/answers", user="team", headers=ORIGIN, data={"problem_id": "echo"}, files=form)
            assert reply.status_code < 500, name
            assert not ELEMENT.search(reply.text), name
    sent = [int(each["id"]) for each in server.get(SUBMISSIONS, user="team").json()]
    assert len(sent) >= len(PAYLOADS), "most of them are taken"
    for number in sent[-2 * len(PAYLOADS) :]:
        assert not ELEMENT.search(server.get(f"/c/c/submissions/{number}", user="team").text), number


def test_faults_of_a_package_are_text_whatever_its_names_and_values_hold(server: Api) -> None:
    """Each text in one of four places: a value, the name of a checker, a key, the name of a file."""
    refused = 0
    for at, payload in enumerate((*PAYLOADS.values(), MARK)):
        name, quoted = payload.replace("/", "|")[:80], payload.replace("'", "''")
        places = (
            {"problem.yaml": f"problem_format_version: '{quoted}'\nname: 1\n"},
            {"jurado.yaml": f"checker: '{quoted}'\n"},
            {"jurado.yaml": f"'{quoted}': 1\n"},
            {f"data/secret/{name}.in": "1\n", "problem.yaml": ""},
        )
        package = zip_package(places[at % len(places)]).replace(MARK.encode(), NUL)
        form = {"package": ("odd.zip", package, "application/zip")}
        reply = server.post("/admin/problems", user="admin", headers=ORIGIN, files=form)
        assert 400 <= reply.status_code < 500, payload
        assert not ELEMENT.search(reply.text), payload
        refused += "faults" in reply.text
    assert refused > len(PAYLOADS) / 2, "their faults are listed"


HERE = "@here@"
STEP = 9
"""`make test` tries each so many-th of the odd values of a place, and begins with another one at the next."""
TIME, DURATION = "2036-01-01T00:00:00.000Z", "2:00:00.000"
FILE = {"filename": "a.png", "mime": "image/png", "href": "http://x/", "width": 1, "height": 1, "tag": ["x"]}
PLACE = {"latitude": 1.5, "longitude": 2.5}
LIMITS = {"max_submissions": 5, "interval_seconds": 5, "per_window": {"count": 5, "seconds": 60}}
RULE = {"kind": "absolute", "counting": "last", "carry": "best", "reference_counts": True, "max_points": 5}
ENTRY = {"id": "echo", "label": "X", "ordinal": 3, "rgb": "#fff", "color": "red", "rule": RULE, "limits": LIMITS}
SETTINGS: dict[str, Any] = {
    "partly_correct_as": "PC",
    "rejections": "position",
    "answer_pattern": "{case}.a",
    "final_minutes": 5,
    "practice": True,
    "limits": LIMITS,
    "awards": {"gold": 1, "ranks": 1},
    "visibility": "public",
    "description": "Bring **one** laptop.",
}
TIMES_OF_IT: dict[str, Any] = {
    "start_time": TIME,
    "duration": DURATION,
    "scoreboard_freeze_duration": "1:00:00",
    "scoreboard_thaw_time": "2036-01-02T00:00:00.000Z",
}
CONTEST: dict[str, Any] = {
    **TIMES_OF_IT,
    "name": "Contest",
    "open_to_all": True,
    "main_scoreboard_group_id": "g",
    "banner": [FILE],
    "location": PLACE,
    "settings": SETTINGS,
}
TEAM = {
    "id": "late",
    "name": "Late",
    "label": "L",
    "display_name": "Late!",
    "hidden": True,
    "organization_id": "o",
    "group_ids": ["g"],
    "location": {"x": 1.5, "y": 2.5, "rotation": 3.5},
    "photo": [FILE],
}
ACCOUNT = {"id": "x", "username": "x", "password": "long enough", "name": "X", "type": "judge", "person_id": "p"}
GROUP = {"id": "g", "icpc_id": "1", "name": "Group", "type": "site", "location": PLACE}
ORGANIZATION = {"id": "o", "name": "Org", "country": "AUT", "url": "http://x/", "location": PLACE, "logo": [FILE]}
PERSON = {"id": "p", "team_ids": ["team"], "name": "P", "sex": "male", "role": "contestant", "photo": [FILE]}
AWARD = {"id": "a", "citation": "For all", "team_ids": ["team"]}
QUESTION = {"from_team_id": "team", "reply_to_id": "1", "problem_id": "echo", "text": "Why?"}
NOTICE = {
    "id": "k",
    "to_team_ids": ["team"],
    "to_group_ids": ["g"],
    "text": "So!",
    "time": "2026-01-01T00:00:01.000Z",  # not in the future, where a submission has no time
    "contest_time": "0:00:01",
}
COMMENT = {"message": "Oh", "tags": ["t"], "team_ids": ["team"], "problem_ids": ["echo"], "submission_ids": ["1"]}
ZIP = base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()
SUBMISSION = {
    "id": "s",
    "language_id": "answers",
    "problem_id": "echo",
    "team_id": "team",
    "time": "2026-01-01T00:00:01.000Z",  # no submission has a time in the future
    "contest_time": "0:00:01",
    "files": [{"data": ZIP, "mime": "application/zip", "filename": "a.zip"}],
    "comment": "c",
}
WEBHOOK = {"url": "http://hooks.invalid/", "token": "t", "contest_ids": ["c"], "endpoints": ["teams"]}
SOLVE = {"testcases": ["02"], "method": "m", "seconds": 1.5, "seed": 1}
AGAIN = {"reason": "R", "problem": "echo", "team": "team", "submissions": ["1"]}

ROUTES: dict[str, list[tuple[str, str, str, Any]]] = {
    "contests": [
        ("POST", "contests", "admin", CONTEST),
        ("POST", "contests/c/copy", "admin", {"name": "Copy", "start_time": TIME, "teams": True}),
        ("PATCH", "contests/soon", "admin", {"id": "soon", **TIMES_OF_IT}),
        ("PATCH", "contests/soon", "admin", {"id": "soon", "scoreboard_thaw_time": None}),
        ("PATCH", "contests/soon", "admin", {"id": "soon", "start_time": None, "countdown_pause_time": "0:00:01"}),
        ("PATCH", "contests/soon", "admin", {"settings": {"final_release": TIME, "final_minutes": None}}),
        ("POST", "contests/own/participation", "team", {"kind": "personal"}),
        ("PATCH", "contests/own", "admin", {"settings": {"personal_duration": DURATION}}),
        ("POST", "contests/over/reveal", "admin", {"step": "all"}),
        ("PATCH", "contests/c", "admin", {"duration": DURATION, "settings": SETTINGS}),
        ("PATCH", "contests/c", "admin", {"scoreboard_freeze_duration": "1:00:00", "finalized": False}),
    ],
    "problems": [
        ("PUT", "contests/c/problems/echo/chosen", "team", {"submission_id": "1"}),
        ("POST", "contests/c/problems", "admin", {**ENTRY, "id": "spare", "label": "Y"}),
        ("PATCH", "contests/c/problems/echo", "admin", ENTRY),
        ("POST", "problems/echo/reference-runs", "admin", SOLVE),
    ],
    "teams": [
        ("POST", "teams?replace=true", "admin", [{"id": "late", "name": "Late", "hidden": True}]),
        ("PUT", "teams/late", "admin", TEAM),
        ("PATCH", "teams/late", "admin", {"label": "L", "hidden": True, "group_ids": ["g"]}),
        ("POST", "contests/c/teams", "admin", {"team_ids": ["team"]}),
        ("PATCH", "contests/c/teams/team", "admin", {"id": "team", "disqualified": False}),
    ],
    "accounts": [
        ("POST", "accounts?replace=true", "admin", [ACCOUNT]),
        ("PUT", "accounts/x", "admin", ACCOUNT),
        ("PATCH", "accounts/x", "admin", ACCOUNT),
        ("POST", "account/tokens", "judge", {"label": "L", "expires": TIME}),
    ],
    "directory": [
        ("POST", "contests/c/groups?replace=true", "admin", [GROUP]),
        ("PATCH", "contests/c/groups/g", "admin", {"name": "Group", "location": PLACE}),
        ("PUT", "contests/c/organizations/o", "admin", ORGANIZATION),
        ("PATCH", "contests/c/organizations/o", "admin", {"name": "Org", "country": "AUT"}),
        ("PUT", "contests/c/persons/p", "admin", PERSON),
        ("PATCH", "contests/c/persons/p", "admin", {"team_ids": ["team"], "role": "contestant"}),
    ],
    "submissions": [
        ("POST", "contests/c/submissions", "admin", {k: v for k, v in SUBMISSION.items() if k != "id"}),
        ("PUT", "contests/c/submissions/s", "admin", SUBMISSION),
        ("POST", "contests/c/rejudgings", "admin", AGAIN),
        ("POST", "contests/c/rejudgings/1/apply", "admin", {"judge_errors": True}),
    ],
    "words": [
        ("PUT", "contests/c/awards/a", "admin", AWARD),
        ("PATCH", "contests/c/awards/a", "admin", AWARD),
        ("POST", "contests/c/clarifications", "admin", QUESTION),
        ("PUT", "contests/c/clarifications/k", "admin", NOTICE),
        ("POST", "contests/c/commentary", "admin", COMMENT),
        ("POST", "webhooks", "admin", WEBHOOK),
        ("PATCH", "webhooks/1", "admin", {"active": False}),
    ],
}
LONG = '"' + "9" * 1_000_000 + '"'
DEEP = "[" * 100_000 + "]" * 100_000
NUMBERS = ["NaN", "-Infinity", "1e400", "9" * 20, "9" * 4000, "-1", "1.5", "true", '"1"', "null", "[]"]
TEXTS = ['""', r'"\ud800"', r'"x\u0000"', LONG, "1", "true", "[]", "{}", "null"]
YEARS = [f'"{year}-12-31T23:59:59.999Z"' for year in ("0000", "1969", "2999", "9999", "10000")]
ZONES = [f'"2036-01-01T00:00:00{zone}"' for zone in ("+23:59", "+99:99", "-24:00", "")]
TIMES = [*YEARS, *ZONES, '""', "0", "null"]
DURATIONS = ['"9999999:59:59.999"', '"-9999999:00:00"', '"0:00:00.001"', '"10000000:00:00"', '""', "0", "null"]
LISTS = ["[null]", "[[]]", "{}", r'["\ud800"]', "null", LONG]
OBJECTS = ["[]", '""', "null", r'{"\ud800": 1}', '{"' + "x" * 10_000 + '": 1}', DEEP]
WHOLE = ["", "null", "NaN", "1", '""', "[1]", "9" * 5000, DEEP, r'{"\ud800": 1}', r'{"x\u0000": 1}', f'{{"x": {DEEP}}}']
FOR_DATABASES = {r'"x\u0000"', r'"\ud800"', "9" * 20, "9" * 4000, YEARS[2], DURATIONS[0], DURATIONS[1], "null"}
NEVER = {
    int: {"NaN", "-Infinity", "1e400", "1.5", "true", '"1"', "[]"},
    float: {"NaN", "-Infinity", "1e400", "true", '"1"', "[]"},
    str: {'"x\\u0000"', r'"\ud800"', LONG, "0", "1", "true", "[]", "{}", *YEARS[:2], *YEARS[4:], *ZONES[1:]},
    bool: {"1", '"true"', "[]"},
    list: {"[null]", "[[]]", "{}", LONG},
    dict: {*OBJECTS} - {"null"},
    type(None): {"1", "true", LONG},
}
SHOWN = ("", "/state", "/scoreboard", "/event-feed?stream=false")
MORE = ("/teams", "/accounts", "/groups", "/organizations", "/persons", "/awards", "/clarifications", "/commentary")
MORE += (
    "/problems",
    "/submissions",
    "/judgements",
    "/runs",
    "/rejudgings",
    "/access",
    "/scores/history",
    "/package.zip",
)


@pytest.fixture
def odd(contest: Api) -> Api:
    """A contest `c` that runs, one in which teams have their `own` time, one that comes `soon`, one that is `over`.

    And one of each thing that can be changed.
    """
    api = contest
    add_problem(api.service, slug="spare")
    assert api.patch("contests/c", user="admin", json={"settings": {"choose": True}}).status_code == 200
    add_contest(api.service, "own", settings={"personal_duration": "1:00:00.000"})
    add_contest(api.service, "over", started=6 * HOUR, freeze=HOUR)
    add_contest(api.service, "soon", started=-HOUR)
    with api.service.database.write() as session:
        echo = session.get_one(ProblemRow, "echo")
        echo.settings = {**echo.settings, "reference": {"method": "copy", "seconds": 1, "seed": 1, "memory": 1}}
    for path, body in (
        ("contests/c/groups", GROUP),
        ("contests/c/organizations", ORGANIZATION),
        ("contests/c/persons", PERSON),
        ("teams", TEAM),
        ("accounts", ACCOUNT),
        ("contests/c/clarifications", QUESTION | {"reply_to_id": None}),
        ("contests/c/rejudgings", {"reason": "none"}),
        ("webhooks", {"id": "1", **WEBHOOK}),
    ):
        reply = api.post(path, user="admin", json=body)
        assert reply.status_code == 201, reply.text
    # A webhook that is called has its contest's feed published after each change: more work than all the requests.
    assert api.patch("webhooks/1", user="admin", json={"active": False}).status_code == 200
    return api


@pytest.mark.parametrize("routes", ROUTES.values(), ids=list(ROUTES))
def test_what_is_sent_is_refused_with_a_reason_or_can_be_read_afterwards(
    odd: Api, routes: list[tuple[str, str, str, Any]]
) -> None:
    wrong = []
    for method, path, user, body in routes:
        good = odd.request(method, path, user=user, json=body)
        wrong += [] if good.is_success or good.status_code == 409 else [f"{method} {path}: {good.text}"]
        for text, never in bodies(body, FOR_DATABASES if on_postgresql(odd) else None):
            fault = send(odd, method, path, user, text, never=never)
            wrong += [f"{method} {path} {excerpt(text)}: {fault}"] if fault else []
    every = [f"contests/{contest}{tail}" for contest in ("c", "own", "soon", "over") for tail in (*SHOWN, *MORE)]
    wrong += [f"GET {each}: {code}" for each in every if (code := read(odd, each)) != 200]
    assert not wrong, "\n".join(wrong)


def send(api: Api, method: str, path: str, user: str, text: str, *, never: bool) -> str | None:
    """Send one body, to be refused if it is `never` good, and read what it has changed; returns what is wrong."""
    before = api.service.database.generation
    reply = api.request(method, path, user=user, content=text.encode(), headers=JSON)
    if reply.status_code >= 500 or len(reply.content) > 100_000:
        return f"{reply.status_code} {reply.text[:300]}"
    if reply.status_code >= 400:
        kept = api.service.database.generation != before
        named = reply.json()["code"] == reply.status_code and reply.json()["message"]
        return None if named and not kept else f"kept: {kept}; {reply.text[:300]}"
    if never:
        return f"taken: {reply.text[:300]}"
    made = reply.headers.get("Location", path).removeprefix("/api/")
    tails = SHOWN if made.count("/") == 1 and made.startswith("contests/") else ("",)
    codes = {f"{made}{tail}": read(api, f"{made}{tail}") for tail in tails}
    return next((f"taken, and GET {each} says {code}" for each, code in codes.items() if code >= 500), None)


def read(api: Api, path: str) -> int:
    """What an admin is answered who reads this."""
    return api.get(path, user="admin").status_code


def on_postgresql(api: Api) -> bool:
    """Only some values are tried there: what is refused before anything is kept has been tried on SQLite."""
    return api.service.settings.database.startswith("postgresql")


def bodies(good: Any, among: set[str] | None) -> Iterator[tuple[str, bool]]:
    """Texts that are like this body but for one value, or are no such body at all, and whether that is never good.

    `among` are the only odd values to be tried.
    """
    yield from ((text, True) for text in every(STEP, WHOLE, len(good) % STEP))
    for at, (place, value) in enumerate(places(good)):
        text = json.dumps(place)
        tried = [odd for odd in odd_values(value) if among is None or odd in among]
        for odd in every(STEP, tried, at % min(STEP, len(tried) or 1)):
            yield text.replace(f'"{HERE}"', odd), odd in NEVER[type(value)]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value within this one: the whole with HERE in its place, and the value itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        for place, found in [(HERE, each), *places(each)]:
            copy = value.copy()
            copy[key] = place
            yield copy, found


def odd_values(good: Any) -> list[str]:
    """What might be sent in place of a good value."""
    if isinstance(good, str):
        return TIMES if good.endswith("Z") else DURATIONS if good.count(":") == 2 else TEXTS
    if isinstance(good, bool):
        return ["1", '"true"', "null", "[]"]
    kinds = ((int | float, NUMBERS), (list, LISTS), (dict, OBJECTS))
    return next((values for kind, values in kinds if isinstance(good, kind)), TEXTS)  # type: ignore[arg-type]


def excerpt(text: str) -> str:
    """A body, short enough to be read."""
    return text if len(text) < 300 else f"{text[:150]} ... {text[-100:]}"
