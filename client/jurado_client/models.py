"""What the server answers, typed. Fields are the API's properties; properties without a field are left out."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self


class Model:
    """An object of a reply."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the object; raises KeyError for a property that it must have."""
        names = {each.name for each in fields(cls)}  # type: ignore[arg-type] # subclasses are dataclasses
        return cls(**{name: value for name, value in document.items() if name in names})


def as_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as HTML."""

    def line(tag: str, values: Sequence[object]) -> str:
        cells = "".join(f"<{tag}>{html.escape('' if each is None else str(each))}</{tag}>" for each in values)
        return f"<tr>{cells}</tr>"

    return f"<table>{line('th', heads)}{''.join(line('td', row) for row in rows)}</table>"


class Tabular:
    """An object that notebooks show as a table."""

    heads: Sequence[str]

    def rows_of_table(self) -> Iterator[Sequence[object]]:
        """Yield the rows of the table."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return as_table(self.heads, self.rows_of_table())

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame; raises ImportError without pandas."""
        import pandas as pd

        return pd.DataFrame(list(self.rows_of_table()), columns=list(self.heads))


@dataclass(frozen=True)
class Contest(Model):
    """A contest; times are ISO 8601, durations h:mm:ss."""

    id: str
    name: str
    formal_name: str = ""
    start_time: str | None = None
    duration: str = ""
    scoreboard_freeze_duration: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem(Model):
    """A problem of a contest."""

    id: str
    label: str
    name: str
    ordinal: int = 0
    test_data_count: int = 0
    max_score: float | None = None


@dataclass(frozen=True)
class CaseResult(Model):
    """The result of one test case; `raw` is its raw score, `message` the checker's."""

    name: str
    group: str | None = None
    max_points: float = 0.0
    points: float | None = None
    verdict: str | None = None
    raw: float | None = None
    carried_over_from: str | None = None
    message: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the object; the message as English text."""
        message = document.get("message") or {}
        return super().of({**document, "message": message.get("text", "")})


@dataclass(frozen=True)
class Report(Model, Tabular):
    """The report on a submission; `state` is done once it is judged, and `cases` has the results by name."""

    submission_id: str
    problem_id: str
    state: str
    time: str = ""
    points: float | None = None
    max_points: float = 0.0
    verdict: str | None = None
    error: str | None = None
    cases: Mapping[str, CaseResult] = field(default_factory=dict)

    heads = ("case", "verdict", "raw", "points", "of", "message")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the object."""
        cases = [CaseResult.of(each) for each in document.get("cases", ())]
        verdict = (document.get("judgement") or {}).get("judgement_type_id")
        return super().of({**document, "verdict": verdict, "cases": {each.name: each for each in cases}})

    @property
    def is_done(self) -> bool:
        """Whether the submission is judged."""
        return self.state == "done"

    def rows_of_table(self) -> Iterator[Sequence[object]]:
        """Yield a row for each case."""
        for each in self.cases.values():
            yield each.name, each.verdict, each.raw, each.points, each.max_points, each.message


@dataclass(frozen=True)
class Row(Model):
    """A team's row: its points in total and by problem."""

    rank: int
    team_id: str
    points: float
    problems: Mapping[str, float]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the object."""
        problems = {each["problem_id"]: each.get("score", 0.0) for each in document["problems"]}
        return cls(document["rank"], document["team_id"], document["score"]["score"], problems)


@dataclass(frozen=True)
class Scoreboard(Model, Tabular):
    """A version of the scoreboard, rows by rank."""

    time: str
    contest_time: str
    version: str = ""
    rows: Sequence[Row] = ()

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the object."""
        return super().of({**document, "rows": [Row.of(each) for each in document["rows"]]})

    @property
    def heads(self) -> Sequence[str]:  # type: ignore[override] # the columns depend on the contest
        """The heads of the table: a column for each problem."""
        return ("rank", "team", "points", *(self.rows[0].problems if self.rows else ()))

    def rows_of_table(self) -> Iterator[Sequence[object]]:
        """Yield a row for each team."""
        for each in self.rows:
            yield each.rank, each.team_id, each.points, *each.problems.values()


@dataclass(frozen=True)
class History(Model, Tabular):
    """Points and ranks over time, by team."""

    time: str
    contest_time: str
    teams: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    heads = ("team", "contest_time", "points", "rank")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the object."""
        return super().of({**document, "teams": {each["team_id"]: each["points"] for each in document["teams"]}})

    def rows_of_table(self) -> Iterator[Sequence[object]]:
        """Yield a row for each change of a team."""
        for team, past in self.teams.items():
            for each in past:
                yield team, each["contest_time"], each["score"], each["rank"]


@dataclass(frozen=True)
class Game(Model):
    """A game against the judge: whose `turn` it is, the `position`, and the `legal` moves where the game lists them."""

    id: str
    problem_id: str
    game: str
    over: bool
    turn: str | None = None
    next_move: int = 0
    position: Mapping[str, Any] = field(default_factory=dict)
    legal: Sequence[Any] | None = None
    winner: str | None = None
    ending: str | None = None


@dataclass(frozen=True)
class Event(Model):
    """An event of the feed: the object `data` of a collection `type`; None if it was removed. `token` resumes there."""

    type: str
    data: Any = None
    id: str | None = None
    token: str = ""
