"""Throw mutated answer files at the checkers: the verb `make fuzz`. Nothing but Rejected may come out.

Good answers of each problem's package are damaged byte by byte, token by token and line by line, and handed to the
checker as a contestant's file would be. An answer that is still accepted must read back as it was written and have a
score within its bounds. The same seed makes the same files; a file that breaks a checker is kept and named.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from checkers.doors import AnyChecker, Rejected, open_checker

STANDARD: dict[str, tuple[tuple[str, ...], ...]] = {
    "tokens": ((), ("case_sensitive",), ("space_change_sensitive",), ("float_tolerance", "1e-6")),
    "exact": ((),),
    "floats": ((), ("float_absolute_tolerance", "0.5")),
    "lines": ((),),
    "unordered": ((),),
    "metric": (("accuracy",), ("f1", "average", "macro"), ("rmse",), ("mae",), ("logloss",), ("auc",)),
}
TEXTS = (b"0\n", b"12 3.50 Yes\n7 -1e-3\n", b"a b c\n\nd  e\n", b"1 2 3\n" * 40, b"no newline")
TABLES = (b"id,target\n1,0\n2,1\n3,1\n", b'target,id\n1,"a b"\n0,"c ""d"""\n0,e\n1,f\n')
"""Predictions, which are their own truth."""
MOST_BYTES = 6000  # of a seed file: a larger one shows no more faults and takes the time of many
TOKENS = (
    b"0", b"1", b"2", b"-1", b"-0", b"+1", b"01", b"00", b"1.0", b"1e0", b"0x0", b"1_0", b".", b"-", b"nan", b"inf",
    *(str(2**bits + more).encode() for bits in (31, 32, 63, 64) for more in (-1, 0, 1, 2)),
    str(-(2**63)).encode(), b"9" * 5000, b"0" * 5000, b"1e999", b"4294967297 0 0 0", b"1000000000000",
    *(text.encode() for text in ("\ufeff", "\u00a0", "\uff11", "\u0663")),
    b"\0", b"\f", b"\v", b"\x1c", b"\x85", b"\xff\xfe",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One checker with one test case: the instance as read, the reference file, and good answers to damage."""

    checker: AnyChecker
    instance: Any
    reference: bytes
    answers: tuple[bytes, ...]


@dataclass
class Tally:
    """The results: files accepted and rejected, and the faults with the files that made them."""

    accepted: int = 0
    rejected: int = 0
    seconds: float = 0.0
    faults: list[tuple[bytes, str]] = field(default_factory=list)

    @property
    def files(self) -> int:
        """Give the number of files tried."""
        return self.accepted + self.rejected + len(self.faults)


def main() -> int:
    """Run the verb; exit code 0 if nothing but Rejected came out."""
    options = read_options()
    slugs = known_slugs() if options.problem == "all" else [options.problem]
    table = Table("checker", "files", "accepted", "rejected", "faults", "files/s", title="Mutated answer files")
    faults = 0
    with Progress(console=Console(stderr=True)) as bar:
        for slug in slugs:
            task = bar.add_task(slug, total=options.count)
            tally = Tally()
            for tally in fuzz(slug, count=options.count, seed=options.seed):
                bar.update(task, completed=tally.files)
            rate = f"{tally.files / tally.seconds:,.0f}"
            table.add_row(slug, *map(str, (tally.files, tally.accepted, tally.rejected, len(tally.faults))), rate)
            faults += len(tally.faults)
            keep_faults(slug, tally)
    Console().print(table)
    return 1 if faults else 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=100_000, help="files for each checker (100000)")
    parser.add_argument("--problem", choices=[*known_slugs(), "all"], default="all")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def known_slugs() -> list[str]:
    """List the problems with a checker of their own, and the standard checkers."""
    packages = sorted(path.parent.name for path in (ROOT / "problems").glob("*/jurado.yaml"))
    return [slug for slug in packages if (ROOT / f"checkers/{slug}.py").exists()] + list(STANDARD)


def fuzz(slug: str, *, count: int, seed: int, turn: int = 500) -> Iterator[Tally]:
    """Try `count` files; yields the running tally every `turn` files and at the end."""
    draws = random.Random(seed)
    targets = open_targets(slug)
    others = [answer for target in targets for answer in target.answers]
    tally = Tally()
    for number in range(1, count + 1):
        target = draws.choice(targets)
        data = mutate(draws.choice(target.answers), others, draws)
        began = perf_counter()
        try_file(target, data, tally)
        tally.seconds += perf_counter() - began
        if number % turn == 0 or number == count:
            yield tally


def try_file(target: Target, data: bytes, tally: Tally) -> None:
    """Check one file and count the verdict; any exception but Rejected is a fault."""
    try:
        check(target, data)
        tally.accepted += 1
    except Rejected as refusal:
        tally.rejected += 1
        if not refusal.message.text:
            tally.faults.append((data, "a rejection without a word"))
    except Exception:
        tally.faults.append((data, traceback.format_exc()))


def check(target: Target, data: bytes) -> None:
    """Read and score a file; an accepted answer must keep its promises."""
    checker = target.checker
    answer = checker.read_answer(data, target.instance)
    score = checker.score_answer(target.instance, answer, target.reference)
    assert score.raw >= 0, f"raw score {score.raw} below 0"
    assert score.max_raw is None or score.raw <= score.max_raw, f"raw score {score.raw} above {score.max_raw}"
    assert score.multiplier is None or 0 <= score.multiplier <= 1, f"multiplier {score.multiplier}"
    written = checker.write_answer(answer).encode("utf-8", "surrogateescape")
    again = checker.score_answer(target.instance, checker.read_answer(written, target.instance), target.reference)
    assert again.raw == score.raw, f"raw score {score.raw}, written and read again {again.raw}"


def open_targets(slug: str) -> list[Target]:
    """Collect files to damage: the package's small cases and examples, or some texts for a standard checker."""
    if slug in STANDARD:
        checkers = [open_checker(slug, args) for args in STANDARD[slug]]
        texts = TABLES if slug == "metric" else TEXTS
        return [Target(checker, checker.read_instance(b""), text, (text,)) for checker in checkers for text in texts]
    checker, package = open_checker(slug), ROOT / "problems" / slug
    targets = []
    for path in sorted(package.glob("data/**/*.ans")):
        given = [path.with_suffix(".out"), package / f"submissions/accepted/reference/{path.stem}.out"]
        answers = tuple(file.read_bytes() for file in given if file.exists())
        small = tuple(answer for answer in answers if len(answer) <= MOST_BYTES)
        if small:
            instance = checker.read_instance(path.with_suffix(".in").read_bytes())
            targets.append(Target(checker, instance, path.read_bytes(), small))
    if not targets:
        raise SystemExit(f"{slug}: expected answers of at most {MOST_BYTES} bytes in problems/{slug}, found none")
    return targets


def mutate(data: bytes, others: list[bytes], draws: random.Random) -> bytes:
    """Damage a file one to three times (one in fifty is left as it is)."""
    if draws.random() < 0.02:
        return data
    for _ in range(draws.randint(1, 3)):
        data = draws.choice(MUTATIONS)(data, others, draws)
    return data


def change_bytes(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """Overwrite, insert or leave out a byte or a few."""
    at, length = draws.randint(0, len(data)), draws.randint(0, 3)
    return data[:at] + draws.randbytes(draws.randint(0, 3)) + data[at + length :]


def change_digit(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """Overwrite a byte by a digit, so that the file stays nearly right."""
    at = draws.randint(0, len(data))
    return data[:at] + b"%d" % draws.randint(0, 9) + data[at + 1 :]


def change_token(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """Replace a token by a strange one, or put that beside it."""
    tokens = data.split(b" ")
    at = draws.randrange(len(tokens))
    tokens[at : at + draws.randint(0, 1)] = [draws.choice(TOKENS)]
    return b" ".join(tokens)


def change_count(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """Put another number on the first line."""
    _, line_end, rest = data.partition(b"\n")
    return draws.choice([*TOKENS, b"%d" % draws.randint(0, 2000)]) + line_end + rest


def change_lines(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """Swap, repeat or leave out lines."""
    lines = data.split(b"\n")
    first, second = draws.randrange(len(lines)), draws.randrange(len(lines))
    if draws.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first : first + 1] = [lines[second]] * draws.randint(0, 3)
    return b"\n".join(lines)


def cut(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """End the file early, as a broken upload would."""
    return data[: draws.randint(0, len(data))]


def splice(data: bytes, others: list[bytes], draws: random.Random) -> bytes:
    """Continue with another answer."""
    other = draws.choice(others)
    return data[: draws.randint(0, len(data))] + other[draws.randint(0, len(other)) :]


def change_space(data: bytes, _others: list[bytes], draws: random.Random) -> bytes:
    """Replace every space or line end by another kind of space."""
    return data.replace(
        draws.choice([b" ", b"\n"]), draws.choice([b"\t", b"\r\n", b"  ", b"\f", b"\xc2\xa0", b"", b"\0"])
    )


MUTATIONS = (
    change_bytes,
    change_digit,
    change_digit,
    change_token,
    change_count,
    change_lines,
    cut,
    splice,
    change_space,
)


def keep_faults(slug: str, tally: Tally) -> None:
    """Write the first files that broke a checker next to each other, and print what came out."""
    if not tally.faults:
        return
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{slug}-"))
    for number, (data, text) in enumerate(tally.faults[:20], start=1):
        (folder / f"{number:02}.out").write_bytes(data)
        (folder / f"{number:02}.txt").write_text(text)
    print(f"{slug}: {len(tally.faults)} faults, the first in {folder}:\n{tally.faults[0][1]}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
