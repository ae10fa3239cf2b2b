"""Many games at once, below a bar that counts them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from app.core.commands.output import Failure, say
from app.core.commands.progress import bar_of_work
from games.transcript import Transcript, write

T = TypeVar("T")
Played = Callable[[], None]
"""Called after each game."""


def run_all(games: Sequence[Callable[[], T]], jobs: int, label: str, *, quiet: bool) -> list[T]:
    """Play games, `jobs` of them at once, and give their results in the order asked for."""
    results: list[T | None] = [None] * len(games)
    with ThreadPoolExecutor(jobs) as pool, counted(len(games), label, quiet=quiet) as played:
        futures = {pool.submit(game): at for at, game in enumerate(games)}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                played()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [result for result in results if result is not None]


@contextmanager
def counted(count: int, label: str, *, quiet: bool) -> Iterator[Played]:
    """Show how many of many games are played: a bar on a terminal, a line for each tenth elsewhere."""
    if quiet:
        yield lambda: None
        return
    done = 0
    if sys.stderr.isatty():
        with bar_of_work() as bar:
            task = bar.add_task(label, total=float(count), text=f"0 of {count}")

            def advance() -> None:
                nonlocal done
                done += 1
                bar.update(task, completed=done, text=f"{done} of {count}")

            yield advance
        return

    def tell() -> None:
        nonlocal done
        done += 1
        if done * 10 // count > (done - 1) * 10 // count:
            say(f"{label}: {done} of {count} games")

    yield tell


def save(folder: Path | None, named: Sequence[tuple[str, Transcript]]) -> None:
    """Write transcripts into a folder, one file each; raises Failure where that fails."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, transcript in named:
            (folder / f"{name}.game").write_text(write(transcript), encoding="utf-8", newline="\n")
    except OSError as error:
        raise Failure(f"--save {folder}: {error.strerror}") from None
