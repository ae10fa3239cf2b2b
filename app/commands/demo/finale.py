"""The demo's finale: a question answered, a rejudging tried and undone, a frozen board opened, results made final.

Each step prints what it does, and returns the faults it finds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from app.commands.demo.story import CONTEST, NEW_CASE, TEAMS, Story, Work, submit
from app.core.commands.client import Client
from app.core.commands.output import Failure, JsonMapping
from app.core.commands.times import reltime, span

HALF = 50
NO_WINNER: JsonMapping = {"id": "winner", "citation": "no winner", "team_ids": []}
SECONDS_TO_THE_END = 1
SECONDS_BETWEEN_LOOKS = 0.1
MOST_SECONDS = 120
FROM = f"contests/{CONTEST}"

Rows = Mapping[str, JsonMapping]


def finale(story: Story, made: Work) -> list[str]:
    """Play the finale; returns every fault."""
    return [
        *ask_and_answer(story),
        *try_and_undo(story),
        *freeze_and_open(story, made),
        *give_awards(story),
    ]


def ask_and_answer(story: Story) -> list[str]:
    """A team asks, the jury answers that team alone, and announces something to everybody."""
    ants, bees = story.teams["ants"], story.teams["bees"]
    question = {"text": "May a piece jump over two?", "problem_id": "comesolo"}
    asked = ants.post(f"{FROM}/clarifications", question)
    reply = {"text": "No, over one.", "reply_to_id": asked["id"], "to_team_ids": ["ants"], "problem_id": "comesolo"}
    answered = story.admin.post(f"{FROM}/clarifications", reply)
    announced = story.admin.post(f"{FROM}/clarifications", {"text": "The board freezes soon."})
    story.talk(f"{TEAMS['ants']} ask the jury: {asked['text']} The jury answers: {answered['text']}")
    story.talk(f"the jury announces to everybody: {announced['text']}")
    seen = {
        name: {each["id"] for each in team.rows(f"{FROM}/clarifications")}
        for name, team in (("ants", ants), ("bees", bees))
    }
    expected = {"ants": {asked["id"], answered["id"], announced["id"]}, "bees": {announced["id"]}}
    return [
        f"clarifications of {team}: expected {sorted(ids)}, found {sorted(seen[team])}"
        for team, ids in expected.items()
        if seen[team] != ids
    ]


def try_and_undo(story: Story) -> list[str]:
    """The admin looks at what half the points for comesolo would change, applies it, and undoes it."""
    before = rows_of(story.board())
    rule = {"kind": "absolute", "counting": "best-case", "max_points": HALF}
    wanted = {"problem": "comesolo", "reason": "half the points", "changes": {"rule": rule}}
    number = story.admin.post(f"{FROM}/rejudgings", wanted)["id"]
    path = f"{FROM}/rejudgings/{number}"
    wait_for(lambda: story.admin.get(path)["state"] == "ready", f"rejudging {number} to be ready")
    counts = story.admin.get(f"{path}/difference")["counts"]
    story.talk(
        f"a rejudging would halve the points of comesolo: {counts['teams_changed']} teams change, "
        f"{counts['ranks_changed']} of them their rank"
    )
    silent = rows_of(story.board())
    story.admin.post(f"{path}/apply")
    applied = rows_of(story.board())
    story.talk(f"applied: {points_text(applied)}")
    story.admin.post(f"{path}/undo")
    undone = rows_of(story.board())
    story.talk(f"undone:  {points_text(undone)}")
    faults = [] if silent == before else ["rejudging: expected nothing to change before it is applied, found a change"]
    faults += [] if undone == before else ["rejudging: expected the board of before once undone, found another"]
    for team, row in applied.items():
        half = points_of(before[team], "comesolo") / 2
        if abs(points_of(row, "comesolo") - half) > 1e-9:
            faults.append(
                f"rejudging: expected {half} points of {team} at comesolo, found {points_of(row, 'comesolo')}"
            )
    return faults


def freeze_and_open(story: Story, made: Work) -> list[str]:
    """The board freezes, teams go on behind it, the contest ends, and the board is opened from the bottom."""
    contest = story.admin.get(FROM)
    start = datetime.fromisoformat(str(contest["start_time"]))
    frozen_at = datetime.now(UTC) - start
    story.admin.patch(FROM, {"scoreboard_freeze_duration": reltime(span(contest["duration"]) - frozen_at)})
    before = rows_of(story.board())
    story.talk("the board freezes")
    submit(story, "cats", "comesolo", made["best-first"], "behind the frozen board a zip of best-first answers")
    submit(story, "ants", "comesolo", {NEW_CASE: made["beam"][NEW_CASE]}, "behind the frozen board a single file")
    frozen = rows_of(story.board())
    faults = [
        f"frozen board: expected {team} as at the freeze, found {shown(frozen[team])} and not {shown(row)}"
        for team, row in before.items()
        if shown(frozen[team]) != shown(row)
    ]
    waiting = sum(cell["num_pending"] for row in frozen.values() for cell in row["problems"])
    faults += [] if waiting == 2 else [f"frozen board: expected 2 pending submissions, found {waiting}"]
    story.talk(f"the frozen board shows {points_text(frozen)}, and {waiting} submissions pending")
    end(story, start)
    story.talk("the contest is over; the board is opened from the bottom up")
    return faults + open_from_the_bottom(story)


def end(story: Story, start: datetime) -> None:
    """Let the contest end, soon; an end that is over before the server hears of it is refused, and a later one sent."""
    for seconds in range(SECONDS_TO_THE_END, MOST_SECONDS):
        duration = {"duration": reltime(datetime.now(UTC) - start + timedelta(seconds=seconds))}
        if story.admin.request("PATCH", f"/api/{FROM}", json=duration, accept=(403,)).is_success:
            break
    wait_for(lambda: story.admin.get(f"{FROM}/state")["ended"] is not None, "the end of the contest")


def open_from_the_bottom(story: Story) -> list[str]:
    """Open row by row, until everybody sees what the jury sees."""
    while (opened := story.admin.post(f"{FROM}/reveal", {"step": "row"}))["opened"]:
        team = opened["opened"][0]["team_id"]
        row = rows_of(story.board())[team]
        story.talk(f"opened: {TEAMS[team]}, {row['score']['score']:.2f} points, rank {row['rank']}")
        if opened["thawed"]:
            break
    of_jury = rows_of(story.admin.get(f"{FROM}/scoreboard", public="false", cases="true"))
    return [] if rows_of(story.board()) == of_jury else ["opened board: expected the jury's board, found another"]


def give_awards(story: Story) -> list[str]:
    """Make the results final, and the awards with them."""
    with Client(story.admin.as_nobody()) as public:
        early = {award["id"]: award["team_ids"] for award in public.rows(f"{FROM}/awards")}
        story.admin.patch(FROM, {"id": CONTEST, "finalized": True})
        awards = {award["id"]: award for award in public.rows(f"{FROM}/awards")}
    first = [team for team, row in rows_of(story.board()).items() if row["rank"] == 1]
    winner = awards.get("winner", NO_WINNER)
    winners = winner["team_ids"] or []
    names = ", ".join(TEAMS[team] for team in winners)
    story.talk(f"the results are final; {winner['citation']}: {names}")
    faults = (
        [] if early.get("winner") is None else ["awards: expected no winner before the results are final, found one"]
    )
    return faults + ([] if winners == first else [f"winner: expected {first}, found {winners}"])


def rows_of(board: JsonMapping) -> Rows:
    """Give a board's rows by team, in order."""
    return {row["team_id"]: row for row in board["rows"]}


def shown(row: JsonMapping) -> tuple[int, JsonMapping, list[JsonMapping]]:
    """Give the part of a row that a freeze holds: all but the number of submissions that wait."""
    cells: list[JsonMapping] = [{**cell, "num_pending": 0} for cell in row["problems"]]
    return row["rank"], row["score"], cells


def points_of(row: JsonMapping, problem: str) -> float:
    """Give a team's points at one problem."""
    return float(next(cell.get("score", 0.0) for cell in row["problems"] if cell["problem_id"] == problem))


def points_text(rows: Rows) -> str:
    """Name all teams with their points, best first."""
    return ", ".join(f"{TEAMS[team]} {row['score']['score']:.2f}" for team, row in rows.items())


def wait_for(done: Callable[[], bool], what: str) -> None:
    """Look again and again; raises Failure if it takes too long."""
    until = time.monotonic() + MOST_SECONDS
    while not done():
        if time.monotonic() > until:
            raise Failure(f"expected {what} within {MOST_SECONDS} s", 1)
        time.sleep(SECONDS_BETWEEN_LOOKS)
