"""How clients ask for an import of accounts, and how its reply keeps new passwords out of caches."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Response
from sqlalchemy.orm import Session

from app.accounts.service.account_changes import ImportOptions
from app.core.http.deps import DryRun, TheAuthenticator, Writing, end_dry_run
from app.core.transactions import after_commit

NO_STORE = {"Cache-Control": "no-store"}


def _options(
    replace: Annotated[
        bool, Query(description="replace those that are there already, instead of refusing them")
    ] = False,
    generate_passwords: Annotated[
        bool, Query(description="make a password for each account that has none and is given none")
    ] = False,
    renew_passwords: Annotated[
        bool, Query(description="make new passwords also for accounts that have one, which ends with it")
    ] = False,
    dry_run: DryRun = False,
) -> ImportOptions:
    return ImportOptions(replace, generate_passwords, renew_passwords, dry_run)


def _writing(session: Writing, authenticator: TheAuthenticator) -> Session:
    after_commit(session, authenticator.forget)
    return session


TheOptions = Annotated[ImportOptions, Depends(_options)]
WritingAccounts = Annotated[Session, Depends(_writing, scope="function")]
"""A transaction after which no cached credential is trusted any more."""


def finish(options: ImportOptions, session: Session, response: Response, *, secret: bool) -> None:
    """End an import: a dry run is rolled back, and no cache may store a reply with passwords."""
    if secret:
        response.headers.update(NO_STORE)
    if options.dry_run:
        end_dry_run(session, response)
