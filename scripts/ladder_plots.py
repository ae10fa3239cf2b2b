"""The pictures of the ladders: points by group, seconds of each case, and raw scores against time."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

mpl.rcParams.update(
    {
        "svg.hashsalt": "jurado",  # the same picture gives the same bytes
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")  # Paul Tol's bright scheme
MISSED = "#999999"
FASTEST = 1e-3


def draw_ladder(ladder: dict[str, Any], path: Path) -> None:
    """Draw two panels with one row a method: its points, stacked by group, and a dot for each case's seconds."""
    rungs = ladder["rungs"]
    figure = Figure(figsize=(9, 1.3 + 0.42 * len(rungs)), layout="constrained")
    points, seconds = figure.subplots(1, 2, sharey=True)
    names = [rung["method"] for rung in rungs]
    draw_points(points, ladder)
    draw_seconds(seconds, ladder)
    points.set_yticks(range(len(names)), names)
    points.invert_yaxis()
    figure.suptitle(f"{ladder['problem']}: {len(rungs[0]['cases'])} cases", fontsize=11)
    save(figure, path)


def draw_points(axes: Axes, ladder: dict[str, Any]) -> None:
    """Stack the groups' points."""
    groups = [name for name, group in ladder["rungs"][0]["groups"].items() if group["max"] > 0]
    left = [0.0] * len(ladder["rungs"])
    for at, name in enumerate(groups):
        widths = [rung["groups"][name]["points"] for rung in ladder["rungs"]]
        axes.barh(range(len(widths)), widths, left=left, color=COLOURS[at % len(COLOURS)], label=name.split("/")[-1])
        left = [one + width for one, width in zip(left, widths, strict=True)]
    for at, total in enumerate(left):
        axes.text(total + 1, at, f"{total:.1f}", va="center")
    axes.set_xlim(0, 112)
    axes.set_xlabel("points")
    if len(groups) > 1:
        axes.legend(loc="upper right", fontsize=7, title="groups", title_fontsize=7)


def draw_seconds(axes: Axes, ladder: dict[str, Any]) -> None:
    """Draw a dot for each case, hollow where it is unsolved; the dashed line is the limit."""
    for at, rung in enumerate(ladder["rungs"]):
        for case in rung["cases"]:
            if case["seconds"] is not None:
                good = case["accepted"]
                fill = COLOURS[0] if good else "none"
                spot = max(case["seconds"], FASTEST)
                axes.plot(spot, at, "o", ms=5, alpha=0.7, mfc=fill, mec=COLOURS[0] if good else MISSED)
    axes.axvline(ladder["seconds"], color=COLOURS[1], linestyle="--", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("seconds of each case (hollow: no answer; dashed: the limit)")


def draw_curves(ladder: dict[str, Any], path: Path) -> None:
    """Draw a panel a case: the best raw score so far against seconds, a line for each method."""
    by_case: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for curve in ladder["curves"]:
        by_case[curve["case"]].append(curve)
    figure = Figure(figsize=(3.2 * len(by_case), 3.0), layout="constrained")
    panels = figure.subplots(1, len(by_case), squeeze=False)[0]
    for axes, (case, curves) in zip(panels, by_case.items(), strict=True):
        for at, curve in enumerate(curves):
            times, best = zip(*curve["points"], strict=True)
            axes.step([max(t, 0.05) for t in times], best, where="post", color=COLOURS[at], label=curve["method"])
        if curves[0]["most"] is not None:
            axes.axhline(curves[0]["most"], color=MISSED, linestyle=":", linewidth=1)
        axes.set_xscale("log")
        axes.set_title(case, fontsize=9)
        axes.set_xlabel("seconds")
    panels[0].set_ylabel("best raw score (dotted: bound)")
    panels[0].legend(fontsize=7)
    figure.suptitle(f"{ladder['problem']}: raw score against time", fontsize=11)
    save(figure, path)


def draw_mean_share(curves: dict[str, list[tuple[float, float]]], most: float, title: str, path: Path) -> None:
    """Draw the mean share of the possible points against seconds, a line a method; dashed: the mean of the maxima."""
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    for at, (method, curve) in enumerate(curves.items()):
        seconds, shares = zip(*curve, strict=True)
        axes.plot(seconds, shares, color=COLOURS[at % len(COLOURS)], drawstyle="steps-post", label=method)
    axes.axhline(most, color=MISSED, linestyle="--", linewidth=1, label="proven maximum")
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("mean share of the points")
    axes.legend(loc="lower right", fontsize=7)
    axes.set_title(title, fontsize=10)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write the SVG without a date."""
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": "Jurado"})
    text = "\n".join(line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    path.write_text(text + "\n", encoding="utf-8")
