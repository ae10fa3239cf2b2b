"""The demo's finale: a question answered, a rejudging tried and undone, a frozen board opened, results made final.

Each step prints what it does, and returns the faults it finds.

- `jurado demo`: play the story, show the board before and after, and say whether each step changed it as it should.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic

import typer

from app.accounts.commands.accounts import new_login
from app.commands.demo.story import (
    CONTEST,
    NEW_CASE,
    TEAMS,
    Story,
    Work,
    add_case,
    begin,
    first_round,
    fresh_service,
    get_ready,
    second_round,
    submit,
    work,
)
from app.core.commands.client import Client
from app.core.commands.lookup import board_table, reltime, span
from app.core.commands.output import Failure, JsonMapping, say, show, write_json
from app.core.commands.registry import AsJson, command
from app.core.files.temporary import DEMO_PREFIX, locked_folder

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


# No grader dies in the story, so that none in reserve need start beside the others.
NO_SPARE = {"JURADO_SPARE_GRADERS": "0"}
# The team and the problem whose points the new BESTs of the second round must lower.
LOWERED = ("ants", "rollingballs")


@command("demo")
def demo(as_json: AsJson = False) -> None:
    """Play a whole contest through HTTP with a fresh service, and check what each step changes.

    An admin uploads a test case and a solver makes its answer; three teams submit and improve; a question is answered,
    a rejudging tried and undone, a frozen board opened from the bottom, an award given. Exit code 0
    only if each step changes what it should: a new BEST lowers points, an undone rejudging leaves no trace.

    Examples:
      jurado demo
      jurado demo --json
    """
    began = monotonic()
    with fresh_story(began, quiet=as_json) as story:
        begin(story)
        add_case(story)
        get_ready(story)
        made = work(story)
        first_round(story, made)
        before = shown_board(story, as_json=as_json)
        second_round(story, made)
        after = shown_board(story, as_json=as_json)
        faults = [*lowering(before, after), *finale(story, made)]
        final = shown_board(story, as_json=as_json)
    seconds = round(monotonic() - began, 1)
    if as_json:
        boards = [{"rows": list(each.values())} for each in (before, after, final)]
        write_json({"ok": not faults, "seconds": seconds, "differences": faults, "boards": boards})
    else:
        print_end(before, after, faults, seconds)
    raise typer.Exit(1 if faults else 0)


@contextmanager
def fresh_story(began: float, *, quiet: bool) -> Iterator[Story]:
    """Begin a story with a service of its own, in a temporary folder."""

    def talk(text: str) -> None:
        if quiet:
            say(text)
        else:
            typer.echo(f"{monotonic() - began:5.1f} s  {text}")

    with locked_folder(DEMO_PREFIX) as folder, fresh_service(folder, NO_SPARE) as running:
        talk(f"a fresh service answers at {running.url}")
        story = Story(running.url, Client(new_login(running.url, "admin", running.password)), folder, talk)
        try:
            yield story
        finally:
            story.close()


def shown_board(story: Story, *, as_json: bool) -> Rows:
    """Fetch the public board and show it; returns its rows."""
    board = story.board()
    if not as_json:
        show(*board_table(CONTEST, board, TEAMS))
    return rows_of(board)


def lowering(before: Rows, after: Rows) -> list[str]:
    """Check that the new BESTs lowered the relative points of the team that had the BESTs before."""
    team, problem = LOWERED
    first, second = points_of(before[team], problem), points_of(after[team], problem)
    if second < first:
        return []
    return [f"{team} {problem}: expected fewer points than {first} after a new BEST, found {second}"]


def print_end(before: Rows, after: Rows, faults: list[str], seconds: float) -> None:
    """Print what the story showed, and whether every step did what it should."""
    team, problem = LOWERED
    first, second = points_of(before[team], problem), points_of(after[team], problem)
    typer.echo(f"{TEAMS[team]} changed nothing at {problem}: {first:.2f} points became {second:.2f} by new BESTs.")
    for fault in faults:
        say(f"wrong: {fault}")
    verdict = "Every step changed the board as it should" if not faults else f"{len(faults)} things were wrong"
    typer.echo(f"{verdict}; {seconds} s.")
