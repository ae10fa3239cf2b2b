"""Work that many ask for at once is done once, and no one gets what was begun before they came."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from random import Random

import pytest

from app.core.load import SharedWork

THREADS = 12


class Versions:
    """A value that is made of the newest version, as a board is: good for whoever came at that version or before."""

    def __init__(self) -> None:
        self.work = SharedWork()
        self.newest = 0
        self.made = 0
        self.at_hand = -1
        self._guard = threading.Lock()
        self._making = threading.Lock()

    def change(self) -> None:
        with self._guard:
            self.newest += 1

    def look(self, wanted: int) -> int | None:
        version = self.at_hand
        return version if version >= wanted else None

    def make(self) -> int:
        assert self._making.acquire(blocking=False), "two threads work on one key"
        version = self.newest
        self.made += 1
        self.at_hand = version
        self._making.release()
        return version

    def ask(self) -> int:
        """Ask in this thread; returns by how many versions the result is behind the moment of asking."""
        wanted = self.newest
        return wanted - self.work.now("board", lambda: self.look(wanted), self.make)

    async def ask_soon(self) -> int:
        wanted = self.newest
        result = await self.work.soon("board", self._make_in_turn, lambda: self.look(wanted))
        return wanted - result

    def _make_in_turn(self) -> int:
        wanted = self.newest
        return self.work.now("board", lambda: self.look(wanted), self.make)


def test_one_thread_works_and_all_others_get_its_result() -> None:
    work, all_have_looked, made = SharedWork(), threading.Barrier(THREADS), list[object]()
    have_looked = threading.local()

    def look() -> object | None:
        if not hasattr(have_looked, "once"):
            have_looked.once = True
            all_have_looked.wait()
        return made[0] if made else None

    def make() -> object:
        made.append(object())
        return made[-1]

    with ThreadPoolExecutor(THREADS) as pool:
        results = [each.result() for each in [pool.submit(work.now, "key", look, make) for _ in range(THREADS)]]
    assert (len(made), {id(each) for each in results}) == (1, {id(made[0])})
    assert not work._locks


def test_nobody_gets_what_is_older_than_their_question_and_nothing_is_made_twice() -> None:
    versions = Versions()

    def play(seed: int) -> None:
        draw = Random(seed)
        for _ in range(200):
            if draw.random() < 0.3:
                versions.change()
            assert versions.ask() <= 0

    async def play_in_the_loop(seed: int) -> None:
        draw = Random(seed)
        for _ in range(40):
            if draw.random() < 0.3:
                versions.change()
            assert max(await asyncio.gather(*[versions.ask_soon() for _ in range(5)])) <= 0

    async def play_all() -> None:
        await asyncio.gather(*[play_in_the_loop(100 + at) for at in range(4)])

    with ThreadPoolExecutor(THREADS) as pool:
        players = [pool.submit(play, seed) for seed in range(THREADS - 1)]
        asyncio.run(play_all())
        for each in players:
            each.result()
    assert versions.made <= versions.newest + 1
    assert not versions.work._locks
    assert not versions.work._tasks


def test_other_keys_do_not_wait() -> None:
    """Each of two works ends only while the other one is being done."""
    work, both = SharedWork(), threading.Barrier(2, timeout=60)
    with ThreadPoolExecutor(2) as pool:
        works = [pool.submit(work.now, key, lambda: None, both.wait) for key in "ab"]
        assert sorted(each.result() for each in works) == [0, 1]


def test_a_failure_is_of_the_one_who_worked_and_the_next_one_tries_again() -> None:
    work = SharedWork()

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        work.now("key", lambda: None, fail)
    assert work.now("key", lambda: None, lambda: 1) == 1
    assert not work._locks


def test_in_the_loop_all_who_wait_share_one_thread_and_a_failure() -> None:
    async def play() -> None:
        work, begun = SharedWork(), 0

        def fail() -> int:
            nonlocal begun
            begun += 1
            raise ValueError("no")

        results = await asyncio.gather(*[work.soon("key", fail) for _ in range(9)], return_exceptions=True)
        assert [type(each) for each in results] == [ValueError] * 9
        assert begun == 1
        assert not work._tasks

    asyncio.run(play())


def test_work_goes_on_when_those_who_wait_for_it_leave() -> None:
    async def play() -> None:
        work, begun, release = SharedWork(), asyncio.Event(), asyncio.Event()

        async def begin() -> str:
            begun.set()
            await release.wait()
            return "done"

        first = asyncio.create_task(work.joined("key", begin))
        second = asyncio.create_task(work.joined("key", begin))
        await begun.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        release.set()
        assert await second == "done"
        assert first.cancelled()

    asyncio.run(play())


def test_whoever_comes_while_older_work_is_done_gets_the_result_of_the_next() -> None:
    async def play() -> None:
        work, begun, release = SharedWork(), asyncio.Event(), asyncio.Event()
        numbers = count()

        async def begin() -> int:
            number = next(numbers)
            begun.set()
            await release.wait()
            return number

        early = asyncio.create_task(work.joined("key", begin, lambda: None))
        await begun.wait()
        late = [asyncio.create_task(work.joined("key", begin, lambda: None)) for _ in range(5)]
        release.set()
        assert await early == 0
        assert await asyncio.gather(*late) == [1] * 5

    asyncio.run(play())
