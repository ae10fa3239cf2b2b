"""Logins: whose a password or a token is, by a look at the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from app.accounts.queries import accounts
from app.accounts.queries.accounts import TokenUsed
from app.accounts.service.viewer import Credential, Viewer, digest, known_viewer
from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.errors import Unauthorized
from app.core.messages import N_
from app.core.passwords import hash_password, make_password, password_fits

BETWEEN_NOTES = timedelta(minutes=15)


class Logins:
    """Finds the account of a password or a token; its calls block. `note_use` is called when a token is in use."""

    def __init__(self, database: Database, note_use: Callable[[TokenUsed], object]) -> None:
        self._database = database
        self._note_use = note_use
        self._nobody = hash_password(make_password())

    def by_password(self, username: str, password: str) -> Viewer | None:
        """The account of a username and password; None where they do not fit.

        An unknown username costs one hash as well, so that the time does not tell which ones are known.
        """
        with self._database.read() as session:
            account = accounts.by_username(session, username)
            viewer = None if account is None else known_viewer(session, account)
        password_hash = account.password_hash if account is not None else None
        fits = password_fits(password, password_hash or self._nobody)
        if viewer is None or password_hash is None or not fits:
            return None
        return replace(viewer, credential=Credential(username=username, password_hash=password_hash))

    def by_token(self, token: str) -> Viewer:
        """The account of a token; raises Unauthorized."""
        with self._database.read() as session:
            pair = accounts.by_token(session, digest(token), utc_now())
            if pair is None:
                raise Unauthorized(N_("the token is unknown or has expired"))
            account, row = pair
            credential = Credential(digest=row.digest, expires=row.expires)
            viewer = known_viewer(session, account, credential)
        self._used(credential, row.last_used)
        return viewer

    def still_good(self, viewer: Viewer) -> Viewer | None:
        """The viewer as its account is now, or None once its password or token has changed. Needs no hash."""
        with self._database.read() as session:
            row = accounts.get(session, str(viewer.account_id))
            digests = accounts.live_tokens(session, [viewer.credential.digest], utc_now())
            if row is None or not viewer.credential.fits(row, digests):
                return None
            known = known_viewer(session, row, viewer.credential)
        self._used(viewer.credential)
        return known

    def _used(self, credential: Credential, last_used: datetime | None = None) -> None:
        """Note that a token is in use, to the quarter of an hour: the list of tokens shows it."""
        now = utc_now()
        last = credential.noted or last_used
        if credential.digest is not None and (last is None or now - last >= BETWEEN_NOTES):
            credential.noted = now
            self._note_use(TokenUsed(credential.digest, now))
