"""Climb the whole ladder of each problem and record it: `ladders.py record [SLUG...]`, `ladders.py draw [SLUG...]`.

`record SLUG --method M` climbs with some methods only and keeps what is recorded of the others.

`record` runs `jurado ladder SLUG --json` into docs/ladders/SLUG.json, adds the raw score against time of the methods
that improve with time (on the three largest cases), and writes docs/ladders/README.md. `draw` makes the pictures, from
what was recorded only; it needs the group `plots` of pyproject.toml, which `make plots` installs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.progress import track

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.packages.catalog import bundled
from app.packages.model import Case
from app.packages.read import read_package

RECORDS = ROOT / "docs/ladders"
CURVES = 3
COLUMNS = ("case", "group", "accepted", "multiplier", "raw", "seconds", "memory")
HEAD = """\
# The ladders

Every problem's methods on every secret case, under the limits of its `jurado.yaml`. `make ladders` runs them and writes
this page and the figures beside it; `make plots` draws the pictures. Seconds and MiB are the largest of any case, above
the start-up of the interpreter and the kernels. As many runs as there are cores went on side by side.
"""


def main() -> int:
    """Run the verb."""
    options = read_options()
    slugs = options.slug or sorted(bundled())
    RECORDS.mkdir(parents=True, exist_ok=True)
    if options.verb == "record":
        unexpected = [slug for slug in slugs if not record(slug, options.curve_seconds, options.method)]
        (RECORDS / "README.md").write_text(page(read_records()), encoding="utf-8")
        if unexpected:
            print(f"ladders: other points than expected: {', '.join(unexpected)}", file=sys.stderr)
        return int(bool(unexpected))
    from scripts.ladder_plots import draw_curves, draw_ladder

    for ladder in read_records():
        if ladder["problem"] in slugs:
            draw_ladder(ladder, RECORDS / f"{ladder['problem']}.svg")
            if ladder["curves"]:
                draw_curves(ladder, RECORDS / f"{ladder['problem']}-time.svg")
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("verb", choices=["record", "draw"])
    parser.add_argument("slug", nargs="*", help="problems; default: all")
    parser.add_argument("--method", action="append", default=[], help="record only this method (may be repeated)")
    parser.add_argument("--curve-seconds", type=float, default=10.0, help="how long each curve is")
    return parser.parse_args()


def record(slug: str, curve_seconds: float, methods: Sequence[str] = ()) -> bool:
    """Climb one ladder and store it; returns whether every rung earned the expected points. Exits where that fails."""
    command = [sys.executable, "-m", "app.commands", "ladder", slug, "--json"]
    command += [word for method in methods for word in ("--method", method)]
    print(f"{slug}: climbing", file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:  # the package has no ladder, and the command has printed why
        sys.exit(done.returncode)
    ladder = json.loads(done.stdout)
    for rung in ladder["rungs"]:
        rung["cases"] = [{key: case[key] for key in COLUMNS} for case in rung["cases"]]
    known = list_methods(slug)
    improving = [name for name in methods or known if known[name]] if sum(known.values()) > 1 else []
    ladder["curves"] = curves(slug, curve_seconds, improving)
    path = RECORDS / f"{slug}.json"
    if methods:
        ladder = merged(json.loads(path.read_text(encoding="utf-8")), ladder, list(known))
    path.write_text(as_text(ladder), encoding="utf-8")
    return done.returncode == 0


def list_methods(slug: str) -> dict[str, bool]:
    """Give the methods of a problem, lowest rung first, and whether each improves with time."""
    listed = subprocess.run(
        [sys.executable, "-m", "solvers", slug, "--methods"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    return {name: method["anytime"] for name, method in json.loads(listed.stdout)["methods"].items()}


def merged(old: dict[str, Any], new: dict[str, Any], methods: Sequence[str]) -> dict[str, Any]:
    """Put new rungs and curves into an old record, in the order of the methods; unknown methods leave it."""
    rungs = {rung["method"]: rung for rung in (*old["rungs"], *new["rungs"])}
    lines = {(curve["case"], curve["method"]): curve for curve in (*old["curves"], *new["curves"])}
    cases = sorted({case for case, _ in lines})
    return new | {
        "rungs": [rungs[method] for method in methods if method in rungs],
        "curves": [lines[case, method] for case in cases for method in methods if (case, method) in lines],
    }


def curves(slug: str, seconds: float, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Follow methods that improve with time on the largest cases: points [seconds, best raw score so far]."""
    secret = [case for case in read_package(bundled()[slug]).cases if case.group != "sample"]
    largest = sorted(secret, key=lambda case: (-len(case.input.read()), case.name))[:CURVES]
    pairs = [(case, method) for case in sorted(largest, key=lambda case: case.name) for method in methods]
    return [curve(slug, case, method, seconds) for case, method in track(pairs, f"{slug}: curves")]


