"""Examples of the main bodies and replies, shown beside their schemas; a test holds each against its schema."""

from __future__ import annotations

from typing import Any

TIME, CONTEST_TIME = "2026-11-21T03:19:00.000Z", "1:00:00.000"
STATE = {
    "started": "2026-11-21T02:19:00.000Z",
    "frozen": None,
    "ended": None,
    "thawed": None,
    "finalized": None,
    "end_of_updates": None,
}
ROW = {
    "rank": 1,
    "team_id": "ants",
    "score": {"score": 42.5, "time": "0:41:00.000"},
    "problems": [
        {"problem_id": "comesolo", "num_judged": 3, "num_pending": 0, "score": 42.5, "time": "0:41:00.000"},
    ],
}
JUDGEMENT = {
    "id": "j3f0c96e01b7d5a28",
    "submission_id": "1",
    "judgement_type_id": "PC",
    "score": 42.5,
    "current": True,
    "start_time": TIME,
    "start_contest_time": CONTEST_TIME,
    "end_time": "2026-11-21T03:19:01.000Z",
    "end_contest_time": "1:00:01.000",
    "max_run_time": 0.012,
}
CASE = {
    "name": "01-sample",
    "group": "sample",
    "kind": "sample",
    "max_points": 0.0,
    "points": 0.0,
    "file": "01-sample.out",
    "size": 12,
    "sha256": "c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a",
    "carried_over_from": None,
    "verdict": "accepted",
    "raw": 1,
    "max_raw": 1,
    "message": {"key": "pegs-left", "text": "1 peg is left", "args": {"pegs": 1}},
    "run_time": 0.012,
}
EXAMPLES: dict[str, Any] = {
    "AccountBody": {
        "id": "ants",
        "username": "ants",
        "password": "open, sesame seeds",
        "type": "team",
        "team_id": "ants",
    },
    "AccountView": {"id": "ants", "username": "ants", "name": "The Ants", "type": "team", "team_id": "ants"},
    "ContestBody": {
        "id": "spring",
        "name": "Spring Contest",
        "start_time": "2026-03-21T09:00:00.000Z",
        "duration": "5:00:00",
        "scoreboard_freeze_duration": "1:00:00",
    },
    "ErrorBody": {
        "code": 400,
        "message": "[0].name: expected a value, found nothing",
        "errors": [{"where": "[0].name", "expected": "a value", "found": "nothing"}],
    },
    "History": {
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "teams": [{"team_id": "ants", "points": [{"contest_time": "0:41:00.000", "score": 42.5, "rank": 1}]}],
    },
    "Judgement": JUDGEMENT,
    "NewToken": {
        "id": "k3",
        "label": "take_part.py",
        "created": TIME,
        "expires": None,
        "current": False,
        "token": "2Yb0mTbB3l",
    },
    "Notification": {"type": "judgements", "id": JUDGEMENT["id"], "data": JUDGEMENT, "token": "5f1c-81"},
    "RejudgingBody": {"problem": "comesolo", "reason": "the checker took boards that were not full"},
    "Report": {
        "submission_id": "1",
        "problem_id": "comesolo",
        "team_id": "ants",
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "judgement": JUDGEMENT,
        "state": "done",
        "points": 42.5,
        "max_points": 100.0,
        "files": [
            {"name": "01-sample.out", "case": "01-sample", "ignored": None},
            {"name": "notes.md", "case": None, "ignored": "no test case of this name"},
        ],
        "cases": [CASE],
        "groups": [
            {
                "name": "secret",
                "kind": "provisional",
                "aggregation": "sum",
                "points": 42.5,
                "max_points": 100.0,
                "why": None,
            }
        ],
    },
    "Scoreboard": {
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "version": "5f1c0e7d2b9a4c6e8f013579",
        "rows": [ROW],
    },
    "ScoreTable": {
        "contest_id": "spring",
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "rows": [
            {
                "rank": 1,
                "team_id": "ants",
                "team": "The Ants",
                "points": 42.5,
                "time": "0:41:00.000",
                "problems": {"A": 42.5},
            }
        ],
    },
    "Submission": {
        "id": "1",
        "language_id": "answers",
        "problem_id": "comesolo",
        "team_id": "ants",
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "entry_point": None,
        "files": [{"href": "contests/spring/submissions/1/files", "filename": "1.zip", "mime": "application/zip"}],
        "practice": False,
    },
    "SubmissionRequest": {
        "problem_id": "comesolo",
        "language_id": "answers",
        "files": [{"data": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==", "mime": "application/zip"}],
    },
    "TeamBody": {"id": "ants", "name": "The Ants", "label": "1", "group_ids": ["juniors"]},
    "TeamView": {"id": "ants", "name": "The Ants", "label": "1", "display_name": None, "group_ids": ["juniors"]},
    "TokenBody": {"label": "take_part.py", "expires": "2026-12-31T00:00:00.000Z"},
}
