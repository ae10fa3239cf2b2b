"""Reads the numbers of pages as people see them, to hold them against the API's documents."""

from __future__ import annotations

from html.parser import HTMLParser
from math import floor
from typing import Any

from tests.builders.service import Api

NONE = "\N{EN DASH}"
COMPARED = 8
"""Cells of a case in a comparison."""
REPORT = ("case", "verdict", "raw", "best", "points", "of", "from")


class Tables(HTMLParser):
    """The rows of a page's tables: the words of each cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a row or a cell."""
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"} and self.rows:
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        self._in_cell = self._in_cell and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        """Add to the words of a cell."""
        if self._in_cell:
            self.rows[-1][-1] += data


def cut(value: float, digits: int = 1) -> str:
    """Points cut to so many decimals, as pages show them: 99.96 to 99.9."""
    scale = 10**digits
    return f"{floor(value * scale + 1e-9) / scale:.{digits}f}"


def plain(value: float | None) -> str:
    """A raw score as pages show it."""
    return NONE if value is None else str(int(value)) if float(value).is_integer() else f"{value:.10g}"


def differences(api: Api, user: str | None, team_id: str, problem_id: str) -> list[str]:
    """Where pages of contest `c` show someone another number than the API does: of all pages with a number of others.

    The list of problems and the contest's page have the best of all teams, a problem its best raw scores, a team's page
    its row and how its points grew, a comparison the points of two reports, the projector everyone's board whoever
    opens it. The first page says whether the board stands still; what is alike in answers is for judges.
    """
    board = api.get("contests/c/scoreboard", user=user).json()
    public = api.get("contests/c/scoreboard").json()
    pairs = [
        ("best of all", _best_of_all(api, user, "/c/c/problems"), _tops(api, user, board)),
        ("best of all on the contest's page", _best_of_all(api, user, "/c/c"), _tops(api, user, board)),
        ("the first page", *_standing_still(api, user)),
        ("a comparison", *_compared(api, user, problem_id)),
        ("pages for others", *_for_others(api, user, problem_id)),
        ("best raw scores", _best_raw(api, user, problem_id), _known_raw(api, user, problem_id)),
        ("best raw scores in reports", *_reported(api, user, problem_id)),
        ("a team's row", *_team(api, user, team_id, board)),
        ("the projector", _projected(api, user), [[row["rank"], cut(row["score"]["score"])] for row in public["rows"]]),
    ]
    return [f"{what} for {user}: the page has {page}, the API {known}" for what, page, known in pairs if page != known]


def _rows(api: Api, user: str | None, path: str) -> list[list[str]]:
    reply = api.get(path, user=user)
    assert reply.status_code == 200, (path, reply.text)
    return Tables(reply.text).rows


def _best_of_all(api: Api, user: str | None, path: str) -> list[str]:
    return [row[-2] for row in _rows(api, user, path)[1:]]


def _standing_still(api: Api, user: str | None) -> tuple[bool, bool]:
    """Whether the board is frozen, by the list of contests and by the API; paused contests say that they are paused."""
    item = next(each for each in api.get("/", user=user).text.split("<li>") if 'href="/c/c"' in each)
    state = api.get("contests/c/state", user=user).json()
    known = bool(state["frozen"]) and not any(state[each] for each in ("ended", "thawed", "finalized"))
    return ('"state frozen"' in item or ('"state paused"' in item and known)), known


def _compared(api: Api, user: str | None, problem_id: str) -> tuple[list[str], list[str]]:
    """The points of the first two own submissions case by case, side by side, and as their reports have them."""
    own = _own(api, user, problem_id)[:2]
    if len(own) < 2:
        return [], []
    shown = [row for row in _rows(api, user, f"/c/c/compare?a={own[0]}&b={own[1]}") if len(row) == COMPARED]
    rows = {row[0].split(" ")[0]: row for row in shown}
    page, known = [], []
    for place, submission in zip((3, 6), own, strict=True):
        cases = api.get(f"contests/c/submissions/{submission}/report", user=user).json()["cases"]
        for case in (each for each in cases if each["max_points"] and each["points"] is not None):
            page.append(rows[case["name"]][place])
            known.append(cut(case["points"], 2))
    return page, known


def _for_others(api: Api, user: str | None, problem_id: str) -> tuple[list[int], list[int]]:
    """The statuses of pages that are for judges, or of problems that are played, and those expected."""
    pages = (
        "/admin/contests/c/similarity",
        "/admin/contests/c/live",
        f"/c/c/problems/{problem_id}/play",
        "/c/c/games/1",
    )
    refused = 303 if user is None else 403
    return [api.get(each, user=user).status_code for each in pages], [refused, refused, 400, 404]


def _tops(api: Api, user: str | None, board: Any) -> list[str]:
    """The best points of all teams on the board at each problem; none without a team there."""
    problems = [each["id"] for each in api.get("contests/c/problems", user=user).json()]
    tops = dict.fromkeys(problems, 0.0)
    for cell in (cell for row in board["rows"] for cell in row["problems"]):
        tops[cell["problem_id"]] = max(tops[cell["problem_id"]], cell["score"])
    return [cut(top) for top in tops.values()]


def _best_raw(api: Api, user: str | None, problem_id: str) -> list[str]:
    head, *rows = _rows(api, user, f"/c/c/problems/{problem_id}")
    return [row[head.index("Best")] for row in rows]


def _known_raw(api: Api, user: str | None, problem_id: str) -> list[str]:
    cases = api.get(f"contests/c/problems/{problem_id}/testcases", user=user).json()
    return [plain(case["best_raw"]) for case in cases]


def _reported(api: Api, user: str | None, problem_id: str) -> tuple[list[str], list[str]]:
    """The best raw scores beside the cases of the viewer's first report, as the page has them and as the API."""
    own = _own(api, user, problem_id)
    if not own:
        return [], []
    shown = [row for row in _rows(api, user, f"/c/c/submissions/{own[0]}") if len(row) >= len(REPORT)]
    rows = {row[0].split(" ")[0]: row[3] for row in shown}  # the link to the board follows the name
    cases = api.get(f"contests/c/problems/{problem_id}/testcases", user=user).json()
    known = {case["name"]: plain(case["best_raw"]) for case in cases if case["name"] in rows}
    return [rows[name] for name in known], list(known.values())


def _own(api: Api, user: str | None, problem_id: str) -> list[str]:
    """The submissions of a team to a problem."""
    if user is None:
        return []
    sent = api.get("contests/c/submissions", user=user).json()
    return [each["id"] for each in sent if each["team_id"] == user and each["problem_id"] == problem_id]


def _team(api: Api, user: str | None, team_id: str, board: Any) -> tuple[list[str], list[str]]:
    """The points in each problem and the last of those over time, as the page has them and as the API."""
    row = next((each for each in board["rows"] if each["team_id"] == team_id), None)
    rows = _rows(api, user, f"/c/c/teams/{team_id}") if row is not None else []
    if row is None:
        return [], []
    count = len(row["problems"])
    page = [each[1] for each in rows[1 : 1 + count]]
    known = [cut(each["score"]) if each["num_judged"] else NONE for each in row["problems"]]
    past = rows[2 + count :]
    history = api.get("contests/c/scores/history", user=user).json()["teams"]
    steps = [each["points"] for each in history if each["team_id"] == team_id]
    ends = [cut(steps[0][-1]["score"])] if steps and steps[0] else []
    return page + [each[1] for each in past[-1:]], known + (ends if past else [])


def _projected(api: Api, user: str | None) -> list[Any]:
    return [[int(row[0]), row[2]] for row in _rows(api, user, "/c/c/projector")[1:]]
