"""`jurado play`, `jurado tournament` and transcripts in `jurado check`: people at a pipe, and real programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from app.games.commands.program import Program
from games.catalog import games
from games.doors import draws
from games.match import Computer, Match
from games.transcript import read, replay, write
from tests.app.conftest import Jurado

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "docs/guides/examples"
SECONDS_TO_DIE = 30
"""A process that was killed is gone a moment later."""


def command(folder: Path, source: str) -> str:
    """A program in Python that runs this source, as a command line."""
    path = folder / f"player{len(list(folder.iterdir()))}.py"
    path.write_text(source)
    return f"{sys.executable} {path}"


def test_a_person_sees_the_board_makes_moves_and_wins(jurado: Jurado, tmp_path: Path) -> None:
    target = tmp_path / "one.game"
    words = ("--position", "2 5 2", "--opponent", "adversarial", "--save", target)
    done = jurado("play", "lasttreat", *words, stdin="5 5\nmoves\n0 1\n0 2\n")
    assert done.exit_code == 0
    assert "cakes  2  oo" in done.stdout
    assert "not a move here: move: expected at most 2 from a pile, found 5" in done.stdout
    assert "adversarial (second): 2 2" in done.stdout
    assert "0 1, 0 2, 1 1, 2 2" in done.stdout
    assert done.stdout.endswith("first won after 3 moves\n")
    checked = jurado("check", target)
    assert checked.exit_code == 0
    assert "the game of first against adversarial is won (over) after 3 moves; raw score 1" in checked.stdout


def test_the_end_of_the_input_leaves_a_game_that_goes_on(jurado: Jurado, tmp_path: Path) -> None:
    target = tmp_path / "one.game"
    assert jurado("play", "optimiza", "--save", target, stdin="A\n").exit_code == 0
    transcript = read(target.read_text())
    assert transcript.opponent == "optimal"
    assert replay(transcript).fault is None


def test_resigning_ends_a_game(jurado: Jurado) -> None:
    done = jurado("play", "lasttreat", stdin="resign\n")
    assert "first resigns\noptimal (second) won after 0 moves" in done.stdout


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("play", "lasttreet"), "no game 'lasttreet'; did you mean lasttreat?"),
        (("play", "lasttreat", "--opponent", "optimum"), "did you mean optimal?"),
        (("play", "lasttreat", "--as", "third"), "--as: expected first or second, found 'third'"),
        (("play", "lasttreat", "--position", "2 5"), "expected three numbers A B K"),
        (("play", "lasttreat", "--position", "0 0 1"), "found a finished game"),
        (("play", "lasttreat", "--with", "'"), "no closing quotation"),
        (("tournament", "lasttreat", "--opponent", "one"), "expected two players or more, found 1"),
        (("tournament", "lasttreat", "--opponent", "one", "--opponent", "one"), "one twice"),
        (("tournament", "lasttreat", "--program", "mine"), "expected NAME=CMD"),
        (("check", "missing.game"), "transcript missing.game"),
    ],
)
def test_wrong_usage_is_told_in_a_line(jurado: Jurado, words: tuple[str, ...], fault: str) -> None:
    done = jurado(*words)
    assert done.exit_code == 2
    assert fault in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_list_of_games_names_every_opponent(jurado: Jurado) -> None:
    rows = json.loads(jurado("play", "--json").stdout)
    assert {(row["game"], row["opponent"]) for row in rows} == {
        (slug, name) for slug, game in games().items() for name in game.opponents
    }


@pytest.mark.parametrize("opponent", ["optimal", "adversarial", "greedy"])
def test_the_example_in_python_wins_what_is_won(jurado: Jurado, tmp_path: Path, opponent: str) -> None:
    player = f"{sys.executable} {EXAMPLES / 'lasttreat.py'}"
    where = ("--position", "7 9 4", "--position", "2 5 2")
    done = jurado("play", "lasttreat", "--with", player, "--opponent", opponent, "--games", 2, *where, "--json")
    result = json.loads(done.stdout)
    assert (done.exit_code, result["won"], len(result["games"])) == (0, 4, 4)


def test_the_example_in_cpp_compiles_and_wins_what_is_won(jurado: Jurado, tmp_path: Path) -> None:
    player = tmp_path / "netgame"
    subprocess.run(["g++", "-O2", "-Wall", "-Werror", "-o", player, EXAMPLES / "netgame.cpp"], check=True)
    net = ROOT / "problems/netgame/data/sample/01-sample.in"
    cut = tmp_path / "cut.in"
    cut.write_text(games()["netgame"].sample + "cut 1 6\n")
    where = ("--position", net, "--position", cut, "--opponent", "adversarial")
    result = json.loads(jurado("play", "netgame", "--with", player, *where, "--games", 2, "--json").stdout)
    assert [game["reason"] for game in result["games"]] == ["over"] * 4
    assert result["won"] == 4


def test_a_program_that_follows_the_printed_strategy_loses_to_adversarial(jurado: Jurado, tmp_path: Path) -> None:
    """It moves to (2, 4) as it should, is answered by 2 2, and would have to take 1 1 from (0, 2)."""
    mirror = "print('0 1\\n1 1')"
    words = ("play", "lasttreat", "--with", command(tmp_path, mirror), "--position", "2 5 2", "--json")
    done = jurado(*words, "--opponent", "adversarial")
    (game,) = json.loads(done.stdout)["games"]
    assert (done.exit_code, game["winner"], game["reason"]) == (1, "second", "illegal")
    assert game["text"] == "move: expected at most 0 cakes, found 1"


FAULTS = {
    "import sys; sys.exit(3)": ("broken", "the program ended with exit code 3 instead of making a move"),
    "import time; time.sleep(60)": ("late", "no move after 0.3 s"),
    "print('x' * 1000)": ("illegal", "move: expected a line of at most 200 bytes, found more"),
    "print('resign')": ("resigned", ""),
    "print('1e3 0')": ("illegal", "move: expected two numbers x y: take x cakes and y pieces of fruit"),
}


@pytest.mark.parametrize("source", FAULTS)
def test_a_program_that_does_not_play_loses_with_the_reason(jurado: Jurado, tmp_path: Path, source: str) -> None:
    limit = 0.3 if "sleep" in source else 60
    words = ("play", "lasttreat", "--with", command(tmp_path, source), "--move-seconds", limit, "--json")
    (game,) = json.loads(jurado(*words).stdout)["games"]
    reason, text = FAULTS[source]
    assert (game["winner"], game["reason"]) == ("second", reason)
    assert game["text"].startswith(text)


def test_a_program_that_cannot_be_started_loses(jurado: Jurado) -> None:
    (game,) = json.loads(jurado("play", "lasttreat", "--with", "/nowhere/player", "--json").stdout)["games"]
    assert game["text"] == "/nowhere/player cannot be started: No such file or directory"


def test_what_a_program_started_ends_with_its_game(tmp_path: Path) -> None:
    source = "import subprocess, sys\nsubprocess.Popen(['sleep', '600'])\nprint('1 0', flush=True)\n"
    game = games()["lasttreat"]
    player = Program([*command(tmp_path, source).split()], 60)
    Match(game, "1 0 1\n", (player, Computer(game.opponents["optimal"], 1)), 0, "optimal", 1).play()
    assert player.process is not None
    members = [process for process in psutil.process_iter() if _group(process) == player.process.pid]
    assert psutil.wait_procs(members, SECONDS_TO_DIE)[1] == []


def _group(process: psutil.Process) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(process.pid)
    return None


def test_a_tournament_ranks_by_points_and_has_a_cross_table_that_adds_up(jurado: Jurado, tmp_path: Path) -> None:
    words = ("--opponent", "optimal", "--opponent", "random", "--opponent", "one", "--rounds", 3, "--save", tmp_path)
    done = jurado("tournament", "lasttreat", *words, "--position", "7 9 4", "--position", "2 4 2", "--json")
    result = json.loads(done.stdout)
    assert result["games"] == 3 * 2 * 6 == len(list(tmp_path.iterdir()))
    assert result["players"][0]["name"] == "optimal"
    assert sum(row["points"] for row in result["players"]) == result["games"]
    for row in result["players"]:
        assert row["points"] == sum(each["points"] for each in row["against"].values())
        assert row["games"] == sum(each["games"] for each in row["against"].values())
    points = [row["points"] for row in result["players"]]
    assert points == sorted(points, reverse=True)
    assert all(jurado("check", path).exit_code == 0 for path in tmp_path.iterdir())


def test_a_tournament_counts_games_that_a_program_lost_by_its_fault(jurado: Jurado, tmp_path: Path) -> None:
    broken = command(tmp_path, "print('9 9')")
    done = jurado("tournament", "lasttreat", "--program", f"bad={broken}", "--opponent", "random")
    assert "bad" in done.stdout
    assert "faults: games lost by an illegal or late move" in done.stdout


def saved(folder: Path) -> Path:
    """The transcript of a game that the closed form wins from 2 5 2."""
    target, game = folder / "won.game", games()["lasttreat"]
    players = (Computer(game.opponents["optimal"], 7), Computer(game.opponents["one"], 7))
    target.write_text(write(Match(game, "2 5 2\n", players, 0, "one", 7).play()))
    return target


def test_check_names_the_move_that_was_changed(jurado: Jurado, tmp_path: Path) -> None:
    target = saved(tmp_path)
    lines = target.read_text().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if line.startswith("    2 second"))
    line = lines[at]
    lines[at] = line.replace("s: 0 1", "s: 2 2") if "s: 0 1" in line else line.replace("s: 1 0", "s: 2 2")
    target.write_text("".join(lines))
    done = jurado("check", target)
    assert done.exit_code == 1
    assert done.stdout.startswith("rejected: move 2: expected")
    assert "the move of one with seed 7" in done.stdout


def test_opponents_choose_by_position_and_drawn_numbers_alone() -> None:
    game = games()["lasttreat"]
    position = game.start("1000000 999999 1000\n")
    assert game.opponents["random"].choose(position, draws(5, 3)) == game.opponents["random"].choose(
        position, draws(5, 3)
    )
    assert len({game.opponents["random"].choose(position, draws(seed, 3)) for seed in range(20)}) > 10
