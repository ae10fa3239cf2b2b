"""Accounts that come in numbers: read, held against what there is, given passwords, kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Response
from sqlalchemy.orm import Session

from app.api.http.deps import DryRun, end_dry_run
from app.passwords import make_password
from app.services.people.account_bodies import AccountBody
from app.services.people.account_import import Passwords, id_of
from app.storage import accounts as stored

NO_STORE = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Wish:
    """How accounts are to be imported."""

    replace: bool = False
    generate: bool = False
    renew: bool = False
    dry_run: bool = False

    def passwords_for(self, session: Session, bodies: Sequence[AccountBody]) -> Passwords:
        """Make the passwords that are wished for; in a dry run, none.

        An account that is given one gets that. Without `renew`, one that has a password keeps it: a request that is
        sent again changes nothing.
        """
        given = {id_of(body): body.password for body in bodies if body.password is not None}
        if self.dry_run or not (self.generate or self.renew):
            return Passwords(given)
        settled = set(given) if self.renew else {*given, *stored.with_passwords(session)}
        made = {id_of(body): make_password() for body in bodies if id_of(body) not in settled}
        return Passwords(given, made)

    def finish(self, session: Session, response: Response, *, secret: bool) -> None:
        """End the request: a dry run takes back all it wrote, and a reply with passwords is kept nowhere."""
        if secret:
            response.headers.update(NO_STORE)
        if self.dry_run:
            end_dry_run(session, response)


def _wish(
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
) -> Wish:
    return Wish(replace, generate_passwords, renew_passwords, dry_run)


TheWish = Annotated[Wish, Depends(_wish)]
