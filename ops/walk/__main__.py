"""Hold the HTTP answers of another checkout against this one's: `python -m ops.walk --against DIR`.

Every route is asked as every role, on a server of each checkout (set up with `make setup`), in contests that are
frozen, not begun and final; what reads first, then what writes. Without `--against` this checkout is walked twice,
which shows that two servers of one code answer the same.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from ops.walk.record import Answer, walk
from ops.walk.stage import ROOT, served

MOST_LINES = 12
"""Lines shown of one difference."""


def main() -> int:
    """Walk both; exit code 1 where an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="DIR", default=ROOT, help="the checkout from before")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep this checkout's answers as JSON")
    parser.add_argument("--most", type=int, default=20, help="differences shown in full (default: %(default)s)")
    given = parser.parse_args()
    before, now = taken(given.against, "before"), taken(ROOT, "now")
    if given.write is not None:
        given.write.write_text(json.dumps({key: asdict(answer) for key, answer in now.items()}, indent=1))
    differing = differences(before, now)
    for key in differing[: given.most]:
        print_difference(key, before.get(key), now.get(key))
    print(f"{len(now)} answers, {len(differing)} differ")
    for key in differing[given.most :]:
        print(f"  {key}")
    return 1 if differing else 0


def taken(checkout: Path, name: str) -> dict[str, Answer]:
    """The answers of a checkout's server, with a bar while they are asked for."""
    with (
        tempfile.TemporaryDirectory(prefix="jurado-walk-") as home,
        Progress(console=Console(stderr=True)) as bar,
        served(checkout.resolve(), Path(home)) as stage,
    ):
        task = bar.add_task(name)
        return walk(stage, lambda done, total: bar.update(task, completed=done, total=total))


def differences(before: Mapping[str, Answer], now: Mapping[str, Answer]) -> list[str]:
    """The requests that are answered in two ways, or by one side only."""
    return [key for key in {**before, **now} if before.get(key) != now.get(key)]


def print_difference(key: str, before: Answer | None, now: Answer | None) -> None:
    """The lines that differ, the first of them."""
    print(key)
    pair = [[] if each is None else lines(each) for each in (before, now)]
    changed = [line for line in difflib.unified_diff(*pair, lineterm="", n=0) if line[:2] not in {"--", "++", "@@"}]
    for line in changed[:MOST_LINES]:
        print(f"    {line[:300]}")


def lines(answer: Answer) -> list[str]:
    """A reply as lines: JSON is indented, so that what differs stands alone."""
    head = f"{answer.status} {answer.kind}"
    try:
        body = json.dumps(json.loads(answer.body), indent=1)
    except json.JSONDecodeError:
        body = answer.body
    return [head, *body.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
