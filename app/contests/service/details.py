"""Details of a contest beside its times: banner, logo, place, and the group whose board is the main one."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.accounts.service.reach import EVERYTHING, reach_of
from app.accounts.service.viewer import Viewer
from app.contests.schemas.bodies import FILES, ContestBody, ContestChange
from app.core.bodies import mismatch, refuse
from app.core.db import by_id
from app.core.files import file_references
from app.core.files.files import FileStore
from app.core.messages import N_, Fault, Message
from app.tables import ContestRow, GroupRow


def _knows(session: Session, viewer: Viewer | None, group_id: str) -> bool:
    reach = EVERYTHING if viewer is None else reach_of(session, viewer)
    return bool(reach.within(by_id.known(session, GroupRow, [group_id]), reach.groups))


def change(
    session: Session, files: FileStore, viewer: Viewer | None, row: ContestRow, body: ContestBody | ContestChange
) -> None:
    """Give a contest what the body names; raises BadRequest with everything that is wrong.

    `viewer` is whoever asks, who may name the groups in reach; None: an import, which has checked them.
    """
    named = body.model_fields_set
    details = dict(row.details or {})
    faults: list[Fault] = []
    if "main_scoreboard_group_id" in named:
        group = body.main_scoreboard_group_id
        if group is not None and group != row.main_scoreboard_group_id and not _knows(session, viewer, group):
            faults.append(mismatch("main_scoreboard_group_id", Message(N_("a group that exists")), repr(group)))
        row.main_scoreboard_group_id = group
    if "location" in named:
        details["location"] = None if body.location is None else body.location.model_dump()
    for name in FILES:
        if name in named:
            references, wrong = file_references.keep(
                files, name, getattr(body, name) or [], details.get(name, []), "body"
            )
            details[name] = references
            faults += wrong
    refuse(faults)
    row.details = {name: value for name, value in details.items() if value}
