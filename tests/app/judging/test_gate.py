"""The gate that submissions pass: closed for some places, open for all others, and never closed for good."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from app.submissions.service.gate import Gate, Place

HERE, ELSEWHERE = ("c", "echo"), ("d", "echo")


async def pass_it(gate: Gate, place: Place, passed: list[Place]) -> None:
    """Go through, and note it."""
    async with gate.passed(place):
        passed.append(place)


def test_what_comes_to_a_closed_place_goes_on_when_it_opens_and_elsewhere_nobody_waits() -> None:
    gate, passed = Gate(), list[Place]()

    async def story() -> None:
        with gate.closed([HERE], 0) as emptied:
            assert emptied
            waiting = asyncio.create_task(pass_it(gate, HERE, passed))
            await pass_it(gate, ELSEWHERE, passed)
            await asyncio.sleep(0)
            assert passed == [ELSEWHERE]
        await waiting
        assert passed == [ELSEWHERE, HERE]

    asyncio.run(story())


def test_closing_waits_for_those_inside_as_long_as_it_was_told() -> None:
    gate, leave = Gate(), Event()

    async def stay() -> None:
        async with gate.passed(HERE):
            await asyncio.to_thread(leave.wait)

    async def story() -> None:
        inside = asyncio.create_task(stay())
        await asyncio.sleep(0)
        with gate.closed([HERE], 0) as emptied:
            assert not emptied
        leave.set()
        await inside
        with gate.closed([HERE], 0) as emptied:
            assert emptied

    asyncio.run(story())


def test_a_place_that_two_have_closed_opens_when_both_have_opened_it() -> None:
    gate, passed = Gate(), list[Place]()
    with ThreadPoolExecutor(1) as threads:
        with gate.closed([HERE], 0):
            with gate.closed([HERE, ELSEWHERE], 0):
                done = threads.submit(asyncio.run, pass_it(gate, HERE, passed))
            asyncio.run(pass_it(gate, ELSEWHERE, passed))
            assert passed == [ELSEWHERE]
        done.result()
    assert passed == [ELSEWHERE, HERE]
