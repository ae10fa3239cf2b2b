"""What `jurado admin contest export` and `import` say of a contest package, in lines for people."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

SECONDS = 3600.0
"""An import answers once every submission has been judged."""
HOW = {
    "equal": "is here already, and equal",
    "new": "has been brought in",
    "version": "is another one here; the package's is used, as",
    "here": "is used as it is here, without a comparison",
}


def package_lines(data: bytes) -> Iterator[str]:
    """What a package that was written holds."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        problems, submissions, rows = (
            json.loads(archive.read(f"{name}.json")) for name in ("problems", "submissions", "scoreboard")
        )
    for problem in problems:
        yield f"problem {problem['id']}: {problem['test_data_count']} test cases, as they are judged with now"
    yield f"{len(submissions)} submissions, and a board of {len(rows['rows'])} teams to compare with"


def import_lines(imported: Mapping[str, Any]) -> Iterator[str]:
    """What an import did, and how the boards compare."""
    for problem in imported["problems"]:
        other = f" {problem['id']}" if problem["how"] == "version" else ""
        yield f"problem {problem['package_id']} {HOW[problem['how']]}{other} ({problem['test_cases']} test cases)"
        yield from _difference_lines(problem)
    yield f"{imported['submissions']} submissions have been judged"
    board = imported["board"]
    if board is None:
        yield "no board was compared: the package has none, or its submissions were left out"
        return
    result = "equal to the package's" if board["equal"] else "NOT the package's"
    yield f"the board is {result}: {board['rows']} rows and {board['raw_scores']} raw scores were compared"
    yield from _difference_lines(board)
    for count, text in (
        (board["other_teams"], "teams of this server take part too, as the contest is open to all"),
        (board["unjudged"], "submissions had not been judged at the export, and have been judged here"),
        (board["judge_errors"], "answers on which the judge had failed have been judged again here"),
    ):
        if count:
            yield f"{count} {text}"


def _difference_lines(listed: Mapping[str, Any]) -> Iterator[str]:
    for each in listed["differences"]:
        yield f"  {each['where']}: in the package {each['expected']}, here {each['found']}"
    if listed["more_differences"]:
        yield f"  and {listed['more_differences']} more differences"
