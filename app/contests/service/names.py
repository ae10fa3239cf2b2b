"""Names as people write them: a problem by its id or its label, and what a misspelt name is near to.

Nothing is suggested that the viewer may not see: the names to choose from are those of what they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.core.errors import NotFound
from app.core.messages import N_, Message, did_you_mean

if TYPE_CHECKING:
    from app.scoreboard.queries.contest_snapshot import ContestSnapshot


def called(name: str, labels: Mapping[str, str]) -> str | None:
    """The id of the problem that a name stands for, given the labels by id.

    An id comes before a label, and a label as written before one in other letters; None where two would do.
    """
    if name in labels:
        return name
    same = [id_ for id_, label in labels.items() if label == name]
    alike = same or [id_ for id_, label in labels.items() if label.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def shown_labels(snapshot: ContestSnapshot) -> dict[str, str]:
    """The labels, by id, of the problems that this snapshot shows."""
    return {problem.id: snapshot.contest.labels[problem.id] for problem in snapshot.problems}


def problem_called(snapshot: ContestSnapshot, name: str) -> str:
    """The id of the problem that a name stands for; the name itself where it stands for none that is shown."""
    return called(name, shown_labels(snapshot)) or name


def no_problem(snapshot: ContestSnapshot, name: str) -> NotFound:
    """The refusal of a name that stands for no problem that is shown, with the nearest one."""
    known = [problem.id for problem in snapshot.problems]
    return NotFound(
        did_you_mean(
            Message(N_("no problem %(problem)r in contest %(contest)r"), problem=name, contest=snapshot.contest.id),
            name,
            known,
        )
    )
