"""Puzzles of a day: made once for all who wait, kept as a file, and never at the cost of those who come for today's."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from threading import Event

import anyio
import pytest

from app.core.messages import Unavailable
from app.daily.service import (
    EDITION,
    FIRST_DAY,
    KINDS,
    MOST_WAITING,
    READER,
    SECONDS_UNTIL_BACK,
    SIZES,
    Puzzles,
    make_puzzles,
    today,
)
from app.judging.service.solver_process import SolverFailed, SolverProcess
from solvers.daily import MAKERS
from solvers.daily import draws as drawing
from solvers.daily import puzzle as made
from tests.builders.daily import document

DAY = date(2026, 11, 22)


def test_the_kinds_the_sizes_and_the_edition_are_those_of_the_program_that_makes_them() -> None:
    assert [*KINDS] == [*MAKERS]
    assert made.SIZES == SIZES
    assert drawing.EDITION == EDITION


def known(_process: SolverProcess, day: date) -> bytes:
    return document(day).encode()


async def read_together(puzzles: Puzzles, day: date, count: int) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(puzzles.of, day)


def test_one_confined_process_makes_a_day_for_all_who_wait_and_its_file_serves_the_next_server(
    tmp_path: Path,
) -> None:
    days: list[date] = []

    def counted(process: SolverProcess, day: date) -> bytes:
        days.append(day)
        return make_puzzles(process, day)

    anyio.run(read_together, Puzzles(tmp_path / "daily", counted), DAY, 5)
    assert days == [DAY]
    (path,) = (tmp_path / "daily").iterdir()
    assert json.loads(path.read_text()) == json.loads(document(DAY))
    anyio.run(read_together, Puzzles(tmp_path / "daily", counted), DAY, 5)
    assert days == [DAY]


@pytest.mark.parametrize("damage", [b"", b'{"date": "2026-11-22"', b"\0" * 100])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / f"{EDITION}-{DAY}.json"
    path.write_bytes(damage)
    assert anyio.run(Puzzles(tmp_path, known).of, DAY) == READER.validate_json(document(DAY))
    assert path.read_text() == document(DAY)


def test_a_folder_that_takes_no_file_costs_nobody_their_puzzles(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder")
    assert anyio.run(Puzzles(tmp_path / "file", known).of, DAY).date == DAY


def test_a_process_that_fails_is_told_as_unavailable_and_the_next_reader_starts_another(
    tmp_path: Path,
) -> None:
    tries = iter((SolverFailed("it took more than 120 seconds"), None))

    def fails_once(process: SolverProcess, day: date) -> bytes:
        if failure := next(tries):
            raise failure
        return known(process, day)

    puzzles = Puzzles(tmp_path, fails_once)
    with pytest.raises(Unavailable) as refusal:
        anyio.run(puzzles.of, DAY)
    assert refusal.value.retry_after == SECONDS_UNTIL_BACK
    assert anyio.run(puzzles.of, DAY).date == DAY


def test_behind_many_back_numbers_more_are_refused_and_todays_readers_are_served(
    tmp_path: Path,
) -> None:
    go = Event()

    def slow(_process: SolverProcess, day: date) -> bytes:
        assert go.wait(60)
        return document(DAY).replace(DAY.isoformat(), day.isoformat()).encode()

    puzzles = Puzzles(tmp_path, slow)
    dates: list[date] = []

    async def read(day: date) -> None:
        dates.append((await puzzles.of(day)).date)

    async def crowd() -> None:
        async with anyio.create_task_group() as group:
            for ago in range(MOST_WAITING):
                group.start_soon(read, DAY - timedelta(days=ago))
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(Unavailable):
                await puzzles.of(FIRST_DAY)
            group.start_soon(read, today())
            await anyio.wait_all_tasks_blocked()
            go.set()

    anyio.run(crowd)
    assert len(dates) == MOST_WAITING + 1
    assert today() in dates


def test_a_service_that_stops_makes_no_more(tmp_path: Path) -> None:
    puzzles = Puzzles(tmp_path)
    puzzles.close()
    with pytest.raises(Unavailable):
        anyio.run(puzzles.of, DAY)
