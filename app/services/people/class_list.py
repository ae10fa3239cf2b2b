"""A class list: each row makes a person's account and links it with a team, an organization and a group."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.service import Service
from app.services import table_rows
from app.services.bodies import Document, read_all
from app.services.people import tsv
from app.services.people.account_changes import ImportOptions
from app.services.people.account_import import Fault, hashed
from app.services.people.class_list_bodies import PeopleMade, PersonRowBody
from app.services.people.class_list_import import People
from app.services.people.team_changes import take_in
from app.services.roles.reach import reach_of
from app.services.transactions import after_commit
from app.services.viewer import Viewer


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
    people = People(session, reach_of(session, viewer), replace=options.replace, new_ids=planned.new_ids)
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
