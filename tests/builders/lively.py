"""Fills a contest over HTTP with one of everything the CLICS Contest API has: a server's own, or one in a test."""

from __future__ import annotations

import base64
import struct
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import httpx

from app.packages.zips import zip_bytes

CONTEST = "lively"
PEOPLE = {
    "red": {"type": "team", "team_id": "red", "person_id": "ada"},
    "blue": {"type": "team", "team_id": "blue"},
    "ghost": {"type": "team", "team_id": "ghost"},
    "jury": {"type": "judge"},
    "voice": {"type": "analyst", "person_id": "carl"},
    "helper": {"type": "staff"},
}


class Ask(Protocol):
    """Sends a request below /api/ as one of PEOPLE, as `admin`, or as no one."""

    def __call__(self, method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        """Send it."""
        ...


def png(width: int, height: int) -> bytes:
    """A small picture, all of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x7f" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def picture(width: int, height: int) -> list[dict[str, Any]]:
    """It, as a file reference that sends it."""
    return [{"data": base64.b64encode(png(width, height)).decode()}]


def answers(files: dict[str, bytes]) -> list[dict[str, Any]]:
    """Answer files as the one archive of a submission."""
    return [{"data": base64.b64encode(zip_bytes(files)).decode(), "mime": "application/zip"}]


def begin(
    ask: Ask,
    problem: str = "echo",
    *,
    started: timedelta = timedelta(hours=4),
    password: str = "open sesame",
    settings: dict[str, Any] | None = None,
    **more: Any,
) -> datetime:
    """Make the contest with its problem, groups, organizations, teams, persons and accounts; returns its start."""
    start = (datetime.now(UTC) - started).replace(microsecond=0)
    made = {
        "id": CONTEST,
        "name": "Lively",
        "formal_name": "A contest with one of everything",
        "start_time": start.isoformat(timespec="milliseconds"),
        "duration": "5:00:00",
        "logo": picture(56, 56),
        "banner": picture(160, 20),
        "location": {"latitude": 19.43, "longitude": -99.13},
        "settings": {
            "partly_correct_as": "AC",
            "rejections": "position",
            "awards": {"gold": 1, "silver": 1, "ranks": 1},
        }
        | (settings or {}),
    }
    do(ask, "POST", "contests", made | more)
    do(ask, "POST", f"contests/{CONTEST}/problems", {"id": problem, "rgb": "#00f", "color": "blue"})
    groups = [
        {"id": "north", "name": "North", "type": "site", "location": {"latitude": 60, "longitude": 18}},
        {"id": "south", "name": "South", "type": "site", "icpc_id": "7593"},
    ]
    do(ask, "POST", f"contests/{CONTEST}/groups", groups)
    organization = {"id": "kth.se", "name": "KTH", "formal_name": "The Royal Institute", "country": "SWE"}
    details = {
        "country_subdivision": "SE-AB",
        "country_flag": picture(16, 10),
        "country_subdivision_flag": picture(16, 11),
        "url": "https://www.kth.se",
        "twitter_account": "KTHuniversity",
        "twitter_hashtag": "kth",
        "icpc_id": "433",
        "location": {"latitude": 59.3, "longitude": 18.1},
        "logo": picture(56, 56),
    }
    do(ask, "POST", f"contests/{CONTEST}/organizations", [organization | details])
    do(ask, "POST", "teams", _teams())
    do(ask, "POST", f"contests/{CONTEST}/teams", {"team_ids": ["red", "blue", "ghost"]}, code=200)
    persons = [
        {"id": "ada", "name": "Ada", "role": "contestant", "team_ids": ["red"], "photo": picture(40, 50)},
        {
            "id": "bob",
            "name": "Bob",
            "role": "coach",
            "team_ids": ["red", "blue"],
            "email": "b@b.example",
            "icpc_id": "7",
        },
        {"id": "carl", "name": "Carl", "role": "staff", "title": "Voice", "sex": "male"},
    ]
    do(ask, "POST", f"contests/{CONTEST}/persons", persons)
    accounts = [{"username": name, "password": password, "name": name, **facts} for name, facts in PEOPLE.items()]
    do(ask, "POST", "accounts", accounts)
    change = {"id": CONTEST, "main_scoreboard_group_id": "north"}
    do(ask, "PATCH", f"contests/{CONTEST}", change, code=200)
    return start


def _teams() -> list[dict[str, Any]]:
    files = {"photo": picture(64, 48), "key_log": [{"data": "a2V5cw==", "mime": "text/plain"}]}
    streams = {
        "video": [_stream("video/mp4")],
        "desktop": [_stream("video/mp4")],
        "webcam": [_stream("video/mp4")],
        "audio": [_stream("audio/mpeg")],
        "backup": [_stream("application/zip")],
        "tool_data": [_stream("text/plain")],
    }
    red = {"id": "red", "name": "Red", "label": "11", "display_name": "The Reds", "icpc_id": "201433"}
    links = {"organization_id": "kth.se", "group_ids": ["north"], "location": {"x": 1.5, "y": 2, "rotation": 90}}
    return [
        red | links | files | streams,
        {"id": "blue", "name": "Blue", "label": "12", "group_ids": ["north", "south"]},
        {"id": "ghost", "name": "Ghost", "hidden": True},
    ]


def _stream(mime: str) -> dict[str, str]:
    return {"href": f"https://streams.example/{mime}", "filename": f"{mime.replace('/', '.')}", "mime": mime}


def submit(ask: Ask, start: datetime, problem: str = "echo") -> None:
    """Bring in submissions as an admin, at times of the past: one answer right, one wrong, one of a hidden team."""
    for at, (team, files) in enumerate(
        [("red", {"02.out": b"2\n"}), ("blue", {"02.out": b"2\n", "03.out": b"3\n"}), ("ghost", {"02.out": b"7\n"})]
    ):
        body = {"id": f"s-{at}", "language_id": "answers", "problem_id": problem, "team_id": team}
        time = (start + timedelta(minutes=10 * at + 10)).isoformat(timespec="milliseconds")
        path = f"contests/{CONTEST}/submissions/s-{at}"
        do(ask, "PUT", path, body | {"time": time, "files": answers(files), "comment": "from elsewhere"})


def talk(ask: Ask, problem: str = "echo", submission: str | None = None) -> None:
    """Ask, answer, announce, comment and award."""
    path = f"contests/{CONTEST}/clarifications"
    question = do(ask, "POST", path, {"text": "May I ask a question?", "problem_id": problem}, user="red")
    answer = {"text": "You may!", "reply_to_id": question["id"], "to_team_ids": ["red"], "to_group_ids": ["south"]}
    do(ask, "POST", path, answer, user="jury")
    do(ask, "POST", path, {"text": "Do not touch anything"}, user="admin")
    do(ask, "POST", path, {"text": "I haunt", "from_team_id": "ghost"})
    about = {"team_ids": ["red"], "problem_ids": [problem], **({"submission_ids": [submission]} if submission else {})}
    comment = {"message": "{teams:red} tries {problems:" + problem + "}", "tags": ["submission"], **about}
    do(ask, "POST", f"contests/{CONTEST}/commentary", comment, user="voice")
    do(ask, "POST", f"contests/{CONTEST}/awards", {"citation": "Best costume", "team_ids": ["blue"]})


def do(ask: Ask, method: str, path: str, body: Any, *, user: str = "admin", code: int = 201) -> Any:
    """Ask for what must go well."""
    reply = ask(method, path, user=user, json=body)
    assert reply.status_code == code, f"{method} {path}: {reply.status_code} {reply.text}"
    return reply.json()
