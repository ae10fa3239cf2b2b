"""A class list: each row makes a person's account and links it with a team, an organization and a group."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.accounts.service import tsv
from app.accounts.service.account_changes import ImportOptions
from app.accounts.service.account_import import hashed
from app.accounts.service.reach import reach_of
from app.accounts.service.viewer import Viewer
from app.core import table_rows
from app.core.bodies import Document, read_all
from app.core.messages import Fault
from app.core.service import Service
from app.core.transactions import after_commit
from app.teams.schemas.class_list_bodies import PeopleMade, PersonRowBody
from app.teams.service.class_list_import import People
from app.teams.service.team_changes import take_in


def bring_in(
    session: Session,
    service: Service,
    viewer: Viewer,
    document: Document,
    options: ImportOptions,
    contest_id: str | None,
) -> PeopleMade:
    """Make the accounts and teams of a class list, all or none.

    With a contest, its teams take part there, and its owners may change those that are new. Raises BadRequest or
    Conflict with every fault.
    """
    rows, faults = read_all(tsv.items(document, None, table_rows.PEOPLE), PersonRowBody, nothing_more)
    with service.database.read() as before:  # whoever is refused has not waited for thousands of hashes
        planned = People(before, reach_of(before, viewer), replace=options.replace)
        planned.plan(rows, faults)
        passwords = options.passwords_for(before, planned.accounts)
    hashes = {} if options.dry_run else hashed(passwords)
    people = People(session, reach_of(session, viewer), replace=options.replace, earlier=planned)
    people.plan(rows, faults)
    people.keep(hashes, contest_id)
    if contest_id is not None:
        take_in(session, contest_id, people.team_ids, people.teams.new)
    after_commit(session, service.boards.all_changed)
    return PeopleMade(
        dry_run=options.dry_run,
        teams=people.teams.new,
        changed_teams=people.changed_teams,
        organizations=people.organizations.new,
        groups=people.groups.new,
        people=people.shown(passwords.made),
    )


def nothing_more(_body: PersonRowBody, _where: str) -> list[Fault]:
    """An empty list: rows have only faults of their own."""
    return []
