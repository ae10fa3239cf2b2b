"""Names as people write them: a problem by its id or its label, and what a misspelt name is near to.

Nothing is suggested that the viewer may not see: the names to choose from are those of what they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from app.core.errors import NotFound
from app.core.messages import N_, Message

if TYPE_CHECKING:
    from app.core.service import Service
    from app.scoreboard.queries.contest_snapshot import ContestSnapshot

NEAR = 0.5
LONGEST_NAME = 100
# Names that are compared with a misspelt one; with more, anybody could have thousands compared by each request.
MOST_NAMES = 300


class NoContest(NotFound):
    """The contest is unknown; the reply suggests the nearest one, as everybody may list all of them."""

    def __init__(self, contest_id: str) -> None:
        super().__init__(N_("no contest %(contest)r"), contest=contest_id)
        self._contest_id = contest_id

    async def full_message(self, service: Service) -> Message:
        """Return the message with the nearest contest."""
        return did_you_mean(self.message, self._contest_id, await run_sync(_contest_ids, service))


def _contest_ids(service: Service) -> list[str]:
    from app.contests.queries import contests

    with service.database.read() as session:
        return [row.id for row in contests.contests(session)]


def did_you_mean(message: Message, name: str, known: Iterable[str]) -> Message:
    """Return the refusal of a name with the nearest known name, or the message itself where none is near."""
    if len(name) > LONGEST_NAME:
        return message
    by_lower = {each.lower(): each for each in known}
    if len(by_lower) > MOST_NAMES:
        return message
    near = get_close_matches(name.lower(), by_lower, 1, NEAR)
    if not near:
        return message
    return Message(N_("%(sentence)s: did you mean %(name)r?"), sentence=message, name=by_lower[near[0]])


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
