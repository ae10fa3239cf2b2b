"""Share of the possible points that two-sided reaches in 9.5 seconds a seed, on official seeds 1 to 40, one core.

`python -m bench.rollingballs --seeds 1..10 --method beam-local` asks for others, `--compare` for all methods side
by side; `--random 1..5` solves each seed with so many streams of random numbers. The
proven maximum stands beside what was reached. Compiling does not count. `--clock cpu` counts processor time, so that
figures stand on a busy machine; `--chart FILE.svg` draws the mean share against time, which needs the group `plots` of
pyproject.toml.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from time import perf_counter, process_time

from rich.console import Console
from rich.table import Table

from checkers.rollingballs import read_answer, read_instance, score_answer, write_answer
from solvers import rollingballs
from solvers.doors import Report
from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import lay_out
from solvers.rollingballs.bound.maximum import find_maximum
from solvers.rollingballs.warm import warm_up

GENERATOR = Path(__file__).parents[1] / "problems/rollingballs/generators/generate.py"
GOAL = 0.9930
TIMERS = {"wall": perf_counter, "cpu": process_time}
CHECKPOINTS = (0.5, 1, 2, 3, 5, 7, 9.5)


@dataclass(frozen=True, slots=True)
class Run:
    """One seed solved: points2, and the seconds at which each better answer was there.

    random   which stream of random numbers the method had
    """

    seed: int
    random: int
    balls: int
    points: int
    proven: int
    rolls: int
    seconds: float
    curve: list[tuple[float, int]]

    def share_at(self, seconds: float) -> float:
        """Return the share of the possible points that the best answer after so many seconds has."""
        return max((points for at, points in self.curve if at <= seconds), default=0) / (2 * self.balls)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or one line a method; 1 if two-sided's mean share is below the goal."""
    options = read_options(arguments or [])
    methods = list(rollingballs.METHODS) if options.compare else [options.method]
    if options.chart:  # before minutes of work: the group `plots` is not always there
        from scripts.ladder_plots import draw_mean_share

    tries = [(seed, random) for seed in options.seeds for random in options.random]
    runs = {method: [measure(seed, random, method, options) for seed, random in tries] for method in methods}
    means = {method: mean([run.points / (2 * run.balls) for run in done]) for method, done in runs.items()}
    console = Console(width=100)
    if options.compare:
        table = Table("method", "mean share", title=f"{len(options.seeds)} seeds, {options.seconds} s each")
        for method, share in means.items():
            table.add_row(method, f"{share:.5f}")
        console.print(table)
    else:
        console.print(table_of(options.method, runs[options.method]))
        console.print(table_by_time(runs[options.method], options.seconds))
    if options.chart:
        curves = {method: curve_of(done, options.seconds) for method, done in runs.items()}
        most = mean([run.proven / (2 * run.balls) for run in runs[methods[0]]])
        draw_mean_share(curves, most, f"rollingballs: {len(options.seeds)} official seeds", options.chart)
    return int(means.get(rollingballs.REFERENCE, 1.0) < GOAL)


def table_of(method: str, runs: list[Run]) -> Table:
    """Make a row a seed, and the means."""
    table = Table("seed", "random", "balls", "points2", "of", "proven most", "share", "rolls", "seconds", title=method)
    for run in runs:
        counts = (run.seed, run.random, run.balls, run.points, 2 * run.balls, run.proven)
        share = run.points / (2 * run.balls)
        table.add_row(*map(str, counts), f"{share:.5f}", str(run.rolls), f"{run.seconds:.1f}")
    most = mean([run.proven / (2 * run.balls) for run in runs])
    share = mean([run.points / (2 * run.balls) for run in runs])
    perfect = sum(run.points == 2 * run.balls for run in runs)
    optimal = sum(run.points == run.proven for run in runs)
    table.add_row("mean", "", "", f"{perfect} perfect", "", f"{most:.5f}", f"{share:.5f}", f"{optimal} optimal", "")
    return table


def table_by_time(runs: list[Run], seconds: float) -> Table:
    """Make a row a moment: the mean share of the best answers that were there by then."""
    table = Table("seconds", "mean share", title="best answers by time")
    for moment in CHECKPOINTS:
        if moment <= seconds:
            table.add_row(str(moment), f"{mean([run.share_at(moment) for run in runs]):.5f}")
    return table


def curve_of(runs: list[Run], seconds: float) -> list[tuple[float, float]]:
    """Return the mean share at every tenth of a second."""
    moments = [step / 10 for step in range(1, int(10 * seconds) + 1)]
    return [(moment, mean([run.share_at(moment) for run in runs])) for moment in moments]


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.rollingballs")
    parser.add_argument("--seeds", type=read_range, default=range(1, 41), help="such as 1..10")
    parser.add_argument(
        "--random", type=read_range, default=range(1, 2), help="streams of random numbers, such as 1..5"
    )
    parser.add_argument("--seconds", type=float, default=9.5)
    parser.add_argument("--method", choices=rollingballs.METHODS, default=rollingballs.REFERENCE)
    parser.add_argument("--clock", choices=TIMERS, default="wall", help="cpu: processor time")
    parser.add_argument("--chart", type=Path, help="draw the mean share against time into this SVG")
    parser.add_argument("--compare", action="store_true", help="all methods, one line each")
    return parser.parse_args(arguments)


def read_range(text: str) -> range:
    """Read `first..last`."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def make_input(seed: int) -> bytes:
    """Run the official generator."""
    return subprocess.run([sys.executable, str(GENERATOR), "--seed", str(seed)], capture_output=True, check=True).stdout


def measure(seed: int, random: int, method: str, options: argparse.Namespace) -> Run:
    """Solve one seed with one stream of random numbers and have the checker score it."""
    instance = read_instance(make_input(seed))
    most = find_maximum(lay_out(instance))
    warm_up(method)
    curve: list[tuple[float, int]] = []

    def note(report: Report) -> None:
        if report.best is not None:
            curve.append((clock.elapsed, int(report.best)))

    clock = Clock(options.seconds, None, note, timer=TIMERS[options.clock])
    answer = rollingballs.METHODS[method].search(instance, clock, random)
    seconds = clock.elapsed
    score = score_answer(instance, read_answer(write_answer(answer).encode(), instance))
    curve.append((min(seconds, options.seconds), int(score.raw)))
    return Run(seed, random, instance.balls, int(score.raw), most, len(answer.rolls), seconds, curve)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