def curve(slug: str, case: Case, method: str, seconds: float) -> dict[str, Any]:
    """Run one method and collect its reports."""
    words = ["solvers", slug, "--method", method, "--seconds", str(seconds), "--progress-json"]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, input=case.input.read(), capture_output=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"ladders: {slug} {case.name} {method}: {done.stderr.decode(errors='replace').strip()}")
    reports = [json.loads(line) for line in done.stderr.splitlines()]
    points: list[list[float]] = []
    for report in reports[:-1]:
        if report["best"] and (not points or report["best"] != points[-1][1]):
            points.append([round(report["fraction"] * seconds, 2), report["best"]])
    last = reports[-1]
    points.append([last["seconds"], last["raw"]])
    return {"case": case.name, "method": method, "most": last["max_raw"], "points": points}


def as_text(ladder: dict[str, Any]) -> str:
    """Write JSON with one rung, one case and one curve a line."""
    text = json.dumps(ladder | {"rungs": [], "curves": []})
    rungs = ",\n".join(rung_text(rung) for rung in ladder["rungs"])
    lines = ",\n".join(json.dumps(curve) for curve in ladder["curves"])
    text = text.replace('"rungs": []', f'"rungs": [\n{rungs}\n]')
    return text.replace('"curves": []', f'"curves": [\n{lines}\n]') + "\n"


def rung_text(rung: dict[str, Any]) -> str:
    """Write one rung, its cases on lines of their own."""
    cases = ",\n  ".join(json.dumps(case) for case in rung["cases"])
    return json.dumps(rung | {"cases": []}).replace('"cases": []', f'"cases": [\n  {cases}]')


def read_records() -> list[dict[str, Any]]:
    """Read the recorded ladders, by the problem's name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDS.glob("*.json"))]


def page(records: Sequence[dict[str, Any]]) -> str:
    """Write the page of all ladders."""
    return "\n".join([HEAD, *(section(ladder) for ladder in records)])


def section(ladder: dict[str, Any]) -> str:
    """Write one problem: its picture, and a table of methods by groups."""
    slug, groups = ladder["problem"], ladder["rungs"][0]["groups"]
    names = [f"{name.removeprefix('secret/')} ({most(group)})" for name, group in groups.items()]
    head = ["method", *names, "points", "expected", "slowest s", "most MiB"]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *(row(rung) for rung in ladder["rungs"])]
    pictures = [f"![{slug}: points, time and memory of each method]({slug}.svg)"]
    if ladder["curves"]:
        pictures.append(f"![{slug}: raw score against time]({slug}-time.svg)")
    limits = f"{len(ladder['rungs'][0]['cases'])} cases, each with {ladder['seconds']:g} s and {ladder['memory']} MiB."
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([f"## {slug}", limits, table, *pictures]) + "\n"


def most(group: dict[str, float]) -> str:
    """Give the points of a full score in a group."""
    return f"{group['max']:.4g}"


def row(rung: dict[str, Any]) -> list[str]:
    """Write one line of the table."""
    least, upto = rung["expected"]
    expected = f"{least:g}" if least == upto else f"{least:g} to {upto:g}"
    seconds = [case["seconds"] for case in rung["cases"] if case["seconds"] is not None]
    memory = [case["memory"] for case in rung["cases"] if case["memory"] is not None]
    return [
        rung["method"],
        *(f"{group['points']:.4g}" for group in rung["groups"].values()),
        f"{rung['points']:.1f}",
        expected + ("" if rung["as_expected"] else " (no)"),
        f"{max(seconds):.2f}" if seconds else "",
        f"{max(memory):.0f}" if memory else "",
    ]


if __name__ == "__main__":
    sys.exit(main())
