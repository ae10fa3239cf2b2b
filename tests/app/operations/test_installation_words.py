"""What is told of an installation, and what to do about it, stands in the reader's language on the health page."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.core.db.clock import DatabaseFacts
from app.core.messages import Message
from app.core.pages import languages
from app.core.pages.languages import translate
from app.judging.service.broker import QueueFacts
from app.operations.queries import JudgeError, Recent
from app.operations.service import findings as declaring
from app.operations.service.findings import Part, findings
from app.operations.service.readiness import FileAtFault, LoopReport, Ready, StoredFiles
from app.operations.service.status import Status
from app.sandbox.sandbox import USER
from app.tables import LastBackupRow, ProcessRow

OTHERS = [each for each in languages.LANGUAGES if each != languages.SOURCE]
TIME = datetime(2026, 11, 23, 10, tzinfo=UTC)
ILL = Ready(
    ready=False,
    database=False,
    graders=0,
    grader_deaths=1,
    unprotected=["seccomp"],
    sandbox={USER: "the service runs as root"},
    waiting=3,
    oldest_seconds=100.0,
    damaged_files=1,
    room=False,
    loops={"jobs": LoopReport(last_success=None, failures=1, error="the database is away")},
    clock_ahead_seconds=9.0,
)

WELL = Ready(
    ready=True,
    database=True,
    graders=1,
    grader_deaths=0,
    unprotected=[],
    sandbox={},
    waiting=None,
    oldest_seconds=None,
    damaged_files=0,
    room=True,
    loops={},
    clock_ahead_seconds=0.0,
)


def process(kind: str, *, alive: bool, version: str = "1") -> ProcessRow:
    """A process whose graders die."""
    seen = TIME if alive else TIME - timedelta(minutes=1)
    facts = {"host": "h", "pid": 1, "started": TIME, "graders": 2, "deaths": 3, "at_hand": 4}
    return ProcessRow(kind=kind, seen=seen, version=version, **facts)


def ill(*, distributed: bool, backup: LastBackupRow | None, broker_error: str = "") -> Status:
    """An installation of which no part is well."""
    queue = QueueFacts(name="jurado.judgements", ready=1, consumers=0)
    return Status(
        now=TIME,
        distributed=distributed,
        processes=[
            process("server", alive=True),
            process("server", alive=True, version="2"),
            process("server", alive=False),
            process("worker", alive=False),
        ],
        database=DatabaseFacts(
            kind="PostgreSQL",
            version="17",
            size=1,
        ),
        queue=(broker_error or queue) if distributed else None,
        recent=Recent(300.0, 1.0, 1.0 if distributed else None, 2.0),
        waiting_again=1,
        errors=(1, JudgeError("7", "c", "it broke: (x)")),
        running=[],
        files_place="/f",
        room=(1, 10**12),
        backup=backup,
    )


def backup(*, hours: float, faulty: int) -> LastBackupRow:
    """The last backup."""
    return LastBackupRow(made=TIME - timedelta(hours=hours), place="/b", files=1, size=1, faulty=faulty)


STATES = (
    ill(distributed=True, backup=None),
    ill(distributed=True, backup=backup(hours=99, faulty=0), broker_error="refused"),
    ill(distributed=True, backup=backup(hours=1, faulty=2)),
    ill(distributed=True, backup=backup(hours=1, faulty=0)),
    ill(distributed=False, backup=None),
)


STORED = StoredFiles(
    faults=[FileAtFault(sha256="0" * 64, error="gone", waiting=1)],
    read=1,
    bytes_read=1,
    orphans_removed=0,
    ended="2026-11-23T10:00:00.000Z",
)


def every_part(state: Status) -> list[Part]:
    """Every part."""
    return findings(ILL, STORED, (1, 10**12), state)


def ids(*messages: object) -> set[str]:
    """The ids of messages, and of those in their values."""
    known = [each for each in messages if isinstance(each, Message)]
    return {each.id for each in known}.union(*(ids(*each.values.values()) for each in known))


def test_the_states_that_are_tried_bring_out_every_advice_and_figure() -> None:
    tree = ast.parse(Path(declaring.__file__).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "N_"]
    declared = {each.value for call in calls for each in call.args if isinstance(each, ast.Constant)}
    tried = [*findings(WELL, STORED.model_copy(update={"ended": None}), (10**12, 10**12), None)]
    tried += [each for state in STATES for each in every_part(state)]
    assert declared <= ids(*(message for each in tried for message in (each.name, each.figure, each.advice)))


def parts(state: Status) -> list[tuple[str, str, str]]:
    """The mark of every part, its name and its advice in the language that is spoken."""
    return [(each.mark, translate(each.name), translate(each.advice or "")) for each in every_part(state)]


@pytest.mark.parametrize("spoken", OTHERS)
def test_every_part_has_words_in_every_language(spoken: str) -> None:
    for state in STATES:
        with languages.speaking(languages.SOURCE):
            english = parts(state)
        with languages.speaking(spoken):
            shown = parts(state)
        for (mark, name, advice), (mark_then, english_name, english_advice) in zip(shown, english, strict=True):
            assert mark == mark_then
            assert name != english_name or name == "Disk"  # which is a Slovak word
            assert advice != english_advice or not advice


def test_without_workers_or_with_a_broker_that_is_away_the_page_says_what_is_wrong() -> None:
    marks = {name: mark for mark, name, _ in parts(STATES[1])}
    assert (marks["Workers"], marks["Broker"], marks["Servers"]) == ("open", "open", "look")
