"""The clock of every search counts the seconds of its timer, or steps."""

from __future__ import annotations

from bench.rollingballs import Run, curve_of, table_by_time
from solvers.parts.clock import Clock


def test_a_clock_counts_what_its_timer_reads() -> None:
    now = [100.0]
    clock = Clock(10.0, timer=lambda: now[0])
    assert (clock.elapsed, clock.fraction) == (0.0, 0.0)
    now[0] = 105.0
    assert (clock.elapsed, clock.fraction) == (5.0, 0.5)
    assert clock.running()
    now[0] = 110.0
    assert not clock.running()


def test_with_steps_the_timer_does_not_count() -> None:
    now = [0.0]
    clock = Clock(1.0, 4, timer=lambda: now[0])
    now[0] = 50.0
    assert clock.step()
    assert clock.fraction == 0.25


def test_the_mean_share_by_time_is_that_of_the_best_answers_that_were_there() -> None:
    runs = [
        Run(seed=1, random=1, balls=10, points=20, proven=20, rolls=5, seconds=0.4, curve=[(0.0, 10), (0.4, 20)]),
        Run(seed=2, random=1, balls=5, points=8, proven=8, rolls=5, seconds=2.0, curve=[(0.0, 2), (1.5, 8)]),
    ]
    shares = dict(curve_of(runs, 2.0))
    assert (shares[0.1], shares[0.5], shares[2.0]) == (0.35, 0.6, 0.9)
    assert table_by_time(runs, 2.0).row_count == 3
