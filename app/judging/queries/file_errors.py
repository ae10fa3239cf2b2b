"""Judge errors left by versions that took an unreadable file for a fault of the checker; today such answers wait."""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.verdicts import JudgementType
from app.judging.queries import rejudging_steps
from app.submissions.queries.judgements import DONE
from app.tables import ContestRow, JudgementRow, SubmissionRow

LAST_LINE = re.compile(r"(?:app\.core\.files\.files\.)?File(?:Missing|Damaged): (?:no )?stored file ([0-9a-f]{64})\b")
"""The end of such a fault's traceback; the name of the error is no text that a checker could have taken over."""


def left(session: Session, *, lock: bool = False) -> dict[int, str]:
    """The judgements that ended so and count, each with the sha256 of the file, of contests that are not final.

    One that was queued in place of another is left out: if what looks like a file's fault were the checker's, it
    would be queued for ever. With `lock` none of the contests becomes final before the end of the transaction.
    """
    query = (
        select(JudgementRow.id, JudgementRow.error)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .join(ContestRow, ContestRow.id == SubmissionRow.contest_id)
        .where(
            JudgementRow.current.is_(True),
            JudgementRow.state == DONE,
            JudgementRow.type == JudgementType.JE.value,
            JudgementRow.error.contains("stored file "),
            JudgementRow.rejudging_id.is_not(None) | JudgementRow.replaced_id.is_(None),
            ContestRow.finalized.is_(None),
        )
        .order_by(JudgementRow.id)
    )
    rows = session.execute(query.with_for_update(read=True, of=ContestRow) if lock else query)
    named = {id_: LAST_LINE.match((error or "").rstrip().rpartition("\n")[2]) for id_, error in rows}
    return {id_: match[1] for id_, match in named.items() if match is not None}


def judge_again(session: Session, readable: Collection[str]) -> int:
    """Queue a judgement in place of each that lacked one of these files; returns their number."""
    rejudging_steps.alone(session)
    ids = [id_ for id_, sha256 in left(session, lock=True).items() if sha256 in readable]
    return len(rejudging_steps.replace_judgements(session, JudgementRow.id.in_(ids)))
