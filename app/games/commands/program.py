"""A program as a player: it reads what happens on standard input and prints its moves on standard output.

It is told, each on a line: `GAME SIDE N` and then the N lines of the position; `go` when it is its turn, which it
answers by one line with its move, or `resign`; `move TEXT` for each move of the other player; and last `end won`,
`end lost` or `end draw`. Programs of this command line run as they are, with the rights of whoever started them.

- Many games at once, below a bar that counts them.
"""

import os
import select
import signal
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TypeVar

from app.core.commands import output, progress
from games.doors import LONGEST_MOVE, AnyGame, Position, Side
from games.match import Lost
from games.transcript import End, Transcript, write

LONGEST_LINE = 2 * LONGEST_MOVE
RESIGN = "resign"
SECONDS_TO_END = 1.0


@dataclass
class Program:
    """A program in one game: a process that begins with it and is ended, with all that it started, after it.

    seconds  the time for each move; the first one includes the start of the program
    """

    command: Sequence[str]
    seconds: float
    process: subprocess.Popen[bytes] | None = None
    pending: bytes = b""
    outgoing: bytes = b""

    def start(self, game: AnyGame, side: Side, instance: str) -> None:
        """Start the process and say what is played; raises Lost where it cannot be started."""
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # A process group of its own: killing it ends all that the program has started, too.
                start_new_session=True,
            )
        except OSError as error:
            raise Lost("broken", f"{self.command[0]} cannot be started: {error.strerror}") from None
        assert self.process.stdin is not None, "its input is a pipe"
        # A program that never reads its input must not hold up the game.
        os.set_blocking(self.process.stdin.fileno(), False)
        lines = instance.removesuffix("\n").split("\n")
        self._say(f"{game.slug} {game.sides[side]} {len(lines)}", *lines)

    def choose(self, position: Position, number: int) -> str:
        """Say `go` and read the move; raises Lost where none comes in time."""
        self._say("go")
        move = self._line()
        if move == RESIGN:
            raise Lost("resigned")
        return move

    def hear(self, move: str) -> None:
        """Pass the other player's move on."""
        self._say(f"move {move}")

    def finish(self, won: bool | None, end: End) -> None:
        """Say who won, wait a moment for the program to end, and then end it."""
        self._say(f"end {'draw' if won is None else 'won' if won else 'lost'}")
        self.close()

    def close(self) -> None:
        """End the process and all that it started."""
        if self.process is None:
            return
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(SECONDS_TO_END)
        # Also where it has ended: what it started may still run.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _say(self, *lines: str) -> None:
        """Send lines, as much of them as the program takes now; the rest goes out while its move is awaited."""
        self.outgoing += "".join(f"{line}\n" for line in lines).encode()
        self._send()

    def _send(self) -> None:
        # A program that has gone is noticed when its move is awaited; one that never reads must not hold this one up.
        if self.process is None or self.process.stdin is None:
            return
        try:
            sent = os.write(self.process.stdin.fileno(), self.outgoing) if self.outgoing else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(self.outgoing)
        self.outgoing = self.outgoing[sent:]

    def _line(self) -> str:
        """Read a line before the time for a move is over; raises Lost."""
        assert self.process is not None, "a program plays after it was started"
        assert self.process.stdin is not None, "its input is a pipe"
        assert self.process.stdout is not None, "its output is a pipe"
        deadline = monotonic() + self.seconds
        while b"\n" not in self.pending:
            if len(self.pending) > LONGEST_LINE:
                raise Lost("illegal", f"move: expected a line of at most {LONGEST_LINE} bytes, found more")
            writable = [self.process.stdin] if self.outgoing else []
            left = max(deadline - monotonic(), 0.0)
            readable, able, _ = select.select([self.process.stdout], writable, [], left)
            if not readable and not able:
                raise Lost("late", f"no move after {self.seconds:g} s")
            if able:
                self._send()
            if readable:
                data = os.read(self.process.stdout.fileno(), LONGEST_LINE)
                if not data:
                    raise Lost("broken", f"the program ended{self._code()} instead of making a move")
                self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line.removesuffix(b"\r").decode("utf-8", "backslashreplace")

    def _code(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            assert self.process is not None, "its output was read"
            return f" with exit code {self.process.wait(SECONDS_TO_END)}"
        return ""


T = TypeVar("T")


def run_all(games: Sequence[Callable[[], T]], jobs: int, label: str, *, quiet: bool) -> list[T]:
    """Play games, `jobs` of them at once, and give their results in the order asked for."""
    results: list[T | None] = [None] * len(games)
    with ThreadPoolExecutor(jobs) as pool, progress.progress_shown(label, quiet=quiet) as on_progress:
        futures = {pool.submit(game): at for at, game in enumerate(games)}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                results[futures[future]] = future.result()
                note = f"{done} of {len(games)} games"
                on_progress({"fraction": done / len(games), "best": None, "states": 0, "note": note})
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [result for result in results if result is not None]


def save(folder: Path | None, named: Sequence[tuple[str, Transcript]]) -> None:
    """Write transcripts into a folder, one file each; raises Failure where that fails."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, transcript in named:
            (folder / f"{name}.game").write_text(write(transcript), encoding="utf-8", newline="\n")
    except OSError as error:
        raise output.Failure(f"--save {folder}: {error.strerror}") from None
