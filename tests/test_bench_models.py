"""The simulation of a contest's last minute."""

from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from bench import sizing
from bench.sizing import Times, fewest, last_minute

QUICK = Times([0.002], [0.01], 0.001)


def test_arrivals_of_a_rush_are_as_many_as_its_rate_says() -> None:
    moments = list(sizing.arrivals(Random(1), 50.0))
    assert moments == sorted(moments)
    assert len(moments) == pytest.approx(50 * sizing.RUSH_SECONDS, rel=0.05)


def test_a_queue_with_one_server_waits_as_long_as_theory_says() -> None:
    """Pollaczek and Khinchine: with random arrivals and constant work, rho * work / (2 * (1 - rho)) on average."""
    work, rate = 0.01, 50.0
    draw, free, waits = Random(3), 0.0, []
    for arrival in sizing.arrivals(draw, rate):
        begins = max(arrival, free)
        free = begins + work
        waits.append(begins - arrival)
    assert mean(waits) == pytest.approx(rate * work * work / (2 * (1 - rate * work)), rel=0.3)
    assert last_minute(Times([work], [0.0], 0.0), rate, 1, 1).p99 >= work


def test_too_few_graders_are_late_by_the_work_that_is_left() -> None:
    """60 s of arrivals that take one grader 120 s end 60 s after the last of them."""
    late = last_minute(Times([0.0001], [0.04], 0.0), 50.0, 1, 1).judged_after
    assert late == pytest.approx(60.0, rel=0.1)
    assert last_minute(Times([0.0001], [0.04], 0.0), 50.0, 1, 4).judged_after < 1


def test_a_contest_of_any_size_gets_the_fewest_that_keep_the_goals() -> None:
    """Ten times the contestants need about ten times as many, also where a contest is simulated in parts."""
    for contestants, least in ((1_000, 1), (10_000, 2), (100_000, 13)):
        servers, graders, minute = fewest(QUICK, contestants, most_simulated=10_000)
        assert minute.is_good
        assert least <= servers <= 3 * least
        rate = contestants / 1000 * sizing.RATE_OF_A_THOUSAND
        assert graders >= rate * 0.01 * sizing.RUSH_SECONDS / (sizing.RUSH_SECONDS + sizing.SECONDS_TO_JUDGE)


def test_a_size_that_no_number_of_servers_can_serve_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no number of servers"):
        fewest(Times([0.4], [0.01], 0.0), 1_000)
