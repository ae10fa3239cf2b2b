"""Tournaments of a game's opponents, played in a process that is bounded and can be killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.core.json_documents import JobResult, TournamentDocument, TournamentParams
from app.judging.service.solver_process import Bounds, SolverFailed, SolverProcess, Summary
from app.programs.solving import SolverReport
from app.sandbox.environment import clean_environment

TOURNAMENT = "tournament"
MODULE = "games"
SECONDS = 3600.0
MEMORY = 512
MOST_MOVES = 2000
"""Moves of a game over both sides: a longer one is lost by whoever is to move."""

OnShown = Callable[[float, str, JobResult], None]


def play_tournament(process: SolverProcess, params: TournamentParams, on_shown: OnShown) -> TournamentDocument:
    """Play all games, passing the cross table so far on; raises SolverFailed, also where the process is killed."""

    def on_report(report: SolverReport | Summary) -> None:
        if "fraction" in report:
            shown = cast(Mapping[str, Any], report)
            table: TournamentDocument = {"game": params["game"], "count": shown["count"], "players": shown["players"]}
            on_shown(report["fraction"], report["note"], {"tournament": table})

    with locked_folder(SOLVER_PREFIX) as folder:
        asked = {key: params[key] for key in ("game", "players", "positions", "rounds", "seed")}
        (folder / "asked.json").write_text(json.dumps({**asked, "most_moves": MOST_MOVES}), encoding="utf-8")
        with (folder / "asked.json").open("rb") as source:
            environment = {**clean_environment(), "TMPDIR": str(folder)}
            process.start([], environment, source=source, bounds=Bounds(MEMORY, folder), module=MODULE)
        ended = process.listen(on_report, SECONDS, f"it took more than {SECONDS:g} seconds")
    if ended.status != 0 or not ended.summaries:
        raise SolverFailed(ended.killed or ended.complaint or f"it ended with status {ended.status}")
    result = cast(Mapping[str, Any], ended.summaries[-1])
    return {key: result[key] for key in ("game", "count", "players", "games")}  # type: ignore[return-value]  # its keys
