"""Where the time of taking a submission goes: a flame graph, drawn to docs/acceptance.svg.

A server takes 2 KB answers over 32 connections while py-spy (`uv pip install py-spy`) looks at it 40 times a second;
`python -m bench.flame --folded FILE` draws stacks that were sampled elsewhere (`a;b;c 12` a line, as py-spy and perf
write them). Threads that wait are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from zlib import crc32

from bench._server import process_at
from bench.acceptance import CONNECTIONS, padded_answer
from bench.load import form_request, run_load
from bench.stage import CONTEST, prepare, serving, wait_until_scored

SVG = Path(__file__).parents[1] / "docs/acceptance.svg"
SECONDS = 15.0
LOOKS = 40
"""Looks a second: the server stops for each, and more of them would leave it no rush to look at."""
WIDTH, ROW, LEAST = 1200.0, 16, 2.0
"""Pixels: of the picture, of a row, and of the narrowest box that is drawn."""
PLACE = re.compile(r"^(.*?) \((.*?)(?::\d+)?\)$")
HUES = {"app/": (225, 140, 60), "sqlalchemy": (95, 150, 205), "uvicorn": (120, 180, 120), "starlette": (120, 180, 120)}
OTHERS = (190, 190, 185)
WAITING = ("Writer._take", "Condition.wait", "wait (threading", "Runner.run (", "sleep", "Event.wait", "Pipe._exactly")
"""Frames at the end of a stack that say that the thread waits."""


@dataclass
class Box:
    """A function in its place: the samples in it, and the functions that it called."""

    name: str
    count: int = 0
    inner: dict[str, Box] = field(default_factory=dict)


def main() -> int:
    """Sample a server under load, and draw."""
    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder) / "folded.txt"
        sample(Path(folder) / "home", folded)
        return draw(folded)


def draw(folded: Path) -> int:
    """Draw folded stacks, and say what was drawn."""
    root = stacked(folded.read_text(encoding="utf-8", errors="replace"))
    SVG.write_text("\n".join(picture(root)) + "\n", encoding="utf-8")
    print(f"{root.count} samples of threads at work, drawn to {SVG}")
    for box in sorted(root.inner.values(), key=lambda box: -box.count):
        print(f"  {box.count / root.count:6.1%} {box.name}")
    return 0


def sample(home: Path, folded: Path) -> None:
    """Load a server of its own and have py-spy write its stacks."""
    spy = shutil.which("py-spy")
    if spy is None:
        raise RuntimeError("py-spy is missing: uv pip install py-spy, and put it on the PATH")
    token = prepare(home)[0]
    path = f"/api/contests/{CONTEST}/submissions"
    request = form_request(path, "127.0.0.1", token, {"problem_id": "comesolo"}, ("101-n05-p70.out", padded_answer()))
    with serving(home) as url:
        server = process_at(url)
        wait_until_scored(home)  # else the graders are busy with the expected answers of a fresh home
        asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=1.0))
        options = [
            "--pid",
            str(server.pid),
            "--format",
            "raw",
            "--output",
            str(folded),
            "--rate",
            str(LOOKS),
            "--threads",
        ]
        recording = [spy, "record", *options, "--duration", str(round(SECONDS))]
        looking = subprocess.Popen(recording, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while looking.poll() is None:  # what is judged after a load is no part of it
            asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=1.0))


def stacked(text: str) -> Box:
    """Sum folded stacks up to a tree; stacks of threads that wait, and broken ones, are left out."""
    root = Box("all")
    for line in text.splitlines():
        frames, _, count = line.rpartition(" ")
        stack = frames.split(";")
        if not count.isdigit() or len(stack) < 2 or any(mark in stack[-1] for mark in WAITING):
            continue
        root.count += int(count)
        at = root
        for name in _names(stack):
            at = at.inner.setdefault(name, Box(name))
            at.count += int(count)
    return root


def _names(stack: list[str]) -> Iterator[str]:
    """The thread, then the functions by file, without the frames that every thread begins with."""
    yield re.sub(r"thread \(\d+\)(: )?", "", stack[0]) or "thread"
    for frame in stack[1:]:
        place = PLACE.match(frame)
        name, file = (place[1], place[2]) if place else (frame, "")
        if file.startswith(("app/commands", "typer", "threading", "asyncio/runners", "<frozen", "<string>")):
            continue
        yield f"{name} ({file.removeprefix('.venv/lib/python3.11/site-packages/')})"


def picture(root: Box) -> Iterator[str]:
    """The lines of the SVG, from the threads at the top down to what they called."""
    boxes = list(_placed(root, 0.0, WIDTH, 0))
    height = (1 + max((level for *_, level in boxes), default=0)) * ROW
    size = f'viewBox="0 0 {WIDTH:.0f} {height}" font-family="monospace" font-size="10"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    yield f"<title>Taking a submission: {root.count} samples, widths are shares of the time</title>"
    for box, left, width, level in boxes:
        color = "#%02x%02x%02x" % _color(box.name)  # noqa: UP031 - hexadecimal
        share = escape(f"{box.name}: {box.count / root.count:.1%}", quote=True)
        place = f'x="{left:.1f}" y="{level * ROW}" width="{width:.1f}" height="{ROW - 1}"'
        yield f'<g><title>{share}</title><rect {place} fill="{color}"/>'
        letters = int(width / 6.2)
        text = escape(box.name[:letters]) if letters > 3 else ""
        yield (f'<text x="{left + 2:.1f}" y="{level * ROW + 11}">{text}</text>' if text else "") + "</g>"
    yield "</svg>"


def _placed(box: Box, left: float, width: float, level: int) -> Iterator[tuple[Box, float, float, int]]:
    for inner in sorted(box.inner.values(), key=lambda each: -each.count):
        wide = width * inner.count / box.count
        if wide >= LEAST:
            yield inner, left, wide, level
            yield from _placed(inner, left, wide, level + 1)
        left += wide


def _color(name: str) -> tuple[int, int, int]:
    """The color of a function by whose it is, a little lighter or darker by its name."""
    base = next((color for part, color in HUES.items() if part in name), OTHERS)
    shift = crc32(name.encode()) % 24 - 12
    red, green, blue = (max(0, min(255, each + shift)) for each in base)
    return red, green, blue


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.flame")
    parser.add_argument("--folded", type=Path, help="stacks that were sampled before")
    flags = parser.parse_args()
    sys.exit(draw(flags.folded) if flags.folded else main())
