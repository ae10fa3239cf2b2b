"""Rows of a contest package, put into the tables in the order in which its objects refer to each other."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from sqlalchemy.orm import Session

from app import tables
from app.accounts import queries as queries_accounts
from app.accounts.schemas import AccountBody
from app.accounts.service import registration
from app.archive.service import own as contest_own
from app.archive.service import package_files, submissions
from app.archive.service.versions import Version
from app.authoring.service.contest_problems import EntryBody
from app.contests import queries as contests_queries
from app.contests.queries import clock
from app.contests.schemas import ContestBody, ContestView
from app.contests.service import changes
from app.contests.service import commands as service_commands
from app.core.bodies import Document, Item
from app.core.clics import ID, format_time
from app.core.clock import utc_now
from app.core.db import by_id
from app.core.faults import FaultList
from app.core.messages import ServiceError, fault
from app.core.service import Service
from app.domain.contests import Clock, Pause
from app.messages.service import clarifications, commentary
from app.problems.service.problems import Problem
from app.scoreboard.service import scoreboard
from app.teams import queries as teams_queries
from app.teams.service import directory, team_changes, teams

M = TypeVar("M", bound=BaseModel)
# Properties of problems that their packages decide, not the contest.
OF_PROBLEMS = frozenset(
    ("name", "uuid", "time_limit", "memory_limit", "output_limit", "code_limit", "test_data_count", "max_score")
) | frozenset(("package", "statement", "attachments"))
MOST_PAUSES = 1000


@dataclass
class Importer:
    """Puts one package into one transaction. `faults` are all that is wrong: whoever calls then rolls back."""

    session: Session
    service: Service
    contents: package_files.Contents
    account_id: str
    hashes: Mapping[str, str | None]
    chosen: Mapping[str, Version]
    faults: FaultList
    replace: bool
    submitted: Mapping[str, contest_own.Submitted] = field(default_factory=dict)
    own: contest_own.Own = field(init=False)
    known: Mapping[str, Collection[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read what the package has beyond CLICS."""
        self.own = contest_own.read(self.contents.own, self.faults)

    def keep(self, contest_id: str | None) -> tables.ContestRow:
        """Keep everything; returns the contest, even where there are faults."""
        contest = self._contest(contest_id)
        for kind in directory.DIRECTORY_KINDS:
            if kind.name != "persons":
                self._directory(contest, kind)
        self._main_group(contest)
        self._problems(contest)
        self._teams(contest)
        self._directory(contest, directory.PERSONS)
        self._accounts()
        if not self.faults:  # else most of this would refer to what is not there
            keeper = submissions.SubmissionKeeper(
                self.session, self.service, self.contents, self.account_id, self.own.refused, self.faults
            )
            self.submitted = keeper.keep_all(contest)
            self.known = self._known_ids(contest)
            self._clarifications(contest)
            self._awards(contest)
            self._commentary(contest)
            self._own(contest)
        return contest

    @contextmanager
    def _file(self, name: str) -> Iterator[None]:
        """Note what is refused within as faults of a file."""
        try:
            with self.session.begin_nested():
                yield
        except ServiceError as refused:
            for each in refused.errors or [{"where": "", "message": refused.message}]:
                self.faults.note({"file": name, **each})

    def _model(self, model: type[M], value: Mapping[str, object], file: str, where: str) -> M | None:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.faults.extend(
                {"file": file, **fault(each, at=where or None)} for each in error.errors(include_url=False)
            )
            return None

    def _contest(self, contest_id: str | None) -> tables.ContestRow:
        shown = set(ContestView.model_fields) - set(ContestBody.model_fields)
        given = {name: value for name, value in self.contents.contest.items() if name not in shown}
        given = {**given, "id": contest_id or given.get("id"), "main_scoreboard_group_id": None}
        body = self._model(ContestBody, given, "contest.json", "")
        id_ = (body.id if body is not None else None) or "imported"
        if contests_queries.get(self.session, id_) is not None:
            self.faults.add("contest.json", "id", "a new contest (id= gives it another id)", repr(id_))
            id_ = "imported-with-faults"
        row = tables.ContestRow(id=id_, name=id_, duration_ms=1, settings={}, details={}, revealed=[])
        with self._file("contest.json"):
            if body is not None:
                row = changes.make(body, id_, self._pauses(body))
                row.details = {}
                service_commands.change_details(self.session, self.service.files, None, row, body)
        if (final := self.contents.state.finalized) is not None:
            end = clock(row).end  # results are final from a moment after the end on, and only where that has come
            if end is None or not end <= final <= utc_now():
                expected = "a time from the end of the contest on that has passed, or null"
                self.faults.add("state.json", "finalized", expected, format_time(final))
            row.finalized = final
        self.session.add(row)
        self.session.flush()
        return row

    def _pauses(self, body: ContestBody) -> list[Pause]:
        """The intervals that were taken out of the contest's time, in order; the last one may last still."""
        pauses: list[Pause] = []
        for at, each in enumerate(self.contents.state.removed_intervals or ()):
            pause = Pause(each.start, each.end)
            before = Clock(body.start_time, body.duration, pauses=tuple(pauses))
            if at == MOST_PAUSES or not _follows(pause, before):
                expected = (
                    f"one of {MOST_PAUSES} intervals at most, with a start within the contest and after the others"
                )
                self.faults.add("state.json", f"removed_intervals[{at}]", expected, format_time(each.start))
                break
            pauses.append(pause)
        return pauses

    def _main_group(self, contest: tables.ContestRow) -> None:
        group = self.contents.contest.get("main_scoreboard_group_id")
        known_ids = {each["id"] for each in self.contents.objects["groups"]}
        if group is not None and not (isinstance(group, str) and group in known_ids):
            self.faults.add("contest.json", "main_scoreboard_group_id", "a group of groups.json", repr(group))
            return
        contest.main_scoreboard_group_id = group

    def _directory(self, contest: tables.ContestRow, kind: directory.DirectoryKind) -> None:
        objects = self.contents.objects[kind.name]
        document = Document([Item(f"[{at}]", each) for at, each in enumerate(objects)])
        with self._file(f"{kind.name}.json"):
            directory.store_all(self.session, self.service.files, contest.id, kind, document, replace=self.replace)

    def _problems(self, contest: tables.ContestRow) -> None:
        own = set(EntryBody.model_fields)
        labels: set[str] = set()
        ignored = (set(Problem.model_fields) | OF_PROBLEMS) - own
        for at, each in enumerate(self.contents.objects["problems"]):
            given = {name: value for name, value in each.items() if name not in ignored}
            body = self._model(EntryBody, given, "problems.json", f"[{at}]")
            if body is None or self.session.get(tables.ProblemRow, body.id) is None:
                continue  # it is noted already
            label = body.label or contests_queries.free_label(labels)
            row = tables.ContestProblemRow(contest_id=contest.id, problem_id=body.id, label=label)
            row.ordinal = at + 1 if body.ordinal is None else body.ordinal
            row.rgb, row.color = body.rgb, body.color
            row.rule = body.rule
            row.version = next((each.pin for each in self.chosen.values() if each.id == body.id), None)
            if label in labels:
                self.faults.add("problems.json", f"[{at}].label", "another label than before", repr(label))
                continue
            labels.add(label)
            self.session.add(row)
        self.session.flush()

    def _teams(self, contest: tables.ContestRow) -> None:
        shown = set(teams.TeamView.model_fields) - set(teams.TeamBody.model_fields)
        objects = [_only(each, each.keys() - shown) for each in self.contents.objects["teams"]]
        document = Document([Item(f"[{at}]", each) for at, each in enumerate(objects)])
        with self._file("teams.json"):
            rows, _ = team_changes.store_teams(self.session, self.service.files, document, replace=self.replace)
            self.session.flush()
            if not contest.open_to_all or contest.finalized is not None:  # a final one is of its own teams alone
                teams_queries.enrol(self.session, contest.id, [row.id for row in rows])
            self._decide(contest)

    def _decide(self, contest: tables.ContestRow) -> None:
        """Take over what this contest decided about its teams: a team may take part in others."""
        for at, each in enumerate(self.contents.objects["teams"]):
            decided = {name: each[name] for name in ("disqualified", "extra_time") if each.get(name) is not None}
            body = self._model(team_changes.ContestTeamBody, decided, "teams.json", f"[{at}]")
            if body is not None and (body.disqualified or body.extra_time):
                team_changes.decide(self.session, contest.id, each["id"], body)

    def _accounts(self) -> None:
        """Add accounts; one that is here already for the same stays as it is, as an archive holds no password.

        Accounts that may see all are left out: whoever made the package would have one here, with a password of theirs.
        """
        bodies: list[tuple[AccountBody, str]] = []
        accounts = {row.id: row for row in queries_accounts.accounts(self.session)}
        for at, each in enumerate(self.contents.objects["accounts"]):
            body = self._model(AccountBody, each, "accounts.json", f"[{at}]")
            old = accounts.get(each["id"])
            may_see_all = {body and body.type, old and old.type} & {"admin", "judge"}
            if body is not None and not may_see_all and not (old is not None and _same(old, body)):
                bodies.append((body, f"[{at}]"))
        with self._file("accounts.json"):
            registration.refuse_links(self.session, bodies, replace=self.replace)
            for body, _ in bodies:
                registration.put(self.session, body, self.hashes.get(body.id or ""), accounts)
            self.session.flush()

    def _clarifications(self, contest: tables.ContestRow) -> None:
        file = "clarifications.json"
        for at, each in enumerate(self.contents.objects["clarifications"]):
            body = self._model(clarifications.ClarificationBody, each, file, f"[{at}]")
            when = submissions.times(clock(contest), each, file, f"[{at}]", self.faults)
            self._check_links(file, f"[{at}]", each)
            if body is not None and when is not None:
                values = {**dict(body), "time": when[0], "contest_time_ms": when[1]}
                del values["contest_time"]
                self.session.add(tables.ClarificationRow(contest_id=contest.id, **values))

    def _awards(self, contest: tables.ContestRow) -> None:
        """Add the awards that are given to teams or set by hand; the board decides the others."""
        for at, each in enumerate(self.contents.objects["awards"]):
            if each.get("team_ids") is None:
                continue
            body = self._model(scoreboard.AwardBody, each, "awards.json", f"[{at}]")
            self._check_links("awards.json", f"[{at}]", each)
            if body is not None:
                self.session.add(tables.AwardRow(contest_id=contest.id, deleted=False, **dict(body)))

    def _commentary(self, contest: tables.ContestRow) -> None:
        file = "commentary.json"
        fields = commentary.CommentaryBody.model_fields.keys()
        for at, each in enumerate(self.contents.objects["commentary"]):
            body = self._model(commentary.CommentaryBody, _only(each, fields), file, f"[{at}]")
            when = submissions.times(clock(contest), each, file, f"[{at}]", self.faults)
            self._check_links(file, f"[{at}]", _only(each, each.keys() - {"submission_ids"}))
            if not ID.fullmatch(each["id"]):
                self.faults.add(file, f"[{at}].id", "an id", repr(each["id"]))
            if body is not None and when is not None:
                details = body.model_dump(exclude={"message"}, exclude_none=True)
                if each.get("source_id") is not None:
                    details["source_id"] = each["source_id"]
                row = tables.CommentaryRow(id=each["id"], contest_id=contest.id, message=body.message, details=details)
                row.time, row.contest_time_ms = when
                self.session.add(row)

    def _own(self, contest: tables.ContestRow) -> None:
        """Keep what CLICS has no property for."""
        contest_own.check(self.own, self.submitted, self.faults)
        for name, bodies in self.own:
            for at, body in enumerate(bodies):
                self._check_links(contest_own.FILE, f"{name}[{at}]", dict(body))
        if not self.faults:
            contest_own.keep(self.session, contest, self.own, self.submitted)

    def _known_ids(self, contest: tables.ContestRow) -> dict[str, Collection[str]]:
        """The ids that may be referred to, by the word that the referring property begins with."""
        team_ids = {row.id for row in teams_queries.taking_part(self.session, contest)}
        return {
            **dict.fromkeys(("from_team", "to_team", "team"), team_ids),
            "to_group": self._ids("groups"),
            "group": by_id.ids(self.session, tables.GroupRow),
            "account": {row.id for row in queries_accounts.accounts(self.session)},
            "problem": {entry.problem_id for entry in contests_queries.entries(self.session, contest.id)},
            "source": self._ids("persons"),
            "submission": self._ids("submissions"),
            "reply_to": self._ids("clarifications"),
        }

    def _ids(self, name: str) -> set[str]:
        return {each["id"] for each in self.contents.objects[name]}

    def _check_links(self, file: str, where: str, each: Mapping[str, object]) -> None:
        for name, value in each.items():
            stem = name.removesuffix("s").removesuffix("_id")
            if value is None or stem not in self.known or not name.removesuffix("s").endswith("_id"):
                continue
            for id_ in value if isinstance(value, list) else [value]:
                if not isinstance(id_, str) or id_ not in self.known[stem]:
                    self.faults.add(file, f"{where}.{name}", "what is in the contest", repr(id_))


def _only(document: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
    return {name: value for name, value in document.items() if name in names}


def _follows(pause: Pause, before: Clock) -> bool:
    """Whether this may be the next pause of a contest with this clock."""
    last = before.pauses[-1].end if before.pauses else before.start
    if last is None or before.end is None or pause.start > utc_now():
        return False
    end = pause.end or utc_now()
    return last <= pause.start <= end <= utc_now() and pause.start < before.end


def _same(row: tables.AccountRow, body: AccountBody) -> bool:
    names = ("username", "type", "team_id", "person_id")
    return body.password is None and all(getattr(row, name) == getattr(body, name) for name in names)
