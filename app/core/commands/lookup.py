"""From what a person names on the command line to the ids of the server.

- The state and the clock of a contest in plain words, and why its problems cannot be seen yet.
- Relative times as the API writes them: h:mm:ss.uuu, with a minus before the start.
- Scoreboards and reports as tables for a terminal.
"""

import math
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from rich.table import Table

from app.core.commands.client import Client
from app.core.commands.output import Failure, JsonMapping, nearest, plain, table
from app.core.commands.progress import OnProgress
from app.domain.scoring import adds_up, cut


def short_time(text: str | None) -> str:
    """Give a relative time without its milliseconds."""
    return (text or "").partition(".")[0]


def span(reltime: str) -> timedelta:
    """Read a relative time; before the start it is below 0."""
    hours, minutes, seconds = reltime.lstrip("-").split(":")
    duration = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    return -duration if reltime.startswith("-") else duration


def reltime(duration: timedelta) -> str:
    """Write a duration of at least 0 as the API takes it."""
    milliseconds = duration // timedelta(milliseconds=1)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}.{milliseconds:03d}"


def facts_of(client: Client, contest: str) -> JsonMapping:
    """Read a contest with its `state` and the pauses taken out of its time."""
    state = client.get(f"contests/{contest}/state")
    facts = client.get(f"contests/{contest}")
    facts.update(removed_intervals=state.get("removed_intervals") or [], state=state)
    return facts


def state_word(facts: JsonMapping) -> str:
    """Give the state of a contest in a word or two, such as `running` or `ended, frozen`."""
    state = facts["state"]
    frozen = ", frozen" if state.get("frozen") and not state.get("thawed") else ""
    if state.get("finalized"):
        return "finalised"
    if state.get("ended"):
        return "thawed" if state.get("thawed") else f"ended{frozen}"
    if not state.get("started"):
        return "before"
    if paused(facts):
        return f"paused{frozen}"
    return "frozen" if frozen else "running"


def paused(facts: JsonMapping) -> bool:
    """Tell whether the contest's time stands still."""
    return any(removed["end"] is None for removed in facts["removed_intervals"])


def contest_time(facts: JsonMapping, now: datetime) -> timedelta | None:
    """Give the time a contest has run, in whole seconds, without its pauses: below 0 before its start, None without."""
    if not facts["start_time"]:
        return None
    gone = now - datetime.fromisoformat(facts["start_time"])
    for removed in facts["removed_intervals"]:
        end = datetime.fromisoformat(removed["end"]) if removed["end"] else now
        gone -= end - datetime.fromisoformat(removed["start"])
    return timedelta(seconds=math.floor(gone.total_seconds()))


def clock_words(facts: JsonMapping, now: datetime) -> str:
    """Say how long a contest continues, or until it begins."""
    state = facts["state"]
    if state.get("finalized"):
        return "final"
    if state.get("ended"):
        return "over, not final yet"
    gone = contest_time(facts, now)
    if gone is None:
        return "no start set yet"
    if gone < timedelta(0):
        return f"starts in {-gone}"
    halted = "paused, " if paused(facts) else ""
    return f"{halted}{max(span(facts['duration']) - gone, timedelta(0))} left"


def why_nothing(client: Client, contest: str) -> str | None:
    """Say why a contest's problems are hidden: it or the team's own clock has not begun; None: they are shown."""
    facts = facts_of(client, contest)
    if not facts["state"].get("started"):
        gone = contest_time(facts, client.now())
        if gone is None:
            return "the contest has not begun: no start is set yet"
        return f"the contest has not begun: it starts in {max(-gone, timedelta(0))}"
    if facts["settings"].get("personal_duration") and not facts["state"].get("ended"):
        return "your team's own clock has not begun (begin it on the page of the contest)"
    return None


def find_problem(client: Client, contest: str, problem: str) -> str:
    """Find a problem of a contest by its id or label; raises Failure with the nearest one."""
    problems = client.rows(f"contests/{contest}/problems")
    if not problems and (reason := why_nothing(client, contest)) is not None:
        raise Failure(reason, 1)
    for each in problems:
        if problem == each["id"] or problem.upper() == each["label"].upper():
            return str(each["id"])
    raise nearest(f"problem of the contest {contest}", problem, [each["id"] for each in problems])


def find_contest(client: Client, submission: str) -> str:
    """Find the contest of a submission among those that may be seen."""
    for contest in client.rows("contests"):
        path = f"/api/contests/{contest['id']}/submissions/{submission}"
        if client.request("GET", path, accept=(404,)).is_success:
            return str(contest["id"])
    raise Failure(f"no submission {submission!r} that you may see", 1)


def team_names(client: Client, contest: str) -> dict[str, str]:
    """Read the names of the teams by their ids."""
    return {team["id"]: team["name"] for team in client.rows(f"contests/{contest}/teams")}


def board_table(
    contest: str,
    board: JsonMapping,
    names: Mapping[str, str],
    *,
    cases: bool = False,
    now: timedelta | None = None,
) -> list[Table]:
    """Draw the ranked rows; with `cases` a table of raw scores for each problem follows.

    `now`: the viewer's contest time; without it the board tells only its last change.
    """
    rows = board["rows"]
    problems = [cell["problem_id"] for cell in rows[0]["problems"]] if rows else []
    lines = [
        (
            str(row["rank"]),
            names.get(row["team_id"], row["team_id"]),
            *(cell_text(cell) for cell in row["problems"]),
            points_text(row["score"]["score"]),
            short_time(row["score"].get("time")),
        )
        for row in rows
    ]
    title = f"{contest}{time_text(board, now)}{state_text(board['state'])}"
    columns = [">", "team", *(f">{problem}" for problem in problems), ">points", ">last rise"]
    tables = [table(title, columns, lines)]
    if cases:
        tables += [
            cases_table(problem, at, rows, names)
            for at, problem in enumerate(problems)
            if any(row["problems"][at].get("raw") for row in rows)
        ]
    return tables


