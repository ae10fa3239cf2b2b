"""Contents of a new service: the schema, the bundled problems, and at its first start an admin.

Everything is looked for before it is made, so that starting again changes nothing that an admin has changed.
"""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.contests import queries as contests_queries
from app.contests.schemas import ContestSettings, Limits, PerWindow, Rule
from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.db.migrate import upgrade
from app.core.faults import PackageErrors, of_severity
from app.core.files.files import Files
from app.core.files.open_files import open_files
from app.core.files.stored_bytes import StoreUnavailable
from app.core.passwords import hash_password, make_password, weakness
from app.core.settings import Settings
from app.core.shipped import shipped
from app.domain.contests import Kind
from app.packages import catalog, read, trials, verify
from app.problems.queries import problems
from app.tables import AccountRow, ContestProblemRow, ContestRow, ProblemRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.bootstrap")

ADMIN = "admin"
PRACTICE = "practice"
# In practice the judges' answers take part in BEST: otherwise the first answer to a problem has all points.
WITH_REFERENCE = Rule(reference_counts=True)
DEMO = "demo"
GAMES = "games"
PRACTICE_START = datetime(2026, 1, 1, tzinfo=UTC)
A_CENTURY = timedelta(days=36_525)
DEMO_DURATION = timedelta(days=30)
# A submission to a problem each six seconds for ten minutes is a script's.
OPEN_LIMITS = Limits(per_window=PerWindow(count=100, seconds=600))
OPEN_TEAM_BYTES = 256 * 2**20
# Whoever has an account may send to the contests that are there from the start, so that their share is smaller.
OPEN_CONTEST_BYTES = 16 * 2**30
DEMO_RULES = {
    "comesolo": Rule(kind="absolute", counting="best-case", carry="best"),
    "rollingballs": Rule(kind="relative", counting="last", carry="best"),
}
COLOURS = ("#e6194b", "#3cb44b", "#ffe119", "#4363d8", "#f58231", "#911eb4", "#42d4f4", "#f032e6")


def initialise(settings: Settings) -> tuple[Database, Files]:
    """Open the database and the files, brought up to date and holding what is bundled."""
    settings.home.mkdir(parents=True, exist_ok=True)
    upgrade(settings.database, settings.timeouts)
    database = Database(settings.database, settings.timeouts, shared=settings.distributed)
    files = open_files(settings)
    try:
        files.tidy()
    except StoreUnavailable as error:
        log.warning("files are not tidied up", error=str(error))
    prepare(database, files, settings)
    return database, files


def prepare(database: Database, files: Files, settings: Settings) -> None:
    """Bring in what is missing: bundled problems, their place in the open contests, and at first an admin."""
    imported = import_missing(database, files, catalog.bundled())
    played = import_missing(database, files, catalog.bundled_games())
    with database.write() as session:
        if not accounts_queries.accounts(session):
            imported = [row.id for row in problems.problems(session) if row.id in catalog.bundled()]
            session.add(_open_contest(PRACTICE, "Practice", "Practice with every bundled problem"))
            now = utc_now().replace(second=0, microsecond=0)
            name = "Demo: partial points and relative points in one contest"
            session.add(_open_contest(DEMO, "Demo", name, now, DEMO_DURATION))
            session.flush()
            _fill(session, DEMO, [slug for slug in DEMO_RULES if session.get(ProblemRow, slug) is not None], DEMO_RULES)
            make_admin(session, settings.admin_password)
        if contests_queries.get(session, PRACTICE) is not None:
            # Only what is new: a problem an admin took out is perhaps a real contest's by now, and no secret here.
            _fill(
                session,
                PRACTICE,
                imported,
                {each.id: WITH_REFERENCE for each in problems.problems(session) if _is_relative(each)},
            )
        if played and contests_queries.get(session, GAMES) is None:
            # A contest of that name which is there is someone's own, or was made with the games that it has.
            session.add(_open_contest(GAMES, "Games", "Games: win against the judge, move by move"))
            session.flush()
            _fill(session, GAMES, played, {})


def import_missing(database: Database, files: Files, packages: dict[str, Path]) -> list[str]:
    """Import the packages that are no problems yet, each in a transaction of its own; faults are logged.

    Returns the slugs of those that were imported.
    """
    imported = []
    # The project's own packages are held to this by its tests: running their checkers here would only delay the start.
    desk = None if catalog.problems_folder() == shipped("problems") else trials.LocalDesk()
    with database.read() as session:
        missing = [slug for slug in packages if session.get(ProblemRow, slug) is None]
    for slug in missing:
        try:
            package = read.read_package(packages[slug])
            faults = verify.examine(package, desk).faults
        except PackageErrors as error:
            faults = error.errors
        for fault in faults:
            log.warning("a bundled package is faulty", problem=slug, severity=fault.severity, fault=str(fault))
        if of_severity(faults, "error"):
            continue
        with database.write() as session:
            problems.import_package(session, files, package)
        imported.append(slug)
        log.info("imported", problem=slug)
    return imported


def make_admin(session: Session, password: str) -> None:
    """Keep the account `admin`. A password that is made here is said before it is kept: better said than lost.

    Raises ValueError for one that is easy to guess.
    """
    if password and (expected := weakness(password, ADMIN)):
        raise ValueError(f"admin_password: expected {expected}, found a secret")
    if not password:
        password = make_password()
        text = f"jurado: created the account {ADMIN} with the password {password} (shown only once)"
        print(text, file=sys.stderr, flush=True)
    session.add(
        AccountRow(id=ADMIN, username=ADMIN, password_hash=hash_password(password), type="admin", created=utc_now())
    )


def _is_relative(problem: ProblemRow) -> bool:
    return problem.settings["scoring"]["kind"] == Kind.RELATIVE


def _open_contest(
    id_: str, name: str, formal_name: str, start: datetime = PRACTICE_START, duration: timedelta = A_CENTURY
) -> ContestRow:
    return ContestRow(
        id=id_,
        name=name,
        formal_name=formal_name,
        start_time=start,
        duration_ms=duration // timedelta(milliseconds=1),
        open_to_all=True,
        settings=ContestSettings(team_bytes=OPEN_TEAM_BYTES, contest_bytes=OPEN_CONTEST_BYTES, limits=OPEN_LIMITS),
    )


def _fill(session: Session, contest_id: str, slugs: Sequence[str], rules: Mapping[str, Rule]) -> None:
    """Put the problems that are missing behind those that are in the contest."""
    entries = contests_queries.entries(session, contest_id)
    labels = {entry.label for entry in entries}
    known = {entry.problem_id for entry in entries}
    ordinal = max((entry.ordinal for entry in entries), default=-1)
    for slug in slugs:
        if slug in known:
            continue
        ordinal += 1
        label = contests_queries.free_label(labels)
        labels.add(label)
        session.add(
            ContestProblemRow(
                contest_id=contest_id,
                problem_id=slug,
                label=label,
                ordinal=ordinal,
                rgb=COLOURS[ordinal % len(COLOURS)],
                rule=rules.get(slug, Rule()),
            )
        )
