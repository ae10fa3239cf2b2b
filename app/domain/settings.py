"""The settings of a contest, parsed from the document that its row stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app.domain.awards import MEDALS, Prizes
from app.domain.contests import EVERY, FINAL
from app.domain.documents import PrizesDocument, SettingsDocument
from app.domain.final_cases import Finals
from app.domain.limits import CONTEST_BYTES, NO_LIMITS, TEAM_BYTES, Limits, read_limits
from app.domain.rejections import Telling
from app.domain.verdicts import JudgementType


@dataclass(frozen=True, slots=True)
class ContestSettings:
    """Decisions of a contest beyond the properties that CLICS gives it; a document without a key has its default.

    partly_correct_as   the judgement type shown for a partly correct submission
    rejections          how much of a checker's message is shown to others than judges
    show_best           everybody may see the best raw score of each case
    answer_pattern      name of an answer file in place of the usual ones; without `{case}` one is for all cases
    practice            submissions after the end are judged, and are on no board
    virtual             teams may take part by a clock of their own after the end
    personal_duration   length of each team's own window; None: all teams share the contest's clock
    limits              submission limits of problems that have none of their own
    team_bytes          bytes of answers and sources a team may send; None: any number
    contest_bytes       bytes of answers and sources all teams together may send; None: any number
    choose              teams choose which submission counts
    allow_overlap       teams may take part in another contest at the same time
    staff_act_for_teams accounts of type staff may submit and ask for any team
    """

    partly_correct_as: JudgementType = JudgementType.PC
    show_others_answers: bool = False
    rejections: Telling = Telling.FULL
    show_best: bool = True
    answer_pattern: str | None = None
    finals: Finals = field(default_factory=Finals)
    practice: bool = False
    virtual: bool = False
    personal_duration: timedelta | None = None
    limits: Limits = NO_LIMITS
    team_bytes: int | None = TEAM_BYTES
    contest_bytes: int | None = CONTEST_BYTES
    choose: bool = False
    allow_overlap: bool = False
    prizes: Prizes = field(default_factory=lambda: Prizes(dict.fromkeys(MEDALS, 0)))
    staff_act_for_teams: bool = False


DEFAULTS = ContestSettings()


def read_settings(document: SettingsDocument) -> ContestSettings:
    """Parse a stored document, which was validated when it was written. Raises ValueError for a damaged one."""
    awards: PrizesDocument = document.get("awards") or {}
    minutes = document.get("final_minutes")
    return ContestSettings(
        partly_correct_as=JudgementType(document.get("partly_correct_as", DEFAULTS.partly_correct_as)),
        show_others_answers=bool(document.get("show_others_answers", DEFAULTS.show_others_answers)),
        rejections=Telling(document.get("rejections", DEFAULTS.rejections)),
        show_best=bool(document.get("show_best", DEFAULTS.show_best)),
        answer_pattern=document.get("answer_pattern"),
        finals=Finals(
            _moment(document.get("final_release")),
            None if minutes is None else timedelta(minutes=minutes),
            EVERY if document.get("final_phase") == "all" else FINAL,
        ),
        practice=bool(document.get("practice", DEFAULTS.practice)),
        virtual=bool(document.get("virtual", DEFAULTS.virtual)),
        personal_duration=_duration(document.get("personal_duration")),
        limits=read_limits(document.get("limits") or {}),
        team_bytes=document.get("team_bytes", DEFAULTS.team_bytes),
        contest_bytes=document.get("contest_bytes", DEFAULTS.contest_bytes),
        choose=bool(document.get("choose", DEFAULTS.choose)),
        allow_overlap=bool(document.get("allow_overlap", DEFAULTS.allow_overlap)),
        prizes=Prizes({medal: awards.get(medal, 0) for medal in MEDALS}, awards.get("ranks", 0)),
        staff_act_for_teams=bool(document.get("staff_act_for_teams", DEFAULTS.staff_act_for_teams)),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _duration(text: str | None) -> timedelta | None:
    if text is None:
        return None
    hours, minutes, seconds = text.split(":")
    return timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