def time_text(board: JsonMapping, now: timedelta | None) -> str:
    """Say when a board is looked at, where that is known, and when it last changed."""
    changed = short_time(board["contest_time"])
    return f", last change at {changed}" if now is None else f" at {now}, last change at {changed}"


def cases_table(problem: str, at: int, rows: Sequence[JsonMapping], names: Mapping[str, str]) -> Table:
    """Draw the raw scores of one problem, the cell `at` of each row: a line a team, a column a test case."""
    raws = {row["team_id"]: row["problems"][at].get("raw") or {} for row in rows}
    cases = sorted({case for raw in raws.values() for case in raw})
    lines = [(names.get(team, team), *(raw_text(raw.get(case)) for case in cases)) for team, raw in raws.items()]
    return table(f"{problem}: raw scores", ["team", *(f">{case}" for case in cases)], lines)


def cell_text(cell: JsonMapping) -> str:
    """Give the points of one team at one problem, how many submissions made them, and how many wait."""
    if not cell["num_judged"] and not cell["num_pending"]:
        return ""
    waiting = f" +{cell['num_pending']}?" if cell["num_pending"] else ""
    return f"{points_text(cell.get('score') or 0)} ({cell['num_judged']}{waiting})"


def raw_text(answer: JsonMapping | None) -> str:
    """Give a raw score, or the verdict where there is none."""
    if answer is None:
        return ""
    return str(answer["raw"]) if answer["raw"] is not None else answer.get("verdict", "")


def state_text(state: JsonMapping) -> str:
    """Say whether a board's contest has not begun, is frozen, or is over."""
    if not state.get("started"):
        return ", not begun"
    if state.get("frozen") and not state.get("thawed"):
        return ", frozen"
    return ", over" if state.get("ended") else ""


def report_tables(report: JsonMapping) -> list[Table | str]:
    """Draw a line on the whole, then the files that were not taken, the cases and the groups."""
    points, most = report["points"], report["max_points"]
    head = f"submission {report['submission_id']}: {report['judgement']['judgement_type_id']}"
    parts: list[Table | str] = [
        plain(head if points is None else f"{head}, {points_text(points)} of {points_text(most)} points")
    ]
    ignored = [(file["name"], file["ignored"]) for file in report["files"] if file["ignored"]]
    if ignored:
        parts.append(table("files not taken", ["file", "why"], ignored))
    parts += cases_with_answers(report)
    groups = [(g["name"], points_text(g["points"]), points_text(g["max_points"]), g["why"]) for g in report["groups"]]
    parts.append(table("groups", ["group", ">points", ">of", "why none"], groups))
    return parts


def cases_with_answers(report: JsonMapping) -> list[Table | str]:
    """Draw a line for every test case with an answer; those without one are only named: there may be hundreds.

    A case has points if its group adds them; the group's worst case or another group may decide instead.
    """
    cases = report["cases"]
    adding = {
        group["name"]
        for group in report["groups"]
        if adds_up(
            group["aggregation"],
            group["points"],
            (case["points"] for case in cases if case["group"] == group["name"]),
        )
    }
    answered = [case for case in cases if case["verdict"] is not None or case["file"] is not None]
    rows = [
        (
            case["name"],
            case["verdict"],
            case["raw"],
            *(
                (points_text(case["points"]), points_text(case["max_points"]))
                if case["group"] in adding or not case["max_points"]
                else ("", "with its group")
            ),
            message_text(case),
        )
        for case in answered
    ]
    parts: list[Table | str] = [table("test cases", ["case", "verdict", ">raw", ">points", ">of", "message"], rows)]
    missing = [case["name"] for case in cases if case not in answered]
    if missing:
        parts.append(plain(f"no answer yet for {len(missing)} of {len(cases)}: {', '.join(missing)}"))
    return parts


def points_text(points: float | None) -> str:
    """Give points with two digits, or nothing."""
    return "" if points is None else f"{cut(points, 2):.2f}"


def message_text(case: JsonMapping) -> str:
    """Give a case's message in English, and where its answer was carried over from."""
    text = case["message"]["text"] if case["message"] else ""
    origin = case["carried_over_from"]
    images = [image["name"] for image in case.get("images", [])]
    shown = f"{text} [{', '.join(images)}]" if images else text
    return f"{shown} (from submission {origin})" if origin else shown


ENDED = {"done", "failed", "cancelled"}
SECONDS_BETWEEN_LOOKS = 0.3


def follow_job(client: Client, job_id: str, on_progress: OnProgress) -> JsonMapping:
    """Look at a job until it has ended, passing its progress on."""
    while True:
        job = client.get(f"jobs/{job_id}")
        note = job["log"].strip().rpartition("\n")[2]
        on_progress({"fraction": job["progress"], "best": None, "states": 0, "note": note})
        if job["state"] in ENDED:
            return job
        time.sleep(SECONDS_BETWEEN_LOOKS)
